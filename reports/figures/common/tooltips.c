/* tooltips.c - what a page says of a point when one points at it, and where that leads. */
#include "reports/figures/common/figures_internal.h"

#include <stdlib.h>

/* "ε 0.42, error 15.5 %"; where the models have put the point elsewhere, also there. */
static void tooltip_append_objectives(const struct study_data *s, const struct fig_points *p,
				      size_t i, bool plane, struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;
	const double *y = dp_result_get_objectives(s->state, p->results[i]);
	char text[FIG_NUMBER_LEN];

	for (size_t k = 0; k < spec->nobjectives; k++) {
		dp_buf_puts(out, k ? ", " : "");
		fig_append_value(s, k, y[k], out);
		if (plane && k == s->y_obj && p->y[i] != y[k])
			dp_buf_printf(out, " (without noise %s)", fig_value(s, k, p->y[i], text));
	}
}

static void tooltip_append_parameters(const struct study_data *s, struct dp_result_id p,
				      struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;
	double x[DP_PARAMS_MAX];
	char text[FIG_NUMBER_LEN];
	bool any = false;

	dp_result_get_params(s->state, p, x);
	for (size_t k = 0; k < spec->nparams; k++) {
		enum dp_param_kind kind = spec->params[k].kind;

		if (kind == DP_PARAM_FIXED)
			continue;
		dp_buf_printf(out, "%s%s ", any ? ", " : "; ", spec->params[k].name);
		if (kind == DP_PARAM_CATEGORICAL || kind == DP_PARAM_INT)
			dp_space_format_value(spec, k, x[k], out);
		else
			dp_buf_puts(out, fig_number(x[k], text));
		any = true;
	}
}

static char *tooltip_format_text(const struct study_data *s, const struct fig_points *p, size_t i,
				 unsigned how)
{
	char name[FIG_STUDY_NAME_LEN], point[RESULT_NAME_LEN];
	struct dp_buf out = DP_BUF_INIT;

	if (how & FIG_TOOLTIP_STUDY)
		dp_buf_printf(&out, "%s, ", fig_format_study_name(s, name));
	dp_buf_printf(&out, "trial %s: ",
		      result_format_name(p->results[i].trial,
					 study_data_checkpoint_of(s, p->results[i]), point));
	tooltip_append_objectives(s, p, i, !(how & FIG_TOOLTIP_OTHER_AXES), &out);
	tooltip_append_parameters(s, p->results[i], &out);
	return dp_buf_detach(&out);
}

/* Where the page's table has it. */
static char *tooltip_format_link(const struct study_data *s, struct dp_result_id p)
{
	char row[RESULT_ROW_ID_LEN];
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_printf(&out, "#%s",
		      result_format_row_id(p.trial, study_data_checkpoint_of(s, p), row));
	return dp_buf_detach(&out);
}

/* The texts have been copied, or were not to be had. */
static void free_tooltips(char **tips, char **links, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(tips ? tips[i] : NULL);
		free(links ? links[i] : NULL);
	}
	free(tips);
	free(links);
}

void fig_add_tooltips(struct plot_panel *a, const struct study_data *s, const struct fig_points *p,
		      unsigned how)
{
	char **tips, **links;
	bool whole;

	if (p->n > PLOT_TOOLTIPS_MAX)
		return;
	tips = dp_calloc(p->n + 1, sizeof *tips);
	links = dp_calloc(p->n + 1, sizeof *links);
	whole = tips && links;
	for (size_t i = 0; whole && i < p->n; i++) {
		tips[i] = tooltip_format_text(s, p, i, how);
		links[i] = how & FIG_TOOLTIP_LINK ? tooltip_format_link(s, p->results[i]) : NULL;
		whole = tips[i] && (links[i] || !(how & FIG_TOOLTIP_LINK));
	}
	if (whole)
		panel_add_tooltips(a, (const char *const *)tips, (const char *const *)links, p->n);
	else
		panel_set_failed(a);
	free_tooltips(tips, links, p->n);
}
