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

/* A record's changes, made ready while nothing can fail any more. */
struct amending {
	struct dp__amended *version; /* NULL: no key changes */
	char *text, *path, *dir;     /* NULL: the file stays */
	char *budget_end;
};

static void amending_free(struct amending *a)
{
	free(a->version);
	free(a->text);
	free(a->path);
	free(a->dir);
	free(a->budget_end);
}

/* Keys that may change, in a new version of the study. */
static int amending_keys(const struct dp_study_state *st, const struct dp_event *e,
			 struct amending *a, struct dp_err *err)
{
	int code = DP_OK;

	a->version = malloc(sizeof *a->version);
	if (!a->version)
		return dp_fail(err, DP_E_NOMEM, "no memory for a change");
	*a->version = (struct dp__amended){ *st->now, st->amended };
	for (uint32_t i = 0; code == DP_OK && i < e->nchanges; i++)
		code = dp_study_change_text(&a->version->study, e->changes[i], err);
	if (code == DP_E_NOMEM)
		return code;
	if (code == DP_OK &&
	    (st->ntrials == 0 || a->version->study.search.initial == st->now->search.initial))
		return DP_OK;
	return dp_fail(err, DP_E_CORRUPT, "study %u cannot be changed as recorded", st->id);
}

/* The file as it reads now; what it means is what it meant, or among the changes. */
static int amending_file(const struct dp_study_state *st, const struct dp_event *e,
			 struct amending *a, struct dp_err *err)
{
	if (!*e->text || !e->dir || !*e->dir)
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given a file without its text or folder", st->id);
	if (dp__fold_text(&a->text, e->text) || dp__fold_text(&a->path, e->path) ||
	    dp__fold_text(&a->dir, e->dir))
		return dp_fail(err, DP_E_NOMEM, "no memory for a study file");
	return DP_OK;
}

static void text_exchange(char **a, char **b)
{
	char *kept = *a;

	*a = *b;
	*b = kept;
}

static void amending_commit(struct dp_study_state *st, const struct dp_event *e, struct amending *a)
{
	if (a->text) {
		text_exchange(&st->text, &a->text);
		text_exchange(&st->path, &a->path);
		text_exchange(&st->dir, &a->dir);
	}
	if (a->version) {
		st->amended = a->version;
		st->now = &a->version->study;
		a->version = NULL;
		st->timed |= st->now->search.max_time > 0;
		/* decided with the study's creation, when nobody else has read it yet */
		if (st->spec->search.initial != st->now->search.initial)
			st->spec->search.initial = st->now->search.initial;
	}
	if (!isnan(e->evaluations)) {
		text_exchange(&st->budget_end, &a->budget_end);
		st->evaluations = (uint32_t)e->evaluations;
		if (st->ntrials < st->evaluations && st->measured.rest == DP_STUDY_FINISHED)
			dp__measure_searches(st);
	}
	if (!isnan(e->parallel))
		st->parallel = (uint32_t)e->parallel;
	if (!isnan(e->priority))
		st->priority = (int)e->priority;
}

int dp__fold_amended(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct amending a = { 0 };
	int code = DP_OK;

	if (!amendable(e->evaluations, 0, UINT32_MAX) || !amendable(e->parallel, 0, UINT32_MAX) ||
	    !amendable(e->priority, INT_MIN, INT_MAX))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given what is no number of "
			       "evaluations, trainers or priority",
			       st->id);
	if (e->text)
		code = amending_file(st, e, &a, err);
	if (code == DP_OK && e->nchanges)
		code = amending_keys(st, e, &a, err);
	if (code == DP_OK && dp__fold_text(&a.budget_end, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	if (code == DP_OK)
		amending_commit(st, e, &a);
	amending_free(&a);
	return code;
}
