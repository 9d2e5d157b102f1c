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

/* The results of a trial, its own last; returns the place after them. */
static struct dp_point *points_of_trial(const struct dp_study_state *s, const struct dp_trial *t,
					struct dp_point *p)
{
	for (uint32_t w = 0; t->way && w < t->way->n; w++)
		if (dp_way_stands(s, t->way, w))
			*p++ = (struct dp_point){ t->number, (int32_t)w };
	if (t->status == DP_TRIAL_OK && t->objectives)
		*p++ = (struct dp_point){ t->number, DP_OWN };
	return p;
}

struct dp_point *dp_study_points(const struct dp_study_state *s, size_t *n)
{
	struct dp_point *all = malloc((points_most(s) + 1) * sizeof *all), *p = all;

	*n = 0;
	for (uint32_t i = 0; all && i < s->ntrials; i++)
		p = points_of_trial(s, s->trials[i], p);
	*n = all ? (size_t)(p - all) : 0;
	return all;
}

bool dp_study_point(const struct dp_study_state *s, uint32_t trial, double at, struct dp_point *out)
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
	return p.way == DP_OWN ? NAN : dp_study_trial(s, p.trial)->way->at[p.way];
}

void dp_point_x(const struct dp_study_state *s, struct dp_point p, double *x)
{
	const struct dp_path *path = &s->spec->trainer.path;

	memcpy(x, dp_study_trial(s, p.trial)->x, s->spec->nparams * sizeof *x);
	if (p.way != DP_OWN)
		x[path->param] = dp_point_at(s, p);
	else if (path->points)
		x[path->param] = dp_path_end(s->spec, x);
}

const double *dp_point_objectives(const struct dp_study_state *s, struct dp_point p)
{
	const struct dp_trial *t = dp_study_trial(s, p.trial);

	return p.way == DP_OWN ? t->objectives
			       : t->way->objectives + (size_t)p.way * s->spec->nobjectives;
}

/* What the runs of a waypoint come to in a table of its training. */
static double way_column(const struct dp_way *way, const double *table, int32_t w, int metric)
{
	return metric >= 0 && (uint32_t)metric < way->nmetrics
		       ? table[(size_t)w * way->nmetrics + (size_t)metric]
		       : NAN;
}

double dp_point_mean(const struct dp_study_state *s, struct dp_point p, int metric)
{
	const struct dp_trial *t = dp_study_trial(s, p.trial);

	return p.way == DP_OWN ? dp_trial_mean(s, t, metric)
			       : way_column(t->way, t->way->means, p.way, metric);
}

double dp_point_mean_variance(const struct dp_study_state *s, struct dp_point p, int metric)
{
	const struct dp_trial *t = dp_study_trial(s, p.trial);

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
static void points_rows(const struct dp_study_state *s, const struct dp_point *points, size_t n,
			double *y, double *ref)
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
static size_t points_feasible(const struct dp_study_state *s, struct dp_point *points, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (dp_point_feasible(s, points[i]))
			points[kept++] = points[i];
	return kept;
}

/* Results, and their rows as points_rows() makes them. */
struct point_rows {
	const double *y;
	size_t m;
};

/* The contract's order: the first objective, the best first, then as dp_study_points()
 * has them, which is the order of the positions. */
static int compare_best(const void *a, const void *b, void *arg)
{
	const struct point_rows *r = arg;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	double u = r->y[i * r->m], v = r->y[k * r->m];

	return u != v ? (u < v ? -1 : 1) : (i > k) - (i < k);
}

/* As dp_study_points() has them: by trial, waypoints before its own. */
static int compare_points(const void *a, const void *b)
{
	const struct dp_point *p = a, *q = b;
	uint32_t u = (uint32_t)p->way, v = (uint32_t)q->way; /* DP_OWN becomes the last */

	if (p->trial != q->trial)
		return p->trial < q->trial ? -1 : 1;
	return (u > v) - (u < v);
}

bool dp_study_on_front(const struct dp_study_state *s, struct dp_point p)
{
	return s->nfront > 0 &&
	       bsearch(&p, s->front_by_trial, s->nfront, sizeof p, compare_points) != NULL;
}

/* Where only results were added, the points of the last front and these are enough: of
 * two objectives the area, too, is the same to the last bit, since boxes inside of others
 * add nothing to it (of more they split sums). NULL without memory. */
static struct dp_point *points_grown(const struct dp_study_state *s, size_t *n)
{
	size_t most = s->nfront;
	struct dp_point *all, *p;

	for (uint32_t i = 0; i < s->nadded; i++) {
		const struct dp_way *way = s->trials[s->added[i]]->way;

		most += 1 + (way ? way->n : 0);
	}
	all = p = malloc((most + 1) * sizeof *all);
	if (!all)
		return NULL;
	if (s->nfront)
		memcpy(all, s->front, s->nfront * sizeof *all);
	p += s->nfront;
	for (uint32_t i = 0; i < s->nadded; i++)
		p = points_of_trial(s, s->trials[s->added[i]], p);
	*n = (size_t)(p - all);
	qsort(all, *n, sizeof *all, compare_points);
	return all;
}

/* Replaces the front of the study by the picked points. */
static bool store_front(struct dp_study_state *s, const struct dp_point *points,
			const size_t *picked, size_t count)
{
	struct dp_point *front = malloc((2 * count + 1) * sizeof *front);

	if (!front)
		return false;
	for (size_t i = 0; i < count; i++)
		front[i] = front[count + i] = points[picked[i]];
	qsort(front + count, count, sizeof *front, compare_points);
	free(s->front);
	s->front = front;
	s->front_by_trial = front + count;
	s->nfront = (uint32_t)count;
	return true;
}

int dp_study_front(struct dp_study_state *s, struct dp_err *err)
{
	size_t m = s->spec->nobjectives, n = 0, count = 0, *picked = NULL;
	double *y = NULL, ref[DP_OBJECTIVES_MAX], volume;
	struct dp_point *points;
	int code = DP_E_NOMEM;

	if (s->front_valid)
		return DP_OK;
	points = s->front_grows && m <= 2 ? points_grown(s, &n) : dp_study_points(s, &n);
	if (points) {
		n = points_feasible(s, points, n);
		y = malloc((n * m + 1) * sizeof *y);
		picked = malloc((n + 1) * sizeof *picked);
	}
	if (!y || !picked)
		goto out;
	points_rows(s, points, n, y, ref);
	code = dp_front(y, n, m, picked, &count);
	if (code == DP_OK)
		code = dp_hypervolume(y, n, m, ref, &volume);
	if (code != DP_OK)
		goto out;
	qsort_r(picked, count, sizeof *picked, compare_best, &(struct point_rows){ y, m });
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
