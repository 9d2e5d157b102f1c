/* points.c - a study's points on the plane of two objectives, fronts and staircases. */
#include "reports/figures/common/figures_internal.h"

#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fig_points_free(struct fig_points *p)
{
	free(p->x);
	free(p->y);
	free(p->results);
	*p = (struct fig_points){ 0 };
}

bool fig_points_alloc(struct fig_points *p, size_t room)
{
	*p = (struct fig_points){ 0 };
	p->x = dp_malloc(room * sizeof *p->x + 1);
	p->y = dp_malloc(room * sizeof *p->y + 1);
	p->results = dp_malloc(room * sizeof *p->results + 1);
	if (p->x && p->y && p->results)
		return true;
	fig_points_free(p);
	return false;
}

int fig_collect_points(const struct study_data *s, struct fig_points *out, struct dp_err *err)
{
	if (!fig_points_alloc(out, s->npoints))
		return fig_nomem(err);
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_result_get_objectives(s->state, s->points[i]);

		if (!dp_result_is_feasible(s->state, s->points[i]))
			continue;
		if (!isfinite(y[s->x_obj]) || !isfinite(y[s->y_obj])) {
			out->n_not_finite++;
			continue;
		}
		out->x[out->n] = y[s->x_obj];
		out->y[out->n] = y[s->y_obj];
		out->results[out->n++] = s->points[i];
	}
	return DP_OK;
}

bool fig_is_maximised(const struct study_data *s, size_t objective)
{
	return s->state->spec->objectives[objective].maximize;
}

int fig_compare_doubles(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

/* Values to be minimised, as the front library wants them. */
static double *points_to_minimised_rows(const struct study_data *s, const struct fig_points *p)
{
	double *rows = dp_malloc(2 * p->n * sizeof *rows + 1);

	for (size_t i = 0; rows && i < p->n; i++) {
		rows[2 * i] = fig_is_maximised(s, s->x_obj) ? -p->x[i] : p->x[i];
		rows[2 * i + 1] = fig_is_maximised(s, s->y_obj) ? -p->y[i] : p->y[i];
	}
	return rows;
}

int fig_filter_front(const struct study_data *s, const struct fig_points *p, struct fig_points *out,
		     struct dp_err *err)
{
	double *rows = points_to_minimised_rows(s, p);
	size_t *who = dp_malloc(p->n * sizeof *who + 1);
	size_t count = dp_pareto_find_front(rows, p->n, 2, who);
	int code = fig_points_alloc(out, p->n) ? DP_OK : DP_E_NOMEM;

	for (size_t i = 0; code == DP_OK && i < count; i++) {
		/* a maximised x comes in falling order */
		size_t from = who[fig_is_maximised(s, s->x_obj) ? count - 1 - i : i];

		out->x[i] = p->x[from];
		out->y[i] = p->y[from];
		out->results[i] = p->results[from];
		out->n++;
	}
	free(rows);
	free(who);
	if (code == DP_OK)
		return DP_OK;
	fig_points_free(out);
	return fig_nomem(err);
}

int fig_observed_front(const struct study_data *s, struct fig_points *out, struct dp_err *err)
{
	struct fig_points all = { 0 };
	int code = fig_collect_points(s, &all, err);

	if (code == DP_OK)
		code = fig_filter_front(s, &all, out, err);
	fig_points_free(&all);
	return code;
}

int fig_smoothed_front(const struct study_data *s, struct fig_points *out, struct dp_err *err)
{
	size_t p = s->state->spec->nobjectives;
	struct fig_points all;
	int code;

	if (!fig_points_alloc(&all, s->smoothed.n))
		return fig_nomem(err);
	for (size_t i = 0; i < s->smoothed.n; i++) {
		const double *y = s->smoothed.y + i * p;

		if (!isfinite(y[s->x_obj]) || !isfinite(y[s->y_obj]))
			continue;
		all.x[all.n] = y[s->x_obj];
		all.y[all.n] = y[s->y_obj];
		all.results[all.n++] = study_data_model_result(s, s->smoothed.result_index[i]);
	}
	code = fig_filter_front(s, &all, out, err);
	fig_points_free(&all);
	return code;
}

int fig_study_front(const struct study_data *s, struct fig_points *out, struct dp_err *err)
{
	return s->uses_smoothed_front ? fig_smoothed_front(s, out, err)
				      : fig_observed_front(s, out, err);
}

/* A member of the front, to be put in order. */
struct front_member {
	double x, y;
	struct dp_result_id result;
};

static int compare_front_members(const void *a, const void *b)
{
	const struct front_member *u = a, *v = b;

	return u->x != v->x ? (u->x < v->x ? -1 : 1) : u->y < v->y ? -1 : u->y > v->y;
}

int fig_front_members(const struct study_data *s, struct fig_points *out, struct dp_err *err)
{
	size_t n = study_data_front_size(s), count = 0;
	struct front_member *list = dp_malloc(n * sizeof *list + 1);

	if (!list || !fig_points_alloc(out, n)) {
		free(list);
		return fig_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		struct front_member m = { study_data_front_value(s, i, s->x_obj),
					  study_data_front_value(s, i, s->y_obj),
					  study_data_front_point(s, i) };

		if (isfinite(m.x) && isfinite(m.y))
			list[count++] = m;
	}
	qsort(list, count, sizeof *list, compare_front_members);
	for (; out->n < count; out->n++) {
		out->x[out->n] = list[out->n].x;
		out->y[out->n] = list[out->n].y;
		out->results[out->n] = list[out->n].result;
	}
	free(list);
	return DP_OK;
}

static void add_corner(struct fig_points *out, double x, double y)
{
	out->x[out->n] = x;
	out->y[out->n++] = y;
}

int fig_staircase(const struct study_data *s, const struct fig_points *front, double x_to,
		  double y_to, struct fig_points *out, struct dp_err *err)
{
	bool left = fig_is_maximised(s, s->x_obj),
	     down = fig_is_maximised(s, s->y_obj); /* where it is worse */
	size_t last = front->n - 1, end;

	if (!fig_points_alloc(out, 2 * front->n + 2))
		return fig_nomem(err);
	if (front->n == 0)
		return DP_OK;
	/* worse in x from the end with the worst x, worse in y from the other end */
	end = left ? 0 : last;
	if (!(left ? x_to < front->x[end] : x_to > front->x[end]))
		x_to = front->x[end];
	end = last - end;
	if (!(down ? y_to < front->y[end] : y_to > front->y[end]))
		y_to = front->y[end];
	add_corner(out, left ? x_to : front->x[0], left ? front->y[0] : y_to);
	for (size_t i = 0; i < front->n; i++) {
		if (i > 0)
			add_corner(out, front->x[left ? i - 1 : i], front->y[left ? i : i - 1]);
		add_corner(out, front->x[i], front->y[i]);
	}
	add_corner(out, left ? front->x[last] : x_to, left ? y_to : front->y[last]);
	return DP_OK;
}

static bool value_beats_reference(const struct study_data *s, size_t objective, double v)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];

	return o->maximize ? v > o->anti_ideal : v < o->anti_ideal;
}

bool fig_beats_reference_point(const struct study_data *s, double x, double y)
{
	return value_beats_reference(s, s->x_obj, x) && value_beats_reference(s, s->y_obj, y);
}

void fig_trim_front_tail(const struct study_data *s, struct fig_points *front)
{
	size_t kept = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_beats_reference_point(s, front->x[i], front->y[i]))
			continue;
		front->x[kept] = front->x[i];
		front->results[kept] = front->results[i];
		front->y[kept++] = front->y[i];
	}
	if (kept)
		front->n = kept;
}

/* Epsilons are of the same kind at the same delta, where both are known. */
static bool same_delta(const struct dp_accounting_spec *a, const struct dp_accounting_spec *b)
{
	double of_a = dp_accounting_delta(a), of_b = dp_accounting_delta(b);

	return isnan(of_a) || isnan(of_b) || of_a == of_b;
}

bool fig_same_objective(const struct dp_objective *a, const struct dp_objective *b)
{
	if (strcmp(a->name, b->name) != 0 || a->maximize != b->maximize ||
	    !a->privacy != !b->privacy)
		return false;
	if (a->privacy)
		return same_delta(a->privacy, b->privacy);
	return strcmp(a->metric, b->metric) == 0 && a->one_minus == b->one_minus;
}

bool fig_same_plane(const struct study_data *a, const struct study_data *b)
{
	const struct dp_study *sa = a->state->spec, *sb = b->state->spec;

	return fig_same_objective(&sa->objectives[a->x_obj], &sb->objectives[b->x_obj]) &&
	       fig_same_objective(&sa->objectives[a->y_obj], &sb->objectives[b->y_obj]);
}
