/* hypervolume_groups.c - figure: mean hypervolume of groups of seeds against evaluations, with 95%
 * intervals. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"
#include "base/t_distribution.h"
#include "reports/model/number_format.h"

#include <math.h>

struct fig_band fig_compute_mean_curve(struct arena *mem, const struct study_groups *g,
				       size_t group, size_t *evaluations)
{
	const struct dp_compare_group *members = &g->contests[BASIS_OBSERVED].groups[group];
	struct fig_hypervolume_curve *all = arena_calloc(mem, members->n, sizeof *all);
	double *values = arena_calloc(mem, members->n, sizeof *values);
	struct fig_band out;

	*evaluations = SIZE_MAX;
	for (size_t k = 0; k < members->n; k++) {
		size_t ended = study_groups_count_ended(g, group, k);

		*evaluations = ended < *evaluations ? ended : *evaluations;
	}
	for (size_t k = 0; k < members->n; k++) {
		const struct dp_compare_member *r = &members->members[k];
		const struct fig_trial_range which = { r->first_trial, r->end_trial, *evaluations };

		all[k] = fig_compute_trials_curve(mem, g->list[group].studies[k], &which, NULL);
	}
	out = fig_band_new(mem, all[0].n);
	/* all members share their steps */
	for (size_t i = 0; i < all[0].n; i++) {
		struct dp_sample_stats s;

		for (size_t k = 0; k < members->n; k++)
			values[k] = all[k].volume[i];
		s = dp_sample_stats_compute(values, members->n);
		fig_band_add(&out, all[0].spent[FIG_COST_EVALUATIONS][i], s.mean, s.ci_low,
			     s.ci_high);
	}
	return out;
}

/* Axis limits: from a little below the lowest curve at a tenth of its length, if the rest would be
 * flat at the top, to above all later values. Means of the first few evaluations may lie
 * outside. */
static void find_volume_limits(const struct fig_band *curves, size_t n, double *y_min,
			       double *y_max)
{
	double early = INFINITY, end = 0, high = 0;

	for (size_t i = 0; i < n; i++) {
		const struct fig_band *m = &curves[i];

		end = fmax(end, m->mid[m->n - 1]);
		early = fmin(early, fmin(m->mid[m->n / 10], m->from[m->n / 10]));
		for (size_t k = m->n / 10; k < m->n; k++)
			high = fmax(high, fmax(m->mid[k], m->to[k]));
	}
	*y_min = fig_hypervolume_axis_start(early, end, 1.2);
	*y_max = high > 0 ? high + 0.05 * (high - *y_min) : NAN;
}

/* "CNN after 31 evaluations: 1.47 (1.41 to 1.53, 5 members)" */
static void append_mean_at_end(const struct dp_compare_group *group, const struct fig_band *m,
			       size_t evaluations, struct dp_buf *out)
{
	char mean[FORMAT_LEN], lo[FORMAT_LEN], hi[FORMAT_LEN], n[DP_PLURAL_LEN];
	size_t last = m->n - 1;
	double error = (m->to[last] - m->from[last]) / 4;

	dp_buf_printf(out, "%s after %s: %s", group->name,
		      dp_plural_text(evaluations, "evaluation", n),
		      format_with_error(m->mid[last], error, mean));
	if (!isnan(m->from[last]))
		dp_buf_printf(out, " (%s to %s, %zu members)",
			      format_with_error(m->from[last], error, lo),
			      format_with_error(m->to[last], error, hi), group->n);
}

static int hypervolume_groups_make(const struct report_data *r, struct figure_draft *f,
				   struct dp_err *err)
{
	const struct study_groups *g = r->groups;
	size_t n = g ? g->contests[BASIS_OBSERVED].n : 0, *evaluations;
	struct dp_buf note = DP_BUF_INIT;
	bool any = false, is_truncated = false;
	struct fig_band *curves;
	struct plot_panel *a;
	double y_min, y_max;

	if (!g)
		return fig_nothing(err, FIG_NO_GROUPS);
	curves = arena_calloc(&f->mem, n, sizeof *curves);
	evaluations =
		arena_calloc(&f->mem, n, sizeof *evaluations); /* number of evaluations shown */
	for (size_t i = 0; i < n; i++) {
		curves[i] = fig_compute_mean_curve(&f->mem, g, i, &evaluations[i]);
		any |= evaluations[i] > 0;
		for (size_t k = 0; k < g->contests[BASIS_OBSERVED].groups[i].n; k++)
			is_truncated |= study_groups_count_ended(g, i, k) > evaluations[i];
	}
	if (!any)
		return fig_nothing(err, "every group has a member without an evaluation");
	find_volume_limits(curves, n, &y_min, &y_max);
	/* a mean below the axis has a very wide band, which would cross the figure without
	 * meaning */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < curves[i].n; k++)
			if (curves[i].mid[k] < y_min)
				curves[i].from[k] = curves[i].to[k] = NAN;

	f->plot = fig_new(NULL, figure_hypervolume_groups.title, FIG_WIDTH, FIG_HEIGHT);
	a = plot_panel(f->plot, 0, 0);
	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, y_min, y_max);
	fig_draw_group_bands(a, g, curves, true);
	dp_buf_puts(&note, "Lines: means. Bands: where these lie with 95 %.");
	fig_append_group_legend(g, &note);
	if (y_min > 0)
		dp_buf_puts(&note, " The vertical axis does not start at zero.");
	fig_note(f->plot, &note);

	dp_buf_puts(&f->caption, "The hypervolume of observed fronts as evaluations end: the "
				 "mean over the members of each group and, as a band, where that "
				 "mean lies with 95 %. ");
	for (size_t i = 0; i < n; i++) {
		dp_buf_puts(&f->caption, i ? "; " : "");
		append_mean_at_end(&g->contests[0].groups[i], &curves[i], evaluations[i],
				   &f->caption);
	}
	dp_buf_putc(&f->caption, '.');
	if (is_truncated)
		dp_buf_puts(&f->caption, " Curves end where the shortest member of a group ends.");
	return DP_OK;
}

const struct figure figure_hypervolume_groups = {
	.name = "hypervolume-groups",
	.title = "Hypervolume, mean over seeds",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_SEARCH,
	.make = hypervolume_groups_make,
};
