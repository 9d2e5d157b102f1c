/* relevance.c - how much of what varies in each objective is due to which parameter: its
 * Sobol' indices, alone and in all. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>

enum {
	BARS_MAX = 12 /* parameters */
};
#define SHARE_SEEN 0.005 /* one percent when rounded */

/* The objectives of which it is known. Parameters are in the order of s->rank. */
struct relevance_data {
	const struct subject *s;
	size_t n, objective[DP_OBJECTIVES_MAX];
	size_t rows; /* parameters that are shown: of which some share can be seen */
};

static const struct dp_importance *shown_importance(const struct relevance_data *v, size_t k)
{
	return &v->s->importance[v->objective[k]];
}

/* The most that a parameter has to do with any objective. */
static double largest_of(const struct relevance_data *v, size_t param)
{
	double most = 0;

	for (size_t k = 0; k < v->n; k++)
		most = fmax(most, shown_importance(v, k)->total[param]);
	return most;
}

/* At least the first; the ranking goes by the mean over objectives, so that one which
 * matters to a single objective stands below others, and all down to it are shown. */
static size_t relevance_rows(const struct relevance_data *v)
{
	size_t rows = 1;

	for (size_t i = 0; i < v->s->nrank && i < BARS_MAX; i++)
		if (largest_of(v, v->s->rank[i]) >= SHARE_SEEN)
			rows = i + 1;
	return rows;
}

static int relevance_gather(const struct report *r, void *data, const char **why,
			    struct dp_err *err)
{
	struct relevance_data *v = data;
	const struct subject *s = v->s = fig_first(r, why);
	const struct model_fit *doubtful;

	(void)err;
	if (!s)
		return DP_OK;
	for (size_t k = 0; k < s->s->spec->nobjectives; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			v->objective[v->n++] = k;
	doubtful = subject_distrust(s);
	if (!s->npoints)
		*why = "no trial has given a result";
	else if (s->nrank < 2)
		*why = "there are no two parameters that are not fixed";
	else if (v->n == 0)
		*why = doubtful ? doubtful->why : "there are no models";
	else
		v->rows = relevance_rows(v);
	return DP_OK;
}

/* Pixels of a parameter's row. */
static double row_height(const struct relevance_data *v)
{
	return v->n > 1 ? 17 * (double)v->n + 8 : 26;
}

/* A bar's name in the legend. */
static void say_bar(const struct relevance_data *v, size_t k, const char *how, struct dp_buf *out)
{
	fig_label(v->s, v->objective[k], out);
	dp_buf_printf(out, ", %s", how);
}

/* "46 %", "79 %, in all 90 %", "below 1 %" */
static void share_text(double first, double total, char *out, size_t size)
{
	if (total == 0)
		snprintf(out, size, "0 %%");
	else if (total < 100 * SHARE_SEEN)
		snprintf(out, size, "below 1 %%");
	else if (round(first) == round(total))
		snprintf(out, size, "%.0f %%", total);
	else
		snprintf(out, size, "%.0f %%, in all %.0f %%", first, total);
}

/* The bars of one objective. */
static void draw_shares_of(struct plot_panel *a, const struct relevance_data *v, size_t k)
{
	const struct dp_importance *share = shown_importance(v, k);
	struct plot_style solid = fig_style(k), light = solid;
	double height = 0.8 / (double)v->n;
	struct dp_buf alone = DP_BUF_INIT, in_all = DP_BUF_INIT;

	light.opacity = 0.35;
	say_bar(v, k, "alone", &alone);
	say_bar(v, k, "in all", &in_all);
	for (size_t i = 0; i < v->rows; i++) {
		size_t param = v->s->rank[i];
		double x0 = 0, first = 100 * share->first[param],
		       total = fmax(100 * share->total[param], first);
		double y1 = (double)(v->rows - 1 - i) + 0.4 - height * (double)k;
		double y0 = y1 - height * 0.92;
		char text[40];

		/* a bar of no length is still seen as a line; the first names the bars */
		if (i == 0 || first > 0)
			panel_blocks(a, &solid, i == 0 ? panel_words(a, &alone) : NULL, &x0, &first,
				     &y0, &y1, 1);
		if (i == 0 || total > first)
			panel_blocks(a, &light, i == 0 ? panel_words(a, &in_all) : NULL, &first,
				     &total, &y0, &y1, 1);
		share_text(first, total, text, sizeof text);
		panel_text(a, total, (y0 + y1) / 2, text);
	}
	dp_buf_free(&alone);
	dp_buf_free(&in_all);
}

static struct plot *relevance_draw(const void *data)
{
	const struct relevance_data *v = data;
	struct plot *p = fig_new(v->s, figure_relevance.title, FIG_WIDTH,
				 140 + (int)((double)v->rows * row_height(v)));
	struct plot_panel *a = plot_panel(p, 0, 0);
	const char *names[BARS_MAX];

	for (size_t i = 0; i < v->rows; i++)
		names[v->rows - 1 - i] = v->s->s->spec->params[v->s->rank[i]].name;
	panel_axis(a, PLOT_X, "share of what varies, %", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_names(a, PLOT_Y, names, v->rows);
	panel_limits(a, PLOT_Y, -0.6, (double)v->rows - 0.4);
	panel_limits(a, PLOT_X, 0, NAN);
	for (size_t k = 0; k < v->n; k++)
		draw_shares_of(a, v, k);
	return p;
}

/* ---- in words ---- */

static const char *relevance_scale(const struct dp_objective *o)
{
	switch (o->transform) {
	case DP_TRANSFORM_LOG:
		return "log ";
	case DP_TRANSFORM_LOGIT:
		return "logit ";
	case DP_TRANSFORM_NONE:
		break;
	}
	return "";
}

/* "log epsilon (computed)", "error (by its model, which explains 67 % of it)" */
static void say_measured(const struct relevance_data *v, size_t k, struct dp_buf *out)
{
	const struct dp_objective *o = &v->s->s->spec->objectives[v->objective[k]];
	const struct model_fit *fit = &v->s->fit[v->objective[k]];

	dp_buf_printf(out, "%s%s%s (", k ? " and in " : "", relevance_scale(o), o->name);
	if (shown_importance(v, k)->source == DP_IMPORTANCE_COMPUTED)
		dp_buf_puts(out, "computed");
	else if (o->privacy)
		dp_buf_puts(out, "by its model, since computing it takes long");
	else
		dp_buf_printf(out,
			      "by its model, which explains %.0f %% of results that "
			      "were left out",
			      100 * fit->explained);
	dp_buf_putc(out, ')');
}

/* "noise 66 % of epsilon and 32 % of error" */
static void say_most(const struct relevance_data *v, struct dp_buf *out)
{
	const struct dp_study *spec = v->s->s->spec;
	size_t most = v->s->rank[0];

	dp_buf_printf(out, " %s matters most: ", spec->params[most].name);
	for (size_t k = 0; k < v->n; k++)
		dp_buf_printf(out, "%s%.0f %% of what varies in %s", k ? ", " : "",
			      100 * shown_importance(v, k)->total[most],
			      spec->objectives[v->objective[k]].name);
	dp_buf_puts(out, " has to do with it.");
}

static void say_others(const struct relevance_data *v, struct dp_buf *out)
{
	size_t others = v->s->nrank - v->rows;
	double most = 0;

	for (size_t i = v->rows; i < v->s->nrank; i++)
		most = fmax(most, largest_of(v, v->s->rank[i]));
	if (others && most < SHARE_SEEN)
		dp_buf_printf(out, " Not shown: %zu parameter%s with less than 1 %% of any.",
			      others, others == 1 ? "" : "s");
	else if (others)
		dp_buf_printf(out, " Shown are %zu of %zu parameters.", v->rows, v->s->nrank);
}

static void relevance_caption(const void *data, struct dp_buf *out)
{
	const struct relevance_data *v = data;

	dp_buf_puts(out, "How much of the variance in ");
	for (size_t k = 0; k < v->n; k++)
		say_measured(v, k, out);
	dp_buf_puts(out, ", over the points that the study samples, is due to each "
			 "parameter alone (strong, Sobol's first order) and together with "
			 "others (faint, total order).");
	say_most(v, out);
	say_others(v, out);
	for (size_t k = 0; k < v->s->s->spec->nobjectives; k++)
		if (v->s->models && !subject_trusts(v->s, k))
			dp_buf_printf(out, " Not shown: %s.", v->s->fit[k].why);
}

const struct figure figure_relevance = {
	.name = "relevance",
	.title = "Which parameters matter",
	.chapter = FIGURE_OF_PARAMETERS,
	.size = sizeof(struct relevance_data),
	.gather = relevance_gather,
	.draw = relevance_draw,
	.caption = relevance_caption,
};
