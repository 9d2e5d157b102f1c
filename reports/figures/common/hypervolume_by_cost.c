/* growth.c - the hypervolume as evaluations end: by their number, by what trainings
 * walked up, and by the time that they took. */
#include "reports/figures/common/figure_data.h"

#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fig_hypervolume_curve_free(struct fig_hypervolume_curve *g)
{
	for (int by = 0; by < FIG_COST_AXES; by++)
		free(g->spent[by]);
	free(g->volume);
	*g = (struct fig_hypervolume_curve){ 0 };
}

/* More steps cannot be told apart in a picture; with many objectives each is dear. */
static size_t max_curve_steps(size_t objectives)
{
	return objectives <= 2 ? FIG_CURVE_STEPS_MAX : objectives == 3 ? 200 : 40;
}

static int compare_trial_end(const void *a, const void *b)
{
	const struct dp_trial *t = *(struct dp_trial *const *)a;
	const struct dp_trial *u = *(struct dp_trial *const *)b;

	if (t->ended_us != u->ended_us)
		return t->ended_us < u->ended_us ? -1 : 1;
	return t->number < u->number ? -1 : t->number > u->number;
}

/* Those of the trials that have ended, in the order in which they did. */
static const struct dp_trial **ended_trials(const struct dp_study_state *st,
					    const struct fig_trial_range *which, size_t *n)
{
	const struct dp_trial **list = dp_malloc(st->ntrials * sizeof *list + 1);

	*n = 0;
	for (uint32_t i = which->from; list && i < st->ntrials && i < which->end; i++)
		if (st->trials[i]->status >= DP_TRIAL_OK)
			list[(*n)++] = st->trials[i];
	if (list)
		qsort(list, *n, sizeof *list, compare_trial_end);
	*n = *n < which->max_count ? *n : which->max_count;
	return list;
}

/* The front so far, as rows to be minimised. */
struct archive {
	const struct dp_study_state *st;
	size_t p, n;
	double *rows;  /* (n x p), room for every result */
	size_t *front; /* room for as many */
	double ref[DP_OBJECTIVES_MAX];
};

/* Appends a result if it counts. */
static void archive_add(struct archive *a, struct dp_result_id p)
{
	const double *y = dp_result_get_objectives(a->st, p);

	if (!dp_result_is_feasible(a->st, p))
		return;
	for (size_t k = 0; k < a->p; k++)
		a->rows[a->n * a->p + k] = a->st->spec->objectives[k].maximize ? -y[k] : y[k];
	a->n++;
}

/* Appends what came of a training, also on its way. */
static void archive_add_trial(struct archive *a, const struct dp_trial *t)
{
	for (uint32_t w = 0; t->checkpoints && w < t->checkpoints->count; w++)
		if (dp_checkpoint_is_result(a->st, t->checkpoints, w))
			archive_add(a, (struct dp_result_id){ t->number, (int32_t)w });
	if (t->status == DP_TRIAL_OK && t->objectives)
		archive_add(a, (struct dp_result_id){ t->number, DP_CHECKPOINT_FINAL });
}

static int compare_size(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return i < k ? -1 : i > k;
}

/* Drops what is dominated; rows move down only, so they go in rising order. */
static int archive_clean(struct archive *a)
{
	size_t count;

	if (dp_pareto_find_front(a->rows, a->n, a->p, a->front, &count) != DP_OK)
		return DP_E_NOMEM;
	qsort(a->front, count, sizeof *a->front, compare_size);
	for (size_t i = 0; i < count; i++)
		memmove(a->rows + i * a->p, a->rows + a->front[i] * a->p, a->p * sizeof *a->rows);
	a->n = count;
	return DP_OK;
}

static int archive_new(struct archive *a, const struct study_data *s)
{
	const struct dp_study_state *st = s->state;

	*a = (struct archive){ .st = st, .p = st->spec->nobjectives };
	a->rows = dp_malloc(s->npoints * a->p * sizeof *a->rows + 1);
	a->front = dp_malloc(s->npoints * sizeof *a->front + 1);
	for (size_t k = 0; k < a->p; k++) {
		const struct dp_objective *o = &st->spec->objectives[k];

		a->ref[k] = o->maximize ? -o->anti_ideal : o->anti_ideal;
	}
	return a->rows && a->front ? DP_OK : DP_E_NOMEM;
}

/* What a training walked up: its value of the parameter of this name, in full whatever
 * became of it; NaN: it has none. */
static double trial_path_value(const struct dp_study *s, const double *x, const char *name)
{
	for (size_t i = 0; name && i < s->nparams; i++) {
		const struct dp_param *p = &s->params[i];

		if (strcmp(p->name, name) != 0)
			continue;
		if (p->kind == DP_PARAM_FIXED)
			return json_is_number(p->values) ? json_number_value(p->values) : NAN;
		return p->kind == DP_PARAM_CATEGORICAL ? NAN : x[i];
	}
	return NAN;
}

/* Adds what an evaluation cost. */
static void curve_add_trial_cost(struct fig_hypervolume_curve *g, const struct dp_study_state *st,
				 const struct dp_trial *t, const char *walked)
{
	g->spent[FIG_COST_EVALUATIONS][g->n] += 1;
	if (!t->refusal_reason) /* what an oracle has no answer for is not trained */
		g->spent[FIG_COST_PATH][g->n] += trial_path_value(st->spec, t->x, walked);
	for (uint32_t i = 0; i < t->nattempts; i++)
		g->spent[FIG_COST_SECONDS][g->n] += dp_attempt_seconds(&t->attempts[i]);
}

static int compute_curve_steps(struct fig_hypervolume_curve *g, struct archive *a,
			       const char *walked, const struct dp_trial **trials, size_t n)
{
	size_t steps = n < max_curve_steps(a->p) ? n : max_curve_steps(a->p), done = 0;

	for (int by = 0; by < FIG_COST_AXES; by++)
		g->spent[by][0] = 0;
	g->volume[0] = 0;
	g->n = 1;
	for (size_t i = 0; i < steps; i++) {
		size_t before = a->n, upto = n * (i + 1) / steps;

		for (int by = 0; by < FIG_COST_AXES; by++)
			g->spent[by][g->n] = g->spent[by][g->n - 1];
		for (; done < upto; done++) {
			archive_add_trial(a, trials[done]);
			curve_add_trial_cost(g, a->st, trials[done], walked);
		}
		g->volume[g->n] = g->volume[g->n - 1];
		if (a->n != before &&
		    (archive_clean(a) ||
		     dp_hypervolume(a->rows, a->n, a->p, a->ref, &g->volume[g->n])))
			return DP_E_NOMEM;
		g->n++;
	}
	return DP_OK;
}

static bool hypervolume_curve_alloc(struct fig_hypervolume_curve *g, size_t room)
{
	bool all = true;

	*g = (struct fig_hypervolume_curve){ .volume = dp_malloc(room * sizeof *g->volume) };
	for (int by = 0; by < FIG_COST_AXES; by++) {
		g->spent[by] = dp_malloc(room * sizeof *g->spent[by]);
		all &= g->spent[by] != NULL;
	}
	return all && g->volume;
}

int fig_compute_hypervolume_curve(const struct study_data *s, const char *walked,
				  struct fig_hypervolume_curve *out, struct dp_err *err)
{
	const struct fig_trial_range all = { 0, s->state->ntrials, SIZE_MAX };

	return fig_compute_trials_curve(s, &all, walked, out, err);
}

int fig_compute_trials_curve(const struct study_data *s, const struct fig_trial_range *which,
			     const char *walked, struct fig_hypervolume_curve *out,
			     struct dp_err *err)
{
	const struct dp_trial **trials;
	struct archive a = { 0 };
	int code = DP_E_NOMEM;
	size_t n;

	trials = ended_trials(s->state, which, &n);
	if (hypervolume_curve_alloc(out, n + 1) && trials && !archive_new(&a, s))
		code = compute_curve_steps(out, &a, walked, trials, n);
	free(a.rows);
	free(a.front);
	free(trials);
	if (code == DP_OK)
		return DP_OK;
	fig_hypervolume_curve_free(out);
	return fig_nomem(err);
}
