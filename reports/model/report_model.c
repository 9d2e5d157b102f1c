/* report_model.c - build report.json from its sections. */
#include "config.h"
#include "reports/model/report_model.h"

#include "state/state_json.h"
#include "study/private_selection.h"
#include "study/seeds.h"

#include <math.h>
#include <stdlib.h>

void report_model_free(struct report_model *report)
{
	report_groups_free(report->groups);
	free(report->recommendation);
	json_decref(report->json);
	*report = (struct report_model){ 0 };
}

json_t *report_objective(const struct report_model *report, size_t objective)
{
	return json_array_get(get_json(report->json, "objectives"), objective);
}

char *point_name(const json_t *point, char out[RESULT_NAME_LEN])
{
	return result_format_name(get_count(point, "trial"), get_count(point, "at"), out);
}

static const char *objective_name(const struct study_data *s, int objective)
{
	return objective >= 0 ? s->state->spec->objectives[objective].name : NULL;
}

/* The kind of a study, also for private selection. */
static void put_kind_of_study(json_t *o, const struct report_data *r)
{
	struct dp_study_state *s = r->studies[0].state;

	put_bool(o, "public", r->is_public);
	put_text(o, "data", s->current_spec->public_data ? "public" : "private");
	put_text(o, "seeds", dp_seed_mode_text(dp_study_seed_mode(s->current_spec)));
	put_text(o, "seeds_warning", dp_state_seeds_warning(s));
}

static void put_first_objectives(json_t *o, const struct study_data *s)
{
	put_text(o, "privacy_objective", objective_name(s, s->privacy_obj));
	put_text(o, "utility_objective", objective_name(s, s->utility_obj));
}

static json_t *objectives_json(const struct study_data *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->state->spec->nobjectives; i++) {
		const struct dp_objective *objective = &s->state->spec->objectives[i];
		struct dp_buf label = DP_BUF_INIT;
		json_t *o = json_object();

		study_data_objective_label(s, i, &label);
		put_text(o, "name", objective->name);
		put_buf(o, "label", &label);
		put_text(o, "goal", objective->maximize ? "maximize" : "minimize");
		put_text(o, "kind", objective->metric ? "metric" : "privacy");
		put_text(o, "metric", objective->metric);
		put_bool(o, "share", study_data_is_percent(s, i));
		put_number(o, "anti_ideal", objective->anti_ideal);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *one_front_json(size_t points, double volume)
{
	return json_pack("{s:I, s:o}", "points", (json_int_t)points, "hypervolume",
			 number_json(volume));
}

static json_t *fronts_json(const struct study_data *s)
{
	struct front_variants v = compute_front_variants(s);
	json_t *o = json_object();

	put_text(o, "shown", s->uses_smoothed_front ? "denoised" : "searched");
	put_json(o, "searched", one_front_json(s->state->nfront, s->state->hypervolume));
	put_json(o, "denoised",
		 v.smoothed_size ? one_front_json(v.smoothed_size, v.smoothed_hypervolume) : NULL);
	put_json(o, "remeasured",
		 v.reevaluated_size ? one_front_json(v.reevaluated_size, v.reevaluated_hypervolume)
				    : NULL);
	return o;
}

/* For each other study: its result as `run` prints it and its best values by epsilon level. */
static json_t *compared_json(const struct report_data *r)
{
	json_t *list = json_array();

	for (size_t i = 1; i < r->nstudies; i++) {
		const struct study_data *s = &r->studies[i];
		struct front_variants v = compute_front_variants(s);
		json_t *o = dp_state_result_json(s->view);

		put_number(o, "hypervolume_denoised", v.smoothed_hypervolume);
		put_number(o, "hypervolume_remeasured", v.reevaluated_hypervolume);
		put_text(o, "label", study_data_name(s));
		put_json(o, "headline", epsilon_levels_json(s));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *baselines_json(const struct report_data *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->nbaselines; i++) {
		json_t *o = json_object();

		put_text(o, "label", r->baselines[i].label);
		put_number(o, "value", r->baselines[i].value);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *figures_json(const struct report_model *report)
{
	json_t *list = json_array();

	for (size_t i = 0; i < report->nfigures; i++) {
		const struct rendered_figure *p = &report->figures[i];
		bool drawn = rendered_figure_is_drawn(p);
		struct rendered_file files[RENDERED_FILE_COUNT];
		char file[FIGURE_FILENAME_LEN];
		json_t *o = json_object(), *names = json_array();

		rendered_figure_files(p, files);
		for (size_t k = 0; k < RENDERED_FILE_COUNT; k++)
			if (files[k].bytes->len)
				json_array_append_new(
					names, json_string(figure_format_filename(
						       p->figure, files[k].extension, file)));

		put_text(o, "file",
			 drawn ? figure_format_filename(p->figure, rendered_figure_extension(p),
							file)
			       : NULL);
		put_json(o, "files", names);
		put_text(o, "title", p->figure->title);
		put_text(o, "alt", dp_buf_text(&p->alt));
		put_text(o, "caption", dp_buf_text(&p->caption));
		put_text(o, "why_not", drawn ? NULL : p->reason);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *study_report_json(const struct report_model *report)
{
	const struct report_data *r = report->data;
	const struct study_data *s = report->study;
	struct front_variants v = compute_front_variants(s);
	struct dp_prediction *predictions = study_data_predict_front(s);
	/* The result as `run` prints it, plus the smoothed hypervolume even if search.front is
	 * observed. */
	json_t *o = dp_state_smoothed_result_json(s->view, v.smoothed_hypervolume, json_array());

	put_number(o, "hypervolume_denoised", v.smoothed_hypervolume);
	if (v.reevaluated_size)
		put_number(o, "hypervolume_remeasured", v.reevaluated_hypervolume);
	put_text(o, "label", study_data_name(s));
	put_kind_of_study(o, r);
	put_count(o, "budget", s->state->evaluations);
	put_first_objectives(o, s);
	put_json(o, "objectives", objectives_json(s));
	put_json(o, "recommendation", NULL);
	put_json(o, "rows", NULL);
	put_json(o, "fronts", fronts_json(s));
	put_json(o, "headline", epsilon_levels_json(s));
	put_json(o, "bests", bests_json(s));
	put_json(o, "front", front_json(s, predictions));
	put_json(o, "privacy", privacy_json(s));
	put_json(o, "declared", declarations_json(s));
	put_json(o, "released", release_cost_json(s));
	put_json(o, "optimism", selection_bias_json(s, predictions));
	put_json(o, "models", surrogates_json(s));
	put_json(o, "importance", importance_json(s));
	put_json(o, "compared", compared_json(r));
	put_json(o, "baselines", baselines_json(r));
	put_json(o, "majority", majority_json(s));
	put_json(o, "figures", figures_json(report));
	put_json(o, "settings", settings_json(s));
	put_json(o, "failures", failures_json(s, r->is_public));
	put_json(o, "spent", resources_json(s, redaction_shows_times(r)));
	put_json(o, "reproduce", provenance_json(r));
	free(predictions);
	return o;
}

/* A private selection shows only its result and its cost. */
static int build_selection_json(struct report_model *report, struct dp_err *err)
{
	const struct study_data *s = report->study;
	struct dp_buf statement = DP_BUF_INIT;
	struct dp_select_cost cost;
	json_t *o, *provenance;
	int code = dp_select_compute_cost(s->state->spec, &cost, err);

	if (code != DP_OK)
		return code;
	report->json = o = dp_state_result_json(s->view);
	put_kind_of_study(o, report->data);
	put_first_objectives(o, s);
	put_json(o, "selection", dp_selection_cost_json(&cost));
	put_text(o, "statement",
		 append_selection_statement(s, &cost, &statement) ? dp_buf_text(&statement) : NULL);
	dp_buf_free(&statement);
	put_json(o, "figures", json_array());
	provenance = provenance_json(report->data);
	put_json(o, "reproduce",
		 json_pack("{s:O, s:s}", "study_file", json_object_get(provenance, "study_file"),
			   "dpareto", PACKAGE_VERSION));
	json_decref(provenance);
	return DP_OK;
}

int report_model_build(const struct report_data *r, const struct rendered_figure *figures,
		       size_t nfigures, struct report_model *out, struct dp_err *err)
{
	int code = DP_OK;

	*out = (struct report_model){
		.data = r, .study = &r->studies[0], .figures = figures, .nfigures = nfigures
	};
	if (r->groups) {
		code = report_model_build_groups(out, figures_json(out), err);
	} else if (r->studies[0].view.hides_search) {
		code = build_selection_json(out, err);
	} else {
		out->json = study_report_json(out);
		report_model_recommend(out);
	}
	if (code != DP_OK)
		report_model_free(out);
	return code;
}
