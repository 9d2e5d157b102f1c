/* pairs.c - figure: the model of the utility over each pair of the most relevant parameters. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>

enum {
	PAIRED_PARAMETERS_MAX = 4, /* parameters */
	PARAMETER_PAIRS_MAX = 6,   /* pairs of them */
	PARAMETER_PAIR_COLUMNS = 3 /* columns of panels */
};

static int pairs_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct space_slice slices[PARAMETER_PAIRS_MAX];
	double *utility[PARAMETER_PAIRS_MAX];     /* (cells of the slice) predicted */
	double ends[2] = { INFINITY, -INFINITY }; /* range of the utility over all slices */
	size_t param[DP_PARAMS_MAX], shown, all, side, n = 0;
	const struct study_data *s;
	const struct dp_objective *o;
	struct space_anchor anchor; /* the result that all slices pass through */
	bool has_blank_cells = false;
	int rows, code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	if (!s->surrogates || !s->npoints || !s->fit[s->y_obj].has_model)
		return fig_nothing(err, "there is no model of the utility");
	if (!study_data_trusts_surrogate(s, s->y_obj))
		return fig_nothing(err, s->fit[s->y_obj].reason);
	if (space_searched_params(s->state->spec, param) < 3)
		return fig_nothing(err, "pairs need three parameters that are not fixed");
	o = &s->state->spec->objectives[s->y_obj];
	anchor = space_find_anchor(s);
	shown = space_top_params(s, PAIRED_PARAMETERS_MAX, param, &all);
	side = space_choose_resolution(s, shown * (shown - 1) / 2);
	for (size_t i = 0; i < shown; i++)
		for (size_t k = i + 1; k < shown; k++, n++) {
			struct space_slice *c = &slices[n];

			*c = space_slice_over(&f->mem, s, &anchor, param[i], param[k], side);
			utility[n] = space_values(&f->mem, c, s->y_obj);
			for (size_t m = 0; m < space_count_cells(c); m++) {
				ends[0] = fmin(ends[0], utility[n][m]);
				ends[1] = fmax(ends[1], utility[n][m]);
			}
			has_blank_cells |= c->n_blank > 0;
		}

	rows = (int)(n + PARAMETER_PAIR_COLUMNS - 1) / PARAMETER_PAIR_COLUMNS;
	f->plot = fig_new(s, figure_pairs.title, 1080, 60 + 310 * rows);
	plot_grid(f->plot, rows, PARAMETER_PAIR_COLUMNS);
	for (int i = 0; i < (int)n; i++) {
		struct plot_panel *a =
			plot_panel(f->plot, i / PARAMETER_PAIR_COLUMNS, i % PARAMETER_PAIR_COLUMNS);

		space_heat(a, &slices[i], utility[i], o, o->name);
		panel_heat_limits(a, space_heat_scale(o, ends, 2), ends[0], ends[1]);
		space_draw_anchor(a, &slices[i]);
	}

	dp_buf_printf(&f->caption, "The model's %s over each pair of ", o->name);
	if (shown < all)
		dp_buf_printf(&f->caption, "the %zu parameters that matter most", shown);
	else
		dp_buf_puts(&f->caption, "parameters");
	dp_buf_puts(&f->caption, ", on planes through ");
	space_append_result(s, anchor.point, &f->caption);
	dp_buf_puts(&f->caption, ", the ring. Colours mean the same in each panel.");
	if (has_blank_cells)
		dp_buf_puts(&f->caption, " It knows too little of what is left blank.");
	return DP_OK;
}

const struct figure figure_pairs = {
	.name = "pairs",
	.title = "Pairs of parameters",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.make = pairs_make,
};
