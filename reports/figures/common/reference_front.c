/* reference_front.c - the true front under an empirical one, as far as another study, such as a
 * fine grid, knows it. */
#include "reports/figures/common/figure_data.h"

#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The area of the plane that points dominate, up to the reference point of `s`. */
static double compute_dominated_area(const struct study_data *s, const struct fig_points *p)
{
	const struct dp_objective *of_x = &s->state->spec->objectives[s->x_obj];
	const struct dp_objective *of_y = &s->state->spec->objectives[s->y_obj];
	double u = of_x->maximize ? -1 : 1, v = of_y->maximize ? -1 : 1, area;
	const double ref[2] = { u * of_x->anti_ideal, v * of_y->anti_ideal };
	double *rows = dp_malloc(2 * p->n * sizeof *rows + 1);

	for (size_t i = 0; i < p->n; i++) {
		rows[2 * i] = u * p->x[i];
		rows[2 * i + 1] = v * p->y[i];
	}
	area = dp_hypervolume(rows, p->n, 2, ref);
	free(rows);
	return area;
}

int fig_reference_front_load(const struct report_data *r, double x_to,
			     struct fig_reference_front *out, struct dp_err *err)
{
	int code;

	*out = (struct fig_reference_front){ .study = r->reference, .covered_fraction = NAN };
	if (!r->reference)
		return DP_OK;
	code = fig_study_front(r->reference, &out->front, err);
	if (code != DP_OK)
		return code;
	out->volume = compute_dominated_area(&r->studies[0], &out->front);
	if (!isnan(x_to))
		fig_trim_front_tail(&r->studies[0], &out->front);
	return fig_staircase(r->reference, &out->front, x_to, NAN, &out->staircase, err);
}

void fig_reference_front_compare(struct fig_reference_front *t, const struct study_data *s,
				 const struct fig_points *front)
{
	if (t->study)
		t->covered_fraction = compute_dominated_area(s, front) / t->volume;
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

void fig_reference_front_free(struct fig_reference_front *t)
{
	fig_points_free(&t->front);
	fig_points_free(&t->staircase);
}
