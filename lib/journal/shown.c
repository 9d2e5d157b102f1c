/* shown.c - what anybody may see of a study.
 *
 * A private selection is private only if nobody learns how many trainings were made or
 * what became of the others. So that nothing which shows a study has to think of that,
 * it is given a study in which they do not exist. */
#include "journal/state_internal.h"

#include <stdlib.h>
#include <string.h>

/* The study without its secrets. What has no reason to differ is the true one's: only
 * `spec`, which must not have the secret seed, and the front are its own. */
struct dp__shown {
	struct dp_study_state study;
	struct dp_study now; /* the true one's, without what is secret */
	struct dp_trial winner, *trials[1];
	struct dp_attempt attempt;
	uint32_t seq; /* of the true study when this was made */
};

void dp__shown_free(struct dp__shown *shown)
{
	if (!shown)
		return;
	dp_study_free(shown->study.spec);
	free(shown->study.front);
	free(shown);
}

bool dp_study_hides(const struct dp_study_state *s)
{
	return s->spec->search.method == DP_METHOD_SELECT;
}

/* Of equals the first: which of independent draws that is, is chance. */
const struct dp_trial *dp_study_selected(const struct dp_study_state *s)
{
	size_t utility = dp_select_utility(s->spec);
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

/* The file's own study: the true one's seed is secret. */
static struct dp_study *shown_spec(const struct dp_study_state *s)
{
	struct dp_problems problems = { 0 };
	struct dp_study *spec = NULL;
	struct dp_err ignored;

	if (dp_study_parse(s->text, strlen(s->text), s->path ? s->path : "study", s->dir, &spec,
			   &problems, &ignored) != DP_OK)
		spec = NULL;
	dp_problems_free(&problems);
	return spec;
}

/* The winner without its number, its times, and how often it was tried. */
static void show_winner(struct dp__shown *shown, const struct dp_trial *t)
{
	shown->attempt = (struct dp_attempt){ .run = DP_RUN_ALL, .end = DP_END_OK };
	shown->winner = *t;
	shown->winner.number = 0;
	shown->winner.basis = 0;
	shown->winner.sought = 0;
	shown->winner.reason = NULL; /* it has none, and would be the true one's */
	shown->winner.proposed = shown->winner.ended = 0;
	shown->winner.attempts = &shown->attempt;
	shown->winner.nattempts = 1;
	shown->trials[0] = &shown->winner;
	shown->study.ntrials = shown->study.first_live = shown->study.ok = 1;
}

static void show_study(struct dp__shown *shown, const struct dp_study_state *s)
{
	const struct dp_trial *winner = dp_study_selected(s);
	struct dp_study *spec = shown->study.spec;

	free(shown->study.front);
	shown->seq = s->seq;
	shown->now = *s->now;
	shown->now.seed = spec->seed;
	shown->now.secret = NULL;
	shown->study = (struct dp_study_state){
		.id = s->id,
		.text = s->text,
		.path = s->path,
		.dir = s->dir,
		.spec = spec,
		.now = &shown->now,
		.status = s->status,
		.reason = s->reason,
		.by = s->by,
		.by_failures = s->by_failures,
		.parallel = s->parallel,
		.priority = s->priority,
		.trials = shown->trials,
		.blocked = -1,
		.metrics = s->metrics,
		.nmetrics = s->nmetrics,
		.seq = s->told,
		.apart = s->apart,
		.created = s->created,
		.updated = s->told_at,
		.told = s->told,
		.told_at = s->told_at,
		.results_version = winner != NULL,
	};
	if (winner)
		show_winner(shown, winner);
	shown->study.evaluations = shown->study.ntrials;
}

int dp__shown_new(struct dp_study_state *s, struct dp_err *err)
{
	s->shown = calloc(1, sizeof *s->shown);
	if (!s->shown)
		return dp_fail(err, DP_E_NOMEM, "no memory for a study");
	s->shown->study.spec = shown_spec(s);
	if (!s->shown->study.spec)
		return dp_fail(err, DP_E_NOMEM, "no memory for a study");
	show_study(s->shown, s);
	return DP_OK;
}

struct dp_study_state *dp_study_shown(struct dp_study_state *s)
{
	struct dp__shown *shown = s->shown;

	if (!shown)
		return s;
	/* a study that is set apart gets its reason without a record */
	if (shown->seq != s->seq || shown->study.reason != s->reason ||
	    shown->study.apart != s->apart)
		show_study(shown, s);
	return &shown->study;
}
