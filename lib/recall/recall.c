/* recall.c - a study's results as a proposer takes them. */
#include "recall/recall.h"

#include "course/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void forget_values(struct dp_known *k)
{
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++)
		k->y[i] = k->var[i] = NAN;
	for (size_t i = 0; i < DP_CONSTRAINTS_MAX; i++)
		k->metric[i] = NAN;
	k->at = k->seconds = 0;
}

static enum dp_known_status recall_status(const struct dp_trial *t)
{
	if (t->status < DP_TRIAL_OK)
		return DP_KNOWN_PENDING;
	if (t->status == DP_TRIAL_OK)
		return DP_KNOWN_OK;
	return t->status == DP_TRIAL_DIVERGED ? DP_KNOWN_DIVERGED : DP_KNOWN_FAILED;
}

static void recall_trial(const struct dp_study_state *s, const struct dp_trial *t,
			 bool hidden, struct dp_known *k)
{
	const struct dp_study *spec = s->spec;

	k->trial = t->number;
	memcpy(k->x, t->x, spec->nparams * sizeof *t->x);
	k->status = hidden ? DP_KNOWN_PENDING : recall_status(t);
	forget_values(k);
	if (k->status != DP_KNOWN_OK && k->status != DP_KNOWN_DIVERGED)
		return;
	k->seconds = dp_trial_seconds(t);
	for (size_t i = 0; t->objectives && i < spec->nobjectives; i++) {
		k->y[i] = t->objectives[i];
		if (spec->objectives[i].metric)
			k->var[i] = dp_trial_mean_variance(
				s, t, dp_study_metric(s, spec->objectives[i].metric));
	}
	for (size_t i = 0; i < spec->nconstraints; i++)
		k->metric[i] = dp_trial_mean(
			s, t, dp_study_metric(s, spec->constraints[i].metric));
}

static void recall_imported(const struct dp_study_state *s,
			    const struct dp_imported *from, struct dp_known *k)
{
	bool whole = true;

	memcpy(k->x, from->x, s->spec->nparams * sizeof *k->x);
	forget_values(k);
	for (size_t j = 0; j < s->spec->nobjectives; j++) {
		k->y[j] = from->objectives[j];
		whole &= isfinite(k->y[j]);
	}
	k->status = whole ? DP_KNOWN_OK : DP_KNOWN_DIVERGED;
}

struct dp_known *dp_recall(const struct dp_study_state *s, bool for_proposal, size_t *n)
{
	struct dp_known *known = calloc((size_t)s->nimported + s->ntrials + 1,
					sizeof *known),
			*k = known;
	uint32_t window = for_proposal ? dp_course_window(s) : s->ntrials;

	*n = 0;
	if (!known)
		return NULL;
	for (uint32_t i = 0; i < s->nimported; i++)
		recall_imported(s, &s->imported[i], k++);
	for (uint32_t i = 0; i < s->ntrials; i++)
		recall_trial(s, s->trials[i], i >= window, k++);
	*n = (size_t)(k - known);
	return known;
}

/* ---- for people ---- */

static bool is_ended_result(const struct dp_trial *t)
{
	return t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;
}

/* Does one of `steps` even steps through n things end at the i-th? */
static bool is_step(size_t i, size_t n, size_t steps)
{
	return steps >= n || i * steps / n != (i + 1) * steps / n;
}

/* Marks the trials of the observed front that are taken; how many. */
static size_t results_of_front(const struct dp_study_state *s, bool *taken)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nfront; i++) {
		bool take = is_step(i, s->nfront, DP_RESULTS_MAX);

		taken[s->front[i].trial] = take;
		n += take;
	}
	return n;
}

/* Where trials are among the results, by number; -1: not there. */
static void results_find_front(const struct dp_study_state *s, const int64_t *place,
			       struct dp_results *out)
{
	for (uint32_t i = 0; i < s->nfront; i++)
		if (place[s->front[i].trial] >= 0)
			out->front[out->nfront++] = (size_t)place[s->front[i].trial];
}

static void results_take(const struct dp_study_state *s, const bool *taken, size_t steps,
			 int64_t *place, struct dp_results *out)
{
	size_t all = (size_t)s->nimported + s->ok + s->diverged, seen = 0;

	for (uint32_t i = 0; i < s->nimported; i++)
		if (is_step(seen++, all, steps))
			recall_imported(s, &s->imported[i], &out->known[out->n++]);
	out->imported = out->n;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		place[i] = -1;
		if (!is_ended_result(s->trials[i]) ||
		    !(is_step(seen++, all, steps) || taken[i]))
			continue;
		place[i] = (int64_t)out->n;
		recall_trial(s, s->trials[i], false, &out->known[out->n++]);
	}
}

int dp_results_recall(struct dp_study_state *s, struct dp_results *out,
		      struct dp_err *err)
{
	size_t all = (size_t)s->nimported + s->ok + s->diverged;
	bool *taken = calloc((size_t)s->ntrials + 1, sizeof *taken);
	int64_t *place = calloc((size_t)s->ntrials + 1, sizeof *place);
	size_t of_front, steps = all, room;
	int code = dp_study_front(s, err);

	*out = (struct dp_results){ 0 };
	if (code == DP_OK && taken && place) {
		of_front = results_of_front(s, taken);
		if (all > DP_RESULTS_MAX)
			steps = DP_RESULTS_MAX - of_front;
		room = steps + of_front + 1;
		out->known = calloc(room, sizeof *out->known);
		out->front = calloc(of_front + 1, sizeof *out->front);
	}
	if (out->known && out->front) {
		results_take(s, taken, steps, place, out);
		results_find_front(s, place, out);
	} else if (code == DP_OK) {
		dp_results_free(out);
		code = dp_fail(err, DP_E_NOMEM, "no memory for the results of a study");
	}
	free(taken);
	free(place);
	return code;
}

void dp_results_free(struct dp_results *r)
{
	free(r->known);
	free(r->front);
	*r = (struct dp_results){ 0 };
}
