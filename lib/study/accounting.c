/* accounting.c - epsilon of an objective: mechanism, composition or external accountant. */
#include "study/accounting.h"
#include "study/learning_curve.h"
#include "study/space.h"
#include "study/study.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>

/* ---- mechanism uses at a point ---- */

/* A parameter at the checkpoint `at` of x's run; NaN: x itself. */
static double param_value_at(const struct dp_study *s, size_t i, const double *x, double at)
{
	return !isnan(at) && i == s->trainer.learning_curve.param ? at : dp_space_value(s, i, x);
}

void dp_mechanism_use_values(const struct dp_study *s, const struct dp_mechanism_use *u,
			     const double *x, double at, double values[DP_PRIVACY_KEYS_MAX])
{
	for (size_t i = 0; i < u->mechanism->nkeys; i++)
		values[i] = u->param[i] < 0 ? u->constant[i]
					    : param_value_at(s, (size_t)u->param[i], x, at);
}

/* The same with the delta of the composition that it belongs to. */
static void composed_use_values(const struct dp_study *s, const struct dp_accounting_spec *o,
				const struct dp_mechanism_use *u, const double *x, double at,
				double *values)
{
	const struct dp_mechanism *m = u->mechanism;

	dp_mechanism_use_values(s, u, x, at, values);
	if (o->kind == DP_ACCOUNTING_COMPOSED && m->delta)
		values[dp_privacy_key_index(m, m->delta)] =
			m->delta->required && o->delta == 0 ? NAN : o->delta;
}

int dp_accounting_items(const struct dp_study *s, size_t objective, const double *x, double at,
			struct dp_composition_items *out, struct dp_err *err)
{
	const struct dp_objective *o = &s->objectives[objective];

	if (!o->privacy)
		return dp_fail(err, DP_E_INVALID,
			       "objective '%s' is a metric: only the trainer knows it", o->name);
	if (o->privacy->kind == DP_ACCOUNTING_EXTERNAL)
		return dp_fail(err, DP_E_INVALID,
			       "the epsilon of '%s' is the answer of a program, which "
			       "does not say what it adds up",
			       o->name);
	out->n = o->privacy->nuses;
	for (size_t i = 0; i < out->n; i++) {
		const struct dp_mechanism_use *u = &o->privacy->uses[i];

		composed_use_values(s, o->privacy, u, x, at, out->values[i]);
		out->items[i] = (struct dp_composition_item){
			u->mechanism, out->values[i],
			u->times_param < 0 ? u->times
					   : param_value_at(s, (size_t)u->times_param, x, at)
		};
	}
	return DP_OK;
}

double dp_accounting_delta(const struct dp_accounting_spec *o)
{
	const struct dp_mechanism *m;
	size_t key;

	if (o->kind != DP_ACCOUNTING_MECHANISM)
		return o->delta;
	m = o->uses[0].mechanism;
	if (!m->delta)
		return 0;
	key = dp_privacy_key_index(m, m->delta);
	if (o->uses[0].param[key] >= 0)
		return NAN;
	return isnan(o->uses[0].constant[key]) ? m->delta->default_value : o->uses[0].constant[key];
}

enum dp_privacy_cost dp_accounting_cost(const struct dp_accounting_spec *o)
{
	return o->kind == DP_ACCOUNTING_MECHANISM
		       ? dp_mechanism_cost(o->uses[0].mechanism, o->uses[0].constant)
		       : DP_PRIVACY_COST_EXPENSIVE;
}

/* ---- epsilon ---- */

static int external_epsilon(const struct dp_study *s, const struct dp_external_callback *external,
			    size_t objective, const double *x, double at, struct dp_epsilon *out,
			    struct dp_err *err)
{
	struct dp_epsilon e = { .delta = s->objectives[objective].privacy->delta,
				.order = NAN,
				.accountant = "program" };
	int code;

	if (!external)
		return dp_fail(err, DP_E_FAILED,
			       "only the study's oracle program knows the epsilon of "
			       "'%s', and it is not asked here",
			       s->objectives[objective].name);
	code = external->epsilon(external->arg, objective, x, at, &e.epsilon, err);
	if (code == DP_OK)
		*out = e;
	return code;
}

/* Epsilon at the end alone, without checkpoints. `cache` may be NULL. */
static int epsilon_at_end(const struct dp_study *s, struct dp_mechanism_cache *cache,
			  const struct dp_external_callback *external, size_t objective,
			  const double *x, double at, struct dp_epsilon *out, struct dp_err *err)
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	struct dp_composition_items uses;
	int code;

	if (o && o->kind == DP_ACCOUNTING_EXTERNAL)
		return external_epsilon(s, external, objective, x, at, out, err);
	code = dp_accounting_items(s, objective, x, at, &uses, err);
	if (code != DP_OK)
		return code;
	if (o->kind == DP_ACCOUNTING_COMPOSED)
		return dp_privacy_compose(uses.items, uses.n, o->delta,
					  o->accountant == DP_PRIVACY_PLD, out, err);
	return cache ? dp_mechanism_cache_epsilon(cache, uses.values[0], out, err)
		     : dp_privacy_epsilon(o->uses[0].mechanism, uses.values[0], out, err);
}

/* The maximum over the end and the checkpoints. Skips checkpoints that the accountant refuses.
 * *most (may be NULL): where the maximum is. */
static int epsilon_over_curve(const struct dp_study *s, struct dp_mechanism_cache *cache,
			      const struct dp_external_callback *external, size_t objective,
			      const double *x, double at, struct dp_epsilon *out, double *most,
			      struct dp_err *err)
{
	double before[DP_CHECKPOINTS_MAX], where = at;
	int code = epsilon_at_end(s, cache, external, objective, x, at, out, err);
	size_t n = code == DP_OK ? dp_learning_curve_costlier(s, objective, x, at, before) : 0;

	for (size_t i = 0; i < n; i++) {
		struct dp_epsilon e;

		code = epsilon_at_end(s, cache, external, objective, x, before[i], &e, err);
		if (code != DP_OK && code != DP_E_INVALID)
			return code;
		if (code == DP_OK && e.epsilon > out->epsilon) {
			*out = e;
			where = before[i];
		}
	}
	if (most)
		*most = where;
	return n ? DP_OK : code;
}

double dp_learning_curve_costliest(const struct dp_study *s, size_t objective, const double *x,
				   double at)
{
	double before[DP_CHECKPOINTS_MAX], most = at;
	struct dp_epsilon e;

	if (dp_learning_curve_costlier(s, objective, x, at, before) == 0 ||
	    epsilon_over_curve(s, NULL, NULL, objective, x, at, &e, &most, NULL) != DP_OK)
		return at;
	return most;
}

int dp_objective_epsilon_at(const struct dp_study *s, const struct dp_external_callback *external,
			    size_t objective, const double *x, double at, struct dp_epsilon *out,
			    struct dp_err *err)
{
	return epsilon_over_curve(s, NULL, external, objective, x, at, out, NULL, err);
}

int dp_objective_epsilon(const struct dp_study *s, size_t objective, const double *x,
			 struct dp_epsilon *out, struct dp_err *err)
{
	return dp_objective_epsilon_at(s, NULL, objective, x, NAN, out, err);
}

int dp_objectives_epsilon_at(const struct dp_study *s, const struct dp_external_callback *external,
			     const double *x, double at, double *y, struct dp_err *err)
{
	struct dp_epsilon cost;
	int code;

	for (size_t i = 0; i < s->nobjectives; i++) {
		y[i] = NAN;
		if (!s->objectives[i].privacy)
			continue;
		code = dp_objective_epsilon_at(s, external, i, x, at, &cost, err);
		if (code != DP_OK) {
			dp_err_prefix(err, "objective '%s'", s->objectives[i].name);
			return code;
		}
		y[i] = cost.epsilon;
	}
	return DP_OK;
}

int dp_objectives_epsilon(const struct dp_study *s, const double *x, double *y, struct dp_err *err)
{
	return dp_objectives_epsilon_at(s, NULL, x, NAN, y, err);
}

bool dp_study_has_privacy(const struct dp_study *s)
{
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].privacy)
			return true;
	return false;
}

/* ---- many evaluations ---- */

struct dp_accounting_cache {
	const struct dp_study *study;
	/* NULL except for a single mechanism */
	struct dp_mechanism_cache *mechanism_caches[DP_OBJECTIVES_MAX];
};

struct dp_accounting_cache *dp_accounting_cache_open(const struct dp_study *s)
{
	struct dp_accounting_cache *o = dp_calloc(1, sizeof *o);

	o->study = s;
	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp_accounting_spec *from = s->objectives[i].privacy;

		if (!from || from->kind != DP_ACCOUNTING_MECHANISM)
			continue;
		o->mechanism_caches[i] = dp_mechanism_cache_new(from->uses[0].mechanism);
	}
	return o;
}

void dp_accounting_cache_close(struct dp_accounting_cache *o)
{
	for (size_t i = 0; o && i < DP_OBJECTIVES_MAX; i++)
		dp_mechanism_cache_free(o->mechanism_caches[i]);
	free(o);
}

int dp_accounting_cache_epsilon(struct dp_accounting_cache *o,
				const struct dp_external_callback *external, size_t objective,
				const double *x, double at, struct dp_epsilon *out,
				struct dp_err *err)
{
	/* external accountants answer for the end alone, because they are slow; the journaled value
	 * of a point counts its checkpoints */
	if (o->study->objectives[objective].privacy->kind == DP_ACCOUNTING_EXTERNAL)
		return epsilon_at_end(o->study, NULL, external, objective, x, at, out, err);
	return epsilon_over_curve(o->study, o->mechanism_caches[objective], external, objective, x,
				  at, out, NULL, err);
}

/* ---- JSON for the trainer, and its declaration ---- */

static json_t *composition_to_json(const struct dp_accounting_spec *o,
				   const struct dp_composition_items *uses)
{
	json_t *parts = json_array();

	for (size_t i = 0; i < uses->n; i++) {
		json_t *part = dp_mechanism_accounting_json(uses->items[i].mechanism,
							    uses->values[i], true);

		json_object_set_new(part, "times", json_integer((json_int_t)uses->items[i].times));
		json_array_append_new(parts, part);
	}
	return json_pack("{s:o, s:o, s:s}", "compose", parts, "delta", dp_json_real(o->delta),
			 "accountant", dp_privacy_accountants[o->accountant]);
}

static json_t *external_to_json(const struct dp_accounting_spec *o)
{
	json_t *argv = json_array();

	for (char **a = o->argv; *a; a++)
		json_array_append_new(argv, json_string(*a));
	return json_pack("{s:o, s:o}", "command", argv, "delta", dp_json_real(o->delta));
}

static json_t *accounting_to_json(const struct dp_study *s, size_t objective, const double *x,
				  double at)
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	struct dp_composition_items uses;

	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		return external_to_json(o);
	if (dp_accounting_items(s, objective, x, at, &uses, NULL) != DP_OK)
		return NULL;
	return o->kind == DP_ACCOUNTING_COMPOSED
		       ? composition_to_json(o, &uses)
		       : dp_mechanism_accounting_json(uses.items[0].mechanism, uses.values[0],
						      false);
}

json_t *dp_objectives_accounting_json(const struct dp_study *s, const double *x, double at,
				      const double *epsilon)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->nobjectives; i++) {
		json_t *one;

		if (!s->objectives[i].privacy)
			continue;
		one = accounting_to_json(s, i, x, at);
		if (epsilon && !isnan(epsilon[i]))
			json_object_set_new(one, "epsilon", dp_json_real(epsilon[i]));
		json_object_set_new(all, s->objectives[i].name, one);
	}
	return all;
}

int dp_objective_check_declaration(const struct dp_study *s, size_t objective, const double *x,
				   double at, const struct dp_declaration *declared,
				   char warning[DP_PRIVACY_WARNING_LEN], struct dp_err *err)
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	double values[DP_PRIVACY_KEYS_MAX];
	int code = DP_OK;

	warning[0] = '\0';
	for (size_t i = 0; o && i < o->nuses; i++) {
		const struct dp_mechanism_use *u = &o->uses[i];

		if (!u->mechanism->check_declaration)
			continue; /* neither contradicted nor matched */
		composed_use_values(s, o, u, x, at, values);
		code = dp_privacy_check_declaration(u->mechanism, values, declared, warning, err);
		if (code == DP_OK)
			break;
	}
	return code;
}
