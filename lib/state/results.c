/* point.c - the results of a study, those of its trainings' waypoints too, and the front
 * of them. */
#include "state/state_internal.h"

#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they are ---- */

static size_t count_results_at_most(const struct dp_study_state *s)
{
	size_t n = s->ok;

	for (uint32_t i = 0; i < s->ntrials; i++)
		n += s->trials[i]->checkpoints ? s->trials[i]->checkpoints->count : 0;
	return n;
}

/* The results of a trial, its own last; returns the place after them. */
static struct dp_result_id *append_trial_results(const struct dp_study_state *s,
						 const struct dp_trial *t, struct dp_result_id *p)
{
	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++)
		if (dp_checkpoint_is_result(s, t->checkpoints, w))
			*p++ = (struct dp_result_id){ t->number, (int32_t)w };
	if (t->status == DP_TRIAL_OK && t->objectives)
		*p++ = (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL };
	return p;
}

struct dp_result_id *dp_state_list_results(const struct dp_study_state *s, size_t *n)
{
	struct dp_result_id *all = dp_malloc((count_results_at_most(s) + 1) * sizeof *all),
			    *p = all;

	*n = 0;
	for (uint32_t i = 0; all && i < s->ntrials; i++)
		p = append_trial_results(s, s->trials[i], p);
	*n = all ? (size_t)(p - all) : 0;
	return all;
}

bool dp_state_find_result(const struct dp_study_state *s, uint32_t trial, double at,
			  struct dp_result_id *out)
{
	const struct dp_trial *t = trial < s->ntrials ? s->trials[trial] : NULL;

	*out = (struct dp_result_id){ trial, DP_CHECKPOINT_FINAL };
	if (t && isnan(at))
		return t->status == DP_TRIAL_OK && t->objectives;
	for (uint32_t w = 0; t && t->checkpoints && w < t->checkpoints->count; w++)
		if (t->checkpoints->values[w] == at &&
		    dp_checkpoint_is_result(s, t->checkpoints, w)) {
			out->checkpoint = (int32_t)w;
			return true;
		}
	return false;
}

bool dp_trial_has_checkpoint_results(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++)
		if (dp_checkpoint_is_result(s, t->checkpoints, w))
			return true;
	return false;
}

bool dp_state_has_results(const struct dp_study_state *s)
{
	bool has = s->ok > 0;

	for (uint32_t i = 0; i < s->ntrials && !has; i++)
		has = dp_trial_has_checkpoint_results(s, s->trials[i]);
	return has;
}

double dp_state_total_path_value(const struct dp_study_state *s)
{
	double sum = 0;

	for (uint32_t i = 0; s->spec->trainer.learning_curve.points && i < s->ntrials; i++)
		if (s->trials[i]->status >= DP_TRIAL_OK && !s->trials[i]->refusal_reason)
			sum += dp_learning_curve_end(s->spec, s->trials[i]->x);
	return sum;
}

double dp_result_checkpoint_value(const struct dp_study_state *s, struct dp_result_id p)
{
	return p.checkpoint == DP_CHECKPOINT_FINAL
		       ? NAN
		       : dp_state_find_trial(s, p.trial)->checkpoints->values[p.checkpoint];
}

void dp_result_get_params(const struct dp_study_state *s, struct dp_result_id p, double *x)
{
	const struct dp_learning_curve *path = &s->spec->trainer.learning_curve;

	memcpy(x, dp_state_find_trial(s, p.trial)->x, s->spec->nparams * sizeof *x);
	if (p.checkpoint != DP_CHECKPOINT_FINAL)
		x[path->param] = dp_result_checkpoint_value(s, p);
	else if (path->points)
		x[path->param] = dp_learning_curve_end(s->spec, x);
}

const double *dp_result_get_objectives(const struct dp_study_state *s, struct dp_result_id p)
{
	const struct dp_trial *t = dp_state_find_trial(s, p.trial);

	return p.checkpoint == DP_CHECKPOINT_FINAL
		       ? t->objectives
		       : t->checkpoints->objectives + (size_t)p.checkpoint * s->spec->nobjectives;
}

/* What the runs of a waypoint come to in a table of its training. */
static double get_checkpoint_metric(const struct dp_checkpoints *checkpoints, const double *table,
				    int32_t w, int metric)
{
	return metric >= 0 && (uint32_t)metric < checkpoints->nmetrics
		       ? table[(size_t)w * checkpoints->nmetrics + (size_t)metric]
		       : NAN;
}

double dp_result_metric_mean(const struct dp_study_state *s, struct dp_result_id p, int metric)
{
	const struct dp_trial *t = dp_state_find_trial(s, p.trial);

	return p.checkpoint == DP_CHECKPOINT_FINAL
		       ? dp_trial_metric_mean(s, t, metric)
		       : get_checkpoint_metric(t->checkpoints, t->checkpoints->metric_means,
					       p.checkpoint, metric);
}

double dp_result_metric_mean_variance(const struct dp_study_state *s, struct dp_result_id p,
				      int metric)
{
	const struct dp_trial *t = dp_state_find_trial(s, p.trial);

	return p.checkpoint == DP_CHECKPOINT_FINAL
		       ? dp_trial_metric_mean_variance(s, t, metric)
		       : get_checkpoint_metric(t->checkpoints, t->checkpoints->metric_variances,
					       p.checkpoint, metric);
}

bool dp_result_is_feasible(const struct dp_study_state *s, struct dp_result_id p)
{
	for (size_t i = 0; i < s->spec->nconstraints; i++) {
		const struct dp_constraint *c = &s->spec->constraints[i];
		double mean = dp_result_metric_mean(s, p, dp_state_metric_column(s, c->metric));

		/* a metric that was not reported (NaN) does not meet its constraint */
		if (!(c->at_least ? mean >= c->bound : mean <= c->bound))
			return false;
	}
	return true;
}

/* ---- the front ---- */

/* Rows as the front library takes them, to minimise, and the reference point. */
static void fill_objective_rows(const struct dp_study_state *s, const struct dp_result_id *points,
				size_t n, double *y, double *ref)
{
	size_t m = s->spec->nobjectives;

	for (size_t k = 0; k < m; k++) {
		double sign = s->spec->objectives[k].maximize ? -1 : 1;

		ref[k] = sign * s->spec->objectives[k].anti_ideal;
		for (size_t i = 0; i < n; i++)
			y[i * m + k] = sign * dp_result_get_objectives(s, points[i])[k];
	}
}

/* Leaves only the feasible ones; how many. */
static size_t keep_feasible_results(const struct dp_study_state *s, struct dp_result_id *points,
				    size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (dp_result_is_feasible(s, points[i]))
			points[kept++] = points[i];
	return kept;
}

/* Results, and their rows as fill_objective_rows() makes them. */
struct result_rows {
	const double *y;
	size_t m;
};

/* The contract's order: the first objective, the best first, then as dp_state_list_results()
 * has them, which is the order of the positions. */
static int compare_by_first_objective(const void *a, const void *b, void *arg)
{
	const struct result_rows *r = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	double u = r->y[i * r->m], v = r->y[k * r->m];

	return u != v ? (u < v ? -1 : 1) : (i > k) - (i < k);
}

/* As dp_state_list_results() has them: by trial, waypoints before its own. */
static int compare_result_ids(const void *a, const void *b)
{
	const struct dp_result_id *p = a, *q = b;
	uint32_t u = (uint32_t)p->checkpoint,
		 v = (uint32_t)q->checkpoint; /* DP_CHECKPOINT_FINAL becomes the last */

	if (p->trial != q->trial)
		return p->trial < q->trial ? -1 : 1;
	return (u > v) - (u < v);
}

bool dp_result_is_on_front(const struct dp_study_state *s, struct dp_result_id p)
{
	return s->nfront > 0 &&
	       bsearch(&p, s->front_by_trial, s->nfront, sizeof p, compare_result_ids) != NULL;
}

/* Where only results were added, the points of the last front and these are enough: of
 * two objectives the area, too, is the same to the last bit, since boxes inside of others
 * add nothing to it (of more they split sums). NULL without memory. */
static struct dp_result_id *list_front_candidates(const struct dp_study_state *s, size_t *n)
{
	size_t most = s->nfront;
	struct dp_result_id *all, *p;

	for (uint32_t i = 0; i < s->nadded_trials; i++) {
		const struct dp_checkpoints *checkpoints =
			s->trials[s->added_trials[i]]->checkpoints;

		most += 1 + (checkpoints ? checkpoints->count : 0);
	}
	all = p = dp_malloc((most + 1) * sizeof *all);
	if (!all)
		return NULL;
	if (s->nfront)
		memcpy(all, s->front, s->nfront * sizeof *all);
	p += s->nfront;
	for (uint32_t i = 0; i < s->nadded_trials; i++)
		p = append_trial_results(s, s->trials[s->added_trials[i]], p);
	*n = (size_t)(p - all);
	qsort(all, *n, sizeof *all, compare_result_ids);
	return all;
}

/* Replaces the front of the study by the picked points. */
static bool store_front(struct dp_study_state *s, const struct dp_result_id *points,
			const size_t *picked, size_t count)
{
	struct dp_result_id *front = dp_malloc((2 * count + 1) * sizeof *front);

	for (size_t i = 0; i < count; i++)
		front[i] = front[count + i] = points[picked[i]];
	qsort(front + count, count, sizeof *front, compare_result_ids);
	free(s->front);
	s->front = front;
	s->front_by_trial = front + count;
	s->nfront = (uint32_t)count;
	return true;
}

int dp_state_update_front(struct dp_study_state *s, struct dp_err *err)
{
	size_t m = s->spec->nobjectives, n = 0, count = 0, *picked = NULL;
	double *y = NULL, ref[DP_OBJECTIVES_MAX], volume;
	struct dp_result_id *points;
	int code = DP_E_NOMEM;

	if (s->front_valid)
		return DP_OK;
	points = s->front_is_extendable && m <= 2 ? list_front_candidates(s, &n)
						  : dp_state_list_results(s, &n);
	if (points) {
		n = keep_feasible_results(s, points, n);
		y = dp_malloc((n * m + 1) * sizeof *y);
		picked = dp_malloc((n + 1) * sizeof *picked);
	}
	if (!y || !picked)
		goto out;
	fill_objective_rows(s, points, n, y, ref);
	code = dp_pareto_find_front(y, n, m, picked, &count);
	if (code == DP_OK)
		code = dp_hypervolume(y, n, m, ref, &volume);
	if (code != DP_OK)
		goto out;
	qsort_r(picked, count, sizeof *picked, compare_by_first_objective,
		&(struct result_rows){ y, m });
	if (store_front(s, points, picked, count)) {
		s->hypervolume = volume;
		s->front_valid = true;
	} else {
		code = DP_E_NOMEM;
	}
out:
	free(points);
	free(y);
	free(picked);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for the front");
}
