/* fold_amended.c - folds in what a person changed of a study that goes on. */
#include "journal/state_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Is this left as it is, or a number that the study's own can hold? */
static bool amendable(double v, double lo, double hi)
{
	return isnan(v) || (v >= lo && v <= hi);
}

/* Keys that may change. The first version stays as it is, but for what is decided when a
 * study is submitted: nobody has read it by then. */
static int fold_changes(struct dp_study_state *st, const struct dp_event *e,
			struct dp_err *err)
{
	struct dp__amended *new = malloc(sizeof *new);
	int code = DP_OK;

	if (!new)
		return dp_fail(err, DP_E_NOMEM, "no memory for a change");
	*new = (struct dp__amended){ *st->now, st->amended };
	for (uint32_t i = 0; code == DP_OK && i < e->nchanges; i++)
		code = dp_study_change_text(&new->study, e->changes[i], err);
	if (code == DP_OK && new->study.search.initial != st->now->search.initial &&
	    st->ntrials)
		code = dp_fail(err, DP_E_INVALID, "search.initial is decided too late");
	if (code != DP_OK) {
		free(new);
		return code == DP_E_NOMEM
			       ? code
			       : dp_fail(err, DP_E_CORRUPT,
					 "study %u cannot be changed as recorded",
					 st->id);
	}
	if (st->ntrials == 0 && st->spec->search.initial != new->study.search.initial)
		st->spec->search.initial = new->study.search.initial;
	st->amended = new;
	st->now = &new->study;
	st->timed |= st->now->search.max_time > 0;
	return DP_OK;
}

/* The file as it reads now; what it means is what it meant, or among the changes. */
static int fold_file(struct dp_study_state *st, const struct dp_event *e,
		     struct dp_err *err)
{
	char *text = NULL, *path = NULL, *dir = NULL;

	if (!*e->text || !e->dir || !*e->dir)
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given a file without its text or folder",
			       st->id);
	if (dp__fold_text(&text, e->text) || dp__fold_text(&path, e->path) ||
	    dp__fold_text(&dir, e->dir)) {
		free(text);
		free(path);
		return dp_fail(err, DP_E_NOMEM, "no memory for a study file");
	}
	free(st->text);
	free(st->path);
	free(st->dir);
	st->text = text;
	st->path = path;
	st->dir = dir;
	return DP_OK;
}

int dp__fold_amended(struct dp_study_state *st, const struct dp_event *e,
		     struct dp_err *err)
{
	int code;

	if (!amendable(e->evaluations, 0, UINT32_MAX) ||
	    !amendable(e->parallel, 0, UINT32_MAX) ||
	    !amendable(e->priority, INT_MIN, INT_MAX))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given what is no number of "
			       "evaluations, trainers or priority",
			       st->id);
	if (!isnan(e->evaluations) && dp__fold_text(&st->budget_end, e->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	code = e->text ? fold_file(st, e, err) : DP_OK;
	if (code == DP_OK && e->nchanges)
		code = fold_changes(st, e, err);
	if (code != DP_OK)
		return code;
	if (!isnan(e->evaluations))
		st->evaluations = (uint32_t)e->evaluations;
	if (!isnan(e->parallel))
		st->parallel = (uint32_t)e->parallel;
	if (!isnan(e->priority))
		st->priority = (int)e->priority;
	return DP_OK;
}
