/* pairs.c - the model of the utility over every pair of the parameters that matter most.
 */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>

enum {
	PAIRED_PARAMETERS_MAX = 4, /* parameters */
	PARAMETER_PAIRS_MAX = 6,   /* of these */
	PARAMETER_PAIR_COLUMNS = 3 /* of panels */
};

struct pairs_data {
	const struct study_data *s;
	struct space_anchor anchor; /* the result that all planes go through */
	size_t shown, all;          /* parameters */
	size_t n;                   /* pairs */
	double lo, hi;              /* of the utility over all of them */
	struct parameter_pair {
		struct space_slice slice;
		double *predictions; /* (cells of the slice) the model's utility */
	} pair[PARAMETER_PAIRS_MAX];
	bool has_blank_cells; /* there are cells that the model knows too little of */
};

static int gather_pair(struct arena *mem, struct pairs_data *d, size_t x, size_t y, size_t side,
		       struct dp_err *err)
{
	struct parameter_pair *p = &d->pair[d->n++];
	const struct dp_study *spec = d->s->state->spec;
	size_t n;
	int code;

	p->slice = space_slice_over(mem, d->s, &d->anchor, x, y, side);
	n = space_count_cells(&p->slice);
	if ((code = space_predict(mem, &p->slice, err)) != DP_OK)
		return code;
	p->predictions = arena_calloc(mem, n, sizeof *p->predictions);
	for (size_t i = 0; i < n; i++) {
		double value = p->slice.predictions[i * spec->nobjectives + d->s->y_obj].value;

		p->predictions[i] = value;
		d->lo = fmin(d->lo, value);
		d->hi = fmax(d->hi, value);
	}
	d->has_blank_cells |= p->slice.n_blank > 0;
	return DP_OK;
}

static int pairs_gather(const struct report_data *r, struct arena *mem, void *data,
			struct dp_err *err)
{
	struct pairs_data *d = data;
	size_t param[DP_PARAMS_MAX], side;
	int code = fig_main_study(r, &d->s, err);

	if (code != DP_OK)
		return code;
	if (!d->s->surrogates || !d->s->npoints || !d->s->fit[d->s->y_obj].has_model)
		return fig_nothing(err, "there is no model of the utility");
	if (!study_data_trusts_surrogate(d->s, d->s->y_obj))
		return fig_nothing(err, d->s->fit[d->s->y_obj].reason);
	if (space_searched_params(d->s->state->spec, param) < 3)
		return fig_nothing(err, "pairs need three parameters that are not fixed");
	d->anchor = space_find_anchor(d->s);
	d->lo = INFINITY;
	d->hi = -INFINITY;
	d->shown = space_top_params(d->s, PAIRED_PARAMETERS_MAX, param, &d->all);
	side = space_choose_resolution(d->s, d->shown * (d->shown - 1) / 2);
	for (size_t i = 0; i < d->shown; i++)
		for (size_t k = i + 1; k < d->shown; k++)
			if ((code = gather_pair(mem, d, param[i], param[k], side, err)) != DP_OK)
				return code;
	return DP_OK;
}

static struct plot *pairs_draw(const void *data)
{
	const struct pairs_data *d = data;
	const struct dp_objective *o = &d->s->state->spec->objectives[d->s->y_obj];
	const double ends[] = { d->lo, d->hi };
	int rows = (int)(d->n + PARAMETER_PAIR_COLUMNS - 1) / PARAMETER_PAIR_COLUMNS;
	struct plot *p = fig_new(d->s, figure_pairs.title, 1080, 60 + 310 * rows);

	plot_grid(p, rows, PARAMETER_PAIR_COLUMNS);
	for (int i = 0; i < (int)d->n; i++) {
		struct plot_panel *a =
			plot_panel(p, i / PARAMETER_PAIR_COLUMNS, i % PARAMETER_PAIR_COLUMNS);

		space_heat(a, &d->pair[i].slice, d->pair[i].predictions, o, o->name);
		panel_heat_limits(a, space_heat_scale(o, ends, 2), d->lo, d->hi);
		space_draw_anchor(a, &d->pair[i].slice);
	}
	return p;
}

static void pairs_caption(const void *data, struct dp_buf *out)
{
	const struct pairs_data *d = data;

	dp_buf_printf(out, "The model's %s over each pair of ",
		      d->s->state->spec->objectives[d->s->y_obj].name);
	if (d->shown < d->all)
		dp_buf_printf(out, "the %zu parameters that matter most", d->shown);
	else
		dp_buf_puts(out, "parameters");
	dp_buf_puts(out, ", on planes through ");
	space_append_result(d->s, d->anchor.point, out);
	dp_buf_puts(out, ", the ring. Colours mean the same in each panel.");
	if (d->has_blank_cells)
		dp_buf_puts(out, " It knows too little of what is left blank.");
}

const struct figure figure_pairs = {
	.name = "pairs",
	.title = "Pairs of parameters",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.data_size = sizeof(struct pairs_data),
	.gather = pairs_gather,
	.draw = pairs_draw,
	.caption = pairs_caption,
};
