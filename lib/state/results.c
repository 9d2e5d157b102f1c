/* results.c - results of a study, including checkpoints, and their front. */
#include "state/state_internal.h"

#include "optimize/pareto/pareto.h"
#include "study/learning_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool checkpoint_is_result(const struct dp_study_state *s, const struct dp_trial *t,
				 uint32_t i)
{
	return t->checkpoints && i < t->checkpoints->count &&
	       dp_checkpoint_is_result(s, t->checkpoints, i);
}

size_t dp_trial_list_results(const struct dp_study_state *s, const struct dp_trial *t,
			     bool with_diverged, struct dp_result_id *out)
{
	uint32_t ncheckpoints = t->checkpoints ? t->checkpoints->count : 0;
	size_t n = 0;

	for (uint32_t i = 0; i < ncheckpoints; i++) {
		if (!checkpoint_is_result(s, t, i))
			continue;
		if (out)
			out[n] = (struct dp_result_id){ t->number, (int32_t)i };
		n++;
	}
	if (with_diverged ? t->status != DP_TRIAL_OK && t->status != DP_TRIAL_DIVERGED
			  : t->status != DP_TRIAL_OK || !t->objectives)
		return n;
	if (out)
		out[n] = (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL };
	return n + 1;
}

struct dp_result_id *dp_state_list_results(const struct dp_study_state *s, size_t *n)
{
	size_t most = s->ok;
	struct dp_result_id *all;

	for (uint32_t i = 0; i < s->ntrials; i++)
		most += s->trials[i]->checkpoints ? s->trials[i]->checkpoints->count : 0;
	all = dp_malloc((most + 1) * sizeof *all);
	*n = 0;
	for (uint32_t i = 0; i < s->ntrials; i++)
		*n += dp_trial_list_results(s, s->trials[i], false, all + *n);
	return all;
}

bool dp_state_find_result(const struct dp_study_state *s, uint32_t trial, double at,
			  struct dp_result_id *out)
{
	const struct dp_trial *t = trial < s->ntrials ? s->trials[trial] : NULL;

	*out = (struct dp_result_id){ trial, DP_CHECKPOINT_FINAL };
	if (t && isnan(at))
		return t->status == DP_TRIAL_OK && t->objectives;
	for (uint32_t i = 0; t && t->checkpoints && i < t->checkpoints->count; i++)
		if (t->checkpoints->values[i] == at && checkpoint_is_result(s, t, i)) {
			out->checkpoint = (int32_t)i;
			return true;
		}
	return false;
}

bool dp_trial_has_checkpoint_results(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (uint32_t i = 0; t->checkpoints && i < t->checkpoints->count; i++)
		if (checkpoint_is_result(s, t, i))
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

static double get_checkpoint_metric(const struct dp_checkpoints *c, const double *table,
				    int32_t checkpoint, int metric)
{
	return metric >= 0 && (uint32_t)metric < c->nmetrics
		       ? table[(size_t)checkpoint * c->nmetrics + (size_t)metric]
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

		/* a metric that was not reported is NaN and does not meet its constraint */
		if (!(c->at_least ? mean >= c->bound : mean <= c->bound))
			return false;
	}
	return true;
}

/* ---- the front ---- */

/* Rows to be minimised. */
struct ranked_rows {
	const double *y;
	size_t m;
	const size_t *order;
};

/* Contract order: by the first objective, best first, then by `order`. */
static int compare_by_first_objective(const void *a, const void *b, void *arg)
{
	const struct ranked_rows *r = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	double u = r->y[i * r->m], v = r->y[k * r->m];

	if (u != v)
		return u < v ? -1 : 1;
	if (r->order) {
		i = r->order[i];
		k = r->order[k];
	}
	return (i > k) - (i < k);
}

void dp_study_rows_to_minimize(const struct dp_study *spec, double *y, size_t n, double *ref)
{
	size_t m = spec->nobjectives;

	for (size_t k = 0; k < m; k++) {
		double sign = spec->objectives[k].maximize ? -1 : 1;

		ref[k] = sign * spec->objectives[k].anti_ideal;
		for (size_t i = 0; i < n; i++)
			y[i * m + k] *= sign;
	}
}

size_t dp_study_find_front(const struct dp_study *spec, double *y, size_t n, const size_t *order,
			   size_t *front, double *hypervolume)
{
	size_t m = spec->nobjectives, count;
	double ref[DP_OBJECTIVES_MAX];

	dp_study_rows_to_minimize(spec, y, n, ref);
	count = dp_pareto_find_front(y, n, m, front);
	*hypervolume = dp_hypervolume(y, n, m, ref);
	qsort_r(front, count, sizeof *front, compare_by_first_objective,
		&(struct ranked_rows){ y, m, order });
	return count;
}

/* The order of dp_state_list_results(): by trial, then by checkpoint, the final one last. */
static int compare_result_ids(const void *a, const void *b)
{
	const struct dp_result_id *p = a, *q = b;
	uint32_t u = (uint32_t)p->checkpoint,
		 v = (uint32_t)q->checkpoint; /* DP_CHECKPOINT_FINAL sorts last */

	if (p->trial != q->trial)
		return p->trial < q->trial ? -1 : 1;
	return (u > v) - (u < v);
}

bool dp_result_is_on_front(const struct dp_study_state *s, struct dp_result_id p)
{
	return s->nfront > 0 &&
	       bsearch(&p, s->front_by_trial, s->nfront, sizeof p, compare_result_ids) != NULL;
}

/* If results were only added, the new front is within the last front and the added results. With
 * two objectives the hypervolume is also identical to the last bit, since dominated boxes add
 * nothing to the sum; with more objectives they split its terms. */
static struct dp_result_id *list_front_candidates(const struct dp_study_state *s, size_t *n)
{
	size_t most = s->nfront;
	struct dp_result_id *all;

	for (uint32_t i = 0; i < s->nadded_trials; i++)
		most += dp_trial_list_results(s, s->trials[s->added_trials[i]], false, NULL);
	all = dp_malloc((most + 1) * sizeof *all);
	if (s->nfront)
		memcpy(all, s->front, s->nfront * sizeof *all);
	*n = s->nfront;
	for (uint32_t i = 0; i < s->nadded_trials; i++)
		*n += dp_trial_list_results(s, s->trials[s->added_trials[i]], false, all + *n);
	qsort(all, *n, sizeof *all, compare_result_ids);
	return all;
}

void dp_state_update_front(struct dp_study_state *s)
{
	size_t m = s->spec->nobjectives, all, n = 0, *picked, count;
	struct dp_result_id *points, *front;
	double *y;

	if (s->front_valid)
		return;
	points = s->front_is_extendable && m <= 2 ? list_front_candidates(s, &all)
						  : dp_state_list_results(s, &all);
	y = dp_malloc((all * m + 1) * sizeof *y);
	for (size_t i = 0; i < all; i++) {
		if (!dp_result_is_feasible(s, points[i]))
			continue;
		memcpy(y + n * m, dp_result_get_objectives(s, points[i]), m * sizeof *y);
		points[n++] = points[i];
	}
	picked = dp_malloc((n + 1) * sizeof *picked);
	count = dp_study_find_front(s->spec, y, n, NULL, picked, &s->hypervolume);
	front = dp_malloc((2 * count + 1) * sizeof *front);
	for (size_t i = 0; i < count; i++)
		front[i] = front[count + i] = points[picked[i]];
	qsort(front + count, count, sizeof *front, compare_result_ids);
	free(s->front);
	s->front = front;
	s->front_by_trial = front + count;
	s->nfront = (uint32_t)count;
	s->front_valid = true;
	free(points);
	free(y);
	free(picked);
}
