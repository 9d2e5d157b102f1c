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
struct relevance_data {
	const struct subject *s;
	size_t nfree, param[DP_PARAMS_MAX];
	size_t n, objective[DP_OBJECTIVES_MAX];
	double share[DP_OBJECTIVES_MAX][DP_PARAMS_MAX];
	size_t order[DP_PARAMS_MAX]; /* positions of the free parameters, most first */
};

/* The mean over the objectives. */
static double mean_share(const struct relevance_data *v, size_t position)
{
	double sum = 0;

	for (size_t k = 0; k < v->n; k++)
		sum += v->share[k][position];
	return sum / (double)v->n;
}

static int relevance_gather(const struct report *r, void *data, const char **why,
			    struct dp_err *err)
{
	struct relevance_data *v = data;
	const struct subject *s = v->s = fig_first(r, why);

	(void)err;
	if (!s)
		return DP_OK;
	v->nfree = space_free(s->s->spec, v->param);
	for (size_t k = 0; s->models && k < s->s->spec->nobjectives; k++)
		if (space_model_shares(s, k, v->share[v->n]))
			v->objective[v->n++] = k;
	if (v->n == 0)
		*why = "there are no models";
	else if (v->nfree < 2)
		*why = "there are no two parameters that are not fixed";
	for (size_t i = 0; v->n && i < v->nfree; i++) {
		size_t to = i;

		for (; to > 0 && mean_share(v, v->order[to - 1]) < mean_share(v, i); to--)
			v->order[to] = v->order[to - 1];
		v->order[to] = i;
	}
	return DP_OK;
}

/* Pixels of a parameter's row. */
static double row_height(const struct relevance_data *v)
{
	return v->n > 1 ? 17 * (double)v->n + 8 : 26;
}

/* The bars of one objective; `rows` parameters from the top. */
static void draw_shares_of(struct plot_panel *a, const struct relevance_data *v, size_t k,
			   size_t rows)
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
static double largest_share(const struct relevance_data *v)
{
	double most = 0;

	for (size_t k = 0; k < v->n; k++)
		for (size_t i = 0; i < v->nfree; i++)
			most = fmax(most, v->share[k][i]);
	return most;
}

static struct plot *relevance_draw(const void *data)
{
	const struct relevance_data *v = data;
	size_t rows = v->nfree < BARS_MAX ? v->nfree : BARS_MAX;
	struct plot *p =
		fig_new(v->s, figure_relevance.title, FIG_WIDTH,
			(v->n > 1 ? 140 : 110) + (int)((double)rows * row_height(v)));
	struct plot_panel *a = plot_panel(p, 0, 0);
	const char *names[BARS_MAX];

	for (size_t i = 0; i < rows; i++)
		names[rows - 1 - i] = v->s->s->spec->params[v->param[v->order[i]]].name;
	panel_axis(a, PLOT_X, "share of the inverse length scales, %", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_names(a, PLOT_Y, names, rows);
	panel_limits(a, PLOT_Y, -0.6, (double)rows - 0.4);
	panel_limits(a, PLOT_X, 0, 112 * largest_share(v));
	for (size_t k = 0; k < v->n; k++)
		draw_shares_of(a, v, k, rows);
	return p;
}

static bool has_bars(const struct relevance_data *v, size_t objective)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->objective[i] == objective)
			return true;
	return false;
}

static void relevance_caption(const void *data, struct dp_buf *out)
{
	const struct relevance_data *v = data;
	const struct dp_study *spec = v->s->s->spec;

	dp_buf_puts(out, "How fast the model of ");
	for (size_t k = 0; k < v->n; k++)
		dp_buf_printf(out, "%s%s", k ? " and of " : "",
			      spec->objectives[v->objective[k]].name);
	dp_buf_printf(
		out,
		" changes with each parameter: the inverse of its length scale over "
		"the parameter's range, as a share of all; %s matters most, with "
		"%.0f %%.",
		spec->params[v->param[v->order[0]]].name,
		100 * mean_share(v, v->order[0]));
	if (v->nfree > BARS_MAX)
		dp_buf_printf(out, " Shown are %d of %zu parameters.", BARS_MAX,
			      v->nfree);
	for (size_t k = 0; k < spec->nobjectives; k++)
		if (!has_bars(v, k) && spec->objectives[k].privacy)
			dp_buf_printf(out, " %s is computed exactly and has no model.",
				      spec->objectives[k].name);
}

const struct figure figure_relevance = {
	.name = "relevance",
	.title = "Which parameters matter",
	.size = sizeof(struct relevance_data),
	.gather = relevance_gather,
	.draw = relevance_draw,
	.caption = relevance_caption,
};
