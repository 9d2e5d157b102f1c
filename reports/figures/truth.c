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
	return dp_hint(err, "name, goal, metric and delta of the objectives shown have to "
			    "be the same");
}

/* The area of the plane that points dominate, up to the anti-ideal of `s`. */
static int truth_area(const struct subject *s, const struct fig_points *p, double *area,
		      struct dp_err *err)
{
	const struct dp_objective *of_x = &s->s->spec->objectives[s->x];
	const struct dp_objective *of_y = &s->s->spec->objectives[s->y];
	double u = of_x->maximize ? -1 : 1, v = of_y->maximize ? -1 : 1;
	const double ref[2] = { u * of_x->anti_ideal, v * of_y->anti_ideal };
	double *rows = malloc(2 * p->n * sizeof *rows + 1);
	int code = rows ? DP_OK : DP_E_NOMEM;

	for (size_t i = 0; rows && i < p->n; i++) {
		rows[2 * i] = u * p->x[i];
		rows[2 * i + 1] = v * p->y[i];
	}
	if (code == DP_OK)
		code = dp_hypervolume(rows, p->n, 2, ref, area);
	free(rows);
	return code == DP_OK ? DP_OK : fig_nomem(err);
}

int fig_truth(const struct report *r, double x_to, struct fig_truth *out, struct dp_err *err)
{
	int code;

	*out = (struct fig_truth){ .s = r->truth, .share = NAN };
	if (!r->truth)
		return DP_OK;
	code = fig_subject_front(r->truth, &out->front, err);
	if (code == DP_OK)
		code = truth_area(&r->subjects[0], &out->front, &out->volume, err);
	if (code != DP_OK)
		return code;
	if (!isnan(x_to))
		fig_cut_tail(&r->subjects[0], &out->front);
	return fig_stairs(r->truth, &out->front, x_to, NAN, &out->stairs, err);
}

int fig_truth_weigh(struct fig_truth *t, const struct subject *s, const struct fig_points *front,
		    struct dp_err *err)
{
	double area = NAN;
	int code = t->s ? truth_area(s, front, &area, err) : DP_OK;

	t->share = area / t->volume;
	return code;
}

void fig_truth_draw(struct plot_panel *a, const struct fig_truth *t)
{
	struct plot_style line = { .colour = plot_palette(PLOT_BLACK), .width = 5, .opacity = 0.3 };
	char name[FIG_NAME_LEN], label[FIG_NAME_LEN + 20];

	if (!t->s)
		return;
	snprintf(label, sizeof label, "true front (%s)", fig_name(t->s, name));
	panel_line(a, &line, label, t->stairs.x, t->stairs.y, t->stairs.n);
}

void fig_truth_say(const struct fig_truth *t, struct dp_buf *out)
{
	char name[FIG_NAME_LEN];

	if (!t->s || !isfinite(t->share))
		return;
	dp_buf_printf(out,
		      " The thick line is the true front, as far as study %s knows it; "
		      "the front dominates %.1f %% of what that dominates",
		      fig_name(t->s, name), 100 * t->share);
	dp_buf_puts(out, t->share > 1 ? ", more than all of it: the true front is measured, "
					"too, and the best of many noisy results is luck."
				      : ".");
}

void fig_truth_free(struct fig_truth *t)
{
	fig_points_free(&t->front);
	fig_points_free(&t->stairs);
}
