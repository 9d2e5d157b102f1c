/* point.c - the results of a study, those of its trainings' waypoints too, and the front
 * of them. */
#include "journal/state_internal.h"

#include "front/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what they are ---- */

static size_t points_most(const struct dp_study_state *s)
{
	size_t n = s->ok;

	for (uint32_t i = 0; i < s->ntrials; i++)
		n += s->trials[i]->way ? s->trials[i]->way->n : 0;
	return n;
}

struct dp_point *dp_study_points(const struct dp_study_state *s, size_t *n)
{
	struct dp_point *all = malloc((points_most(s) + 1) * sizeof *all), *p = all;

	*n = 0;
	for (uint32_t i = 0; all && i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		for (uint32_t w = 0; t->way && w < t->way->n; w++)
			if (dp_way_stands(s, t->way, w))
				*p++ = (struct dp_point){ i, (int32_t)w };
		if (t->status == DP_TRIAL_OK && t->objectives)
			*p++ = (struct dp_point){ i, DP_OWN };
	}
	*n = all ? (size_t)(p - all) : 0;
	return all;
}

bool dp_study_point(const struct dp_study_state *s, uint32_t trial, double at,
		    struct dp_point *out)
{
	const struct dp_trial *t = trial < s->ntrials ? s->trials[trial] : NULL;

	*out = (struct dp_point){ trial, DP_OWN };
	if (t && isnan(at))
		return t->status == DP_TRIAL_OK && t->objectives;
	for (uint32_t w = 0; t && t->way && w < t->way->n; w++)
		if (t->way->at[w] == at && dp_way_stands(s, t->way, w)) {
			out->way = (int32_t)w;
			return true;
		}
	return false;
}

bool dp_trial_has_way(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (uint32_t w = 0; t->way && w < t->way->n; w++)
		if (dp_way_stands(s, t->way, w))
			return true;
	return false;
}

bool dp_study_has_results(const struct dp_study_state *s)
{
	bool has = s->ok > 0;

	for (uint32_t i = 0; i < s->ntrials && !has; i++)
		has = dp_trial_has_way(s, s->trials[i]);
	return has;
}

double dp_study_walked(const struct dp_study_state *s)
{
	double sum = 0;

	for (uint32_t i = 0; s->spec->trainer.path.points && i < s->ntrials; i++)
		if (s->trials[i]->status >= DP_TRIAL_OK && !s->trials[i]->refused)
			sum += dp_path_end(s->spec, s->trials[i]->x);
	return sum;
}

double dp_point_at(const struct dp_study_state *s, struct dp_point p)
{
	return p.way == DP_OWN ? NAN : s->trials[p.trial]->way->at[p.way];
}

void dp_point_x(const struct dp_study_state *s, struct dp_point p, double *x)
{
	const struct dp_path *path = &s->spec->trainer.path;

	memcpy(x, s->trials[p.trial]->x, s->spec->nparams * sizeof *x);
	if (p.way != DP_OWN)
		x[path->param] = dp_point_at(s, p);
	else if (path->points)
		x[path->param] = dp_path_end(s->spec, x);
}

const double *dp_point_objectives(const struct dp_study_state *s, struct dp_point p)
{
	const struct dp_trial *t = dp_study_trial(s, p.trial);

	return p.way == DP_OWN
		       ? t->objectives
		       : t->way->objectives + (size_t)p.way * s->spec->nobjectives;
}

/* What the runs of a waypoint come to in a table of its training. */
static double way_column(const struct dp_way *way, const double *table, int32_t w,
			 int metric)
{
	return metric >= 0 && (uint32_t)metric < way->nmetrics
		       ? table[(size_t)w * way->nmetrics + (size_t)metric]
		       : NAN;
}

double dp_point_mean(const struct dp_study_state *s, struct dp_point p, int metric)
{
	const struct dp_trial *t = s->trials[p.trial];

	return p.way == DP_OWN ? dp_trial_mean(s, t, metric)
			       : way_column(t->way, t->way->means, p.way, metric);
}

double dp_point_mean_variance(const struct dp_study_state *s, struct dp_point p,
			      int metric)
{
	const struct dp_trial *t = s->trials[p.trial];

	return p.way == DP_OWN ? dp_trial_mean_variance(s, t, metric)
			       : way_column(t->way, t->way->variances, p.way, metric);
}

bool dp_point_feasible(const struct dp_study_state *s, struct dp_point p)
{
	for (size_t i = 0; i < s->spec->nconstraints; i++) {
		const struct dp_constraint *c = &s->spec->constraints[i];
		double mean = dp_point_mean(s, p, dp_study_metric(s, c->metric));

		/* a metric that was not reported (NaN) does not meet its constraint */
		if (!(c->at_least ? mean >= c->bound : mean <= c->bound))
			return false;
	}
	return true;
}

/* ---- the front ---- */

/* Rows as the front library takes them, to minimise, and the reference point. */
static void points_rows(const struct dp_study_state *s, const struct dp_point *points,
			size_t n, double *y, double *ref)
{
	size_t m = s->spec->nobjectives;

	for (size_t k = 0; k < m; k++) {
		double sign = s->spec->objectives[k].maximize ? -1 : 1;

		ref[k] = sign * s->spec->objectives[k].anti_ideal;
		for (size_t i = 0; i < n; i++)
			y[i * m + k] = sign * dp_point_objectives(s, points[i])[k];
	}
}

/* Leaves only the feasible ones; how many. */
static size_t points_feasible(const struct dp_study_state *s, struct dp_point *points,
			      size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (dp_point_feasible(s, points[i]))
			points[kept++] = points[i];
	return kept;
}

/* The contract's order: the first objective, the best first, then as dp_study_points()
 * has them, which is the order of the positions. */
static void points_order(size_t *picked, size_t count, const double *y, size_t m)
{
	for (size_t i = 1; i < count; i++) {
		size_t one = picked[i], k = i;

		while (k > 0) {
			double u = y[picked[k - 1] * m], v = y[one * m];

			if (u < v || (u == v && picked[k - 1] < one))
				break;
			picked[k] = picked[k - 1];
			k--;
		}
		picked[k] = one;
	}
}

int dp_study_front(struct dp_study_state *s, struct dp_err *err)
{
	size_t m = s->spec->nobjectives, n = 0, count = 0, *picked = NULL;
	double *y = NULL, ref[DP_OBJECTIVES_MAX], volume;
	struct dp_point *points, *front = NULL;
	int code = DP_E_NOMEM;

	if (s->front_valid)
		return DP_OK;
	points = dp_study_points(s, &n);
	if (points) {
		n = points_feasible(s, points, n);
		y = malloc((n * m + 1) * sizeof *y);
		picked = malloc((n + 1) * sizeof *picked);
		front = malloc((n + 1) * sizeof *front);
	}
	if (!y || !picked || !front)
		goto out;
	points_rows(s, points, n, y, ref);
	code = dp_front(y, n, m, picked, &count);
	if (code == DP_OK)
		code = dp_hypervolume(y, n, m, ref, &volume);
	if (code != DP_OK)
		goto out;
	points_order(picked, count, y, m);
	for (size_t i = 0; i < count; i++)
		front[i] = points[picked[i]];
	free(s->front);
	s->front = front;
	s->nfront = (uint32_t)count;
	s->hypervolume = volume;
	s->front_valid = true;
	front = NULL;
out:
	free(points);
	free(y);
	free(picked);
	free(front);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for the front");
}
