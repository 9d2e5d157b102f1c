/* leave_one_out.c - what a model says of each of its points without that point.
 *
 * With K^-1 at hand nothing is refitted. Of P = K^-1 - K^-1 1 1' K^-1 / 1' K^-1 1, which
 * is K^-1 where the mean is estimated as well, y_i less its prediction without it is
 * (P y)_i / P_ii, and P y is alpha. (Dubrule, "Cross validation of kriging in a unique
 * neighborhood", 1983; with a known mean Rasmussen & Williams, 5.12.) The mean counts as
 * certain in the variance, as in every prediction of gp.c. */
#include "optimize/gp/gp.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int dp_gp_leave_one_out(const struct dp_gp *gp, double *missed, double *variance)
{
	size_t n = gp->n;
	double *inverse = dp_vec_new(n * n), *of_ones = dp_vec_new(n), sum = 0;
	int code = inverse && of_ones ? DP_OK : DP_E_NOMEM;

	for (size_t i = 0; i < n && code == DP_OK; i++) {
		memcpy(inverse + i * n, gp->chol + i * gp->capacity, (i + 1) * sizeof *inverse);
		of_ones[i] = gp->l_inv_ones[i];
		sum += gp->l_inv_ones[i] * gp->l_inv_ones[i];
	}
	if (code == DP_OK) {
		dp_chol_backward(gp->chol, n, gp->capacity, of_ones);
		code = dp_chol_inverse(inverse, n, n);
	}
	for (size_t i = 0; i < n && code == DP_OK; i++) {
		double own = inverse[i * n + i];

		variance[i] = 1 / own;
		missed[i] = gp->alpha[i] / (own - of_ones[i] * of_ones[i] / sum);
	}
	free(inverse);
	free(of_ones);
	return code;
}
