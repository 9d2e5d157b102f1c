/* public.c - a report that may be published: what would leak is named, and then there is
 * none; what nobody needs is left out. */
#include "reports/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What keeps a report from being public, as the end of a sentence. */
struct leaks {
	struct dp_buf text;
	size_t n;
	bool exposed; /* dp_study_noise_exposed() */
};

static void leak(struct leaks *l, const char *fmt, ...) DP_PRINTF(2, 3);
static void leak(struct leaks *l, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	dp_buf_printf(&l->text, "%s(%zu) %s", l->n ? "; " : "", l->n + 1, text);
	l->n++;
}

/* What is exact in what the optimiser, and so every point, has seen. */
static void find_exact(struct leaks *l, const struct dp_study_state *s)
{
	const struct dp_study *spec = s->spec;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric &&
		    !dp_study_release(spec, spec->objectives[i].metric))
			leak(l, "objective '%s' is exact: metric '%s' has no 'release'",
			     spec->objectives[i].name, spec->objectives[i].metric);
	for (size_t i = 0; i < spec->nconstraints; i++)
		if (!dp_study_release(spec, spec->constraints[i].metric))
			leak(l, "the constraint on '%s' looked at exact values",
			     spec->constraints[i].metric);
	if (!dp_study_accounts(spec))
		leak(l, "no objective is a privacy: nothing covers the trainings");
	if (s->nimported)
		leak(l, "it started from results of study '%s'",
		     spec->search.initial_from ? dp_origin_shown(spec->search.initial_from) : "?");
}

/* How long something takes depends on the records, too. */
static void find_clocks(struct leaks *l, const struct dp_study_state *s)
{
	if (dp_study_cost(s->spec) == DP_COST_SECONDS)
		leak(l, "points were chosen by the seconds of trainings (search.cost)");
	if (s->timed)
		leak(l, "the clock said when to end (search.max_time)");
}

/* Whether a training ends by itself or in time may hang on one record. */
static void find_failures(struct leaks *l, const struct dp_study_state *s)
{
	unsigned n = 0;
	uint32_t first = 0;

	for (uint32_t i = s->ntrials; i-- > 0;)
		if (s->trials[i]->status == DP_TRIAL_FAILED && !s->trials[i]->refused) {
			n++;
			first = i;
		}
	if (n == 1)
		leak(l, "trial %u failed, and that may hang on one record", first);
	else if (n > 1)
		leak(l, "%u trials failed, the first is %u, and that may hang on one record", n,
		     first);
}

static void find_leaks(struct leaks *l, const struct report *r)
{
	for (size_t i = 0; i < r->nsubjects + (r->truth != NULL); i++) {
		const struct dp_study_state *s = i < r->nsubjects ? r->subjects[i].s : r->truth->s;

		if (s->now->public_data && s->exposed) {
			leak(l, "seeds are fixed, and data was private when trials were "
				"proposed: 'set data=public' does not change what their "
				"results show");
			l->exposed = true;
		}
		if (s->now->public_data)
			continue;
		find_exact(l, s);
		if (dp_study_noise_exposed(s->now)) {
			leak(l, "seeds are fixed on private data: the settings it shows "
				"give the seed away, and the seed gives all noise");
			l->exposed = true;
		}
		find_clocks(l, s);
		find_failures(l, s);
	}
	for (size_t i = 0; i < r->nbaselines && !r->subjects[0].s->now->public_data; i++)
		leak(l, "the baseline '%.60s' is exact, as far as is known", r->baselines[i].label);
}

int report_public_check(const struct report *r, struct dp_err *err)
{
	struct leaks l = { DP_BUF_INIT, 0, false };
	int code = DP_OK;

	find_leaks(&l, r);
	if (l.text.failed)
		code = dp_fail(err, DP_E_NOMEM, "out of memory");
	else if (l.n) {
		dp_fail(err, DP_E_FAILED, "this report cannot be public: %s", dp_buf_text(&l.text));
		code = dp_hint(err,
			       "%sdocs/privacy.md says how to fix each; a study of "
			       "public data says so ('data: public')",
			       l.exposed ? "run it again with 'seeds: secret'; " : "");
	}
	dp_buf_free(&l.text);
	return code;
}

/* Messages quote the trainer; how long it took and how much it used is as exact. */
static void strip_trial(struct dp_trial *t)
{
	t->proposed = t->ended = 0;
	t->sought = 0;
	free(t->reason);
	t->reason = NULL;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		struct dp_attempt *a = &t->attempts[i];

		free(a->message);
		a->message = NULL;
		a->planned = a->started = a->ended = a->recorded = 0;
		a->cpu_seconds = 0;
		a->peak_memory = 0;
	}
}

void report_public_strip(struct report *r)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		struct dp_study_state *s = r->subjects[i].s;

		if (s->now->public_data)
			continue;
		for (uint32_t k = 0; k < s->ntrials; k++)
			strip_trial(s->trials[k]);
		for (uint32_t k = 0; k < s->measured.ntrials; k++)
			strip_trial(s->measured.trials[k]);
	}
}

bool report_shows_times(const struct report *r)
{
	bool shows = true;

	for (size_t i = 0; r->public && i < r->nsubjects; i++)
		shows &= r->subjects[i].s->now->public_data;
	return shows;
}
