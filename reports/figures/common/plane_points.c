/* plane_points.c - points of a study on the objective plane: fronts, staircases, bands. */
#include "reports/figures/common/figures_internal.h"

#include "optimize/pareto/pareto.h"
#include "study/accounting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int fig_nothing(struct dp_err *err, const char *why)
{
	return dp_fail(err, DP_E_NOT_FOUND, "%s", why);
}

int fig_main_study(const struct report_data *r, const struct study_data **s, struct dp_err *err)
{
	*s = r->studies;
	return r->nstudies ? DP_OK : fig_nothing(err, "the report has no study");
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

struct fig_points fig_points_new(struct arena *mem, size_t room)
{
	return (struct fig_points){
		.x = arena_calloc(mem, room, sizeof(double)),
		.y = arena_calloc(mem, room, sizeof(double)),
		.results = arena_calloc(mem, room, sizeof(struct dp_result_id)),
	};
}

void fig_add_point(struct fig_points *p, double x, double y, struct dp_result_id result)
{
	p->x[p->n] = x;
	p->y[p->n] = y;
	p->results[p->n++] = result;
}

struct fig_points fig_collect_points(struct arena *mem, const struct study_data *s)
{
	struct fig_points all = fig_points_new(mem, s->npoints);

	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_result_get_objectives(s->state, s->points[i]);

		if (!dp_result_is_feasible(s->state, s->points[i]))
			continue;
		if (isfinite(y[s->x_obj]) && isfinite(y[s->y_obj]))
			fig_add_point(&all, y[s->x_obj], y[s->y_obj], s->points[i]);
		else
			all.n_not_finite++;
	}
	return all;
}

/* Values to be minimised, as rows for the Pareto library. The caller frees them. */
static double *points_to_minimised_rows(const struct study_data *s, const struct fig_points *p)
{
	double *rows = dp_calloc(p->n, 2 * sizeof *rows);

	for (size_t i = 0; i < p->n; i++) {
		rows[2 * i] = fig_is_maximised(s, s->x_obj) ? -p->x[i] : p->x[i];
		rows[2 * i + 1] = fig_is_maximised(s, s->y_obj) ? -p->y[i] : p->y[i];
	}
	return rows;
}

double fig_dominated_area(const struct study_data *s, const struct fig_points *p)
{
	const struct dp_objective *x = &s->state->spec->objectives[s->x_obj];
	const struct dp_objective *y = &s->state->spec->objectives[s->y_obj];
	const double ref[2] = { x->maximize ? -x->anti_ideal : x->anti_ideal,
				y->maximize ? -y->anti_ideal : y->anti_ideal };
	double *rows = points_to_minimised_rows(s, p), area;

	area = dp_hypervolume(rows, p->n, 2, ref);
	free(rows);
	return area;
}

struct fig_points fig_filter_front(struct arena *mem, const struct study_data *s,
				   const struct fig_points *p)
{
	struct fig_points front = fig_points_new(mem, p->n);
	double *rows = points_to_minimised_rows(s, p);
	size_t *indexes = dp_calloc(p->n, sizeof *indexes);
	size_t count = dp_pareto_find_front(rows, p->n, 2, indexes);

	for (size_t i = 0; i < count; i++) {
		/* a maximised x is in descending order */
		size_t from = indexes[fig_is_maximised(s, s->x_obj) ? count - 1 - i : i];

		fig_add_point(&front, p->x[from], p->y[from], p->results[from]);
	}
	free(rows);
	free(indexes);
	return front;
}

struct fig_points fig_observed_front(struct arena *mem, const struct study_data *s)
{
	struct fig_points all = fig_collect_points(mem, s);

	return fig_filter_front(mem, s, &all);
}

struct fig_points fig_smoothed_front(struct arena *mem, const struct study_data *s)
{
	struct fig_points all = fig_points_new(mem, s->smoothed.n);

	for (size_t i = 0; i < s->smoothed.n; i++) {
		const double *y = s->smoothed.y + i * s->state->spec->nobjectives;

		if (isfinite(y[s->x_obj]) && isfinite(y[s->y_obj]))
			fig_add_point(&all, y[s->x_obj], y[s->y_obj],
				      study_data_model_result(s, s->smoothed.result_index[i]));
	}
	return fig_filter_front(mem, s, &all);
}

struct fig_points fig_study_front(struct arena *mem, const struct study_data *s)
{
	return s->uses_smoothed_front ? fig_smoothed_front(mem, s) : fig_observed_front(mem, s);
}

size_t fig_front_index(const struct study_data *s, struct dp_result_id p)
{
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id q = study_data_front_point(s, i);

		if (q.trial == p.trial && q.checkpoint == p.checkpoint)
			return i;
	}
	return SIZE_MAX;
}

struct front_member {
	double x, y;
	struct dp_result_id result;
};

static int compare_front_members(const void *a, const void *b)
{
	const struct front_member *u = a, *v = b;

	return u->x != v->x ? (u->x < v->x ? -1 : 1) : u->y < v->y ? -1 : u->y > v->y;
}

struct fig_points fig_front_members(struct arena *mem, const struct study_data *s)
{
	size_t n = study_data_front_size(s), count = 0;
	struct fig_points out = fig_points_new(mem, n);
	struct front_member *list = dp_calloc(n, sizeof *list);

	for (size_t i = 0; i < n; i++) {
		struct front_member m = { study_data_front_value(s, i, s->x_obj),
					  study_data_front_value(s, i, s->y_obj),
					  study_data_front_point(s, i) };

		if (isfinite(m.x) && isfinite(m.y))
			list[count++] = m;
	}
	qsort(list, count, sizeof *list, compare_front_members);
	for (size_t i = 0; i < count; i++)
		fig_add_point(&out, list[i].x, list[i].y, list[i].result);
	free(list);
	return out;
}

struct fig_points fig_staircase(struct arena *mem, const struct study_data *s,
				const struct fig_points *front, double x_to, double y_to)
{
	/* direction of worse values */
	bool left = fig_is_maximised(s, s->x_obj), down = fig_is_maximised(s, s->y_obj);
	struct fig_points out = fig_points_new(mem, 2 * front->n + 2);
	size_t last = front->n - 1, end;

	if (front->n == 0)
		return out;
	/* extend to worse x at the end with the worst x, to worse y at the other end */
	end = left ? 0 : last;
	if (!(left ? x_to < front->x[end] : x_to > front->x[end]))
		x_to = front->x[end];
	end = last - end;
	if (!(down ? y_to < front->y[end] : y_to > front->y[end]))
		y_to = front->y[end];
	fig_add_point(&out, left ? x_to : front->x[0], left ? front->y[0] : y_to, FIG_NO_RESULT);
	for (size_t i = 0; i < front->n; i++) {
		if (i > 0)
			fig_add_point(&out, front->x[left ? i - 1 : i], front->y[left ? i : i - 1],
				      FIG_NO_RESULT);
		fig_add_point(&out, front->x[i], front->y[i], FIG_NO_RESULT);
	}
	fig_add_point(&out, left ? front->x[last] : x_to, left ? y_to : front->y[last],
		      FIG_NO_RESULT);
	return out;
}

bool fig_beats_reference_point(const struct study_data *s, double x, double y)
{
	const struct dp_objective *of_x = &s->state->spec->objectives[s->x_obj];
	const struct dp_objective *of_y = &s->state->spec->objectives[s->y_obj];

	return (of_x->maximize ? x > of_x->anti_ideal : x < of_x->anti_ideal) &&
	       (of_y->maximize ? y > of_y->anti_ideal : y < of_y->anti_ideal);
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

bool fig_same_objective(const struct dp_objective *a, const struct dp_objective *b)
{
	double delta_a, delta_b;

	if (strcmp(a->name, b->name) != 0 || a->maximize != b->maximize ||
	    !a->privacy != !b->privacy)
		return false;
	if (!a->privacy)
		return strcmp(a->metric, b->metric) == 0 && a->one_minus == b->one_minus;
	/* epsilons compare only at the same delta, if both are known */
	delta_a = dp_accounting_delta(a->privacy);
	delta_b = dp_accounting_delta(b->privacy);
	return isnan(delta_a) || isnan(delta_b) || delta_a == delta_b;
}

bool fig_same_plane(const struct study_data *a, const struct study_data *b)
{
	const struct dp_study *sa = a->state->spec, *sb = b->state->spec;

	return fig_same_objective(&sa->objectives[a->x_obj], &sb->objectives[b->x_obj]) &&
	       fig_same_objective(&sa->objectives[a->y_obj], &sb->objectives[b->y_obj]);
}

struct fig_band fig_band_new(struct arena *mem, size_t room)
{
	return (struct fig_band){ .x = arena_calloc(mem, room, sizeof(double)),
				  .mid = arena_calloc(mem, room, sizeof(double)),
				  .from = arena_calloc(mem, room, sizeof(double)),
				  .to = arena_calloc(mem, room, sizeof(double)) };
}

void fig_band_add(struct fig_band *b, double x, double mid, double from, double to)
{
	b->x[b->n] = x;
	b->mid[b->n] = mid;
	b->from[b->n] = from;
	b->to[b->n++] = to;
}

static void reverse_doubles(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double swap = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = swap;
	}
}

void fig_band_reverse(struct fig_band *b)
{
	reverse_doubles(b->x, b->n);
	reverse_doubles(b->mid, b->n);
	reverse_doubles(b->from, b->n);
	reverse_doubles(b->to, b->n);
}

struct fig_rects fig_rects_new(struct arena *mem, size_t room)
{
	return (struct fig_rects){ .x0 = arena_calloc(mem, room, sizeof(double)),
				   .x1 = arena_calloc(mem, room, sizeof(double)),
				   .y0 = arena_calloc(mem, room, sizeof(double)),
				   .y1 = arena_calloc(mem, room, sizeof(double)) };
}

void fig_rects_add(struct fig_rects *b, double x0, double x1, double y0, double y1)
{
	b->x0[b->n] = x0;
	b->x1[b->n] = x1;
	b->y0[b->n] = y0;
	b->y1[b->n++] = y1;
}
