/* laplace.c - the Laplace mechanism, pure and approximate.
 *
 * Pure: Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity, TCC 2006,
 * Proposition 1. At delta > 0: the exact profile delta = 1 - exp((epsilon - 1/b) / 2),
 * Balle, Barthe and Gaboardi, Privacy Amplification by Subsampling, NeurIPS 2018,
 * Theorem 3. The neighbouring relation is the one that the sensitivity is meant for. */
#include "privacy/privacy_internal.h"

#include <math.h>

enum {
	SCALE,
	SENSITIVITY,
	DELTA
};

static const struct dp_privacy_key keys[] = {
	[SCALE] = { .name = "scale",
		    .kind = DP_PRIVACY_NUMBER,
		    .needed = true,
		    .otherwise = NAN,
		    .lo = 0,
		    .lo_open = true,
		    .hi = INFINITY,
		    .hi_open = true,
		    .help = "Scale b of the Laplace noise; its standard deviation is "
			    "b times the square root of 2." },
	[SENSITIVITY] = { .name = "sensitivity",
			  .kind = DP_PRIVACY_NUMBER,
			  .otherwise = 1,
			  .lo = 0,
			  .lo_open = true,
			  .hi = INFINITY,
			  .hi_open = true,
			  .help = "The most that one record changes the result, in L1 "
				  "norm." },
	[DELTA] = { .name = "delta",
		    .kind = DP_PRIVACY_NUMBER,
		    .otherwise = 0,
		    .lo = 0,
		    .hi = 1,
		    .hi_open = true,
		    .help = "0 for pure differential privacy, else the probability "
			    "that epsilon may fail with (for one-dimensional results)." },
};

static int laplace_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	double pure = v[SENSITIVITY] / v[SCALE];

	(void)err;
	*out = (struct dp_epsilon){
		.epsilon = fmax(0, pure + 2 * log1p(-v[DELTA])),
		.delta = v[DELTA],
		.order = NAN,
		.accountant = "closed-form",
		.error_proved = true,
	};
	return DP_OK;
}

const struct dp_mechanism dp__laplace = {
	.name = "laplace",
	.summary = "Laplace noise on one result of bounded L1 sensitivity.",
	.relation = "whatever relation the sensitivity is stated for",
	.source =
		"Dwork, McSherry, Nissim and Smith, Calibrating Noise to Sensitivity in "
		"Private Data Analysis, TCC 2006, Proposition 1; delta > 0: Balle, "
		"Barthe and Gaboardi, Privacy Amplification by Subsampling, NeurIPS "
		"2018, Theorem 3",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.epsilon = laplace_epsilon,
	.noise = "scale",
};
