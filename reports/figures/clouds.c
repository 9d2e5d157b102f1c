/* clouds.c - the points of two studies on one plane with their fronts, and the points
 * that both evaluated. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Do both studies vary the same parameters, so that their points can be compared? */
static bool same_space(const struct dp_study *a, const struct dp_study *b)
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

static int compare_point(const void *a, const void *b, void *arg)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;

	for (size_t i = 0; i < *(const size_t *)arg; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* bsearch() that passes an argument on. */
static bool contains(const double **sorted, size_t n, const double *x, size_t params)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = compare_point(&x, &sorted[mid], &params);

		if (c == 0)
			return true;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

int fig_shared(const struct subject *a, const struct fig_points *p,
	       const struct subject *b, bool *shared, struct dp_err *err)
{
	const struct dp_study_state *other = b->s;
	size_t n = 0, params = other->spec->nparams;
	const double **points;

	memset(shared, 0, p->n * sizeof *shared);
	if (!same_space(a->s->spec, other->spec))
		return DP_OK;
	points = malloc((other->ntrials + other->nimported) * sizeof *points + 1);
	if (!points)
		return fig_nomem(err);
	for (uint32_t i = 0; i < other->ntrials; i++)
		points[n++] = other->trials[i]->x;
	for (uint32_t i = 0; i < other->nimported; i++)
		points[n++] = other->imported[i].x;
	qsort_r(points, n, sizeof *points, compare_point, &params);
	for (size_t i = 0; i < p->n; i++)
		shared[i] = contains(points, n, a->s->trials[p->trial[i]]->x, params);
	free(points);
	return DP_OK;
}

/* ---- the figure ---- */

/* The first study on the same plane as the report's own, or NULL. */
static const struct subject *partner(const struct report *r)
{
	for (size_t i = 1; i < r->nsubjects; i++)
		if (r->subjects[i].s->ok &&
		    fig_same_plane(&r->subjects[0], &r->subjects[i]))
			return &r->subjects[i];
	return NULL;
}

static bool applies(const struct report *r)
{
	return r->nsubjects > 1 && r->subjects[0].s->ok && partner(r);
}

struct cloud {
	const struct subject *s;
	struct plot_style style;
	struct fig_points all, front;
};

static int gather(struct cloud c[2], const struct report *r, struct dp_err *err)
{
	int code = DP_OK;

	c[0].s = &r->subjects[0];
	c[1].s = partner(r);
	for (int i = 0; code == DP_OK && i < 2; i++) {
		c[i].style = fig_style((size_t)(c[i].s - r->subjects));
		code = fig_points(c[i].s, &c[i].all, err);
		if (code == DP_OK)
			code = fig_front(c[i].s, &c[i].all, &c[i].front, err);
	}
	return code;
}

static void cloud_free(struct cloud *c)
{
	fig_points_free(&c->all);
	fig_points_free(&c->front);
}

static int draw_front(struct plot_panel *a, const struct cloud *c, struct dp_err *err)
{
	struct plot_style line = c->style;
	char name[FIG_NAME_LEN], text[FIG_NAME_LEN + 40];
	struct fig_points stairs;
	int code = fig_stairs(c->s, &c->front, NAN, NAN, &stairs, err);

	if (code != DP_OK)
		return code;
	line.width = 2;
	snprintf(text, sizeof text, "%s (%zu points)", fig_name(c->s, name), c->all.n);
	panel_line(a, &line, text, stairs.x, stairs.y, stairs.n);
	fig_points_free(&stairs);
	return DP_OK;
}

static void draw_cloud(struct plot_panel *a, const struct cloud *c)
{
	struct plot_style dots = fig_cloud(c->style.colour, c->all.n);

	panel_points(a, &dots, NULL, c->all.x, c->all.y, c->all.n);
}

/* The points of the report's study that the other one has evaluated, too. */
static int shared_points(const struct cloud c[2], struct fig_points *out,
			 struct dp_err *err)
{
	const struct fig_points *all = &c[0].all;
	bool *shared = malloc(all->n * sizeof *shared + 1);
	int code = DP_E_NOMEM;

	if (fig_points_room(out, all->n) && shared)
		code = fig_shared(c[0].s, all, c[1].s, shared, err);
	for (size_t i = 0; code == DP_OK && i < all->n; i++) {
		if (!shared[i])
			continue;
		out->x[out->n] = all->x[i];
		out->y[out->n++] = all->y[i];
	}
	free(shared);
	return code == DP_OK ? DP_OK : fig_nomem(err);
}

static int draw_shared(struct plot_panel *a, const struct cloud c[2], struct dp_err *err)
{
	struct plot_style style = { .colour = plot_palette(PLOT_BLACK),
				    .marker = PLOT_RING,
				    .size = 9,
				    .width = 1.2 };
	struct fig_points p;
	char name[64];
	int code = shared_points(c, &p, err);

	snprintf(name, sizeof name, "in both studies (%zu)", p.n);
	if (code == DP_OK && p.n)
		panel_points(a, &style, name, p.x, p.y, p.n);
	fig_points_free(&p);
	return code;
}

/* A log axis if the points of one of the studies ask for one. */
static void axes(struct plot_panel *a, const struct cloud c[2])
{
	bool log_x = fig_scale(c[0].all.x, c[0].all.n) == PLOT_LOG ||
		     fig_scale(c[1].all.x, c[1].all.n) == PLOT_LOG;
	bool log_y = fig_scale(c[0].all.y, c[0].all.n) == PLOT_LOG ||
		     fig_scale(c[1].all.y, c[1].all.n) == PLOT_LOG;

	fig_axis(a, PLOT_X, c[0].s, c[0].s->x, log_x ? PLOT_LOG : PLOT_LINEAR);
	fig_axis(a, PLOT_Y, c[0].s, c[0].s->y, log_y ? PLOT_LOG : PLOT_LINEAR);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	struct cloud c[2] = { { 0 } };
	struct plot_panel *a;
	int code = gather(c, r, err);

	*out = NULL;
	if (code != DP_OK ||
	    (code = fig_new(NULL, figure_clouds.title, FIG_WIDTH, FIG_HEIGHT, out, err)))
		goto out;
	a = plot_panel(*out, 0, 0);
	axes(a, c);
	draw_cloud(a, &c[1]);
	draw_cloud(a, &c[0]);
	for (int i = 0; code == DP_OK && i < 2; i++)
		code = draw_front(a, &c[i], err);
	if (code == DP_OK)
		code = draw_shared(a, c, err);
out:
	cloud_free(&c[0]);
	cloud_free(&c[1]);
	return fig_end(code, out);
}

/* How many points of a cloud lie within the anti-ideal. */
static size_t inside(const struct cloud *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->all.n; i++)
		n += fig_in_box(c->s, c->all.x[i], c->all.y[i]);
	return n;
}

static void caption(const struct report *r, struct dp_buf *out)
{
	struct cloud c[2] = { { 0 } };
	struct fig_points both = { 0 };
	char name[FIG_NAME_LEN];
	struct dp_err err;

	dp_buf_puts(out, "Every point and the front of two studies.");
	if (gather(c, r, &err) == DP_OK) {
		for (int i = 0; i < 2; i++)
			dp_buf_printf(out,
				      "%s %s: %zu of %zu points better than the "
				      "anti-ideal",
				      i ? ";" : "", fig_name(c[i].s, name), inside(&c[i]),
				      c[i].all.n);
		dp_buf_putc(out, '.');
		if (shared_points(c, &both, &err) == DP_OK && both.n)
			dp_buf_printf(out, " Both evaluated %zu of them.", both.n);
	}
	fig_points_free(&both);
	cloud_free(&c[0]);
	cloud_free(&c[1]);
}

const struct figure figure_clouds = { "clouds.png", "Where two studies looked", applies,
				      draw, caption };
