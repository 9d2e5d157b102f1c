/* scatter.c - figure: points and fronts of two studies on one plane, with the points that both
 * evaluated. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether both studies search the same parameters, so that points are comparable. */
static bool same_parameters(const struct dp_study *a, const struct dp_study *b)
{
	if (a->nparams != b->nparams)
		return false;
	for (size_t i = 0; i < a->nparams; i++) {
		const struct dp_param *p = &a->params[i], *q = &b->params[i];

		if (strcmp(p->name, q->name) != 0 || p->kind != q->kind)
			return false;
		if (p->values && !json_equal(p->values, q->values))
			return false;
	}
	return true;
}

static int compare_parameters(const void *a, const void *b, void *arg)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	for (size_t i = 0; i < *(const size_t *)arg; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* A bsearch() with a context argument. */
static bool contains_parameters(const double **sorted, size_t n, const double *x, size_t params)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = compare_parameters(&x, &sorted[mid], &params);

		if (c == 0)
			return true;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

/* The parameters of every trial, imported result and checkpoint. Trials count as proposed: a path
 * parameter has its full value. */
static const double **list_evaluated_parameters(struct arena *mem, const struct study_data *s,
						size_t *n)
{
	const struct dp_study_state *st = s->state;
	size_t most = st->ntrials + st->nimported + s->npoints;
	const double **points = arena_calloc(mem, most, sizeof *points);
	double *next = arena_calloc(mem, s->npoints * st->spec->nparams, sizeof *next);

	*n = 0;
	for (uint32_t i = 0; i < st->ntrials; i++)
		points[(*n)++] = st->trials[i]->x;
	for (uint32_t i = 0; i < st->nimported; i++)
		points[(*n)++] = st->imported[i].x;
	for (size_t i = 0; i < s->npoints; i++)
		if (s->points[i].checkpoint != DP_CHECKPOINT_FINAL) {
			dp_result_get_params(st, s->points[i], next);
			points[(*n)++] = next;
			next += st->spec->nparams;
		}
	return points;
}

void fig_find_shared_points(const struct study_data *a, const struct fig_points *p,
			    const struct study_data *b, bool *shared)
{
	size_t n, params = b->state->spec->nparams;
	struct arena mem = { 0 };
	const double **points;

	memset(shared, 0, p->n * sizeof *shared);
	if (!same_parameters(a->state->spec, b->state->spec))
		return;
	points = list_evaluated_parameters(&mem, b, &n);
	qsort_r(points, n, sizeof *points, compare_parameters, &params);
	for (size_t i = 0; i < p->n; i++) {
		double at[DP_PARAMS_MAX];

		dp_result_get_params(a->state, p->results[i], at);
		shared[i] = contains_parameters(points, n,
						p->results[i].checkpoint == DP_CHECKPOINT_FINAL
							? a->state->trials[p->results[i].trial]->x
							: at,
						params);
	}
	arena_free(&mem);
}

struct study_scatter {
	const struct study_data *s;
	struct plot_style style;
	struct fig_points all, front, stairs;
};

/* The first other study on the plane of the main study, or NULL. With groups: the first of the next
 * group that has other studies. */
static const struct study_data *find_second_study(const struct report_data *r)
{
	for (size_t i = 1; r->groups && i < r->groups->contests[0].n; i++)
		if (r->groups->list[i].studies[0] != &r->studies[0] &&
		    r->groups->list[i].studies[0]->npoints)
			return r->groups->list[i].studies[0];
	for (size_t i = 1; i < r->nstudies; i++)
		if (r->studies[i].npoints && fig_same_plane(&r->studies[0], &r->studies[i]))
			return &r->studies[i];
	return NULL;
}

static struct study_scatter gather_study_scatter(struct arena *mem, const struct report_data *r,
						 const struct study_data *s)
{
	struct study_scatter c = { .s = s, .style = fig_style((size_t)(s - r->studies)) };

	/* the study's style in other figures, or its group's */
	for (size_t i = r->groups ? r->groups->contests[0].n : 0; i-- > 0;)
		if (r->groups->list[i].studies[0] == s)
			c.style = fig_group_style(r->groups, i);
	c.all = fig_collect_points(mem, s);
	c.front = fig_filter_front(mem, s, &c.all);
	c.stairs = fig_staircase(mem, s, &c.front, NAN, NAN);
	return c;
}

enum {
	SCATTER_NAME_LEN = FIG_STUDY_NAME_LEN + DP_PLURAL_LEN + 4
};

static char *format_scatter_name(const struct study_scatter *c, char out[SCATTER_NAME_LEN])
{
	char name[FIG_STUDY_NAME_LEN], points[DP_PLURAL_LEN];

	snprintf(out, SCATTER_NAME_LEN, "%s (%s)", fig_format_study_name(c->s, name),
		 dp_plural_text(c->all.n, "point", points));
	return out;
}

static void draw_study_scatter(struct plot_panel *a, const struct study_scatter *c)
{
	struct plot_style dots = fig_faint_dot_style(c->style.colour, c->all.n);
	char name[SCATTER_NAME_LEN];

	dots.marker = c->style.marker;
	panel_points(a, &dots, format_scatter_name(c, name), c->all.x, c->all.y, c->all.n);
	fig_add_tooltips(a, c->s, &c->all, FIG_TOOLTIP_STUDY);
}

static int scatter_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct plot_style ring = {
		.colour = plot_palette(PLOT_BLACK), .marker = PLOT_RING, .size = 9, .width = 1.2
	};
	enum plot_scale scale[2] = { PLOT_LINEAR, PLOT_LINEAR };
	struct study_scatter of[2]; /* the main study and the other one */
	const struct study_data *first, *other;
	struct fig_points shared; /* points of the first that both evaluated */
	char name[SCATTER_NAME_LEN], points[DP_PLURAL_LEN];
	struct plot_panel *a;
	bool *is_shared;
	int code = fig_main_study(r, &first, err);

	if (code != DP_OK)
		return code;
	other = first->npoints ? find_second_study(r) : NULL;
	if (!other)
		return fig_nothing(err,
				   "there are no two studies with results in the same objectives");
	of[0] = gather_study_scatter(&f->mem, r, first);
	of[1] = gather_study_scatter(&f->mem, r, other);
	/* Two methods on one model share a colour in other figures. Here the second gets a colour
	 * that no model has. */
	of[1].style.marker = PLOT_TRIANGLE;
	if (of[0].style.colour == of[1].style.colour)
		of[1].style.colour = fig_style(r->groups ? r->groups->ntrainers : 1).colour;
	shared = fig_points_new(&f->mem, of[0].all.n);
	is_shared = arena_calloc(&f->mem, of[0].all.n, sizeof *is_shared);
	fig_find_shared_points(first, &of[0].all, other, is_shared);
	for (size_t i = 0; i < of[0].all.n; i++)
		if (is_shared[i])
			fig_add_point(&shared, of[0].all.x[i], of[0].all.y[i],
				      of[0].all.results[i]);

	f->plot = fig_new(NULL, figure_scatter.title, FIG_WIDTH, FIG_HEIGHT);
	a = plot_panel(f->plot, 0, 0);
	for (int i = 0; i < 2; i++)
		fig_widen_scales(scale, of[i].s, of[i].all.x, of[i].all.y, of[i].all.n);
	fig_plane_axes(a, first, scale);
	draw_study_scatter(a, &of[0]);
	draw_study_scatter(a, &of[1]);
	for (int i = 0; i < 2; i++) {
		struct plot_style line = of[i].style;

		line.width = 2;
		panel_line(a, &line, format_scatter_name(&of[i], name), of[i].stairs.x,
			   of[i].stairs.y, of[i].stairs.n);
	}
	snprintf(name, sizeof name, "in both studies (%zu)", shared.n);
	if (shared.n)
		panel_points(a, &ring, name, shared.x, shared.y, shared.n);

	dp_buf_puts(&f->caption, "Every point and the observed front of two studies.");
	for (int i = 0; i < 2; i++) {
		size_t inside = 0;

		for (size_t k = 0; k < of[i].all.n; k++)
			inside +=
				fig_beats_reference_point(of[i].s, of[i].all.x[k], of[i].all.y[k]);
		dp_buf_printf(&f->caption, "%s %s: %zu of %s better than the anti-ideal",
			      i ? ";" : "", fig_format_study_name(of[i].s, name), inside,
			      dp_plural_text(of[i].all.n, "point", points));
	}
	dp_buf_putc(&f->caption, '.');
	if (shared.n)
		dp_buf_printf(&f->caption, " Both evaluated %zu of them.", shared.n);
	return DP_OK;
}

const struct figure figure_scatter = {
	.name = "clouds",
	.title = "Where two studies looked",
	.chapter = FIGURE_CHAPTER_FRONT,
	.for_groups = true,
	.make = scatter_make,
};
