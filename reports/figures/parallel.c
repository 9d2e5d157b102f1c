/* parallel.c - figure: parallel coordinates of parameters and objectives, coloured by utility. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	PARALLEL_LINES_MAX = 60,   /* lines of all points: more would hide each other */
	PARALLEL_FRONT_MAX = 1000, /* lines of the front, which should be complete */
	LINE_COUNT_LEN = 80,
	PARALLEL_PARAMS_MAX = 12,
};

/* Axes: parameters, then objectives with the coloured one last. Panels: all points, the front. */
struct parallel_data {
	const struct study_data *s;
	size_t nfree, n, nparams;
	size_t param[PARALLEL_PARAMS_MAX];   /* (nparams) */
	size_t objective[DP_OBJECTIVES_MAX]; /* (nobjectives) in axis order */
	size_t nobjectives;
	struct plot_parallel_axis axis[PARALLEL_PARAMS_MAX + DP_OBJECTIVES_MAX];
	struct parallel_lines {
		struct fig_points points; /* candidates; `results` is sorted by utility */
		size_t shown;
		double *values;        /* (shown + 2) x n */
		double *colour_values; /* (shown + 2) utility */
	} all, front;
};

static double parallel_axis_value(const struct parallel_data *d, struct dp_result_id p, size_t axis)
{
	double x[DP_PARAMS_MAX];

	if (axis >= d->nparams)
		return dp_result_get_objectives(d->s->state, p)[d->objective[axis - d->nparams]];
	dp_result_get_params(d->s->state, p, x);
	return x[d->param[axis]];
}

/* The range of a parameter, or of the observed values. */
static void set_range(struct parallel_data *d, size_t i)
{
	const struct dp_param *p = i < d->nparams ? &d->s->state->spec->params[d->param[i]] : NULL;
	const struct fig_points *all = &d->all.points;
	struct plot_parallel_axis *a = &d->axis[i];

	a->lo = INFINITY;
	a->hi = -INFINITY;
	if (p && p->kind == DP_PARAM_CATEGORICAL) {
		a->lo = 0;
		a->hi = (double)a->ncategories - 1;
	} else if (p && p->kind != DP_PARAM_CALIBRATED) {
		a->lo = p->lo;
		a->hi = p->hi;
	}
	for (size_t k = 0; k < all->n; k++) {
		double at = parallel_axis_value(d, all->results[k], i);

		a->lo = fmin(a->lo, at);
		a->hi = fmax(a->hi, at);
	}
}

static void make_axes(struct arena *mem, struct parallel_data *d)
{
	const struct dp_study *spec = d->s->state->spec;
	const struct fig_points *all = &d->all.points;
	double *seen = arena_calloc(mem, all->n, sizeof *seen);

	for (size_t i = 0; i < d->nparams; i++) {
		const struct dp_param *p = &spec->params[d->param[i]];
		struct plot_parallel_axis *a = &d->axis[i];

		*a = (struct plot_parallel_axis){ .label = p->name, .scale = space_scale(p) };
		a->categories = space_category_names(mem, spec, d->param[i], &a->ncategories);
		if (!a->ncategories)
			a->categories = NULL;
	}
	/* the x axis of other figures, then objectives not in other figures, then the colour */
	d->objective[d->nobjectives++] = d->s->x_obj;
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (i != d->s->x_obj && i != d->s->y_obj)
			d->objective[d->nobjectives++] = i;
	d->objective[d->nobjectives++] = d->s->y_obj;
	d->n = d->nparams + d->nobjectives;
	for (size_t k = 0; k < d->nobjectives; k++) {
		struct dp_buf label = DP_BUF_INIT;

		for (size_t i = 0; i < all->n; i++)
			seen[i] = parallel_axis_value(d, all->results[i], d->nparams + k);
		fig_label(d->s, d->objective[k], &label);
		d->axis[d->nparams + k] = (struct plot_parallel_axis){
			.label = arena_take_text(mem, &label),
			.scale = fig_objective_scale(d->s, d->objective[k], seen, all->n),
		};
	}
	for (size_t i = 0; i < d->n; i++)
		set_range(d, i);
}

/* Sorts by utility with the best last, so that it is drawn on top. */
static int by_utility(const void *a, const void *b, void *arg)
{
	const struct study_data *s = arg;
	const struct dp_result_id *p = a, *q = b;
	double x = dp_result_get_objectives(s->state, *p)[s->y_obj];
	double y = dp_result_get_objectives(s->state, *q)[s->y_obj];

	if (x == y)
		return p->trial != q->trial ? (p->trial < q->trial ? -1 : 1)
					    : (p->checkpoint < q->checkpoint ? -1 : 1);
	return (x > y) == s->state->spec->objectives[s->y_obj].maximize ? 1 : -1;
}

/* At most `most` lines, evenly from worst to best, both included. Two invisible lines extend the
 * colour range to all points, so that both panels have the same colours. */
static void gather_lines(struct arena *mem, const struct parallel_data *d, struct parallel_lines *l,
			 size_t most)
{
	const struct plot_parallel_axis *utility = &d->axis[d->n - 1];
	size_t n = l->points.n, m = l->shown = n < most ? n : most;
	struct dp_result_id *sorted = l->points.results;

	l->values = arena_calloc(mem, (m + 2) * d->n, sizeof *l->values);
	l->colour_values = arena_calloc(mem, m + 2, sizeof *l->colour_values);
	qsort_r(sorted, n, sizeof *sorted, by_utility, (void *)d->s);
	for (size_t k = 0; k < m; k++) {
		size_t at = m > 1 ? k * (n - 1) / (m - 1) : 0;

		for (size_t i = 0; i < d->n; i++)
			l->values[k * d->n + i] = parallel_axis_value(d, sorted[at], i);
		l->colour_values[k] =
			dp_result_get_objectives(d->s->state, sorted[at])[d->s->y_obj];
	}
	for (size_t i = 0; i < 2 * d->n; i++)
		l->values[m * d->n + i] = NAN;
	l->colour_values[m] = utility->lo;
	l->colour_values[m + 1] = utility->hi;
}

/* "all 80 points", "100 of 272 points" */
static char *count_text(const struct parallel_lines *l, const char *what, char out[LINE_COUNT_LEN])
{
	if (l->shown < l->points.n)
		snprintf(out, LINE_COUNT_LEN, "%zu of %zu %s", l->shown, l->points.n, what);
	else
		snprintf(out, LINE_COUNT_LEN, "all %zu %s", l->points.n, what);
	return out;
}

static int parallel_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct parallel_data d = { 0 };
	const struct parallel_lines *panel[2] = { &d.all, &d.front };
	const struct plot_parallel_axis *utility;
	size_t param[DP_PARAMS_MAX];
	char text[LINE_COUNT_LEN];
	const struct study_data *s;
	int code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	if (s->npoints < 2 || !space_has_front(s))
		return fig_nothing(err, "lines need two results and a front");
	if (space_searched_params(s->state->spec, param) < 2)
		return fig_nothing(err, "there are no two parameters that are not fixed");
	d.s = s;
	d.nparams = space_top_params_with_calibrated(s, PARALLEL_PARAMS_MAX, d.param, &d.nfree);
	d.all.points = fig_collect_points(&f->mem, s);
	d.front.points = fig_front_members(&f->mem, s);
	make_axes(&f->mem, &d);
	gather_lines(&f->mem, &d, &d.all, PARALLEL_LINES_MAX);
	gather_lines(&f->mem, &d, &d.front, PARALLEL_FRONT_MAX);

	utility = &d.axis[d.n - 1];
	f->plot = fig_new(s, figure_parallel.title, d.n > 8 ? 1200 : 920, 700);
	plot_grid(f->plot, 2, 1);
	for (int row = 0; row < 2; row++) {
		struct plot_panel *a = plot_panel(f->plot, row, 0);

		panel_title(a,
			    count_text(panel[row], row ? "points of the front" : "points", text));
		if (panel[row]->shown)
			panel_parallel(a, d.axis, d.n, panel[row]->values, panel[row]->shown + 2,
				       panel[row]->colour_values, utility->scale, utility->label);
	}

	dp_buf_printf(&f->caption, "Each line is one %s, coloured by %s: %s above, ",
		      study_data_has_checkpoints(s) ? "result" : "evaluation",
		      s->state->spec->objectives[s->y_obj].name,
		      count_text(&d.all, "points", text));
	if (d.all.shown < d.all.points.n)
		dp_buf_puts(&f->caption, "evenly from worst to best, ");
	dp_buf_printf(&f->caption, "%s below.", count_text(&d.front, "of the front", text));
	if (s->uses_smoothed_front)
		dp_buf_puts(&f->caption, " The models chose the front; values are as observed.");
	if (d.nfree > d.nparams)
		dp_buf_printf(&f->caption, " Shown are the %zu most relevant of %zu parameters.",
			      d.nparams, d.nfree);
	return DP_OK;
}

const struct figure figure_parallel = {
	.name = "parallel",
	.title = "All parameters at once",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.make = parallel_make,
};
