/* points.c - a study's points on the plane of two objectives, fronts and staircases. */
#include "reports/figures/figures_internal.h"

#include "front/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void fig_points_free(struct fig_points *p)
{
	free(p->x);
	free(p->y);
	free(p->of);
	*p = (struct fig_points){ 0 };
}

bool fig_points_room(struct fig_points *p, size_t room)
{
	*p = (struct fig_points){ 0 };
	p->x = malloc(room * sizeof *p->x + 1);
	p->y = malloc(room * sizeof *p->y + 1);
	p->of = malloc(room * sizeof *p->of + 1);
	if (p->x && p->y && p->of)
		return true;
	fig_points_free(p);
	return false;
}

int fig_points(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	if (!fig_points_room(out, s->npoints))
		return fig_nomem(err);
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_point_objectives(s->s, s->points[i]);

		if (!dp_point_feasible(s->s, s->points[i]))
			continue;
		if (!isfinite(y[s->x]) || !isfinite(y[s->y])) {
			out->not_finite++;
			continue;
		}
		out->x[out->n] = y[s->x];
		out->y[out->n] = y[s->y];
		out->of[out->n++] = s->points[i];
	}
	return DP_OK;
}

bool fig_maximised(const struct subject *s, size_t objective)
{
	return s->s->spec->objectives[objective].maximize;
}

int fig_by_value(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

/* Values to be minimised, as the front library wants them. */
static double *rows_to_minimise(const struct subject *s, const struct fig_points *p)
{
	double *rows = malloc(2 * p->n * sizeof *rows + 1);

	for (size_t i = 0; rows && i < p->n; i++) {
		rows[2 * i] = fig_maximised(s, s->x) ? -p->x[i] : p->x[i];
		rows[2 * i + 1] = fig_maximised(s, s->y) ? -p->y[i] : p->y[i];
	}
	return rows;
}

int fig_front(const struct subject *s, const struct fig_points *p, struct fig_points *out,
	      struct dp_err *err)
{
	double *rows = rows_to_minimise(s, p);
	size_t *who = malloc(p->n * sizeof *who + 1), count = 0;
	int code = fig_points_room(out, p->n) && rows && who ? dp_front(rows, p->n, 2, who, &count)
							     : DP_E_NOMEM;

	for (size_t i = 0; code == DP_OK && i < count; i++) {
		/* a maximised x comes in falling order */
		size_t from = who[fig_maximised(s, s->x) ? count - 1 - i : i];

		out->x[i] = p->x[from];
		out->y[i] = p->y[from];
		out->of[i] = p->of[from];
		out->n++;
	}
	free(rows);
	free(who);
	if (code == DP_OK)
		return DP_OK;
	fig_points_free(out);
	return fig_nomem(err);
}

int fig_observed_front(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	struct fig_points all = { 0 };
	int code = fig_points(s, &all, err);

	if (code == DP_OK)
		code = fig_front(s, &all, out, err);
	fig_points_free(&all);
	return code;
}

int fig_denoised_front(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	size_t p = s->s->spec->nobjectives;
	struct fig_points all;
	int code;

	if (!fig_points_room(&all, s->denoised.n))
		return fig_nomem(err);
	for (size_t i = 0; i < s->denoised.n; i++) {
		const double *y = s->denoised.y + i * p;

		if (!isfinite(y[s->x]) || !isfinite(y[s->y]))
			continue;
		all.x[all.n] = y[s->x];
		all.y[all.n] = y[s->y];
		all.of[all.n++] = subject_known(s, s->denoised.index[i]);
	}
	code = fig_front(s, &all, out, err);
	fig_points_free(&all);
	return code;
}

int fig_subject_front(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	return s->denoises ? fig_denoised_front(s, out, err) : fig_observed_front(s, out, err);
}

/* A member of the front, to be put in order. */
struct member {
	double x, y;
	struct dp_point of;
};

static int members_by_x(const void *a, const void *b)
{
	const struct member *u = a, *v = b;

	return u->x != v->x ? (u->x < v->x ? -1 : 1) : u->y < v->y ? -1 : u->y > v->y;
}

int fig_members(const struct subject *s, struct fig_points *out, struct dp_err *err)
{
	size_t n = subject_front(s), count = 0;
	struct member *list = malloc(n * sizeof *list + 1);

	if (!list || !fig_points_room(out, n)) {
		free(list);
		return fig_nomem(err);
	}
	for (size_t i = 0; i < n; i++) {
		struct member m = { subject_front_value(s, i, s->x),
				    subject_front_value(s, i, s->y), subject_front_point(s, i) };

		if (isfinite(m.x) && isfinite(m.y))
			list[count++] = m;
	}
	qsort(list, count, sizeof *list, members_by_x);
	for (; out->n < count; out->n++) {
		out->x[out->n] = list[out->n].x;
		out->y[out->n] = list[out->n].y;
		out->of[out->n] = list[out->n].of;
	}
	free(list);
	return DP_OK;
}

static void add_corner(struct fig_points *out, double x, double y)
{
	out->x[out->n] = x;
	out->y[out->n++] = y;
}

int fig_stairs(const struct subject *s, const struct fig_points *front, double x_to, double y_to,
	       struct fig_points *out, struct dp_err *err)
{
	bool left = fig_maximised(s, s->x), down = fig_maximised(s, s->y); /* where it is worse */
	size_t last = front->n - 1, end;

	if (!fig_points_room(out, 2 * front->n + 2))
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

static bool beats_anti_ideal(const struct subject *s, size_t objective, double v)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];

	return o->maximize ? v > o->anti_ideal : v < o->anti_ideal;
}

bool fig_in_box(const struct subject *s, double x, double y)
{
	return beats_anti_ideal(s, s->x, x) && beats_anti_ideal(s, s->y, y);
}

void fig_cut_tail(const struct subject *s, struct fig_points *front)
{
	size_t kept = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_in_box(s, front->x[i], front->y[i]))
			continue;
		front->x[kept] = front->x[i];
		front->of[kept] = front->of[i];
		front->y[kept++] = front->y[i];
	}
	if (kept)
		front->n = kept;
}

/* Epsilons are of the same kind at the same delta, where both are known. */
static bool same_delta(const struct dp_oracle *a, const struct dp_oracle *b)
{
	double of_a = dp_oracle_delta(a), of_b = dp_oracle_delta(b);

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

bool fig_same_plane(const struct subject *a, const struct subject *b)
{
	const struct dp_study *sa = a->s->spec, *sb = b->s->spec;

	return fig_same_objective(&sa->objectives[a->x], &sb->objectives[b->x]) &&
	       fig_same_objective(&sa->objectives[a->y], &sb->objectives[b->y]);
}
