/* surrogate_predict.c - predicts outputs with the surrogates and evaluates acquisitions. */
#include "base/t_distribution.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double noise_share = 0.2; /* of the noise variance, in acquisitions */

void dp__predict_reserve(struct dp_proposer *p, size_t m)
{
	size_t need = 0;

	for (size_t o = 0; o < p->n_outputs; o++) {
		size_t room = dp_gp_predict_workspace(&p->output[o].gp, m);

		need = room > need ? room : need;
	}
	need += 3 * m;
	if (need <= p->work_capacity)
		return;
	free(p->work);
	p->work = dp_vec_new(need);
	p->work_capacity = need;
}

void dp__predict_outputs(struct dp_proposer *p, const double *u, size_t ldu, size_t m, bool with_sd,
			 bool exactly, struct dp__normal *f, double *next)
{
	size_t count = p->n_outputs;
	double x[DP_PARAMS_MAX] = { 0 }, one[DP_PARAMS_MAX], *mean, *var, *covariance;

	dp__predict_reserve(p, m);
	mean = p->work;
	var = mean + m;
	covariance = var + m;
	for (size_t o = 0; o < count; o++) {
		const struct dp__surrogate_output *out = &p->output[o];
		bool exact = out->is_exact && (exactly || !out->is_costly);

		if (!exact && next)
			dp_gp_predict_sequence(&out->gp, u, ldu, m, mean, var, covariance,
					       covariance + m);
		else if (!exact)
			dp_gp_predict(&out->gp, u, ldu, m, mean, with_sd ? var : NULL,
				      covariance + m);
		for (size_t i = 0; i < m; i++) {
			if (next)
				next[i * count + o] =
					exact ? 0 : out->scale * out->scale * covariance[i];
			if (exact) {
				dp__encoding_get_column(&p->encoding, u + i, ldu, one);
				dp__encoding_decode(&p->encoding, one, x);
				f[i * count + o].mean = dp__exact_objective_value(p, o, x);
				f[i * count + o].sd = 0;
				continue;
			}
			f[i * count + o].mean = out->shift + out->scale * mean[i];
			f[i * count + o].sd = with_sd ? out->scale * sqrt(var[i]) : 0;
		}
	}
}

double dp__predict_mean(struct dp_proposer *p, size_t o, const double *u)
{
	const struct dp__surrogate_output *out = &p->output[o];
	double mean;

	dp_gp_predict(&out->gp, u, 1, 1, &mean, NULL, p->work);
	return out->shift + out->scale * mean;
}

/* A constraint's metric is not transformed, only negated if it is bounded from below. */
static double output_to_natural(const struct dp_study *s, size_t o, double z)
{
	if (o < s->nobjectives)
		return dp__objective_from_model(&s->objectives[o], z);
	return s->constraints[o - s->nobjectives].at_least ? -z : z;
}

struct dp_prediction dp__predict_to_natural(const struct dp_study *s, size_t o,
					    const struct dp__normal *f)
{
	double a = output_to_natural(s, o, f->mean - DP_NORMAL_CRITICAL_95 * f->sd);
	double b = output_to_natural(s, o, f->mean + DP_NORMAL_CRITICAL_95 * f->sd);

	return (struct dp_prediction){ .value = output_to_natural(s, o, f->mean),
				       .lo = fmin(a, b),
				       .hi = fmax(a, b),
				       .model_mean = f->mean,
				       .model_sd = f->sd };
}

double dp__log_feasibility(const struct dp_proposer *p, const struct dp__normal *f, double *by_m,
			   double *by_s)
{
	double sum = 0;

	for (size_t o = p->study->nobjectives; o < p->n_outputs; o++) {
		double a = (dp__output_bound(p->study, o) - f[o].mean) / f[o].sd, r = 1 / (a * a);
		/* log of the normal distribution; asymptotic where it would underflow */
		double b = a > -30 ? log(dp__std_normal_cdf(a))
				   : -0.5 * a * a - log(-a) - 0.9189385332046727 +
					     log1p(r * (3 * r - 1));

		sum += b;
		if (!by_m)
			continue;
		by_m[o] = -exp(-0.5 * a * a - 0.9189385332046727 - b) / f[o].sd;
		by_s[o] = by_m[o] * a;
	}
	return sum;
}

/* Variance of a future result around m, in model space. */
static double expected_noise(const struct dp_proposer *p, size_t o, double m)
{
	const struct dp__surrogate_output *out = &p->output[o];

	return dp__noise_variance(p, o, NULL, m) * out->scale * out->scale;
}

/* One more result at a point moves the model by s^2 / sqrt(s^2 + noise), which bounds what can be
 * gained from it. A fifth of the noise was best: without it, the search pursues differences that it
 * can never tell from chance (docs/optimizer.md). */
struct dp__learnable_sd dp__compute_learnable_sd(const struct dp_proposer *p, size_t o,
						 const struct dp__normal *f)
{
	double step = 1e-4 * p->output[o].scale, s = f->sd, noise, slope, both, root;

	if (!(s > 0) || !dp__acquisition_get(p->study)->accounts_for_noise)
		return (struct dp__learnable_sd){ s, 0, 1 };
	noise = noise_share * expected_noise(p, o, f->mean);
	slope = noise_share *
		(expected_noise(p, o, f->mean + step) - expected_noise(p, o, f->mean - step)) /
		(2 * step);
	both = s * s + noise;
	root = sqrt(both);
	return (struct dp__learnable_sd){ s * s / root, -0.5 * s * s * slope / (both * root),
					  s * (s * s + 2 * noise) / (both * root) };
}

void dp__acquisition_eval(struct dp_proposer *p, const double *u, size_t ldu, size_t m,
			  bool exactly, double *logacq, struct dp__normal *f, double *feas)
{
	const struct dp__acquisition *acq = dp__acquisition_get(p->study);
	size_t count = p->n_outputs, np = p->study->nobjectives;
	struct dp__normal *all = dp_malloc(m * count * sizeof *all);

	dp__predict_outputs(p, u, ldu, m, true, exactly, all, NULL);
	for (size_t i = 0; i < m; i++) {
		const struct dp__normal *row = all + i * count;
		double lf = dp__log_feasibility(p, row, NULL, NULL), v = -INFINITY;
		double one[DP_PARAMS_MAX];
		bool ok = true;
		struct dp__normal gain[DP_OBJECTIVES_MAX];

		for (size_t o = 0; o < np; o++)
			gain[o] = (struct dp__normal){ row[o].mean,
						       dp__compute_learnable_sd(p, o, &row[o]).sd };
		for (size_t o = 0; o < count; o++)
			ok &= isfinite(row[o].mean) && isfinite(row[o].sd);
		if (ok && logacq && acq->log_value && p->has_partitioning)
			v = acq->log_value(&p->partitioning, gain, NULL) + lf;
		dp__encoding_get_column(&p->encoding, u + i, ldu, one);
		if (v > -INFINITY)
			v -= dp__cost_log_at(p, one, NULL);
		if (logacq)
			logacq[i] = isnan(v) ? -INFINITY : v;
		if (feas)
			feas[i] = exp(lf);
		if (f)
			memcpy(f + i * np, row, np * sizeof *f);
	}
	free(all);
}

struct dp__normal dp__output_predict_gradient(struct dp_proposer *p, size_t o, const double *u,
					      double *dm, double *ds)
{
	const struct dp__surrogate_output *out = &p->output[o];
	double mean, var, sd;

	dp_gp_predict_gradient(&out->gp, u, &mean, &var, dm, ds, p->work);
	sd = sqrt(var);
	for (size_t k = 0; k < p->spec.d; k++) {
		dm[k] *= out->scale;
		ds[k] *= out->scale / (2 * sd);
	}
	return (struct dp__normal){ out->shift + out->scale * mean, out->scale * sd };
}

double dp__acquisition_gradient(struct dp_proposer *p, const double *u, double *gradient)
{
	const struct dp__acquisition *acq = dp__acquisition_get(p->study);
	size_t d = p->spec.d, np = p->study->nobjectives;
	double dm[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX][DP_PARAMS_MAX];
	double ds[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX][DP_PARAMS_MAX];
	struct dp__normal f[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double by[2 * DP_OBJECTIVES_MAX], value;
	double by_m[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double by_s[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	memset(gradient, 0, d * sizeof *gradient);
	for (size_t o = 0; o < p->n_outputs; o++) {
		if (!dp__output_is_modelled(&p->output[o])) {
			f[o].mean =
				dp__point_fn_gradient(p, dp__exact_objective_value, o, u, dm[o]);
			f[o].sd = 0;
			memset(ds[o], 0, d * sizeof *ds[o]);
			continue;
		}
		f[o] = dp__output_predict_gradient(p, o, u, dm[o], ds[o]);
		if (o < np) {
			struct dp__learnable_sd left = dp__compute_learnable_sd(p, o, &f[o]);

			f[o].sd = left.sd;
			for (size_t k = 0; k < d; k++)
				ds[o][k] = left.by_sd * ds[o][k] + left.by_mean * dm[o][k];
		}
	}
	value = acq->log_value(&p->partitioning, f, by) + dp__log_feasibility(p, f, by_m, by_s);
	if (!isfinite(value))
		return -INFINITY;
	for (size_t o = 0; o < p->n_outputs; o++) {
		double gm = o < np ? by[o] : by_m[o], gs = o < np ? by[np + o] : by_s[o];

		for (size_t k = 0; k < d; k++)
			gradient[k] += gm * dm[o][k] + gs * ds[o][k];
	}
	return value - dp__cost_log_at(p, u, gradient);
}
