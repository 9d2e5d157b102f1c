/* output_perturbation.c - Gaussian noise on the weights of a regularised logistic regression.
 *
 * Trained by projected stochastic gradient descent. Wu, Li, Kumar, Chaudhuri, Jha and Naughton,
 * Bolt-on Differential Privacy for Scalable Stochastic Gradient Descent-based Analytics, SIGMOD
 * 2017, Algorithm 2 and Lemma 8: for a gamma-strongly convex, L-Lipschitz loss the sensitivity is 2
 * L / (gamma n), for any number of passes. Rows of norm at most 1 and weights within radius 1 /
 * gamma give L = 2. Then the exact Gaussian mechanism. Neighbours: one record replaced by
 * another. */
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
			     .epsilon_trend = -1,
			     DP__KEY_POSITIVE,
			     DP__KEY_REQUIRED,
			     .short_help = "of the loss",
			     .help = "gamma: the loss has gamma/2 times the squared norm "
				     "of the weights added." },
	[RECORDS] = { .name = "records",
		      .epsilon_trend = -1,
		      DP__KEY_COUNT,
		      DP__KEY_REQUIRED,
		      .short_help = "number of training records",
		      .help = "Number of training records." },
	[SIGMA] = { .name = "sigma",
		    .epsilon_trend = -1,
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "standard deviation of the noise",
		    .help = "Standard deviation of the noise added to each weight." },
	[DELTA] = DP__KEY_DELTA_REQUIRED,
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

static double output_perturbation_mu(const double *v)
{
	double mu = 4 * v[GROUP] / (v[REGULARIZATION] * v[RECORDS]) / v[SIGMA];

	return mu * (1 + 4 * DBL_EPSILON); /* three roundings: not below the true value */
}

static int output_perturbation_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = dp__closed_form(dp__gaussian_epsilon(output_perturbation_mu(v), log(v[DELTA])),
			       v[DELTA], 0);
	return DP_OK;
}

static int output_perturbation_component(const double *v, struct dp_privacy_component *out,
					 struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){
		.kind = &dp__component_wor,
		.q = 1,
		.mu = output_perturbation_mu(v),
		.count = 1,
		.relation = DP__RELATION_REPLACE_ONE,
		.group_size = v[GROUP],
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
	.epsilon = output_perturbation_epsilon,
	.cost = dp__cost_closed_form,
	.component = output_perturbation_component,
};
