/* hypervolume_groups.c - how the hypervolume of groups of seeds grows: the mean over
 * their members, and where it lies with 95 %. */
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
	/* all members have their steps in common */
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

struct hypervolume_groups_data {
	const struct study_groups *g;
	struct fig_band *curves; /* (n) */
	size_t *evaluations;     /* (n) that are shown */
	size_t n;
	double y_min, y_max; /* ends of the vertical axis */
	bool is_truncated;   /* a member has more evaluations than are shown of it */
};

/* From a little below the lowest curve at a tenth of its way, where the rest would be a flat line
 * at the top, to above all that comes later: means of the first few evaluations may lie anywhere.
 */
static void find_volume_limits(struct hypervolume_groups_data *d)
{
	double early = INFINITY, end = 0, high = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_band *m = &d->curves[i];

		end = fmax(end, m->mid[m->n - 1]);
		early = fmin(early, fmin(m->mid[m->n / 10], m->from[m->n / 10]));
		for (size_t k = m->n / 10; k < m->n; k++)
			high = fmax(high, fmax(m->mid[k], m->to[k]));
	}
	d->y_min = fig_hypervolume_axis_start(early, end, 1.2);
	d->y_max = high > 0 ? high + 0.05 * (high - d->y_min) : NAN;
}

static int hypervolume_groups_gather(const struct report_data *r, struct arena *mem, void *data,
				     struct dp_err *err)
{
	struct hypervolume_groups_data *d = data;
	const struct study_groups *g = d->g = r->groups;
	bool any = false;

	if (!g)
		return fig_nothing(err, FIG_NO_GROUPS);
	d->n = g->contests[0].n;
	d->curves = arena_calloc(mem, d->n, sizeof *d->curves);
	d->evaluations = arena_calloc(mem, d->n, sizeof *d->evaluations);
	for (size_t i = 0; i < d->n; i++) {
		d->curves[i] = fig_compute_mean_curve(mem, g, i, &d->evaluations[i]);
		any |= d->evaluations[i] > 0;
		for (size_t k = 0; k < g->contests[BASIS_OBSERVED].groups[i].n; k++)
			d->is_truncated |= study_groups_count_ended(g, i, k) > d->evaluations[i];
	}
	if (!any)
		return fig_nothing(err, "every group has a member without an evaluation");
	find_volume_limits(d);
	/* where a mean is below the axis its band, wider than all the rest, would be a bar across
	 * the picture without a meaning */
	for (size_t i = 0; i < d->n; i++) {
		struct fig_band *m = &d->curves[i];

		for (size_t k = 0; k < m->n; k++)
			if (m->mid[k] < d->y_min)
				m->from[k] = m->to[k] = NAN;
	}
	return DP_OK;
}

static struct plot *hypervolume_groups_draw(const void *data)
{
	const struct hypervolume_groups_data *d = data;
	struct plot *p = fig_new(NULL, figure_hypervolume_groups.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct dp_buf note = DP_BUF_INIT;

	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, d->y_min, d->y_max);
	fig_draw_group_bands(a, d->g, d->curves, true);
	dp_buf_puts(&note, "Lines: means. Bands: where these lie with 95 %.");
	fig_append_group_legend(d->g, &note);
	if (d->y_min > 0)
		dp_buf_puts(&note, " The vertical axis does not start at zero.");
	fig_note(p, &note);
	return p;
}

static void hypervolume_groups_caption(const void *data, struct dp_buf *out)
{
	const struct hypervolume_groups_data *d = data;
	char mean[FORMAT_LEN], lo[FORMAT_LEN], hi[FORMAT_LEN], n[DP_PLURAL_LEN];

	dp_buf_puts(out, "The hypervolume of observed fronts as evaluations end: the "
			 "mean over the members of each group and, as a band, where that "
			 "mean lies with 95 %. ");
	for (size_t i = 0; i < d->n; i++) {
		const struct fig_band *m = &d->curves[i];
		size_t last = m->n - 1;
		double error = (m->to[last] - m->from[last]) / 4;

		dp_buf_printf(out, "%s%s after %s: %s", i ? "; " : "",
			      d->g->contests[0].groups[i].name,
			      dp_plural_text(d->evaluations[i], "evaluation", n),
			      format_with_error(m->mid[last], error, mean));
		if (!isnan(m->from[last]))
			dp_buf_printf(out, " (%s to %s, %zu members)",
				      format_with_error(m->from[last], error, lo),
				      format_with_error(m->to[last], error, hi),
				      d->g->contests[0].groups[i].n);
	}
	dp_buf_putc(out, '.');
	if (d->is_truncated)
		dp_buf_puts(out, " Curves end where the shortest member of a group ends.");
}

const struct figure figure_hypervolume_groups = {
	.name = "hypervolume-groups",
	.title = "Hypervolume, mean over seeds",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_SEARCH,
	.data_size = sizeof(struct hypervolume_groups_data),
	.gather = hypervolume_groups_gather,
	.draw = hypervolume_groups_draw,
	.caption = hypervolume_groups_caption,
};
