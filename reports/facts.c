/* facts.c - everything a report says, put together. */
#include "reports/group_facts.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Takes what was allocated. */
static void *facts_own(struct facts_memory *m, void *p)
{
	void **grown = p ? realloc(m->owned, (m->n + 1) * sizeof *grown) : NULL;

	if (!grown) {
		m->failed = true;
		free(p);
		return NULL;
	}
	m->owned = grown;
	m->owned[m->n++] = p;
	return p;
}

void *facts_room(struct facts_memory *m, size_t n, size_t size)
{
	return facts_own(m, calloc(n + 1, size));
}

void *facts_keep(struct facts_memory *m, const void *part, size_t size)
{
	void *p = facts_room(m, 1, size);

	return p ? memcpy(p, part, size) : NULL;
}

const char *facts_text(struct facts_memory *m, const char *text)
{
	if (!text)
		return NULL;
	return facts_own(m, strdup(dp_utf8_ok(text) ? text : "(a text that is not UTF-8)"));
}

void facts_free(struct facts *f)
{
	group_facts_free(f->groups);
	for (size_t i = 0; i < f->nfront; i++)
		json_decref(f->front[i].parameters);
	for (size_t i = 0; i < f->memory.n; i++)
		free(f->memory.owned[i]);
	free(f->memory.owned);
	*f = (struct facts){ 0 };
}

/* ---- parts ---- */

static void facts_study(const struct subject *s, struct facts_memory *m, struct fact_study *out)
{
	struct dp_study_state *st = s->s;

	*out = (struct fact_study){
		.s = st,
		.study = st->spec->name,
		.name = subject_name(s),
		.state = dp_study_status_text(st->status),
		.reason = st->reason ? st->reason : "",
		.evaluations = dp_study_ended(st),
		.failed = st->failed,
		.diverged = st->diverged,
		.front = subject_front(s),
		.hypervolume = st->hypervolume,
		.denoises = s->denoises,
		.hypervolume_denoised =
			s->denoises || s->denoised.modelled ? s->denoised.hypervolume : NAN,
		.searched = st->nfront,
		.modelled = s->denoised.modelled ? s->denoised.n : 0,
	};
	facts_remeasured(s, m, out);
	facts_headline(s, m, &out->headline);
}

static void find_objectives(const struct subject *s, struct facts *f)
{
	const struct dp_study *spec = s->s->spec;

	f->objectives = facts_room(&f->memory, spec->nobjectives, sizeof *f->objectives);
	for (size_t i = 0; f->objectives && i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];
		struct dp_buf label = DP_BUF_INIT;

		subject_label(s, i, &label);
		f->objectives[f->nobjectives++] = (struct fact_objective){
			.name = o->name,
			.label = facts_text(&f->memory, dp_buf_text(&label)),
			.share = subject_shares(s, i),
			.goal = o->maximize ? "maximize" : "minimize",
			.kind = o->metric ? "metric" : "privacy",
			.metric = o->metric,
			.anti_ideal = o->anti_ideal,
		};
		dp_buf_free(&label);
	}
}

static void find_compared(const struct report *r, struct facts *f)
{
	f->compared = facts_room(&f->memory, r->nsubjects, sizeof *f->compared);
	for (size_t i = 1; f->compared && i < r->nsubjects; i++)
		facts_study(&r->subjects[i], &f->memory, &f->compared[f->ncompared++]);
}

static void find_baselines(const struct report *r, struct facts *f)
{
	f->baselines = facts_room(&f->memory, r->nbaselines, sizeof *f->baselines);
	for (size_t i = 0; f->baselines && i < r->nbaselines; i++)
		f->baselines[f->nbaselines++] = (struct fact_baseline){
			.label = facts_text(&f->memory, r->baselines[i].label),
			.value = r->baselines[i].value,
		};
}

static const char *objective_name(const struct subject *s, int objective)
{
	return objective >= 0 ? s->s->spec->objectives[objective].name : NULL;
}

/* Of a report about its first study. */
static int facts_of_study(const struct report *r, struct facts *out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	int code;

	facts_study(s, &out->memory, &out->study);
	find_objectives(s, out);
	facts_bests(s, out);
	facts_front(s, out);
	facts_privacy(s, out);
	facts_declared(s, &out->declared);
	facts_released(s, &out->memory, &out->released);
	facts_optimism(s, &out->memory, &out->optimism);
	facts_models(s, out);
	find_compared(r, out);
	facts_majority(s, out);
	find_baselines(r, out);
	facts_settings(s, &out->memory, &out->settings);
	facts_failures(s, r->public, &out->memory, &out->failures);
	facts_spent(s, report_shows_times(r), &out->spent);
	facts_reproduce(r, &out->memory, &out->reproduce);
	code = facts_selection(s, &out->memory, &out->selection, err);
	if (code == DP_OK && !out->memory.failed && !out->selection)
		code = facts_choices(s, out, err);
	return code;
}

int report_facts(const struct report *r, const struct picture *pictures, size_t npictures,
		 struct facts *out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	int code;

	*out = (struct facts){
		.public = r->public,
		.data = s->s->now->public_data ? "public" : "private",
		.seeds = dp_seeds_text(dp_study_seeds(s->s->now)),
		.seeds_warning = dp_state_seeds_warning(s->s),
		.budget = s->s->evaluations,
		.privacy_objective = objective_name(s, s->privacy),
		.utility_objective = objective_name(s, s->utility),
		.pictures = pictures,
		.npictures = npictures,
	};
	code = r->groups ? facts_groups(r, out, err) : facts_of_study(r, out, err);
	if (code != DP_OK) {
		facts_free(out);
		return code;
	}
	if (!out->memory.failed)
		return DP_OK;
	facts_free(out);
	return dp_fail(err, DP_E_NOMEM, "no memory for the report");
}
