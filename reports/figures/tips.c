/* tips.c - what a page says of a point when one points at it, and where that leads. */
#include "reports/figures/figures_internal.h"

#include <stdlib.h>

/* "ε 0.42, error 15.5 %"; where the models have put the point elsewhere, also there. */
static void tip_objectives(const struct subject *s, const struct fig_points *p, size_t i,
			   bool plane, struct dp_buf *out)
{
	const struct dp_study *spec = s->s->spec;
	const double *y = dp_point_objectives(s->s, p->of[i]);
	char text[FIG_TEXT_LEN];

	for (size_t k = 0; k < spec->nobjectives; k++) {
		dp_buf_puts(out, k ? ", " : "");
		fig_say(s, k, y[k], out);
		if (plane && k == s->y && p->y[i] != y[k])
			dp_buf_printf(out, " (without noise %s)", fig_value(s, k, p->y[i], text));
	}
}

static void tip_settings(const struct subject *s, struct dp_point p, struct dp_buf *out)
{
	const struct dp_study *spec = s->s->spec;
	double x[DP_PARAMS_MAX];
	char text[FIG_TEXT_LEN];
	bool any = false;

	dp_point_x(s->s, p, x);
	for (size_t k = 0; k < spec->nparams; k++) {
		enum dp_param_kind kind = spec->params[k].kind;

		if (kind == DP_PARAM_FIXED)
			continue;
		dp_buf_printf(out, "%s%s ", any ? ", " : "; ", spec->params[k].name);
		if (kind == DP_PARAM_CATEGORICAL || kind == DP_PARAM_INT)
			dp_space_text(spec, k, x[k], out);
		else
			dp_buf_puts(out, fig_number(x[k], text));
		any = true;
	}
}

static char *tip_text(const struct subject *s, const struct fig_points *p, size_t i, unsigned how)
{
	char name[FIG_NAME_LEN], point[POINT_TEXT_LEN];
	struct dp_buf out = DP_BUF_INIT;

	if (how & FIG_TIP_STUDY)
		dp_buf_printf(&out, "%s, ", fig_name(s, name));
	dp_buf_printf(&out, "trial %s: ",
		      point_text(p->of[i].trial, subject_point_at(s, p->of[i]), point));
	tip_objectives(s, p, i, !(how & FIG_TIP_ELSEWHERE), &out);
	tip_settings(s, p->of[i], &out);
	return dp_buf_detach(&out);
}

/* Where the page's table has it. */
static char *tip_link(const struct subject *s, struct dp_point p)
{
	char row[POINT_ROW_LEN];
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_printf(&out, "#%s", point_row(p.trial, subject_point_at(s, p), row));
	return dp_buf_detach(&out);
}

/* The texts have been copied, or were not to be had. */
static void free_tips(char **tips, char **links, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(tips ? tips[i] : NULL);
		free(links ? links[i] : NULL);
	}
	free(tips);
	free(links);
}

void fig_tips(struct plot_panel *a, const struct subject *s, const struct fig_points *p,
	      unsigned how)
{
	char **tips, **links;
	bool whole;

	if (p->n > PLOT_TIPS_MAX)
		return;
	tips = calloc(p->n + 1, sizeof *tips);
	links = calloc(p->n + 1, sizeof *links);
	whole = tips && links;
	for (size_t i = 0; whole && i < p->n; i++) {
		tips[i] = tip_text(s, p, i, how);
		links[i] = how & FIG_TIP_LINK ? tip_link(s, p->of[i]) : NULL;
		whole = tips[i] && (links[i] || !(how & FIG_TIP_LINK));
	}
	if (whole)
		panel_tips(a, (const char *const *)tips, (const char *const *)links, p->n);
	else
		panel_fail(a);
	free_tips(tips, links, p->n);
}
