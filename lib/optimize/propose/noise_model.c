/* noise_model.c - estimates the noise variance of each result.
 *
 * The variance between a study's runs is seldom constant: it grows with the error at high privacy,
 * and the slope of a transform multiplies it near 0 and 1. So the run variances, in natural units,
 * are averaged over results of similar value into a curve, and each result's own variance is shrunk
 * towards it. Values come from a smooth model: the slope at a value that is good by selection bias
 * would make it look reliable. With one run per trial only the noise is learned, together with the
 * exponent of the transform's slope in it. The noise of a released metric is known, and that of the
 * runs is learned in addition. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "study/metric_release.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PRIOR_DEGREES_OF_FREEDOM = 4 /* of the curve, when a variance is shrunk towards it */
};
/* noise of the smooth model; width of the curve's kernel in standard deviations of the values */
static const double smooth_noise = 0.1, curve_width = 0.5;
/* Less learned noise, as a share of the output's variance, indicates a rough function. */
static const double negligible_noise = 1e-3, min_noise = 1e-8;

/* d model / d natural at z in model space. */
static double transform_slope_at(const struct dp_proposer *p, size_t o, double z)
{
	const struct dp_objective *obj = &p->study->objectives[o];

	return dp__objective_to_model_slope(obj, dp__objective_from_model(obj, z));
}

/* Variance of a result's mean in natural units, or NaN. */
static double run_variance(const struct dp_proposer *p, size_t o, const struct dp_observation *k)
{
	if (o >= p->study->nobjectives || k->status != DP_OBSERVATION_OK || !(k->var[o] >= 0) ||
	    isinf(k->var[o]))
		return NAN;
	return k->var[o];
}

/* Computes the curve: mean run variance near a value, at even steps over the range of values. */
static void noise_curve_fit(struct dp_proposer *p, size_t o, const double *around, size_t n)
{
	struct dp__surrogate_output *out = &p->output[o];
	struct dp__noise_curve *c = &out->noise_curve;
	double lo = INFINITY, hi = -INFINITY, slope;

	for (size_t i = 0; i < n; i++) {
		if (isnan(run_variance(p, o, &p->observed[i])))
			continue;
		lo = fmin(lo, around[i]);
		hi = fmax(hi, around[i]);
	}
	if (!(hi >= lo))
		return;
	c->lo = lo;
	c->step = fmax(hi - lo, 1e-9) / (DP__NOISE_CURVE_POINTS - 1);
	for (size_t k = 0; k < DP__NOISE_CURVE_POINTS; k++) {
		double at = lo + (double)k * c->step, sum = 0, weight = 0;

		for (size_t i = 0; i < n; i++) {
			double v = run_variance(p, o, &p->observed[i]);
			double d = (around[i] - at) / (curve_width * out->scale), w;

			if (isnan(v))
				continue;
			w = exp(-0.5 * d * d) + 1e-9;
			sum += w * v;
			weight += w;
		}
		c->variance[k] = sum / weight;
		/* a negligible variance does not count as known */
		slope = transform_slope_at(p, o, at) / out->scale;
		c->is_known |= c->variance[k] * slope * slope > min_noise;
	}
}

/* Predictions of the smooth model at n points u (d x ldu), in model space. */
static void predict_smooth_gp(const struct dp__surrogate_output *out, const double *u, size_t ldu,
			      size_t n, double *z)
{
	enum {
		BLOCK = 64
	};
	double *work = dp_vec_new(dp_gp_predict_workspace(&out->smooth_gp, BLOCK));

	for (size_t from = 0; from < n; from += BLOCK)
		dp_gp_predict(&out->smooth_gp, u + from, ldu, n - from < BLOCK ? n - from : BLOCK,
			      z + from, NULL, work);
	for (size_t i = 0; i < n; i++)
		z[i] = out->shift + out->scale * z[i];
	free(work);
}

/* True if there are replicates and all are identical to the last bit. */
static bool replicates_are_identical(const struct dp_proposer *p, size_t o, size_t n)
{
	bool repeat = false;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			if (!dp__points_are_equal(p, p->observed[i].x, p->observed[k].x))
				continue;
			if (p->observed[i].y[o] != p->observed[k].y[o])
				return false;
			repeat = true;
		}
	return repeat;
}

int dp__noise_model_fit(struct dp_proposer *p, size_t o, const struct dp_gp_data *fit, size_t n,
			double *around)
{
	struct dp__surrogate_output *out = &p->output[o];
	struct dp_gp_data data = *fit;
	struct dp_gp_hyper h;
	double *noise;
	int code;

	memset(&out->noise_curve, 0, sizeof out->noise_curve);
	out->is_deterministic = false;
	if (o >= p->study->nobjectives) {
		memset(around, 0, n * sizeof *around);
		return DP_OK;
	}
	out->is_deterministic = replicates_are_identical(p, o, n);
	data.noise = noise = dp_vec_new(fit->n);
	data.noise_group = NULL;
	for (size_t i = 0; i < fit->n; i++)
		noise[i] = smooth_noise;
	dp_gp_init_hyper(&p->spec, DP_GP_START_PRIOR_MEAN, &h);
	dp_gp_free(&out->smooth_gp);
	code = dp_gp_build(&out->smooth_gp, &p->spec, &h, &data, fit->n + 1);
	free(noise);
	if (code != DP_OK)
		return code;
	dp_gp_set_outputs(&out->smooth_gp, fit->y, fit->n);
	predict_smooth_gp(out, p->u, p->ldu, n, around);
	noise_curve_fit(p, o, around, n);
	return DP_OK;
}

double dp__noise_smoothed_value(const struct dp_proposer *p, size_t o, const double *u, double z)
{
	double smoothed;

	if (o >= p->study->nobjectives)
		return 0;
	predict_smooth_gp(&p->output[o], u, 1, 1, &smoothed);
	return isnan(z) ? smoothed : 0.5 * (smoothed + z);
}

double dp__noise_measured_variance(const struct dp_proposer *p, size_t o,
				   const struct dp_observation *k, double around)
{
	const struct dp__surrogate_output *out = &p->output[o];
	const struct dp__noise_curve *c = &out->noise_curve;
	double v = k ? run_variance(p, o, k) : 0, df = p->study->trainer.runs - 1;
	double at, near, slope; /* near: variance of the curve at `around`, in natural units */
	size_t n;

	if (out->is_deterministic)
		return min_noise;
	if (isnan(v) || !out->noise_curve.is_known)
		return NAN;
	at = fmin(fmax((around - c->lo) / c->step, 0), DP__NOISE_CURVE_POINTS - 1);
	n = at < DP__NOISE_CURVE_POINTS - 2 ? (size_t)at : DP__NOISE_CURVE_POINTS - 2;
	at -= (double)n;
	near = (1 - at) * c->variance[n] + at * c->variance[n + 1];
	slope = transform_slope_at(p, o, around) / out->scale;
	v = k ? fmax((df * v + PRIOR_DEGREES_OF_FREEDOM * near) / (df + PRIOR_DEGREES_OF_FREEDOM),
		     0.01 * near)
	      : near;
	return fmax(v * slope * slope, min_noise);
}

double dp__noise_release_variance(const struct dp_proposer *p, size_t o, double around)
{
	double slope;

	if (o >= p->study->nobjectives || p->study->objectives[o].release.records == 0)
		return 0;
	slope = transform_slope_at(p, o, around) / p->output[o].scale;
	return dp_metric_release_variance(&p->study->objectives[o].release) * slope * slope;
}

double dp__noise_log_scale(const struct dp_proposer *p, size_t o, double around)
{
	return o < p->study->nobjectives ? 2 * log(fabs(transform_slope_at(p, o, around))) : 0;
}

double dp__noise_variance(const struct dp_proposer *p, size_t o, const struct dp_observation *k,
			  double around)
{
	const struct dp__surrogate_output *out = &p->output[o];
	double measured = dp__noise_measured_variance(p, o, k, around);

	if (!isnan(measured))
		return measured;
	return out->hyper.noise *
		       exp(out->hyper.noise_exponent *
			   (dp__noise_log_scale(p, o, around) - out->log_noise_scale_mean)) +
	       dp__noise_release_variance(p, o, around);
}

bool dp__noise_is_negligible(const struct dp_proposer *p, size_t o)
{
	const struct dp__surrogate_output *out = &p->output[o];

	if (o < p->study->nobjectives && p->study->objectives[o].release.records > 0)
		return false;
	return out->is_deterministic ||
	       (!out->noise_curve.is_known && out->hyper.noise < negligible_noise);
}
