/* tune.c - noise that is just enough: moves a point to where what is computed of it, such
 * as epsilon, comes up to a limit and does not exceed it.
 *
 * Along the input that is the noise the value is monotone, so that a bracket and false
 * position find the place in a few evaluations. Nothing breaks where it is not: the point
 * that is kept has been evaluated. */
#include "propose/recommend_internal.h"

#include <math.h>
#include <string.h>

enum {
	TRIES = 60, /* evaluations of one bracket */
	WALKS = 12, /* steps to find one */
	PULLS = 24  /* halvings of the way to where the value is least */
};

static const double first_step = 0.01; /* of an input's range */
/* The part of `near` that is left while points are compared, and in the end. It is not
 * what a limit counts as reached by: an accountant's number may jump a little. */
static const double coarse = 0.5, fine = 0.02;

/* How far the limit is exceeded with input k at a place. */
static double excess_with(const struct dp__question *q, double *u, size_t k, double place)
{
	double kept = u[k], value;

	u[k] = place;
	value = dp__question_value(q, q->held, u) - q->most;
	u[k] = kept;
	return value;
}

static double excess(const struct dp__question *q, double *u)
{
	return excess_with(q, u, 0, u[0]);
}

/* ---- which inputs ---- */

static void middle_point(const struct dp__inputs *in, double *u)
{
	for (size_t k = 0; k < in->d; k++)
		u[k] = in->in[k].kind == DP__CATEGORY ? 0 : in->in[k].pinned ? 1 : 0.5;
	dp__snap(in, u);
}

static void add_tuned(struct dp__question *q, size_t input)
{
	if (q->p->inputs.in[input].values > 1)
		q->tuned[q->ntuned++] = input;
}

/* Where no noise is known or searched: the continuous inputs, those first between whose
 * ends the value changes most, as seen from the middle of the space. */
static void rank_inputs(struct dp__question *q)
{
	double u[DP_PARAMS_MAX], change[DP_PARAMS_MAX];
	const struct dp__inputs *in = &q->p->inputs;

	middle_point(in, u);
	for (size_t k = 0; k < in->d; k++) {
		size_t at = q->ntuned;

		if (in->in[k].kind != DP__FLOAT || in->in[k].pinned)
			continue;
		change[k] = fabs(excess_with(q, u, k, 1) - excess_with(q, u, k, 0));
		if (!(change[k] > 0))
			continue;
		add_tuned(q, k);
		for (; at < q->ntuned && at > 0 && change[q->tuned[at]] > change[q->tuned[at - 1]];
		     at--) {
			q->tuned[at] = q->tuned[at - 1];
			q->tuned[at - 1] = k;
		}
	}
}

void dp__tune_prepare(struct dp__question *q)
{
	const struct dp__inputs *in = &q->p->inputs;
	size_t params[DP_PRIVACY_ITEMS_MAX], n;

	q->ntuned = 0;
	n = dp_noise_params(q->p->study, q->held, params);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < in->d; k++)
			if (in->in[k].param == params[i] && !in->in[k].pinned)
				add_tuned(q, k);
	if (q->ntuned == 0) /* whatever else is searched */
		rank_inputs(q);
	q->tunes = q->ntuned > 0;
}

/* ---- one input ---- */

/* A bracket: `in` is within the limit, `out` beyond it. */
struct bracket {
	double in, out, f_in, f_out;
};

static struct bracket bracket_of(double a, double f_a, double b, double f_b)
{
	return f_a <= 0 ? (struct bracket){ a, b, f_a, f_b } : (struct bracket){ b, a, f_b, f_a };
}

/* Where to look next, after the places a and b on the same side of the limit: where a
 * line through both reaches it, and a little further, but within the input's range. */
static double place_beyond(double a, double f_a, double b, double f_b)
{
	double step = -f_b * (b - a) / (f_b - f_a);

	step = 1.1 * step + (step < 0 ? -0.002 : 0.002);
	return fmin(fmax(b + fmin(fmax(step, -0.25), 0.25), 0), 1);
}

/* What a look for a bracket came to. */
enum bracketed {
	IN_A_BRACKET,
	AT_AN_END, /* the limit is out of reach: u is at the end that is closest */
	LOST
};

/* Looks from where u is, which takes little if that is near. */
static enum bracketed bracket_from(const struct dp__question *q, double *u, size_t k,
				   struct bracket *out)
{
	double a = u[k], f_a = excess_with(q, u, k, a);
	double b = a < 0.5 ? a + first_step : a - first_step;
	double f_b = excess_with(q, u, k, b);

	for (int i = 0; i < WALKS; i++) {
		double next;

		*out = bracket_of(a, f_a, b, f_b);
		if ((f_a <= 0) != (f_b <= 0))
			return IN_A_BRACKET;
		if (!isfinite(f_a) || !isfinite(f_b) || f_a == f_b)
			return LOST;
		next = place_beyond(a, f_a, b, f_b);
		if (next == b) {
			u[k] = b;
			return AT_AN_END;
		}
		a = b;
		f_a = f_b;
		b = next;
		f_b = excess_with(q, u, k, b);
	}
	return LOST;
}

/* Looks at both ends. */
static enum bracketed bracket_whole(const struct dp__question *q, double *u, size_t k,
				    struct bracket *out)
{
	double at_0 = excess_with(q, u, k, 0), at_1 = excess_with(q, u, k, 1);

	*out = bracket_of(0, at_0, 1, at_1);
	if ((at_0 <= 0) != (at_1 <= 0))
		return IN_A_BRACKET;
	u[k] = (at_0 <= 0) == (at_0 >= at_1) ? 0 : 1;
	return AT_AN_END;
}

static double bracket_place(const struct bracket *b, double aim, int tries)
{
	double t = (b->in * (b->f_out - aim) - b->out * (b->f_in - aim)) / (b->f_out - b->f_in);

	/* false position, now and then halved: it may creep */
	return isfinite(t) && tries % 3 != 2 ? t : 0.5 * (b->in + b->out);
}

/* Closes in on the limit from within: u[k] ends at a place that was evaluated. */
static void close_in(const struct dp__question *q, double *u, size_t k, struct bracket b)
{
	double least = -(q->exactly ? fine : coarse) * q->near;

	for (int i = 0; i < TRIES && b.f_in < least; i++) {
		double place = bracket_place(&b, 0.5 * least, i), f;

		if (place == b.in || place == b.out)
			break;
		f = excess_with(q, u, k, place);
		if (f <= 0) {
			b.in = place;
			b.f_in = f;
		} else {
			b.out = place;
			b.f_out = f;
		}
	}
	u[k] = b.in;
}

/* The same among whole numbers. */
static void close_in_whole(const struct dp__question *q, double *u, size_t k, struct bracket b)
{
	const struct dp__input *input = &q->p->inputs.in[k];
	double in = rint(dp__native(input, b.in)), out = rint(dp__native(input, b.out));

	while (fabs(out - in) > 1) {
		double middle = floor(0.5 * (in + out));

		if (excess_with(q, u, k, dp__place_of(input, middle)) <= 0)
			in = middle;
		else
			out = middle;
	}
	u[k] = dp__place_of(input, in);
}

/* Is the limit within the input's reach? Else it goes to the end that is closest, from
 * below if it can. */
static bool tune_input(const struct dp__question *q, double *u, size_t k)
{
	enum dp__input_kind kind = q->p->inputs.in[k].kind;
	enum bracketed found = LOST;
	struct bracket b;

	if (kind == DP__FLOAT)
		found = bracket_from(q, u, k, &b);
	if (found == LOST)
		found = bracket_whole(q, u, k, &b);
	if (found == IN_A_BRACKET && kind == DP__INT)
		close_in_whole(q, u, k, b);
	else if (found == IN_A_BRACKET)
		close_in(q, u, k, b);
	return found == IN_A_BRACKET;
}

/* ---- beyond the reach of noise ---- */

/* Where an input, with the others as they are, has the least value: an end, or any of the
 * categories. NaN: it has no say. */
static double least_place(const struct dp__question *q, double *u, size_t k)
{
	const struct dp__input *in = &q->p->inputs.in[k];
	double best = u[k], here = excess(q, u), least = here;
	size_t places = in->kind == DP__CATEGORY ? (size_t)in->values : 2;
	bool matters = false;

	for (size_t i = 0; i < places && in->values > 1; i++) {
		double value = excess_with(q, u, k, (double)i);

		matters |= value != here;
		if (value < least) {
			least = value;
			best = (double)i;
		}
	}
	return matters ? best : NAN;
}

/* Finds it once, from the middle of the space. */
static void find_low(struct dp__question *q)
{
	const struct dp__inputs *in = &q->p->inputs;
	double low[DP_PARAMS_MAX];
	bool exactly = q->exactly;

	middle_point(in, low);
	q->exactly = true; /* a model knows little of corners */
	for (size_t k = 0; k < in->d; k++) {
		q->low[k] = in->in[k].pinned ? NAN : least_place(q, low, k);
		if (!isnan(q->low[k]))
			low[k] = q->low[k];
	}
	q->exactly = exactly;
	q->has_low = true;
}

/* The point of the space that is so far on the way from the least point to `from`. What
 * has no say in the value is as it is there. */
static void point_towards(const struct dp__question *q, const double *from, double far, double *u)
{
	const struct dp__inputs *in = &q->p->inputs;

	for (size_t k = 0; k < in->d; k++)
		u[k] = isnan(q->low[k])                 ? from[k]
		       : in->in[k].kind == DP__CATEGORY ? q->low[k]
							: q->low[k] + far * (from[k] - q->low[k]);
	dp__snap(in, u);
}

/* Pulls u towards the least point until it is within the limit. */
static void pull_within(struct dp__question *q, double *u)
{
	double from[DP_PARAMS_MAX], at[DP_PARAMS_MAX], near = 0, far = 1;

	if (!q->has_low)
		find_low(q);
	memcpy(from, u, q->p->inputs.d * sizeof *from);
	point_towards(q, from, 0, u);
	if (excess(q, u) > 0)
		return; /* nothing is within */
	for (int i = 0; i < PULLS; i++) {
		double part = 0.5 * (near + far);

		point_towards(q, from, part, at);
		if (excess(q, at) <= 0) {
			memcpy(u, at, q->p->inputs.d * sizeof *u);
			near = part;
		} else {
			far = part;
		}
	}
}

static void tune_inputs(const struct dp__question *q, double *u)
{
	bool reached = false;

	for (size_t i = 0; i < q->ntuned && !reached; i++)
		reached = tune_input(q, u, q->tuned[i]);
}

void dp__tune(struct dp__question *q, double *u)
{
	if (!q->computed)
		return;
	tune_inputs(q, u);
	if (excess(q, u) <= 0)
		return;
	pull_within(q, u);
	tune_inputs(q, u);
}
