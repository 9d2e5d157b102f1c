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
