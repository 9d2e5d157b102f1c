/* linalg.c - Cholesky factors and vectorised functions on OpenBLAS and LAPACKE. */
#include "linalg/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/simd.h"

void openblas_set_num_threads(int n);

void dp_linalg_set_single_thread(void)
{
	openblas_set_num_threads(1);
}

double *dp_vec_new(size_t n)
{
	size_t bytes = (n * sizeof(double) + 63) / 64 * 64;

	if (n > SIZE_MAX / 16)
		dp_out_of_memory();
	return memset(dp_aligned_alloc(bytes ? bytes : 64), 0, bytes ? bytes : 64);
}

DP_SIMD_BEGIN

DP_SIMD void dp_vec_exp(double *out, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = dp__exp(x[i]);
}

DP_SIMD_END

/* Row-major lower is column-major upper, so LAPACK needs no copy. */
int dp_chol_factor(double *a, size_t n, size_t ld, double *diag, double *jitter)
{
	double mean = 0, add = 0;
	double *copy = NULL;
	int code = DP_E_FAILED;

	*jitter = 0;
	if (n == 0)
		return DP_OK;
	for (size_t i = 0; i < n; i++) {
		diag[i] = a[i * ld + i];
		mean += diag[i] / (double)n;
	}
	if (!(mean > 0) || isinf(mean))
		return DP_E_FAILED;
	copy = dp_malloc(n * n * sizeof *copy);
	for (size_t i = 0; i < n; i++)
		memcpy(copy + i * n, a + i * ld, (i + 1) * sizeof *a);
	for (int k = 0; k < 9 && code != DP_OK; k++) {
		if (k > 0) {
			add = mean * pow(10, k - 11);
			for (size_t i = 0; i < n; i++)
				memcpy(a + i * ld, copy + i * n, (i + 1) * sizeof *a);
			for (size_t i = 0; i < n; i++)
				a[i * ld + i] = diag[i] + add;
		}
		if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)n, a, (int)ld) == 0)
			code = DP_OK;
	}
	free(copy);
	*jitter = add;
	return code;
}

double dp_chol_append(const double *l, size_t n, size_t ld, double *row, double floor)
{
	double pivot = row[n];

	if (n > 0) {
		dp_chol_forward(l, n, ld, row);
		pivot -= cblas_ddot((int)n, row, 1, row, 1);
	}
	row[n] = sqrt(pivot > floor ? pivot : floor);
	return pivot;
}

void dp_chol_forward(const double *l, size_t n, size_t ld, double *x)
{
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, l, (int)ld, x,
		    1);
}

void dp_chol_backward(const double *l, size_t n, size_t ld, double *x)
{
	cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, l, (int)ld, x, 1);
}

void dp_chol_forward_rows(const double *l, size_t n, size_t ld, double *b, size_t m)
{
	/* rows times L^-T from the right */
	cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)n,
		    1.0, l, (int)ld, b, (int)n);
}

void dp_chol_backward_rows(const double *l, size_t n, size_t ld, double *b, size_t m)
{
	cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)m,
		    (int)n, 1.0, l, (int)ld, b, (int)n);
}

int dp_chol_inverse(double *l, size_t n, size_t ld)
{
	return LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (int)n, l, (int)ld) == 0 ? DP_OK
										   : DP_E_FAILED;
}

double dp_chol_logdet(const double *l, size_t n, size_t ld)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(l[i * ld + i]);
	return 2 * sum;
}
