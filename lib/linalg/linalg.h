/* linalg.h - the dense linear algebra of the models: a thin coat over OpenBLAS and LAPACKE, and
 * elementwise functions in a form that compilers turn into vectors.
 *
 * Matrices are row-major. A Cholesky factor L is lower triangular, A = L L', rows of `ld` doubles.
 * OpenBLAS must run with one thread (dp_linalg_set_single_thread()) for results that repeat bit for
 * bit. */
#ifndef DP_LINALG_H
#define DP_LINALG_H
#include "base/base.h"

/* Call once at the start of a program: BLAS then never splits a sum over threads. */
void dp_linalg_set_single_thread(void);

/* n doubles on a 64-byte boundary, set to 0; free() them. */
double *dp_vec_new(size_t n);

/* out[i] = exp(x[i]) for x <= 700, to 2 units in the last place; below -700 it gives exp(-700),
 * which stands for 0. May work in place. */
void dp_vec_exp(double *out, const double *x, size_t n);

/* Factorises the symmetric matrix whose lower triangle is in a (n x n), in place. Where it is not
 * positive definite to rounding, a growing multiple of the mean diagonal (1e-10 first, at most
 * 1e-2) is added to the diagonal; *jitter is what was added, 0 if nothing. The upper triangle is
 * not read or written, `diag` (n) is workspace. DP_OK or DP_E_FAILED. */
DP_MUSTCHECK int dp_chol_factor(double *a, size_t n, size_t ld, double *diag, double *jitter);
/* Adds row n to a factor of n rows: `row` holds the n covariances with the points before and their
 * own variance as the last element, and is overwritten by the row of L. The pivot is kept at or
 * above floor. Returns the pivot's square before that. */
double dp_chol_append(const double *l, size_t n, size_t ld, double *row, double floor);
/* x = L^-1 x and x = L^-T x */
void dp_chol_forward(const double *l, size_t n, size_t ld, double *x);
void dp_chol_backward(const double *l, size_t n, size_t ld, double *x);
/* Replaces each of the m rows of b (m x n, contiguous) by L^-1 times it. */
void dp_chol_forward_rows(const double *l, size_t n, size_t ld, double *b, size_t m);
/* Replaces each by L^-T times it. */
void dp_chol_backward_rows(const double *l, size_t n, size_t ld, double *b, size_t m);
/* Replaces the factor by the lower triangle of A^-1. */
DP_MUSTCHECK int dp_chol_inverse(double *l, size_t n, size_t ld);
double dp_chol_logdet(const double *l, size_t n, size_t ld); /* log det A */

#endif
