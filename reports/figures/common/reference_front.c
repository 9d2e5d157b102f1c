/* reference_front.c - the reference front of another study, such as a fine grid, drawn under the
 * study's front. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdio.h>

int report_check_reference_front(const struct report_data *r, struct dp_err *err)
{
	if (!r->reference || r->nstudies == 0 || fig_same_plane(&r->studies[0], r->reference))
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"the front of '%s' cannot be the true one of '%s': their objectives "
		"differ",
		r->reference->state->spec->name, r->studies[0].state->spec->name);
	return dp_hint(err, "name, goal, metric and delta of the objectives shown have to "
			    "be the same");
}

struct fig_reference_front fig_reference_front_load(struct arena *mem, const struct report_data *r,
						    double x_to, const struct fig_points *compared)
{
	struct fig_reference_front t = { .study = r->reference, .covered_fraction = NAN };

	if (!t.study)
		return t;
	t.front = fig_study_front(mem, t.study);
	if (compared)
		t.covered_fraction = fig_dominated_area(&r->studies[0], compared) /
				     fig_dominated_area(&r->studies[0], &t.front);
	if (!isnan(x_to))
		fig_trim_front_tail(&r->studies[0], &t.front);
	t.staircase = fig_staircase(mem, t.study, &t.front, x_to, NAN);
	return t;
}

void fig_reference_front_draw(struct plot_panel *a, const struct fig_reference_front *t)
{
	struct plot_style line = { .colour = plot_palette(PLOT_BLACK), .width = 5, .opacity = 0.3 };
	char name[FIG_STUDY_NAME_LEN], label[FIG_STUDY_NAME_LEN + 20];

	if (!t->study)
		return;
	snprintf(label, sizeof label, "true front (%s)", fig_format_study_name(t->study, name));
	panel_line(a, &line, label, t->staircase.x, t->staircase.y, t->staircase.n);
}

void fig_reference_front_append(const struct fig_reference_front *t, struct dp_buf *out)
{
	char name[FIG_STUDY_NAME_LEN];

	if (!t->study || !isfinite(t->covered_fraction))
		return;
	dp_buf_printf(out,
		      " The thick line is the true front, as far as study %s knows it; "
		      "the front dominates %.1f %% of what that dominates",
		      fig_format_study_name(t->study, name), 100 * t->covered_fraction);
	dp_buf_puts(out, t->covered_fraction > 1
				 ? ", more than all of it: the true front is measured, "
				   "too, and the best of many noisy results is luck."
				 : ".");
}
