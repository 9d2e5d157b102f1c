/* noise.c - how far a result may be from the value it measures.
 *
 * The spread of a study's runs is seldom the same everywhere: it grows with the error
 * where privacy is strong, and the slope of a transform multiplies it near 0 and 1. So
 * the variances of the runs, in natural units, are averaged over results of a similar
 * value into a curve, and each result's own variance is shrunk to it. The values are
 * those of a smooth model: the slope at a lucky value would make luck look reliable.
 * Where there is one run only the noise is learned, and with it how much of the
 * transform's slope it follows. Of a metric that is released with noise that much is
 * known, and the runs' own is learned beside it. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUN_PRIOR = 4 /* degrees of freedom that the curve counts */
};
/* of the smooth model, and of the curve in standard deviations of the values */
static const double smooth_noise = 0.1, curve_width = 0.5;
/* A learned noise below this share of the output's variance is a rough function rather
 * than a noisy one. */
static const double none_below = 1e-3, least_noise = 1e-8;

/* d model / d natural at a place of model space. */
static double slope_at(const struct dp_proposer *p, size_t o, double z)
{
	const struct dp_objective *obj = &p->study->objectives[o];

	return dp__forward_slope(obj, dp__backward(obj, z));
}

/* Variance of a result's mean in natural units, or NaN. */
static double run_variance(const struct dp_proposer *p, size_t o, const struct dp_known *k)
{
	if (o >= p->study->nobjectives || k->status != DP_KNOWN_OK || !(k->var[o] >= 0) ||
	    isinf(k->var[o]))
		return NAN;
	return k->var[o];
}

/* The curve: mean variance of the runs near a value, at even steps between the least
 * and the largest value. */
static void draw_curve(struct dp_proposer *p, size_t o, const double *around, size_t n)
{
	struct dp__output *out = &p->output[o];
	struct dp__noise_curve *c = &out->curve;
	double lo = INFINITY, hi = -INFINITY, slope;

	for (size_t i = 0; i < n; i++) {
		if (isnan(run_variance(p, o, &p->seen[i])))
			continue;
		lo = fmin(lo, around[i]);
		hi = fmax(hi, around[i]);
	}
	if (!(hi >= lo))
		return;
	c->lo = lo;
	c->step = fmax(hi - lo, 1e-9) / (DP__CURVE - 1);
	for (size_t k = 0; k < DP__CURVE; k++) {
		double at = lo + (double)k * c->step, sum = 0, weight = 0;

		for (size_t i = 0; i < n; i++) {
			double v = run_variance(p, o, &p->seen[i]);
			double d = (around[i] - at) / (curve_width * out->scale), w;

			if (isnan(v))
				continue;
			w = exp(-0.5 * d * d) + 1e-9;
			sum += w * v;
			weight += w;
		}
		c->variance[k] = sum / weight;
		/* runs that hardly differ say as little as equal ones */
		slope = slope_at(p, o, at) / out->scale;
		c->known |= c->variance[k] * slope * slope > least_noise;
	}
}

/* In natural units, at a place of model space. */
static double curve_at(const struct dp__noise_curve *c, double z)
{
	double at = fmin(fmax((z - c->lo) / c->step, 0), DP__CURVE - 1);
	size_t k = at < DP__CURVE - 2 ? (size_t)at : DP__CURVE - 2;

	at -= (double)k;
	return (1 - at) * c->variance[k] + at * c->variance[k + 1];
}

/* Makes the smooth model of the fit's points. */
static int make_smooth(struct dp_proposer *p, size_t o, const struct dp_gp_data *fit)
{
	struct dp__output *out = &p->output[o];
	double *noise = dp_vec_new(fit->n);
	struct dp_gp_data data = *fit;
	struct dp_gp_hyper h;
	int code;

	if (!noise)
		return DP_E_NOMEM;
	for (size_t i = 0; i < fit->n; i++)
		noise[i] = smooth_noise;
	data.noise = noise;
	data.run = NULL;
	dp_gp_start(&p->spec, DP_GP_CENTRE, &h);
	dp_gp_free(&out->smooth);
	code = dp_gp_build(&out->smooth, &p->spec, &h, &data, fit->n + 1);
	if (code == DP_OK)
		dp_gp_observe(&out->smooth, fit->y, fit->n);
	free(noise);
	return code;
}

/* What the smooth model predicts at n points u (d x ldu), in model space. */
static int smooth_values(const struct dp__output *out, const double *u, size_t ldu, size_t n,
			 double *z)
{
	enum {
		BLOCK = 64
	};
	double *work = dp_vec_new(dp_gp_room(&out->smooth, BLOCK));

	if (!work)
		return DP_E_NOMEM;
	for (size_t from = 0; from < n; from += BLOCK)
		dp_gp_predict(&out->smooth, u + from, ldu, n - from < BLOCK ? n - from : BLOCK,
			      z + from, NULL, work);
	for (size_t i = 0; i < n; i++)
		z[i] = out->shift + out->scale * z[i];
	free(work);
	return DP_OK;
}

/* Have results at one point, where there are such, the same value to the last bit? */
static bool values_repeat(const struct dp_proposer *p, size_t o, size_t n)
{
	bool repeat = false;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			if (!dp__same_point(p, p->seen[i].x, p->seen[k].x))
				continue;
			if (p->seen[i].y[o] != p->seen[k].y[o])
				return false;
			repeat = true;
		}
	return repeat;
}

int dp__noise_learn(struct dp_proposer *p, size_t o, const struct dp_gp_data *fit, size_t n,
		    double *around)
{
	struct dp__output *out = &p->output[o];
	int code;

	memset(&out->curve, 0, sizeof out->curve);
	out->repeats = false;
	if (o >= p->study->nobjectives) {
		memset(around, 0, n * sizeof *around);
		return DP_OK;
	}
	out->repeats = values_repeat(p, o, n);
	code = make_smooth(p, o, fit);
	if (code == DP_OK)
		code = smooth_values(out, p->u, p->ldu, n, around);
	if (code == DP_OK)
		draw_curve(p, o, around, n);
	return code;
}

int dp__noise_around(const struct dp_proposer *p, size_t o, const double *u, double z,
		     double *around)
{
	int code;

	*around = 0;
	if (o >= p->study->nobjectives)
		return DP_OK;
	code = smooth_values(&p->output[o], u, 1, 1, around);
	*around = isnan(z) ? *around : 0.5 * (*around + z);
	return code;
}

double dp__noise_of(const struct dp_proposer *p, size_t o, const struct dp_known *k, double around)
{
	const struct dp__output *out = &p->output[o];
	double v = k ? run_variance(p, o, k) : 0, df = p->study->trainer.runs - 1;
	double near, slope;

	if (out->repeats)
		return least_noise;
	if (isnan(v) || !out->curve.known)
		return NAN;
	near = curve_at(&out->curve, around);
	slope = slope_at(p, o, around) / out->scale;
	v = k ? fmax((df * v + RUN_PRIOR * near) / (df + RUN_PRIOR), 0.01 * near) : near;
	return fmax(v * slope * slope, least_noise);
}

double dp__noise_released(const struct dp_proposer *p, size_t o, double around)
{
	double slope;

	if (o >= p->study->nobjectives || p->study->objectives[o].release.records == 0)
		return 0;
	slope = slope_at(p, o, around) / p->output[o].scale;
	return dp_release_variance(&p->study->objectives[o].release) * slope * slope;
}

double dp__noise_lean(const struct dp_proposer *p, size_t o, double around)
{
	return o < p->study->nobjectives ? 2 * log(fabs(slope_at(p, o, around))) : 0;
}

double dp__noise_at(const struct dp_proposer *p, size_t o, const struct dp_known *k, double around)
{
	const struct dp__output *out = &p->output[o];
	double told = dp__noise_of(p, o, k, around);

	if (!isnan(told))
		return told;
	return out->hyper.noise *
		       exp(out->hyper.lean * (dp__noise_lean(p, o, around) - out->lean_mean)) +
	       dp__noise_released(p, o, around);
}

bool dp__noise_none(const struct dp_proposer *p, size_t o)
{
	const struct dp__output *out = &p->output[o];

	if (o < p->study->nobjectives && p->study->objectives[o].release.records > 0)
		return false;
	return out->repeats || (!out->curve.known && out->hyper.noise < none_below);
}
