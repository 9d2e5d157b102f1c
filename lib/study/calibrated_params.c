/* calibrated_params.c - calibrated parameters: the `calibrate` key, and solving for values. */
#include "study/parse/study_parse_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/space.h"
#include "study/objective.h"

#include <math.h>

/* ---- the key ---- */

void dp__read_calibrate(struct dp__study_parser *r, const struct dp__key *k,
			const struct dp__node *v, void *to)
{
	struct dp_calibration *c;

	if (!dp__expect_map(r, v, k->name, "epsilon, mechanism and the mechanism's keys", SIZE_MAX))
		return;
	c = *(struct dp_calibration **)to = dp_calloc(1, sizeof *c);
	c->epsilon = NAN;
	c->epsilon_param = -1;
	dp__read_section(r, DP__CALIBRATE, v->key_pos, v, c);
}

/* The key of the calibration that uses this parameter, or NULL. */
static const char *calibration_key_of_param(const struct dp_calibration *c, size_t param)
{
	if (c->epsilon_param == (int)param)
		return "epsilon";
	for (size_t i = 0; c->use.mechanism && i < c->use.mechanism->nkeys; i++)
		if (c->use.param[i] == (int)param)
			return c->use.mechanism->keys[i].name;
	return NULL;
}

/* A calibration must not depend on another calibrated parameter. */
static void refuse_nested_calibration(struct dp__study_parser *r, const struct dp_calibration *c,
				      const struct dp__node *map)
{
	for (size_t i = 0; i < r->study->nparams; i++) {
		const char *key = calibration_key_of_param(c, i);

		if (key && r->study->params[i].kind == DP_PARAM_CALIBRATED)
			dp__report_error(r, dp__map_get(map, key)->pos,
					 "a number, or a parameter that is searched or fixed",
					 "'%s' cannot be '%s', which is itself calibrated", key,
					 r->study->params[i].name);
	}
}

static void read_calibration(struct dp__study_parser *r, struct dp_calibration *c,
			     const struct dp__node *map)
{
	static const char *const beside[] = { "mechanism", "epsilon", NULL };
	static const struct dp__mechanism_use_rules rules = { "calibrate", beside, false, true };
	static const struct dp_privacy_key target = {
		.name = "epsilon", .kind = DP_PRIVACY_NUMBER, .lo_open = true, .hi = INFINITY
	};
	const struct dp__node *epsilon = dp__map_get(map, target.name);

	if (epsilon && epsilon->kind != DP__NODE_INVALID)
		dp__read_number_or_param(r, &target, epsilon, &c->epsilon, &c->epsilon_param);
	if (!dp__read_mechanism_use(r, map, &rules, &c->use))
		return;
	if (!c->use.mechanism->noise)
		dp__report_error(r, dp__map_get(map, "mechanism")->pos, NULL,
				 "mechanism %s has no noise to calibrate", c->use.mechanism->name);
	refuse_nested_calibration(r, c, map);
}

void dp__check_calibrations(struct dp__study_parser *r)
{
	for (size_t i = 0; i < r->study->nparams; i++) {
		struct dp_calibration *c = r->study->params[i].calibrate;
		size_t errors = r->diagnostics->error_count;

		if (!c)
			continue;
		read_calibration(r, c, dp__map_get(r->param_nodes[i], "calibrate"));
		r->param_invalid[i] |= r->diagnostics->error_count > errors;
	}
}

void dp__check_calibrated_curve(struct dp__study_parser *r, size_t walked)
{
	for (size_t i = 0; i < r->study->nparams; i++) {
		const struct dp_param *p = &r->study->params[i];
		const char *key =
			p->calibrate ? calibration_key_of_param(p->calibrate, walked) : NULL;

		if (key && !r->param_invalid[i])
			dp__report_error(
				r,
				dp__map_get(dp__map_get(r->param_nodes[i], "calibrate"), key)->pos,
				"a number, or another parameter",
				"'%s' cannot be '%s', which trainer.path walks up: a "
				"training that is stopped early would have had other "
				"noise, so it is not what it was on its way",
				key, r->study->params[walked].name);
	}
}

/* ---- values ---- */

static double calibration_target(const struct dp_study *s, const struct dp_calibration *c,
				 const double *x)
{
	return c->epsilon_param < 0 ? c->epsilon : dp_space_value(s, (size_t)c->epsilon_param, x);
}

int dp_space_solve_calibrated(const struct dp_study *s, double *x, struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; i < s->nparams && code == DP_OK; i++) {
		const struct dp_calibration *c = s->params[i].calibrate;
		double values[DP_PRIVACY_KEYS_MAX];
		struct dp_epsilon at;

		if (!c || !isnan(x[i]))
			continue;
		dp_mechanism_use_values(s, &c->use, x, NAN, values);
		code = dp_privacy_solve_noise(c->use.mechanism, values, calibration_target(s, c, x),
					      &x[i], &at, err);
		if (code != DP_OK)
			dp_err_prefix(err, "parameter '%s'", s->params[i].name);
	}
	return code;
}

void dp__space_any_point(const struct dp_study *s, double *x)
{
	dp_space_sample(s, 0, false, x);
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind == DP_PARAM_CALIBRATED)
			x[i] = 1;
}

/* ---- known without solving ---- */

static bool is_same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* A key's value, or its default. NaN, with the parameter, if the search sets it. */
static double mechanism_use_key_value(const struct dp_study *s, const struct dp_mechanism_use *u,
				      size_t k, int *param)
{
	*param = u->param[k];
	if (*param >= 0 && s->params[*param].kind != DP_PARAM_FIXED)
		return NAN;
	if (*param >= 0) {
		double value = dp_space_value(s, (size_t)*param, NULL);

		*param = -1;
		return value;
	}
	return isnan(u->constant[k]) ? u->mechanism->keys[k].default_value : u->constant[k];
}

/* True if they differ at most in the noise. */
static bool is_same_use_but_noise(const struct dp_study *s, const struct dp_mechanism_use *a,
				  const struct dp_study *t, const struct dp_mechanism_use *b)
{
	const struct dp_mechanism *m = a->mechanism;

	if (m != b->mechanism)
		return false;
	for (size_t k = 0; k < m->nkeys; k++) {
		int of_a, of_b;
		double x = mechanism_use_key_value(s, a, k, &of_a);
		double y = mechanism_use_key_value(t, b, k, &of_b);

		if (!dp__key_is_noise(m, &m->keys[k]) && (of_a != of_b || !is_same_number(x, y)))
			return false;
	}
	return true;
}

/* The calibration whose mechanism is the objective itself, or NULL. */
static const struct dp_calibration *find_objective_calibration(const struct dp_study *s,
							       size_t objective)
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	const struct dp_calibration *c;
	const struct dp_mechanism *m;
	int param;

	if (!o || o->kind != DP_ACCOUNTING_MECHANISM || !o->uses[0].mechanism->noise)
		return NULL;
	m = o->uses[0].mechanism;
	param = o->uses[0].param[dp_privacy_key_index(m, m->noise)];
	c = param < 0 ? NULL : s->params[param].calibrate;
	return c && is_same_use_but_noise(s, &c->use, s, &o->uses[0]) ? c : NULL;
}

double dp_calibration_target_epsilon(const struct dp_study *s, size_t objective, const double *x)
{
	const struct dp_calibration *c = find_objective_calibration(s, objective);

	return c ? calibration_target(s, c, x) : NAN;
}

bool dp_objective_needs_calibration(const struct dp_study *s, size_t objective)
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;

	if (!o || find_objective_calibration(s, objective))
		return false;
	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind == DP_PARAM_CALIBRATED && dp_accounting_depends_on(o, i))
			return true;
	return false;
}

/* The parameter that sets a use's noise, or the target that calibrates it; -1 if none. */
static int mechanism_use_noise_param(const struct dp_study *s, const struct dp_mechanism_use *u)
{
	for (size_t k = 0; k < u->mechanism->nkeys; k++) {
		int param = u->param[k];

		if (param < 0 || !dp__key_is_noise(u->mechanism, &u->mechanism->keys[k]))
			continue;
		return s->params[param].calibrate ? s->params[param].calibrate->epsilon_param
						  : param;
	}
	return -1;
}

size_t dp_objective_noise_params(const struct dp_study *s, size_t objective,
				 size_t params[DP_PRIVACY_ITEMS_MAX])
{
	const struct dp_accounting_spec *o = s->objectives[objective].privacy;
	size_t n = 0;

	for (size_t i = 0; o && i < o->nuses; i++) {
		int param = mechanism_use_noise_param(s, &o->uses[i]);
		size_t before = 0;

		while (before < n && params[before] != (size_t)param)
			before++;
		if (param >= 0 && before == n)
			params[n++] = (size_t)param;
	}
	return n;
}

enum dp_privacy_cost dp_objective_accounting_cost(const struct dp_study *s, size_t objective)
{
	if (find_objective_calibration(s, objective))
		return DP_PRIVACY_COST_CLOSED_FORM;
	return dp_objective_needs_calibration(s, objective)
		       ? DP_PRIVACY_COST_EXPENSIVE
		       : dp_accounting_cost(s->objectives[objective].privacy);
}

bool dp_calibration_equal(const struct dp_study *a, const struct dp_study *b, size_t param)
{
	const struct dp_calibration *p = a->params[param].calibrate;
	const struct dp_calibration *q = b->params[param].calibrate;

	return (!p && !q) ||
	       (p && q && is_same_use_but_noise(a, &p->use, b, &q->use) &&
		p->epsilon_param == q->epsilon_param && is_same_number(p->epsilon, q->epsilon));
}
