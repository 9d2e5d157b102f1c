/* predict.c - what the models say of points, and what a point is worth by that. */
#include "base/student.h"
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double noise_share = 0.2; /* of the noise that a gain is reckoned with */

int dp__model_room(struct dp_proposer *p, size_t m)
{
	size_t need = 0;

	for (size_t o = 0; o < p->noutputs; o++) {
		size_t room = dp_gp_room(&p->output[o].gp, m);

		need = room > need ? room : need;
	}
	need += 3 * m;
	if (need <= p->work_room)
		return DP_OK;
	free(p->work);
	p->work = dp_vec_new(need);
	p->work_room = p->work ? need : 0;
	return p->work ? DP_OK : DP_E_NOMEM;
}

static void column_u(const struct dp_proposer *p, const double *u, size_t stride, double *one)
{
	for (size_t k = 0; k < p->spec.d; k++)
		one[k] = u[k * stride];
}

/* Fixed parameters keep the 0 that study.h gives them. */
static void column_x(const struct dp_proposer *p, const double *u, size_t stride, double *x)
{
	double one[DP_PARAMS_MAX];

	column_u(p, u, stride, one);
	memset(x, 0, p->study->nparams * sizeof *x);
	dp__to_x(&p->inputs, one, x);
}

int dp__model_predict(struct dp_proposer *p, const double *u, size_t ldu, size_t m, bool with_sd,
		      bool exactly, struct dp__normal *f, double *next)
{
	size_t count = p->noutputs;
	double x[DP_PARAMS_MAX], *mean, *var, *covariance;
	int code = dp__model_room(p, m);

	if (code != DP_OK)
		return code;
	mean = p->work;
	var = mean + m;
	covariance = var + m;
	for (size_t o = 0; o < count; o++) {
		const struct dp__output *out = &p->output[o];
		bool exact = out->exact && (exactly || !out->costly);

		if (!exact && next)
			dp_gp_predict_row(&out->gp, u, ldu, m, mean, var, covariance,
					  covariance + m);
		else if (!exact)
			dp_gp_predict(&out->gp, u, ldu, m, mean, with_sd ? var : NULL,
				      covariance + m);
		for (size_t i = 0; i < m; i++) {
			if (next)
				next[i * count + o] =
					exact ? 0 : out->scale * out->scale * covariance[i];
			if (exact) {
				column_x(p, u + i, ldu, x);
				f[i * count + o].m = dp__oracle_value(p, o, x);
				f[i * count + o].s = 0;
				continue;
			}
			f[i * count + o].m = out->shift + out->scale * mean[i];
			f[i * count + o].s = with_sd ? out->scale * sqrt(var[i]) : 0;
		}
	}
	return DP_OK;
}

static double log_Phi(double x)
{
	double r = 1 / (x * x);

	/* an asymptotic form where the distribution would be 0 */
	return x > -30 ? log(dp__Phi(x))
		       : -0.5 * x * x - log(-x) - 0.9189385332046727 + log1p(r * (3 * r - 1));
}

double dp__model_mean(struct dp_proposer *p, size_t o, const double *u)
{
	const struct dp__output *out = &p->output[o];
	double mean;

	dp_gp_predict(&out->gp, u, 1, 1, &mean, NULL, p->work);
	return out->shift + out->scale * mean;
}

/* A constraint's metric is as it was reported, or negated. */
static double output_natural(const struct dp_study *s, size_t o, double z)
{
	if (o < s->nobjectives)
		return dp__backward(&s->objectives[o], z);
	return s->constraints[o - s->nobjectives].at_least ? -z : z;
}

struct dp_predicted dp__natural_prediction(const struct dp_study *s, size_t o,
					   const struct dp__normal *f)
{
	double a = output_natural(s, o, f->m - DP_NORMAL95 * f->s);
	double b = output_natural(s, o, f->m + DP_NORMAL95 * f->s);

	return (struct dp_predicted){ .value = output_natural(s, o, f->m),
				      .lo = fmin(a, b),
				      .hi = fmax(a, b),
				      .mean = f->m,
				      .sd = f->s };
}

double dp__log_feasible(const struct dp_proposer *p, const struct dp__normal *f, double *by_m,
			double *by_s)
{
	double sum = 0;

	for (size_t o = p->study->nobjectives; o < p->noutputs; o++) {
		double a = (dp__output_limit(p->study, o) - f[o].m) / f[o].s, b = log_Phi(a);

		sum += b;
		if (!by_m)
			continue;
		by_m[o] = -exp(-0.5 * a * a - 0.9189385332046727 - b) / f[o].s;
		by_s[o] = by_m[o] * a;
	}
	return sum;
}

/* The variance that a result at a place would have, in model space. */
static double expected_noise(const struct dp_proposer *p, size_t o, double m)
{
	const struct dp__output *out = &p->output[o];

	return dp__noise_at(p, o, NULL, m) * out->scale * out->scale;
}

/* How far one more result at a point would move the model, s^2 / sqrt(s^2 + noise), is
 * what can be gained from it. A fifth of the noise was best: with none the search goes
 * after what it can never tell from luck (docs/optimizer.md). */
struct dp__learnable dp__learnable(const struct dp_proposer *p, size_t o,
				   const struct dp__normal *f)
{
	double step = 1e-4 * p->output[o].scale, s = f->s, noise, slope, both, root;

	if (!(s > 0) || !dp__acquisition(p->study)->noise)
		return (struct dp__learnable){ s, 0, 1 };
	noise = noise_share * expected_noise(p, o, f->m);
	slope = noise_share *
		(expected_noise(p, o, f->m + step) - expected_noise(p, o, f->m - step)) /
		(2 * step);
	both = s * s + noise;
	root = sqrt(both);
	return (struct dp__learnable){ s * s / root, -0.5 * s * s * slope / (both * root),
				       s * (s * s + 2 * noise) / (both * root) };
}

int dp__model_eval(struct dp_proposer *p, const double *u, size_t ldu, size_t m, bool exactly,
		   double *logacq, struct dp__normal *f, double *feas)
{
	const struct dp__acquisition *acq = dp__acquisition(p->study);
	size_t count = p->noutputs, np = p->study->nobjectives;
	struct dp__normal *all = malloc(m * count * sizeof *all);
	int code = all ? dp__model_predict(p, u, ldu, m, true, exactly, all, NULL) : DP_E_NOMEM;

	for (size_t i = 0; i < m && code == DP_OK; i++) {
		const struct dp__normal *row = all + i * count;
		double lf = dp__log_feasible(p, row, NULL, NULL), v = -INFINITY;
		double one[DP_PARAMS_MAX];
		bool ok = true;
		struct dp__normal gain[DP_OBJECTIVES_MAX];

		for (size_t o = 0; o < np; o++)
			gain[o] = (struct dp__normal){ row[o].m, dp__learnable(p, o, &row[o]).s };
		for (size_t o = 0; o < count; o++)
			ok &= isfinite(row[o].m) && isfinite(row[o].s);
		if (ok && logacq && acq->value && p->have_target)
			v = acq->value(&p->target, gain, NULL) + lf;
		column_u(p, u + i, ldu, one);
		if (v > -INFINITY)
			v -= dp__cost_log(p, one, NULL);
		if (logacq)
			logacq[i] = isnan(v) ? -INFINITY : v;
		if (feas)
			feas[i] = exp(lf);
		if (f)
			memcpy(f + i * np, row, np * sizeof *f);
	}
	free(all);
	return code;
}

struct dp__normal dp__output_slope(struct dp_proposer *p, size_t o, const double *u, double *dm,
				   double *ds)
{
	const struct dp__output *out = &p->output[o];
	double mean, var, sd;

	dp_gp_predict_slope(&out->gp, u, &mean, &var, dm, ds, p->work);
	sd = sqrt(var);
	for (size_t k = 0; k < p->spec.d; k++) {
		dm[k] *= out->scale;
		ds[k] *= out->scale / (2 * sd);
	}
	return (struct dp__normal){ out->shift + out->scale * mean, out->scale * sd };
}

double dp__model_slope(struct dp_proposer *p, const double *u, double *gradient)
{
	const struct dp__acquisition *acq = dp__acquisition(p->study);
	size_t d = p->spec.d, np = p->study->nobjectives;
	double dm[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX][DP_PARAMS_MAX];
	double ds[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX][DP_PARAMS_MAX];
	struct dp__normal f[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double by[2 * DP_OBJECTIVES_MAX], value;
	double by_m[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double by_s[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	memset(gradient, 0, d * sizeof *gradient);
	for (size_t o = 0; o < p->noutputs; o++) {
		if (!dp__is_modelled(&p->output[o])) {
			f[o].m = dp__oracle_slope(p, o, u, dm[o]);
			f[o].s = 0;
			memset(ds[o], 0, d * sizeof *ds[o]);
			continue;
		}
		f[o] = dp__output_slope(p, o, u, dm[o], ds[o]);
		if (o < np) {
			struct dp__learnable left = dp__learnable(p, o, &f[o]);

			f[o].s = left.s;
			for (size_t k = 0; k < d; k++)
				ds[o][k] = left.by_s * ds[o][k] + left.by_m * dm[o][k];
		}
	}
	value = acq->value(&p->target, f, by) + dp__log_feasible(p, f, by_m, by_s);
	if (!isfinite(value))
		return -INFINITY;
	for (size_t o = 0; o < p->noutputs; o++) {
		double gm = o < np ? by[o] : by_m[o], gs = o < np ? by[np + o] : by_s[o];

		for (size_t k = 0; k < d; k++)
			gradient[k] += gm * dm[o][k] + gs * ds[o][k];
	}
	return value - dp__cost_log(p, u, gradient);
}
