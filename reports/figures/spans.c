/* spans.c - attempts as stretches of time in slots, and what the slots' time went to. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fig_spans_free(struct fig_spans *s)
{
	free(s->list);
	*s = (struct fig_spans){ 0 };
}

static enum fig_span_kind span_kind_of(const struct dp_attempt *a)
{
	switch (a->end) {
	case DP_END_NONE:
		return FIG_SPAN_RUNNING;
	case DP_END_OK:
		return FIG_SPAN_OK;
	case DP_END_DIVERGED:
		return FIG_SPAN_DIVERGED;
	default:
		return FIG_SPAN_FAILED;
	}
}

static double seconds_since(int64_t created, int64_t us)
{
	return fmax((double)(us - created) / 1e6, 0);
}

/* What is unknown or came too early by the clocks is moved to where it fits. */
static struct fig_span span_of(const struct dp_study_state *st, const struct dp_trial *t,
			       const struct dp_attempt *a)
{
	struct fig_span s = { .trial = t->number, .kind = span_kind_of(a) };

	s.planned = seconds_since(st->created, a->planned);
	s.proposed = fmin(seconds_since(st->created, t->proposed), s.planned);
	s.start = a->started ? seconds_since(st->created, a->started) : s.planned;
	s.start = fmax(s.start, s.planned);
	s.end = seconds_since(st->created, s.kind == FIG_SPAN_RUNNING ? st->updated : a->ended);
	s.end = fmax(s.end, s.start);
	return s;
}

static int by_plan(const void *a, const void *b)
{
	const struct fig_span *u = a, *v = b;

	if (u->planned != v->planned)
		return u->planned < v->planned ? -1 : 1;
	return u->trial < v->trial ? -1 : u->trial > v->trial;
}

/* The last value of n sorted ones that is not above `limit`, or 0. */
static double last_before(const double *sorted, size_t n, double limit)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sorted[mid] <= limit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? sorted[lo - 1] : 0;
}

/* Does it take time to find such a point? By models, or with a program to ask for its
 * epsilon. A point that people enqueue is found by them. */
static bool is_sought(const struct dp_study *spec, const char *source)
{
	static const char *const at_once[] = { "grid", "random", "initial", "enqueued" };

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy && spec->objectives[i].privacy->argv)
			return true;
	for (size_t i = 0; i < DP_COUNT(at_once); i++)
		if (strcmp(source, at_once[i]) == 0)
			return false;
	return true;
}

/* The earliest that it can have been asked for: when the trial before it had been
 * proposed and the last attempt before it had ended. */
static double asked_earliest(const struct dp_study_state *st, const struct fig_span *span,
			     const double *ends, size_t n)
{
	double at = last_before(ends, n, span->proposed);

	if (span->trial > 0)
		at = fmax(at, seconds_since(st->created, st->trials[span->trial - 1]->proposed));
	return fmin(at, span->proposed);
}

/* A point that is there at once is asked for when a slot can take it; others for as long
 * before they were found as the journal says they took. `ends` has room for n. */
static void find_asked(const struct dp_study_state *st, struct fig_spans *s, double *ends)
{
	for (size_t i = 0; i < s->n; i++)
		ends[i] = s->list[i].end;
	qsort(ends, s->n, sizeof *ends, fig_by_value);
	for (size_t i = 0; i < s->n; i++) {
		struct fig_span *span = &s->list[i];
		const struct dp_trial *t = st->trials[span->trial];

		span->asked = span->proposed;
		if (!is_sought(st->spec, t->source))
			continue;
		span->asked = asked_earliest(st, span, ends, s->n);
		if (t->sought > 0)
			span->asked = fmax(span->asked, span->proposed - t->sought);
		else
			s->guessed |= span->asked < span->proposed;
	}
}

/* First fit in the order of plans: never more slots than attempts at one time. */
static void find_slots(struct fig_spans *s, double *free_at)
{
	for (size_t i = 0; i < s->n; i++) {
		size_t slot = 0;

		while (slot < s->slots && free_at[slot] > s->list[i].planned)
			slot++;
		if (slot == s->slots)
			s->slots++;
		free_at[slot] = s->list[i].end;
		s->list[i].slot = slot;
	}
}

int fig_spans(const struct subject *s, struct fig_spans *out, struct dp_err *err)
{
	const struct dp_study_state *st = s->s;
	double *free_at;
	size_t n = 0;

	for (uint32_t i = 0; i < st->ntrials; i++)
		n += st->trials[i]->nattempts;
	/* Points are measured again when the search is long over, by trials that are not
	 * shown here. */
	*out = (struct fig_spans){ .length = st->measured.n
						     ? 0
						     : seconds_since(st->created, st->updated) };
	out->list = malloc(n * sizeof *out->list + 1);
	free_at = malloc(n * sizeof *free_at + 1);
	if (!out->list || !free_at) {
		free(free_at);
		fig_spans_free(out);
		return fig_nomem(err);
	}
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		for (uint32_t k = 0; k < t->nattempts; k++)
			out->list[out->n++] = span_of(st, t, &t->attempts[k]);
	}
	for (size_t i = 0; i < n; i++)
		out->length = fmax(out->length, out->list[i].end);
	qsort(out->list, n, sizeof *out->list, by_plan);
	find_asked(st, out, free_at);
	find_slots(out, free_at);
	free(free_at);
	return DP_OK;
}

/* ---- use of time ---- */

struct tally {
	size_t bins;
	double width;    /* of a bin */
	double *seconds; /* (bins x FIG_USES) */
	double *reached; /* (slots): what is accounted for */
};

/* Accounts for the time of a slot up to `end`, if that is later than what is. */
static void tally_spend(struct tally *t, size_t slot, double end, enum fig_use use)
{
	double from = t->reached[slot];

	if (!(end > from))
		return;
	t->reached[slot] = end;
	for (size_t bin = (size_t)(from / t->width); bin < t->bins && (double)bin * t->width < end;
	     bin++) {
		double lo = fmax(from, (double)bin * t->width);
		double hi = fmin(end, (double)(bin + 1) * t->width);

		if (bin == t->bins - 1) /* its end may be rounded down */
			hi = end;
		if (hi > lo)
			t->seconds[bin * FIG_USES + use] += hi - lo;
	}
}

int fig_use_of_time(const struct fig_spans *s, size_t bins, double *seconds, struct dp_err *err)
{
	struct tally t = { .bins = bins,
			   .width = s->length / (double)bins,
			   .seconds = seconds,
			   .reached = calloc(s->slots + 1, sizeof *t.reached) };

	if (!t.reached)
		return fig_nomem(err);
	for (size_t i = 0; i < bins * FIG_USES; i++)
		seconds[i] = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_span *span = &s->list[i];

		tally_spend(&t, span->slot, span->asked, FIG_USE_WAITING);
		tally_spend(&t, span->slot, span->proposed, FIG_USE_PROPOSING);
		tally_spend(&t, span->slot, span->planned, FIG_USE_WAITING);
		tally_spend(&t, span->slot, span->start, FIG_USE_STARTING);
		tally_spend(&t, span->slot, span->end,
			    span->kind == FIG_SPAN_FAILED ? FIG_USE_FAILED : FIG_USE_TRAINING);
	}
	for (size_t i = 0; i < s->slots; i++)
		tally_spend(&t, i, s->length, FIG_USE_WAITING);
	free(t.reached);
	return DP_OK;
}
