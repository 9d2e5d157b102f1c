/* kernel.c - the covariance function: warps, Matern 5/2, the additive part, correlated noise.
 *
 * Loops over points are elementwise, so that they vectorise.
 *
 * Additive part: many functions are nearly a sum of functions of one input each. With additive
 * terms a result informs about all points that share a coordinate with it, so that few results
 * suffice to learn the effect of an input, even a wavy one (Duvenaud, Nickisch & Rasmussen 2011,
 * order 1 and d). The terms are Matern 5/2, too. exp(-|a - b|) is the smaller of exp(a) exp(-b) and
 * exp(b) exp(-a): exponentials are computed per point, not per pair. A fit tries lengths from 0.01,
 * so that they are at most exp(224). */
#include "optimize/gp/gp_internal.h"

#include <math.h>
#include <string.h>

#include "linalg/simd.h"

DP_SIMD_BEGIN

DP_SIMD void dp__gp_matern52(const double *r2, size_t n, double *k)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(5 * r2[i]);

		k[i] = (1 + a + a * a / 3) * dp__exp(-a);
	}
}

DP_SIMD void dp__gp_matern52_slopes(const double *r2, size_t n, double *k, double *dk)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(5 * r2[i]), e = dp__exp(-a);

		k[i] = (1 + a + a * a / 3) * e;
		dk[i] = -5.0 / 6 * (1 + a) * e;
	}
}

DP_SIMD_END

/* Near c = 0 the quotients lose digits; two terms of the series are exact to rounding there. */
#define WARP_SERIES_BELOW 1e-5

double dp__gp_warp(double u, double c)
{
	return fabs(c) < WARP_SERIES_BELOW ? u + c * u * (u - 1) / 2 : expm1(c * u) / expm1(c);
}

double dp__gp_warp_grad_u(double u, double c)
{
	return fabs(c) < WARP_SERIES_BELOW ? 1 + c * (u - 0.5) : c * exp(c * u) / expm1(c);
}

void dp__gp_warp_with_grad_c(double u, double c, double expm1_c, double *w, double *by_c)
{
	double e;

	if (fabs(c) < 1e-3) { /* relative error below 1e-6 */
		*w = dp__gp_warp(u, c);
		*by_c = u * (u - 1) / 2 + c * u * (u - 1) * (2 * u - 1) / 6;
		return;
	}
	e = expm1(c * u);
	*w = e / expm1_c;
	*by_c = (u * (e + 1) - *w * (expm1_c + 1)) / expm1_c;
}

DP_SIMD_BEGIN

DP_SIMD static void add_squared_distance(const double *zs, double z, size_t n, double *r2)
{
	for (size_t j = 0; j < n; j++)
		r2[j] += (zs[j] - z) * (zs[j] - z);
}

DP_SIMD static void add_category_mismatch(const double *zs, double z, double weight, size_t n,
					  double *r2)
{
	for (size_t j = 0; j < n; j++)
		r2[j] += zs[j] != z ? weight : 0;
}

DP_SIMD_END

/* Rows of categorical inputs hold category numbers, at squared distance z[3 d + k] if they
 * differ. */
void dp__gp_squared_distances(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			      const double *z, double *r2)
{
	memset(r2, 0, n * sizeof *r2);
	for (size_t k = 0; k < spec->d; k++)
		if (!spec->input[k].categorical)
			add_squared_distance(zs + k * ld, z[k], n, r2);
		else
			add_category_mismatch(zs + k * ld, z[k], z[3 * spec->d + k], n, r2);
}

DP_SIMD_BEGIN

DP_SIMD static void add_weighted_squares(const double *zs, double z, const double *w, size_t n,
					 double *acc)
{
	for (size_t j = 0; j < n; j++)
		acc[j] += w[j] * (zs[j] - z) * (zs[j] - z);
}

void dp__gp_add_squared_diffs(bool categorical, const double *zs, double z, const double *w,
			      size_t n, double *acc)
{
	if (!categorical) {
		add_weighted_squares(zs, z, w, n, acc);
		return;
	}
	for (size_t j = 0; j < n; j++)
		acc[j] += zs[j] != z ? w[j] : 0;
}

DP_SIMD void dp__gp_add_diff_products(const double *zs, double z, const double *es, double e,
				      const double *w, size_t n, double *acc)
{
	for (size_t j = 0; j < n; j++)
		acc[j] += w[j] * (zs[j] - z) * (es[j] - e);
}

DP_SIMD void dp__gp_gradient_weights(double a, const double *as, const double *inv, size_t n,
				     double *w)
{
	for (size_t j = 0; j < n; j++)
		w[j] = a * as[j] - inv[j];
}

DP_SIMD void dp__gp_vec_multiply(const double *x, const double *y, size_t n, double *xy)
{
	for (size_t j = 0; j < n; j++)
		xy[j] = x[j] * y[j];
}

DP_SIMD void dp__gp_vec_scale(double by, size_t n, double *x)
{
	for (size_t j = 0; j < n; j++)
		x[j] *= by;
}

DP_SIMD_END

/* ---- the additive part ---- */

static const double root5 = 2.2360679774997896964;

void dp__gp_additive_exponentials(const struct dp_gp_spec *spec, double *z)
{
	for (size_t k = 0, d = spec->d; k < d; k++) {
		/* two different categories are always at distance 1 / length */
		double a = spec->input[k].categorical ? sqrt(z[3 * d + k]) : z[k];

		z[d + k] = exp(root5 * a);
		z[2 * d + k] = 1 / z[d + k];
	}
}

/* One input of the known points and of the point they are compared with. */
struct additive_term {
	const double *zs, *exp_pos, *exp_neg;
	double z, z_exp_pos, z_exp_neg;
};

static struct additive_term additive_term_get(const struct dp_gp_spec *spec, size_t k,
					      const double *zs, size_t ld, const double *z)
{
	size_t d = spec->d;

	return (struct additive_term){ .zs = zs + k * ld,
				       .exp_pos = zs + (d + k) * ld,
				       .exp_neg = zs + (2 * d + k) * ld,
				       .z = z[k],
				       .z_exp_pos = z[d + k],
				       .z_exp_neg = z[2 * d + k] };
}

DP_SIMD_BEGIN

/* sqrt(5) times the distance; *e is exp() of minus that. */
static inline double additive_term_distance(const struct additive_term *t, size_t j, double *e)
{
	double a = t->z_exp_pos * t->exp_neg[j], b = t->z_exp_neg * t->exp_pos[j];

	*e = a < b ? a : b;
	return root5 * fabs(t->z - t->zs[j]);
}

DP_SIMD static void additive_term_add_values(const struct additive_term *t, size_t n, double scale,
					     double *sum)
{
	for (size_t j = 0; j < n; j++) {
		double e, a = additive_term_distance(t, j, &e);

		sum[j] += scale * (1 + a + a * a / 3) * e;
	}
}

DP_SIMD static void additive_term_add_slopes(const struct additive_term *t, size_t n, double scale,
					     double *dk)
{
	for (size_t j = 0; j < n; j++) {
		double e, a = additive_term_distance(t, j, &e);

		dk[j] -= scale * (5.0 / 6) * (1 + a) * e;
	}
}

DP_SIMD void dp__gp_mix_additive(double share, size_t n, double *more, double *k, double *dk)
{
	for (size_t j = 0; j < n; j++) {
		more[j] -= k[j];
		k[j] += share * more[j];
		dk[j] *= 1 - share;
	}
}

DP_SIMD_END

void dp__gp_add_additive_terms(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			       const double *z, double scale, double *sum)
{
	for (size_t k = 0; k < spec->d; k++) {
		struct additive_term t = additive_term_get(spec, k, zs, ld, z);
		double a = root5 * sqrt(z[3 * spec->d + k]);

		if (!spec->input[k].categorical)
			additive_term_add_values(&t, n, scale, sum);
		for (size_t j = 0; j < n && spec->input[k].categorical; j++)
			sum[j] += scale * (t.zs[j] == t.z ? 1 : (1 + a + a * a / 3) * t.z_exp_neg);
	}
}

void dp__gp_add_additive_slope(const struct dp_gp_spec *spec, size_t k, const double *zs, size_t ld,
			       size_t n, const double *z, double scale, double *dk)
{
	struct additive_term t = additive_term_get(spec, k, zs, ld, z);
	double a = root5 * sqrt(z[3 * spec->d + k]);

	if (!spec->input[k].categorical)
		additive_term_add_slopes(&t, n, scale, dk);
	for (size_t j = 0; j < n && spec->input[k].categorical; j++)
		if (t.zs[j] != t.z)
			dk[j] -= scale * (5.0 / 6) * (1 + a) * t.z_exp_neg;
}

/* ---- correlated noise ---- */

/* A run that is above average after 4 epochs is likely to be so after 5, and less so after 40: the
 * correlation of two checkpoints falls with the ratio of their positions. It stays below 1, since a
 * part of the noise is independent. */
static const double max_correlation = 0.9;

double dp__gp_noise_covariance(const struct dp_gp_noise_group *run, const double *noise, size_t i,
			       size_t j)
{
	double a = run[i].position, b = run[j].position;

	if (run[i].training != run[j].training)
		return 0;
	return max_correlation * fmin(a, b) / fmax(a, b) * sqrt(noise[i] * noise[j]);
}

void dp__gp_add_noise_covariances(const struct dp_gp_noise_group *run, const double *noise,
				  size_t i, double *row)
{
	for (size_t j = 0; j < i; j++)
		row[j] += dp__gp_noise_covariance(run, noise, i, j);
}
