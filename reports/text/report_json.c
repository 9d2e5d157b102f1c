/* report_json.c - report.json: the facts by the names of their fields. */
#include "reports/text/json_reflection.h"
#include "reports/model/groups_model.h"

#include "state/state_json.h"

#include <math.h>

/* ---- points ---- */

static const struct json_field spread_rows[] = {
	REFLECT(report_spread, least),          REFLECT(report_spread, mean),
	REFLECT(report_spread, most),           REFLECT(report_spread, sd),
	REFLECT(report_spread, standard_error), REFLECT(report_spread, runs),
};
REFLECT_SHAPE(report_spread, spread_rows);

static const struct json_field headline_rows[] = {
	REFLECT(report_epsilon_level, epsilon),
	REFLECT(report_epsilon_level, trial),
	REFLECT(report_epsilon_level, at),
	REFLECT_IF_KNOWN(report_epsilon_level, spent),
	REFLECT_IF_KNOWN(report_epsilon_level, value),
	REFLECT_POINTER_IF_SET(report_epsilon_level, runs, report_spread),
};
REFLECT_SHAPE(report_epsilon_level, headline_rows);

static json_t *epsilon_levels_json(const struct report_epsilon_levels *h)
{
	return json_from_array(&report_epsilon_level_shape, h->list, h->n);
}

static const struct json_field interval_rows[] = { REFLECT(report_interval, low),
						   REFLECT(report_interval, high) };
REFLECT_SHAPE(report_interval, interval_rows);

static const struct json_field check_rows[] = {
	REFLECT(report_accountant_check, pld),
	REFLECT(report_accountant_check, rdp_improved),
	REFLECT(report_accountant_check, rdp_classic),
	REFLECT(report_accountant_check, recomputed),
	REFLECT(report_accountant_check, holds),
};
REFLECT_SHAPE(report_accountant_check, check_rows);

static json_t *point_objectives(const void *part)
{
	const struct report_point *p = part;

	return dp_objectives_json(p->study->state->spec,
				  dp_result_get_objectives(p->study->state, p->point));
}

/* An object with what `make` gives for each objective; NULL is left out. */
static json_t *by_objective(const void *part,
			    json_t *(*make)(const struct report_point_objective *o))
{
	const struct report_point *p = part;
	json_t *all = json_object();

	for (size_t i = 0; i < p->study->state->spec->nobjectives; i++) {
		json_t *v = make(&p->objectives[i]);

		if (v)
			json_object_set_new(all, p->objectives[i].name, v);
	}
	return all;
}

static json_t *point_spread(const void *part)
{
	const struct report_point *p = part;

	return dp_result_spread_json(p->study->view, p->point);
}

static json_t *objective_runs_json(const struct report_point_objective *o)
{
	return o->runs ? json_from_struct(&report_spread_shape, o->runs) : NULL;
}

static json_t *point_runs(const void *part)
{
	return by_objective(part, objective_runs_json);
}

static json_t *objective_smoothed_json(const struct report_point_objective *o)
{
	return json_number_or_null(o->smoothed);
}

/* Null where there are no models. */
static json_t *point_smoothed_json(const void *part)
{
	return ((const struct report_point *)part)->has_smoothed
		       ? by_objective(part, objective_smoothed_json)
		       : json_null();
}

static json_t *objective_interval_json(const struct report_point_objective *o)
{
	return o->interval ? json_from_struct(&report_interval_shape, o->interval) : NULL;
}

/* Null where there are no models. */
static json_t *point_interval(const void *part)
{
	return ((const struct report_point *)part)->has_interval
		       ? by_objective(part, objective_interval_json)
		       : json_null();
}

static json_t *point_metrics(const void *part)
{
	const struct report_point *p = part;
	const struct dp_study_state *st = p->study->state;
	json_t *o = json_object();

	for (uint32_t i = 0; i < st->nmetrics; i++)
		json_object_set_new(
			o, st->metrics[i],
			json_number_or_null(dp_result_metric_mean(st, p->point, (int)i)));
	return o;
}

static json_t *point_reevaluated_json(const void *part)
{
	const struct report_point *p = part;

	return dp_result_reeval_json(p->study->view, p->point);
}

static json_t *objective_check_json(const struct report_point_objective *o)
{
	return o->check ? json_from_struct(&report_accountant_check_shape, o->check) : NULL;
}

static json_t *point_checks(const void *part)
{
	return by_objective(part, objective_check_json);
}

static json_t *objective_statement_json(const struct report_point_objective *o)
{
	return o->check ? json_text_or_null(o->statement) : NULL;
}

static json_t *point_statements(const void *part)
{
	return by_objective(part, objective_statement_json);
}

static const struct json_field point_rows[] = {
	REFLECT(report_point, trial),
	REFLECT(report_point, at),
	REFLECT(report_point, parameters),
	REFLECT_COMPUTED("objectives", point_objectives),
	REFLECT_COMPUTED("spread", point_spread),
	REFLECT_COMPUTED("denoised", point_smoothed_json),
	REFLECT_COMPUTED("interval", point_interval),
	REFLECT_COMPUTED("runs", point_runs),
	REFLECT_COMPUTED("remeasured", point_reevaluated_json),
	REFLECT_COMPUTED("metrics", point_metrics),
	REFLECT_COMPUTED("checks", point_checks),
	REFLECT_COMPUTED("statements", point_statements),
};
REFLECT_SHAPE(report_point, point_rows);

static const struct json_field objective_rows[] = {
	REFLECT(report_objective, name),       REFLECT(report_objective, label),
	REFLECT(report_objective, goal),       REFLECT(report_objective, kind),
	REFLECT(report_objective, metric),     REFLECT(report_objective, share),
	REFLECT(report_objective, anti_ideal),
};
REFLECT_SHAPE(report_objective, objective_rows);

static json_t *best_objectives(const void *part)
{
	const struct report_best *b = part;

	return dp_objectives_json(b->state->spec, dp_result_get_objectives(b->state, b->point));
}

static const struct json_field best_rows[] = {
	REFLECT(report_best, objective),
	REFLECT(report_best, trial),
	REFLECT(report_best, at),
	REFLECT_COMPUTED("objectives", best_objectives),
};
REFLECT_SHAPE(report_best, best_rows);

/* ---- which to take ---- */

static json_t *choice_parameters(const void *part)
{
	return json_incref(((const struct report_choice *)part)->point->parameters);
}

static json_t *choice_objectives(const void *part)
{
	return point_objectives(((const struct report_choice *)part)->point);
}

static json_t *choice_interval(const void *part)
{
	const struct report_choice *c = part;

	return c->source ? json_pack("{s:o, s:o, s:o, s:s}", "value", json_number_or_null(c->value),
				     "low", json_number_or_null(c->low), "high",
				     json_number_or_null(c->high), "source", c->source)
			 : json_null();
}

static const struct json_field choice_rows[] = {
	REFLECT(report_choice, name),
	REFLECT(report_choice, trial),
	REFLECT(report_choice, at),
	REFLECT_COMPUTED("parameters", choice_parameters),
	REFLECT_COMPUTED("objectives", choice_objectives),
	REFLECT_COMPUTED("interval", choice_interval),
	REFLECT(report_choice, no_better),
	REFLECT(report_choice, meaningless),
	REFLECT(report_choice, command),
};
REFLECT_SHAPE(report_choice, choice_rows);

static const struct json_field step_rows[] = {
	REFLECT(report_utility_gain, gain),     REFLECT(report_utility_gain, noise),
	REFLECT(report_utility_gain, sampling), REFLECT(report_utility_gain, records),
	REFLECT(report_utility_gain, resolved),
};
REFLECT_SHAPE(report_utility_gain, step_rows);

/* The point, and why it is that one. */
static json_t *recommendation_json(const void *part)
{
	const struct report_recommendation *r = ((const struct report_model *)part)->recommendation;
	json_t *out;

	if (!r || !r->recommended)
		return json_null();
	out = json_from_struct(&report_choice_shape, r->recommended);
	json_object_set_new(out, "rule", json_text_or_null(r->rule));
	json_object_set_new(out, "ask", json_text_or_null(r->query_command));
	json_object_set_new(out, "limit", json_number_or_null(r->max_cost));
	json_object_set_new(out, "beyond",
			    json_from_struct(&report_choice_shape, r->best_over_limit));
	json_object_set_new(out, "to_loose",
			    json_from_struct(&report_utility_gain_shape, r->gain_to_best));
	json_object_set_new(out, "enough",
			    json_from_struct(&report_choice_shape, r->cheaper_equivalent));
	json_object_set_new(out, "from_enough",
			    json_from_struct(&report_utility_gain_shape, r->gain_from_cheaper));
	json_object_set_new(out, "sentence", json_text_or_null(r->sentence));
	return out;
}

static json_t *choices_json(const void *part)
{
	const struct report_recommendation *r = ((const struct report_model *)part)->recommendation;

	return r ? json_from_array(&report_choice_shape, r->choices, r->nchoices) : json_array();
}

static json_t *one_front_json(size_t points, double volume)
{
	return json_pack("{s:I, s:o}", "points", (json_int_t)points, "hypervolume",
			 json_number_or_null(volume));
}

/* Searched, without the noise, and measured again: told apart. */
static json_t *fronts_json(const void *part)
{
	const struct report_study *s = &((const struct report_model *)part)->study;

	return json_pack(
		"{s:s, s:o, s:o, s:o}", "shown", s->uses_smoothed_front ? "denoised" : "searched",
		"searched", one_front_json(s->observed_size, s->hypervolume), "denoised",
		s->smoothed_size ? one_front_json(s->smoothed_size, s->smoothed_hypervolume)
				 : json_null(),
		"remeasured",
		s->reevaluated_size
			? one_front_json(s->reevaluated_size, s->reevaluated_hypervolume)
			: json_null());
}

/* ---- trust ---- */

static const struct json_field shrinkage_rows[] = { REFLECT(report_shrinkage, mean),
						    REFLECT(report_shrinkage, most) };
REFLECT_SHAPE(report_shrinkage, shrinkage_rows);

static const struct json_field again_rows[] = { REFLECT(report_reevaluation, points),
						REFLECT(report_reevaluation, than_observed),
						REFLECT(report_reevaluation, than_denoised) };
REFLECT_SHAPE(report_reevaluation, again_rows);

static const struct json_field holdout_rows[] = { REFLECT(report_holdout, metric),
						  REFLECT(report_holdout, of),
						  REFLECT(report_holdout, difference) };
REFLECT_SHAPE(report_holdout, holdout_rows);

static const struct json_field sampling_rows[] = {
	REFLECT(report_sampling_error, share),
	REFLECT(report_sampling_error, records),
	REFLECT(report_sampling_error, error),
	REFLECT(report_sampling_error, error_at_1000),
	REFLECT(report_sampling_error, error_at_10000),
};
REFLECT_SHAPE(report_sampling_error, sampling_rows);

static const struct json_field trust_rows[] = {
	REFLECT(report_utility_trust, objective),
	REFLECT(report_utility_trust, standard_error),
	REFLECT_POINTER(report_utility_trust, too_good_by, report_shrinkage),
	REFLECT_POINTER(report_utility_trust, again, report_reevaluation),
	REFLECT_POINTER(report_utility_trust, holdout, report_holdout),
	REFLECT_POINTER(report_utility_trust, sampling, report_sampling_error),
};
REFLECT_SHAPE(report_utility_trust, trust_rows);

static const struct json_field optimism_rows[] = {
	REFLECT(report_selection_bias, chosen_from),
	REFLECT(report_selection_bias, trials),
	REFLECT(report_selection_bias, runs),
	REFLECT(report_selection_bias, no_models),
	REFLECT_ARRAY(report_selection_bias, objectives, nobjectives, report_utility_trust),
};
REFLECT_SHAPE(report_selection_bias, optimism_rows);

/* ---- models ---- */

static const struct json_field model_rows[] = {
	REFLECT(report_surrogate, objective), REFLECT(report_surrogate, results),
	REFLECT(report_surrogate, coverage),  REFLECT(report_surrogate, explained),
	REFLECT(report_surrogate, error),     REFLECT(report_surrogate, trusted),
	REFLECT(report_surrogate, why),
};
REFLECT_SHAPE(report_surrogate, model_rows);

static const struct json_field share_rows[] = {
	REFLECT(report_sobol_indices, parameter),
	REFLECT(report_sobol_indices, first),
	REFLECT(report_sobol_indices, total),
};
REFLECT_SHAPE(report_sobol_indices, share_rows);

static const struct json_field objective_shares_rows[] = {
	REFLECT(report_objective_importance, objective),
	REFLECT(report_objective_importance, source),
	REFLECT_ARRAY(report_objective_importance, parameters, nparameters, report_sobol_indices),
};
REFLECT_SHAPE(report_objective_importance, objective_shares_rows);

static const struct json_field importance_rows[] = {
	REFLECT(report_importance, ranking),
	REFLECT_ARRAY(report_importance, objectives, nobjectives, report_objective_importance),
};
REFLECT_SHAPE(report_importance, importance_rows);

/* ---- privacy ---- */

static const struct json_field composed_rows[] = {
	REFLECT(report_total_cost, evaluations),  REFLECT(report_total_cost, trainings),
	REFLECT(report_total_cost, attempts),     REFLECT(report_total_cost, not_started),
	REFLECT(report_total_cost, imported),     REFLECT(report_total_cost, proof),
	REFLECT(report_total_cost, epsilon),      REFLECT(report_total_cost, delta),
	REFLECT(report_total_cost, order),        REFLECT(report_total_cost, spent),
	REFLECT(report_total_cost, limit),        REFLECT(report_total_cost, if_fixed),
	REFLECT_IF_KNOWN(report_total_cost, why),
};
REFLECT_SHAPE(report_total_cost, composed_rows);

static json_t *keys_json(const struct report_mechanism_key *list, size_t n)
{
	json_t *keys = json_object();

	for (size_t i = 0; i < n; i++) {
		const struct report_mechanism_key *k = &list[i];

		json_object_set_new(keys, k->name,
				    k->parameter ? json_pack("{s:s}", "parameter", k->parameter)
				    : k->word    ? json_string(k->word)
						 : json_number_or_null(k->number));
	}
	return keys;
}

static json_t *component_keys_json(const void *part)
{
	const struct report_component *p = part;

	return keys_json(p->keys, p->nkeys);
}

static json_t *component_times_json(const void *part)
{
	const struct report_component *p = part;

	return p->times_parameter ? json_pack("{s:s}", "parameter", p->times_parameter)
				  : json_number_or_null(p->times);
}

static const struct json_field part_rows[] = {
	REFLECT(report_component, mechanism),
	REFLECT(report_component, summary),
	REFLECT_COMPUTED("times", component_times_json),
	REFLECT(report_component, relation),
	REFLECT(report_component, sampling),
	REFLECT_COMPUTED("keys", component_keys_json),
	REFLECT(report_component, records),
	REFLECT(report_component, theorem),
	REFLECT(report_component, source),
	REFLECT(report_component, noise),
};
REFLECT_SHAPE(report_component, part_rows);

static json_t *mechanism_keys(const void *part)
{
	const struct report_mechanism *m = part;

	return keys_json(m->keys, m->nkeys);
}

static const struct json_field mechanism_rows[] = {
	REFLECT(report_mechanism, objective),
	REFLECT(report_mechanism, mechanism),
	REFLECT(report_mechanism, summary),
	REFLECT_IF_KNOWN(report_mechanism, command),
	REFLECT_ARRAY(report_mechanism, parts, nparts, report_component),
	REFLECT(report_mechanism, unit),
	REFLECT(report_mechanism, relation),
	REFLECT(report_mechanism, sampling),
	REFLECT_COMPUTED("keys", mechanism_keys),
	REFLECT(report_mechanism, records),
	REFLECT(report_mechanism, delta),
	REFLECT(report_mechanism, delta_times_records),
	REFLECT(report_mechanism, accountant),
	REFLECT(report_mechanism, accountant_text),
	REFLECT(report_mechanism, theorem),
	REFLECT(report_mechanism, source),
	REFLECT(report_mechanism, noise),
	REFLECT(report_mechanism, warning),
	REFLECT_STRUCT(report_mechanism, composed, report_total_cost),
};
REFLECT_SHAPE(report_mechanism, mechanism_rows);

static const struct json_field declared_rows[] = {
	REFLECT(report_declarations, compared), REFLECT(report_declarations, kept),
	REFLECT(report_declarations, attempts), REFLECT(report_declarations, sampling),
	REFLECT(report_declarations, records),  REFLECT(report_declarations, lot),
	REFLECT(report_declarations, steps),    REFLECT(report_declarations, noise_over_clip),
	REFLECT(report_declarations, shuffled),
};
REFLECT_SHAPE(report_declarations, declared_rows);

/* ---- the study ---- */

static const struct json_field calibrated_rows[] = {
	REFLECT(report_calibration, mechanism),
	REFLECT(report_calibration, key),
	REFLECT_IF_KNOWN(report_calibration, epsilon),
	REFLECT_IF_KNOWN(report_calibration, epsilon_of),
};
REFLECT_SHAPE(report_calibration, calibrated_rows);

static const struct json_field parameter_rows[] = {
	REFLECT(report_parameter, name),
	REFLECT(report_parameter, type),
	REFLECT_IF_KNOWN(report_parameter, low),
	REFLECT_IF_KNOWN(report_parameter, high),
	REFLECT_IF_KNOWN(report_parameter, scale),
	REFLECT_IF_KNOWN(report_parameter, values),
	REFLECT_POINTER_IF_SET(report_parameter, calibrated, report_calibration),
};
REFLECT_SHAPE(report_parameter, parameter_rows);

static const struct json_field constraint_rows[] = { REFLECT(report_constraint, metric),
						     REFLECT(report_constraint, is),
						     REFLECT(report_constraint, bound) };
REFLECT_SHAPE(report_constraint, constraint_rows);

static const struct json_field path_rows[] = { REFLECT(report_path, parameter),
					       REFLECT(report_path, points) };
REFLECT_SHAPE(report_path, path_rows);

static const struct json_field settings_rows[] = {
	REFLECT(report_settings, method),
	REFLECT(report_settings, acquisition),
	REFLECT(report_settings, front),
	REFLECT(report_settings, evaluations),
	REFLECT(report_settings, parallel),
	REFLECT(report_settings, cost),
	REFLECT(report_settings, max_cost),
	REFLECT(report_settings, order),
	REFLECT(report_settings, runs),
	REFLECT(report_settings, one_run_per_process),
	REFLECT(report_settings, initial),
	REFLECT(report_settings, initial_from),
	REFLECT(report_settings, max_time),
	REFLECT(report_settings, timeout),
	REFLECT(report_settings, memory),
	REFLECT(report_settings, retries),
	REFLECT_POINTER(report_settings, path, report_path),
	REFLECT_ARRAY(report_settings, parameters, nparameters, report_parameter),
	REFLECT_ARRAY(report_settings, constraints, nconstraints, report_constraint),
};
REFLECT_SHAPE(report_settings, settings_rows);

static const struct json_field message_rows[] = { REFLECT(report_failure_message, trial),
						  REFLECT(report_failure_message, at),
						  REFLECT(report_failure_message, message) };
REFLECT_SHAPE(report_failure_message, message_rows);

static const struct json_field failure_rows[] = {
	REFLECT(report_failure_class, end),
	REFLECT(report_failure_class, attempts),
	REFLECT(report_failure_class, trials),
	REFLECT_ARRAY(report_failure_class, messages, nmessages, report_failure_message),
};
REFLECT_SHAPE(report_failure_class, failure_rows);

static const struct json_field failures_rows[] = {
	REFLECT(report_failures, failed),
	REFLECT(report_failures, diverged),
	REFLECT(report_failures, attempts),
	REFLECT(report_failures, waypoints_kept),
	REFLECT(report_failures, messages_left_out),
	REFLECT_ARRAY(report_failures, groups, ngroups, report_failure_class),
};
REFLECT_SHAPE(report_failures, failures_rows);

static const struct json_field spent_rows[] = {
	REFLECT(report_resources, evaluations),     REFLECT(report_resources, attempts),
	REFLECT(report_resources, trainings),       REFLECT(report_resources, walked),
	REFLECT(report_resources, elapsed_seconds), REFLECT(report_resources, training_seconds),
	REFLECT(report_resources, cpu_seconds),     REFLECT(report_resources, peak_memory),
};
REFLECT_SHAPE(report_resources, spent_rows);

static const struct json_field versions_rows[] = { REFLECT(report_versions, dpareto),
						   REFLECT(report_versions, journal_format),
						   REFLECT(report_versions, compiler) };
REFLECT_SHAPE(report_versions, versions_rows);

static const struct json_field host_rows[] = { REFLECT(report_host, name),
					       REFLECT(report_host, system),
					       REFLECT(report_host, release),
					       REFLECT(report_host, machine) };
REFLECT_SHAPE(report_host, host_rows);

static json_t *provenance_seed_json(const void *part)
{
	const struct report_provenance *r = part;

	return r->seed ? json_integer((json_int_t)*r->seed) : json_null();
}

static const struct json_field reproduce_rows[] = {
	REFLECT(report_provenance, study_file),
	REFLECT(report_provenance, command),
	REFLECT_COMPUTED("seed", provenance_seed_json),
	REFLECT_STRUCT(report_provenance, versions, report_versions),
	REFLECT_POINTER(report_provenance, host, report_host),
	REFLECT(report_provenance, path),
	REFLECT(report_provenance, journal),
	REFLECT(report_provenance, created),
	REFLECT(report_provenance, updated),
};
REFLECT_SHAPE(report_provenance, reproduce_rows);

/* ---- all of it ---- */

static const struct json_field baseline_rows[] = { REFLECT(report_baseline, label),
						   REFLECT(report_baseline, value) };
REFLECT_SHAPE(report_baseline, baseline_rows);

static json_t *study_epsilon_levels_json(const void *part)
{
	return epsilon_levels_json(&((const struct report_model *)part)->study.epsilon_levels);
}

/* What `run` prints of another study, and its headline. */
static json_t *compared_json(const void *part)
{
	const struct report_model *report = part;
	json_t *list = json_array();

	for (size_t i = 0; i < report->ncompared; i++) {
		json_t *o = dp_state_result_json(report->compared[i].view);

		json_object_set_new(o, "hypervolume_denoised",
				    json_number_or_null(report->compared[i].smoothed_hypervolume));
		json_object_set_new(
			o, "hypervolume_remeasured",
			json_number_or_null(report->compared[i].reevaluated_hypervolume));
		json_object_set_new(o, "label", json_text_or_null(report->compared[i].name));
		json_object_set_new(o, "headline",
				    epsilon_levels_json(&report->compared[i].epsilon_levels));
		json_array_append_new(list, o);
	}
	return list;
}

/* Names of the files that a picture has. */
static json_t *figure_files_json(const struct rendered_figure *p)
{
	struct rendered_file files[RENDERED_FILE_COUNT];
	json_t *list = json_array();
	char file[FIGURE_FILENAME_LEN];

	rendered_figure_files(p, files);
	for (size_t i = 0; i < RENDERED_FILE_COUNT; i++)
		if (files[i].bytes->len)
			json_array_append_new(list, json_string(figure_format_filename(
							    p->figure, files[i].extension, file)));
	return list;
}

json_t *report_json_figures(const void *part)
{
	const struct report_model *report = part;
	json_t *list = json_array();

	for (size_t i = 0; i < report->nfigures; i++) {
		const struct rendered_figure *p = &report->figures[i];
		char file[FIGURE_FILENAME_LEN];
		bool drawn = rendered_figure_is_drawn(p);

		if (drawn)
			figure_format_filename(p->figure, rendered_figure_extension(p), file);
		json_array_append_new(
			list, json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "file",
					json_text_or_null(drawn ? file : NULL), "files",
					figure_files_json(p), "title", p->figure->title, "alt",
					json_text_or_null(dp_buf_text(&p->alt)), "caption",
					json_text_or_null(dp_buf_text(&p->caption)), "why_not",
					json_text_or_null(drawn ? NULL : p->reason)));
	}
	return list;
}

static const struct json_field release_rows[] = {
	REFLECT(report_release_metric, objective),
	REFLECT(report_release_metric, metric),
	REFLECT(report_release_metric, records),
	REFLECT(report_release_metric, sigma),
};
REFLECT_SHAPE(report_release_metric, release_rows);

static const struct json_field released_rows[] = {
	REFLECT(report_release_cost, points),
	REFLECT(report_release_cost, most),
	REFLECT(report_release_cost, delta),
	REFLECT(report_release_cost, epsilon),
	REFLECT(report_release_cost, proof),
	REFLECT_ARRAY(report_release_cost, metrics, nmetrics, report_release_metric),
};
REFLECT_SHAPE(report_release_cost, released_rows);

static const struct json_field majority_rows[] = {
	REFLECT(report_majority_class, value),
	REFLECT(report_majority_class, no_better),
};
REFLECT_SHAPE(report_majority_class, majority_rows);

static const struct json_field all_rows[] = {
	REFLECT(report_model, public),
	REFLECT(report_model, data),
	REFLECT(report_model, seeds),
	REFLECT(report_model, seeds_warning),
	REFLECT(report_model, budget),
	REFLECT(report_model, privacy_objective),
	REFLECT(report_model, utility_objective),
	REFLECT_ARRAY(report_model, objectives, nobjectives, report_objective),
	REFLECT_COMPUTED("recommendation", recommendation_json),
	REFLECT_COMPUTED("rows", choices_json),
	REFLECT_COMPUTED("fronts", fronts_json),
	REFLECT_COMPUTED("headline", study_epsilon_levels_json),
	REFLECT_ARRAY(report_model, bests, nbests, report_best),
	REFLECT_ARRAY(report_model, front, nfront, report_point),
	REFLECT_ARRAY(report_model, privacy, nprivacy, report_mechanism),
	REFLECT_STRUCT(report_model, declared, report_declarations),
	REFLECT_POINTER(report_model, released, report_release_cost),
	REFLECT_STRUCT(report_model, optimism, report_selection_bias),
	REFLECT_ARRAY(report_model, models, nmodels, report_surrogate),
	REFLECT_STRUCT(report_model, importance, report_importance),
	REFLECT_COMPUTED("compared", compared_json),
	REFLECT_ARRAY(report_model, baselines, nbaselines, report_baseline),
	REFLECT_POINTER(report_model, majority, report_majority_class),
	REFLECT_COMPUTED("figures", report_json_figures),
	REFLECT_STRUCT(report_model, settings, report_settings),
	REFLECT_STRUCT(report_model, failures, report_failures),
	REFLECT_STRUCT(report_model, spent, report_resources),
	REFLECT_STRUCT(report_model, reproduce, report_provenance),
};
REFLECT_SHAPE(report_model, all_rows);

static json_t *study_report_json(const struct report_model *report)
{
	/* what `run` prints, and more: the volume without the noise also of a front that
	 * is not chosen by it */
	json_t *out = dp_state_smoothed_result_json(
		report->study.view, report->study.smoothed_hypervolume, json_array());

	if (out && isnan(report->study.smoothed_hypervolume))
		json_object_set_new(out, "hypervolume_denoised", json_null());
	if (out && report->study.reevaluated_size &&
	    json_object_set_new(out, "hypervolume_remeasured",
				json_number_or_null(report->study.reevaluated_hypervolume)) != 0) {
		json_decref(out);
		return NULL;
	}
	if (out) {
		json_object_set_new(out, "label", json_text_or_null(report->study.name));
		json_add_struct_fields(out, &report_model_shape, report);
	}
	return out;
}

json_t *report_json_build(const struct report_model *report)
{
	if (report->groups)
		return groups_report_build_json(report);
	return report->selection ? selection_report_build_json(report) : study_report_json(report);
}
