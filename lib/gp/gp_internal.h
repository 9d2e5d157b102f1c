/* gp_internal.h - shared by the files of lib/gp. */
#ifndef DP_GP_INTERNAL_H
#define DP_GP_INTERNAL_H
#include "gp/gp.h"
#include <nlopt.h>

double dp__warp(double u, double c);
double dp__warp_by_u(double u, double c);
double dp__warp_by_c(double u, double c);

/* A point as the kernel sees it: warped inputs over their length (the category itself
 * where it is one), then 1 / length^2 of each input. z: room for 2 d. */
void dp__point(const struct dp_gp_spec *spec, const struct dp_gp_hyper *h,
	       const double *u, size_t stride, double *z);
/* r2[j] (j < n) = squared distance of point z to the columns of the rows zs
 * (d x ld). */
void dp__distances(const struct dp_gp_spec *spec, const double *zs, size_t ld, size_t n,
		   const double *z, double *r2);
/* acc[j] += w[j] * (zs[j] - z)^2, or w[j] where the categories differ */
void dp__add_squares(bool categorical, const double *zs, double z, const double *w,
		     size_t n, double *acc);
/* acc[j] += w[j] * (zs[j] - z) * (es[j] - e) */
void dp__add_products(const double *zs, double z, const double *es, double e,
		      const double *w, size_t n, double *acc);
/* w[j] = (a * as[j] - inv[j]) * dk[j] */
void dp__weights(double a, const double *as, const double *inv, const double *dk,
		 size_t n, double *w);

/* ---- fit.c: what a fit maximises ---- */

struct dp__fit {
	const struct dp_gp_spec *spec;
	const struct dp_gp_data *data;
	double *z;     /* (d x n) */
	double *e;     /* (d x n) derivative of z by warp */
	double *k;     /* (n x n) covariance, then its factor, then its inverse */
	double *dk;    /* (n x n) */
	double *alpha; /* (n) */
	double *ones;  /* (n) */
	double *w;     /* (n) */
	double *acc;   /* (2 d x n) */
	double *diag;  /* (n) noise */
	const atomic_bool *cancel;
	nlopt_opt opt;
	double best;
	struct dp_gp_hyper best_hyper;
	bool learned; /* some point has no noise of its own */
	bool no_memory;
};
/* DP_OK or DP_E_NOMEM; free it once it is made. */
DP_MUSTCHECK int dp__fit_new(struct dp__fit *f, const struct dp_gp_spec *spec,
			     const struct dp_gp_data *data);
void dp__fit_free(struct dp__fit *f);
/* Log posterior of the hyperparameters (up to a constant) with the mean at its best,
 * and its gradient by log length (d), warp (d), log signal, log noise (2 d + 2
 * numbers). -inf and a gradient of 0 where the covariance cannot be factorised. */
double dp__fit_posterior(struct dp__fit *f, const struct dp_gp_hyper *h, double *g);

#endif
