/* objectives.c - figure: pairs of three or more objectives. Colours of front points follow the
 * first objective. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

enum {
	PAIR_COLOUR_BINS = 5,    /* colours */
	PAIR_OBJECTIVES_MAX = 4, /* objectives shown at most */
	PAIR_COLUMNS = 3,        /* columns of panels */
};

/* The points of the study's front in the order of `front`, at smoothed values if other figures show
 * these. */
static struct fig_points gather_front_pair(struct arena *mem, const struct study_data *s,
					   const struct fig_points *front, size_t x, size_t y)
{
	struct fig_points out = fig_points_new(mem, front->n);

	for (size_t k = 0; k < front->n; k++) {
		size_t i = fig_front_index(s, front->results[k]);

		fig_add_point(&out, study_data_front_value(s, i, x),
			      study_data_front_value(s, i, y), front->results[k]);
	}
	return out;
}

/* `front`: the points on the plane of the first two objectives. */
static void draw_bins(struct plot_panel *a, const struct study_data *s,
		      const struct fig_points *front, const struct fig_points *p)
{
	size_t bins = p->n < PAIR_COLOUR_BINS ? p->n : PAIR_COLOUR_BINS;

	for (size_t k = 0; k < bins; k++) {
		size_t from = k * p->n / bins, to = (k + 1) * p->n / bins;
		char name[2 * FIG_NUMBER_LEN + 8], low[FIG_NUMBER_LEN], high[FIG_NUMBER_LEN];
		struct plot_style style = fig_dots(
			plot_colourmap_lookup(PLOT_VIRIDIS,
					      bins > 1 ? 0.9 * (double)k / (double)(bins - 1) : 0),
			p->n);

		style.size = fmax(style.size, 6); /* smaller colours are not visible */
		snprintf(name, sizeof name, "%s to %s", fig_value(s, s->x_obj, front->x[from], low),
			 fig_value(s, s->x_obj, front->x[to - 1], high));
		panel_points(a, &style, name, p->x + from, p->y + from, to - from);
		fig_add_tooltips(
			a, s, &(struct fig_points){ .results = p->results + from, .n = to - from },
			FIG_TOOLTIP_LINK | FIG_TOOLTIP_OTHER_AXES);
	}
}

static int objectives_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	const struct study_data *s;
	const struct dp_study *spec;
	size_t chosen[PAIR_OBJECTIVES_MAX], n = 2;
	struct fig_points front;
	char points[DP_PLURAL_LEN];
	int rows, panel = 0, code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	spec = s->state->spec;
	if (spec->nobjectives < 3)
		return fig_nothing(err, "there are two objectives, which the picture of the front "
					"shows");
	if (!space_has_front(s))
		return fig_nothing(err, "the study has no front");
	/* first the two shown elsewhere, then the others */
	chosen[0] = s->x_obj;
	chosen[1] = s->y_obj;
	for (size_t i = 0; i < spec->nobjectives && n < PAIR_OBJECTIVES_MAX; i++)
		if (i != s->x_obj && i != s->y_obj)
			chosen[n++] = i;
	front = fig_front_members(&f->mem, s);

	rows = (int)(n * (n - 1) / 2 + PAIR_COLUMNS - 1) / PAIR_COLUMNS;
	f->plot = fig_new(s, figure_objectives.title, 1080, 90 + 320 * rows);
	plot_grid(f->plot, rows, PAIR_COLUMNS);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++, panel++) {
			size_t x = chosen[i], y = chosen[k];
			struct plot_panel *a =
				plot_panel(f->plot, panel / PAIR_COLUMNS, panel % PAIR_COLUMNS);
			struct fig_points all = space_collect_points(
				&f->mem, s, NULL, SPACE_OBJECTIVE + x, SPACE_OBJECTIVE + y);
			struct fig_points members = gather_front_pair(&f->mem, s, &front, x, y);

			fig_axis(a, PLOT_X, s, x, fig_objective_scale(s, x, all.x, all.n));
			fig_axis(a, PLOT_Y, s, y, fig_objective_scale(s, y, all.y, all.n));
			fig_draw_background(a, "evaluated", &all);
			fig_add_tooltips(a, s, &all, FIG_TOOLTIP_OTHER_AXES);
			draw_bins(a, s, &front, &members);
		}

	dp_buf_printf(&f->caption,
		      "%s of the front of all %zu objectives, coloured by %s: a "
		      "point has the same colour in each panel.",
		      dp_plural_text(front.n, "point", points), spec->nobjectives,
		      spec->objectives[s->x_obj].name);
	if (spec->nobjectives > PAIR_OBJECTIVES_MAX)
		dp_buf_printf(&f->caption, " Shown are the pairs of %d objectives.",
			      PAIR_OBJECTIVES_MAX);
	return DP_OK;
}

const struct figure figure_objectives = {
	.name = "objectives",
	.title = "Objectives against each other",
	.chapter = FIGURE_CHAPTER_FRONT,
	.make = objectives_make,
};
