/* points.c - the results of a study: the front, the headline, and how far to trust them.
 */
#include "reports/model/report_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spread over runs ---- */

static struct report_spread compute_run_spread(const struct study_data *s, struct dp_result_id p,
					       size_t objective)
{
	struct report_spread out = {
		NAN, NAN, NAN, NAN, NAN, dp_study_reported_runs(s->state->spec)
	};

	if (!study_data_run_range(s, p, objective, &out.least, &out.most))
		out.least = out.most = NAN;
	out.mean = dp_result_get_objectives(s->state, p)[objective];
	out.sd = study_data_run_sd(s, p, objective);
	out.standard_error = out.sd / sqrt(dp_study_reported_runs(s->state->spec));
	/* of the runs nothing is told, but the noise on their mean is known */
	if (s->state->spec->objectives[objective].release.records > 0)
		out.standard_error = s->state->spec->objectives[objective].release.sigma;
	return out;
}

/* The same, among the facts. */
static struct report_spread *keep_spread(const struct study_data *s, struct dp_result_id p,
					 size_t objective, struct report_arena *arena)
{
	struct report_spread spread = compute_run_spread(s, p, objective);

	return report_arena_dup(arena, &spread, sizeof spread);
}

/* ---- the front ---- */

/* Predictions at the points of the front, or NULL without models. */
static struct dp_prediction *predict_front_or_null(const struct study_data *s,
						   struct report_arena *arena)
{
	struct dp_prediction *p;

	if (study_data_predict_front(s, &p, NULL) == DP_E_NOMEM)
		arena->failed = true;
	return p;
}

/* What is left of an objective at the i-th point of the front without the noise; NaN
 * where no model has looked at it. */
static double front_smoothed_value(const struct study_data *s, size_t i, size_t objective,
				   const struct dp_prediction *p)
{
	struct dp_result_id point = study_data_front_point(s, i);

	if (s->uses_smoothed_front)
		return study_data_front_value(s, i, objective);
	if (!p)
		return NAN;
	return s->state->spec->objectives[objective].metric
		       ? p->value
		       : dp_result_get_objectives(s->state, point)[objective];
}

/* What is known of one objective at the i-th point of the front; `p` is what its model
 * says, or NULL. */
static void fill_point_objective(const struct study_data *s, size_t i, size_t objective,
				 const struct dp_prediction *p, struct report_arena *arena,
				 struct report_point_objective *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	struct dp_result_id point = study_data_front_point(s, i);

	out->name = o->name;
	out->value = dp_result_get_objectives(s->state, point)[objective];
	out->smoothed = front_smoothed_value(s, i, objective, p);
	if (o->metric) {
		out->runs = keep_spread(s, point, objective, arena);
		if (p)
			out->interval =
				report_arena_dup(arena, &(struct report_interval){ p->lo, p->hi },
						 sizeof *out->interval);
		return;
	}
	out->check =
		report_arena_dup(arena, &(struct report_accountant_check){ 0 }, sizeof *out->check);
	if (out->check)
		*out->check = check_result_epsilon(s, point, objective);
	out->statement = format_privacy_statement(s, point, objective, arena);
}

static void fill_front_point(const struct study_data *s, size_t i, const struct dp_prediction *p,
			     struct report_arena *arena, struct report_point *out)
{
	struct dp_result_id point = study_data_front_point(s, i);
	size_t n = s->state->spec->nobjectives;

	struct dp_reeval_stats again;

	*out = (struct report_point){
		.study = s,
		.point = point,
		.trial = point.trial,
		.at = study_data_checkpoint_of(s, point),
		.parameters = dp_space_to_json_at(s->state->spec, s->state->trials[point.trial]->x,
						  dp_result_checkpoint_value(s->state, point)),
		.has_smoothed = p || s->uses_smoothed_front,
		.has_interval = p != NULL,
		.objectives = report_arena_alloc(arena, n, sizeof *out->objectives),
	};
	if (dp_result_compute_reeval_stats(s->state, point, &again))
		out->reevaluated = report_arena_dup(arena, &again, sizeof again);
	for (size_t k = 0; out->objectives && k < n; k++)
		fill_point_objective(s, i, k, p ? &p[k] : NULL, arena, &out->objectives[k]);
}

void report_model_add_front(const struct study_data *s, struct report_model *report)
{
	struct dp_prediction *p = predict_front_or_null(s, &report->arena);

	report->front =
		report_arena_alloc(&report->arena, study_data_front_size(s), sizeof *report->front);
	for (size_t i = 0; report->front && i < study_data_front_size(s); i++)
		fill_front_point(s, i, p ? p + i * s->state->spec->nobjectives : NULL,
				 &report->arena, &report->front[report->nfront++]);
	free(p);
}

void report_model_reevaluations(const struct study_data *s, struct report_arena *arena,
				struct report_study *out)
{
	size_t n = study_data_front_size(s);
	struct dp_result_id *points = dp_calloc(n + 1, sizeof *points);
	struct dp_reeval_stats again;

	out->reevaluated_hypervolume = NAN;
	if (!points) {
		arena->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		points[i] = study_data_front_point(s, i);
		out->reevaluated_size +=
			dp_result_compute_reeval_stats(s->state, points[i], &again);
	}
	out->reevaluated_hypervolume = dp_results_reeval_hypervolume(s->state, points, n);
	free(points);
}

/* ---- the best ---- */

static bool is_better(const struct dp_objective *o, double a, double b)
{
	return o->maximize ? a > b : a < b;
}

static double result_epsilon(const struct study_data *s, struct dp_result_id p)
{
	return s->privacy_obj >= 0 ? dp_result_get_objectives(s->state, p)[s->privacy_obj] : 0;
}

/* Of two that are as good: the more private, then as dp_state_list_results() has them. */
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

/* A point of the front, or none. */
struct best_point {
	bool found;
	struct dp_result_id point;
	double value; /* that put it there */
};

/* The point with the best value of an objective among those of the front that, where s
 * has a privacy objective, have an epsilon of at most `most`; of equal ones the more
 * private, then the first. What is best of all trials is on the front. */
static struct best_point find_best_on_front(const struct study_data *s, size_t objective,
					    double most)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	struct best_point best = { .value = NAN };

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id p = study_data_front_point(s, i);
		double v = study_data_front_value(s, i, objective);

		if (isnan(v) || !(result_epsilon(s, p) <= most))
			continue;
		if (!best.found || is_better(o, v, best.value) ||
		    (v == best.value && result_precedes(s, p, best.point)))
			best = (struct best_point){ true, p, v };
	}
	return best;
}

void report_model_epsilon_levels(const struct study_data *s, struct report_arena *arena,
				 struct report_epsilon_levels *out)
{
	static const double levels[] = { 0.1, 0.5, 1, 2, 5, 10 };

	*out = (struct report_epsilon_levels){ 0 };
	if (s->privacy_obj < 0 || s->utility_obj < 0)
		return;
	out->list = report_arena_alloc(arena, DP_COUNT(levels), sizeof *out->list);
	for (size_t i = 0; out->list && i < DP_COUNT(levels); i++) {
		struct best_point best = find_best_on_front(s, (size_t)s->utility_obj, levels[i]);
		struct report_epsilon_level row = { .epsilon = levels[i],
						    .trial = -1,
						    .at = -1,
						    .spent = NAN,
						    .value = best.value };

		if (best.found) {
			row.trial = best.point.trial;
			row.at = study_data_checkpoint_of(s, best.point);
			row.spent = result_epsilon(s, best.point);
			row.runs = keep_spread(s, best.point, (size_t)s->utility_obj, arena);
		}
		out->list[out->n++] = row;
	}
}

/* Is a result with this value better than that of the commonest class, by more than the
 * noise of its runs? */
static bool spread_beats_majority(const struct dp_objective *o, const struct report_spread *runs,
				  double value, double majority)
{
	double by = o->maximize ? value - majority : majority - value;
	double error = isnan(runs->standard_error) ? 0 : runs->standard_error;

	return by > 2 * error;
}

void report_model_add_majority(const struct study_data *s, struct report_model *report)
{
	struct report_epsilon_levels *head = &report->study.epsilon_levels;
	struct report_majority_class found = { .value = NAN };
	const struct dp_objective *o;

	if (s->utility_obj < 0)
		return;
	o = &s->state->spec->objectives[s->utility_obj];
	found.value = study_data_majority_value(s, (size_t)s->utility_obj);
	if (isnan(found.value))
		return;
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct report_spread runs =
			compute_run_spread(s, study_data_front_point(s, i), (size_t)s->utility_obj);

		found.no_better += !spread_beats_majority(
			o, &runs, study_data_front_value(s, i, (size_t)s->utility_obj),
			found.value);
	}
	for (size_t i = 0; i < head->n; i++)
		head->list[i].no_better = head->list[i].runs &&
					  !spread_beats_majority(o, head->list[i].runs,
								 head->list[i].value, found.value);
	report->majority = report_arena_dup(&report->arena, &found, sizeof found);
}

void report_model_add_bests(const struct study_data *s, struct report_model *report)
{
	const struct dp_study *spec = s->state->spec;

	report->bests =
		report_arena_alloc(&report->arena, spec->nobjectives, sizeof *report->bests);
	for (size_t i = 0; report->bests && i < spec->nobjectives; i++) {
		struct best_point best = find_best_on_front(s, i, INFINITY);

		if (best.found)
			report->bests[report->nbests++] = (struct report_best){
				.objective = spec->objectives[i].name,
				.is_privacy = spec->objectives[i].privacy != NULL,
				.value = best.value,
				.trial = best.point.trial,
				.at = study_data_checkpoint_of(s, best.point),
				.state = s->state,
				.point = best.point,
			};
	}
}

/* ---- optimism ---- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts; NaN if there is none. */
static double median_of(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof *v, compare_doubles);
	return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* How much worse than observed the models think the points of the front are. */
static struct report_shrinkage *compute_shrinkage(const struct study_data *s, size_t objective,
						  const struct dp_prediction *p,
						  struct report_arena *arena)
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
	return report_arena_dup(arena, &(struct report_shrinkage){ sum / (double)n, most },
				sizeof(struct report_shrinkage));
}

/* What fresh seeds gave, less what was searched. */
static struct report_reevaluation *
compute_reevaluation(const struct study_data *s, size_t objective, struct report_arena *arena)
{
	double sign = s->state->spec->objectives[objective].maximize ? -1 : 1;
	struct report_reevaluation mean = { .than_denoised = s->uses_smoothed_front ? 0 : NAN };
	struct dp_reeval_stats again;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id p = study_data_front_point(s, i);
		double value;

		if (!dp_result_compute_reeval_stats(s->state, p, &again))
			continue;
		value = again.objectives[objective];
		mean.points++;
		mean.than_observed +=
			sign * (value - dp_result_get_objectives(s->state, p)[objective]);
		mean.than_denoised += sign * (value - study_data_front_value(s, i, objective));
	}
	if (mean.points == 0)
		return NULL;
	mean.than_observed /= (double)mean.points;
	mean.than_denoised /= (double)mean.points;
	return report_arena_dup(arena, &mean, sizeof mean);
}

/* The mean over the front of a metric, less that of another: what a holdout gives
 * instead of what the search looked at. */
static struct report_holdout *compute_holdout_gap(const struct study_data *s,
						  const struct dp_objective *o,
						  struct report_arena *arena)
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
	return report_arena_dup(arena,
				&(struct report_holdout){ report_arena_strdup(arena, name),
							  o->metric, sum / (double)n },
				sizeof(struct report_holdout));
}

/* The sampling error of a share p of n test records. Trainers tell n as a metric, or the
 * study file does for the noise on it. */
static struct report_sampling_error *compute_sampling_error(const struct study_data *s,
							    const struct dp_objective *o, double p,
							    struct report_arena *arena)
{
	int column = dp_state_metric_column(s->state, "test_records");
	double v = p * (1 - p),
	       n = dp_study_has_metric_release(s->state->spec) ? o->release.records : NAN;

	if (!(p >= 0 && p <= 1))
		return NULL;
	if (column >= 0 && study_data_front_size(s) > 0)
		n = dp_result_metric_mean(s->state, study_data_front_point(s, 0), column);
	return report_arena_dup(
		arena,
		&(struct report_sampling_error){ .share = p,
						 .records = n,
						 .error = sqrt(v / n),
						 .error_at_1000 = sqrt(v / 1000),
						 .error_at_10000 = sqrt(v / 10000) },
		sizeof(struct report_sampling_error));
}

/* `work` has room for the front. */
static struct report_utility_trust compute_utility_trust(const struct study_data *s,
							 size_t objective,
							 const struct dp_prediction *p,
							 double *work, struct report_arena *arena)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	double error, middle;
	size_t n = 0;

	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct report_spread v =
			compute_run_spread(s, study_data_front_point(s, i), objective);

		if (!isnan(v.standard_error))
			work[n++] = v.standard_error;
	}
	error = median_of(work, n);
	for (n = 0; n < study_data_front_size(s); n++)
		work[n] = study_data_front_value(s, n, objective);
	middle = median_of(work, n);
	return (struct report_utility_trust){
		.objective = o->name,
		.standard_error = error,
		.too_good_by = compute_shrinkage(s, objective, p, arena),
		.again = compute_reevaluation(s, objective, arena),
		.holdout = compute_holdout_gap(s, o, arena),
		.sampling = compute_sampling_error(s, o, middle, arena),
	};
}

void report_model_selection_bias(const struct study_data *s, struct report_arena *arena,
				 struct report_selection_bias *out)
{
	const struct dp_study *spec = s->state->spec;
	struct dp_prediction *p = predict_front_or_null(s, arena);
	double *work = report_arena_alloc(arena, study_data_front_size(s), sizeof *work);

	*out = (struct report_selection_bias){
		.chosen_from = (int64_t)s->npoints,
		.trials = (int64_t)study_data_count_trials(s),
		.runs = spec->trainer.runs,
		.no_models = s->surrogates ? NULL : s->no_surrogates_reason,
		.objectives = report_arena_alloc(arena, spec->nobjectives, sizeof *out->objectives),
	};
	for (size_t i = 0; work && out->objectives && i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			out->objectives[out->nobjectives++] =
				compute_utility_trust(s, i, p, work, arena);
	free(p);
}
