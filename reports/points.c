/* points.c - the results of a study: the front, the headline, and how far to trust them.
 */
#include "reports/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spread over runs ---- */

static struct fact_spread spread_of(const struct subject *s, struct dp_point p, size_t objective)
{
	struct fact_spread out = { NAN, NAN, NAN, NAN, NAN, dp_study_told_runs(s->s->spec) };

	if (!subject_spread(s, p, objective, &out.least, &out.most))
		out.least = out.most = NAN;
	out.mean = dp_point_objectives(s->s, p)[objective];
	out.sd = subject_run_sd(s, p, objective);
	out.standard_error = out.sd / sqrt(dp_study_told_runs(s->s->spec));
	/* of the runs nothing is told, but the noise on their mean is known */
	if (s->s->spec->objectives[objective].release.records > 0)
		out.standard_error = s->s->spec->objectives[objective].release.sigma;
	return out;
}

/* The same, among the facts. */
static struct fact_spread *keep_spread(const struct subject *s, struct dp_point p, size_t objective,
				       struct facts_memory *m)
{
	struct fact_spread spread = spread_of(s, p, objective);

	return facts_keep(m, &spread, sizeof spread);
}

/* ---- the front ---- */

/* Predictions at the points of the front, or NULL without models. */
static struct dp_predicted *predict_front(const struct subject *s, struct facts_memory *m)
{
	struct dp_predicted *p;

	if (subject_predict_front(s, &p, NULL) == DP_E_NOMEM)
		m->failed = true;
	return p;
}

/* What is left of an objective at the i-th point of the front without the noise; NaN
 * where no model has looked at it. */
static double denoised_value(const struct subject *s, size_t i, size_t objective,
			     const struct dp_predicted *p)
{
	struct dp_point point = subject_front_point(s, i);

	if (s->denoises)
		return subject_front_value(s, i, objective);
	if (!p)
		return NAN;
	return s->s->spec->objectives[objective].metric
		       ? p->value
		       : dp_point_objectives(s->s, point)[objective];
}

/* What is known of one objective at the i-th point of the front; `p` is what its model
 * says, or NULL. */
static void find_point_objective(const struct subject *s, size_t i, size_t objective,
				 const struct dp_predicted *p, struct facts_memory *m,
				 struct fact_point_objective *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	struct dp_point point = subject_front_point(s, i);

	out->name = o->name;
	out->value = dp_point_objectives(s->s, point)[objective];
	out->denoised = denoised_value(s, i, objective, p);
	if (o->metric) {
		out->runs = keep_spread(s, point, objective, m);
		if (p)
			out->interval = facts_keep(m, &(struct fact_interval){ p->lo, p->hi },
						   sizeof *out->interval);
		return;
	}
	out->check = facts_keep(m, &(struct fact_check){ 0 }, sizeof *out->check);
	if (out->check)
		*out->check = facts_check(s, point, objective);
	out->statement = facts_statement(s, point, objective, m);
}

static void find_point(const struct subject *s, size_t i, const struct dp_predicted *p,
		       struct facts_memory *m, struct fact_point *out)
{
	struct dp_point point = subject_front_point(s, i);
	size_t n = s->s->spec->nobjectives;

	struct dp_measured again;

	*out = (struct fact_point){
		.s = s,
		.point = point,
		.trial = point.trial,
		.at = subject_point_at(s, point),
		.parameters = dp_space_json_at(s->s->spec, s->s->trials[point.trial]->x,
					       dp_point_at(s->s, point)),
		.denoised = p || s->denoises,
		.modelled = p != NULL,
		.of = facts_room(m, n, sizeof *out->of),
	};
	if (dp_point_remeasured(s->s, point, &again))
		out->remeasured = facts_keep(m, &again, sizeof again);
	for (size_t k = 0; out->of && k < n; k++)
		find_point_objective(s, i, k, p ? &p[k] : NULL, m, &out->of[k]);
}

void facts_front(const struct subject *s, struct facts *f)
{
	struct dp_predicted *p = predict_front(s, &f->memory);

	f->front = facts_room(&f->memory, subject_front(s), sizeof *f->front);
	for (size_t i = 0; f->front && i < subject_front(s); i++)
		find_point(s, i, p ? p + i * s->s->spec->nobjectives : NULL, &f->memory,
			   &f->front[f->nfront++]);
	free(p);
}

void facts_remeasured(const struct subject *s, struct facts_memory *m, struct fact_study *out)
{
	size_t n = subject_front(s);
	struct dp_point *points = calloc(n + 1, sizeof *points);
	struct dp_measured again;

	out->hypervolume_remeasured = NAN;
	if (!points) {
		m->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		points[i] = subject_front_point(s, i);
		out->remeasured += dp_point_remeasured(s->s, points[i], &again);
	}
	if (dp_points_remeasured_volume(s->s, points, n, &out->hypervolume_remeasured) != DP_OK)
		m->failed = true;
	free(points);
}

/* ---- the best ---- */

static bool is_better(const struct dp_objective *o, double a, double b)
{
	return o->maximize ? a > b : a < b;
}

static double epsilon_of(const struct subject *s, struct dp_point p)
{
	return s->privacy >= 0 ? dp_point_objectives(s->s, p)[s->privacy] : 0;
}

/* Of two that are as good: the more private, then as dp_study_points() has them. */
static bool comes_first(const struct subject *s, struct dp_point a, struct dp_point b)
{
	double u = epsilon_of(s, a), v = epsilon_of(s, b);

	if (u != v)
		return u < v;
	if (a.trial != b.trial)
		return a.trial < b.trial;
	return a.way != DP_OWN && (b.way == DP_OWN || a.way < b.way);
}

/* A point of the front, or none. */
struct best_point {
	bool found;
	struct dp_point point;
	double value; /* that put it there */
};

/* The point with the best value of an objective among those of the front that, where s
 * has a privacy objective, have an epsilon of at most `most`; of equal ones the more
 * private, then the first. What is best of all trials is on the front. */
static struct best_point best_of_front(const struct subject *s, size_t objective, double most)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	struct best_point best = { .value = NAN };

	for (size_t i = 0; i < subject_front(s); i++) {
		struct dp_point p = subject_front_point(s, i);
		double v = subject_front_value(s, i, objective);

		if (isnan(v) || !(epsilon_of(s, p) <= most))
			continue;
		if (!best.found || is_better(o, v, best.value) ||
		    (v == best.value && comes_first(s, p, best.point)))
			best = (struct best_point){ true, p, v };
	}
	return best;
}

void facts_headline(const struct subject *s, struct facts_memory *m, struct fact_headlines *out)
{
	static const double levels[] = { 0.1, 0.5, 1, 2, 5, 10 };

	*out = (struct fact_headlines){ 0 };
	if (s->privacy < 0 || s->utility < 0)
		return;
	out->list = facts_room(m, DP_COUNT(levels), sizeof *out->list);
	for (size_t i = 0; out->list && i < DP_COUNT(levels); i++) {
		struct best_point best = best_of_front(s, (size_t)s->utility, levels[i]);
		struct fact_headline row = { .epsilon = levels[i],
					     .trial = -1,
					     .at = -1,
					     .spent = NAN,
					     .value = best.value };

		if (best.found) {
			row.trial = best.point.trial;
			row.at = subject_point_at(s, best.point);
			row.spent = epsilon_of(s, best.point);
			row.runs = keep_spread(s, best.point, (size_t)s->utility, m);
		}
		out->list[out->n++] = row;
	}
}

/* Is a result with this value better than that of the commonest class, by more than the
 * noise of its runs? */
static bool beats_majority(const struct dp_objective *o, const struct fact_spread *runs,
			   double value, double majority)
{
	double by = o->maximize ? value - majority : majority - value;
	double error = isnan(runs->standard_error) ? 0 : runs->standard_error;

	return by > 2 * error;
}

void facts_majority(const struct subject *s, struct facts *f)
{
	struct fact_headlines *head = &f->study.headline;
	struct fact_majority found = { .value = NAN };
	const struct dp_objective *o;

	if (s->utility < 0)
		return;
	o = &s->s->spec->objectives[s->utility];
	found.value = subject_majority(s, (size_t)s->utility);
	if (isnan(found.value))
		return;
	for (size_t i = 0; i < subject_front(s); i++) {
		struct fact_spread runs =
			spread_of(s, subject_front_point(s, i), (size_t)s->utility);

		found.no_better += !beats_majority(
			o, &runs, subject_front_value(s, i, (size_t)s->utility), found.value);
	}
	for (size_t i = 0; i < head->n; i++)
		head->list[i].no_better =
			head->list[i].runs &&
			!beats_majority(o, head->list[i].runs, head->list[i].value, found.value);
	f->majority = facts_keep(&f->memory, &found, sizeof found);
}

void facts_bests(const struct subject *s, struct facts *f)
{
	const struct dp_study *spec = s->s->spec;

	f->bests = facts_room(&f->memory, spec->nobjectives, sizeof *f->bests);
	for (size_t i = 0; f->bests && i < spec->nobjectives; i++) {
		struct best_point best = best_of_front(s, i, INFINITY);

		if (best.found)
			f->bests[f->nbests++] = (struct fact_best){
				.objective = spec->objectives[i].name,
				.privacy = spec->objectives[i].privacy != NULL,
				.value = best.value,
				.trial = best.point.trial,
				.at = subject_point_at(s, best.point),
				.s = s->s,
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
static struct fact_shrinkage *find_shrinkage(const struct subject *s, size_t objective,
					     const struct dp_predicted *p, struct facts_memory *m)
{
	const struct dp_study *spec = s->s->spec;
	size_t n = subject_front(s);
	double sum = 0, most = -INFINITY;

	if (!p || n == 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct dp_point point = subject_front_point(s, i);
		double by = denoised_value(s, i, objective, &p[i * spec->nobjectives + objective]) -
			    dp_point_objectives(s->s, point)[objective];

		by = spec->objectives[objective].maximize ? -by : by;
		sum += by;
		most = fmax(most, by);
	}
	return facts_keep(m, &(struct fact_shrinkage){ sum / (double)n, most },
			  sizeof(struct fact_shrinkage));
}

/* What fresh seeds gave, less what was searched. */
static struct fact_again *find_again(const struct subject *s, size_t objective,
				     struct facts_memory *m)
{
	double sign = s->s->spec->objectives[objective].maximize ? -1 : 1;
	struct fact_again mean = { .than_denoised = s->denoises ? 0 : NAN };
	struct dp_measured again;

	for (size_t i = 0; i < subject_front(s); i++) {
		struct dp_point p = subject_front_point(s, i);
		double value;

		if (!dp_point_remeasured(s->s, p, &again))
			continue;
		value = again.objectives[objective];
		mean.points++;
		mean.than_observed += sign * (value - dp_point_objectives(s->s, p)[objective]);
		mean.than_denoised += sign * (value - subject_front_value(s, i, objective));
	}
	if (mean.points == 0)
		return NULL;
	mean.than_observed /= (double)mean.points;
	mean.than_denoised /= (double)mean.points;
	return facts_keep(m, &mean, sizeof mean);
}

/* The mean over the front of a metric, less that of another: what a holdout gives
 * instead of what the search looked at. */
static struct fact_holdout *find_holdout(const struct subject *s, const struct dp_objective *o,
					 struct facts_memory *m)
{
	char name[DP_NAME_MAX + 8];
	size_t n = subject_front(s);
	double sum = 0;
	int held, seen = dp_study_metric(s->s, o->metric);

	snprintf(name, sizeof name, "test_%s", o->metric);
	held = dp_study_metric(s->s, name);
	if (held < 0 || n == 0)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct dp_point p = subject_front_point(s, i);

		sum += dp_point_mean(s->s, p, held) - dp_point_mean(s->s, p, seen);
	}
	return facts_keep(m,
			  &(struct fact_holdout){ facts_text(m, name), o->metric, sum / (double)n },
			  sizeof(struct fact_holdout));
}

/* The sampling error of a share p of n test records. Trainers tell n as a metric, or the
 * study file does for the noise on it. */
static struct fact_sampling *find_sampling(const struct subject *s, const struct dp_objective *o,
					   double p, struct facts_memory *m)
{
	int column = dp_study_metric(s->s, "test_records");
	double v = p * (1 - p), n = dp_study_releases(s->s->spec) ? o->release.records : NAN;

	if (!(p >= 0 && p <= 1))
		return NULL;
	if (column >= 0 && subject_front(s) > 0)
		n = dp_point_mean(s->s, subject_front_point(s, 0), column);
	return facts_keep(m,
			  &(struct fact_sampling){ .share = p,
						   .records = n,
						   .error = sqrt(v / n),
						   .error_at_1000 = sqrt(v / 1000),
						   .error_at_10000 = sqrt(v / 10000) },
			  sizeof(struct fact_sampling));
}

/* `work` has room for the front. */
static struct fact_trust find_trust(const struct subject *s, size_t objective,
				    const struct dp_predicted *p, double *work,
				    struct facts_memory *m)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	double error, middle;
	size_t n = 0;

	for (size_t i = 0; i < subject_front(s); i++) {
		struct fact_spread v = spread_of(s, subject_front_point(s, i), objective);

		if (!isnan(v.standard_error))
			work[n++] = v.standard_error;
	}
	error = median_of(work, n);
	for (n = 0; n < subject_front(s); n++)
		work[n] = subject_front_value(s, n, objective);
	middle = median_of(work, n);
	return (struct fact_trust){
		.objective = o->name,
		.standard_error = error,
		.too_good_by = find_shrinkage(s, objective, p, m),
		.again = find_again(s, objective, m),
		.holdout = find_holdout(s, o, m),
		.sampling = find_sampling(s, o, middle, m),
	};
}

void facts_optimism(const struct subject *s, struct facts_memory *m, struct fact_optimism *out)
{
	const struct dp_study *spec = s->s->spec;
	struct dp_predicted *p = predict_front(s, m);
	double *work = facts_room(m, subject_front(s), sizeof *work);

	*out = (struct fact_optimism){
		.chosen_from = (int64_t)s->npoints,
		.trials = (int64_t)subject_trainings(s),
		.runs = spec->trainer.runs,
		.no_models = s->models ? NULL : s->no_models,
		.objectives = facts_room(m, spec->nobjectives, sizeof *out->objectives),
	};
	for (size_t i = 0; work && out->objectives && i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			out->objectives[out->nobjectives++] = find_trust(s, i, p, work, m);
	free(p);
}
