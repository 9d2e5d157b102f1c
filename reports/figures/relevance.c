/* relevance.c - figure: importance of each parameter for each objective, as first-order and total
 * Sobol indices. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>

enum {
	IMPORTANCE_BARS_MAX = 12 /* parameters shown */
};
#define MIN_VISIBLE_FRACTION 0.005 /* rounds to one percent */

/* Objectives with known importance. Parameters are in the order of s->ranking. */
struct relevance_data {
	const struct study_data *s;
	size_t n, objective[DP_OBJECTIVES_MAX];
	size_t rows; /* parameters shown: those with a visible share */
};

static const struct dp_importance *get_shown_importance(const struct relevance_data *v, size_t k)
{
	return &v->s->importance[v->objective[k]];
}

static double max_total_index(const struct relevance_data *v, size_t param)
{
	double most = 0;

	for (size_t k = 0; k < v->n; k++)
		most = fmax(most, get_shown_importance(v, k)->total_order[param]);
	return most;
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

		/* a bar of zero length still shows as a line; the first bar names the series */
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

/* "log epsilon (computed)", "error (by its model, which explains 67 % of it)" */
static void append_importance_source(const struct relevance_data *v, size_t k, struct dp_buf *out)
{
	const struct dp_objective *o = &v->s->state->spec->objectives[v->objective[k]];
	const struct surrogate_fit *fit = &v->s->fit[v->objective[k]];

	dp_buf_printf(out, "%s%s%s (", k ? " and in " : "",
		      o->transform == DP_TRANSFORM_LOG     ? "log "
		      : o->transform == DP_TRANSFORM_LOGIT ? "logit "
							   : "",
		      o->name);
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

static int relevance_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct relevance_data v = { 0 };
	const char *names[IMPORTANCE_BARS_MAX];
	const struct surrogate_fit *doubtful;
	const struct study_data *s;
	const struct dp_study *spec;
	struct plot_panel *a;
	double row_height, hidden = 0;
	int code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	v.s = s;
	spec = s->state->spec;
	for (size_t k = 0; k < spec->nobjectives; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			v.objective[v.n++] = k;
	doubtful = study_data_find_untrusted(s);
	if (!s->npoints)
		return fig_nothing(err, "no trial has given a result");
	if (s->nranked < 2)
		return fig_nothing(err, "there are no two parameters that are not fixed");
	if (v.n == 0)
		return fig_nothing(err, doubtful ? doubtful->reason : "there are no models");
	/* Shows at least one parameter. The ranking uses the mean over objectives, so one that
	 * matters for a single objective can rank low: shows all parameters up to it. */
	v.rows = 1;
	for (size_t i = 0; i < s->nranked && i < IMPORTANCE_BARS_MAX; i++)
		if (max_total_index(&v, s->ranking[i]) >= MIN_VISIBLE_FRACTION)
			v.rows = i + 1;

	row_height = v.n > 1 ? 17 * (double)v.n + 8 : 26;
	f->plot = fig_new(s, figure_relevance.title, FIG_WIDTH,
			  140 + (int)((double)v.rows * row_height));
	a = plot_panel(f->plot, 0, 0);
	for (size_t i = 0; i < v.rows; i++)
		names[v.rows - 1 - i] = spec->params[s->ranking[i]].name;
	panel_axis(a, PLOT_X, "share of what varies, %", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, names, v.rows);
	panel_limits(a, PLOT_Y, -0.6, (double)v.rows - 0.4);
	panel_limits(a, PLOT_X, 0, NAN);
	for (size_t k = 0; k < v.n; k++)
		draw_objective_indices(a, &v, k);

	dp_buf_puts(&f->caption, "How much of the variance in ");
	for (size_t k = 0; k < v.n; k++)
		append_importance_source(&v, k, &f->caption);
	dp_buf_printf(&f->caption,
		      ", over the points that the study samples, is due to each "
		      "parameter alone (strong, Sobol's first order) and together with "
		      "others (faint, total order). %s matters most: ",
		      spec->params[s->ranking[0]].name);
	for (size_t k = 0; k < v.n; k++)
		dp_buf_printf(&f->caption, "%s%.0f %% of what varies in %s", k ? ", " : "",
			      100 * get_shown_importance(&v, k)->total_order[s->ranking[0]],
			      spec->objectives[v.objective[k]].name);
	dp_buf_puts(&f->caption, " has to do with it.");
	for (size_t i = v.rows; i < s->nranked; i++)
		hidden = fmax(hidden, max_total_index(&v, s->ranking[i]));
	if (v.rows < s->nranked && hidden < MIN_VISIBLE_FRACTION)
		dp_buf_printf(&f->caption,
			      " Not shown: %zu parameter%s with less than 1 %% of any.",
			      s->nranked - v.rows, s->nranked - v.rows == 1 ? "" : "s");
	else if (v.rows < s->nranked)
		dp_buf_printf(&f->caption, " Shown are %zu of %zu parameters.", v.rows, s->nranked);
	for (size_t k = 0; k < spec->nobjectives; k++)
		if (s->surrogates && !study_data_trusts_surrogate(s, k))
			dp_buf_printf(&f->caption, " Not shown: %s.", s->fit[k].reason);
	return DP_OK;
}

const struct figure figure_relevance = {
	.name = "relevance",
	.title = "Which parameters matter",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.make = relevance_make,
};
