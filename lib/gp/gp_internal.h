/* gp_internal.h - shared by the files of lib/gp. */
#ifndef DP_GP_INTERNAL_H
#define DP_GP_INTERNAL_H
#include "gp/gp.h"
#include <nlopt.h>

double dp__warp(double u, double c);
double dp__warp_by_u(double u, double c);
/* The warp w and its derivative by c. expm1_c: expm1(c), the same for all u. */
void dp__warp_by_c(double u, double c, double expm1_c, double *w, double *by_c);

enum {
	DP__POINT_MAX = 4 * DP_GP_INPUTS_MAX
};
/* A point as the kernel sees it, d numbers of each kind: warped inputs over their length
 * (the category itself where it is one), their exponentials and the inverses of these
 * (dp__term_exponentials()), 1 / length^2. Of known points the first 3 d are kept. */
void dp__point(const struct dp_gp_spec *spec, const struct dp_gp_hyper *h, const double *u,
	       size_t stride, double *z);
/* r2[j] (j < n) = squared distance of point z to the columns of the rows zs
 * (d x ld). */
void dp__distances(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
		   const double *z, double *r2);
/* acc[j] += w[j] * (zs[j] - z)^2, or w[j] where the categories differ */
void dp__add_squares(bool categorical, const double *zs, double z, const double *w, size_t n,
		     double *acc);
/* acc[j] += w[j] * (zs[j] - z) * (es[j] - e) */
void dp__add_products(const double *zs, double z, const double *es, double e, const double *w,
		      size_t n, double *acc);
/* w[j] = a * as[j] - inv[j] */
void dp__weights(double a, const double *as, const double *inv, size_t n, double *w);
void dp__multiply(const double *x, const double *y, size_t n, double *xy);
void dp__scale(double by, size_t n, double *x);

/* ---- shared.c ---- */

/* Covariance of the noise of two different points of variances noise (n). */
double dp__noise_covariance(const struct dp_gp_run *run, const double *noise, size_t i, size_t j);
/* Adds those of point i with all before it to row (i). */
void dp__add_shared_noise(const struct dp_gp_run *run, const double *noise, size_t i, double *row);

/* ---- additive.c ---- */

/* Fills the second and third d of a point of which the others are known. */
void dp__term_exponentials(const struct dp_gp_spec *spec, double *z);
/* sum[j] (j < n) += scale * the terms of all inputs between point z and column j of
 * zs (3 d x ld) */
void dp__add_terms(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
		   const double *z, double scale, double *sum);
/* k[j] and dk[j], correlations of the kernel and their derivative by r^2, become those of
 * the share that is left to it; the correlations get the terms' share, too. more[j]:
 * the terms' correlations, then these less the kernel's. */
void dp__mix_terms(double share, size_t n, double *more, double *k, double *dk);
/* dk[j] += scale * the derivative of input k's term by its squared distance */
void dp__add_term_slope(const struct dp_gp_spec *spec, size_t k, const double *zs, size_t ld,
			size_t n, const double *z, double scale, double *dk);

/* ---- fit.c: what a fit maximises ---- */

struct dp__fit {
	const struct dp_gp_spec *spec;
	const struct dp_gp_data *data;
	double *z;     /* (3 d x n) */
	double *e;     /* (d x n) derivative of z by warp */
	double *k;     /* (n x n) covariance, then its factor, then its inverse */
	double *dk;    /* (n x n) derivative of its kernel by r^2 */
	double *more;  /* (n x n) correlation of the terms less that of the kernel */
	double *alpha; /* (n) */
	double *ones;  /* (n) */
	double *w;     /* (n) */
	double *pair;  /* (n) */
	double *acc;   /* (2 d + 1 x n) */
	double *diag;  /* (n) noise */
	double jitter; /* that the factorisation added to it */
	const struct dp_gp_effort *effort;
	nlopt_opt opt;
	int evaluations; /* so far */
	double best;
	struct dp_gp_hyper best_hyper;
	bool learned; /* some point has no noise of its own */
	bool leans;   /* and it may vary */
	bool no_memory;
};
/* DP_OK or DP_E_NOMEM; free it once it is made. */
DP_MUSTCHECK int dp__fit_new(struct dp__fit *f, const struct dp_gp_spec *spec,
			     const struct dp_gp_data *data);
void dp__fit_free(struct dp__fit *f);
/* Log posterior of the hyperparameters (up to a constant) with the mean at its best,
 * and its gradient by log length (d), warp (d), log signal, log noise, additive
 * share, lean (2 d + 4 numbers). -inf and a gradient of 0 where the covariance cannot be
 * factorised. */
double dp__fit_posterior(struct dp__fit *f, const struct dp_gp_hyper *h, double *g);

#endif
