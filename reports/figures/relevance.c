/* relevance.c - how much of what varies in each objective is due to which parameter: its
 * Sobol' indices, alone and in all. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>

enum {
	IMPORTANCE_BARS_MAX = 12 /* parameters */
};
#define MIN_VISIBLE_FRACTION 0.005 /* one percent when rounded */

/* The objectives of which it is known. Parameters are in the order of s->rank. */
struct relevance_data {
	const struct study_data *s;
	size_t n, objective[DP_OBJECTIVES_MAX];
	size_t rows; /* parameters that are shown: of which some share can be seen */
};

static const struct dp_importance *get_shown_importance(const struct relevance_data *v, size_t k)
{
	return &v->s->importance[v->objective[k]];
}

/* The most that a parameter has to do with any objective. */
static double max_total_index(const struct relevance_data *v, size_t param)
{
	double most = 0;

	for (size_t k = 0; k < v->n; k++)
		most = fmax(most, get_shown_importance(v, k)->total_order[param]);
	return most;
}

static int relevance_gather(const struct report_data *r, struct arena *mem, void *data,
			    struct dp_err *err)
{
	struct relevance_data *v = data;
	const struct surrogate_fit *doubtful;
	int code = fig_main_study(r, &v->s, err);

	(void)mem;
	if (code != DP_OK)
		return code;
	for (size_t k = 0; k < v->s->state->spec->nobjectives; k++)
		if (v->s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			v->objective[v->n++] = k;
	doubtful = study_data_find_untrusted(v->s);
	if (!v->s->npoints)
		return fig_nothing(err, "no trial has given a result");
	if (v->s->nranked < 2)
		return fig_nothing(err, "there are no two parameters that are not fixed");
	if (v->n == 0)
		return fig_nothing(err, doubtful ? doubtful->reason : "there are no models");
	/* At least the first; the ranking goes by the mean over objectives, so that one which
	 * matters to a single objective stands below others, and all down to it are shown. */
	v->rows = 1;
	for (size_t i = 0; i < v->s->nranked && i < IMPORTANCE_BARS_MAX; i++)
		if (max_total_index(v, v->s->ranking[i]) >= MIN_VISIBLE_FRACTION)
			v->rows = i + 1;
	return DP_OK;
}

/* "46 %", "79 %, in all 90 %", "below 1 %" */
static void format_sobol_indices(double first, double total, char *out, size_t size)
{
	if (total == 0)
		snprintf(out, size, "0 %%");
	else if (total < 100 * MIN_VISIBLE_FRACTION)
		snprintf(out, size, "below 1 %%");
	else if (round(first) == round(total))
		snprintf(out, size, "%.0f %%", total);
	else
		snprintf(out, size, "%.0f %%, in all %.0f %%", first, total);
}

/* The bars of one objective. */
static void draw_objective_indices(struct plot_panel *a, const struct relevance_data *v, size_t k)
{
	const struct dp_importance *share = get_shown_importance(v, k);
	struct plot_style solid = fig_style(k), light = solid;
	double height = 0.8 / (double)v->n;
	struct dp_buf alone = DP_BUF_INIT, in_all = DP_BUF_INIT;

	light.opacity = 0.35;
	fig_label(v->s, v->objective[k], &alone);
	dp_buf_printf(&in_all, "%s, in all", dp_buf_text(&alone));
	dp_buf_puts(&alone, ", alone");
	for (size_t i = 0; i < v->rows; i++) {
		size_t param = v->s->ranking[i];
		double x0 = 0, first = 100 * share->first_order[param],
		       total = fmax(100 * share->total_order[param], first);
		double y1 = (double)(v->rows - 1 - i) + 0.4 - height * (double)k;
		double y0 = y1 - height * 0.92;
		char text[40];

		/* a bar of no length is still seen as a line; the first names the bars */
		if (i == 0 || first > 0)
			panel_add_rects(a, &solid, i == 0 ? dp_buf_text(&alone) : NULL, &x0, &first,
					&y0, &y1, 1);
		if (i == 0 || total > first)
			panel_add_rects(a, &light, i == 0 ? dp_buf_text(&in_all) : NULL, &first,
					&total, &y0, &y1, 1);
		format_sobol_indices(first, total, text, sizeof text);
		panel_add_value_label(a, total, (y0 + y1) / 2, text);
	}
	dp_buf_free(&alone);
	dp_buf_free(&in_all);
}

static struct plot *relevance_draw(const void *data)
{
	const struct relevance_data *v = data;
	double row_height = v->n > 1 ? 17 * (double)v->n + 8 : 26;
	struct plot *p = fig_new(v->s, figure_relevance.title, FIG_WIDTH,
				 140 + (int)((double)v->rows * row_height));
	struct plot_panel *a = plot_panel(p, 0, 0);
	const char *names[IMPORTANCE_BARS_MAX];

	for (size_t i = 0; i < v->rows; i++)
		names[v->rows - 1 - i] = v->s->state->spec->params[v->s->ranking[i]].name;
	panel_axis(a, PLOT_X, "share of what varies, %", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, names, v->rows);
	panel_limits(a, PLOT_Y, -0.6, (double)v->rows - 0.4);
	panel_limits(a, PLOT_X, 0, NAN);
	for (size_t k = 0; k < v->n; k++)
		draw_objective_indices(a, v, k);
	return p;
}

/* ---- in words ---- */

static const char *objective_scale_prefix(const struct dp_objective *o)
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
static void append_importance_source(const struct relevance_data *v, size_t k, struct dp_buf *out)
{
	const struct dp_objective *o = &v->s->state->spec->objectives[v->objective[k]];
	const struct surrogate_fit *fit = &v->s->fit[v->objective[k]];

	dp_buf_printf(out, "%s%s%s (", k ? " and in " : "", objective_scale_prefix(o), o->name);
	if (get_shown_importance(v, k)->source == DP_IMPORTANCE_COMPUTED)
		dp_buf_puts(out, "computed");
	else if (o->privacy)
		dp_buf_puts(out, "by its model, since computing it takes long");
	else
		dp_buf_printf(out,
			      "by its model, which explains %.0f %% of results that "
			      "were left out",
			      100 * fit->variance_explained);
	dp_buf_putc(out, ')');
}

/* "noise 66 % of epsilon and 32 % of error" */
static void append_top_parameter(const struct relevance_data *v, struct dp_buf *out)
{
	const struct dp_study *spec = v->s->state->spec;
	size_t most = v->s->ranking[0];

	dp_buf_printf(out, " %s matters most: ", spec->params[most].name);
	for (size_t k = 0; k < v->n; k++)
		dp_buf_printf(out, "%s%.0f %% of what varies in %s", k ? ", " : "",
			      100 * get_shown_importance(v, k)->total_order[most],
			      spec->objectives[v->objective[k]].name);
	dp_buf_puts(out, " has to do with it.");
}

static void append_hidden_parameters(const struct relevance_data *v, struct dp_buf *out)
{
	size_t others = v->s->nranked - v->rows;
	double most = 0;

	for (size_t i = v->rows; i < v->s->nranked; i++)
		most = fmax(most, max_total_index(v, v->s->ranking[i]));
	if (others && most < MIN_VISIBLE_FRACTION)
		dp_buf_printf(out, " Not shown: %zu parameter%s with less than 1 %% of any.",
			      others, others == 1 ? "" : "s");
	else if (others)
		dp_buf_printf(out, " Shown are %zu of %zu parameters.", v->rows, v->s->nranked);
}

static void relevance_caption(const void *data, struct dp_buf *out)
{
	const struct relevance_data *v = data;

	dp_buf_puts(out, "How much of the variance in ");
	for (size_t k = 0; k < v->n; k++)
		append_importance_source(v, k, out);
	dp_buf_puts(out, ", over the points that the study samples, is due to each "
			 "parameter alone (strong, Sobol's first order) and together with "
			 "others (faint, total order).");
	append_top_parameter(v, out);
	append_hidden_parameters(v, out);
	for (size_t k = 0; k < v->s->state->spec->nobjectives; k++)
		if (v->s->surrogates && !study_data_trusts_surrogate(v->s, k))
			dp_buf_printf(out, " Not shown: %s.", v->s->fit[k].reason);
}

const struct figure figure_relevance = {
	.name = "relevance",
	.title = "Which parameters matter",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.data_size = sizeof(struct relevance_data),
	.gather = relevance_gather,
	.draw = relevance_draw,
	.caption = relevance_caption,
};
