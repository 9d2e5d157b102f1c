/* oracle.c - objectives whose value is computed from the point, not learned: privacy.
 *
 * A search asks for epsilon at hundreds of points a proposal, so each oracle is prepared
 * once and keeps what depends on the noise alone. */
#include "propose/propose_internal.h"

#include <math.h>
#include <string.h>

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
	return is_given(p, o) || (s->objectives[o].privacy &&
				  s->search.privacy_model != DP_PRIVACY_MODEL_GP);
}

bool dp__oracle_costly(const struct dp_proposer *p, size_t o)
{
	return dp__oracle_exact(p, o) && !is_given(p, o) &&
	       dp_oracle_cost(p->study->objectives[o].privacy) == DP_PRIVACY_COSTLY;
}

bool dp__oracles_costly(const struct dp_proposer *p)
{
	for (size_t o = 0; o < p->noutputs; o++)
		if (p->output[o].exact && p->output[o].costly)
			return true;
	return false;
}

double dp__oracle_value(const struct dp_proposer *p, size_t o, const double *x)
{
	const struct dp__inputs *in = &p->inputs;
	double at = in->nwaypoints ? x[in->in[in->path].param] : NAN;
	struct dp_epsilon e;
	struct dp_err err;
	int code;

	if (is_given(p, o)) {
		e.epsilon = p->history->exact_value(p->history->exact_arg, o, x);
	} else if (p->trouble && p->trouble->code) {
		return NAN;
	} else {
		code = dp_oracles_epsilon(p->oracles, p->history->programs, o, x, at, &e,
					  &err);
		if (code != DP_OK && code != DP_E_INVALID && p->trouble) {
			*p->trouble = err;
			dp_err_prefix(p->trouble, "objective '%s'",
				      p->study->objectives[o].name);
		}
		if (code != DP_OK)
			return NAN;
	}
	return dp__forward(&p->study->objectives[o], e.epsilon);
}

double dp__oracle_slope(const struct dp_proposer *p, size_t o, const double *u,
			double *gradient)
{
	double base[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 }, value, z;

	memcpy(base, u, p->spec.d * sizeof *base);
	dp__snap(&p->inputs, base);
	dp__to_x(&p->inputs, base, x);
	z = value = dp__oracle_value(p, o, x);
	for (size_t k = 0; k < p->spec.d; k++) {
		const struct dp__input *in = &p->inputs.in[k];
		double at = x[in->param], step, there;

		gradient[k] = 0;
		if (in->kind == DP__CATEGORY || in->values < 2)
			continue;
		if (in->kind == DP__INT)
			step = at < in->hi ? 1 : -1;
		else
			step = dp__native(in, base[k] + (base[k] < 0.5 ? 1e-5 : -1e-5)) -
			       at;
		x[in->param] = at + step;
		there = dp__place_of(in, at + step);
		gradient[k] = (dp__oracle_value(p, o, x) - z) / (there - base[k]);
		x[in->param] = at;
		value += gradient[k] * (u[k] - base[k]);
	}
	return value;
}
