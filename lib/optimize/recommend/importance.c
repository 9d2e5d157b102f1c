/* importance.c - estimates Sobol' indices from quasi-random points.
 *
 * First-order indices as in Saltelli et al. (2010), total indices as in Jansen (1999). */
#include "optimize/recommend/importance.h"

#include "optimize/propose/proposer_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/space.h"
#include "study/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	EVALUATIONS_MAX =
		8192, /* evaluations of a model or a closed form, for all parameters together */
	PREPARED_EVALUATIONS_MAX =
		2048, /* the same for an accountant that caches work per noise level */
	POINTS_MIN = 128,
	SOBOL_DIMENSIONS = 64, /* dimensions of the Sobol' sequence; random numbers beyond */
	EVAL_BATCH = 64        /* points per call */
};
static const uint64_t importance_seed = 1; /* the same for every study */
/* Variance below this share of the squared mean is rounding error. */
static const double no_variance = 1e-20;

/* ---- the design: two samples A and B, and A with one column taken from B ----  */

/* A sample x (points x nparams) that uses the dimensions from `dimension` on. */
static void sobol_design_sample(const struct dp_study *s, const size_t *varied, size_t nvaried,
				size_t points, size_t dimension, double *x)
{
	for (size_t i = 0; i < points; i++) {
		for (size_t k = 0; k < s->nparams; k++)
			x[i * s->nparams + k] = dp_space_quantile(s, k, 0);
		for (size_t k = 0; k < nvaried; k++) {
			uint32_t axis = (uint32_t)(dimension + k);
			struct dp_rng r;
			double t;

			dp_rng_init(&r, importance_seed, DP_RNG_SAMPLE, (uint32_t)i, axis);
			t = axis < SOBOL_DIMENSIONS
				    ? dp__sobol_coordinate(importance_seed, (uint32_t)i, axis)
				    : dp_rng_uniform(&r);
			x[i * s->nparams + varied[k]] = dp_space_quantile(s, varied[k], t);
		}
	}
}

/* ---- estimates ---- */

struct sobol_design {
	const struct dp_study *study;
	size_t n_points;
	double *a, *b, *mixed;    /* (points x nparams) */
	double *fa, *fb, *fmixed; /* (points) */
	double mean, variance;    /* of fa and fb */
};

/* Mean and variance over both samples, without NaN. Returns false if most values are NaN. */
static bool sobol_design_moments(struct sobol_design *d)
{
	double sum = 0, squares = 0, n = 0;

	for (size_t i = 0; i < 2 * d->n_points; i++) {
		double f = i < d->n_points ? d->fa[i] : d->fb[i - d->n_points];

		sum += isfinite(f) ? f : 0;
		n += isfinite(f);
	}
	d->mean = sum / fmax(n, 1);
	for (size_t i = 0; i < 2 * d->n_points; i++) {
		double f = i < d->n_points ? d->fa[i] : d->fb[i - d->n_points];

		squares += isfinite(f) ? (f - d->mean) * (f - d->mean) : 0;
	}
	d->variance = squares / fmax(n, 1);
	if (!(d->variance > no_variance * d->mean * d->mean))
		d->variance = 0;
	return n > (double)d->n_points;
}

/* Both indices of one parameter. Estimation errors of the first-order index are clamped. */
static void estimate_sobol_indices(const struct sobol_design *d, double *first, double *total)
{
	double alone = 0, any = 0, n = 0;

	for (size_t i = 0; i < d->n_points; i++) {
		double moved = d->fmixed[i] - d->fa[i];

		if (!isfinite(moved) || !isfinite(d->fb[i]))
			continue;
		alone += (d->fb[i] - d->mean) * moved;
		any += moved * moved / 2;
		n++;
	}
	*total = *first = 0;
	if (n == 0 || d->variance == 0)
		return;
	*total = any / n / d->variance;
	*first = fmin(fmax(alone / n / d->variance, 0), *total);
}

static void sobol_design_eval(const struct sobol_design *d, dp_importance_fn *value, void *arg,
			      const double *x, double *f)
{
	for (size_t i = 0; i < d->n_points; i += EVAL_BATCH) {
		size_t m = d->n_points - i < EVAL_BATCH ? d->n_points - i : EVAL_BATCH;

		value(arg, x + i * d->study->nparams, m, f + i);
	}
}

void dp_importance_find(const struct dp_study *study, const size_t *varied, size_t nvaried,
			size_t points, dp_importance_fn *value, void *arg,
			struct dp_importance *out)
{
	size_t nx = study->nparams, size = points * nx;
	double *room = dp_malloc(3 * (size + points) * sizeof *room);
	struct sobol_design d = { .study = study, .n_points = points, .a = room };

	*out = (struct dp_importance){ .source = DP_IMPORTANCE_UNKNOWN };
	d.b = d.a + size;
	d.mixed = d.b + size;
	d.fa = d.mixed + size;
	d.fb = d.fa + points;
	d.fmixed = d.fb + points;
	sobol_design_sample(study, varied, nvaried, points, 0, d.a);
	sobol_design_sample(study, varied, nvaried, points, nvaried, d.b);
	sobol_design_eval(&d, value, arg, d.a, d.fa);
	sobol_design_eval(&d, value, arg, d.b, d.fb);
	if (sobol_design_moments(&d)) {
		out->source = DP_IMPORTANCE_COMPUTED;
		out->variance = d.variance;
		for (size_t k = 0; k < nvaried; k++) {
			size_t param = varied[k];

			memcpy(d.mixed, d.a, size * sizeof *d.a);
			for (size_t i = 0; i < points; i++)
				d.mixed[i * nx + param] = d.b[i * nx + param];
			sobol_design_eval(&d, value, arg, d.mixed, d.fmixed);
			estimate_sobol_indices(&d, &out->first_order[param],
					       &out->total_order[param]);
		}
	}
	free(room);
}

/* ---- objectives of a study ---- */

struct importance_args {
	struct dp_proposer *p;
	size_t objective;
};

static void eval_accountant_at(void *arg, const double *x, size_t m, double *z)
{
	const struct importance_args *a = arg;
	size_t nx = a->p->study->nparams;

	for (size_t i = 0; i < m; i++) {
		double own[DP_PARAMS_MAX];

		memcpy(own, x + i * nx, nx * sizeof *own);
		dp__encoding_pin_unset(&a->p->encoding, own);
		z[i] = dp__exact_objective_value(a->p, a->objective, own);
	}
}

static void eval_surrogate_at(void *arg, const double *x, size_t m, double *z)
{
	const struct importance_args *a = arg;
	struct dp_proposer *p = a->p;
	const struct dp__surrogate_output *out = &p->output[a->objective];
	size_t nx = p->study->nparams;
	double u[DP_PARAMS_MAX * EVAL_BATCH], own[DP_PARAMS_MAX], one[DP_PARAMS_MAX];

	dp__predict_reserve(p, m);
	for (size_t i = 0; i < m; i++) {
		memcpy(own, x + i * nx, nx * sizeof *own);
		dp__encoding_pin_unset(&p->encoding, own);
		dp__encoding_encode(&p->encoding, own, one);
		dp__encoding_set_column(&p->encoding, one, u + i, EVAL_BATCH);
	}
	dp_gp_predict(&out->gp, u, EVAL_BATCH, m, z, NULL, p->work);
	for (size_t i = 0; i < m; i++)
		z[i] = out->shift + out->scale * z[i];
}

/* Inputs of the objective. A calibrated parameter that epsilon uses depends on all inputs. */
static size_t select_sobol_inputs(const struct dp_proposer *p, size_t objective, size_t *varied)
{
	const struct dp_accounting_spec *o = p->study->objectives[objective].privacy;
	bool all = !o;
	size_t n = 0;

	for (size_t i = 0; i < p->study->nparams && o; i++)
		all |= p->study->params[i].kind == DP_PARAM_CALIBRATED &&
		       dp_accounting_depends_on(o, i);
	for (size_t k = 0; k < p->encoding.d; k++) {
		const struct dp__input *in = &p->encoding.inputs[k];

		if (!in->is_pinned && (all || dp_accounting_depends_on(o, in->param)))
			varied[n++] = in->param;
	}
	return n;
}

void dp_surrogate_importance(struct dp_proposer *p, size_t objective, struct dp_importance *out)
{
	static const struct dp_history nothing;
	const struct dp_history *fitted = p->history;
	struct importance_args a = { p, objective };
	bool privacy = p->study->objectives[objective].privacy != NULL;
	enum dp_privacy_cost cost = privacy ? dp_objective_accounting_cost(p->study, objective)
					    : DP_PRIVACY_COST_EXPENSIVE;
	size_t varied[DP_PARAMS_MAX], n = select_sobol_inputs(p, objective, varied);
	size_t most = cost == DP_PRIVACY_COST_CACHED ? PREPARED_EVALUATIONS_MAX : EVALUATIONS_MAX;
	bool asks = cost != DP_PRIVACY_COST_EXPENSIVE;
	size_t points = POINTS_MIN;

	*out = (struct dp_importance){ .source = DP_IMPORTANCE_UNKNOWN };
	if (!asks && (!fitted || p->output[objective].gp.n == 0))
		return;
	while (2 * points * (n + 2) <= most)
		points *= 2;
	p->history = fitted ? fitted : &nothing;
	dp_importance_find(p->study, varied, n, points,
			   asks ? eval_accountant_at : eval_surrogate_at, &a, out);
	p->history = fitted;
	if (out->source != DP_IMPORTANCE_UNKNOWN && !asks)
		out->source = DP_IMPORTANCE_MODELLED;
}
