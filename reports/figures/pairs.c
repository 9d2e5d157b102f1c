/* pairs.c - the model of the utility over every pair of the parameters that matter most.
 */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdlib.h>

enum {
	SHOWN = 4,  /* parameters */
	PAIRS = 6,  /* of these */
	COLUMNS = 3 /* of panels */
};

struct pairs_data {
	const struct subject *s;
	struct space_through through; /* the result that all planes go through */
	size_t shown, all;            /* parameters */
	size_t n;                     /* pairs */
	double lo, hi;                /* of the utility over all of them */
	struct pair {
		struct space_slice slice;
		double *z; /* (cells of the slice) the model's utility */
	} pair[PAIRS];
	bool blank; /* there are cells that the model knows too little of */
};

static int gather_pair(struct pairs_data *d, size_t x, size_t y, size_t side, struct dp_err *err)
{
	struct space_prediction known = { 0 };
	struct pair *p = &d->pair[d->n++];
	int code = space_slice_over(d->s, &d->through, x, y, side, &p->slice, err);

	if (code == DP_OK && !(p->z = malloc(space_size(&p->slice) * sizeof *p->z)))
		code = fig_nomem(err);
	if (code == DP_OK)
		code = space_predict(&p->slice, &known, err);
	if (code == DP_OK)
		space_predicted(&p->slice, &known, d->s->y, p->z);
	for (size_t i = 0; code == DP_OK && i < space_size(&p->slice); i++) {
		d->lo = fmin(d->lo, p->z[i]);
		d->hi = fmax(d->hi, p->z[i]);
	}
	d->blank |= known.blank > 0;
	space_prediction_free(&known);
	return code;
}

static int gather_pairs(struct pairs_data *d, struct dp_err *err)
{
	size_t param[SHOWN], side;
	int code = space_incumbent(d->s, &d->through, err);

	if (code != DP_OK)
		return code;
	d->lo = INFINITY;
	d->hi = -INFINITY;
	d->shown = space_shown(d->s, SHOWN, param, &d->all);
	side = space_side(d->s, d->shown * (d->shown - 1) / 2);
	for (size_t i = 0; code == DP_OK && i < d->shown; i++)
		for (size_t k = i + 1; code == DP_OK && k < d->shown; k++)
			code = gather_pair(d, param[i], param[k], side, err);
	return code;
}

static int pairs_gather(const struct report *r, void *data, const char **why, struct dp_err *err)
{
	struct pairs_data *d = data;
	size_t param[DP_PARAMS_MAX];

	d->s = fig_first(r, why);
	if (!d->s)
		return DP_OK;
	if (!d->s->models || !d->s->npoints || !d->s->fit[d->s->y].modelled)
		*why = "there is no model of the utility";
	else if (!subject_trusts(d->s, d->s->y))
		*why = d->s->fit[d->s->y].why;
	else if (space_free(d->s->s->spec, param) < 3)
		*why = "pairs need three parameters that are not fixed";
	return *why ? DP_OK : gather_pairs(d, err);
}

static void pairs_release(void *data)
{
	struct pairs_data *d = data;

	for (size_t i = 0; i < d->n; i++) {
		space_slice_free(&d->pair[i].slice);
		free(d->pair[i].z);
	}
}

static struct plot *pairs_draw(const void *data)
{
	const struct pairs_data *d = data;
	const struct dp_objective *o = &d->s->s->spec->objectives[d->s->y];
	const double ends[] = { d->lo, d->hi };
	int rows = (int)(d->n + COLUMNS - 1) / COLUMNS;
	struct plot *p = fig_new(d->s, figure_pairs.title, 1080, 60 + 310 * rows);

	plot_grid(p, rows, COLUMNS);
	for (int i = 0; i < (int)d->n; i++) {
		struct plot_panel *a = plot_panel(p, i / COLUMNS, i % COLUMNS);

		space_heat(a, &d->pair[i].slice, d->pair[i].z, o, o->name);
		panel_heat_limits(a, space_heat_scale(o, ends, 2), d->lo, d->hi);
		space_mark_through(a, &d->pair[i].slice);
	}
	return p;
}

static void pairs_caption(const void *data, struct dp_buf *out)
{
	const struct pairs_data *d = data;

	dp_buf_printf(out, "The model's %s over each pair of ",
		      d->s->s->spec->objectives[d->s->y].name);
	if (d->shown < d->all)
		dp_buf_printf(out, "the %zu parameters that matter most", d->shown);
	else
		dp_buf_puts(out, "parameters");
	dp_buf_puts(out, ", on planes through ");
	space_say_point(d->s, d->through.point, out);
	dp_buf_puts(out, ", the ring. Colours mean the same in each panel.");
	if (d->blank)
		dp_buf_puts(out, " It knows too little of what is left blank.");
}

const struct figure figure_pairs = {
	.name = "pairs",
	.title = "Pairs of parameters",
	.chapter = FIGURE_OF_PARAMETERS,
	.size = sizeof(struct pairs_data),
	.gather = pairs_gather,
	.draw = pairs_draw,
	.caption = pairs_caption,
	.release = pairs_release,
};
