/* scatter.c - the points of two studies on one plane with their fronts, and the points
 * that both evaluated. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do both studies vary the same parameters, so that their points can be compared? */
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

/* bsearch() that passes an argument on. */
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

/* The parameters of every trial, imported result and checkpoint of a study. Those of a
 * trial are as proposed: a fixed parameter is one whether trainings walk it up or not. */
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

/* ---- the figure ---- */

struct study_scatter {
	const struct study_data *s;
	struct plot_style style;
	struct fig_points all, front, stairs;
};

struct scatter_data {
	struct study_scatter scatter[2]; /* of the report's study, and of the other one */
	struct fig_points shared;        /* points of the first that both have evaluated */
};

/* The first study on the same plane as the report's own, or NULL; of groups the first of
 * the next one that has others. */
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

/* That of its study in other figures, or of its group. */
static struct plot_style study_scatter_style(const struct report_data *r,
					     const struct study_data *s)
{
	struct plot_style style = fig_style((size_t)(s - r->studies));
	size_t n = r->groups ? r->groups->contests[0].n : 0;

	for (size_t i = n; i-- > 0;)
		if (r->groups->list[i].studies[0] == s)
			style = fig_group_style(r->groups, i);
	return style;
}

static struct study_scatter gather_study_scatter(struct arena *mem, const struct report_data *r,
						 const struct study_data *s)
{
	struct study_scatter c = { .s = s, .style = study_scatter_style(r, s) };

	c.all = fig_collect_points(mem, s);
	c.front = fig_filter_front(mem, s, &c.all);
	c.stairs = fig_staircase(mem, s, &c.front, NAN, NAN);
	return c;
}

static int scatter_gather(const struct report_data *r, struct arena *mem, void *data,
			  struct dp_err *err)
{
	struct scatter_data *d = data;
	const struct study_data *first, *other;
	struct fig_points *all = &d->scatter[0].all;
	int code = fig_main_study(r, &first, err);
	bool *shared;

	if (code != DP_OK)
		return code;
	other = first->npoints ? find_second_study(r) : NULL;
	if (!other)
		return fig_nothing(err,
				   "there are no two studies with results in the same objectives");
	d->scatter[0] = gather_study_scatter(mem, r, first);
	d->scatter[1] = gather_study_scatter(mem, r, other);
	/* Two methods on one model have one colour in other figures. Here they need two: one that
	 * no model has there. */
	d->scatter[1].style.marker = PLOT_TRIANGLE;
	if (d->scatter[0].style.colour == d->scatter[1].style.colour)
		d->scatter[1].style.colour = fig_style(r->groups ? r->groups->ntrainers : 1).colour;
	d->shared = fig_points_new(mem, all->n);
	shared = arena_calloc(mem, all->n, sizeof *shared);
	fig_find_shared_points(first, all, other, shared);
	for (size_t i = 0; i < all->n; i++)
		if (shared[i])
			fig_add_point(&d->shared, all->x[i], all->y[i], all->results[i]);
	return DP_OK;
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

static void draw_scatter_front(struct plot_panel *a, const struct study_scatter *c)
{
	struct plot_style line = c->style;
	char name[SCATTER_NAME_LEN];

	line.width = 2;
	panel_line(a, &line, format_scatter_name(c, name), c->stairs.x, c->stairs.y, c->stairs.n);
}

static void draw_study_scatter(struct plot_panel *a, const struct study_scatter *c)
{
	struct plot_style dots = fig_faint_dot_style(c->style.colour, c->all.n);
	char name[SCATTER_NAME_LEN];

	dots.marker = c->style.marker;
	panel_points(a, &dots, format_scatter_name(c, name), c->all.x, c->all.y, c->all.n);
	fig_add_tooltips(a, c->s, &c->all, FIG_TOOLTIP_STUDY);
}

static void draw_shared(struct plot_panel *a, const struct fig_points *p)
{
	struct plot_style style = {
		.colour = plot_palette(PLOT_BLACK), .marker = PLOT_RING, .size = 9, .width = 1.2
	};
	char name[64];

	snprintf(name, sizeof name, "in both studies (%zu)", p->n);
	if (p->n)
		panel_points(a, &style, name, p->x, p->y, p->n);
}

static struct plot *scatter_draw(const void *data)
{
	const struct scatter_data *d = data;
	struct plot *p = fig_new(NULL, figure_scatter.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);
	enum plot_scale scale[2] = { PLOT_LINEAR, PLOT_LINEAR };

	for (int i = 0; i < 2; i++)
		fig_widen_scales(scale, d->scatter[i].s, d->scatter[i].all.x, d->scatter[i].all.y,
				 d->scatter[i].all.n);
	fig_plane_axes(a, d->scatter[0].s, scale);
	draw_study_scatter(a, &d->scatter[0]);
	draw_study_scatter(a, &d->scatter[1]);
	draw_scatter_front(a, &d->scatter[0]);
	draw_scatter_front(a, &d->scatter[1]);
	draw_shared(a, &d->shared);
	return p;
}

static void scatter_caption(const void *data, struct dp_buf *out)
{
	const struct scatter_data *d = data;
	char name[FIG_STUDY_NAME_LEN], points[DP_PLURAL_LEN];

	dp_buf_puts(out, "Every point and the observed front of two studies.");
	for (int i = 0; i < 2; i++) {
		const struct study_scatter *c = &d->scatter[i];
		size_t inside = 0;

		for (size_t k = 0; k < c->all.n; k++)
			inside += fig_beats_reference_point(c->s, c->all.x[k], c->all.y[k]);
		dp_buf_printf(out, "%s %s: %zu of %s better than the anti-ideal", i ? ";" : "",
			      fig_format_study_name(c->s, name), inside,
			      dp_plural_text(c->all.n, "point", points));
	}
	dp_buf_putc(out, '.');
	if (d->shared.n)
		dp_buf_printf(out, " Both evaluated %zu of them.", d->shared.n);
}

const struct figure figure_scatter = {
	.name = "clouds",
	.title = "Where two studies looked",
	.chapter = FIGURE_CHAPTER_FRONT,
	.for_groups = true,
	.data_size = sizeof(struct scatter_data),
	.gather = scatter_gather,
	.draw = scatter_draw,
	.caption = scatter_caption,
};
