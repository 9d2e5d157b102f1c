/* front_results.c - the front in the report model: points, best values by epsilon level, selection
 * bias. */
#include "reports/model/report_model.h"

#include "state/state_json.h"
#include "study/metric_release.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Spread of an objective over the runs of a result. A checkpoint keeps no `least` and `most`. */
struct run_spread {
	double least, mean, most, sd, standard_error;
	int64_t runs;
};

static struct run_spread compute_run_spread(const struct study_data *s, struct dp_result_id p,
					    size_t objective)
{
	struct run_spread out = { .runs = dp_study_reported_runs(s->state->spec) };

	if (!study_data_run_range(s, p, objective, &out.least, &out.most))
		out.least = out.most = NAN;
	out.mean = dp_result_get_objectives(s->state, p)[objective];
	out.sd = study_data_run_sd(s, p, objective);
	out.standard_error = out.sd / sqrt((double)out.runs);
	/* single runs are not kept, but the noise on their mean is known */
	if (s->state->spec->objectives[objective].release.records > 0)
		out.standard_error = s->state->spec->objectives[objective].release.sigma;
	return out;
}

static json_t *run_spread_json(const struct study_data *s, struct dp_result_id p, size_t objective)
{
	struct run_spread runs = compute_run_spread(s, p, objective);
	json_t *o = json_object();

	put_number(o, "least", runs.least);
	put_number(o, "mean", runs.mean);
	put_number(o, "most", runs.most);
	put_number(o, "sd", runs.sd);
	put_number(o, "standard_error", runs.standard_error);
	put_count(o, "runs", runs.runs);
	return o;
}

/* Smoothed value of an objective at the i-th point of the front, or NaN without a model. `p`: the
 * prediction there, or NULL. */
static double front_smoothed_value(const struct study_data *s, size_t i, size_t objective,
				   const struct dp_prediction *p)
{
	if (s->uses_smoothed_front)
		return study_data_front_value(s, i, objective);
	if (!p)
		return NAN;
	return s->state->spec->objectives[objective].metric
		       ? p->value
		       : dp_result_get_objectives(s->state,
						  study_data_front_point(s, i))[objective];
}

/* Adds the fields that have one member for each objective. `p`: predictions there, by objective, or
 * NULL. */
static void put_point_objectives(json_t *o, const struct study_data *s, size_t i,
				 const struct dp_prediction *p)
{
	struct dp_result_id point = study_data_front_point(s, i);
	json_t *smoothed = p || s->uses_smoothed_front ? json_object() : NULL;
	json_t *interval = p ? json_object() : NULL, *runs = json_object();
	json_t *checks = json_object(), *statements = json_object();
	json_t *metrics = json_object();

	for (size_t k = 0; k < s->state->spec->nobjectives; k++) {
		const struct dp_objective *objective = &s->state->spec->objectives[k];
		struct dp_buf statement = DP_BUF_INIT;
		struct accountant_check check;
		json_t *one;

		if (smoothed)
			put_number(smoothed, objective->name,
				   front_smoothed_value(s, i, k, p ? &p[k] : NULL));
		if (objective->metric) {
			put_json(runs, objective->name, run_spread_json(s, point, k));
			if (p)
				put_json(interval, objective->name,
					 json_pack("{s:o, s:o}", "low", number_json(p[k].lo),
						   "high", number_json(p[k].hi)));
			continue;
		}
		check = check_result_epsilon(s, point, k);
		one = json_object();
		put_number(one, "pld", check.pld);
		put_number(one, "rdp_improved", check.rdp_improved);
		put_number(one, "rdp_classic", check.rdp_classic);
		put_bool(one, "recomputed", check.recomputed);
		put_bool(one, "holds", check.holds);
		put_json(checks, objective->name, one);
		put_text(statements, objective->name,
			 append_privacy_statement(s, point, k, &statement) ? dp_buf_text(&statement)
									   : NULL);
		dp_buf_free(&statement);
	}
	for (uint32_t k = 0; k < s->state->nmetrics; k++)
		put_number(metrics, s->state->metrics[k],
			   dp_result_metric_mean(s->state, point, (int)k));
	put_json(o, "denoised", smoothed);
	put_json(o, "interval", interval);
	put_json(o, "runs", runs);
	put_json(o, "remeasured", dp_result_reeval_json(s->view, point));
	put_json(o, "metrics", metrics);
	put_json(o, "checks", checks);
	put_json(o, "statements", statements);
}

json_t *front_json(const struct study_data *s, const struct dp_prediction *predictions)
{
	const struct dp_study *spec = s->state->spec;
	json_t *list = json_array();

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id point = study_data_front_point(s, i);
		json_t *o = json_object();

		put_count(o, "trial", point.trial);
		put_count(o, "at", study_data_checkpoint_of(s, point));
		put_json(o, "parameters",
			 dp_space_to_json_at(spec, s->state->trials[point.trial]->x,
					     dp_result_checkpoint_value(s->state, point)));
		put_json(o, "objectives",
			 dp_objectives_json(s->state->spec,
					    dp_result_get_objectives(s->state, point)));
		put_json(o, "spread", dp_result_spread_json(s->view, point));
		put_point_objectives(o, s, i,
				     predictions ? predictions + i * spec->nobjectives : NULL);
		json_array_append_new(list, o);
	}
	return list;
}

struct front_variants compute_front_variants(const struct study_data *s)
{
	size_t n = study_data_front_size(s);
	struct dp_result_id *points = dp_calloc(n + 1, sizeof *points);
	struct dp_reeval_stats again;
	struct front_variants out = {
		.smoothed_size = s->smoothed.is_modelled ? s->smoothed.n : 0,
		.smoothed_hypervolume = s->uses_smoothed_front || s->smoothed.is_modelled
						? s->smoothed.hypervolume
						: NAN,
	};

	for (size_t i = 0; i < n; i++) {
		points[i] = study_data_front_point(s, i);
		out.reevaluated_size += dp_result_compute_reeval_stats(s->state, points[i], &again);
	}
	out.reevaluated_hypervolume = dp_results_reeval_hypervolume(s->state, points, n);
	free(points);
	return out;
}

static double result_epsilon(const struct study_data *s, struct dp_result_id p)
{
	return s->privacy_obj >= 0 ? dp_result_get_objectives(s->state, p)[s->privacy_obj] : 0;
}

/* Of equally good results the more private comes first, then the order of
 * dp_state_list_results(). */
static bool result_precedes(const struct study_data *s, struct dp_result_id a,
			    struct dp_result_id b)
{
	double u = result_epsilon(s, a), v = result_epsilon(s, b);

	if (u != v)
		return u < v;
	if (a.trial != b.trial)
		return a.trial < b.trial;
	return a.checkpoint != DP_CHECKPOINT_FINAL &&
	       (b.checkpoint == DP_CHECKPOINT_FINAL || a.checkpoint < b.checkpoint);
}

bool study_data_best_on_front(const struct study_data *s, size_t objective, double max_epsilon,
			      struct dp_result_id *point, double *value)
{
	bool maximize = s->state->spec->objectives[objective].maximize, found = false;

	*value = NAN;
	*point = (struct dp_result_id){ 0 };
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id p = study_data_front_point(s, i);
		double v = study_data_front_value(s, i, objective);

		if (isnan(v) || !(result_epsilon(s, p) <= max_epsilon))
			continue;
		if (found && !(maximize ? v > *value : v < *value) &&
		    !(v == *value && result_precedes(s, p, *point)))
			continue;
		*point = p;
		*value = v;
		found = true;
	}
	return found;
}

json_t *epsilon_levels_json(const struct study_data *s)
{
	static const double levels[] = { 0.1, 0.5, 1, 2, 5, 10 };
	json_t *list = json_array();

	for (size_t i = 0; s->privacy_obj >= 0 && s->utility_obj >= 0 && i < DP_COUNT(levels);
	     i++) {
		size_t utility = (size_t)s->utility_obj;
		json_t *o = json_object();
		struct dp_result_id p;
		double value;
		bool found = study_data_best_on_front(s, utility, levels[i], &p, &value);

		put_number(o, "epsilon", levels[i]);
		put_count(o, "trial", found ? (int64_t)p.trial : -1);
		put_count(o, "at", found ? study_data_checkpoint_of(s, p) : -1);
		if (found) {
			put_number(o, "spent", result_epsilon(s, p));
			put_number(o, "value", value);
			put_json(o, "runs", run_spread_json(s, p, utility));
		}
		json_array_append_new(list, o);
	}
	return list;
}

bool beats_majority_class(const struct study_data *s, size_t objective, double value,
			  double standard_error, double majority)
{
	double by = s->state->spec->objectives[objective].maximize ? value - majority
								   : majority - value;

	return by > 2 * (isnan(standard_error) ? 0 : standard_error);
}

json_t *majority_json(const struct study_data *s)
{
	double majority =
		s->utility_obj < 0 ? NAN : study_data_majority_value(s, (size_t)s->utility_obj);
	int64_t no_better = 0;

	if (isnan(majority))
		return NULL;
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		size_t utility = (size_t)s->utility_obj;
		struct run_spread runs =
			compute_run_spread(s, study_data_front_point(s, i), utility);

		no_better +=
			!beats_majority_class(s, utility, study_data_front_value(s, i, utility),
					      runs.standard_error, majority);
	}
	return json_pack("{s:o, s:I}", "value", number_json(majority), "no_better",
			 (json_int_t)no_better);
}

json_t *bests_json(const struct study_data *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->state->spec->nobjectives; i++) {
		struct dp_result_id p;
		json_t *o;
		double value;

		if (!study_data_best_on_front(s, i, INFINITY, &p, &value))
			continue;
		o = json_object();
		put_text(o, "objective", s->state->spec->objectives[i].name);
		put_count(o, "trial", p.trial);
		put_count(o, "at", study_data_checkpoint_of(s, p));
		put_json(o, "objectives",
			 dp_objectives_json(s->state->spec, dp_result_get_objectives(s->state, p)));
		json_array_append_new(list, o);
	}
	return list;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts v. NaN if v is empty. */
static double median_of(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof *v, compare_doubles);
	return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* How much worse the smoothed values are than the observed values of the front. */
static json_t *shrinkage_json(const struct study_data *s, size_t objective,
			      const struct dp_prediction *p)
{
	const struct dp_study *spec = s->state->spec;
	size_t n = study_data_front_size(s);
	double sum = 0, most = -INFINITY;

	if (!p || n == 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct dp_result_id point = study_data_front_point(s, i);
		double by = front_smoothed_value(s, i, objective,
						 &p[i * spec->nobjectives + objective]) -
			    dp_result_get_objectives(s->state, point)[objective];

		by = spec->objectives[objective].maximize ? -by : by;
		sum += by;
		most = fmax(most, by);
	}
	return json_pack("{s:o, s:o}", "mean", number_json(sum / (double)n), "most",
			 number_json(most));
}

/* Re-evaluated minus searched values. */
static json_t *reevaluation_json(const struct study_data *s, size_t objective)
{
	double sign = s->state->spec->objectives[objective].maximize ? -1 : 1;
	double than_observed = 0, than_smoothed = s->uses_smoothed_front ? 0 : NAN;
	struct dp_reeval_stats again;
	size_t n = 0;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id p = study_data_front_point(s, i);
		double value;

		if (!dp_result_compute_reeval_stats(s->state, p, &again))
			continue;
		value = again.objectives[objective];
		n++;
		than_observed += sign * (value - dp_result_get_objectives(s->state, p)[objective]);
		than_smoothed += sign * (value - study_data_front_value(s, i, objective));
	}
	return n == 0 ? NULL
		      : json_pack("{s:I, s:o, s:o}", "points", (json_int_t)n, "than_observed",
				  number_json(than_observed / (double)n), "than_denoised",
				  number_json(than_smoothed / (double)n));
}

/* The mean over the front of the holdout metric minus that of the searched metric. */
static json_t *holdout_json(const struct study_data *s, const struct dp_objective *o)
{
	char name[DP_NAME_MAX + 8];
	size_t n = study_data_front_size(s);
	double sum = 0;
	int held, seen = dp_state_metric_column(s->state, o->metric);

	snprintf(name, sizeof name, "test_%s", o->metric);
	held = dp_state_metric_column(s->state, name);
	if (held < 0 || n == 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct dp_result_id p = study_data_front_point(s, i);

		sum += dp_result_metric_mean(s->state, p, held) -
		       dp_result_metric_mean(s->state, p, seen);
	}
	return json_pack("{s:s, s:s, s:o}", "metric", name, "of", o->metric, "difference",
			 number_json(sum / (double)n));
}

/* Sampling error of a share p of n test records. n comes from the trainer's metric test_records, or
 * else from the study file's `release`. */
static json_t *sampling_error_json(const struct study_data *s, const struct dp_objective *objective,
				   double p)
{
	int column = dp_state_metric_column(s->state, "test_records");
	double v = p * (1 - p),
	       n = dp_study_has_metric_release(s->state->spec) ? objective->release.records : NAN;
	json_t *o;

	if (!(p >= 0 && p <= 1))
		return NULL;
	if (column >= 0 && study_data_front_size(s) > 0)
		n = dp_result_metric_mean(s->state, study_data_front_point(s, 0), column);
	o = json_object();
	put_number(o, "share", p);
	put_number(o, "records", n);
	put_number(o, "error", sqrt(v / n));
	put_number(o, "error_at_1000", sqrt(v / 1000));
	put_number(o, "error_at_10000", sqrt(v / 10000));
	return o;
}

/* How far to trust the values of a measured objective. `work` has room for the front. */
static json_t *utility_trust_json(const struct study_data *s, size_t objective,
				  const struct dp_prediction *p, double *work)
{
	const struct dp_objective *spec = &s->state->spec->objectives[objective];
	json_t *o = json_object();
	size_t n = 0;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct run_spread v =
			compute_run_spread(s, study_data_front_point(s, i), objective);

		if (!isnan(v.standard_error))
			work[n++] = v.standard_error;
	}
	put_text(o, "objective", spec->name);
	put_number(o, "standard_error", median_of(work, n));
	put_json(o, "too_good_by", shrinkage_json(s, objective, p));
	put_json(o, "again", reevaluation_json(s, objective));
	put_json(o, "holdout", holdout_json(s, spec));
	for (n = 0; n < study_data_front_size(s); n++)
		work[n] = study_data_front_value(s, n, objective);
	put_json(o, "sampling", sampling_error_json(s, spec, median_of(work, n)));
	return o;
}

json_t *selection_bias_json(const struct study_data *s, const struct dp_prediction *predictions)
{
	const struct dp_study *spec = s->state->spec;
	double *work = dp_calloc(study_data_front_size(s) + 1, sizeof *work);
	json_t *o = json_object(), *objectives = json_array();

	put_count(o, "chosen_from", (int64_t)s->npoints);
	put_count(o, "trials", (int64_t)study_data_count_trials(s));
	put_count(o, "runs", spec->trainer.runs);
	put_text(o, "no_models", s->surrogates ? NULL : s->no_surrogates_reason);
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			json_array_append_new(objectives,
					      utility_trust_json(s, i, predictions, work));
	put_json(o, "objectives", objectives);
	free(work);
	return o;
}
