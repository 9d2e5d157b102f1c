/* slot_usage.c - time axes, attempts by slot, and slot usage over time. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fig_time_unit fig_choose_time_unit(double seconds)
{
	if (seconds < 180)
		return (struct fig_time_unit){ 1, "seconds" };
	if (seconds < 3 * 3600)
		return (struct fig_time_unit){ 60, "minutes" };
	if (seconds < 3 * 86400)
		return (struct fig_time_unit){ 3600, "hours" };
	return (struct fig_time_unit){ 86400, "days" };
}

void fig_set_time_axis(struct plot_panel *a, double length)
{
	struct fig_time_unit u = fig_choose_time_unit(length);
	char label[80];

	snprintf(label, sizeof label, "%s since the study was submitted", u.name);
	panel_axis(a, PLOT_X, label, PLOT_LINEAR);
	panel_limits(a, PLOT_X, 0, fmax(length, 1e-3) / u.seconds);
}

static double seconds_since_creation(int64_t created, int64_t us)
{
	return fmax((double)(us - created) / 1e6, 0);
}

/* Clamps times that are unknown or out of order (clock changes) to a consistent span. */
static struct fig_attempt_span span_of(const struct dp_study_state *st, const struct dp_trial *t,
				       const struct dp_attempt *a)
{
	struct fig_attempt_span s = { .trial = t->number,
				      .kind = a->end_class == DP_END_NONE       ? FIG_SPAN_RUNNING
					      : a->end_class == DP_END_OK       ? FIG_SPAN_OK
					      : a->end_class == DP_END_DIVERGED ? FIG_SPAN_DIVERGED
										: FIG_SPAN_FAILED };

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

/* The largest of n sorted values that is at most `limit`, or 0. */
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

/* Whether proposals from this source take time: those of models do, and all that ask an external
 * accountant. */
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

/* Finds when each proposal was requested: proposal_seconds before it was proposed, where the
 * journal has these, else right after the previous event. An immediate one is requested when a slot
 * is free. `ends` has room for n. */
static void find_request_times(const struct dp_study_state *st, struct fig_attempt_spans *s,
			       double *ends)
{
	for (size_t i = 0; i < s->n; i++)
		ends[i] = s->list[i].end;
	qsort(ends, s->n, sizeof *ends, fig_compare_doubles);
	for (size_t i = 0; i < s->n; i++) {
		struct fig_attempt_span *span = &s->list[i];
		const struct dp_trial *t = st->trials[span->trial];
		double earliest;

		span->requested = span->proposed;
		if (!proposal_takes_time(st->spec, t->source))
			continue;
		/* after the previous trial was proposed and the last attempt before it ended */
		earliest = last_not_above(ends, s->n, span->proposed);
		if (span->trial > 0)
			earliest = fmax(
				earliest,
				seconds_since_creation(st->created_us,
						       st->trials[span->trial - 1]->proposed_us));
		span->requested = fmin(earliest, span->proposed);
		if (t->proposal_seconds > 0)
			span->requested =
				fmax(span->requested, span->proposed - t->proposal_seconds);
		else
			s->has_estimated_times |= span->requested < span->proposed;
	}
}

int fig_collect_attempt_spans(struct arena *mem, const struct study_data *s,
			      struct fig_attempt_spans *out, struct dp_err *err)
{
	const struct dp_study_state *st = s->state;
	double *free_at;
	size_t n = 0;

	for (uint32_t i = 0; i < st->ntrials; i++)
		n += st->trials[i]->nattempts;
	if (n == 0)
		return fig_nothing(err, "no attempt has been made");
	/* re-evaluations run long after the search, by trials that are not shown here */
	*out = (struct fig_attempt_spans){
		.list = arena_calloc(mem, n, sizeof *out->list),
		.length = st->reevals.count ? 0
					    : seconds_since_creation(st->created_us, st->updated_us)
	};
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		for (uint32_t k = 0; k < t->nattempts; k++)
			out->list[out->n++] = span_of(st, t, &t->attempts[k]);
	}
	for (size_t i = 0; i < n; i++)
		out->length = fmax(out->length, out->list[i].end);
	qsort(out->list, n, sizeof *out->list, compare_span_plans);
	find_request_times(st, out, arena_calloc(mem, n, sizeof(double)));
	free_at = arena_calloc(mem, n, sizeof *free_at);
	/* first fit ordered by plan: never more slots than simultaneous attempts */
	for (size_t i = 0; i < n; i++) {
		size_t slot = 0;

		while (slot < out->slots && free_at[slot] > out->list[i].planned)
			slot++;
		if (slot == out->slots)
			out->slots++;
		free_at[slot] = out->list[i].end;
		out->list[i].slot = slot;
	}
	return DP_OK;
}

/* Adds the interval [from, end) of a slot to the bins. */
static void add_slot_time(double from, double end, size_t bins, double width, enum fig_slot_use use,
			  double *seconds)
{
	for (size_t bin = (size_t)(from / width); bin < bins && (double)bin * width < end; bin++) {
		double lo = fmax(from, (double)bin * width);
		/* rounding may end the last bin early */
		double hi = bin == bins - 1 ? end : fmin(end, (double)(bin + 1) * width);

		if (hi > lo)
			seconds[bin * FIG_USE_COUNT + use] += hi - lo;
	}
}

void fig_compute_slot_usage(const struct fig_attempt_spans *s, size_t bins, double *seconds)
{
	double width = s->length / (double)bins;
	double *accounted_until = dp_calloc(s->slots, sizeof *accounted_until);

	memset(seconds, 0, bins * FIG_USE_COUNT * sizeof *seconds);
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_attempt_span *span = &s->list[i];
		const struct {
			double end;
			enum fig_slot_use use;
		} phases[] = {
			{ span->requested, FIG_USE_WAITING },
			{ span->proposed, FIG_USE_PROPOSING },
			{ span->planned, FIG_USE_WAITING },
			{ span->start, FIG_USE_STARTING },
			{ span->end,
			  span->kind == FIG_SPAN_FAILED ? FIG_USE_FAILED : FIG_USE_TRAINING },
		};

		for (size_t k = 0; k < DP_COUNT(phases); k++) {
			double *until = &accounted_until[span->slot];

			if (!(phases[k].end > *until))
				continue;
			add_slot_time(*until, phases[k].end, bins, width, phases[k].use, seconds);
			*until = phases[k].end;
		}
	}
	for (size_t i = 0; i < s->slots; i++)
		add_slot_time(accounted_until[i], s->length, bins, width, FIG_USE_WAITING, seconds);
	free(accounted_until);
}
