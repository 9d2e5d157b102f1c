/* recall.c - a study's results as a proposer takes them. */
#include "recall/recall.h"

#include "course/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void forget_values(struct dp_known *k)
{
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++)
		k->y[i] = k->var[i] = NAN;
	for (size_t i = 0; i < DP_CONSTRAINTS_MAX; i++)
		k->metric[i] = NAN;
	k->at = k->seconds = 0;
}

static enum dp_known_status recall_status(const struct dp_trial *t)
{
	if (t->status < DP_TRIAL_OK)
		return DP_KNOWN_PENDING;
	if (t->status == DP_TRIAL_OK)
		return DP_KNOWN_OK;
	return t->status == DP_TRIAL_DIVERGED ? DP_KNOWN_DIVERGED : DP_KNOWN_FAILED;
}

static bool is_known_result(const struct dp_known *k)
{
	return k->status == DP_KNOWN_OK || k->status == DP_KNOWN_DIVERGED;
}

/* What was measured at a point. */
static void recall_values(const struct dp_study_state *s, struct dp_point p, struct dp_known *k)
{
	const double *y = dp_point_objectives(s, p);
	const struct dp_study *spec = s->spec;

	for (size_t i = 0; y && i < spec->nobjectives; i++) {
		k->y[i] = y[i];
		if (spec->objectives[i].metric)
			k->var[i] = dp_point_mean_variance(
				s, p, dp_study_metric(s, spec->objectives[i].metric));
	}
	for (size_t i = 0; i < spec->nconstraints; i++)
		k->metric[i] = dp_point_mean(s, p, dp_study_metric(s, spec->constraints[i].metric));
}

/* A result of an ended trial. */
static void recall_point(const struct dp_study_state *s, struct dp_point p, struct dp_known *k)
{
	const struct dp_trial *t = s->trials[p.trial];

	forget_values(k);
	k->trial = p.trial;
	dp_point_x(s, p, k->x);
	k->status = p.way == DP_OWN ? recall_status(t) : DP_KNOWN_OK;
	if (p.way != DP_OWN)
		k->at = dp_point_at(s, p);
	else if (is_known_result(k))
		k->seconds = dp_trial_seconds(t);
	if (is_known_result(k))
		recall_values(s, p, k);
}

/* A training whose results are not known yet: its waypoints, then its own. */
static struct dp_known *recall_pending(const struct dp_study_state *s, const struct dp_trial *t,
				       struct dp_known *k)
{
	const struct dp_path *path = &s->spec->trainer.path;
	double at[DP_WAYPOINTS_MAX];
	size_t n = dp_path_values(s->spec, t->x, at);

	for (size_t i = 0; i <= n; i++, k++) {
		forget_values(k);
		k->trial = t->number;
		k->status = DP_KNOWN_PENDING;
		memcpy(k->x, t->x, s->spec->nparams * sizeof *t->x);
		if (path->points)
			k->x[path->param] = i < n ? at[i] : dp_path_end(s->spec, t->x);
		k->at = i < n ? at[i] : 0;
	}
	return k;
}

/* What a trial that has ended came to: its waypoints, whatever became of it, then its
 * own. */
static struct dp_known *recall_trial(const struct dp_study_state *s, const struct dp_trial *t,
				     struct dp_known *k)
{
	for (uint32_t w = 0; t->way && w < t->way->n; w++)
		if (dp_way_stands(s, t->way, w))
			recall_point(s, (struct dp_point){ t->number, (int32_t)w }, k++);
	recall_point(s, (struct dp_point){ t->number, DP_OWN }, k++);
	return k;
}

static void recall_imported(const struct dp_study_state *s, const struct dp_imported *from,
			    struct dp_known *k)
{
	const struct dp_path *path = &s->spec->trainer.path;
	bool whole = true;

	memcpy(k->x, from->x, s->spec->nparams * sizeof *k->x);
	if (path->points)
		k->x[path->param] = dp_path_end(s->spec, from->x);
	forget_values(k);
	for (size_t j = 0; j < s->spec->nobjectives; j++) {
		k->y[j] = from->objectives[j];
		whole &= isfinite(k->y[j]);
	}
	k->status = whole ? DP_KNOWN_OK : DP_KNOWN_DIVERGED;
}

static size_t recall_room(const struct dp_study_state *s)
{
	size_t n = (size_t)s->nimported + 1, most = (size_t)s->spec->trainer.path.points;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_way *way = s->trials[i]->way;

		n += 1 + (way && way->n > most ? way->n : most);
	}
	return n;
}

struct dp_known *dp_recall(const struct dp_study_state *s, bool for_proposal, size_t *n)
{
	struct dp_known *known = calloc(recall_room(s), sizeof *known), *k = known;
	uint32_t window = for_proposal ? dp_course_window(s) : s->ntrials;

	*n = 0;
	if (!known)
		return NULL;
	for (uint32_t i = 0; i < s->nimported; i++)
		recall_imported(s, &s->imported[i], k++);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		k = i >= window || t->status < DP_TRIAL_OK ? recall_pending(s, t, k)
							   : recall_trial(s, t, k);
	}
	*n = (size_t)(k - known);
	return known;
}

/* ---- for people ---- */

/* All results in the order of dp_recall(), those of diverged trials too. */
struct results_list {
	struct dp_point *point; /* (n) */
	size_t n, *first;       /* (ntrials + 1) where those of a trial begin */
};

static bool is_ended_result(const struct dp_trial *t)
{
	return t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;
}

/* How many results a trial has. point: gets them, or NULL. */
static size_t results_of_trial(const struct dp_study_state *s, const struct dp_trial *t,
			       struct dp_point *point)
{
	size_t n = 0;

	for (uint32_t w = 0; t->way && w < t->way->n; w++) {
		if (!dp_way_stands(s, t->way, w))
			continue;
		if (point)
			point[n] = (struct dp_point){ t->number, (int32_t)w };
		n++;
	}
	if (!is_ended_result(t))
		return n;
	if (point)
		point[n] = (struct dp_point){ t->number, DP_OWN };
	return n + 1;
}

size_t dp_results_count(const struct dp_study_state *s)
{
	size_t n = s->nimported;

	if (s->spec->trainer.path.points == 0)
		return n + s->ok + s->diverged;
	for (uint32_t i = 0; i < s->ntrials; i++)
		n += results_of_trial(s, s->trials[i], NULL);
	return n;
}

static void results_list_free(struct results_list *l)
{
	free(l->point);
	free(l->first);
}

static bool results_list_new(const struct dp_study_state *s, struct results_list *l)
{
	l->n = 0;
	l->point = malloc((dp_results_count(s) + 1) * sizeof *l->point);
	l->first = malloc(((size_t)s->ntrials + 1) * sizeof *l->first);
	for (uint32_t i = 0; l->point && l->first && i < s->ntrials; i++) {
		l->first[i] = l->n;
		l->n += results_of_trial(s, s->trials[i], l->point + l->n);
	}
	return l->point && l->first;
}

/* Where a result is in the list; it is there. */
static size_t results_find(const struct results_list *l, struct dp_point p)
{
	size_t i = l->first[p.trial];

	while (l->point[i].way != p.way)
		i++;
	return i;
}

/* Does one of `steps` even steps through n things end at the i-th? */
static bool is_step(size_t i, size_t n, size_t steps)
{
	return steps >= n || i * steps / n != (i + 1) * steps / n;
}

/* Marks the results of the observed front that are taken; how many. */
static size_t results_of_front(const struct dp_study_state *s, const struct results_list *l,
			       bool *taken)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nfront; i++) {
		bool take = is_step(i, s->nfront, DP_RESULTS_MAX);

		taken[results_find(l, s->front[i])] = take;
		n += take;
	}
	return n;
}

/* place: where the results of the list are among those that are taken; -1: not there. */
static void results_find_front(const struct dp_study_state *s, const struct results_list *l,
			       const int64_t *place, struct dp_results *out)
{
	for (uint32_t i = 0; i < s->nfront; i++) {
		int64_t at = place[results_find(l, s->front[i])];

		if (at >= 0)
			out->front[out->nfront++] = (size_t)at;
	}
}

static void results_take(const struct dp_study_state *s, const struct results_list *l,
			 const bool *taken, size_t steps, int64_t *place, struct dp_results *out)
{
	size_t all = s->nimported + l->n, seen = 0;

	for (uint32_t i = 0; i < s->nimported; i++)
		if (is_step(seen++, all, steps))
			recall_imported(s, &s->imported[i], &out->known[out->n++]);
	out->imported = out->n;
	for (size_t i = 0; i < l->n; i++) {
		place[i] = -1;
		if (!(is_step(seen++, all, steps) || taken[i]))
			continue;
		place[i] = (int64_t)out->n;
		recall_point(s, l->point[i], &out->known[out->n++]);
	}
}

/* Fills the results from the list of all. */
static int results_choose(const struct dp_study_state *s, const struct results_list *l,
			  struct dp_results *out)
{
	size_t all = s->nimported + l->n, steps = all, of_front = 0;
	bool *taken = calloc(l->n + 1, sizeof *taken);
	int64_t *place = calloc(l->n + 1, sizeof *place);

	if (taken && place) {
		of_front = results_of_front(s, l, taken);
		if (all > DP_RESULTS_MAX)
			steps = DP_RESULTS_MAX - of_front;
		out->known = calloc(steps + of_front + 1, sizeof *out->known);
		out->front = calloc(of_front + 1, sizeof *out->front);
	}
	if (out->known && out->front) {
		results_take(s, l, taken, steps, place, out);
		results_find_front(s, l, place, out);
	}
	free(taken);
	free(place);
	return out->known && out->front ? DP_OK : DP_E_NOMEM;
}

int dp_results_recall(struct dp_study_state *s, struct dp_results *out, struct dp_err *err)
{
	struct results_list list;
	int code = dp_study_front(s, err);

	*out = (struct dp_results){ 0 };
	if (code != DP_OK)
		return code;
	code = results_list_new(s, &list) ? results_choose(s, &list, out) : DP_E_NOMEM;
	results_list_free(&list);
	if (code == DP_OK)
		return DP_OK;
	dp_results_free(out);
	return dp_fail(err, code, "no memory for the results of a study");
}

void dp_results_free(struct dp_results *r)
{
	free(r->known);
	free(r->front);
	*r = (struct dp_results){ 0 };
}
