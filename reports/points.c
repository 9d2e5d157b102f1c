/* points.c - trials as points: the front, the headline, and how far to trust them. */
#include "reports/facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- spread over runs ---- */

static struct fact_spread spread_of(const struct subject *s, const struct dp_trial *t,
				    size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	struct fact_spread out = { NAN, NAN, NAN, NAN, NAN, s->s->spec->trainer.runs };
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

/* The same, among the facts. */
static struct fact_spread *keep_spread(const struct subject *s, const struct dp_trial *t,
				       size_t objective, struct facts_memory *m)
{
	struct fact_spread spread = spread_of(s, t, objective);

	return facts_keep(m, &spread, sizeof spread);
}

/* ---- the front ---- */

/* Predictions at the points of the front, or NULL without models. */
static struct dp_predicted *predict_front(const struct subject *s)
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

/* What is known of one objective at a point; `p` is what its model says, or NULL. */
static void find_point_objective(const struct subject *s, const struct dp_trial *t,
				 size_t objective, const struct dp_predicted *p,
				 struct facts_memory *m, struct fact_point_objective *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];

	out->name = o->name;
	out->value = t->objectives[objective];
	if (o->metric) {
		out->runs = keep_spread(s, t, objective, m);
		if (p)
			out->denoised = facts_keep(
				m, &(struct fact_denoised){ p->value, p->lo, p->hi },
				sizeof *out->denoised);
		return;
	}
	out->check = facts_keep(m, &(struct fact_check){ 0 }, sizeof *out->check);
	if (out->check)
		*out->check = facts_check(s, t, objective);
	out->statement = facts_statement(s, t, objective, m);
}

static void find_point(const struct subject *s, const struct dp_trial *t,
		       const struct dp_predicted *p, struct facts_memory *m,
		       struct fact_point *out)
{
	size_t n = s->s->spec->nobjectives;

	*out = (struct fact_point){
		.s = s,
		.t = t,
		.trial = t->number,
		.parameters = dp_space_json(s->s->spec, t->x),
		.denoised = p != NULL,
		.of = facts_room(m, n, sizeof *out->of),
	};
	for (size_t i = 0; out->of && i < n; i++)
		find_point_objective(s, t, i, p ? &p[i] : NULL, m, &out->of[i]);
}

void facts_front(const struct subject *s, struct facts *f)
{
	struct dp_predicted *p = predict_front(s);

	f->front = facts_room(&f->memory, s->s->nfront, sizeof *f->front);
	for (uint32_t i = 0; f->front && i < s->s->nfront; i++)
		find_point(s, s->s->trials[s->s->front[i]],
			   p ? p + i * s->s->spec->nobjectives : NULL, &f->memory,
			   &f->front[f->nfront++]);
	free(p);
}

/* ---- the best ---- */

static bool is_better(const struct dp_objective *o, double a, double b)
{
	return o->maximize ? a > b : a < b;
}

/* The trial with the best value of an objective among the ok ones that meet the
 * constraints and, where s has a privacy objective, have an epsilon of at most `most`;
 * of equal ones the more private, then the first. NULL: none. */
static const struct dp_trial *best_trial(const struct subject *s, size_t objective,
					 double most)
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

void facts_headline(const struct subject *s, struct facts_memory *m,
		    struct fact_headlines *out)
{
	static const double levels[] = { 0.1, 0.5, 1, 2, 5, 10 };

	*out = (struct fact_headlines){ 0 };
	if (s->privacy < 0 || s->utility < 0)
		return;
	out->list = facts_room(m, DP_COUNT(levels), sizeof *out->list);
	for (size_t i = 0; out->list && i < DP_COUNT(levels); i++) {
		const struct dp_trial *t = best_trial(s, (size_t)s->utility, levels[i]);

		out->list[out->n++] = (struct fact_headline){
			.epsilon = levels[i],
			.trial = t ? (int64_t)t->number : -1,
			.spent = t ? t->objectives[s->privacy] : NAN,
			.value = t ? t->objectives[s->utility] : NAN,
			.runs = t ? keep_spread(s, t, (size_t)s->utility, m) : NULL,
		};
	}
}

void facts_bests(const struct subject *s, struct facts *f)
{
	const struct dp_study *spec = s->s->spec;

	f->bests = facts_room(&f->memory, spec->nobjectives, sizeof *f->bests);
	for (size_t i = 0; f->bests && i < spec->nobjectives; i++) {
		const struct dp_trial *t = best_trial(s, i, INFINITY);

		if (t)
			f->bests[f->nbests++] = (struct fact_best){
				.objective = spec->objectives[i].name,
				.value = t->objectives[i],
				.trial = t->number,
				.s = s->s,
				.t = t,
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
					     const struct dp_predicted *p,
					     struct facts_memory *m)
{
	const struct dp_study *spec = s->s->spec;
	double sum = 0, most = -INFINITY;

	if (!p || s->s->nfront == 0)
		return NULL;
	for (uint32_t i = 0; i < s->s->nfront; i++) {
		const struct dp_trial *t = s->s->trials[s->s->front[i]];
		double by = p[i * spec->nobjectives + objective].value -
			    t->objectives[objective];

		by = spec->objectives[objective].maximize ? -by : by;
		sum += by;
		most = fmax(most, by);
	}
	return facts_keep(m, &(struct fact_shrinkage){ sum / s->s->nfront, most },
			  sizeof(struct fact_shrinkage));
}

/* The mean over the front of a metric, less that of another: what a holdout gives
 * instead of what the search looked at. */
static struct fact_holdout *find_holdout(const struct subject *s,
					 const struct dp_objective *o,
					 struct facts_memory *m)
{
	char name[DP_NAME_MAX + 8];
	double sum = 0;
	int held, seen = dp_study_metric(s->s, o->metric);

	snprintf(name, sizeof name, "test_%s", o->metric);
	held = dp_study_metric(s->s, name);
	if (held < 0 || s->s->nfront == 0)
		return NULL;
	for (uint32_t i = 0; i < s->s->nfront; i++) {
		const struct dp_trial *t = s->s->trials[s->s->front[i]];

		sum += dp_trial_mean(s->s, t, held) - dp_trial_mean(s->s, t, seen);
	}
	return facts_keep(m,
			  &(struct fact_holdout){ facts_text(m, name), o->metric,
						  sum / s->s->nfront },
			  sizeof(struct fact_holdout));
}

/* The sampling error of a share p of n test records. Trainers tell n as a metric. */
static struct fact_sampling *find_sampling(const struct subject *s, double p,
					   struct facts_memory *m)
{
	int column = dp_study_metric(s->s, "test_records");
	double v = p * (1 - p), n = NAN;

	if (!(p >= 0 && p <= 1))
		return NULL;
	if (column >= 0 && s->s->nfront > 0)
		n = dp_trial_mean(s->s, s->s->trials[s->s->front[0]], column);
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

	for (uint32_t i = 0; i < s->s->nfront; i++) {
		struct fact_spread v =
			spread_of(s, s->s->trials[s->s->front[i]], objective);

		if (!isnan(v.standard_error))
			work[n++] = v.standard_error;
	}
	error = median_of(work, n);
	for (n = 0; n < s->s->nfront; n++)
		work[n] = s->s->trials[s->s->front[n]]->objectives[objective];
	middle = median_of(work, n);
	return (struct fact_trust){
		.objective = o->name,
		.standard_error = error,
		.too_good_by = find_shrinkage(s, objective, p, m),
		.holdout = find_holdout(s, o, m),
		.sampling = find_sampling(s, middle, m),
	};
}

void facts_optimism(const struct subject *s, struct facts_memory *m,
		    struct fact_optimism *out)
{
	const struct dp_study *spec = s->s->spec;
	struct dp_predicted *p = predict_front(s);
	double *work = facts_room(m, s->s->nfront, sizeof *work);

	*out = (struct fact_optimism){
		.chosen_from = s->s->ok,
		.runs = spec->trainer.runs,
		.no_models = s->models ? NULL : s->no_models,
		.objectives = facts_room(m, spec->nobjectives, sizeof *out->objectives),
	};
	for (size_t i = 0; work && out->objectives && i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			out->objectives[out->nobjectives++] =
				find_trust(s, i, p, work, m);
	free(p);
}
