/* accounting.h - epsilon of an objective: mechanism, composition or external accountant. */
#ifndef DP_STUDY_ACCOUNTING_H
#define DP_STUDY_ACCOUNTING_H
#include "study/study.h"

/* Queries external accountants; this library starts no process. The answer must be a pure function
 * of the point. DP_E_INVALID: the accountant refuses the point, with its own message. Any other
 * code: no answer, which says nothing about the point. */
struct dp_external_callback {
	int (*epsilon)(void *arg, size_t objective, const double *x, double at, double *epsilon,
		       struct dp_err *err);
	void *arg;
};
/* The values of a use's keys at x, NaN where absent. `at`, here and below: the value of the path
 * parameter at a checkpoint of x's run, in place of x's own; NaN: x itself. */
void dp_mechanism_use_values(const struct dp_study *s, const struct dp_mechanism_use *u,
			     const double *x, double at, double values[DP_PRIVACY_KEYS_MAX]);
/* The mechanism uses at a point, with their values; the delta is that of the whole composition. */
struct dp_composition_items {
	size_t n;
	struct dp_composition_item items[DP_PRIVACY_ITEMS_MAX];
	double values[DP_PRIVACY_ITEMS_MAX][DP_PRIVACY_KEYS_MAX];
};
/* DP_E_INVALID with a message for a metric or an external accountant. */
DP_MUSTCHECK int dp_accounting_items(const struct dp_study *s, size_t objective, const double *x,
				     double at, struct dp_composition_items *out,
				     struct dp_err *err);
/* Delta of a privacy objective. NaN if a parameter sets it, 0 if it has none. */
double dp_accounting_delta(const struct dp_accounting_spec *o);
enum dp_privacy_cost dp_accounting_cost(const struct dp_accounting_spec *o);
/* Caches of a study's accountants. One thread at a time. The study must outlive it. */
struct dp_accounting_cache;
struct dp_accounting_cache *dp_accounting_cache_open(const struct dp_study *s);
void dp_accounting_cache_close(struct dp_accounting_cache *o);
/* Epsilon of a privacy objective, bit for bit that of dp_objective_epsilon_at(). */
DP_MUSTCHECK int dp_accounting_cache_epsilon(struct dp_accounting_cache *o,
					     const struct dp_external_callback *external,
					     size_t objective, const double *x, double at,
					     struct dp_epsilon *out, struct dp_err *err);
/* The value of a privacy objective, in natural units, of a run that ends at the point: the maximum
 * over the end and its checkpoints (dp_learning_curve_costlier()). DP_E_FAILED for an external
 * accountant without a callback. */
DP_MUSTCHECK int dp_objective_epsilon_at(const struct dp_study *s,
					 const struct dp_external_callback *external,
					 size_t objective, const double *x, double at,
					 struct dp_epsilon *out, struct dp_err *err);
/* The same at x itself, for a study without external accountants. */
DP_MUSTCHECK int dp_objective_epsilon(const struct dp_study *s, size_t objective, const double *x,
				      struct dp_epsilon *out, struct dp_err *err);
/* All objectives: y (nobjectives) gets epsilon for privacy objectives and NaN for metrics. On error
 * the message begins with the objective's name, and y is invalid. */
DP_MUSTCHECK int dp_objectives_epsilon_at(const struct dp_study *s,
					  const struct dp_external_callback *external,
					  const double *x, double at, double *y,
					  struct dp_err *err);
DP_MUSTCHECK int dp_objectives_epsilon(const struct dp_study *s, const double *x, double *y,
				       struct dp_err *err);
/* For the trainer: the accounted parameters at x, by privacy objective:
 * {"epsilon":{"mechanism":"dp-sgd",...,"epsilon":0.42}}; {"compose":[...],"delta":...} for a
 * composition; {"command":[...],"delta":...} for an external accountant. `epsilon` (nobjectives)
 * holds the accountants' answers; it omits NaN, and all if NULL. */
json_t *dp_objectives_accounting_json(const struct dp_study *s, const double *x, double at,
				      const double *epsilon);
/* Checks a trainer's declaration of its sampler against a privacy objective at x. In a composition
 * one mechanism must match. DP_E_INVALID with the contradiction. `warning` is "" or a sentence. */
DP_MUSTCHECK int dp_objective_check_declaration(const struct dp_study *s, size_t objective,
						const double *x, double at,
						const struct dp_declaration *declared,
						char warning[DP_PRIVACY_WARNING_LEN],
						struct dp_err *err);

#endif
