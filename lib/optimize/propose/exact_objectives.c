/* exact_objectives.c - computes objectives that are exact functions of the point, such as epsilon.
 *
 * A proposal evaluates epsilon at hundreds of points, so that values that depend on the noise alone
 * are cached. */
#include "optimize/propose/proposer_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"

#include <math.h>
#include <string.h>

/* ---- calibrated parameters ---- */

int dp__proposer_calibrate(const struct dp_proposer *p, double *x, struct dp_err *err)
{
	const struct dp__encoding *s = &p->encoding;
	struct dp__calibration_cache *known = p->calibration_cache;
	size_t n = p->study->nparams, unset = 0;
	int code;

	for (size_t i = 0; i < s->n_calibrated; i++)
		unset += isnan(x[s->calibrated[i]]);
	if (unset == 0)
		return DP_OK;
	for (size_t i = 0; known && i < known->n && i < DP__CALIBRATION_CACHE_SIZE; i++) {
		bool same = true;

		/* they depend on all inputs but that of the learning curve */
		for (size_t k = 0; k < s->d; k++)
			same &= known->x[i][s->inputs[k].param] == x[s->inputs[k].param] ||
				(s->n_checkpoints && k == s->path_input);
		if (!same)
			continue;
		for (size_t k = 0; k < s->n_calibrated; k++)
			x[s->calibrated[k]] = known->x[i][s->calibrated[k]];
		return DP_OK;
	}
	code = dp_space_solve_calibrated(p->study, x, err);
	if (code == DP_OK && known)
		memcpy(known->x[known->n++ % DP__CALIBRATION_CACHE_SIZE], x, n * sizeof *x);
	return code;
}

/* ---- values ---- */

/* True if the caller supplies the objective as a function. */
static bool has_caller_function(const struct dp_proposer *p, size_t o)
{
	return p->history->exact_objectives >> o & 1;
}

bool dp__objective_is_exact(const struct dp_proposer *p, size_t o)
{
	const struct dp_study *s = p->study;

	if (o >= s->nobjectives)
		return false;
	return has_caller_function(p, o) ||
	       (s->objectives[o].privacy && s->search.privacy_model != DP_PRIVACY_MODEL_GP);
}

bool dp__objective_is_costly(const struct dp_proposer *p, size_t o)
{
	return dp__objective_is_exact(p, o) && !has_caller_function(p, o) &&
	       dp_objective_accounting_cost(p->study, o) == DP_PRIVACY_COST_EXPENSIVE;
}

bool dp__proposer_has_costly(const struct dp_proposer *p)
{
	for (size_t o = 0; o < p->n_outputs; o++)
		if (p->output[o].is_exact && p->output[o].is_costly)
			return true;
	return false;
}

/* Epsilon of x; NaN if its accountant rejects the point. */
static double compute_accountant_epsilon(const struct dp_proposer *p, size_t o, const double *x)
{
	const struct dp__encoding *in = &p->encoding;
	double at = in->n_checkpoints ? x[in->inputs[in->path_input].param] : NAN;
	double target = dp_calibration_target_epsilon(p->study, o, x), own[DP_PARAMS_MAX];
	struct dp_epsilon e;
	struct dp_err err;
	int code;

	if (!isnan(target))
		return target;
	memcpy(own, x, p->study->nparams * sizeof *x);
	if ((p->accountant_error && p->accountant_error->code) ||
	    (dp_objective_needs_calibration(p->study, o) &&
	     dp__proposer_calibrate(p, own, NULL) != DP_OK))
		return NAN;
	code = dp_accounting_cache_epsilon(p->accountants, p->history->external_accountants, o, own,
					   at, &e, &err);
	if (code != DP_OK && code != DP_E_INVALID && p->accountant_error) {
		*p->accountant_error = err;
		dp_err_prefix(p->accountant_error, "objective '%s'", p->study->objectives[o].name);
	}
	return code == DP_OK ? e.epsilon : NAN;
}

double dp__exact_objective_value(const struct dp_proposer *p, size_t o, const double *x)
{
	double y = has_caller_function(p, o) ? p->history->exact_fn(p->history->exact_arg, o, x)
					     : compute_accountant_epsilon(p, o, x);

	return isnan(y) ? NAN : dp__objective_to_model(&p->study->objectives[o], y);
}

double dp__point_fn_gradient(const struct dp_proposer *p, dp__point_fn *exact, size_t o,
			     const double *u, double *gradient)
{
	double base[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 }, value, z;

	memcpy(base, u, p->spec.d * sizeof *base);
	dp__encoding_round(&p->encoding, base);
	dp__encoding_decode(&p->encoding, base, x);
	z = value = exact(p, o, x);
	for (size_t k = 0; k < p->spec.d; k++) {
		const struct dp__input *in = &p->encoding.inputs[k];
		double at = x[in->param], step, there;

		gradient[k] = 0;
		if (in->kind == DP__INPUT_CATEGORY || in->n_values < 2)
			continue;
		if (in->kind == DP__INPUT_INT)
			step = at < in->hi ? 1 : -1;
		else
			step = dp__input_decode(in, base[k] + (base[k] < 0.5 ? 1e-5 : -1e-5)) - at;
		x[in->param] = at + step;
		there = dp__input_encode(in, at + step);
		gradient[k] = (exact(p, o, x) - z) / (there - base[k]);
		x[in->param] = at;
		value += gradient[k] * (u[k] - base[k]);
	}
	return value;
}
