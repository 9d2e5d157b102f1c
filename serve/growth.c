/* growth.c - the hypervolume of the results that were there after so many evaluations.
 *
 * As the report's figure has it: evaluations in the order in which they ended, each with
 * what came of it on its way. */
#include "serve/growth.h"

#include "base/json.h"
#include "front/front.h"

#include <stdlib.h>
#include <string.h>

enum {
	OBJECTIVES_MAX = 16
};

/* A row that ended an evaluation, and where its results begin among all rows. */
struct ended_row {
	const char *when;
	size_t first, last; /* rows; `last` is the trial's own */
};

struct volume_of {
	size_t p, n;
	int column[OBJECTIVES_MAX], feasible; /* of the rows */
	double sign[OBJECTIVES_MAX];          /* -1: it is maximised */
	double ref[OBJECTIVES_MAX];
	double *y; /* (n x p), room for every row */
	size_t *front;
};

static int growth_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for a curve");
}

static int compare_when(const void *a, const void *b)
{
	const struct ended_row *u = a, *v = b;
	int first = strcmp(u->when, v->when);

	return first ? first : (u->first > v->first) - (u->first < v->first);
}

/* Evaluations that have ended, in that order. */
static size_t ended_rows(const struct rows *rows, struct ended_row *out)
{
	int at = rows_column(rows, NULL, "at"), state = rows_column(rows, NULL, "state"),
	    ended = rows_column(rows, NULL, "ended");
	size_t n = 0, first = 0;

	for (size_t i = 0; i < rows_count(rows); i++) {
		const char *is = rows_cell(rows, i, state).word;
		const char *when = rows_cell(rows, i, ended).word;

		if (rows_cell(rows, i, at).kind != ROWS_NONE)
			continue; /* waypoints stand before their trial */
		if (is && (strcmp(is, "ok") == 0 || strcmp(is, "failed") == 0 ||
			   strcmp(is, "diverged") == 0))
			out[n++] = (struct ended_row){ when ? when : "", first, i };
		first = i + 1;
	}
	qsort(out, n, sizeof *out, compare_when);
	return n;
}

/* Appends the result of a row, if it has one that counts. */
static void volume_add(struct volume_of *v, const struct rows *rows, size_t row)
{
	struct rows_cell counts = rows_cell(rows, row, v->feasible);

	if (counts.kind != ROWS_TRUTH || counts.number == 0)
		return;
	for (size_t k = 0; k < v->p; k++) {
		struct rows_cell c = rows_cell(rows, row, v->column[k]);

		if (c.kind != ROWS_NUMBER)
			return;
		v->y[v->n * v->p + k] = v->sign[k] * c.number;
	}
	v->n++;
}

static int compare_place(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return (i > k) - (i < k);
}

/* Drops what is dominated: the next steps have less to do. */
static int volume_find(struct volume_of *v, double *volume)
{
	size_t count;

	if (dp_front(v->y, v->n, v->p, v->front, &count) != DP_OK)
		return DP_E_NOMEM;
	qsort(v->front, count, sizeof *v->front, compare_place);
	for (size_t i = 0; i < count; i++)
		memmove(v->y + i * v->p, v->y + v->front[i] * v->p, v->p * sizeof *v->y);
	v->n = count;
	return dp_hypervolume(v->y, v->n, v->p, v->ref, volume);
}

static bool volume_init(struct volume_of *v, const json_t *summary, const struct rows *rows)
{
	size_t n = rows_count(rows);
	const json_t *names = json_object_get(summary, "objectives"),
		     *goals = json_object_get(summary, "goals"),
		     *anti = json_object_get(summary, "anti_ideal"), *name;
	size_t k;

	*v = (struct volume_of){ .p = json_array_size(names),
				 .feasible = rows_column(rows, NULL, "feasible") };
	if (v->p == 0 || v->p > OBJECTIVES_MAX)
		return false;
	json_array_foreach (names, k, name) {
		const char *goal = json_string_value(json_array_get(goals, k));

		v->column[k] = rows_column(rows, "objectives", json_string_value(name));
		v->sign[k] = goal && strcmp(goal, "maximize") == 0 ? -1 : 1;
		if (!dp_json_to_real(json_object_get(anti, json_string_value(name)), &v->ref[k]))
			return false;
		v->ref[k] *= v->sign[k];
	}
	v->y = malloc(n * v->p * sizeof *v->y + 1);
	v->front = malloc(n * sizeof *v->front + 1);
	return true;
}

static int grow(struct growth *g, struct volume_of *v, const struct rows *rows,
		const struct ended_row *ended, size_t n)
{
	size_t steps = n < GROWTH_STEPS ? n : GROWTH_STEPS, done = 0;

	for (size_t i = 0; i < steps; i++) {
		size_t before = v->n, upto = n * (i + 1) / steps;

		for (; done < upto; done++)
			for (size_t r = ended[done].first; r <= ended[done].last; r++)
				volume_add(v, rows, r);
		g->ended[g->n] = (double)done;
		g->volume[g->n] = g->volume[g->n - 1];
		if (v->n != before && volume_find(v, &g->volume[g->n]) != DP_OK)
			return DP_E_NOMEM;
		g->n++;
	}
	return DP_OK;
}

int growth_find(const json_t *summary, const struct rows *rows, struct growth *out,
		struct dp_err *err)
{
	size_t all = rows_count(rows);
	struct ended_row *ended = malloc(all * sizeof *ended + 1);
	struct volume_of v = { 0 };
	int code = DP_OK;

	*out = (struct growth){ .n = 1 };
	if (volume_init(&v, summary, rows) && ended && v.y && v.front)
		code = grow(out, &v, rows, ended, ended_rows(rows, ended));
	else if (!ended || (v.p && (!v.y || !v.front)))
		code = DP_E_NOMEM;
	free(v.y);
	free(v.front);
	free(ended);
	return code == DP_OK ? DP_OK : growth_nomem(err);
}
