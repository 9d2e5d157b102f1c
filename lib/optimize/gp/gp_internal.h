/* gp_internal.h - shared by the files of lib/optimize/gp and their test. */
#ifndef DP_OPTIMIZE_GP_GP_INTERNAL_H
#define DP_OPTIMIZE_GP_GP_INTERNAL_H
#include "optimize/gp/gp.h"
#include <nlopt.h>

/* ---- kernel.c ---- */

/* Matern 5/2 of squared distances r2: value, and derivative by r2. */
void dp__gp_matern52(const double *r2, size_t n, double *k);
void dp__gp_matern52_slopes(const double *r2, size_t n, double *k, double *dk);
double dp__gp_warp(double u, double c);
double dp__gp_warp_by_u(double u, double c);
/* The warp w and its derivative by c. expm1_c: expm1(c), the same for all u. */
void dp__gp_warp_by_c(double u, double c, double expm1_c, double *w, double *by_c);

enum {
	DP__GP_POINT_MAX = 4 * DP_GP_INPUTS_MAX
};
/* A point as the kernel sees it, d numbers of each kind: warped inputs over their length (the
 * category itself where it is one), their exponentials and the inverses of these
 * (dp__gp_additive_exponentials()), 1 / length^2. Of known points the first 3 d are kept. */
void dp__gp_encode_point(const struct dp_gp_spec *spec, const struct dp_gp_hyper *h,
			 const double *u, size_t stride, double *z);
/* r2[j] (j < n) = squared distance of point z to the columns of the rows zs (d x ld). */
void dp__gp_squared_distances(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			      const double *z, double *r2);
/* acc[j] += w[j] * (zs[j] - z)^2, or w[j] where the categories differ */
void dp__gp_add_squared_diffs(bool categorical, const double *zs, double z, const double *w,
			      size_t n, double *acc);
/* acc[j] += w[j] * (zs[j] - z) * (es[j] - e) */
void dp__gp_add_diff_products(const double *zs, double z, const double *es, double e,
			      const double *w, size_t n, double *acc);
/* w[j] = a * as[j] - inv[j] */
void dp__gp_gradient_weights(double a, const double *as, const double *inv, size_t n, double *w);
void dp__gp_vec_multiply(const double *x, const double *y, size_t n, double *xy);
void dp__gp_vec_scale(double by, size_t n, double *x);

/* Covariance of the noise of two different points of variances noise (n). */
double dp__gp_noise_covariance(const struct dp_gp_noise_group *run, const double *noise, size_t i,
			       size_t j);
/* Adds those of point i with all before it to row (i). */
void dp__gp_add_noise_covariances(const struct dp_gp_noise_group *run, const double *noise,
				  size_t i, double *row);

/* Fills the second and third d of a point of which the others are known. */
void dp__gp_additive_exponentials(const struct dp_gp_spec *spec, double *z);
/* sum[j] (j < n) += scale * the terms of all inputs between point z and column j of zs (3 d x
 * ld) */
void dp__gp_add_additive_terms(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
			       const double *z, double scale, double *sum);
/* k[j] and dk[j], correlations of the kernel and their derivative by r^2, become those of the share
 * that is left to it; the correlations get the terms' share, too. more[j]: the terms' correlations,
 * then these less the kernel's. */
void dp__gp_mix_additive(double share, size_t n, double *more, double *k, double *dk);
/* dk[j] += scale * the derivative of input k's term by its squared distance */
void dp__gp_add_additive_slope(const struct dp_gp_spec *spec, size_t k, const double *zs, size_t ld,
			       size_t n, const double *z, double scale, double *dk);

/* ---- gp_fit.c: what a fit maximises ---- */

struct dp__gp_fit {
	const struct dp_gp_spec *spec;
	const struct dp_gp_data *data;
	double *z;             /* (3 d x n) */
	double *dz_dwarp;      /* (d x n) derivative of z by warp */
	double *k;             /* (n x n) covariance, then its factor, then its inverse */
	double *dk;            /* (n x n) derivative of its kernel by r^2 */
	double *additive_diff; /* (n x n) correlation of the terms less that of the kernel */
	double *alpha;         /* (n) */
	double *l_inv_ones;    /* (n) */
	double *work;          /* (n) */
	double *pair_weight;   /* (n) */
	double *gradient_sums; /* (2 d + 1 x n) */
	double *noise;         /* (n) noise */
	double jitter;         /* that the factorisation added to it */
	const struct dp_gp_fit_options *options;
	nlopt_opt opt;
	int n_evaluations; /* so far */
	double best_value;
	struct dp_gp_hyper best_hyper;
	bool has_learned_noise; /* some point has no noise of its own */
	bool has_noise_scale;   /* and it may vary */
};
void dp__gp_fit_init(struct dp__gp_fit *f, const struct dp_gp_spec *spec,
		     const struct dp_gp_data *data);
void dp__gp_fit_free(struct dp__gp_fit *f);
/* Log posterior of the hyperparameters (up to a constant) with the mean at its best, and its
 * gradient by log length (d), warp (d), log signal, log noise, additive share, lean (2 d + 4
 * numbers). -inf and a gradient of 0 where the covariance cannot be factorised. */
double dp__gp_log_posterior(struct dp__gp_fit *f, const struct dp_gp_hyper *h, double *g);

#endif
