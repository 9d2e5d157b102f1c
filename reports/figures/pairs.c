/* pairs.c - the model of the utility over every pair of the parameters that matter most.
 */
#include "reports/figures/common/param_space_internal.h"

#include <math.h>
#include <stdlib.h>

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

static int gather_pair(struct pairs_data *d, size_t x, size_t y, size_t side, struct dp_err *err)
{
	struct space_prediction known = { 0 };
	struct parameter_pair *p = &d->pair[d->n++];
	int code = space_slice_over(d->s, &d->anchor, x, y, side, &p->slice, err);

	if (code == DP_OK &&
	    !(p->predictions = dp_malloc(space_count_cells(&p->slice) * sizeof *p->predictions)))
		code = fig_nomem(err);
	if (code == DP_OK)
		code = space_predict(&p->slice, &known, err);
	if (code == DP_OK)
		space_predicted_objective(&p->slice, &known, d->s->y_obj, p->predictions);
	for (size_t i = 0; code == DP_OK && i < space_count_cells(&p->slice); i++) {
		d->lo = fmin(d->lo, p->predictions[i]);
		d->hi = fmax(d->hi, p->predictions[i]);
	}
	d->has_blank_cells |= known.n_blank > 0;
	space_prediction_free(&known);
	return code;
}

static int gather_pairs(struct pairs_data *d, struct dp_err *err)
{
	size_t param[PAIRED_PARAMETERS_MAX], side;
	int code = space_find_anchor(d->s, &d->anchor, err);

	if (code != DP_OK)
		return code;
	d->lo = INFINITY;
	d->hi = -INFINITY;
	d->shown = space_top_params(d->s, PAIRED_PARAMETERS_MAX, param, &d->all);
	side = space_choose_resolution(d->s, d->shown * (d->shown - 1) / 2);
	for (size_t i = 0; code == DP_OK && i < d->shown; i++)
		for (size_t k = i + 1; code == DP_OK && k < d->shown; k++)
			code = gather_pair(d, param[i], param[k], side, err);
	return code;
}

static int pairs_gather(const struct report_data *r, void *data, const char **why,
			struct dp_err *err)
{
	struct pairs_data *d = data;
	size_t param[DP_PARAMS_MAX];

	d->s = fig_main_study(r, why);
	if (!d->s)
		return DP_OK;
	if (!d->s->surrogates || !d->s->npoints || !d->s->fit[d->s->y_obj].has_model)
		*why = "there is no model of the utility";
	else if (!study_data_trusts_surrogate(d->s, d->s->y_obj))
		*why = d->s->fit[d->s->y_obj].reason;
	else if (space_searched_params(d->s->state->spec, param) < 3)
		*why = "pairs need three parameters that are not fixed";
	return *why ? DP_OK : gather_pairs(d, err);
}

static void pairs_release(void *data)
{
	struct pairs_data *d = data;

	for (size_t i = 0; i < d->n; i++) {
		space_slice_free(&d->pair[i].slice);
		free(d->pair[i].predictions);
	}
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
	.free_data = pairs_release,
};
