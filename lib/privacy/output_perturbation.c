/* output_perturbation.c - Gaussian noise on the weights of a regularised logistic
 * regression trained by projected stochastic gradient descent.
 *
 * Wu, Li, Kumar, Chaudhuri, Jha and Naughton, Bolt-on Differential Privacy for
 * Scalable Stochastic Gradient Descent-based Analytics, SIGMOD 2017, Algorithm 2 and
 * Lemma 8: for a gamma-strongly convex, L-Lipschitz loss the sensitivity is
 * 2 L / (gamma n), however many passes are made. Rows of norm at most 1 and weights
 * within radius 1 / gamma give L = 2. Then the exact Gaussian mechanism. Neighbours:
 * one record replaced by another. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

enum {
	REGULARIZATION,
	RECORDS,
	SIGMA,
	DELTA,
	GROUP
};

static const struct dp_privacy_key keys[] = {
	[REGULARIZATION] = { .name = "regularization",
			     .worse = -1,
			     .kind = DP_PRIVACY_NUMBER,
			     .needed = true,
			     .otherwise = NAN,
			     .lo = 0,
			     .lo_open = true,
			     .hi = INFINITY,
			     .hi_open = true,
			     .brief = "of the loss",
			     .help = "gamma: the loss has gamma/2 times the squared norm "
				     "of the weights added." },
	[RECORDS] = { .name = "records",
		      .worse = -1,
		      .kind = DP_PRIVACY_INTEGER,
		      .needed = true,
		      .otherwise = NAN,
		      .lo = 1,
		      .hi = 0x1p53,
		      .brief = "number of training records",
		      .help = "Number of training records." },
	[SIGMA] = { .name = "sigma",
		    .worse = -1,
		    .kind = DP_PRIVACY_NUMBER,
		    .needed = true,
		    .otherwise = NAN,
		    .lo = 0,
		    .lo_open = true,
		    .hi = INFINITY,
		    .hi_open = true,
		    .brief = "standard deviation of the noise",
		    .help = "Standard deviation of the noise added to each weight." },
	[DELTA] = DP__KEY_DELTA_ABOVE_0,
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

static double output_mu(const double *v)
{
	double mu = 4 * v[GROUP] / (v[REGULARIZATION] * v[RECORDS]) / v[SIGMA];

	return mu * (1 + 4 * DBL_EPSILON); /* three roundings: not below the true one */
}

static int output_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_epsilon){
		.epsilon = dp__gaussian_epsilon(output_mu(v), log(v[DELTA])),
		.delta = v[DELTA],
		.order = NAN,
		.accountant = "closed-form",
		.error_proved = true,
	};
	return DP_OK;
}

static int output_part(const double *v, struct dp_privacy_part *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_part){
		.kind = &dp__part_wor,
		.q = 1,
		.mu = output_mu(v),
		.count = 1,
		.relation = DP__REPLACE_ONE,
		.group = v[GROUP],
	};
	return DP_OK;
}

const struct dp_mechanism dp__output_perturbation = {
	.name = "output-perturbation",
	.summary = "Gaussian noise on the weights of a regularised logistic regression.",
	.relation = "two datasets of the same size are neighbours when one record "
		    "differs (replace-one)",
	.source = "Wu et al., Bolt-on Differential Privacy for Scalable Stochastic "
		  "Gradient Descent-based Analytics, SIGMOD 2017, Algorithm 2; noise: "
		  "Balle and Wang, ICML 2018, Theorem 8",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SIGMA],
	.records = &keys[RECORDS],
	.epsilon = output_epsilon,
	.cost = dp__closed_form,
	.part = output_part,
};
