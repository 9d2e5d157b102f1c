/* gp_internal.h - shared by the files of lib/gp. */
#ifndef DP_GP_INTERNAL_H
#define DP_GP_INTERNAL_H
#include "gp/gp.h"

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

#endif
