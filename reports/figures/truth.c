/* truth.c - the true front under an empirical one, as far as another study, such as a
 * fine grid, knows it. */
#include "reports/figures/series.h"

#include "front/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int report_truth_check(const struct report *r, struct dp_err *err)
{
	if (!r->truth || r->nsubjects == 0 || fig_same_plane(&r->subjects[0], r->truth))
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"the front of '%s' cannot be the true one of '%s': their objectives "
		"differ",
		r->truth->s->spec->name, r->subjects[0].s->spec->name);
	return dp_hint(err,
		       "name, goal, metric and delta of the objectives shown have to "
		       "be the same");
}

double fig_area(const struct subject *s, const struct fig_points *p)
{
	const struct dp_objective *of_x = &s->s->spec->objectives[s->x];
	const struct dp_objective *of_y = &s->s->spec->objectives[s->y];
	double u = of_x->maximize ? -1 : 1, v = of_y->maximize ? -1 : 1, area = NAN;
	const double ref[2] = { u * of_x->anti_ideal, v * of_y->anti_ideal };
	double *rows = malloc(2 * p->n * sizeof *rows + 1);

	for (size_t i = 0; rows && i < p->n; i++) {
		rows[2 * i] = u * p->x[i];
		rows[2 * i + 1] = v * p->y[i];
	}
	if (rows && dp_hypervolume(rows, p->n, 2, ref, &area) != DP_OK)
		area = NAN;
	free(rows);
	return area;
}

int fig_truth(const struct report *r, double x_to, struct fig_truth *out,
	      struct dp_err *err)
{
	int code;

	*out = (struct fig_truth){ .s = r->truth };
	if (!r->truth)
		return DP_OK;
	code = fig_subject_front(r->truth, &out->front, err);
	if (code != DP_OK)
		return code;
	out->volume = fig_area(&r->subjects[0], &out->front);
	if (!isnan(x_to))
		fig_cut_tail(&r->subjects[0], &out->front);
	return fig_stairs(r->truth, &out->front, x_to, NAN, &out->stairs, err);
}

void fig_truth_draw(struct plot_panel *a, const struct fig_truth *t)
{
	struct plot_style line = { .colour = plot_palette(PLOT_BLACK),
				   .width = 5,
				   .opacity = 0.3 };
	char name[FIG_NAME_LEN], label[FIG_NAME_LEN + 20];

	if (!t->s)
		return;
	snprintf(label, sizeof label, "true front (%s)", fig_name(t->s, name));
	panel_line(a, &line, label, t->stairs.x, t->stairs.y, t->stairs.n);
}

void fig_truth_say(const struct fig_truth *t, const struct subject *s,
		   const struct fig_points *front, struct dp_buf *out)
{
	double share = t->s ? fig_area(s, front) / t->volume : NAN;
	char name[FIG_NAME_LEN];

	if (!isfinite(share))
		return;
	dp_buf_printf(out,
		      " The thick line is the true front, as far as study %s knows it; "
		      "the front dominates %.1f %% of what that dominates",
		      fig_name(t->s, name), 100 * share);
	dp_buf_puts(out, share > 1 ? ", more than all of it: the true front is measured, "
				     "too, and the best of many noisy results is luck."
				   : ".");
}

void fig_truth_free(struct fig_truth *t)
{
	fig_points_free(&t->front);
	fig_points_free(&t->stairs);
}
