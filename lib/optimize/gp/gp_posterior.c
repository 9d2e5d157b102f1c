/* gp_posterior.c - conditions a Gaussian process on points and predicts with it. */
#include "optimize/gp/gp_internal.h"
#include "linalg/linalg.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__gp_encode_point(const struct dp_gp_spec *spec, const struct dp_gp_hyper *h,
			 const double *u, size_t stride, double *z)
{
	for (size_t k = 0; k < spec->d; k++) {
		double v = u[k * stride];

		z[k] = spec->input[k].categorical ? v : dp__gp_warp(v, h->warp[k]) / h->length[k];
		z[3 * spec->d + k] = 1 / (h->length[k] * h->length[k]);
	}
	dp__gp_additive_exponentials(spec, z);
}

void dp_gp_free(struct dp_gp *gp)
{
	free(gp->z);
	free(gp->chol);
	free(gp->alpha);
	free(gp->l_inv_ones);
	free(gp->work);
	free(gp->noise);
	free(gp->noise_group);
	memset(gp, 0, sizeof *gp);
}

static void gp_allocate(struct dp_gp *gp, size_t room)
{
	gp->capacity = room;
	gp->z = dp_vec_new(3 * gp->spec.d * room);
	gp->chol = dp_vec_new(room * room);
	gp->alpha = dp_vec_new(room);
	gp->l_inv_ones = dp_vec_new(room);
	gp->work = dp_vec_new(4 * room);
	gp->noise = dp_vec_new(room);
	gp->noise_group = dp_calloc(room, sizeof *gp->noise_group);
}

static void gp_store_point(struct dp_gp *gp, size_t i, const double *z)
{
	for (size_t k = 0; k < 3 * gp->spec.d; k++)
		gp->z[k * gp->capacity + i] = z[k];
}

/* Stores the noise of point i and adds its noise covariances with earlier points to row. */
static void gp_set_point_noise(struct dp_gp *gp, size_t i, double noise,
			       const struct dp_gp_noise_group *run, double *row)
{
	gp->noise[i] = isnan(noise) ? gp->hyper.noise : noise;
	row[i] = gp->hyper.signal + gp->noise[i];
	if (!gp->has_correlated_noise)
		return;
	gp->noise_group[i] = *run;
	dp__gp_add_noise_covariances(gp->noise_group, gp->noise, i, row);
}

/* Turns the kernel's correlations k between point z and the first n points into covariances. */
static void gp_mix_additive_terms(const struct dp_gp *gp, const double *z, size_t n, double *k)
{
	double signal = gp->hyper.signal, share = gp->hyper.additive_share;

	dp__gp_vec_scale((1 - share) * signal, n, k);
	if (share > 0)
		dp__gp_add_additive_terms(&gp->spec, gp->z, gp->capacity, n, z,
					  share / (double)gp->spec.d * signal, k);
}

/* Covariances of point z with the first n points. */
static void gp_covariances(const struct dp_gp *gp, const double *z, size_t n, double *out,
			   double *r2)
{
	dp__gp_squared_distances(&gp->spec, gp->z, gp->capacity, n, z, r2);
	dp__gp_matern52(r2, n, out);
	gp_mix_additive_terms(gp, z, n, out);
}

int dp_gp_build(struct dp_gp *gp, const struct dp_gp_spec *spec, const struct dp_gp_hyper *h,
		const struct dp_gp_data *data, size_t room)
{
	double z[DP__GP_POINT_MAX];
	int code;

	memset(gp, 0, sizeof *gp);
	gp->spec = *spec;
	gp->hyper = *h;
	gp->has_correlated_noise = data->noise_group != NULL;
	gp_allocate(gp, room > data->n ? room : data->n + 1);
	for (size_t i = 0; i < data->n; i++) {
		double *row = gp->chol + i * gp->capacity;

		dp__gp_encode_point(spec, h, data->u + i, data->ldu, z);
		gp_store_point(gp, i, z);
		gp_covariances(gp, z, i, row, gp->work);
		gp_set_point_noise(gp, i, data->noise[i],
				   gp->has_correlated_noise ? &data->noise_group[i] : NULL, row);
	}
	code = dp_chol_factor(gp->chol, data->n, gp->capacity, gp->work, &gp->jitter);
	if (code != DP_OK) {
		dp_gp_free(gp);
		return code;
	}
	gp->n = data->n;
	for (size_t i = 0; i < gp->n; i++)
		gp->l_inv_ones[i] = 1;
	dp_chol_forward(gp->chol, gp->n, gp->capacity, gp->l_inv_ones);
	return DP_OK;
}

static void gp_enlarge(struct dp_gp *gp, size_t room)
{
	struct dp_gp old = *gp;

	gp_allocate(gp, room);
	for (size_t k = 0; k < 3 * gp->spec.d; k++)
		memcpy(gp->z + k * room, old.z + k * old.capacity, old.n * sizeof *gp->z);
	for (size_t i = 0; i < old.n; i++)
		memcpy(gp->chol + i * room, old.chol + i * old.capacity,
		       (i + 1) * sizeof *gp->chol);
	memcpy(gp->alpha, old.alpha, old.n * sizeof *gp->alpha);
	memcpy(gp->l_inv_ones, old.l_inv_ones, old.n * sizeof *gp->l_inv_ones);
	memcpy(gp->noise, old.noise, old.n * sizeof *gp->noise);
	memcpy(gp->noise_group, old.noise_group, old.n * sizeof *gp->noise_group);
	dp_gp_free(&old);
}

void dp_gp_append_point(struct dp_gp *gp, const double *u, double noise,
			const struct dp_gp_noise_group *run)
{
	double z[DP__GP_POINT_MAX], *row, variance, dot = 0;
	size_t n = gp->n;

	if (n == gp->capacity)
		gp_enlarge(gp, n + n / 8 + 16);
	row = gp->chol + n * gp->capacity;
	dp__gp_encode_point(&gp->spec, &gp->hyper, u, 1, z);
	gp_covariances(gp, z, n, row, gp->work);
	gp_set_point_noise(gp, n, noise, run, row);
	row[n] += gp->jitter;
	variance = row[n];
	/* if the point coincides with another, only rounding error may be left */
	dp_chol_append(gp->chol, n, gp->capacity, row, 1e-12 * variance);
	gp_store_point(gp, n, z);
	for (size_t j = 0; j < n; j++)
		dot += row[j] * gp->l_inv_ones[j];
	gp->l_inv_ones[n] = (1 - dot) / row[n];
	gp->alpha[n] = 0;
	gp->n = n + 1;
}

void dp_gp_truncate(struct dp_gp *gp, size_t n)
{
	if (n < gp->n)
		gp->n = n;
}

void dp_gp_set_outputs(struct dp_gp *gp, const double *y, size_t n)
{
	double *a = gp->alpha, above = 0, below = 0;

	memcpy(a, y, n * sizeof *a);
	dp_chol_forward(gp->chol, n, gp->capacity, a);
	/* generalised least squares: mean = 1'K^-1 y / 1'K^-1 1 */
	for (size_t i = 0; i < n; i++) {
		above += gp->l_inv_ones[i] * a[i];
		below += gp->l_inv_ones[i] * gp->l_inv_ones[i];
	}
	gp->mean = below > 0 ? above / below : 0;
	for (size_t i = 0; i < n; i++)
		a[i] -= gp->mean * gp->l_inv_ones[i];
	dp_chol_backward(gp->chol, n, gp->capacity, a);
	for (size_t i = n; i < gp->n; i++)
		a[i] = 0;
}

double dp_gp_residual(const struct dp_gp *gp, size_t i)
{
	double sum = (gp->noise[i] + gp->jitter) * gp->alpha[i];

	for (size_t j = 0; j < gp->n && gp->has_correlated_noise; j++)
		if (j != i)
			sum += dp__gp_noise_covariance(gp->noise_group, gp->noise, i, j) *
			       gp->alpha[j];
	return sum;
}

/* Needs no refit. Let P = K^-1 - K^-1 1 1' K^-1 / 1' K^-1 1, which replaces K^-1 when the mean is
 * estimated. Then y_i minus its prediction without it is (P y)_i / P_ii, and P y is alpha.
 * (Dubrule, "Cross validation of kriging in a unique neighborhood", 1983; for a known mean
 * Rasmussen & Williams, 5.12.) As in all predictions here, the variance treats the mean as
 * known. */
int dp_gp_leave_one_out(const struct dp_gp *gp, double *missed, double *variance)
{
	size_t n = gp->n;
	double *inverse = dp_vec_new(n * n), *of_ones = dp_vec_new(n), sum = 0;
	int code;

	for (size_t i = 0; i < n; i++) {
		memcpy(inverse + i * n, gp->chol + i * gp->capacity, (i + 1) * sizeof *inverse);
		of_ones[i] = gp->l_inv_ones[i];
		sum += gp->l_inv_ones[i] * gp->l_inv_ones[i];
	}
	dp_chol_backward(gp->chol, n, gp->capacity, of_ones);
	code = dp_chol_inverse(inverse, n, n);
	for (size_t i = 0; i < n && code == DP_OK; i++) {
		double own = inverse[i * n + i];

		variance[i] = 1 / own;
		missed[i] = gp->alpha[i] / (own - of_ones[i] * of_ones[i] / sum);
	}
	free(inverse);
	free(of_ones);
	return code;
}

size_t dp_gp_predict_workspace(const struct dp_gp *gp, size_t m)
{
	return gp->n * (m > 4 ? m : 4) + m + gp->n;
}

/* Prior covariance of two encoded points. */
static double gp_covariance(const struct dp_gp *gp, const double *a, const double *b)
{
	double r2, k, share = gp->hyper.additive_share, signal = gp->hyper.signal;

	dp__gp_squared_distances(&gp->spec, a, 1, 1, b, &r2);
	dp__gp_matern52(&r2, 1, &k);
	k *= (1 - share) * signal;
	if (share > 0)
		dp__gp_add_additive_terms(&gp->spec, a, 1, 1, b,
					  share / (double)gp->spec.d * signal, &k);
	return k;
}

/* The covariances of all m points form one matrix (m x n), so that the mean is a matrix-vector
 * product and the variance needs one triangular solve. */
void dp_gp_predict(const struct dp_gp *gp, const double *u, size_t ldu, size_t m, double *mean,
		   double *var, double *work)
{
	size_t n = gp->n;
	double *b = work, *r2 = work + n * m, z[DP__GP_POINT_MAX];
	double floor = 1e-12 * gp->hyper.signal;

	for (size_t i = 0; i < m; i++) {
		mean[i] = gp->mean;
		if (var)
			var[i] = gp->hyper.signal;
	}
	if (n == 0 || m == 0)
		return;
	for (size_t i = 0; i < m; i++) {
		dp__gp_encode_point(&gp->spec, &gp->hyper, u + i, ldu, z);
		gp_covariances(gp, z, n, b + i * n, r2);
	}
	cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)m, (int)n, 1, b, (int)n, gp->alpha, 1, 1,
		    mean, 1);
	if (!var)
		return;
	dp_chol_forward_rows(gp->chol, n, gp->capacity, b, m);
	for (size_t i = 0; i < m; i++) {
		var[i] -= cblas_ddot((int)n, b + i * n, 1, b + i * n, 1);
		if (!(var[i] > floor))
			var[i] = floor;
	}
}

void dp_gp_predict_sequence(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			    double *mean, double *var, double *next, double *work)
{
	double z[2][DP__GP_POINT_MAX];
	size_t n = gp->n;

	dp_gp_predict(gp, u, ldu, m, mean, var, work);
	for (size_t i = 0; i < m; i++) {
		const double *b = work + i * n; /* L^-1 k, left there by dp_gp_predict() */

		dp__gp_encode_point(&gp->spec, &gp->hyper, u + i, ldu, z[i % 2]);
		if (i > 0)
			next[i - 1] = gp_covariance(gp, z[(i + 1) % 2], z[i % 2]) -
				      cblas_ddot((int)n, b - n, 1, b, 1);
	}
	if (m > 0)
		next[m - 1] = 0;
}

/* Derivatives of mean and variance by encoded input i. dk: by r^2, v: K^-1 k, by: scratch (n). */
static void gp_gradient_by_input(const struct dp_gp *gp, const double *z, size_t i,
				 const double *dk, const double *v, double *by, double *dmean,
				 double *dvar)
{
	size_t n = gp->n;
	const double *zs = gp->z + i * gp->capacity;
	double share = gp->hyper.additive_share, a = 0, b = 0;

	memcpy(by, dk, n * sizeof *by);
	if (share > 0)
		dp__gp_add_additive_slope(&gp->spec, i, gp->z, gp->capacity, n, z,
					  share / (double)gp->spec.d * gp->hyper.signal, by);
	for (size_t j = 0; j < n; j++) {
		double slope = 2 * by[j] * (z[i] - zs[j]);

		a += slope * gp->alpha[j];
		b += slope * v[j];
	}
	*dmean = a;
	*dvar = -2 * b;
}

void dp_gp_predict_gradient(const struct dp_gp *gp, const double *u, double *mean, double *var,
			    double *dmean, double *dvar, double *work)
{
	size_t n = gp->n, d = gp->spec.d;
	double *k = work, *dk = k + n, *v = dk + n, *r2 = v + n;
	double z[DP__GP_POINT_MAX], floor = 1e-12 * gp->hyper.signal;

	*mean = gp->mean;
	*var = gp->hyper.signal;
	memset(dmean, 0, d * sizeof *dmean);
	memset(dvar, 0, d * sizeof *dvar);
	if (n == 0)
		return;
	dp__gp_encode_point(&gp->spec, &gp->hyper, u, 1, z);
	dp__gp_squared_distances(&gp->spec, gp->z, gp->capacity, n, z, r2);
	dp__gp_matern52_slopes(r2, n, k, dk);
	gp_mix_additive_terms(gp, z, n, k);
	dp__gp_vec_scale((1 - gp->hyper.additive_share) * gp->hyper.signal, n, dk);
	memcpy(v, k, n * sizeof *v);
	*mean += cblas_ddot((int)n, k, 1, gp->alpha, 1);
	dp_chol_forward(gp->chol, n, gp->capacity, v);
	*var -= cblas_ddot((int)n, v, 1, v, 1);
	if (!(*var > floor))
		*var = floor;
	dp_chol_backward(gp->chol, n, gp->capacity, v); /* K^-1 k */
	for (size_t i = 0; i < d; i++) {
		double chain = dp__gp_warp_grad_u(u[i], gp->hyper.warp[i]) / gp->hyper.length[i];

		if (gp->spec.input[i].categorical)
			continue;
		gp_gradient_by_input(gp, z, i, dk, v, r2, &dmean[i], &dvar[i]);
		dmean[i] *= chain;
		dvar[i] *= chain;
	}
}

/* ---- sequences of points ---- */

size_t dp_gp_sequence_workspace(const struct dp_gp *gp, size_t m)
{
	return gp->n * (3 * m + 2) + DP__GP_POINT_MAX * m;
}

/* Intermediate values for the points of a sequence. */
struct sequence_work {
	size_t n_points;
	double *k, *dk, *v;   /* (m x n) covariances, derivatives by r^2, K^-1 k */
	double *z;            /* (m x DP__GP_POINT_MAX) */
	double *cov_by_input; /* (2 x n) derivatives for two neighbours */
};

static void sequence_init_covariances(const struct dp_gp *gp, const double *u, size_t ldu,
				      struct sequence_work *r)
{
	size_t n = gp->n;

	for (size_t i = 0; i < r->n_points; i++) {
		double *z = r->z + i * DP__GP_POINT_MAX;

		dp__gp_encode_point(&gp->spec, &gp->hyper, u + i, ldu, z);
		dp__gp_squared_distances(&gp->spec, gp->z, gp->capacity, n, z, r->cov_by_input);
		dp__gp_matern52_slopes(r->cov_by_input, n, r->k + i * n, r->dk + i * n);
		gp_mix_additive_terms(gp, z, n, r->k + i * n);
	}
	dp__gp_vec_scale((1 - gp->hyper.additive_share) * gp->hyper.signal, n * r->n_points, r->dk);
	memcpy(r->v, r->k, n * r->n_points * sizeof *r->v);
	if (n > 0)
		dp_chol_forward_rows(gp->chol, n, gp->capacity, r->v, r->n_points);
}

/* Means, variances and covariances with the next point. Replaces L^-1 k in r->v by K^-1 k. */
static void sequence_compute_moments(const struct dp_gp *gp, const struct sequence_work *r,
				     const struct dp_gp_sequence *out)
{
	size_t n = gp->n;
	double floor = 1e-12 * gp->hyper.signal;

	for (size_t i = 0; i < r->n_points; i++) {
		const double *b = r->v + i * n;

		out->mean[i] = gp->mean + cblas_ddot((int)n, r->k + i * n, 1, gp->alpha, 1);
		out->var[i] = gp->hyper.signal - cblas_ddot((int)n, b, 1, b, 1);
		if (!(out->var[i] > floor))
			out->var[i] = floor;
		out->cov_next[i] = 0;
		if (i + 1 < r->n_points)
			out->cov_next[i] = gp_covariance(gp, r->z + i * DP__GP_POINT_MAX,
							 r->z + (i + 1) * DP__GP_POINT_MAX) -
					   cblas_ddot((int)n, b, 1, b + n, 1);
	}
	if (n > 0)
		dp_chol_backward_rows(gp->chol, n, gp->capacity, r->v, r->n_points);
}

/* Derivative, by input j of point i, of its prior covariance with point i - 1. */
static double sequence_prior_derivative(const struct dp_gp *gp, const struct sequence_work *r,
					size_t i, size_t j, double u)
{
	const double *z = r->z + i * DP__GP_POINT_MAX, *before = z - DP__GP_POINT_MAX;
	double share = gp->hyper.additive_share, signal = gp->hyper.signal, r2, k, dk;

	dp__gp_squared_distances(&gp->spec, before, 1, 1, z, &r2);
	dp__gp_matern52_slopes(&r2, 1, &k, &dk);
	dk *= (1 - share) * signal;
	if (share > 0)
		dp__gp_add_additive_slope(&gp->spec, j, before, 1, 1, z,
					  share / (double)gp->spec.d * signal, &dk);
	return 2 * dk * (z[j] - before[j]) * dp__gp_warp_grad_u(u, gp->hyper.warp[j]) /
	       gp->hyper.length[j];
}

/* Derivatives by input j. Points that move together keep their prior covariance. */
static void sequence_compute_gradient(const struct dp_gp *gp, const struct sequence_work *r,
				      const double *u, size_t ldu, size_t j, bool last_only,
				      const struct dp_gp_sequence *out)
{
	size_t n = gp->n, d = gp->spec.d, last = r->n_points - 1;
	const double *zs = gp->z + j * gp->capacity;
	double share = gp->hyper.additive_share;

	for (size_t i = last_only ? last : 0; i <= last; i++) {
		double *by = r->cov_by_input + (i % 2) * n,
		       *before = r->cov_by_input + ((i + 1) % 2) * n;
		const double *v = r->v + i * n, *z = r->z + i * DP__GP_POINT_MAX;
		double at = u[j * ldu + i];
		double chain = 2 * dp__gp_warp_grad_u(at, gp->hyper.warp[j]) / gp->hyper.length[j];

		/* by: derivatives of the covariances of point i with all known points */
		memcpy(by, r->dk + i * n, n * sizeof *by);
		if (share > 0)
			dp__gp_add_additive_slope(&gp->spec, j, gp->z, gp->capacity, n, z,
						  share / (double)d * gp->hyper.signal, by);
		for (size_t l = 0; l < n; l++)
			by[l] *= chain * (z[j] - zs[l]);
		out->dmean[i * d + j] = cblas_ddot((int)n, by, 1, gp->alpha, 1);
		out->dvar[i * d + j] = -2 * cblas_ddot((int)n, by, 1, v, 1);
		if (i == 0)
			continue;
		out->dcov_next[(i - 1) * d + j] = -cblas_ddot((int)n, by, 1, v - n, 1);
		if (last_only)
			out->dcov_next[(i - 1) * d + j] +=
				sequence_prior_derivative(gp, r, i, j, at);
		else
			out->dcov_next[(i - 1) * d + j] -= cblas_ddot((int)n, before, 1, v, 1);
	}
}

void dp_gp_sequence_gradient(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			     size_t along, const struct dp_gp_sequence *out, double *work)
{
	size_t n = gp->n, d = gp->spec.d;
	struct sequence_work r = { .n_points = m,
				   .k = work,
				   .dk = work + n * m,
				   .v = work + 2 * n * m,
				   .cov_by_input = work + 3 * n * m,
				   .z = work + 3 * n * m + 2 * n };

	memset(out->dmean, 0, m * d * sizeof *out->dmean);
	memset(out->dvar, 0, m * d * sizeof *out->dvar);
	memset(out->dcov_next, 0, m * d * sizeof *out->dcov_next);
	sequence_init_covariances(gp, u, ldu, &r);
	sequence_compute_moments(gp, &r, out);
	for (size_t j = 0; j < d; j++)
		if (!gp->spec.input[j].categorical)
			sequence_compute_gradient(gp, &r, u, ldu, j, j == along, out);
}
