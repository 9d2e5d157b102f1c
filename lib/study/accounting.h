/* accounting.h - where epsilon comes from: one mechanism, several composed, or a program. */
#ifndef DP_STUDY_ACCOUNTING_H
#define DP_STUDY_ACCOUNTING_H
#include "study/study.h"

/* Who asks oracle programs: this library starts no process. The answer must be a pure
 * function of the point. DP_E_INVALID: the program refuses the point, and the sentence
 * is its own; any other code: it could not be asked, which says nothing of the point. */
struct dp_external_callback {
	int (*epsilon)(void *arg, size_t objective, const double *x, double at, double *epsilon,
		       struct dp_err *err);
	void *arg;
};
/* The values of a use's keys at x; NaN where absent. `at`: at a waypoint of x's training,
 * with this value of trainer.path's parameter, fixed or not, in place of x's own; NaN: at
 * x itself. So everywhere below. */
void dp_mechanism_use_values(const struct dp_study *s, const struct dp_mechanism_use *u,
			     const double *x, double at, double values[DP_PRIVACY_KEYS_MAX]);
/* What is done to the data at a point: the uses with their values, of which delta is that
 * of the whole composition. */
struct dp_composition_items {
	size_t n;
	struct dp_composition_item items[DP_PRIVACY_ITEMS_MAX];
	double values[DP_PRIVACY_ITEMS_MAX][DP_PRIVACY_KEYS_MAX];
};
/* DP_E_INVALID with a sentence for an objective of which that is not known: a metric, or
 * the answer of a program. */
DP_MUSTCHECK int dp_accounting_items(const struct dp_study *s, size_t objective, const double *x,
				     double at, struct dp_composition_items *out,
				     struct dp_err *err);
/* delta of a privacy objective: NaN where a parameter sets it, 0 where there is none. */
double dp_accounting_delta(const struct dp_accounting_spec *o);
/* What one evaluation takes. */
enum dp_privacy_cost dp_accounting_cost(const struct dp_accounting_spec *o);
/* The oracles of a study prepared for many evaluations; one thread at a time. The study
 * must outlive them. */
struct dp_accounting_cache;
struct dp_accounting_cache *dp_accounting_cache_open(const struct dp_study *s);
void dp_accounting_cache_close(struct dp_accounting_cache *o);
/* Epsilon of a privacy objective, with the bits of dp_objective_epsilon_at(). */
DP_MUSTCHECK int dp_accounting_cache_epsilon(struct dp_accounting_cache *o,
					     const struct dp_external_callback *external,
					     size_t objective, const double *x, double at,
					     struct dp_epsilon *out, struct dp_err *err);
/* The value, in natural units, of a privacy objective at a point: of a run up to there,
 * so the maximum over its checkpoints (dp_learning_curve_costlier()) and its end. Without an asker
 * a program's is not known: DP_E_FAILED. */
DP_MUSTCHECK int dp_objective_epsilon_at(const struct dp_study *s,
					 const struct dp_external_callback *external,
					 size_t objective, const double *x, double at,
					 struct dp_epsilon *out, struct dp_err *err);
/* The same at x itself, of a study without programs. */
DP_MUSTCHECK int dp_objective_epsilon(const struct dp_study *s, size_t objective, const double *x,
				      struct dp_epsilon *out, struct dp_err *err);
/* All of them: y (nobjectives) gets epsilon for a privacy objective and NaN for a metric.
 * On error the sentence begins with the objective's name, and y is not to be used. */
DP_MUSTCHECK int dp_objectives_epsilon_at(const struct dp_study *s,
					  const struct dp_external_callback *external,
					  const double *x, double at, double *y,
					  struct dp_err *err);
DP_MUSTCHECK int dp_objectives_epsilon(const struct dp_study *s, const double *x, double *y,
				       struct dp_err *err);
/* What is accounted for at x, by privacy objective, so that a trainer does just that:
 * {"epsilon":{"mechanism":"dp-sgd",...,"epsilon":0.42}}; of a composition
 * {"compose":[...], "delta":...}, of a program {"command":[...],"delta":...}. `epsilon`
 * (nobjectives) is what the oracles said there; NaN or NULL: left out. */
json_t *dp_objectives_accounting_json(const struct dp_study *s, const double *x, double at,
				      const double *epsilon);
/* Does what a trainer declared of its sampler fit a privacy objective at x? Of several
 * mechanisms one must fit. DP_E_INVALID with the contradiction; `warning` is "" or a
 * sentence. */
DP_MUSTCHECK int dp_objective_check_declaration(const struct dp_study *s, size_t objective,
						const double *x, double at,
						const struct dp_declaration *declared,
						char warning[DP_PRIVACY_WARNING_LEN],
						struct dp_err *err);

#endif
