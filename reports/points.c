/* points.c - trials as points: the front, the headline, and how far to trust them. */
#include "reports/facts.h"

#include "base/json.h"
#include "journal/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spread over runs ---- */

/* Of an objective's values over the runs of a trial; NaN where unknown. */
struct spread {
	double least, mean, most, sd, standard_error;
};

static struct spread spread_of(const struct subject *s, const struct dp_trial *t,
			       size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	struct spread out = { NAN, NAN, NAN, NAN, NAN };
	double variance = NAN;

	if (!subject_spread(s, t, objective, &out.least, &out.most))
		out.least = out.most = NAN;
	out.mean = t->objectives ? t->objectives[objective] : NAN;
	if (o->metric)
		variance =
			dp_trial_mean_variance(s->s, t, dp_study_metric(s->s, o->metric));
	out.standard_error = sqrt(variance);
	out.sd = sqrt(variance * s->s->spec->trainer.runs);
	return out;
}

static json_t *spread_json(const struct subject *s, const struct dp_trial *t,
			   size_t objective)
{
	struct spread v = spread_of(s, t, objective);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:i}", "least", facts_number(v.least),
			 "mean", facts_number(v.mean), "most", facts_number(v.most), "sd",
			 facts_number(v.sd), "standard_error",
			 facts_number(v.standard_error), "runs",
			 s->s->spec->trainer.runs);
}

/* ---- the front ---- */

/* Predictions at the points of the front, or NULL without models. */
static struct dp_predicted *denoise(const struct subject *s)
{
	const struct dp_study *spec = s->s->spec;
	size_t n = s->s->nfront;
	double *x = calloc(n * spec->nparams + 1, sizeof *x);
	struct dp_predicted *out = calloc(n * spec->nobjectives + 1, sizeof *out);
	bool ok = x && out && s->models;

	for (size_t i = 0; ok && i < n; i++)
		memcpy(x + i * spec->nparams, s->s->trials[s->s->front[i]]->x,
		       spec->nparams * sizeof *x);
	if (ok)
		ok = dp_surrogate_eval(s->models, x, n, out, NULL, NULL, NULL) == DP_OK;
	free(x);
	if (ok)
		return out;
	free(out);
	return NULL;
}

/* The models' values of the objectives that are measured. */
static json_t *denoised_json(const struct subject *s, const struct dp_predicted *p)
{
	const struct dp_study *spec = s->s->spec;
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			json_object_set_new(o, spec->objectives[i].name,
					    json_pack("{s:o, s:o, s:o}", "value",
						      facts_number(p[i].value), "low",
						      facts_number(p[i].lo), "high",
						      facts_number(p[i].hi)));
	return o;
}

static json_t *metrics_json(const struct subject *s, const struct dp_trial *t)
{
	json_t *o = json_object();

	for (uint32_t i = 0; i < s->s->nmetrics; i++)
		json_object_set_new(o, s->s->metrics[i],
				    facts_number(dp_trial_mean(s->s, t, (int)i)));
	return o;
}

static json_t *point_json(const struct subject *s, const struct dp_trial *t,
			  const struct dp_predicted *p)
{
	const struct dp_study *spec = s->s->spec;
	json_t *runs = json_object(), *checks = json_object(),
	       *statements = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const char *name = spec->objectives[i].name;

		if (spec->objectives[i].metric) {
			json_object_set_new(runs, name, spread_json(s, t, i));
			continue;
		}
		json_object_set_new(checks, name, facts_check(s, t, i));
		json_object_set_new(statements, name, facts_statement(s, t, i));
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "trial",
			 (json_int_t)t->number, "parameters", dp_space_json(spec, t->x),
			 "objectives", dp_view_objectives(s->s, t->objectives), "runs",
			 runs, "denoised", p ? denoised_json(s, p) : json_null(),
			 "metrics", metrics_json(s, t), "checks", checks, "statements",
			 statements);
}

json_t *facts_front(const struct subject *s)
{
	struct dp_predicted *p = denoise(s);
	json_t *list = json_array();

	for (uint32_t i = 0; i < s->s->nfront; i++)
		json_array_append_new(
			list, point_json(s, s->s->trials[s->s->front[i]],
					 p ? p + i * s->s->spec->nobjectives : NULL));
	free(p);
	return list;
}

/* ---- the best ---- */

static bool is_better(const struct dp_objective *o, double a, double b)
{
	return o->maximize ? a > b : a < b;
}

/* The trial with the best value of an objective among the ok ones that meet the
 * constraints and, where s has a privacy objective, have an epsilon of at most `most`;
 * of equal ones the more private, then the first. NULL: none. */
static const struct dp_trial *best(const struct subject *s, size_t objective, double most)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	const struct dp_trial *found = NULL;

	for (uint32_t i = 0; i < s->s->ntrials; i++) {
		const struct dp_trial *t = s->s->trials[i];
		double v, w;

		if (t->status != DP_TRIAL_OK || !t->objectives ||
		    isnan(t->objectives[objective]) || !dp_trial_feasible(s->s, t))
			continue;
		if (s->privacy >= 0 && !(t->objectives[s->privacy] <= most))
			continue;
		v = t->objectives[objective];
		w = found ? found->objectives[objective] : NAN;
		if (!found || is_better(o, v, w) ||
		    (v == w && s->privacy >= 0 &&
		     t->objectives[s->privacy] < found->objectives[s->privacy]))
			found = t;
	}
	return found;
}

json_t *facts_headline(const struct subject *s)
{
	static const double levels[] = { 0.1, 0.5, 1, 2, 5, 10 };
	json_t *list = json_array();

	if (s->privacy < 0 || s->utility < 0)
		return list;
	for (size_t i = 0; i < DP_COUNT(levels); i++) {
		const struct dp_trial *t = best(s, (size_t)s->utility, levels[i]);
		json_t *o = json_pack("{s:o, s:o}", "epsilon", dp_json_real(levels[i]),
				      "trial", t ? json_integer(t->number) : json_null());

		if (t) {
			json_object_set_new(o, "spent",
					    dp_json_real(t->objectives[s->privacy]));
			json_object_set_new(o, "value",
					    dp_json_real(t->objectives[s->utility]));
			json_object_set_new(o, "runs",
					    spread_json(s, t, (size_t)s->utility));
		}
		json_array_append_new(list, o);
	}
	return list;
}

json_t *facts_bests(const struct subject *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->s->spec->nobjectives; i++) {
		const struct dp_trial *t = best(s, i, INFINITY);

		if (t)
			json_array_append_new(
				list, json_pack("{s:s, s:I, s:o}", "objective",
						s->s->spec->objectives[i].name, "trial",
						(json_int_t)t->number, "objectives",
						dp_view_objectives(s->s, t->objectives)));
	}
	return list;
}

/* ---- optimism ---- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts; NaN if there is none. */
static double median(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof *v, by_size);
	return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* How much worse than observed the models think the points of the front are. */
static json_t *shrinkage_json(const struct subject *s, size_t objective,
			      const struct dp_predicted *p)
{
	const struct dp_study *spec = s->s->spec;
	double sum = 0, most = -INFINITY;

	if (!p || s->s->nfront == 0)
		return json_null();
	for (uint32_t i = 0; i < s->s->nfront; i++) {
		const struct dp_trial *t = s->s->trials[s->s->front[i]];
		double by = p[i * spec->nobjectives + objective].value -
			    t->objectives[objective];

		by = spec->objectives[objective].maximize ? -by : by;
		sum += by;
		most = fmax(most, by);
	}
	return json_pack("{s:o, s:o}", "mean", facts_number(sum / s->s->nfront), "most",
			 facts_number(most));
}

/* The mean over the front of a metric, less that of another: what a holdout gives
 * instead of what the search looked at. */
static json_t *holdout_json(const struct subject *s, const struct dp_objective *o)
{
	char name[DP_NAME_MAX + 8];
	double sum = 0;
	int held, seen = dp_study_metric(s->s, o->metric);

	snprintf(name, sizeof name, "test_%s", o->metric);
	held = dp_study_metric(s->s, name);
	if (held < 0 || s->s->nfront == 0)
		return json_null();
	for (uint32_t i = 0; i < s->s->nfront; i++) {
		const struct dp_trial *t = s->s->trials[s->s->front[i]];

		sum += dp_trial_mean(s->s, t, held) - dp_trial_mean(s->s, t, seen);
	}
	return json_pack("{s:s, s:s, s:o}", "metric", name, "of", o->metric, "difference",
			 facts_number(sum / s->s->nfront));
}

/* The sampling error of a share p of n test records. Trainers tell n as a metric. */
static json_t *sampling_json(const struct subject *s, double p)
{
	int column = dp_study_metric(s->s, "test_records");
	double v = p * (1 - p), n = NAN;

	if (!(p >= 0 && p <= 1))
		return json_null();
	if (column >= 0 && s->s->nfront > 0)
		n = dp_trial_mean(s->s, s->s->trials[s->s->front[0]], column);
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "share", facts_number(p), "records",
			 facts_number(n), "error", facts_number(sqrt(v / n)),
			 "error_at_1000", facts_number(sqrt(v / 1000)), "error_at_10000",
			 facts_number(sqrt(v / 10000)));
}

static json_t *optimism_of(const struct subject *s, size_t objective,
			   const struct dp_predicted *p, double *work)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	double error, middle;
	size_t n = 0;

	for (uint32_t i = 0; i < s->s->nfront; i++) {
		struct spread v = spread_of(s, s->s->trials[s->s->front[i]], objective);

		if (!isnan(v.standard_error))
			work[n++] = v.standard_error;
	}
	error = median(work, n);
	for (n = 0; n < s->s->nfront; n++)
		work[n] = s->s->trials[s->s->front[n]]->objectives[objective];
	middle = median(work, n);
	return json_pack("{s:s, s:o, s:o, s:o, s:o}", "objective", o->name,
			 "standard_error", facts_number(error), "too_good_by",
			 shrinkage_json(s, objective, p), "holdout", holdout_json(s, o),
			 "sampling", sampling_json(s, middle));
}

json_t *facts_optimism(const struct subject *s)
{
	const struct dp_study *spec = s->s->spec;
	struct dp_predicted *p = denoise(s);
	double *work = calloc(s->s->nfront + 1, sizeof *work);
	json_t *list = json_array();

	for (size_t i = 0; work && i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			json_array_append_new(list, optimism_of(s, i, p, work));
	free(work);
	free(p);
	return json_pack("{s:I, s:i, s:o, s:o}", "chosen_from", (json_int_t)s->s->ok,
			 "runs", spec->trainer.runs, "no_models",
			 s->models ? json_null() : json_string(s->no_models),
			 "objectives", list);
}
