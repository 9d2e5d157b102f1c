/* exponential.c - the exponential mechanism and report noisy max.
 *
 * McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS 2007: chooses a candidate
 * with probability proportional to exp(score / scale), as does adding Gumbel noise of that scale to
 * every score and taking the largest. If one record moves scores by s at most, the losses of all
 * candidates lie in one interval of width eta = 2 s / scale, or s / scale where a record moves all
 * scores the same way: bounded range (Durfee and Rogers, NeurIPS 2019). The interval is [t - eta,
 * t] for some t, and among losses in it those with mass at both ends only are the worst: loss t
 * with probability (1 - exp(t - eta)) / (1 - exp(-eta)). The maximum over t is
 *   delta(x) = (1 - exp((x - eta) / 2))^2 / (1 - exp(-eta)) for |x| <= eta
 * (Dong, Durfee and Rogers, Optimal Differential Privacy Composition for Exponential Mechanisms,
 * ICML 2020). In y = exp(x) it is convex with slope -1 at y = exp(-eta) and 0 at exp(eta), so it is
 * the profile of a pair, which dominates and composes.
 *
 * For Laplace or exponential noise of that scale on every score, only pure epsilon is used: with
 * the noise of all others fixed, a candidate wins if its own noise passes a threshold, the
 * threshold moves by eta x scale at most, and both distributions have P(noise > t + d) >= exp(-d /
 * scale) P(noise > t). */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

enum {
	SCALE,
	SENSITIVITY,
	SCORES,
	NOISE,
	DELTA,
	GROUP
};
enum {
	ANY,
	MONOTONIC
};
enum {
	GUMBEL,
	LAPLACE,
	EXPONENTIAL
};

static const char *const scores[] = { "any", "monotonic", NULL };
static const char *const noises[] = { "gumbel", "laplace", "exponential", NULL };

static const struct dp_privacy_key keys[] = {
	[SCALE] = { .name = "scale",
		    DP__KEY_POSITIVE,
		    DP__KEY_REQUIRED,
		    .short_help = "scale of the noise",
		    .help = "b: a candidate is chosen with probability in proportion to "
			    "exp(score / b); the scale of the noise on each score." },
	[SENSITIVITY] = { .name = "sensitivity",
			  DP__KEY_POSITIVE,
			  .default_value = 1,
			  .short_help = "of each score",
			  .help = "The most that one record changes any score." },
	[SCORES] = { .name = "scores",
		     DP__KEY_CHOICE(scores, ANY),
		     .short_help = "how a record moves scores",
		     .help = "monotonic if one record moves all scores up or all down, "
			     "as counts under add or remove one; it halves epsilon. "
			     "Replacing a record is both, so take any for "
			     "replace-one; beside parts of a composition that hold for "
			     "replace-one, epsilon counts twice." },
	[NOISE] = { .name = "noise",
		    DP__KEY_CHOICE(noises, GUMBEL),
		    .short_help = "distribution of the noise on scores",
		    .help = "gumbel is the exponential mechanism, whose range is "
			    "bounded; the others are report noisy max with that "
			    "noise." },
	[DELTA] = DP__KEY_DELTA(""),
	[GROUP] = DP__KEY_GROUP(0x1p53),
};

/* Rounded up. */
static double exponential_range_width(const double *v)
{
	double moved = (v[SCORES] == MONOTONIC ? 1 : 2) * v[SENSITIVITY] * v[GROUP];
	double range = moved / v[SCALE];

	return isfinite(range) ? nextafter(range * (1 + DBL_EPSILON), INFINITY) : INFINITY;
}

/* ---- bounded range as a component of a composition; mu is the width ---- */

/* The maximum over t: exp K = u^(order - 1) (a - b u) / (1 - exp(-eta)) with u = exp(t), largest at
 * u = (order - 1) a / (order b). Hoeffding's lemma gives order (order - 1) eta^2 / 8 (Cesar and
 * Rogers, ALT 2021), which has no rounding error. */
static double bounded_range_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
				double order)
{
	double gap = order - 1, hoeffding = 0.125 * order * gap * p->mu * p->mu;
	double a = -expm1(-order * p->mu), b = -expm1(-gap * p->mu);
	double log_u = p->mu + log(gap * a / (order * b));
	double most = gap * log_u + log(a / order) - log(-expm1(-p->mu));
	double slack = 16 * DBL_EPSILON * (1 + gap * (1 + p->mu));

	(void)tables;
	return most + slack < hoeffding ? most + slack : hoeffding;
}

static double bounded_range_profile(const struct dp_privacy_component *p, enum dp__direction d,
				    double x, double *slack)
{
	double root = x < p->mu ? expm1(0.5 * (x - p->mu)) : 0, v;

	(void)d;
	v = root * (root / -expm1(-p->mu));
	*slack = 8 * DBL_EPSILON * v;
	return v;
}

/* Its density is proportional to exp(x / 2). */
static void bounded_range_rough_points(struct dp__loss_points *s,
				       const struct dp_privacy_component *p, enum dp__direction d,
				       double end)
{
	enum {
		POINTS = 512
	};
	double step = 2 * p->mu / POINTS, all = -2 * expm1(-p->mu);

	(void)d;
	(void)end;
	for (int i = 0; i < POINTS; i++) {
		double x = (i + 0.5) * step - p->mu;

		dp__loss_points_add(s, x, exp(0.5 * (x - p->mu)) * step / all, INFINITY);
	}
}

static double bounded_range_epsilon(double range, double delta)
{
	/* every step may be off in the last place; near 1 that is much of the logarithm */
	double share = sqrt(-delta * expm1(-range)) * (1 - 8 * DBL_EPSILON);
	double less = 2 * log1p(-share);
	double slack = 8 * DBL_EPSILON * (range - less);

	return fmax(fmin(range + less + slack, range), 0);
}

static double bounded_range_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	return p->count == 1 ? bounded_range_epsilon(p->mu, delta) : NAN;
}

static const struct dp__component_kind range_loss = {
	.cgf = bounded_range_cgf,
	.profile = bounded_range_profile,
	.tail_cutoff = dp__bounded_tail_cutoff,
	.rough_points = bounded_range_rough_points,
	.max_loss = dp__bounded_max_loss,
	.loss_scale = dp__bounded_loss_scale,
	.exact_epsilon = bounded_range_exact_epsilon,
	.is_pure = true,
};

static int exponential_component(const double *v, struct dp_privacy_component *out,
				 struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){
		.kind = v[NOISE] == GUMBEL ? &range_loss : &dp__component_pure,
		.q = 1,
		.mu = exponential_range_width(v),
		.count = 1,
		.relation = DP__RELATION_ANY,
		.doubles_on_replace = v[SCORES] == MONOTONIC,
		.group_size = v[GROUP],
	};
	return DP_OK;
}

static int exponential_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_privacy_component p;
	int code = exponential_component(v, &p, err);

	*out = dp__closed_form(v[DELTA] > 0 ? p.kind->exact_epsilon(&p, v[DELTA]) : p.mu, v[DELTA],
			       0);
	out->error = isfinite(out->epsilon) ? 64 * DBL_EPSILON * (1 + p.mu) : 0;
	return code;
}

const struct dp_mechanism dp__exponential = {
	.name = "exponential",
	.summary = "The best of several candidates by noisy scores (exponential "
		   "mechanism, report noisy max).",
	.relation = "whatever relation the sensitivity of the scores is stated for",
	.source = "McSherry and Talwar, Mechanism Design via Differential Privacy, FOCS "
		  "2007; delta > 0 and composition: Dong, Durfee and Rogers, Optimal "
		  "Differential Privacy Composition for Exponential Mechanisms, ICML "
		  "2020 (bounded range)",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[SCALE],
	.epsilon = exponential_epsilon,
	.cost = dp__cost_closed_form,
	.component = exponential_component,
};
