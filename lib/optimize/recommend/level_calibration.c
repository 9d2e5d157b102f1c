/* level_calibration.c - moves a point to where a computed output just meets a limit.
 *
 * The value is monotone in a noise input, so that a bracket and false position find the place in a
 * few evaluations. Without monotonicity the result is still within the limit, because the point
 * that is kept has been evaluated. */
#include "optimize/recommend/recommend_internal.h"
#include "study/calibrated_params.h"

#include <math.h>
#include <string.h>

enum {
	BRACKET_EVALUATIONS = 60, /* evaluations to shrink a bracket */
	BRACKET_STEPS = 12,       /* steps to find a bracket */
	LEVEL_BISECTIONS = 24     /* bisections towards the point of the least value */
};

static const double first_step = 0.01; /* share of an input's range */
/* Remaining distance, as a share of reach_tolerance, for comparisons and for the final answer.
 * Below the tolerance, because an accountant's value may jump a little. */
static const double coarse_tolerance = 0.5, fine_tolerance = 0.02;

/* Excess over the limit with input k at `place`. */
static double level_excess_with_input(const struct dp__query *q, double *u, size_t k, double place)
{
	double kept = u[k], value;

	u[k] = place;
	value = dp__query_output_value(q, q->held_output, u) - q->held_max;
	u[k] = kept;
	return value;
}

static double level_excess(const void *query, const double *u)
{
	const struct dp__query *q = query;

	return dp__query_output_value(q, q->held_output, u) - q->held_max;
}

/* ---- choice of inputs ---- */

static void middle_point(const struct dp__encoding *in, double *u)
{
	for (size_t k = 0; k < in->d; k++)
		u[k] = in->inputs[k].kind == DP__INPUT_CATEGORY ? 0
		       : in->inputs[k].is_pinned                ? 1
								: 0.5;
	dp__encoding_round(in, u);
}

static void add_calibration_input(struct dp__query *q, size_t input)
{
	if (q->p->encoding.inputs[input].n_values > 1)
		q->calibration_inputs[q->n_calibration_inputs++] = input;
}

/* Fallback if no noise parameter is searched: the continuous inputs, ordered by how much the value
 * changes between their ends, seen from the middle of the space. */
static void rank_inputs(struct dp__query *q)
{
	double u[DP_PARAMS_MAX], change[DP_PARAMS_MAX];
	const struct dp__encoding *in = &q->p->encoding;

	middle_point(in, u);
	for (size_t k = 0; k < in->d; k++) {
		size_t at = q->n_calibration_inputs;

		if (in->inputs[k].kind != DP__INPUT_FLOAT || in->inputs[k].is_pinned)
			continue;
		change[k] = fabs(level_excess_with_input(q, u, k, 1) -
				 level_excess_with_input(q, u, k, 0));
		if (!(change[k] > 0))
			continue;
		add_calibration_input(q, k);
		for (; at < q->n_calibration_inputs && at > 0 &&
		       change[q->calibration_inputs[at]] > change[q->calibration_inputs[at - 1]];
		     at--) {
			q->calibration_inputs[at] = q->calibration_inputs[at - 1];
			q->calibration_inputs[at - 1] = k;
		}
	}
}

void dp__calibrate_choose_inputs(struct dp__query *q)
{
	const struct dp__encoding *in = &q->p->encoding;
	size_t params[DP_PRIVACY_ITEMS_MAX], n;

	q->n_calibration_inputs = 0;
	n = dp_objective_noise_params(q->p->study, q->held_output, params);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < in->d; k++)
			if (in->inputs[k].param == params[i] && !in->inputs[k].is_pinned)
				add_calibration_input(q, k);
	if (q->n_calibration_inputs == 0)
		rank_inputs(q);
	q->can_calibrate = q->n_calibration_inputs > 0;
}

/* ---- one input ---- */

/* `inside` is within the limit, `outside` beyond it. */
struct bracket {
	double inside, outside, f_inside, f_outside;
};

static struct bracket bracket_make(double a, double f_a, double b, double f_b)
{
	return f_a <= 0 ? (struct bracket){ a, b, f_a, f_b } : (struct bracket){ b, a, f_b, f_a };
}

/* The next place to try after a and b, both on the same side of the limit: slightly beyond the
 * point where the line through them reaches the limit, but within the input's range. */
static double extrapolate_to_level(double a, double f_a, double b, double f_b)
{
	double step = -f_b * (b - a) / (f_b - f_a);

	step = 1.1 * step + (step < 0 ? -0.002 : 0.002);
	return fmin(fmax(b + fmin(fmax(step, -0.25), 0.25), 0), 1);
}

enum bracket_status {
	BRACKET_FOUND,
	BRACKET_OUT_OF_REACH, /* u[k] is at the closest end */
	BRACKET_NOT_FOUND
};

/* Searches from the current place, which takes few evaluations if the limit is near. */
static enum bracket_status bracket_from_point(const struct dp__query *q, double *u, size_t k,
					      struct bracket *out)
{
	double a = u[k], f_a = level_excess_with_input(q, u, k, a);
	double b = a < 0.5 ? a + first_step : a - first_step;
	double f_b = level_excess_with_input(q, u, k, b);

	for (int i = 0; i < BRACKET_STEPS; i++) {
		double next;

		*out = bracket_make(a, f_a, b, f_b);
		if ((f_a <= 0) != (f_b <= 0))
			return BRACKET_FOUND;
		if (!isfinite(f_a) || !isfinite(f_b) || f_a == f_b)
			return BRACKET_NOT_FOUND;
		next = extrapolate_to_level(a, f_a, b, f_b);
		if (next == b) {
			u[k] = b;
			return BRACKET_OUT_OF_REACH;
		}
		a = b;
		f_a = f_b;
		b = next;
		f_b = level_excess_with_input(q, u, k, b);
	}
	return BRACKET_NOT_FOUND;
}

/* Brackets the limit by both ends of the input. */
static enum bracket_status bracket_from_ends(const struct dp__query *q, double *u, size_t k,
					     struct bracket *out)
{
	double at_0 = level_excess_with_input(q, u, k, 0),
	       at_1 = level_excess_with_input(q, u, k, 1);

	*out = bracket_make(0, at_0, 1, at_1);
	if ((at_0 <= 0) != (at_1 <= 0))
		return BRACKET_FOUND;
	u[k] = (at_0 <= 0) == (at_0 >= at_1) ? 0 : 1;
	return BRACKET_OUT_OF_REACH;
}

/* Shrinks the bracket. u[k] becomes its end within the limit, which was evaluated. */
static void bracket_shrink(const struct dp__query *q, double *u, size_t k, struct bracket b)
{
	double least = -(q->use_exact ? fine_tolerance : coarse_tolerance) * q->reach_tolerance;
	double aim = 0.5 * least;

	for (int i = 0; i < BRACKET_EVALUATIONS && b.f_inside < least; i++) {
		double place = (b.inside * (b.f_outside - aim) - b.outside * (b.f_inside - aim)) /
			       (b.f_outside - b.f_inside),
		       f;

		/* false position; every third step bisects, in case of slow convergence */
		if (!isfinite(place) || i % 3 == 2)
			place = 0.5 * (b.inside + b.outside);
		if (place == b.inside || place == b.outside)
			break;
		f = level_excess_with_input(q, u, k, place);
		if (f <= 0) {
			b.inside = place;
			b.f_inside = f;
		} else {
			b.outside = place;
			b.f_outside = f;
		}
	}
	u[k] = b.inside;
}

/* The same for an integer input. */
static void bracket_shrink_integer(const struct dp__query *q, double *u, size_t k, struct bracket b)
{
	const struct dp__input *input = &q->p->encoding.inputs[k];
	double in = rint(dp__input_decode(input, b.inside)),
	       out = rint(dp__input_decode(input, b.outside));

	while (fabs(out - in) > 1) {
		double middle = floor(0.5 * (in + out));

		if (level_excess_with_input(q, u, k, dp__input_encode(input, middle)) <= 0)
			in = middle;
		else
			out = middle;
	}
	u[k] = dp__input_encode(input, in);
}

/* Calibrates input k. Returns false if the input cannot reach the limit; u[k] is then at the
 * closest end, one within the limit if possible. */
static bool calibrate_input(const struct dp__query *q, double *u, size_t k)
{
	enum dp__input_kind kind = q->p->encoding.inputs[k].kind;
	enum bracket_status found = BRACKET_NOT_FOUND;
	struct bracket b;

	if (kind == DP__INPUT_FLOAT)
		found = bracket_from_point(q, u, k, &b);
	if (found == BRACKET_NOT_FOUND)
		found = bracket_from_ends(q, u, k, &b);
	if (found == BRACKET_FOUND && kind == DP__INPUT_INT)
		bracket_shrink_integer(q, u, k, b);
	else if (found == BRACKET_FOUND)
		bracket_shrink(q, u, k, b);
	return found == BRACKET_FOUND;
}

/* ---- if noise alone is not enough ---- */

/* Finds the point of the least value from the middle of the space. Runs once per query. */
static void find_min_point(struct dp__query *q)
{
	const struct dp__encoding *in = &q->p->encoding;
	double low[DP_PARAMS_MAX];
	bool exactly = q->use_exact;

	middle_point(in, low);
	q->use_exact = true; /* a surrogate is unreliable in corners */
	for (size_t k = 0; k < in->d; k++) {
		bool matters = false;

		if (!in->inputs[k].is_pinned)
			q->min_point[k] =
				dp__encoding_min_input(in, k, level_excess, q, low, &matters);
		if (!matters)
			q->min_point[k] = NAN;
		else
			low[k] = q->min_point[k];
	}
	q->use_exact = exactly;
	q->has_min_point = true;
}

static void calibrate_inputs(const struct dp__query *q, double *u)
{
	bool reached = false;

	for (size_t i = 0; i < q->n_calibration_inputs && !reached; i++)
		reached = calibrate_input(q, u, q->calibration_inputs[i]);
}

void dp__calibrate_to_level(struct dp__query *q, double *u)
{
	if (!q->is_computed)
		return;
	calibrate_inputs(q, u);
	if (level_excess(q, u) <= 0)
		return;
	if (!q->has_min_point)
		find_min_point(q);
	(void)dp__encoding_pull(&q->p->encoding, level_excess, q, 0, LEVEL_BISECTIONS, q->min_point,
				u);
	calibrate_inputs(q, u);
}
