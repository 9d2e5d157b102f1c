/* relevance.c - how much each parameter matters to each objective, by the length scales
 * of the models. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>

enum {
	BARS_MAX = 12,   /* parameters */
	LABEL_RISE = 11, /* pixels that labels stand above their place */
};

/* The objectives that have a model, with the shares of the free parameters. */
struct view {
	const struct subject *s;
	size_t nfree, param[DP_PARAMS_MAX];
	size_t n, objective[DP_OBJECTIVES_MAX];
	double share[DP_OBJECTIVES_MAX][DP_PARAMS_MAX];
	size_t order[DP_PARAMS_MAX]; /* positions of the free parameters, most first */
};

/* The mean over the objectives. */
static double mean_share(const struct view *v, size_t position)
{
	double sum = 0;

	for (size_t k = 0; k < v->n; k++)
		sum += v->share[k][position];
	return sum / (double)v->n;
}

static void gather(const struct subject *s, struct view *v)
{
	v->s = s;
	v->n = 0;
	v->nfree = space_free(s->s->spec, v->param);
	for (size_t k = 0; k < s->s->spec->nobjectives; k++)
		if (space_model_shares(s, k, v->share[v->n]))
			v->objective[v->n++] = k;
	for (size_t i = 0; v->n && i < v->nfree; i++) {
		size_t to = i;

		for (; to > 0 && mean_share(v, v->order[to - 1]) < mean_share(v, i); to--)
			v->order[to] = v->order[to - 1];
		v->order[to] = i;
	}
}

static bool applies(const struct report *r)
{
	struct view v;

	if (!r->nsubjects || !r->subjects[0].models)
		return false;
	gather(&r->subjects[0], &v);
	return v.n && v.nfree > 1;
}

/* Pixels of a parameter's row. */
static double row_height(const struct view *v)
{
	return v->n > 1 ? 17 * (double)v->n + 8 : 26;
}

/* The bars of one objective; `rows` parameters from the top. */
static void draw_bars(struct plot_panel *a, const struct view *v, size_t k, size_t rows)
{
	struct plot_style style = fig_style(k);
	double height = 0.8 / (double)v->n;
	struct dp_buf name = DP_BUF_INIT;

	fig_label(v->s, v->objective[k], &name);
	for (size_t i = 0; i < rows; i++) {
		double x0 = 0, x1 = 100 * v->share[k][v->order[i]];
		double y1 = (double)(rows - 1 - i) + 0.4 - height * (double)k;
		double y0 = y1 - height * 0.92;
		char text[16];

		panel_blocks(a, &style, v->n > 1 && i == 0 ? dp_buf_text(&name) : NULL,
			     &x0, &x1, &y0, &y1, 1);
		snprintf(text, sizeof text, "%.0f %%", x1);
		panel_label(a, x1, (y0 + y1) / 2 - LABEL_RISE / row_height(v), text);
	}
	dp_buf_free(&name);
}

/* The longest bar; names of its share need room beside it. */
static double largest(const struct view *v)
{
	double most = 0;

	for (size_t k = 0; k < v->n; k++)
		for (size_t i = 0; i < v->nfree; i++)
			most = fmax(most, v->share[k][i]);
	return most;
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const char *names[BARS_MAX];
	struct view v;
	size_t rows;
	struct plot_panel *a;
	int code;

	*out = NULL;
	gather(&r->subjects[0], &v);
	rows = v.nfree < BARS_MAX ? v.nfree : BARS_MAX;
	code = fig_new(r, figure_relevance.title, FIG_WIDTH,
		       (v.n > 1 ? 140 : 110) + (int)((double)rows * row_height(&v)), out,
		       err);
	if (code != DP_OK)
		return code;
	a = plot_panel(*out, 0, 0);
	for (size_t i = 0; i < rows; i++)
		names[rows - 1 - i] = v.s->s->spec->params[v.param[v.order[i]]].name;
	panel_axis(a, PLOT_X, "share of the inverse length scales, %", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_names(a, PLOT_Y, names, rows);
	panel_limits(a, PLOT_Y, -0.6, (double)rows - 0.4);
	panel_limits(a, PLOT_X, 0, 112 * largest(&v));
	for (size_t k = 0; k < v.n; k++)
		draw_bars(a, &v, k, rows);
	return DP_OK;
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	struct view v;

	gather(s, &v);
	if (!v.n)
		return;
	dp_buf_puts(out, "How fast the model of ");
	for (size_t k = 0; k < v.n; k++)
		dp_buf_printf(out, "%s%s", k ? " and of " : "",
			      s->s->spec->objectives[v.objective[k]].name);
	dp_buf_printf(
		out,
		" changes with each parameter: the inverse of its length scale over "
		"the parameter's range, as a share of all; %s matters most, with "
		"%.0f %%.",
		s->s->spec->params[v.param[v.order[0]]].name,
		100 * mean_share(&v, v.order[0]));
	if (v.nfree > BARS_MAX)
		dp_buf_printf(out, " Shown are %d of %zu parameters.", BARS_MAX, v.nfree);
	for (size_t k = 0; k < s->s->spec->nobjectives; k++) {
		const struct dp_objective *o = &s->s->spec->objectives[k];
		bool shown = false;

		for (size_t i = 0; i < v.n; i++)
			shown |= v.objective[i] == k;
		if (!shown && o->mechanism)
			dp_buf_printf(out, " %s is computed exactly and has no model.",
				      o->name);
	}
}

const struct figure figure_relevance = { "relevance.png", "Which parameters matter",
					 applies, draw, caption };
