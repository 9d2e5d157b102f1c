/* facts_json.c - report.json: the facts by the names of their fields. */
#include "reports/fact_rows.h"
#include "reports/group_facts.h"

#include "journal/view.h"

#include <math.h>

/* ---- points ---- */

static const struct fact_row spread_rows[] = {
	FACT(fact_spread, least), FACT(fact_spread, mean),           FACT(fact_spread, most),
	FACT(fact_spread, sd),    FACT(fact_spread, standard_error), FACT(fact_spread, runs),
};
FACT_SHAPE(fact_spread, spread_rows);

static const struct fact_row headline_rows[] = {
	FACT(fact_headline, epsilon),
	FACT(fact_headline, trial),
	FACT(fact_headline, at),
	FACT_IF_KNOWN(fact_headline, spent),
	FACT_IF_KNOWN(fact_headline, value),
	FACT_MAYBE_LEFT_OUT(fact_headline, runs, fact_spread),
};
FACT_SHAPE(fact_headline, headline_rows);

static json_t *headlines_json(const struct fact_headlines *h)
{
	return fact_list_json(&fact_headline_shape, h->list, h->n);
}

static const struct fact_row interval_rows[] = { FACT(fact_interval, low),
						 FACT(fact_interval, high) };
FACT_SHAPE(fact_interval, interval_rows);

static const struct fact_row check_rows[] = {
	FACT(fact_check, pld),        FACT(fact_check, rdp_improved), FACT(fact_check, rdp_classic),
	FACT(fact_check, recomputed), FACT(fact_check, holds),
};
FACT_SHAPE(fact_check, check_rows);

static json_t *point_objectives(const void *part)
{
	const struct fact_point *p = part;

	return dp_view_objectives(p->s->s, dp_point_objectives(p->s->s, p->point));
}

/* An object with what `make` gives for each objective; NULL is left out. */
static json_t *by_objective(const void *part, json_t *(*make)(const struct fact_point_objective *o))
{
	const struct fact_point *p = part;
	json_t *all = json_object();

	for (size_t i = 0; i < p->s->s->spec->nobjectives; i++) {
		json_t *v = make(&p->of[i]);

		if (v)
			json_object_set_new(all, p->of[i].name, v);
	}
	return all;
}

static json_t *point_spread(const void *part)
{
	const struct fact_point *p = part;

	return dp_view_point_spread(p->s->s, p->point);
}

static json_t *runs_of(const struct fact_point_objective *o)
{
	return o->runs ? fact_part_json(&fact_spread_shape, o->runs) : NULL;
}

static json_t *point_runs(const void *part)
{
	return by_objective(part, runs_of);
}

static json_t *denoised_of(const struct fact_point_objective *o)
{
	return fact_number_json(o->denoised);
}

/* Null where there are no models. */
static json_t *point_denoised(const void *part)
{
	return ((const struct fact_point *)part)->denoised ? by_objective(part, denoised_of)
							   : json_null();
}

static json_t *interval_of(const struct fact_point_objective *o)
{
	return o->interval ? fact_part_json(&fact_interval_shape, o->interval) : NULL;
}

/* Null where there are no models. */
static json_t *point_interval(const void *part)
{
	return ((const struct fact_point *)part)->modelled ? by_objective(part, interval_of)
							   : json_null();
}

static json_t *point_metrics(const void *part)
{
	const struct fact_point *p = part;
	const struct dp_study_state *st = p->s->s;
	json_t *o = json_object();

	for (uint32_t i = 0; i < st->nmetrics; i++)
		json_object_set_new(o, st->metrics[i],
				    fact_number_json(dp_point_mean(st, p->point, (int)i)));
	return o;
}

static json_t *point_remeasured(const void *part)
{
	const struct fact_point *p = part;

	return dp_view_remeasured(p->s->s, p->point);
}

static json_t *checked_of(const struct fact_point_objective *o)
{
	return o->check ? fact_part_json(&fact_check_shape, o->check) : NULL;
}

static json_t *point_checks(const void *part)
{
	return by_objective(part, checked_of);
}

static json_t *statement_of(const struct fact_point_objective *o)
{
	return o->check ? fact_text_json(o->statement) : NULL;
}

static json_t *point_statements(const void *part)
{
	return by_objective(part, statement_of);
}

static const struct fact_row point_rows[] = {
	FACT(fact_point, trial),
	FACT(fact_point, at),
	FACT(fact_point, parameters),
	FACT_MADE("objectives", point_objectives),
	FACT_MADE("spread", point_spread),
	FACT_MADE("denoised", point_denoised),
	FACT_MADE("interval", point_interval),
	FACT_MADE("runs", point_runs),
	FACT_MADE("remeasured", point_remeasured),
	FACT_MADE("metrics", point_metrics),
	FACT_MADE("checks", point_checks),
	FACT_MADE("statements", point_statements),
};
FACT_SHAPE(fact_point, point_rows);

static const struct fact_row objective_rows[] = {
	FACT(fact_objective, name),       FACT(fact_objective, label),  FACT(fact_objective, goal),
	FACT(fact_objective, kind),       FACT(fact_objective, metric), FACT(fact_objective, share),
	FACT(fact_objective, anti_ideal),
};
FACT_SHAPE(fact_objective, objective_rows);

static json_t *best_objectives(const void *part)
{
	const struct fact_best *b = part;

	return dp_view_objectives(b->s, dp_point_objectives(b->s, b->point));
}

static const struct fact_row best_rows[] = {
	FACT(fact_best, objective),
	FACT(fact_best, trial),
	FACT(fact_best, at),
	FACT_MADE("objectives", best_objectives),
};
FACT_SHAPE(fact_best, best_rows);

/* ---- which to take ---- */

static json_t *choice_parameters(const void *part)
{
	return json_incref(((const struct fact_choice *)part)->point->parameters);
}

static json_t *choice_objectives(const void *part)
{
	return point_objectives(((const struct fact_choice *)part)->point);
}

static json_t *choice_interval(const void *part)
{
	const struct fact_choice *c = part;

	return c->source ? json_pack("{s:o, s:o, s:o, s:s}", "value", fact_number_json(c->value),
				     "low", fact_number_json(c->low), "high",
				     fact_number_json(c->high), "source", c->source)
			 : json_null();
}

static const struct fact_row choice_rows[] = {
	FACT(fact_choice, name),
	FACT(fact_choice, trial),
	FACT(fact_choice, at),
	FACT_MADE("parameters", choice_parameters),
	FACT_MADE("objectives", choice_objectives),
	FACT_MADE("interval", choice_interval),
	FACT(fact_choice, no_better),
	FACT(fact_choice, meaningless),
	FACT(fact_choice, command),
};
FACT_SHAPE(fact_choice, choice_rows);

static const struct fact_row step_rows[] = {
	FACT(fact_step, gain),    FACT(fact_step, noise),    FACT(fact_step, sampling),
	FACT(fact_step, records), FACT(fact_step, resolved),
};
FACT_SHAPE(fact_step, step_rows);

/* The point, and why it is that one. */
static json_t *recommendation_json(const void *part)
{
	const struct fact_recommendation *r = ((const struct facts *)part)->recommendation;
	json_t *out;

	if (!r || !r->taken)
		return json_null();
	out = fact_part_json(&fact_choice_shape, r->taken);
	json_object_set_new(out, "rule", fact_text_json(r->rule));
	json_object_set_new(out, "ask", fact_text_json(r->ask));
	json_object_set_new(out, "limit", fact_number_json(r->limit));
	json_object_set_new(out, "beyond", fact_part_json(&fact_choice_shape, r->beyond));
	json_object_set_new(out, "to_loose", fact_part_json(&fact_step_shape, r->to_loose));
	json_object_set_new(out, "enough", fact_part_json(&fact_choice_shape, r->enough));
	json_object_set_new(out, "from_enough", fact_part_json(&fact_step_shape, r->from_enough));
	json_object_set_new(out, "sentence", fact_text_json(r->sentence));
	return out;
}

static json_t *choices_json(const void *part)
{
	const struct fact_recommendation *r = ((const struct facts *)part)->recommendation;

	return r ? fact_list_json(&fact_choice_shape, r->rows, r->nrows) : json_array();
}

static json_t *one_front_json(size_t points, double volume)
{
	return json_pack("{s:I, s:o}", "points", (json_int_t)points, "hypervolume",
			 fact_number_json(volume));
}

/* Searched, without the noise, and measured again: told apart. */
static json_t *fronts_json(const void *part)
{
	const struct fact_study *s = &((const struct facts *)part)->study;

	return json_pack("{s:s, s:o, s:o, s:o}", "shown", s->denoises ? "denoised" : "searched",
			 "searched", one_front_json(s->searched, s->hypervolume), "denoised",
			 s->modelled ? one_front_json(s->modelled, s->hypervolume_denoised)
				     : json_null(),
			 "remeasured",
			 s->remeasured ? one_front_json(s->remeasured, s->hypervolume_remeasured)
				       : json_null());
}

/* ---- trust ---- */

static const struct fact_row shrinkage_rows[] = { FACT(fact_shrinkage, mean),
						  FACT(fact_shrinkage, most) };
FACT_SHAPE(fact_shrinkage, shrinkage_rows);

static const struct fact_row again_rows[] = { FACT(fact_again, points),
					      FACT(fact_again, than_observed),
					      FACT(fact_again, than_denoised) };
FACT_SHAPE(fact_again, again_rows);

static const struct fact_row holdout_rows[] = { FACT(fact_holdout, metric), FACT(fact_holdout, of),
						FACT(fact_holdout, difference) };
FACT_SHAPE(fact_holdout, holdout_rows);

static const struct fact_row sampling_rows[] = {
	FACT(fact_sampling, share),          FACT(fact_sampling, records),
	FACT(fact_sampling, error),          FACT(fact_sampling, error_at_1000),
	FACT(fact_sampling, error_at_10000),
};
FACT_SHAPE(fact_sampling, sampling_rows);

static const struct fact_row trust_rows[] = {
	FACT(fact_trust, objective),
	FACT(fact_trust, standard_error),
	FACT_MAYBE(fact_trust, too_good_by, fact_shrinkage),
	FACT_MAYBE(fact_trust, again, fact_again),
	FACT_MAYBE(fact_trust, holdout, fact_holdout),
	FACT_MAYBE(fact_trust, sampling, fact_sampling),
};
FACT_SHAPE(fact_trust, trust_rows);

static const struct fact_row optimism_rows[] = {
	FACT(fact_optimism, chosen_from),
	FACT(fact_optimism, trials),
	FACT(fact_optimism, runs),
	FACT(fact_optimism, no_models),
	FACT_LIST(fact_optimism, objectives, nobjectives, fact_trust),
};
FACT_SHAPE(fact_optimism, optimism_rows);

/* ---- models ---- */

static const struct fact_row model_rows[] = {
	FACT(fact_model, objective), FACT(fact_model, results), FACT(fact_model, coverage),
	FACT(fact_model, explained), FACT(fact_model, error),   FACT(fact_model, trusted),
	FACT(fact_model, why),
};
FACT_SHAPE(fact_model, model_rows);

static const struct fact_row share_rows[] = {
	FACT(fact_share, parameter),
	FACT(fact_share, first),
	FACT(fact_share, total),
};
FACT_SHAPE(fact_share, share_rows);

static const struct fact_row objective_shares_rows[] = {
	FACT(fact_objective_shares, objective),
	FACT(fact_objective_shares, source),
	FACT_LIST(fact_objective_shares, parameters, nparameters, fact_share),
};
FACT_SHAPE(fact_objective_shares, objective_shares_rows);

static const struct fact_row importance_rows[] = {
	FACT(fact_importance, ranking),
	FACT_LIST(fact_importance, objectives, nobjectives, fact_objective_shares),
};
FACT_SHAPE(fact_importance, importance_rows);

/* ---- privacy ---- */

static const struct fact_row composed_rows[] = {
	FACT(fact_composed, evaluations),  FACT(fact_composed, trainings),
	FACT(fact_composed, attempts),     FACT(fact_composed, not_started),
	FACT(fact_composed, imported),     FACT(fact_composed, proof),
	FACT(fact_composed, epsilon),      FACT(fact_composed, delta),
	FACT(fact_composed, order),        FACT(fact_composed, spent),
	FACT(fact_composed, limit),        FACT(fact_composed, if_fixed),
	FACT_IF_KNOWN(fact_composed, why),
};
FACT_SHAPE(fact_composed, composed_rows);

static json_t *keys_json(const struct fact_key *list, size_t n)
{
	json_t *keys = json_object();

	for (size_t i = 0; i < n; i++) {
		const struct fact_key *k = &list[i];

		json_object_set_new(keys, k->name,
				    k->parameter ? json_pack("{s:s}", "parameter", k->parameter)
				    : k->word    ? json_string(k->word)
						 : fact_number_json(k->number));
	}
	return keys;
}

static json_t *part_keys(const void *part)
{
	const struct fact_part *p = part;

	return keys_json(p->keys, p->nkeys);
}

static json_t *part_times(const void *part)
{
	const struct fact_part *p = part;

	return p->times_parameter ? json_pack("{s:s}", "parameter", p->times_parameter)
				  : fact_number_json(p->times);
}

static const struct fact_row part_rows[] = {
	FACT(fact_part, mechanism), FACT(fact_part, summary),  FACT_MADE("times", part_times),
	FACT(fact_part, relation),  FACT(fact_part, sampling), FACT_MADE("keys", part_keys),
	FACT(fact_part, records),   FACT(fact_part, theorem),  FACT(fact_part, source),
	FACT(fact_part, noise),
};
FACT_SHAPE(fact_part, part_rows);

static json_t *mechanism_keys(const void *part)
{
	const struct fact_mechanism *m = part;

	return keys_json(m->keys, m->nkeys);
}

static const struct fact_row mechanism_rows[] = {
	FACT(fact_mechanism, objective),
	FACT(fact_mechanism, mechanism),
	FACT(fact_mechanism, summary),
	FACT_IF_KNOWN(fact_mechanism, command),
	FACT_LIST(fact_mechanism, parts, nparts, fact_part),
	FACT(fact_mechanism, unit),
	FACT(fact_mechanism, relation),
	FACT(fact_mechanism, sampling),
	FACT_MADE("keys", mechanism_keys),
	FACT(fact_mechanism, records),
	FACT(fact_mechanism, delta),
	FACT(fact_mechanism, delta_times_records),
	FACT(fact_mechanism, accountant),
	FACT(fact_mechanism, accountant_text),
	FACT(fact_mechanism, theorem),
	FACT(fact_mechanism, source),
	FACT(fact_mechanism, noise),
	FACT(fact_mechanism, warning),
	FACT_PART(fact_mechanism, composed, fact_composed),
};
FACT_SHAPE(fact_mechanism, mechanism_rows);

static const struct fact_row declared_rows[] = {
	FACT(fact_declared, compared), FACT(fact_declared, kept),
	FACT(fact_declared, attempts), FACT(fact_declared, sampling),
	FACT(fact_declared, records),  FACT(fact_declared, lot),
	FACT(fact_declared, steps),    FACT(fact_declared, noise_over_clip),
	FACT(fact_declared, shuffled),
};
FACT_SHAPE(fact_declared, declared_rows);

/* ---- the study ---- */

static const struct fact_row calibrated_rows[] = {
	FACT(fact_calibrated, mechanism),
	FACT(fact_calibrated, key),
	FACT_IF_KNOWN(fact_calibrated, epsilon),
	FACT_IF_KNOWN(fact_calibrated, epsilon_of),
};
FACT_SHAPE(fact_calibrated, calibrated_rows);

static const struct fact_row parameter_rows[] = {
	FACT(fact_parameter, name),
	FACT(fact_parameter, type),
	FACT_IF_KNOWN(fact_parameter, low),
	FACT_IF_KNOWN(fact_parameter, high),
	FACT_IF_KNOWN(fact_parameter, scale),
	FACT_IF_KNOWN(fact_parameter, values),
	FACT_MAYBE_LEFT_OUT(fact_parameter, calibrated, fact_calibrated),
};
FACT_SHAPE(fact_parameter, parameter_rows);

static const struct fact_row constraint_rows[] = { FACT(fact_constraint, metric),
						   FACT(fact_constraint, is),
						   FACT(fact_constraint, bound) };
FACT_SHAPE(fact_constraint, constraint_rows);

static const struct fact_row path_rows[] = { FACT(fact_path, parameter), FACT(fact_path, points) };
FACT_SHAPE(fact_path, path_rows);

static const struct fact_row settings_rows[] = {
	FACT(fact_settings, method),
	FACT(fact_settings, acquisition),
	FACT(fact_settings, front),
	FACT(fact_settings, evaluations),
	FACT(fact_settings, parallel),
	FACT(fact_settings, cost),
	FACT(fact_settings, max_cost),
	FACT(fact_settings, order),
	FACT(fact_settings, runs),
	FACT(fact_settings, one_run_per_process),
	FACT(fact_settings, initial),
	FACT(fact_settings, initial_from),
	FACT(fact_settings, max_time),
	FACT(fact_settings, timeout),
	FACT(fact_settings, memory),
	FACT(fact_settings, retries),
	FACT_MAYBE(fact_settings, path, fact_path),
	FACT_LIST(fact_settings, parameters, nparameters, fact_parameter),
	FACT_LIST(fact_settings, constraints, nconstraints, fact_constraint),
};
FACT_SHAPE(fact_settings, settings_rows);

static const struct fact_row message_rows[] = { FACT(fact_message, trial), FACT(fact_message, at),
						FACT(fact_message, message) };
FACT_SHAPE(fact_message, message_rows);

static const struct fact_row failure_rows[] = {
	FACT(fact_failure, end),
	FACT(fact_failure, attempts),
	FACT(fact_failure, trials),
	FACT_LIST(fact_failure, messages, nmessages, fact_message),
};
FACT_SHAPE(fact_failure, failure_rows);

static const struct fact_row failures_rows[] = {
	FACT(fact_failures, failed),
	FACT(fact_failures, diverged),
	FACT(fact_failures, attempts),
	FACT(fact_failures, waypoints_kept),
	FACT(fact_failures, messages_left_out),
	FACT_LIST(fact_failures, groups, ngroups, fact_failure),
};
FACT_SHAPE(fact_failures, failures_rows);

static const struct fact_row spent_rows[] = {
	FACT(fact_spent, evaluations),     FACT(fact_spent, attempts),
	FACT(fact_spent, trainings),       FACT(fact_spent, walked),
	FACT(fact_spent, elapsed_seconds), FACT(fact_spent, training_seconds),
	FACT(fact_spent, cpu_seconds),     FACT(fact_spent, peak_memory),
};
FACT_SHAPE(fact_spent, spent_rows);

static const struct fact_row versions_rows[] = { FACT(fact_versions, dpareto),
						 FACT(fact_versions, journal_format),
						 FACT(fact_versions, compiler) };
FACT_SHAPE(fact_versions, versions_rows);

static const struct fact_row host_rows[] = { FACT(fact_host, name), FACT(fact_host, system),
					     FACT(fact_host, release), FACT(fact_host, machine) };
FACT_SHAPE(fact_host, host_rows);

static json_t *reproduce_seed(const void *part)
{
	const struct fact_reproduce *r = part;

	return r->seed ? json_integer((json_int_t)*r->seed) : json_null();
}

static const struct fact_row reproduce_rows[] = {
	FACT(fact_reproduce, study_file),
	FACT(fact_reproduce, command),
	FACT_MADE("seed", reproduce_seed),
	FACT_PART(fact_reproduce, versions, fact_versions),
	FACT_MAYBE(fact_reproduce, host, fact_host),
	FACT(fact_reproduce, path),
	FACT(fact_reproduce, journal),
	FACT(fact_reproduce, created),
	FACT(fact_reproduce, updated),
};
FACT_SHAPE(fact_reproduce, reproduce_rows);

/* ---- all of it ---- */

static const struct fact_row baseline_rows[] = { FACT(fact_baseline, label),
						 FACT(fact_baseline, value) };
FACT_SHAPE(fact_baseline, baseline_rows);

static json_t *own_headline(const void *part)
{
	return headlines_json(&((const struct facts *)part)->study.headline);
}

/* What `run` prints of another study, and its headline. */
static json_t *compared_json(const void *part)
{
	const struct facts *f = part;
	json_t *list = json_array();

	for (size_t i = 0; i < f->ncompared; i++) {
		json_t *o = dp_view_result(f->compared[i].s);

		json_object_set_new(o, "hypervolume_denoised",
				    fact_number_json(f->compared[i].hypervolume_denoised));
		json_object_set_new(o, "hypervolume_remeasured",
				    fact_number_json(f->compared[i].hypervolume_remeasured));
		json_object_set_new(o, "label", fact_text_json(f->compared[i].name));
		json_object_set_new(o, "headline", headlines_json(&f->compared[i].headline));
		json_array_append_new(list, o);
	}
	return list;
}

/* Names of the files that a picture has. */
static json_t *picture_files_json(const struct picture *p)
{
	struct picture_file files[PICTURE_FILES];
	json_t *list = json_array();
	char file[FIGURE_FILE_LEN];

	picture_files(p, files);
	for (size_t i = 0; i < PICTURE_FILES; i++)
		if (files[i].bytes->len)
			json_array_append_new(
				list, json_string(figure_file(p->figure, files[i].kind, file)));
	return list;
}

json_t *facts_figures_json(const void *part)
{
	const struct facts *f = part;
	json_t *list = json_array();

	for (size_t i = 0; i < f->npictures; i++) {
		const struct picture *p = &f->pictures[i];
		char file[FIGURE_FILE_LEN];
		bool drawn = picture_drawn(p);

		if (drawn)
			figure_file(p->figure, picture_kind(p), file);
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:s, s:o, s:o, s:o}", "file",
						fact_text_json(drawn ? file : NULL), "files",
						picture_files_json(p), "title", p->figure->title,
						"alt", fact_text_json(dp_buf_text(&p->alt)),
						"caption", fact_text_json(dp_buf_text(&p->caption)),
						"why_not", fact_text_json(drawn ? NULL : p->why)));
	}
	return list;
}

static const struct fact_row release_rows[] = {
	FACT(fact_release, objective),
	FACT(fact_release, metric),
	FACT(fact_release, records),
	FACT(fact_release, sigma),
};
FACT_SHAPE(fact_release, release_rows);

static const struct fact_row released_rows[] = {
	FACT(fact_released, points), FACT(fact_released, most),
	FACT(fact_released, delta),  FACT(fact_released, epsilon),
	FACT(fact_released, proof),  FACT_LIST(fact_released, metrics, nmetrics, fact_release),
};
FACT_SHAPE(fact_released, released_rows);

static const struct fact_row majority_rows[] = {
	FACT(fact_majority, value),
	FACT(fact_majority, no_better),
};
FACT_SHAPE(fact_majority, majority_rows);

static const struct fact_row all_rows[] = {
	FACT(facts, public),
	FACT(facts, data),
	FACT(facts, seeds),
	FACT(facts, seeds_warning),
	FACT(facts, budget),
	FACT(facts, privacy_objective),
	FACT(facts, utility_objective),
	FACT_LIST(facts, objectives, nobjectives, fact_objective),
	FACT_MADE("recommendation", recommendation_json),
	FACT_MADE("rows", choices_json),
	FACT_MADE("fronts", fronts_json),
	FACT_MADE("headline", own_headline),
	FACT_LIST(facts, bests, nbests, fact_best),
	FACT_LIST(facts, front, nfront, fact_point),
	FACT_LIST(facts, privacy, nprivacy, fact_mechanism),
	FACT_PART(facts, declared, fact_declared),
	FACT_MAYBE(facts, released, fact_released),
	FACT_PART(facts, optimism, fact_optimism),
	FACT_LIST(facts, models, nmodels, fact_model),
	FACT_PART(facts, importance, fact_importance),
	FACT_MADE("compared", compared_json),
	FACT_LIST(facts, baselines, nbaselines, fact_baseline),
	FACT_MAYBE(facts, majority, fact_majority),
	FACT_MADE("figures", facts_figures_json),
	FACT_PART(facts, settings, fact_settings),
	FACT_PART(facts, failures, fact_failures),
	FACT_PART(facts, spent, fact_spent),
	FACT_PART(facts, reproduce, fact_reproduce),
};
FACT_SHAPE(facts, all_rows);

static json_t *all_json(const struct facts *f)
{
	/* what `run` prints, and more: the volume without the noise also of a front that
	 * is not chosen by it */
	json_t *out =
		dp_view_result_denoised(f->study.s, f->study.hypervolume_denoised, json_array());

	if (out && isnan(f->study.hypervolume_denoised))
		json_object_set_new(out, "hypervolume_denoised", json_null());
	if (out && f->study.remeasured &&
	    json_object_set_new(out, "hypervolume_remeasured",
				fact_number_json(f->study.hypervolume_remeasured)) != 0) {
		json_decref(out);
		return NULL;
	}
	if (out) {
		json_object_set_new(out, "label", fact_text_json(f->study.name));
		fact_add_rows(out, &facts_shape, f);
	}
	return out;
}

json_t *facts_json(const struct facts *f)
{
	if (f->groups)
		return groups_report_json(f);
	return f->selection ? selection_report_json(f) : all_json(f);
}
