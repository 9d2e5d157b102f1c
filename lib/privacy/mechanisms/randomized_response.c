/* randomized_response.c - randomized response: replaces every person's category at random.
 *
 * Warner, Randomized Response, JASA 1965; k categories: Kairouz, Oh and Viswanath, Extremal
 * Mechanisms for Local Differential Privacy, JMLR 2016. With probability `flip` the category is
 * replaced by one drawn from all of them: the true one is reported with probability p = 1 - flip +
 * flip / k, any other with flip / k. For any two true categories the loss is epsilon with
 * probability p, minus epsilon with flip / k, and zero else. Every pair is alike, so this is
 * exact. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

enum {
	FLIP,
	CATEGORIES,
	DELTA
};

static const struct dp_privacy_key keys[] = {
	[FLIP] = { .name = "flip",
		   .kind = DP_PRIVACY_NUMBER,
		   DP__KEY_REQUIRED,
		   .lo = 0,
		   .lo_open = true,
		   .hi = 1,
		   .short_help = "probability of a random answer",
		   .help = "Probability that the true category is replaced by one drawn "
			   "from all categories alike, the true one among them." },
	[CATEGORIES] = { .name = "categories",
			 .kind = DP_PRIVACY_INTEGER,
			 .default_value = 2,
			 .lo = 2,
			 .hi = 0x1p53,
			 .short_help = "number of possible answers",
			 .help = "Number of categories." },
	[DELTA] = DP__KEY_DELTA(""),
};

/* ---- component of a composition; mu = epsilon, shape = p ---- */

static double response_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
			   double order)
{
	double gap = order - 1, same = fmax(1 - p->shape * (1 + exp(-p->mu)), 0);
	double told = dp__log_add(log(p->shape) + gap * p->mu, log(p->shape) - order * p->mu);

	(void)tables;
	return dp__log_add(told, log(same)) + 8 * DBL_EPSILON * (1 + gap * p->mu);
}

static double response_profile(const struct dp_privacy_component *p, enum dp__direction d, double x,
			       double *slack)
{
	double v = x < p->mu ? -expm1(x - p->mu) * p->shape : 0;

	(void)d;
	*slack = 4 * DBL_EPSILON * v;
	return v;
}

static void response_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				  enum dp__direction d, double end)
{
	(void)d;
	(void)end;
	dp__loss_points_add(s, p->mu, p->shape, INFINITY);
	dp__loss_points_add(s, -p->mu, p->shape * exp(-p->mu), INFINITY);
}

static double response_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	double share, less; /* the share of delta is rounded down, epsilon up */

	if (p->count != 1)
		return NAN;
	share = delta / p->shape * (1 - 8 * DBL_EPSILON);
	if (share >= 1)
		return 0;
	less = log1p(-share) * (1 - 8 * DBL_EPSILON);
	return fmax(fmin(nextafter(p->mu + less, INFINITY), p->mu), 0);
}

static const struct dp__component_kind response_loss = {
	.cgf = response_cgf,
	.profile = response_profile,
	.tail_cutoff = dp__bounded_tail_cutoff,
	.rough_points = response_rough_points,
	.max_loss = dp__bounded_max_loss,
	.loss_scale = dp__bounded_loss_scale,
	.exact_epsilon = response_exact_epsilon,
	.is_pure = true,
};

static int response_component(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	double other = v[FLIP] / v[CATEGORIES];

	(void)err;
	*out = (struct dp_privacy_component){
		.kind = &response_loss,
		.q = 1,
		.mu = log1p((1 - v[FLIP]) / other) * (1 + 8 * DBL_EPSILON),
		.count = 1,
		.relation = DP__RELATION_REPLACE_ONE,
		.shape = fmin(1 - v[FLIP] + other, 1),
	};
	return DP_OK;
}

static int response_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_privacy_component p;
	int code = response_component(v, &p, err);

	*out = dp__closed_form(v[DELTA] > 0 ? response_exact_epsilon(&p, v[DELTA]) : p.mu, v[DELTA],
			       isfinite(p.mu) ? 32 * DBL_EPSILON * (1 + p.mu) : 0);
	return code;
}

const struct dp_mechanism dp__randomized_response = {
	.name = "randomized-response",
	.summary = "Every record's category, replaced at random before anybody sees it.",
	.relation = "replace-one: two datasets of the same size are neighbours when one "
		    "record's category differs",
	.source = "Warner, Randomized Response, JASA 1965; k categories: Kairouz, Oh and "
		  "Viswanath, Extremal Mechanisms for Local Differential Privacy, JMLR "
		  "2016; delta > 0: the exact profile",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[FLIP],
	.epsilon = response_epsilon,
	.cost = dp__cost_closed_form,
	.component = response_component,
};
