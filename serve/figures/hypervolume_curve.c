/* hypervolume_curve.c - computes the hypervolume of a study after each number of evaluations.
 *
 * Uses the order of the report's figure: evaluations by end time, each with its checkpoints. */
#include "serve/figures/hypervolume_curve.h"

#include "base/json.h"
#include "optimize/pareto/pareto.h"

#include <stdlib.h>
#include <string.h>

enum {
	OBJECTIVES_MAX = 16
};

/* The row of an ended evaluation, and where its results begin. */
struct ended_trial {
	const char *ended_at;
	size_t first_row, last_row; /* rows; `last_row` is the trial's own */
};

struct curve_columns {
	size_t p;
	int objectives[OBJECTIVES_MAX], feasible;
	double sign[OBJECTIVES_MAX]; /* -1: maximised */
	double ref[OBJECTIVES_MAX];
};

static int compare_end_times(const void *a, const void *b)
{
	const struct ended_trial *u = a, *v = b;
	int first = strcmp(u->ended_at, v->ended_at);

	return first ? first : (u->first_row > v->first_row) - (u->first_row < v->first_row);
}

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
			continue; /* checkpoints precede their trial */
		if (is && (strcmp(is, "ok") == 0 || strcmp(is, "failed") == 0 ||
			   strcmp(is, "diverged") == 0))
			out[n++] = (struct ended_trial){ when ? when : "", first, i };
		first = i + 1;
	}
	qsort(out, n, sizeof *out, compare_end_times);
	return n;
}

static bool find_curve_columns(struct curve_columns *c, const json_t *summary,
			       const struct trial_rows *rows)
{
	const json_t *names = json_object_get(summary, "objectives"),
		     *goals = json_object_get(summary, "goals"),
		     *anti = json_object_get(summary, "anti_ideal"), *name;
	size_t k;

	*c = (struct curve_columns){ .p = json_array_size(names),
				     .feasible = trial_rows_find_column(rows, NULL, "feasible") };
	if (c->p == 0 || c->p > OBJECTIVES_MAX)
		return false;
	json_array_foreach (names, k, name) {
		const char *goal = json_string_value(json_array_get(goals, k));

		c->objectives[k] =
			trial_rows_find_column(rows, "objectives", json_string_value(name));
		c->sign[k] = goal && strcmp(goal, "maximize") == 0 ? -1 : 1;
		if (!dp_json_to_real(json_object_get(anti, json_string_value(name)), &c->ref[k]))
			return false;
		c->ref[k] *= c->sign[k];
	}
	return true;
}

/* Reads the result of a row as values to minimise; false: no valid result. */
static bool get_row_result(const struct curve_columns *c, const struct trial_rows *rows, size_t row,
			   double *y)
{
	struct trial_cell counts = trial_rows_get_cell(rows, row, c->feasible);

	if (counts.kind != CELL_BOOL || counts.number == 0)
		return false;
	for (size_t k = 0; k < c->p; k++) {
		struct trial_cell value = trial_rows_get_cell(rows, row, c->objectives[k]);

		if (value.kind != CELL_NUMBER)
			return false;
		y[k] = c->sign[k] * value.number;
	}
	return true;
}

void hypervolume_curve_compute(const json_t *summary, const struct trial_rows *rows,
			       struct hypervolume_curve *out)
{
	size_t all = trial_rows_count(rows), n, steps, used = 0;
	struct curve_columns columns;
	struct ended_trial *ended;
	size_t *ends;
	double *y;

	*out = (struct hypervolume_curve){ .n_points = 1 };
	if (!find_curve_columns(&columns, summary, rows))
		return;
	ended = dp_malloc(all * sizeof *ended + 1);
	n = collect_ended_trials(rows, ended);
	ends = dp_malloc(n * sizeof *ends + 1);
	y = dp_malloc(all * columns.p * sizeof *y + 1);
	for (size_t i = 0; i < n; i++) {
		for (size_t r = ended[i].first_row; r <= ended[i].last_row; r++)
			used += get_row_result(&columns, rows, r, y + used * columns.p);
		ends[i] = used;
	}
	steps = n < HYPERVOLUME_CURVE_STEPS ? n : HYPERVOLUME_CURVE_STEPS;
	dp_hypervolume_curve(y, columns.p, ends, n, columns.ref, steps, out->volume + 1);
	for (size_t i = 0; i < steps; i++)
		out->evaluations[i + 1] = (double)dp_hypervolume_curve_evaluations(n, steps, i);
	out->n_points = steps + 1;
	free(y);
	free(ends);
	free(ended);
}
