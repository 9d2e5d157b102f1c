/* hypervolume_groups.c - how the hypervolume of groups of seeds grows: the mean over
 * their members, and where it lies with 95 %. */
#include "reports/figures/series.h"

#include "base/num.h"
#include "base/student.h"
#include "reports/words.h"

#include <math.h>
#include <stdlib.h>

void fig_mean_growth_free(struct fig_mean_growth *m)
{
	free(m->x);
	free(m->mean);
	free(m->lo);
	free(m->hi);
	*m = (struct fig_mean_growth){ 0 };
}

/* ---- numbers ---- */

static bool mean_growth_room(struct fig_mean_growth *m, size_t room)
{
	m->x = malloc(room * sizeof *m->x);
	m->mean = malloc(room * sizeof *m->mean);
	m->lo = malloc(room * sizeof *m->lo);
	m->hi = malloc(room * sizeof *m->hi);
	return m->x && m->mean && m->lo && m->hi;
}

/* The mean and its interval at every step, which all members have in common. */
static void average_growth(const struct fig_growth *all, size_t members,
			   struct fig_mean_growth *out, double *values)
{
	for (size_t i = 0; i < all[0].n; i++) {
		struct dp_sample s;

		for (size_t k = 0; k < members; k++)
			values[k] = all[k].volume[i];
		s = dp_sample_of(values, members);
		out->x[i] = all[0].spent[FIG_GROWTH_EVALUATIONS][i];
		out->mean[i] = s.mean;
		out->lo[i] = s.low;
		out->hi[i] = s.high;
	}
	out->n = all[0].n;
}

int fig_mean_growth(const struct groups *g, size_t group, struct fig_mean_growth *out,
		    struct dp_err *err)
{
	const struct dp_rivals *rivals = &g->by[GROUPS_OBSERVED].group[group];
	const struct subject *const *of = g->list[group].of;
	struct fig_growth *all = calloc(rivals->n + 1, sizeof *all);
	double *values = malloc(rivals->n * sizeof *values + 1);
	int code = all && values ? DP_OK : fig_nomem(err);

	*out = (struct fig_mean_growth){ .evaluations = SIZE_MAX };
	for (size_t k = 0; k < rivals->n; k++) {
		size_t ended = groups_ended(g, group, k);

		out->evaluations = ended < out->evaluations ? ended : out->evaluations;
	}
	for (size_t k = 0; k < rivals->n && code == DP_OK; k++) {
		const struct dp_rival *r = &rivals->list[k];
		const struct fig_trials which = { r->from, r->end, out->evaluations };

		code = fig_growth_of(of[k], &which, NULL, &all[k], err);
	}
	if (code == DP_OK && !mean_growth_room(out, all[0].n))
		code = fig_nomem(err);
	if (code == DP_OK)
		average_growth(all, rivals->n, out, values);
	for (size_t k = 0; all && k < rivals->n; k++)
		fig_growth_free(&all[k]);
	free(all);
	free(values);
	return code;
}

/* ---- the figure ---- */

struct hypervolume_groups_data {
	const struct groups *g;
	struct fig_mean_growth *of; /* (n) */
	size_t n;
	double lower, upper; /* ends of the vertical axis */
	bool cut;            /* a member has more evaluations than are shown of it */
};

/* As in the picture of one study: where the rest would be a flat line at the top, the
 * axis starts a little below the lowest curve at a tenth of its way. */
static double groups_lower(const struct hypervolume_groups_data *d)
{
	double early = INFINITY, high = 0, lower;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_mean_growth *m = &d->of[i];

		high = fmax(high, m->mean[m->n - 1]);
		early = fmin(early, fmin(m->mean[m->n / 10], m->lo[m->n / 10]));
	}
	lower = high - 1.2 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

/* Above all that comes after the first tenth: means of the first few evaluations may lie
 * anywhere. */
static double groups_upper(const struct hypervolume_groups_data *d)
{
	double high = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_mean_growth *m = &d->of[i];

		for (size_t k = m->n / 10; k < m->n; k++)
			high = fmax(high, fmax(m->mean[k], m->hi[k]));
	}
	return high > 0 ? high + 0.05 * (high - d->lower) : NAN;
}

/* Where a mean is below the axis its band, wider than all the rest, would be a bar across
 * the picture that nobody could tell the meaning of. */
static void drop_early_bands(struct hypervolume_groups_data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct fig_mean_growth *m = &d->of[i];

		for (size_t k = 0; k < m->n; k++)
			if (m->mean[k] < d->lower)
				m->lo[k] = m->hi[k] = NAN;
	}
}

static bool is_cut(const struct groups *g, size_t group, size_t evaluations)
{
	for (size_t k = 0; k < g->by[GROUPS_OBSERVED].group[group].n; k++)
		if (groups_ended(g, group, k) > evaluations)
			return true;
	return false;
}

static int hypervolume_groups_gather(const struct report *r, void *data, const char **why,
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
	d->of = calloc(d->g->by[0].n + 1, sizeof *d->of);
	if (!d->of)
		return fig_nomem(err);
	while (d->n < d->g->by[0].n && code == DP_OK) {
		code = fig_mean_growth(d->g, d->n, &d->of[d->n], err);
		if (code == DP_OK) {
			any |= d->of[d->n].evaluations > 0;
			d->cut |= is_cut(d->g, d->n, d->of[d->n].evaluations);
		}
		d->n++;
	}
	if (code == DP_OK && !any)
		*why = "every group has a member without an evaluation";
	if (code != DP_OK || *why)
		return code;
	d->lower = groups_lower(d);
	d->upper = groups_upper(d);
	drop_early_bands(d);
	return DP_OK;
}

static void hypervolume_groups_release(void *data)
{
	struct hypervolume_groups_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_mean_growth_free(&d->of[i]);
	free(d->of);
}

static struct plot *hypervolume_groups_draw(const void *data)
{
	const struct hypervolume_groups_data *d = data;
	struct plot *p = fig_new(NULL, figure_hypervolume_groups.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct dp_buf note = DP_BUF_INIT;

	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_whole(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, d->lower, d->upper);
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style area = fig_group_style(d->g, i);

		area.opacity = 0.18;
		panel_band(a, &area, NULL, d->of[i].x, d->of[i].lo, d->of[i].hi, d->of[i].n, true);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style line = fig_group_style(d->g, i);
		char name[FIG_NAME_LEN];

		panel_steps(a, &line, fig_group_name(d->g, i, name), d->of[i].x, d->of[i].mean,
			    d->of[i].n);
	}
	dp_buf_puts(&note, "Lines: means. Bands: where these lie with 95 %.");
	fig_group_key(d->g, &note);
	if (d->lower > 0)
		dp_buf_puts(&note, " The vertical axis does not start at zero.");
	plot_note(p, dp_buf_text(&note));
	dp_buf_free(&note);
	return p;
}

static void hypervolume_groups_caption(const void *data, struct dp_buf *out)
{
	const struct hypervolume_groups_data *d = data;
	char mean[SHORT_LEN], lo[SHORT_LEN], hi[SHORT_LEN], n[DP_COUNT_LEN];

	dp_buf_puts(out, "The hypervolume of observed fronts as evaluations end: the "
			 "mean over the members of each group and, as a band, where that "
			 "mean lies with 95 %. ");
	for (size_t i = 0; i < d->n; i++) {
		const struct fig_mean_growth *m = &d->of[i];
		size_t last = m->n - 1;
		double error = (m->hi[last] - m->lo[last]) / 4;

		dp_buf_printf(out, "%s%s after %s: %s", i ? "; " : "", d->g->by[0].group[i].name,
			      dp_count_text(m->evaluations, "evaluation", n),
			      measured_text(m->mean[last], error, mean));
		if (!isnan(m->lo[last]))
			dp_buf_printf(out, " (%s to %s, %zu members)",
				      measured_text(m->lo[last], error, lo),
				      measured_text(m->hi[last], error, hi),
				      d->g->by[0].group[i].n);
	}
	dp_buf_putc(out, '.');
	if (d->cut)
		dp_buf_puts(out, " Curves end where the shortest member of a group ends.");
}

const struct figure figure_hypervolume_groups = {
	.name = "hypervolume-groups",
	.title = "Hypervolume, mean over seeds",
	.of_groups = true,
	.chapter = FIGURE_OF_SEARCH,
	.size = sizeof(struct hypervolume_groups_data),
	.gather = hypervolume_groups_gather,
	.draw = hypervolume_groups_draw,
	.caption = hypervolume_groups_caption,
	.release = hypervolume_groups_release,
};
