/* parallel.c - parallel coordinates: every point as a line over parameters and
 * objectives, coloured by its utility. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINES_MAX = 60, /* more would cover each other */
	COUNT_LEN = 80,
	PARAMS_MAX = 12,
};

/* The axes: parameters, then the two objectives. */
struct view {
	const struct subject *s;
	size_t nfree, n, nparams;
	size_t param[PARAMS_MAX]; /* (nparams) */
	struct plot_parallel axis[PARAMS_MAX + 2];
	struct space_names *names; /* (nparams) */
	struct dp_buf label[2];    /* of the objectives */
	struct fig_points all, front;
};

static bool applies(const struct report *r)
{
	size_t param[DP_PARAMS_MAX];

	return r->nsubjects && r->subjects[0].s->ok > 1 &&
	       space_has_front(&r->subjects[0]) &&
	       space_free(r->subjects[0].s->spec, param) > 1;
}

static void view_free(struct view *v)
{
	for (size_t i = 0; v->names && i < v->nparams; i++)
		space_names_free(&v->names[i]);
	free(v->names);
	dp_buf_free(&v->label[0]);
	dp_buf_free(&v->label[1]);
	fig_points_free(&v->all);
	fig_points_free(&v->front);
}

static int choose(struct view *v, struct dp_err *err)
{
	const struct dp_trial *through;
	int code = space_incumbent(v->s, &through, err);

	if (code == DP_OK)
		v->nparams =
			space_shown(v->s, through->x, PARAMS_MAX, v->param, &v->nfree);
	return code;
}

static double value(const struct view *v, const struct dp_trial *t, size_t axis)
{
	if (axis < v->nparams)
		return t->x[v->param[axis]];
	return t->objectives[axis == v->nparams ? v->s->x : v->s->y];
}

/* From the range of a parameter, or of what was seen. */
static void set_range(struct view *v, size_t i)
{
	const struct dp_param *p =
		i < v->nparams ? &v->s->s->spec->params[v->param[i]] : NULL;
	struct plot_parallel *a = &v->axis[i];

	a->lo = INFINITY;
	a->hi = -INFINITY;
	if (p && p->kind != DP_PARAM_CATEGORICAL) {
		a->lo = p->lo;
		a->hi = p->hi;
	} else if (p) {
		a->lo = 0;
		a->hi = (double)a->nnames - 1;
	}
	for (size_t k = 0; k < v->all.n; k++) {
		double at = value(v, v->s->s->trials[v->all.trial[k]], i);

		a->lo = fmin(a->lo, at);
		a->hi = fmax(a->hi, at);
	}
}

static int make_axes(struct view *v, struct dp_err *err)
{
	const double *seen[2] = { v->all.x, v->all.y };
	const size_t shown[2] = { v->s->x, v->s->y };

	v->names = calloc(v->nparams + 1, sizeof *v->names);
	if (!v->names)
		return fig_nomem(err);
	for (size_t i = 0; i < v->nparams; i++) {
		const struct dp_param *p = &v->s->s->spec->params[v->param[i]];

		space_names(v->s->s->spec, v->param[i], &v->names[i]);
		v->axis[i] = (struct plot_parallel){ .label = p->name,
						     .scale = space_scale(p),
						     .names = v->names[i].name,
						     .nnames = v->names[i].n };
		if (!v->names[i].n)
			v->axis[i].names = NULL;
	}
	for (size_t k = 0; k < 2; k++) {
		fig_label(v->s, shown[k], &v->label[k]);
		v->axis[v->nparams + k] = (struct plot_parallel){
			.label = dp_buf_text(&v->label[k]),
			.scale = fig_scale(seen[k], v->all.n),
		};
	}
	v->n = v->nparams + 2;
	for (size_t i = 0; i < v->n; i++)
		set_range(v, i);
	return DP_OK;
}

static int gather(const struct subject *s, struct view *v, struct dp_err *err)
{
	int code;

	*v = (struct view){ .s = s };
	if ((code = choose(v, err)) != DP_OK ||
	    (code = fig_points(s, &v->all, err)) != DP_OK ||
	    (code = fig_front(s, &v->all, &v->front, err)) != DP_OK)
		return code;
	return make_axes(v, err);
}

/* Trials by utility, the best last: it is drawn over the others. */
static int by_utility(const void *a, const void *b, void *arg)
{
	const struct subject *s = arg;
	const struct dp_trial *t = s->s->trials[*(const uint32_t *)a];
	const struct dp_trial *u = s->s->trials[*(const uint32_t *)b];
	double x = t->objectives[s->y], y = u->objectives[s->y];

	if (x == y)
		return t->number < u->number ? -1 : 1;
	return (x > y) == s->s->spec->objectives[s->y].maximize ? 1 : -1;
}

static size_t lines_of(const struct fig_points *points)
{
	return points->n < LINES_MAX ? points->n : LINES_MAX;
}

/* Two more lines, without a place, stretch the colours over the range of all points:
 * the same in both panels. */
static int draw_lines(struct plot_panel *a, const struct view *v,
		      const struct fig_points *points, struct dp_err *err)
{
	const struct plot_parallel *utility = &v->axis[v->n - 1];
	size_t m = lines_of(points);
	uint32_t *trial = malloc(points->n * sizeof *trial + 1);
	double *values = malloc((m + 2) * v->n * sizeof *values);
	double *by = malloc((m + 2) * sizeof *by);
	int code = trial && values && by ? DP_OK : fig_nomem(err);

	if (code == DP_OK && m) {
		memcpy(trial, points->trial, points->n * sizeof *trial);
		qsort_r(trial, points->n, sizeof *trial, by_utility, (void *)v->s);
		for (size_t k = 0; k < m; k++) {
			/* evenly from worst to best, both included */
			size_t at = m > 1 ? k * (points->n - 1) / (m - 1) : 0;
			const struct dp_trial *t = v->s->s->trials[trial[at]];

			for (size_t i = 0; i < v->n; i++)
				values[k * v->n + i] = value(v, t, i);
			by[k] = t->objectives[v->s->y];
		}
		for (size_t i = 0; i < 2 * v->n; i++)
			values[m * v->n + i] = NAN;
		by[m] = utility->lo;
		by[m + 1] = utility->hi;
		panel_parallel(a, v->axis, v->n, values, m + 2, by, utility->scale,
			       utility->label);
	}
	free(trial);
	free(values);
	free(by);
	return code;
}

/* "all 80 points", "100 of 272 points" */
static void count_text(const struct fig_points *points, const char *what,
		       char out[COUNT_LEN])
{
	if (lines_of(points) < points->n)
		snprintf(out, COUNT_LEN, "%zu of %zu %s", lines_of(points), points->n,
			 what);
	else
		snprintf(out, COUNT_LEN, "all %zu %s", points->n, what);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	struct view v;
	const struct fig_points *shown[2];
	char title[COUNT_LEN];
	int code = gather(s, &v, err);

	*out = NULL;
	if (code == DP_OK)
		code = fig_new(r, figure_parallel.title, v.n > 8 ? 1200 : 920, 700, out,
			       err);
	if (code != DP_OK)
		goto out;
	plot_grid(*out, 2, 1);
	shown[0] = &v.all;
	shown[1] = &v.front;
	for (int row = 0; row < 2 && code == DP_OK; row++) {
		struct plot_panel *a = plot_panel(*out, row, 0);

		count_text(shown[row], row ? "points of the front" : "points", title);
		panel_title(a, title);
		code = draw_lines(a, &v, shown[row], err);
	}
out:
	view_free(&v);
	return fig_end(code, out);
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	char count[COUNT_LEN];
	struct view v;
	struct dp_err err;

	if (gather(s, &v, &err) == DP_OK) {
		dp_buf_printf(out, "Each line is one evaluation, coloured by %s: ",
			      s->s->spec->objectives[s->y].name);
		count_text(&v.all, "points", count);
		dp_buf_printf(out, "%s above, ", count);
		if (lines_of(&v.all) < v.all.n)
			dp_buf_puts(out, "evenly from worst to best, ");
		count_text(&v.front, "of the front", count);
		dp_buf_printf(out, "%s below.", count);
		if (v.nfree > v.nparams)
			dp_buf_printf(
				out,
				" Shown are the %zu most relevant of %zu parameters.",
				v.nparams, v.nfree);
	}
	view_free(&v);
}

const struct figure figure_parallel = { "parallel.png", "All parameters at once", applies,
					draw, caption };
