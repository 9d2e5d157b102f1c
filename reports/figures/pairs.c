/* pairs.c - the model of the utility over every pair of the parameters that matter most.
 */
#include "reports/figures/space_internal.h"

#include <stdlib.h>

enum {
	SHOWN = 4,  /* parameters */
	COLUMNS = 3 /* of panels */
};

static bool applies(const struct report *r)
{
	const struct subject *s = r->nsubjects ? &r->subjects[0] : NULL;
	double share[DP_PARAMS_MAX];
	size_t param[DP_PARAMS_MAX];

	return s && s->models && s->s->ok && space_free(s->s->spec, param) > 2 &&
	       space_model_shares(s, s->y, share);
}

static int draw_pair(struct plot_panel *a, const struct subject *s,
		     const struct dp_trial *through, size_t x, size_t y, size_t side,
		     struct dp_err *err)
{
	const struct dp_objective *o = &s->s->spec->objectives[s->y];
	size_t p = s->s->spec->nobjectives;
	struct space_prediction known = { 0 };
	struct space_slice c;
	double *z = NULL;
	int code = space_slice_over(s, through, x, y, side, &c, err);

	if (code == DP_OK)
		code = space_predict(&c, &known, err);
	if (code == DP_OK && !(z = malloc(space_size(&c) * sizeof *z)))
		code = fig_nomem(err);
	for (size_t i = 0; code == DP_OK && i < space_size(&c); i++)
		z[i] = known.y[i * p + s->y].value;
	if (code == DP_OK) {
		space_heat(a, &c, z, o, o->name);
		space_mark_through(a, &c);
	}
	free(z);
	space_prediction_free(&known);
	space_slice_free(&c);
	return code;
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	const struct dp_trial *through;
	size_t shown[SHOWN], n, all, pairs, at = 0;
	int code = space_incumbent(s, &through, err), rows;

	*out = NULL;
	if (code != DP_OK)
		return code;
	n = space_shown(s, through->x, SHOWN, shown, &all);
	pairs = n * (n - 1) / 2;
	rows = (int)(pairs + COLUMNS - 1) / COLUMNS;
	code = fig_new(r, figure_pairs.title, 1080, 60 + 310 * rows, out, err);
	if (code == DP_OK)
		plot_grid(*out, rows, COLUMNS);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		for (size_t k = i + 1; code == DP_OK && k < n; k++, at++)
			code = draw_pair(
				plot_panel(*out, (int)at / COLUMNS, (int)at % COLUMNS), s,
				through, shown[i], shown[k], space_side(s, pairs), err);
	return fig_end(code, out);
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	const struct dp_trial *through;
	size_t shown[SHOWN], n, all;
	struct dp_err err;

	if (space_incumbent(s, &through, &err) != DP_OK)
		return;
	n = space_shown(s, through->x, SHOWN, shown, &all);
	dp_buf_printf(out, "The model's %s over each pair of ",
		      s->s->spec->objectives[s->y].name);
	if (n < all)
		dp_buf_printf(out, "the %zu parameters that matter most", n);
	else
		dp_buf_puts(out, "parameters");
	dp_buf_puts(out, ", on planes through ");
	space_say_trial(s, through, out);
	dp_buf_puts(out, ", the ring.");
}

const struct figure figure_pairs = { "pairs.png", "Pairs of parameters", applies, draw,
				     caption };
