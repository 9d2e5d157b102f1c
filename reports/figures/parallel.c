/* parallel.c - parallel coordinates: every point as a line over parameters and
 * objectives, coloured by its utility. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINES_MAX = 60,   /* of all points: more would cover each other */
	FRONT_MAX = 1000, /* of the front, which is to be seen whole */
	COUNT_LEN = 80,
	PARAMS_MAX = 12,
};

/* The axes: parameters, then the objectives, the coloured one last. The panels: all
 * points, the front. */
struct parallel_data {
	const struct subject *s;
	size_t nfree, n, nparams;
	size_t param[PARAMS_MAX];            /* (nparams) */
	size_t objective[DP_OBJECTIVES_MAX]; /* (nobjectives) in the order of axes */
	size_t nobjectives;
	struct plot_parallel axis[PARAMS_MAX + DP_OBJECTIVES_MAX];
	struct space_names *names;              /* (nparams) */
	struct dp_buf label[DP_OBJECTIVES_MAX]; /* (nobjectives) */
	struct parallel_lines {
		struct fig_points points; /* to choose from */
		size_t shown;
		double *values; /* (shown + 2) x n */
		double *by;     /* (shown + 2) utility */
	} all, front;
};

/* The first one shown, those that other pictures leave out, the one that colours. */
static void order_objectives(struct parallel_data *d)
{
	const struct subject *s = d->s;

	d->objective[d->nobjectives++] = s->x;
	for (size_t i = 0; i < s->s->spec->nobjectives; i++)
		if (i != s->x && i != s->y)
			d->objective[d->nobjectives++] = i;
	d->objective[d->nobjectives++] = s->y;
}

static double value_on(const struct parallel_data *d, struct dp_point p, size_t axis)
{
	double x[DP_PARAMS_MAX];

	if (axis >= d->nparams)
		return dp_point_objectives(d->s->s, p)[d->objective[axis - d->nparams]];
	dp_point_x(d->s->s, p, x);
	return x[d->param[axis]];
}

/* The scale of an objective's axis. */
static enum plot_scale scale_of(const struct parallel_data *d, size_t axis, double *seen)
{
	const struct fig_points *all = &d->all.points;

	for (size_t k = 0; k < all->n; k++)
		seen[k] = value_on(d, all->of[k], axis);
	return fig_objective_scale(d->s, d->objective[axis - d->nparams], seen, all->n);
}

/* From the range of a parameter, or of what was seen. */
static void set_range(struct parallel_data *d, size_t i)
{
	const struct dp_param *p = i < d->nparams ? &d->s->s->spec->params[d->param[i]] : NULL;
	const struct fig_points *all = &d->all.points;
	struct plot_parallel *a = &d->axis[i];

	a->lo = INFINITY;
	a->hi = -INFINITY;
	if (p && p->kind == DP_PARAM_CATEGORICAL) {
		a->lo = 0;
		a->hi = (double)a->nnames - 1;
	} else if (p && p->kind != DP_PARAM_CALIBRATED) {
		a->lo = p->lo;
		a->hi = p->hi;
	}
	for (size_t k = 0; k < all->n; k++) {
		double at = value_on(d, all->of[k], i);

		a->lo = fmin(a->lo, at);
		a->hi = fmax(a->hi, at);
	}
}

static void name_params(struct parallel_data *d)
{
	for (size_t i = 0; i < d->nparams; i++) {
		const struct dp_param *p = &d->s->s->spec->params[d->param[i]];

		space_names(d->s->s->spec, d->param[i], &d->names[i]);
		d->axis[i] = (struct plot_parallel){ .label = p->name,
						     .scale = space_scale(p),
						     .names = d->names[i].name,
						     .nnames = d->names[i].n };
		if (!d->names[i].n)
			d->axis[i].names = NULL;
	}
}

static int make_axes(struct parallel_data *d, struct dp_err *err)
{
	double *seen = malloc(d->all.points.n * sizeof *seen + 1);

	d->names = calloc(d->nparams + 1, sizeof *d->names);
	if (!d->names || !seen) {
		free(seen);
		return fig_nomem(err);
	}
	name_params(d);
	order_objectives(d);
	d->n = d->nparams + d->nobjectives;
	for (size_t k = 0; k < d->nobjectives; k++) {
		fig_label(d->s, d->objective[k], &d->label[k]);
		d->axis[d->nparams + k] = (struct plot_parallel){
			.label = dp_buf_text(&d->label[k]),
			.scale = scale_of(d, d->nparams + k, seen),
		};
	}
	for (size_t i = 0; i < d->n; i++)
		set_range(d, i);
	free(seen);
	return DP_OK;
}

/* Results by utility, the best last: it is drawn over the others. */
static int by_utility(const void *a, const void *b, void *arg)
{
	const struct subject *s = arg;
	const struct dp_point *p = a, *q = b;
	double x = dp_point_objectives(s->s, *p)[s->y];
	double y = dp_point_objectives(s->s, *q)[s->y];

	if (x == y)
		return p->trial != q->trial ? (p->trial < q->trial ? -1 : 1)
					    : (p->way < q->way ? -1 : 1);
	return (x > y) == s->s->spec->objectives[s->y].maximize ? 1 : -1;
}

/* The chosen lines, evenly from worst to best, both included. Two more, without a
 * place, stretch the colours over the range of all points: the same in both panels. */
static void fill_lines(const struct parallel_data *d, struct parallel_lines *l,
		       const struct dp_point *sorted)
{
	const struct plot_parallel *utility = &d->axis[d->n - 1];
	size_t m = l->shown;

	for (size_t k = 0; k < m; k++) {
		size_t at = m > 1 ? k * (l->points.n - 1) / (m - 1) : 0;

		for (size_t i = 0; i < d->n; i++)
			l->values[k * d->n + i] = value_on(d, sorted[at], i);
		l->by[k] = dp_point_objectives(d->s->s, sorted[at])[d->s->y];
	}
	for (size_t i = 0; i < 2 * d->n; i++)
		l->values[m * d->n + i] = NAN;
	l->by[m] = utility->lo;
	l->by[m + 1] = utility->hi;
}

static int gather_lines(const struct parallel_data *d, struct parallel_lines *l, size_t most,
			struct dp_err *err)
{
	size_t n = l->points.n;
	struct dp_point *sorted = malloc(n * sizeof *sorted + 1);

	l->shown = n < most ? n : most;
	l->values = malloc((l->shown + 2) * d->n * sizeof *l->values);
	l->by = malloc((l->shown + 2) * sizeof *l->by);
	if (!sorted || !l->values || !l->by) {
		free(sorted);
		return fig_nomem(err);
	}
	memcpy(sorted, l->points.of, n * sizeof *sorted);
	qsort_r(sorted, n, sizeof *sorted, by_utility, (void *)d->s);
	fill_lines(d, l, sorted);
	free(sorted);
	return DP_OK;
}

static int parallel_gather(const struct report *r, void *data, const char **why, struct dp_err *err)
{
	struct parallel_data *d = data;
	size_t param[DP_PARAMS_MAX];
	int code;

	d->s = fig_first(r, why);
	if (!d->s)
		return DP_OK;
	if (d->s->npoints < 2 || !space_has_front(d->s))
		*why = "lines need two results and a front";
	else if (space_free(d->s->s->spec, param) < 2)
		*why = "there are no two parameters that are not fixed";
	if (*why)
		return DP_OK;
	d->nparams = space_pictured(d->s, PARAMS_MAX, d->param, &d->nfree);
	if ((code = fig_points(d->s, &d->all.points, err)) != DP_OK ||
	    (code = fig_members(d->s, &d->front.points, err)) != DP_OK ||
	    (code = make_axes(d, err)) != DP_OK ||
	    (code = gather_lines(d, &d->all, LINES_MAX, err)) != DP_OK)
		return code;
	return gather_lines(d, &d->front, FRONT_MAX, err);
}

static void lines_free(struct parallel_lines *l)
{
	fig_points_free(&l->points);
	free(l->values);
	free(l->by);
}

static void parallel_release(void *data)
{
	struct parallel_data *d = data;

	for (size_t i = 0; d->names && i < d->nparams; i++)
		space_names_free(&d->names[i]);
	free(d->names);
	for (size_t i = 0; i < d->nobjectives; i++)
		dp_buf_free(&d->label[i]);
	lines_free(&d->all);
	lines_free(&d->front);
}

/* "all 80 points", "100 of 272 points" */
static void count_text(const struct parallel_lines *l, const char *what, char out[COUNT_LEN])
{
	if (l->shown < l->points.n)
		snprintf(out, COUNT_LEN, "%zu of %zu %s", l->shown, l->points.n, what);
	else
		snprintf(out, COUNT_LEN, "all %zu %s", l->points.n, what);
}

static struct plot *coordinates_draw(const void *data)
{
	const struct parallel_data *d = data;
	const struct plot_parallel *utility = &d->axis[d->n - 1];
	const struct parallel_lines *panel[2] = { &d->all, &d->front };
	struct plot *p = fig_new(d->s, figure_parallel.title, d->n > 8 ? 1200 : 920, 700);

	plot_grid(p, 2, 1);
	for (int row = 0; row < 2; row++) {
		struct plot_panel *a = plot_panel(p, row, 0);
		char title[COUNT_LEN];

		count_text(panel[row], row ? "points of the front" : "points", title);
		panel_title(a, title);
		if (panel[row]->shown)
			panel_parallel(a, d->axis, d->n, panel[row]->values, panel[row]->shown + 2,
				       panel[row]->by, utility->scale, utility->label);
	}
	return p;
}

static void parallel_caption(const void *data, struct dp_buf *out)
{
	const struct parallel_data *d = data;
	char count[COUNT_LEN];

	dp_buf_printf(out, "Each line is one %s, coloured by %s: ",
		      subject_walks(d->s) ? "result" : "evaluation",
		      d->s->s->spec->objectives[d->s->y].name);
	count_text(&d->all, "points", count);
	dp_buf_printf(out, "%s above, ", count);
	if (d->all.shown < d->all.points.n)
		dp_buf_puts(out, "evenly from worst to best, ");
	count_text(&d->front, "of the front", count);
	dp_buf_printf(out, "%s below.", count);
	if (d->s->denoises)
		dp_buf_puts(out, " The models chose the front; values are as observed.");
	if (d->nfree > d->nparams)
		dp_buf_printf(out, " Shown are the %zu most relevant of %zu parameters.",
			      d->nparams, d->nfree);
}

const struct figure figure_parallel = {
	.name = "parallel",
	.title = "All parameters at once",
	.chapter = FIGURE_OF_PARAMETERS,
	.size = sizeof(struct parallel_data),
	.gather = parallel_gather,
	.draw = coordinates_draw,
	.caption = parallel_caption,
	.release = parallel_release,
};
