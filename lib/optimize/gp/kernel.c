/* kernel.c - correlation functions, warps and the elementwise loops over points. */
#include "optimize/gp/gp_internal.h"

#include <math.h>

#include "linalg/simd.h"

DP_SIMD_BEGIN

DP_SIMD static void matern52(const double *r2, size_t n, double *k)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(5 * r2[i]);

		k[i] = (1 + a + a * a / 3) * dp__exp(-a);
	}
}

DP_SIMD static void matern52_slope(const double *r2, size_t n, double *k, double *dk)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(5 * r2[i]), e = dp__exp(-a);

		k[i] = (1 + a + a * a / 3) * e;
		dk[i] = -5.0 / 6 * (1 + a) * e;
	}
}

DP_SIMD static void matern32(const double *r2, size_t n, double *k)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(3 * r2[i]);

		k[i] = (1 + a) * dp__exp(-a);
	}
}

DP_SIMD static void matern32_slope(const double *r2, size_t n, double *k, double *dk)
{
	for (size_t i = 0; i < n; i++) {
		double a = sqrt(3 * r2[i]), e = dp__exp(-a);

		k[i] = (1 + a) * e;
		dk[i] = -1.5 * e;
	}
}

DP_SIMD static void squared_exponential(const double *r2, size_t n, double *k)
{
	for (size_t i = 0; i < n; i++)
		k[i] = dp__exp(-0.5 * r2[i]);
}

DP_SIMD static void se_slope(const double *r2, size_t n, double *k, double *dk)
{
	for (size_t i = 0; i < n; i++) {
		k[i] = dp__exp(-0.5 * r2[i]);
		dk[i] = -0.5 * k[i];
	}
}

DP_SIMD_END

const struct dp_kernel dp_kernel_matern52 = { "matern52", matern52, matern52_slope };
const struct dp_kernel dp_kernel_matern32 = { "matern32", matern32, matern32_slope };
const struct dp_kernel dp_kernel_se = { "se", squared_exponential, se_slope };

/* Near c = 0 the quotients lose digits; there two terms of the series are exact to
 * rounding. */
#define WARP_SERIES_BELOW 1e-5

double dp__gp_warp(double u, double c)
{
	return fabs(c) < WARP_SERIES_BELOW ? u + c * u * (u - 1) / 2 : expm1(c * u) / expm1(c);
}

double dp__gp_warp_by_u(double u, double c)
{
	return fabs(c) < WARP_SERIES_BELOW ? 1 + c * (u - 0.5) : c * exp(c * u) / expm1(c);
}

void dp__gp_warp_by_c(double u, double c, double expm1_c, double *w, double *by_c)
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

/* A categorical's row holds category numbers; z[3 d + k] is what a difference counts. */
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
