/* hypervolume_by_cost.c - hypervolume as a function of evaluations, path parameter or duration. */
#include "reports/figures/common/figure_data.h"

#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More steps are not visible, and each is expensive with many objectives. */
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

/* Completed trials in order of completion. */
static const struct dp_trial **ended_trials(const struct dp_study_state *st,
					    const struct fig_trial_range *which, size_t *n)
{
	const struct dp_trial **list = dp_malloc(st->ntrials * sizeof *list + 1);

	*n = 0;
	for (uint32_t i = which->from; i < st->ntrials && i < which->end; i++)
		if (st->trials[i]->status >= DP_TRIAL_OK)
			list[(*n)++] = st->trials[i];
	qsort(list, *n, sizeof *list, compare_trial_end);
	*n = *n < which->max_count ? *n : which->max_count;
	return list;
}

/* Writes a trial's results and checkpoints as rows to be minimised. Returns their number. */
static size_t load_trial_results(const struct dp_study_state *st, const struct dp_trial *t,
				 double *rows)
{
	size_t p = st->spec->nobjectives, n = 0;
	int32_t ncheckpoints = t->checkpoints ? (int32_t)t->checkpoints->count : 0;

	/* the trial's own result is DP_CHECKPOINT_FINAL (-1), after the checkpoints */
	for (int32_t i = 0; i <= ncheckpoints; i++) {
		struct dp_result_id id = { t->number, i < ncheckpoints ? i : DP_CHECKPOINT_FINAL };
		bool is_result = i < ncheckpoints
					 ? dp_checkpoint_is_result(st, t->checkpoints, (uint32_t)i)
					 : t->status == DP_TRIAL_OK && t->objectives;

		if (!is_result || !dp_result_is_feasible(st, id))
			continue;
		for (size_t k = 0; k < p; k++) {
			double y = dp_result_get_objectives(st, id)[k];

			rows[n * p + k] = st->spec->objectives[k].maximize ? -y : y;
		}
		n++;
	}
	return n;
}

/* The path parameter's value of a trial, in full whatever the outcome; NaN: not a parameter. */
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

static void curve_add_trial_cost(struct fig_hypervolume_curve *g, const struct dp_study_state *st,
				 const struct dp_trial *t, const char *walked)
{
	g->spent[FIG_COST_EVALUATIONS][g->n] += 1;
	if (!t->refusal_reason) /* points without an epsilon are not trained */
		g->spent[FIG_COST_PATH][g->n] += trial_path_value(st->spec, t->x, walked);
	for (uint32_t i = 0; i < t->nattempts; i++)
		g->spent[FIG_COST_SECONDS][g->n] += dp_attempt_seconds(&t->attempts[i]);
}

struct fig_hypervolume_curve
fig_compute_hypervolume_curve(struct arena *mem, const struct study_data *s, const char *walked)
{
	const struct fig_trial_range all = { 0, s->state->ntrials, SIZE_MAX };

	return fig_compute_trials_curve(mem, s, &all, walked);
}

struct fig_hypervolume_curve fig_compute_trials_curve(struct arena *mem, const struct study_data *s,
						      const struct fig_trial_range *which,
						      const char *walked)
{
	const struct dp_study_state *st = s->state;
	size_t p = st->spec->nobjectives, n, steps, used = 0, done = 0;
	const struct dp_trial **trials = ended_trials(st, which, &n);
	double *rows = dp_calloc(s->npoints * p, sizeof *rows), ref[DP_OBJECTIVES_MAX];
	size_t *ends = dp_calloc(n, sizeof *ends);
	struct fig_hypervolume_curve out;

	for (size_t i = 0; i < n; i++)
		ends[i] = used += load_trial_results(st, trials[i], rows + used * p);
	for (size_t k = 0; k < p; k++)
		ref[k] = (st->spec->objectives[k].maximize ? -1 : 1) *
			 st->spec->objectives[k].anti_ideal;
	steps = n < max_curve_steps(p) ? n : max_curve_steps(p);
	out.volume = arena_calloc(mem, steps + 1, sizeof *out.volume);
	for (int by = 0; by < FIG_COST_AXES; by++)
		out.spent[by] = arena_calloc(mem, steps + 1, sizeof *out.spent[by]);
	dp_hypervolume_curve(rows, p, ends, n, ref, steps, out.volume + 1);
	for (out.n = 1; out.n <= steps; out.n++) {
		for (int by = 0; by < FIG_COST_AXES; by++)
			out.spent[by][out.n] = out.spent[by][out.n - 1];
		for (; done < dp_hypervolume_curve_evaluations(n, steps, out.n - 1); done++)
			curve_add_trial_cost(&out, st, trials[done], walked);
	}
	free(rows);
	free(ends);
	free(trials);
	return out;
}
