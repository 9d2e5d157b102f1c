/* redaction.c - check a public report for leaks and remove private details. */
#include "reports/model/study_data.h"
#include "study/metric_release.h"
#include "study/seeds.h"
#include "study/warm_start_source.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Reasons why a report cannot be public, each as the end of a sentence. */
struct leak_list {
	struct dp_buf text;
	size_t count;
	bool noise_exposed; /* dp_study_noise_exposed() */
};

static void leak_list_add(struct leak_list *l, const char *fmt, ...) DP_PRINTF(2, 3);
static void leak_list_add(struct leak_list *l, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	dp_buf_printf(&l->text, "%s(%zu) %s", l->count ? "; " : "", l->count + 1, text);
	l->count++;
}

/* Exact values that guided the search, and so influenced every point. */
static void find_exact_values(struct leak_list *l, const struct dp_study_state *s)
{
	const struct dp_study *spec = s->spec;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric &&
		    !dp_study_find_metric_release(spec, spec->objectives[i].metric))
			leak_list_add(l, "objective '%s' is exact: metric '%s' has no 'release'",
				      spec->objectives[i].name, spec->objectives[i].metric);
	for (size_t i = 0; i < spec->nconstraints; i++)
		if (!dp_study_find_metric_release(spec, spec->constraints[i].metric))
			leak_list_add(l, "the constraint on '%s' looked at exact values",
				      spec->constraints[i].metric);
	if (!dp_study_has_privacy(spec))
		leak_list_add(l, "no objective is a privacy: nothing covers the trainings");
	if (s->nimported)
		leak_list_add(l, "it started from results of study '%s'",
			      spec->search.initial_from
				      ? dp_warm_start_display_name(spec->search.initial_from)
				      : "?");
}

/* One record may decide whether a run fails or times out. */
static void find_failure_leaks(struct leak_list *l, const struct dp_study_state *s)
{
	unsigned n = 0;
	uint32_t first = 0;

	for (uint32_t i = s->ntrials; i-- > 0;)
		if (s->trials[i]->status == DP_TRIAL_FAILED && !s->trials[i]->refusal_reason) {
			n++;
			first = i;
		}
	if (n == 1)
		leak_list_add(l, "trial %u failed, and that may hang on one record", first);
	else if (n > 1)
		leak_list_add(l,
			      "%u trials failed, the first is %u, and that may hang on one record",
			      n, first);
}

static void find_report_leaks(struct leak_list *l, const struct report_data *r)
{
	for (size_t i = 0; i < r->nstudies + (r->reference != NULL); i++) {
		const struct dp_study_state *s =
			i < r->nstudies ? r->studies[i].state : r->reference->state;

		if (s->current_spec->public_data && s->seeds_exposed) {
			leak_list_add(l, "seeds are fixed, and data was private when trials were "
					 "proposed: 'set data=public' does not change what their "
					 "results show");
			l->noise_exposed = true;
		}
		if (s->current_spec->public_data)
			continue;
		find_exact_values(l, s);
		if (dp_study_noise_exposed(s->current_spec)) {
			leak_list_add(l, "seeds are fixed on private data: the settings it shows "
					 "give the seed away, and the seed gives all noise");
			l->noise_exposed = true;
		}
		/* durations depend on the records, too */
		if (dp_study_cost(s->spec) == DP_COST_SECONDS)
			leak_list_add(
				l, "points were chosen by the seconds of trainings (search.cost)");
		if (s->had_max_time)
			leak_list_add(l, "the clock said when to end (search.max_time)");
		find_failure_leaks(l, s);
	}
	for (size_t i = 0; i < r->nbaselines && !r->studies[0].state->current_spec->public_data;
	     i++)
		leak_list_add(l, "the baseline '%.60s' is exact, as far as is known",
			      r->baselines[i].label);
}

int redaction_check_leaks(const struct report_data *r, struct dp_err *err)
{
	struct leak_list l = { DP_BUF_INIT, 0, false };
	int code = DP_OK;

	find_report_leaks(&l, r);
	if (l.count) {
		dp_fail(err, DP_E_FAILED, "this report cannot be public: %s", dp_buf_text(&l.text));
		code = dp_hint(err,
			       "%sdocs/privacy.md says how to fix each; a study of "
			       "public data says so ('data: public')",
			       l.noise_exposed ? "run it again with 'seeds: secret'; " : "");
	}
	dp_buf_free(&l.text);
	return code;
}

/* Messages quote the trainer, and durations and resource usage are exact values. */
static void redact_trial(struct dp_trial *t)
{
	t->proposed_us = t->ended_us = 0;
	t->proposal_seconds = 0;
	free(t->reason);
	t->reason = NULL;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		struct dp_attempt *a = &t->attempts[i];

		free(a->message);
		a->message = NULL;
		a->planned_us = a->started_us = a->ended_us = a->recorded_us = 0;
		a->cpu_seconds = 0;
		a->peak_memory = 0;
	}
}

void redaction_strip_private(struct report_data *r)
{
	for (size_t i = 0; i < r->nstudies; i++) {
		struct dp_study_state *s = r->studies[i].state;

		if (s->current_spec->public_data)
			continue;
		for (uint32_t k = 0; k < s->ntrials; k++)
			redact_trial(s->trials[k]);
		for (uint32_t k = 0; k < s->reevals.ntrials; k++)
			redact_trial(s->reevals.trials[k]);
	}
}

bool redaction_shows_times(const struct report_data *r)
{
	bool shows = true;

	for (size_t i = 0; r->is_public && i < r->nstudies; i++)
		shows &= r->studies[i].state->current_spec->public_data;
	return shows;
}
