/* scatter.c - the points of two studies on one plane with their fronts, and the points
 * that both evaluated. */
#include "reports/figures/common/figure_data.h"

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

/* The parameters of every trial, imported result and waypoint of a study. Those of a
 * trial are as proposed: a fixed parameter is one whether trainings walk it up or not. *x
 * has those of waypoints. NULL without memory. */
static const double **list_evaluated_parameters(const struct study_data *s, double **x, size_t *n)
{
	const struct dp_study_state *st = s->state;
	size_t most = st->ntrials + st->nimported + s->npoints;
	const double **points = dp_malloc(most * sizeof *points + 1);
	double *next = dp_malloc(s->npoints * st->spec->nparams * sizeof *next + 1);

	*n = 0;
	*x = next;
	if (!points || !next) {
		free(points);
		free(next);
		return NULL;
	}
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

int fig_find_shared_points(const struct study_data *a, const struct fig_points *p,
			   const struct study_data *b, bool *shared, struct dp_err *err)
{
	size_t n, params = b->state->spec->nparams;
	const double **points;
	double *x;

	memset(shared, 0, p->n * sizeof *shared);
	if (!same_parameters(a->state->spec, b->state->spec))
		return DP_OK;
	points = list_evaluated_parameters(b, &x, &n);
	if (!points)
		return fig_nomem(err);
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
	free(points);
	free(x);
	return DP_OK;
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

/* Two methods on one model have one colour in other figures. Here they need two: one that
 * no model has there. */
static void make_styles_distinct(const struct report_data *r, struct study_scatter cloud[2])
{
	cloud[1].style.marker = PLOT_TRIANGLE;
	if (cloud[0].style.colour == cloud[1].style.colour)
		cloud[1].style.colour = fig_style(r->groups ? r->groups->ntrainers : 1).colour;
}

static int gather_study_scatter(const struct report_data *r, const struct study_data *s,
				struct study_scatter *c, struct dp_err *err)
{
	int code;

	c->s = s;
	c->style = study_scatter_style(r, s);
	if ((code = fig_collect_points(s, &c->all, err)) != DP_OK ||
	    (code = fig_filter_front(s, &c->all, &c->front, err)) != DP_OK)
		return code;
	return fig_staircase(s, &c->front, NAN, NAN, &c->stairs, err);
}

static int gather_shared(struct scatter_data *d, struct dp_err *err)
{
	const struct fig_points *all = &d->scatter[0].all;
	struct fig_points *out = &d->shared;
	bool *shared = dp_malloc(all->n * sizeof *shared + 1);
	int code =
		shared && fig_points_alloc(out, all->n)
			? fig_find_shared_points(d->scatter[0].s, all, d->scatter[1].s, shared, err)
			: fig_nomem(err);

	for (size_t i = 0; code == DP_OK && i < all->n; i++) {
		if (!shared[i])
			continue;
		out->x[out->n] = all->x[i];
		out->y[out->n++] = all->y[i];
	}
	free(shared);
	return code;
}

static int scatter_gather(const struct report_data *r, void *data, const char **why,
			  struct dp_err *err)
{
	struct scatter_data *d = data;
	const struct study_data *first = fig_main_study(r, why), *other;
	int code;

	if (!first)
		return DP_OK;
	other = first->npoints ? find_second_study(r) : NULL;
	if (!other) {
		*why = "there are no two studies with results in the same objectives";
		return DP_OK;
	}
	if ((code = gather_study_scatter(r, first, &d->scatter[0], err)) != DP_OK ||
	    (code = gather_study_scatter(r, other, &d->scatter[1], err)) != DP_OK)
		return code;
	make_styles_distinct(r, d->scatter);
	return gather_shared(d, err);
}

static void scatter_release(void *data)
{
	struct scatter_data *d = data;

	for (int i = 0; i < 2; i++) {
		fig_points_free(&d->scatter[i].all);
		fig_points_free(&d->scatter[i].front);
		fig_points_free(&d->scatter[i].stairs);
	}
	fig_points_free(&d->shared);
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

/* A log axis if the points of one of the studies ask for one. */
static void scatter_set_axes(struct plot_panel *a, const struct study_scatter c[2])
{
	bool log_x = false, log_y = false;

	for (int i = 0; i < 2; i++) {
		const struct study_data *s = c[i].s;
		const struct fig_points *all = &c[i].all;

		log_x |= fig_objective_scale(s, s->x_obj, all->x, all->n) == PLOT_LOG;
		log_y |= fig_objective_scale(s, s->y_obj, all->y, all->n) == PLOT_LOG;
	}
	fig_axis(a, PLOT_X, c[0].s, c[0].s->x_obj, log_x ? PLOT_LOG : PLOT_LINEAR);
	fig_axis(a, PLOT_Y, c[0].s, c[0].s->y_obj, log_y ? PLOT_LOG : PLOT_LINEAR);
}

static struct plot *scatter_draw(const void *data)
{
	const struct scatter_data *d = data;
	struct plot *p = fig_new(NULL, figure_scatter.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);

	scatter_set_axes(a, d->scatter);
	draw_study_scatter(a, &d->scatter[0]);
	draw_study_scatter(a, &d->scatter[1]);
	draw_scatter_front(a, &d->scatter[0]);
	draw_scatter_front(a, &d->scatter[1]);
	draw_shared(a, &d->shared);
	return p;
}

/* How many points of a cloud lie within the anti-ideal. */
static size_t count_inside(const struct study_scatter *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->all.n; i++)
		n += fig_beats_reference_point(c->s, c->all.x[i], c->all.y[i]);
	return n;
}

static void scatter_caption(const void *data, struct dp_buf *out)
{
	const struct scatter_data *d = data;
	char name[FIG_STUDY_NAME_LEN], points[DP_PLURAL_LEN];

	dp_buf_puts(out, "Every point and the observed front of two studies.");
	for (int i = 0; i < 2; i++)
		dp_buf_printf(out, "%s %s: %zu of %s better than the anti-ideal", i ? ";" : "",
			      fig_format_study_name(d->scatter[i].s, name),
			      count_inside(&d->scatter[i]),
			      dp_plural_text(d->scatter[i].all.n, "point", points));
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
	.free_data = scatter_release,
};
