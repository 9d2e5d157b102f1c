/* oracle.c - objectives whose value is computed from the point, not learned: privacy.
 *
 * A search asks for epsilon at hundreds of points a proposal, so each oracle is prepared
 * once and keeps what depends on the noise alone. */
#include "propose/propose_internal.h"

#include <math.h>
#include <string.h>

/* ---- calibrated parameters ---- */

/* Does what they are solved from agree? Not the path's parameter: that has no say. */
static bool is_solved(const struct dp_proposer *p, const double *solved, const double *x)
{
	const struct dp__inputs *s = &p->inputs;

	for (size_t k = 0; k < s->d; k++) {
		size_t i = s->in[k].param;

		if (solved[i] != x[i] && !(s->nwaypoints && k == s->path))
			return false;
	}
	return true;
}

int dp__derive(const struct dp_proposer *p, double *x, struct dp_err *err)
{
	const struct dp__inputs *s = &p->inputs;
	struct dp__solved *known = p->solved;
	size_t n = p->study->nparams, unset = 0;
	int code;

	for (size_t i = 0; i < s->nderived; i++)
		unset += isnan(x[s->derived[i]]);
	if (unset == 0)
		return DP_OK;
	for (size_t i = 0; known && i < known->n && i < DP__SOLVED; i++) {
		if (!is_solved(p, known->x[i], x))
			continue;
		for (size_t k = 0; k < s->nderived; k++)
			x[s->derived[k]] = known->x[i][s->derived[k]];
		return DP_OK;
	}
	code = dp_space_derive(p->study, x, err);
	if (code == DP_OK && known)
		memcpy(known->x[known->n++ % DP__SOLVED], x, n * sizeof *x);
	return code;
}

/* ---- the oracles ---- */

/* Did the caller bring a function of its own for this objective? */
static bool is_given(const struct dp_proposer *p, size_t o)
{
	return p->history->exact >> o & 1;
}

bool dp__oracle_exact(const struct dp_proposer *p, size_t o)
{
	const struct dp_study *s = p->study;

	if (o >= s->nobjectives)
		return false;
	return is_given(p, o) ||
	       (s->objectives[o].privacy && s->search.privacy_model != DP_PRIVACY_MODEL_GP);
}

bool dp__oracle_costly(const struct dp_proposer *p, size_t o)
{
	return dp__oracle_exact(p, o) && !is_given(p, o) &&
	       dp_objective_cost(p->study, o) == DP_PRIVACY_COSTLY;
}

bool dp__oracles_costly(const struct dp_proposer *p)
{
	for (size_t o = 0; o < p->noutputs; o++)
		if (p->output[o].exact && p->output[o].costly)
			return true;
	return false;
}

/* What the study's oracle says of x; NaN if it refuses. */
static double ask_oracle(const struct dp_proposer *p, size_t o, const double *x)
{
	const struct dp__inputs *in = &p->inputs;
	double at = in->nwaypoints ? x[in->in[in->path].param] : NAN;
	double target = dp_calibrated_epsilon(p->study, o, x), own[DP_PARAMS_MAX];
	struct dp_epsilon e;
	struct dp_err err;
	int code;

	if (!isnan(target))
		return target;
	memcpy(own, x, p->study->nparams * sizeof *x);
	if ((p->trouble && p->trouble->code) ||
	    (dp_calibrated_before(p->study, o) && dp__derive(p, own, NULL) != DP_OK))
		return NAN;
	code = dp_oracles_epsilon(p->oracles, p->history->programs, o, own, at, &e, &err);
	if (code != DP_OK && code != DP_E_INVALID && p->trouble) {
		*p->trouble = err;
		dp_err_prefix(p->trouble, "objective '%s'", p->study->objectives[o].name);
	}
	return code == DP_OK ? e.epsilon : NAN;
}

double dp__oracle_value(const struct dp_proposer *p, size_t o, const double *x)
{
	double y = is_given(p, o) ? p->history->exact_value(p->history->exact_arg, o, x)
				  : ask_oracle(p, o, x);

	return isnan(y) ? NAN : dp__forward(&p->study->objectives[o], y);
}

double dp__oracle_slope(const struct dp_proposer *p, size_t o, const double *u, double *gradient)
{
	return dp__exact_slope(p, dp__oracle_value, o, u, gradient);
}

double dp__exact_slope(const struct dp_proposer *p, dp__exact_fn *exact, size_t o, const double *u,
		       double *gradient)
{
	double base[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 }, value, z;

	memcpy(base, u, p->spec.d * sizeof *base);
	dp__snap(&p->inputs, base);
	dp__to_x(&p->inputs, base, x);
	z = value = exact(p, o, x);
	for (size_t k = 0; k < p->spec.d; k++) {
		const struct dp__input *in = &p->inputs.in[k];
		double at = x[in->param], step, there;

		gradient[k] = 0;
		if (in->kind == DP__CATEGORY || in->values < 2)
			continue;
		if (in->kind == DP__INT)
			step = at < in->hi ? 1 : -1;
		else
			step = dp__native(in, base[k] + (base[k] < 0.5 ? 1e-5 : -1e-5)) - at;
		x[in->param] = at + step;
		there = dp__place_of(in, at + step);
		gradient[k] = (exact(p, o, x) - z) / (there - base[k]);
		x[in->param] = at;
		value += gradient[k] * (u[k] - base[k]);
	}
	return value;
}
