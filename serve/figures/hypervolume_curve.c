/* growth.c - the hypervolume of the results that were there after so many evaluations.
 *
 * As the report's figure has it: evaluations in the order in which they ended, each with
 * what came of it on its way. */
#include "serve/figures/hypervolume_curve.h"

#include "base/json.h"
#include "optimize/pareto/pareto.h"

#include <stdlib.h>
#include <string.h>

enum {
	OBJECTIVES_MAX = 16
};

/* A row that ended an evaluation, and where its results begin among all rows. */
struct ended_trial {
	const char *ended_at;
	size_t first_row, last_row; /* rows; `last` is the trial's own */
};

struct volume_state {
	size_t p, n;
	int objective_columns[OBJECTIVES_MAX], feasible_column; /* of the rows */
	double sign[OBJECTIVES_MAX];                            /* -1: it is maximised */
	double ref[OBJECTIVES_MAX];
	double *y; /* (n x p), room for every row */
	size_t *front;
};

static int fail_curve_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for a curve");
}

static int compare_end_times(const void *a, const void *b)
{
	const struct ended_trial *u = a, *v = b;
	int first = strcmp(u->ended_at, v->ended_at);

	return first ? first : (u->first_row > v->first_row) - (u->first_row < v->first_row);
}

/* Evaluations that have ended, in that order. */
static size_t collect_ended_trials(const struct trial_rows *rows, struct ended_trial *out)
{
	int at = trial_rows_find_column(rows, NULL, "at"),
	    state = trial_rows_find_column(rows, NULL, "state"),
	    ended = trial_rows_find_column(rows, NULL, "ended");
	size_t n = 0, first = 0;

	for (size_t i = 0; i < trial_rows_count(rows); i++) {
		const char *is = trial_rows_get_cell(rows, i, state).string;
		const char *when = trial_rows_get_cell(rows, i, ended).string;

		if (trial_rows_get_cell(rows, i, at).kind != CELL_NONE)
			continue; /* waypoints stand before their trial */
		if (is && (strcmp(is, "ok") == 0 || strcmp(is, "failed") == 0 ||
			   strcmp(is, "diverged") == 0))
			out[n++] = (struct ended_trial){ when ? when : "", first, i };
		first = i + 1;
	}
	qsort(out, n, sizeof *out, compare_end_times);
	return n;
}

/* Appends the result of a row, if it has one that counts. */
static void volume_add_row(struct volume_state *v, const struct trial_rows *rows, size_t row)
{
	struct trial_cell counts = trial_rows_get_cell(rows, row, v->feasible_column);

	if (counts.kind != CELL_BOOL || counts.number == 0)
		return;
	for (size_t k = 0; k < v->p; k++) {
		struct trial_cell c = trial_rows_get_cell(rows, row, v->objective_columns[k]);

		if (c.kind != CELL_NUMBER)
			return;
		v->y[v->n * v->p + k] = v->sign[k] * c.number;
	}
	v->n++;
}

static int compare_indices(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return (i > k) - (i < k);
}

/* Drops what is dominated: the next steps have less to do. */
static int volume_compute(struct volume_state *v, double *volume)
{
	size_t count;

	if (dp_pareto_find_front(v->y, v->n, v->p, v->front, &count) != DP_OK)
		return DP_E_NOMEM;
	qsort(v->front, count, sizeof *v->front, compare_indices);
	for (size_t i = 0; i < count; i++)
		memmove(v->y + i * v->p, v->y + v->front[i] * v->p, v->p * sizeof *v->y);
	v->n = count;
	return dp_hypervolume(v->y, v->n, v->p, v->ref, volume);
}

static bool volume_init(struct volume_state *v, const json_t *summary,
			const struct trial_rows *rows)
{
	size_t n = trial_rows_count(rows);
	const json_t *names = json_object_get(summary, "objectives"),
		     *goals = json_object_get(summary, "goals"),
		     *anti = json_object_get(summary, "anti_ideal"), *name;
	size_t k;

	*v = (struct volume_state){ .p = json_array_size(names),
				    .feasible_column =
					    trial_rows_find_column(rows, NULL, "feasible") };
	if (v->p == 0 || v->p > OBJECTIVES_MAX)
		return false;
	json_array_foreach (names, k, name) {
		const char *goal = json_string_value(json_array_get(goals, k));

		v->objective_columns[k] =
			trial_rows_find_column(rows, "objectives", json_string_value(name));
		v->sign[k] = goal && strcmp(goal, "maximize") == 0 ? -1 : 1;
		if (!dp_json_to_real(json_object_get(anti, json_string_value(name)), &v->ref[k]))
			return false;
		v->ref[k] *= v->sign[k];
	}
	v->y = dp_malloc(n * v->p * sizeof *v->y + 1);
	v->front = dp_malloc(n * sizeof *v->front + 1);
	return true;
}

static int curve_compute_steps(struct hypervolume_curve *curve, struct volume_state *v,
			       const struct trial_rows *rows, const struct ended_trial *ended,
			       size_t n)
{
	size_t steps = n < HYPERVOLUME_CURVE_STEPS ? n : HYPERVOLUME_CURVE_STEPS, done = 0;

	for (size_t i = 0; i < steps; i++) {
		size_t before = v->n, upto = n * (i + 1) / steps;

		for (; done < upto; done++)
			for (size_t r = ended[done].first_row; r <= ended[done].last_row; r++)
				volume_add_row(v, rows, r);
		curve->evaluations[curve->n_points] = (double)done;
		curve->volume[curve->n_points] = curve->volume[curve->n_points - 1];
		if (v->n != before && volume_compute(v, &curve->volume[curve->n_points]) != DP_OK)
			return DP_E_NOMEM;
		curve->n_points++;
	}
	return DP_OK;
}

int hypervolume_curve_compute(const json_t *summary, const struct trial_rows *rows,
			      struct hypervolume_curve *out, struct dp_err *err)
{
	size_t all = trial_rows_count(rows);
	struct ended_trial *ended = dp_malloc(all * sizeof *ended + 1);
	struct volume_state v = { 0 };
	int code = DP_OK;

	*out = (struct hypervolume_curve){ .n_points = 1 };
	if (volume_init(&v, summary, rows) && ended && v.y && v.front)
		code = curve_compute_steps(out, &v, rows, ended, collect_ended_trials(rows, ended));
	else if (!ended || (v.p && (!v.y || !v.front)))
		code = DP_E_NOMEM;
	free(v.y);
	free(v.front);
	free(ended);
	return code == DP_OK ? DP_OK : fail_curve_nomem(err);
}
