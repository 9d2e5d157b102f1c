/* report_model.c - everything a report says, put together. */
#include "reports/model/groups_model.h"

#include "base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Takes what was allocated. */
static void *report_arena_own(struct report_arena *arena, void *p)
{
	void **grown = p ? dp_realloc(arena->blocks, (arena->n + 1) * sizeof *grown) : NULL;

	if (!grown) {
		arena->failed = true;
		free(p);
		return NULL;
	}
	arena->blocks = grown;
	arena->blocks[arena->n++] = p;
	return p;
}

void *report_arena_alloc(struct report_arena *arena, size_t n, size_t size)
{
	return report_arena_own(arena, dp_calloc(n + 1, size));
}

void *report_arena_dup(struct report_arena *arena, const void *part, size_t size)
{
	void *p = report_arena_alloc(arena, 1, size);

	return p ? memcpy(p, part, size) : NULL;
}

const char *report_arena_strdup(struct report_arena *arena, const char *text)
{
	if (!text)
		return NULL;
	return report_arena_own(
		arena, dp_strdup(dp_utf8_is_valid(text) ? text : "(a text that is not UTF-8)"));
}

void report_model_free(struct report_model *report)
{
	report_groups_free_answers(report->groups);
	for (size_t i = 0; i < report->nfront; i++)
		json_decref(report->front[i].parameters);
	for (size_t i = 0; i < report->arena.n; i++)
		free(report->arena.blocks[i]);
	free(report->arena.blocks);
	*report = (struct report_model){ 0 };
}

/* ---- parts ---- */

static void report_model_study(const struct study_data *s, struct report_arena *arena,
			       struct report_study *out)
{
	struct dp_study_state *st = s->state;

	*out = (struct report_study){
		.view = s->view,
		.study = st->spec->name,
		.name = study_data_name(s),
		.state = dp_study_status_text(st->status),
		.reason = st->reason ? st->reason : "",
		.evaluations = dp_state_count_ended_trials(st),
		.failed = st->failed,
		.diverged = st->diverged,
		.front_size = study_data_front_size(s),
		.hypervolume = st->hypervolume,
		.uses_smoothed_front = s->uses_smoothed_front,
		.smoothed_hypervolume = s->uses_smoothed_front || s->smoothed.is_modelled
						? s->smoothed.hypervolume
						: NAN,
		.observed_size = st->nfront,
		.smoothed_size = s->smoothed.is_modelled ? s->smoothed.n : 0,
	};
	report_model_reevaluations(s, arena, out);
	report_model_epsilon_levels(s, arena, &out->epsilon_levels);
}

static void add_report_objectives(const struct study_data *s, struct report_model *report)
{
	const struct dp_study *spec = s->state->spec;

	report->objectives =
		report_arena_alloc(&report->arena, spec->nobjectives, sizeof *report->objectives);
	for (size_t i = 0; report->objectives && i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];
		struct dp_buf label = DP_BUF_INIT;

		study_data_objective_label(s, i, &label);
		report->objectives[report->nobjectives++] = (struct report_objective){
			.name = o->name,
			.label = report_arena_strdup(&report->arena, dp_buf_text(&label)),
			.share = study_data_is_percent(s, i),
			.goal = o->maximize ? "maximize" : "minimize",
			.kind = o->metric ? "metric" : "privacy",
			.metric = o->metric,
			.anti_ideal = o->anti_ideal,
		};
		dp_buf_free(&label);
	}
}

static void add_compared_studies(const struct report_data *r, struct report_model *report)
{
	report->compared =
		report_arena_alloc(&report->arena, r->nstudies, sizeof *report->compared);
	for (size_t i = 1; report->compared && i < r->nstudies; i++)
		report_model_study(&r->studies[i], &report->arena,
				   &report->compared[report->ncompared++]);
}

static void add_report_baselines(const struct report_data *r, struct report_model *report)
{
	report->baselines =
		report_arena_alloc(&report->arena, r->nbaselines, sizeof *report->baselines);
	for (size_t i = 0; report->baselines && i < r->nbaselines; i++)
		report->baselines[report->nbaselines++] = (struct report_baseline){
			.label = report_arena_strdup(&report->arena, r->baselines[i].label),
			.value = r->baselines[i].value,
		};
}

static const char *objective_name(const struct study_data *s, int objective)
{
	return objective >= 0 ? s->state->spec->objectives[objective].name : NULL;
}

/* Of a report about its first study. */
static int report_model_build_study(const struct report_data *r, struct report_model *out,
				    struct dp_err *err)
{
	const struct study_data *s = &r->studies[0];
	int code;

	report_model_study(s, &out->arena, &out->study);
	add_report_objectives(s, out);
	report_model_add_bests(s, out);
	report_model_add_front(s, out);
	report_model_add_privacy(s, out);
	report_model_declarations(s, &out->declared);
	report_model_release_cost(s, &out->arena, &out->released);
	report_model_selection_bias(s, &out->arena, &out->optimism);
	report_model_add_surrogates(s, out);
	add_compared_studies(r, out);
	report_model_add_majority(s, out);
	add_report_baselines(r, out);
	report_model_settings(s, &out->arena, &out->settings);
	report_model_failures(s, r->is_public, &out->arena, &out->failures);
	report_model_resources(s, redaction_shows_times(r), &out->spent);
	report_model_provenance(r, &out->arena, &out->reproduce);
	code = report_model_selection(s, &out->arena, &out->selection, err);
	if (code == DP_OK && !out->arena.failed && !out->selection)
		code = report_model_add_recommendation(s, out, err);
	return code;
}

int report_model_build(const struct report_data *r, const struct rendered_figure *pictures,
		       size_t npictures, struct report_model *out, struct dp_err *err)
{
	const struct study_data *s = &r->studies[0];
	int code;

	*out = (struct report_model){
		.public = r->is_public,
		.data = s->state->current_spec->public_data ? "public" : "private",
		.seeds = dp_seed_mode_text(dp_study_seed_mode(s->state->current_spec)),
		.seeds_warning = dp_state_seeds_warning(s->state),
		.budget = s->state->evaluations,
		.privacy_objective = objective_name(s, s->privacy_obj),
		.utility_objective = objective_name(s, s->utility_obj),
		.figures = pictures,
		.nfigures = npictures,
	};
	code = r->groups ? report_model_build_groups(r, out, err)
			 : report_model_build_study(r, out, err);
	if (code != DP_OK) {
		report_model_free(out);
		return code;
	}
	if (!out->arena.failed)
		return DP_OK;
	report_model_free(out);
	return dp_fail(err, DP_E_NOMEM, "no memory for the report");
}
