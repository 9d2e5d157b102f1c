/* gp_internal.h - declarations shared by the files of lib/optimize/gp and their test. */
#ifndef DP_OPTIMIZE_GP_GP_INTERNAL_H
#define DP_OPTIMIZE_GP_GP_INTERNAL_H
#include "optimize/gp/gp.h"
#include <nlopt.h>

/* ---- kernel.c ---- */

/* Matern 5/2 of squared distances r2: value k, and derivative dk by r2. */
void dp__gp_matern52(const double *r2, size_t n, double *k);
void dp__gp_matern52_slopes(const double *r2, size_t n, double *k, double *dk);
double dp__gp_warp(double u, double c);
double dp__gp_warp_grad_u(double u, double c);
/* The warp w and its derivative by c. expm1_c is expm1(c), computed once for all u. */
void dp__gp_warp_with_grad_c(double u, double c, double expm1_c, double *w, double *by_c);

enum {
	DP__GP_POINT_MAX = 4 * DP_GP_INPUTS_MAX
};
/* Encodes a point for the kernel as four blocks of d numbers: warped inputs over their length (for
 * a categorical input, the category), their exponentials, the inverses of these
 * (dp__gp_additive_exponentials()), and 1 / length^2. Models keep the first 3 d of their points. */
void dp__gp_encode_point(const struct dp_gp_spec *spec, const struct dp_gp_hyper *h,
			 const double *u, size_t stride, double *z);
/* r2[j] = squared distance of point z to column j < n of zs (d x ld). */
void dp__gp_squared_distances(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			      const double *z, double *r2);
/* acc[j] += w[j] * (zs[j] - z)^2; for a categorical input, w[j] if the categories differ. */
void dp__gp_add_squared_diffs(bool categorical, const double *zs, double z, const double *w,
			      size_t n, double *acc);
/* acc[j] += w[j] * (zs[j] - z) * (es[j] - e). */
void dp__gp_add_diff_products(const double *zs, double z, const double *es, double e,
			      const double *w, size_t n, double *acc);
/* w[j] = a * as[j] - inv[j]. */
void dp__gp_gradient_weights(double a, const double *as, const double *inv, size_t n, double *w);
void dp__gp_vec_multiply(const double *x, const double *y, size_t n, double *xy);
void dp__gp_vec_scale(double by, size_t n, double *x);

/* Covariance of the noise of points i != j, whose variances are in noise (n). */
double dp__gp_noise_covariance(const struct dp_gp_noise_group *run, const double *noise, size_t i,
			       size_t j);
/* Adds the noise covariances of point i with all points j < i to row (i). */
void dp__gp_add_noise_covariances(const struct dp_gp_noise_group *run, const double *noise,
				  size_t i, double *row);

/* Fills blocks two and three of an encoded point from the others. */
void dp__gp_additive_exponentials(const struct dp_gp_spec *spec, double *z);
/* sum[j] += scale * additive terms of all inputs, for point z and column j < n of zs (3 d x ld). */
void dp__gp_add_additive_terms(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			       const double *z, double scale, double *sum);
/* Mixes the additive part in: k[j] = (1 - share) k[j] + share more[j], dk[j] *= 1 - share. more[j],
 * the additive correlations, become these minus the kernel's. */
void dp__gp_mix_additive(double share, size_t n, double *more, double *k, double *dk);
/* dk[j] += scale * the derivative of input k's additive term by its squared distance. */
void dp__gp_add_additive_slope(const struct dp_gp_spec *spec, size_t k, const double *zs, size_t ld,
			       size_t n, const double *z, double scale, double *dk);

/* ---- gp_fit.c ---- */

struct dp__gp_fit {
	const struct dp_gp_spec *spec;
	const struct dp_gp_data *data;
	double *z;        /* (3 d x n) */
	double *dz_dwarp; /* (d x n) derivative of z by warp */
	double *k;  /* (n x n) covariance, then its factor, then its inverse; lower triangle */
	double *dk; /* (n x n) derivative of the kernel by r^2 */
	double *additive_diff; /* (n x n) additive correlation minus that of the kernel */
	double *alpha;         /* (n) */
	double *l_inv_ones;    /* (n) */
	double *work;          /* (n) */
	double *pair_weight;   /* (n) */
	double *gradient_sums; /* (2 d + 1 x n) */
	double *noise;         /* (n) noise variances */
	double jitter;         /* added to the diagonal by the factorisation */
	const struct dp_gp_fit_options *options;
	nlopt_opt opt;
	int n_evaluations;
	double best_value;
	struct dp_gp_hyper best_hyper;
	bool has_learned_noise; /* some point has no known noise */
	bool has_noise_scale;   /* the learned noise varies with log_noise_scale */
};
void dp__gp_fit_init(struct dp__gp_fit *f, const struct dp_gp_spec *spec,
		     const struct dp_gp_data *data);
void dp__gp_fit_free(struct dp__gp_fit *f);
/* Log posterior of the hyperparameters (up to a constant) at the best mean, and its gradient g by
 * log length (d), warp (d), log signal, log noise, additive share, noise exponent (2 d + 4
 * numbers). Returns -INFINITY and a gradient of 0 if the covariance cannot be factorised. */
double dp__gp_log_posterior(struct dp__gp_fit *f, const struct dp_gp_hyper *h, double *g);

#endif
