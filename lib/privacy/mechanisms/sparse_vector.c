/* sparse_vector.c - the sparse vector technique, in closed form. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

enum {
	CUTOFF,
	SCALE,
	DELTA
};

static const struct dp_privacy_key keys[] = {
	[CUTOFF] = { .name = "cutoff",
		     .epsilon_trend = 1,
		     DP__KEY_COUNT,
		     DP__KEY_REQUIRED,
		     .can_solve_max = true,
		     .short_help = "answers above the threshold",
		     .help = "C: the algorithm stops after this many answers above the "
			     "threshold." },
	[SCALE] = { .name = "scale",
		    .epsilon_trend = -1,
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "scale of the noise",
		    .help = "b: the total scale of the Laplace noise, shared between the "
			    "threshold and the answers in the proportion 1 to "
			    "(2C)^(1/3)." },
	[DELTA] = { .name = "delta",
		    .kind = DP_PRIVACY_NUMBER,
		    .default_value = 0,
		    .lo = 0,
		    .hi = 0,
		    .short_help = "the probability that the bound may fail with",
		    .help = "Always 0: the guarantee is pure differential privacy." },
};

/* Noise of scale b1 = b/(1+(2C)^(1/3)) on the threshold and of b2 = b - b1 on each answer costs
 * 1/b1 + 2C/b2 (Lyu, Su and Li 2017, Theorem 4, sensitivity 1), which is (1+(2C)^(1/3))
 * (1+(2C)^(2/3)) / b. */
static int svt_epsilon(const double *values, struct dp_epsilon *out, struct dp_err *err)
{
	/* Extended precision, then rounded up: the result is never below the true value, and above
	 * it by at most one unit in the last place. */
	long double root = cbrtl(2 * (long double)values[CUTOFF]);
	long double exact = (1 + root) * (1 + root * root) / (long double)values[SCALE];
	double epsilon = (double)exact;

	(void)err;
	if ((long double)epsilon < exact * (1 + 16 * LDBL_EPSILON))
		epsilon = nextafter(epsilon, INFINITY);
	*out = dp__closed_form(epsilon, 0, isfinite(epsilon) ? 2 * DBL_EPSILON * epsilon : 0);
	return DP_OK;
}

static int svt_component(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	struct dp_epsilon e = { 0 };
	int code = svt_epsilon(v, &e, err);

	*out = (struct dp_privacy_component){
		.kind = &dp__component_pure,
		.q = 1,
		.mu = e.epsilon,
		.count = 1,
		.relation = DP__RELATION_REPLACE_ONE, /* "one record differs" */
	};
	return code;
}

const struct dp_mechanism dp__svt = {
	.name = "svt",
	.summary = "Sparse vector technique: which queries lie above a threshold.",
	.relation = "two datasets are neighbours when one record differs; every query "
		    "then changes by at most 1 (sensitivity 1)",
	.source = "Lyu, Su and Li, Understanding the Sparse Vector Technique for "
		  "Differential Privacy, PVLDB 10(6), 2017, Theorem 4; the split of the "
		  "noise is that of Algorithm 1 of Avent et al., Automatic Discovery of "
		  "Privacy-Utility Pareto Fronts, PoPETs 2020(4)",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SCALE],
	.epsilon = svt_epsilon,
	.cost = dp__cost_closed_form,
	.component = svt_component,
};
