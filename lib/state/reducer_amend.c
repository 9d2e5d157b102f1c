/* reducer_amend.c - applies changes that a user made to an existing study. */
#include "state/state_internal.h"
#include "study/study_change.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True for NaN (unchanged) or a number in the range of the study's field. */
static bool is_amendable_number(double v, double lo, double hi)
{
	return isnan(v) || (v >= lo && v <= hi);
}

/* All changes of a record, allocated first so that applying them cannot fail. */
struct spec_amendment {
	struct dp__spec_version *spec_version; /* NULL: no key changes */
	char *text, *path, *dir;               /* NULL: the file stays */
	char *budget_end_reason;
};

static void amendment_free(struct spec_amendment *a)
{
	free(a->spec_version);
	free(a->text);
	free(a->path);
	free(a->dir);
	free(a->budget_end_reason);
}

static int amendment_set_keys(const struct dp_study_state *st, const struct dp_event *e,
			      struct spec_amendment *a, struct dp_err *err)
{
	int code = DP_OK;

	a->spec_version = dp_malloc(sizeof *a->spec_version);
	*a->spec_version = (struct dp__spec_version){ *st->current_spec, st->spec_versions };
	for (uint32_t i = 0; code == DP_OK && i < e->study_amended.nchanges; i++)
		code = dp_study_apply_change(&a->spec_version->spec, e->study_amended.changes[i],
					     err);
	if (code == DP_E_NOMEM)
		return code;
	if (code == DP_OK && (st->ntrials == 0 || a->spec_version->spec.search.initial ==
							  st->current_spec->search.initial))
		return DP_OK;
	return dp_fail(err, DP_E_CORRUPT, "study %u cannot be changed as recorded", st->id);
}

/* Takes the new text of the file. It has the old meaning, apart from the recorded changes. */
static int amendment_set_file(const struct dp_study_state *st, const struct dp_event *e,
			      struct spec_amendment *a, struct dp_err *err)
{
	if (!*e->study_amended.text || !e->study_amended.dir || !*e->study_amended.dir)
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given a file without its text or folder", st->id);
	if (dp__replace_string(&a->text, e->study_amended.text) ||
	    dp__replace_string(&a->path, e->study_amended.path) ||
	    dp__replace_string(&a->dir, e->study_amended.dir))
		return dp_fail(err, DP_E_NOMEM, "no memory for a study file");
	return DP_OK;
}

static void swap_strings(char **a, char **b)
{
	char *kept = *a;

	*a = *b;
	*b = kept;
}

static void amendment_apply(struct dp_study_state *st, const struct dp_event *e,
			    struct spec_amendment *a)
{
	if (a->text) {
		swap_strings(&st->text, &a->text);
		swap_strings(&st->path, &a->path);
		swap_strings(&st->dir, &a->dir);
	}
	if (a->spec_version) {
		st->spec_versions = a->spec_version;
		st->current_spec = &a->spec_version->spec;
		a->spec_version = NULL;
		st->had_max_time |= st->current_spec->search.max_time > 0;
		/* Fixed before the first trial, while no other thread reads `spec`. */
		if (st->spec->search.initial != st->current_spec->search.initial)
			st->spec->search.initial = st->current_spec->search.initial;
	}
	if (!isnan(e->study_amended.evaluations)) {
		swap_strings(&st->budget_end_reason, &a->budget_end_reason);
		st->evaluations = (uint32_t)e->study_amended.evaluations;
		if (st->ntrials < st->evaluations && st->reevals.resume_state == DP_STUDY_FINISHED)
			dp__reevals_clear_resume_state(st);
	}
	if (!isnan(e->study_amended.parallel))
		st->parallel = (uint32_t)e->study_amended.parallel;
	if (!isnan(e->study_amended.priority))
		st->priority = (int)e->study_amended.priority;
}

int dp__reduce_study_amended(struct dp_study_state *st, const struct dp_event *e,
			     struct dp_err *err)
{
	struct spec_amendment a = { 0 };
	int code = DP_OK;

	if (!is_amendable_number(e->study_amended.evaluations, 0, UINT32_MAX) ||
	    !is_amendable_number(e->study_amended.parallel, 0, UINT32_MAX) ||
	    !is_amendable_number(e->study_amended.priority, INT_MIN, INT_MAX))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u is given what is no number of "
			       "evaluations, trainers or priority",
			       st->id);
	if (e->study_amended.text)
		code = amendment_set_file(st, e, &a, err);
	if (code == DP_OK && e->study_amended.nchanges)
		code = amendment_set_keys(st, e, &a, err);
	if (code == DP_OK && dp__replace_string(&a.budget_end_reason, e->reason))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	if (code == DP_OK)
		amendment_apply(st, e, &a);
	amendment_free(&a);
	return code;
}
