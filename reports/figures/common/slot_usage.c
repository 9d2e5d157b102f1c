/* slot_usage.c - attempts as stretches of time in slots, and what the slots' time went to. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fig_attempt_spans_free(struct fig_attempt_spans *s)
{
	free(s->list);
	*s = (struct fig_attempt_spans){ 0 };
}

static enum fig_span_kind span_kind_of(const struct dp_attempt *a)
{
	switch (a->end_class) {
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

static double seconds_since_creation(int64_t created, int64_t us)
{
	return fmax((double)(us - created) / 1e6, 0);
}

/* What is unknown or came too early by the clocks is moved to where it fits. */
static struct fig_attempt_span span_of(const struct dp_study_state *st, const struct dp_trial *t,
				       const struct dp_attempt *a)
{
	struct fig_attempt_span s = { .trial = t->number, .kind = span_kind_of(a) };

	s.planned = seconds_since_creation(st->created_us, a->planned_us);
	s.proposed = fmin(seconds_since_creation(st->created_us, t->proposed_us), s.planned);
	s.start = a->started_us ? seconds_since_creation(st->created_us, a->started_us) : s.planned;
	s.start = fmax(s.start, s.planned);
	s.end = seconds_since_creation(st->created_us,
				       s.kind == FIG_SPAN_RUNNING ? st->updated_us : a->ended_us);
	s.end = fmax(s.end, s.start);
	return s;
}

static int compare_span_plans(const void *a, const void *b)
{
	const struct fig_attempt_span *u = a, *v = b;

	if (u->planned != v->planned)
		return u->planned < v->planned ? -1 : 1;
	return u->trial < v->trial ? -1 : u->trial > v->trial;
}

/* The last value of n sorted ones that is not above `limit`, or 0. */
static double last_not_above(const double *sorted, size_t n, double limit)
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
static bool proposal_takes_time(const struct dp_study *spec, const char *source)
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
static double earliest_request_time(const struct dp_study_state *st,
				    const struct fig_attempt_span *span, const double *ends,
				    size_t n)
{
	double at = last_not_above(ends, n, span->proposed);

	if (span->trial > 0)
		at = fmax(at, seconds_since_creation(st->created_us,
						     st->trials[span->trial - 1]->proposed_us));
	return fmin(at, span->proposed);
}

/* A point that is there at once is asked for when a slot can take it; others for as long
 * before they were found as the journal says they took. `ends` has room for n. */
static void find_request_times(const struct dp_study_state *st, struct fig_attempt_spans *s,
			       double *ends)
{
	for (size_t i = 0; i < s->n; i++)
		ends[i] = s->list[i].end;
	qsort(ends, s->n, sizeof *ends, fig_compare_doubles);
	for (size_t i = 0; i < s->n; i++) {
		struct fig_attempt_span *span = &s->list[i];
		const struct dp_trial *t = st->trials[span->trial];

		span->requested = span->proposed;
		if (!proposal_takes_time(st->spec, t->source))
			continue;
		span->requested = earliest_request_time(st, span, ends, s->n);
		if (t->proposal_seconds > 0)
			span->requested =
				fmax(span->requested, span->proposed - t->proposal_seconds);
		else
			s->has_estimated_times |= span->requested < span->proposed;
	}
}

/* First fit in the order of plans: never more slots than attempts at one time. */
static void find_slots(struct fig_attempt_spans *s, double *free_at)
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

int fig_collect_attempt_spans(const struct study_data *s, struct fig_attempt_spans *out,
			      struct dp_err *err)
{
	const struct dp_study_state *st = s->state;
	double *free_at;
	size_t n = 0;

	for (uint32_t i = 0; i < st->ntrials; i++)
		n += st->trials[i]->nattempts;
	/* Points are measured again when the search is long over, by trials that are not
	 * shown here. */
	*out = (struct fig_attempt_spans){
		.length = st->reevals.count ? 0
					    : seconds_since_creation(st->created_us, st->updated_us)
	};
	out->list = dp_malloc(n * sizeof *out->list + 1);
	free_at = dp_malloc(n * sizeof *free_at + 1);
	if (!out->list || !free_at) {
		free(free_at);
		fig_attempt_spans_free(out);
		return fig_nomem(err);
	}
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		for (uint32_t k = 0; k < t->nattempts; k++)
			out->list[out->n++] = span_of(st, t, &t->attempts[k]);
	}
	for (size_t i = 0; i < n; i++)
		out->length = fmax(out->length, out->list[i].end);
	qsort(out->list, n, sizeof *out->list, compare_span_plans);
	find_request_times(st, out, free_at);
	find_slots(out, free_at);
	free(free_at);
	return DP_OK;
}

/* ---- use of time ---- */

struct usage_bins {
	size_t count;
	double width;            /* of a bin */
	double *seconds;         /* (bins x FIG_USE_COUNT) */
	double *accounted_until; /* (slots): what is accounted for */
};

/* Accounts for the time of a slot up to `end`, if that is later than what is. */
static void usage_bins_add(struct usage_bins *t, size_t slot, double end, enum fig_slot_use use)
{
	double from = t->accounted_until[slot];

	if (!(end > from))
		return;
	t->accounted_until[slot] = end;
	for (size_t bin = (size_t)(from / t->width); bin < t->count && (double)bin * t->width < end;
	     bin++) {
		double lo = fmax(from, (double)bin * t->width);
		double hi = fmin(end, (double)(bin + 1) * t->width);

		if (bin == t->count - 1) /* its end may be rounded down */
			hi = end;
		if (hi > lo)
			t->seconds[bin * FIG_USE_COUNT + use] += hi - lo;
	}
}

int fig_compute_slot_usage(const struct fig_attempt_spans *s, size_t bins, double *seconds,
			   struct dp_err *err)
{
	struct usage_bins t = { .count = bins,
				.width = s->length / (double)bins,
				.seconds = seconds,
				.accounted_until =
					dp_calloc(s->slots + 1, sizeof *t.accounted_until) };

	if (!t.accounted_until)
		return fig_nomem(err);
	for (size_t i = 0; i < bins * FIG_USE_COUNT; i++)
		seconds[i] = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_attempt_span *span = &s->list[i];

		usage_bins_add(&t, span->slot, span->requested, FIG_USE_WAITING);
		usage_bins_add(&t, span->slot, span->proposed, FIG_USE_PROPOSING);
		usage_bins_add(&t, span->slot, span->planned, FIG_USE_WAITING);
		usage_bins_add(&t, span->slot, span->start, FIG_USE_STARTING);
		usage_bins_add(&t, span->slot, span->end,
			       span->kind == FIG_SPAN_FAILED ? FIG_USE_FAILED : FIG_USE_TRAINING);
	}
	for (size_t i = 0; i < s->slots; i++)
		usage_bins_add(&t, i, s->length, FIG_USE_WAITING);
	free(t.accounted_until);
	return DP_OK;
}
