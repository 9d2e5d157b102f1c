/* public_view.c - copies of private selections without their secrets. */
#include "state/public_view.h"

#include "state/state_internal.h"
#include "study/diagnostics.h"
#include "study/private_selection.h"
#include "study/study_file.h"

#include <stdlib.h>
#include <string.h>

/* A copy of a study without its secrets. It shares the original's memory, except `spec`, which must
 * not have the secret seed, and the front. */
struct dp__public_view {
	struct dp_study_state study;
	struct dp_study current_spec; /* the original's, without its secrets */
	struct dp_trial selected_trial, *trials[1];
	struct dp_attempt attempt;
	uint32_t source_changes; /* `changes` of the original when this was made */
};

void dp__public_view_free(struct dp__public_view *view)
{
	if (!view)
		return;
	dp_study_free(view->study.spec);
	free(view->study.front);
	free(view);
}

bool dp_state_is_private_selection(const struct dp_study_state *s)
{
	return s->spec->search.method == DP_METHOD_SELECT;
}

/* On a tie the first trial wins: the draws are independent, so the order is random. */
const struct dp_trial *dp_state_selected_trial(const struct dp_study_state *s)
{
	size_t utility = dp_select_utility_objective(s->spec);
	const struct dp_trial *best = NULL;

	if (s->status != DP_STUDY_FINISHED)
		return NULL;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		double value, least;

		if (t->status != DP_TRIAL_OK || !t->objectives)
			continue;
		value = t->objectives[utility];
		least = best ? best->objectives[utility] : value;
		if (!best ||
		    (s->spec->objectives[utility].maximize ? value > least : value < least))
			best = t;
	}
	return best;
}

/* Parses the file again: the seed in the original's spec is secret. */
static struct dp_study *parse_public_spec(const struct dp_study_state *s, struct dp_err *err)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_study *spec = NULL;

	if (dp_study_parse(s->text, strlen(s->text), s->path ? s->path : "study", s->dir, &spec,
			   &problems, err) != DP_OK) {
		dp_fail(err, DP_E_CORRUPT, "the text of study %u cannot be read again", s->id);
		spec = NULL;
	}
	dp_diagnostics_free(&problems);
	return spec;
}

/* The selected trial without its number, its times and its number of attempts. */
static void copy_selected_trial(struct dp__public_view *view, const struct dp_trial *t)
{
	view->attempt = (struct dp_attempt){ .run = DP_RUN_ALL, .end_class = DP_END_OK };
	view->selected_trial = *t;
	view->selected_trial.number = view->selected_trial.index = 0;
	view->selected_trial.conditioned_on = 0;
	view->selected_trial.proposal_seconds = 0;
	view->selected_trial.reason = NULL;
	view->selected_trial.proposed_us = view->selected_trial.ended_us = 0;
	view->selected_trial.attempts = &view->attempt;
	view->selected_trial.nattempts = 1;
	view->trials[0] = &view->selected_trial;
	view->study.ntrials = view->study.first_unfinished = view->study.ok = 1;
}

static void update_public_view(struct dp__public_view *view, const struct dp_study_state *s)
{
	const struct dp_trial *winner = dp_state_selected_trial(s);
	struct dp_study *spec = view->study.spec;

	free(view->study.front);
	view->source_changes = s->changes;
	view->current_spec = *s->current_spec;
	view->current_spec.seed = spec->seed;
	view->current_spec.secret = NULL;
	view->study = (struct dp_study_state){
		.id = s->id,
		.text = s->text,
		.path = s->path,
		.dir = s->dir,
		.spec = spec,
		.current_spec = &view->current_spec,
		.status = s->status,
		.reason = s->reason,
		.moved_by = s->moved_by,
		.moved_by_failures = s->moved_by_failures,
		.parallel = s->parallel,
		.priority = s->priority,
		.trials = view->trials,
		.blocked_trial = -1,
		.metrics = s->metrics,
		.nmetrics = s->nmetrics,
		.next_seq = s->study_records,
		.quarantined = s->quarantined,
		.created_us = s->created_us,
		.updated_us = s->last_study_record_us,
		.study_records = s->study_records,
		.last_study_record_us = s->last_study_record_us,
		.results_version = winner != NULL,
	};
	if (winner)
		copy_selected_trial(view, winner);
	view->study.evaluations = view->study.ntrials;
}

int dp__public_view_new(struct dp_study_state *s, struct dp_err *err)
{
	struct dp_study *spec = parse_public_spec(s, err);

	if (!spec)
		return DP_E_CORRUPT;
	s->public_view = dp_calloc(1, sizeof *s->public_view);
	s->public_view->study.spec = spec;
	update_public_view(s->public_view, s);
	return DP_OK;
}

struct dp_public_state dp_state_public_view(struct dp_study_state *s)
{
	struct dp__public_view *view = s->public_view;

	if (!view)
		return (struct dp_public_state){ .state = s };
	if (view->source_changes != s->changes)
		update_public_view(view, s);
	return (struct dp_public_state){ .state = &view->study, .hides_search = true };
}
