/* additive_kernel.c - the part of a covariance that is a sum of terms, one for each input.
 *
 * Many functions are nearly a sum of functions of one input each. With such terms a
 * result tells of all points that share a coordinate with it, not only of those that are
 * close in every one: what an input does is learned from few results, however often it
 * goes up and down (Duvenaud, Nickisch & Rasmussen 2011, order 1 and d).
 *
 * A term is Matern 5/2, whatever the kernel of the rest: exp(-|a - b|) is the smaller of
 * exp(a) exp(-b) and exp(b) exp(-a), so that a point needs exponentials and a pair none.
 * The shortest length that a fit tries, 0.01, makes them exp(224) at most. */
#include "optimize/gp/gp_internal.h"

#include <math.h>
#include <string.h>

#include "linalg/simd.h"

static const double root5 = 2.2360679774997896964;

void dp__gp_additive_exponentials(const struct dp_gp_spec *spec, double *z)
{
	for (size_t k = 0, d = spec->d; k < d; k++) {
		/* of a category only the distance to another one counts */
		double a = spec->input[k].categorical ? sqrt(z[3 * d + k]) : z[k];

		z[d + k] = exp(root5 * a);
		z[2 * d + k] = 1 / z[d + k];
	}
}

/* One input of the points and of the point they are compared with. */
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

/* sqrt(5) times the distance, and the exponential of minus that */
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
