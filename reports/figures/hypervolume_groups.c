/* hypervolume_groups.c - how the hypervolume of groups of seeds grows: the mean over
 * their members, and where it lies with 95 %. */
#include "reports/figures/common/figure_data.h"

#include "base/units.h"
#include "base/t_distribution.h"
#include "reports/text/report_format.h"

#include <math.h>
#include <stdlib.h>

void fig_mean_curve_free(struct fig_mean_curve *m)
{
	free(m->x);
	free(m->mean);
	free(m->lo);
	free(m->hi);
	*m = (struct fig_mean_curve){ 0 };
}

/* ---- numbers ---- */

static bool mean_curve_alloc(struct fig_mean_curve *m, size_t room)
{
	m->x = dp_malloc(room * sizeof *m->x);
	m->mean = dp_malloc(room * sizeof *m->mean);
	m->lo = dp_malloc(room * sizeof *m->lo);
	m->hi = dp_malloc(room * sizeof *m->hi);
	return m->x && m->mean && m->lo && m->hi;
}

/* The mean and its interval at every step, which all members have in common. */
static void compute_mean_curve(const struct fig_hypervolume_curve *all, size_t members,
			       struct fig_mean_curve *out, double *values)
{
	for (size_t i = 0; i < all[0].n; i++) {
		struct dp_sample_stats s;

		for (size_t k = 0; k < members; k++)
			values[k] = all[k].volume[i];
		s = dp_sample_stats_compute(values, members);
		out->x[i] = all[0].spent[FIG_COST_EVALUATIONS][i];
		out->mean[i] = s.mean;
		out->lo[i] = s.ci_low;
		out->hi[i] = s.ci_high;
	}
	out->n = all[0].n;
}

int fig_compute_mean_curve(const struct study_groups *g, size_t group, struct fig_mean_curve *out,
			   struct dp_err *err)
{
	const struct dp_compare_group *rivals = &g->contests[BASIS_OBSERVED].groups[group];
	const struct study_data *const *of = g->list[group].studies;
	struct fig_hypervolume_curve *all = dp_calloc(rivals->n + 1, sizeof *all);
	double *values = dp_malloc(rivals->n * sizeof *values + 1);
	int code = all && values ? DP_OK : fig_nomem(err);

	*out = (struct fig_mean_curve){ .max_evaluations = SIZE_MAX };
	for (size_t k = 0; k < rivals->n; k++) {
		size_t ended = study_groups_count_ended(g, group, k);

		out->max_evaluations = ended < out->max_evaluations ? ended : out->max_evaluations;
	}
	for (size_t k = 0; k < rivals->n && code == DP_OK; k++) {
		const struct dp_compare_member *r = &rivals->members[k];
		const struct fig_trial_range which = { r->first_trial, r->end_trial,
						       out->max_evaluations };

		fig_compute_trials_curve(of[k], &which, NULL, &all[k]);
	}
	if (code == DP_OK && !mean_curve_alloc(out, all[0].n))
		code = fig_nomem(err);
	if (code == DP_OK)
		compute_mean_curve(all, rivals->n, out, values);
	for (size_t k = 0; all && k < rivals->n; k++)
		fig_hypervolume_curve_free(&all[k]);
	free(all);
	free(values);
	return code;
}

/* ---- the figure ---- */

struct hypervolume_groups_data {
	const struct study_groups *g;
	struct fig_mean_curve *curves; /* (n) */
	size_t n;
	double y_min, y_max; /* ends of the vertical axis */
	bool is_truncated;   /* a member has more evaluations than are shown of it */
};

/* As in the picture of one study: where the rest would be a flat line at the top, the
 * axis starts a little below the lowest curve at a tenth of its way. */
static double groups_axis_min(const struct hypervolume_groups_data *d)
{
	double early = INFINITY, high = 0, lower;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_mean_curve *m = &d->curves[i];

		high = fmax(high, m->mean[m->n - 1]);
		early = fmin(early, fmin(m->mean[m->n / 10], m->lo[m->n / 10]));
	}
	lower = high - 1.2 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

/* Above all that comes after the first tenth: means of the first few evaluations may lie
 * anywhere. */
static double groups_axis_max(const struct hypervolume_groups_data *d)
{
	double high = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_mean_curve *m = &d->curves[i];

		for (size_t k = m->n / 10; k < m->n; k++)
			high = fmax(high, fmax(m->mean[k], m->hi[k]));
	}
	return high > 0 ? high + 0.05 * (high - d->y_min) : NAN;
}

/* Where a mean is below the axis its band, wider than all the rest, would be a bar across
 * the picture that nobody could tell the meaning of. */
static void hide_bands_below_axis(struct hypervolume_groups_data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct fig_mean_curve *m = &d->curves[i];

		for (size_t k = 0; k < m->n; k++)
			if (m->mean[k] < d->y_min)
				m->lo[k] = m->hi[k] = NAN;
	}
}

static bool is_group_truncated(const struct study_groups *g, size_t group, size_t evaluations)
{
	for (size_t k = 0; k < g->contests[BASIS_OBSERVED].groups[group].n; k++)
		if (study_groups_count_ended(g, group, k) > evaluations)
			return true;
	return false;
}

static int hypervolume_groups_gather(const struct report_data *r, void *data, const char **why,
				     struct dp_err *err)
{
	struct hypervolume_groups_data *d = data;
	bool any = false;
	int code = DP_OK;

	if (!r->groups) {
		*why = FIG_NO_GROUPS;
		return DP_OK;
	}
	d->g = r->groups;
	d->curves = dp_calloc(d->g->contests[0].n + 1, sizeof *d->curves);
	if (!d->curves)
		return fig_nomem(err);
	while (d->n < d->g->contests[0].n && code == DP_OK) {
		code = fig_compute_mean_curve(d->g, d->n, &d->curves[d->n], err);
		if (code == DP_OK) {
			any |= d->curves[d->n].max_evaluations > 0;
			d->is_truncated |=
				is_group_truncated(d->g, d->n, d->curves[d->n].max_evaluations);
		}
		d->n++;
	}
	if (code == DP_OK && !any)
		*why = "every group has a member without an evaluation";
	if (code != DP_OK || *why)
		return code;
	d->y_min = groups_axis_min(d);
	d->y_max = groups_axis_max(d);
	hide_bands_below_axis(d);
	return DP_OK;
}

static void hypervolume_groups_release(void *data)
{
	struct hypervolume_groups_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_mean_curve_free(&d->curves[i]);
	free(d->curves);
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
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style area = fig_group_style(d->g, i);

		area.opacity = 0.18;
		panel_band(a, &area, NULL, d->curves[i].x, d->curves[i].lo, d->curves[i].hi,
			   d->curves[i].n, true);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style line = fig_group_style(d->g, i);
		char name[FIG_STUDY_NAME_LEN];

		panel_steps(a, &line, fig_format_group_name(d->g, i, name), d->curves[i].x,
			    d->curves[i].mean, d->curves[i].n);
	}
	dp_buf_puts(&note, "Lines: means. Bands: where these lie with 95 %.");
	fig_append_group_legend(d->g, &note);
	if (d->y_min > 0)
		dp_buf_puts(&note, " The vertical axis does not start at zero.");
	plot_note(p, dp_buf_text(&note));
	dp_buf_free(&note);
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
		const struct fig_mean_curve *m = &d->curves[i];
		size_t last = m->n - 1;
		double error = (m->hi[last] - m->lo[last]) / 4;

		dp_buf_printf(out, "%s%s after %s: %s", i ? "; " : "",
			      d->g->contests[0].groups[i].name,
			      dp_plural_text(m->max_evaluations, "evaluation", n),
			      format_with_error(m->mean[last], error, mean));
		if (!isnan(m->lo[last]))
			dp_buf_printf(out, " (%s to %s, %zu members)",
				      format_with_error(m->lo[last], error, lo),
				      format_with_error(m->hi[last], error, hi),
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
	.free_data = hypervolume_groups_release,
};
