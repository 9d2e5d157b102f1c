/* linalg.h - Cholesky factors and vectorised functions on OpenBLAS and LAPACKE.
 *
 * Matrices are row-major. A Cholesky factor L is lower triangular, A = L L', with rows of `ld`
 * doubles. Call dp_linalg_set_single_thread(), or results do not repeat bit for bit. */
#ifndef DP_LINALG_H
#define DP_LINALG_H
#include "base/base.h"

/* Call once at program start. OpenBLAS then never splits a sum over threads. */
void dp_linalg_set_single_thread(void);

/* n zeroed doubles, aligned to 64 bytes. Release with free(). */
double *dp_vec_new(size_t n);

/* out[i] = exp(x[i]) for x <= 700, within 2 ulp; exp(-700) below -700. May work in place. */
void dp_vec_exp(double *out, const double *x, size_t n);

/* Factorises in place the symmetric matrix with its lower triangle in a (n x n). If it is not
 * numerically positive definite, adds a growing multiple of the mean diagonal (1e-10 to 1e-2) to
 * the diagonal; *jitter is the amount added. Does not touch the upper triangle. `diag` (n) is
 * workspace. DP_OK or DP_E_FAILED. */
DP_MUSTCHECK int dp_chol_factor(double *a, size_t n, size_t ld, double *diag, double *jitter);
/* Appends row n to a factor of n rows. `row` holds the covariances with the n points, then the own
 * variance; the row of L replaces it. The pivot is at least floor. Returns its square before
 * that. */
double dp_chol_append(const double *l, size_t n, size_t ld, double *row, double floor);
/* x = L^-1 x and x = L^-T x */
void dp_chol_forward(const double *l, size_t n, size_t ld, double *x);
void dp_chol_backward(const double *l, size_t n, size_t ld, double *x);
/* Replaces each of the m rows of b (m x n, contiguous) by L^-1 times the row. */
void dp_chol_forward_rows(const double *l, size_t n, size_t ld, double *b, size_t m);
/* The same with L^-T. */
void dp_chol_backward_rows(const double *l, size_t n, size_t ld, double *b, size_t m);
/* Replaces the factor by the lower triangle of A^-1. */
DP_MUSTCHECK int dp_chol_inverse(double *l, size_t n, size_t ld);
double dp_chol_logdet(const double *l, size_t n, size_t ld); /* log det A */

#endif
