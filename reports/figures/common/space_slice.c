/* space_slice.c - slices of the parameter space: cells and the values in them. */
#include "reports/figures/common/param_space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SLICE_SIDE_MAX = 60, /* cells each way */
	SLICE_SIDE_MIN = 16,
	SLICE_LINE_MAX = 240,   /* cells of a line */
	INTEGER_CELLS_MAX = 40, /* integers with a cell of their own */
};

/* A model is too uncertain at a point if its variance exceeds this share of the prior variance, or
 * its 95% interval this share of the observed range. optimize/recommend/loo_diagnostics.c applies
 * the same limit to recommendations. */
static const double max_unknown_fraction = 0.5;

/* ---- cells ---- */

static struct space_cells space_cells_new(struct arena *mem, size_t param, size_t room)
{
	return (struct space_cells){ .param = param,
				     .centre = arena_calloc(mem, room, sizeof(double)),
				     .edge = arena_calloc(mem, room + 1, sizeof(double)) };
}

/* Halfway between two centres. At an end, as far outside as the edge on the other side. */
static double edge_between(const double *v, size_t n, size_t i, bool log_scale)
{
	double a, b;

	if (n == 1)
		return log_scale ? v[0] * (i ? 2 : 0.5) : v[0] + (i ? 0.5 : -0.5);
	if (i > 0 && i < n)
		return log_scale ? sqrt(v[i - 1] * v[i]) : (v[i - 1] + v[i]) / 2;
	a = i ? v[n - 1] : v[0];
	b = i ? v[n - 2] : v[1];
	return log_scale ? a * sqrt(a / b) : a + (a - b) / 2;
}

/* Drops repeated centres and computes the edges. */
static void finish_cells(struct space_cells *c, size_t n, bool log_scale)
{
	for (size_t i = 0; i < n; i++)
		if (i == 0 || c->centre[i] != c->centre[c->n - 1])
			c->centre[c->n++] = c->centre[i];
	for (size_t i = 0; c->n && i <= c->n; i++)
		c->edge[i] = edge_between(c->centre, c->n, i, log_scale);
}

struct space_cells space_split_range(struct arena *mem, const struct dp_study *s, size_t param,
				     size_t most)
{
	const struct dp_param *p = &s->params[param];
	bool named = p->kind == DP_PARAM_CATEGORICAL, whole = p->kind != DP_PARAM_FLOAT;
	double lo = whole ? ceil(p->lo) : p->lo, hi = whole ? floor(p->hi) : p->hi;
	struct space_cells out;

	if (named) {
		most = json_array_size(p->values);
		lo = 0;
		hi = (double)most - 1;
	} else if (whole && hi - lo + 1 < (double)most && !p->log_scale) {
		most = (size_t)(hi - lo) + 1;
	}
	out = space_cells_new(mem, param, most);
	/* both ends of the range are centres: optima are often there */
	for (size_t i = 0; i < most; i++) {
		double t = most > 1 ? (double)i / (double)(most - 1) : 0;
		double v = p->log_scale && !named ? lo * pow(hi / lo, t) : lo + t * (hi - lo);

		v = fmin(fmax(v, lo), hi);
		out.centre[i] = whole ? rint(v) : v;
	}
	finish_cells(&out, most, p->log_scale && !named);
	return out;
}

struct space_cells space_split_around_values(struct arena *mem, const struct dp_study *s,
					     size_t param, const double *values, size_t n)
{
	struct space_cells out;

	if (s->params[param].kind == DP_PARAM_CATEGORICAL)
		return space_split_range(mem, s, param, n);
	out = space_cells_new(mem, param, n);
	if (n)
		memcpy(out.centre, values, n * sizeof *values);
	qsort(out.centre, n, sizeof *values, fig_compare_doubles);
	finish_cells(&out, n, s->params[param].log_scale);
	return out;
}

/* The cell with centre v, or n. */
static size_t find_cell_of_value(const struct space_cells *c, double v)
{
	const double *at = bsearch(&v, c->centre, c->n, sizeof v, fig_compare_doubles);

	return at ? (size_t)(at - c->centre) : c->n;
}

/* ---- slices ---- */

size_t space_choose_resolution(const struct study_data *s, size_t panels)
{
	/* cost of a prediction for each cell: the square of the number of results */
	double n = (double)s->history.n + 100, work = 6e8 / (double)panels;

	if (!s->surrogates)
		return SLICE_SIDE_MAX / 2;
	return (size_t)fmin(fmax(sqrt(work / (n * n)), SLICE_SIDE_MIN), SLICE_SIDE_MAX);
}

size_t space_count_cells(const struct space_slice *c)
{
	return c->x.n * (c->y.n ? c->y.n : 1);
}

struct space_slice space_slice_over(struct arena *mem, const struct study_data *s,
				    const struct space_anchor *through, size_t x, size_t y,
				    size_t most)
{
	size_t param[DP_PARAMS_MAX];
	const size_t both[] = { x, y };
	struct space_slice out = { .s = s,
				   .anchor = *through,
				   .nfree = space_searched_params(s->state->spec, param) };
	struct space_cells *cells[] = { &out.x, &out.y };

	for (size_t k = 0; k < DP_COUNT(both); k++) {
		const struct dp_param *p = &s->state->spec->params[both[k]];
		bool few = p->kind == DP_PARAM_INT && p->hi - p->lo < INTEGER_CELLS_MAX;

		*cells[k] = space_split_range(mem, s->state->spec, both[k],
					      few ? INTEGER_CELLS_MAX : most);
	}
	return out;
}

/* Whether the parameters lie in the plane. Calibrated ones follow from the others. */
static bool in_slice(const struct space_slice *c, const double *x)
{
	const struct dp_study *s = c->s->state->spec;

	for (size_t i = 0; i < s->nparams; i++)
		if (i != c->x.param && !(c->y.n && i == c->y.param) &&
		    s->params[i].kind != DP_PARAM_CALIBRATED && x[i] != c->anchor.x[i])
			return false;
	return true;
}

/* Every trial, whatever its outcome, and the checkpoints among the results. The caller frees the
 * list. */
static struct dp_result_id *list_evaluated_points(const struct study_data *s, size_t *n)
{
	struct dp_result_id *all = dp_calloc(s->npoints + s->state->ntrials, sizeof *all);

	*n = 0;
	for (uint32_t i = 0; i < s->state->ntrials; i++)
		all[(*n)++] = (struct dp_result_id){ i, DP_CHECKPOINT_FINAL };
	for (size_t i = 0; i < s->npoints; i++)
		if (s->points[i].checkpoint != DP_CHECKPOINT_FINAL)
			all[(*n)++] = s->points[i];
	return all;
}

/* The cell with exactly this point, or the number of cells. */
static size_t point_cell(const struct space_slice *c, struct dp_result_id p)
{
	double v[DP_PARAMS_MAX];
	size_t x, y = 0;

	dp_result_get_params(c->s->state, p, v);
	x = find_cell_of_value(&c->x, v[c->x.param]);
	if (c->y.n)
		y = find_cell_of_value(&c->y, v[c->y.param]);
	if (x == c->x.n || (c->y.n && y == c->y.n) || !in_slice(c, v))
		return space_count_cells(c);
	return y * c->x.n + x;
}

size_t space_mark_evaluated_cells(const struct space_slice *c, bool *taken)
{
	size_t visited, n = 0;
	struct dp_result_id *all = list_evaluated_points(c->s, &visited);

	memset(taken, 0, space_count_cells(c) * sizeof *taken);
	for (size_t i = 0; i < visited; i++) {
		size_t at = point_cell(c, all[i]);

		if (at == space_count_cells(c))
			continue;
		n += !taken[at];
		taken[at] = true;
	}
	free(all);
	return n;
}

/* Cells around the evaluated values in the plane; n: the number of points. */
static struct space_cells split_around_evaluated(struct arena *mem, const struct space_slice *c,
						 size_t param, size_t *n)
{
	size_t visited;
	struct dp_result_id *all = list_evaluated_points(c->s, &visited);
	double *values = arena_calloc(mem, visited, sizeof *values);

	*n = 0;
	for (size_t i = 0; i < visited; i++) {
		double x[DP_PARAMS_MAX];

		dp_result_get_params(c->s->state, all[i], x);
		if (in_slice(c, x))
			values[(*n)++] = x[param];
	}
	free(all);
	return space_split_around_values(mem, c->s->state->spec, param, values, *n);
}

/* Replaces the cells by those of the evaluated points if these form a grid. */
static void try_grid(struct arena *mem, struct space_slice *c)
{
	struct space_slice g = *c;
	size_t n, cells;

	g.x = split_around_evaluated(mem, c, c->x.param, &n);
	g.y = split_around_evaluated(mem, c, c->y.param, &n);
	cells = space_count_cells(&g);
	if (g.x.n < 2 || g.y.n < 2 || cells > 2 * n)
		return;
	g.is_grid =
		2 * space_mark_evaluated_cells(&g, arena_calloc(mem, cells, sizeof(bool))) >= cells;
	if (g.is_grid)
		*c = g;
}

struct space_slice space_slice(struct arena *mem, const struct study_data *s, bool grid)
{
	size_t param[2], all, n = space_top_params(s, DP_COUNT(param), param, &all);
	struct space_anchor through = space_find_anchor(s);
	struct space_slice out = { .s = s, .anchor = through, .nfree = 1 };

	if (n == 1) {
		out.x = space_split_range(mem, s->state->spec, param[0], SLICE_LINE_MAX);
		return out;
	}
	out = space_slice_over(mem, s, &through, param[0], param[1], space_choose_resolution(s, 1));
	if (grid)
		try_grid(mem, &out);
	return out;
}

/* ---- values ---- */

static void cell_point(const struct space_slice *c, size_t cell, double *x)
{
	memcpy(x, c->anchor.x, c->s->state->spec->nparams * sizeof *x);
	x[c->x.param] = c->x.centre[cell % c->x.n];
	if (c->y.n)
		x[c->y.param] = c->y.centre[cell / c->x.n];
}

enum space_source space_source(const struct space_slice *c, size_t objective)
{
	if (c->is_grid)
		return SPACE_EVALUATED;
	if (c->s->state->spec->objectives[objective].privacy &&
	    !space_is_accountant_slow(c->s, objective))
		return SPACE_COMPUTED;
	return study_data_trusts_surrogate(c->s, objective) ? SPACE_PREDICTED : SPACE_NEAREST;
}

/* Mean of the evaluations in each cell of a grid. */
static void fill_mean_values(const struct space_slice *c, size_t objective, double *z)
{
	size_t n = space_count_cells(c), *count = dp_calloc(n, sizeof *count);

	for (size_t i = 0; i < c->s->npoints; i++) {
		struct dp_result_id p = c->s->points[i];
		double value = dp_result_get_objectives(c->s->state, p)[objective];
		size_t at = isfinite(value) ? point_cell(c, p) : n;

		if (at == n)
			continue;
		z[at] += value;
		count[at]++;
	}
	for (size_t i = 0; i < n; i++)
		z[i] = count[i] ? z[i] / (double)count[i] : NAN;
	free(count);
}

static void fill_accountant_values(const struct space_slice *c, size_t objective, double *z)
{
	double x[DP_PARAMS_MAX];
	struct dp_epsilon e;
	struct dp_err err;

	for (size_t i = 0; i < space_count_cells(c); i++) {
		cell_point(c, i, x);
		z[i] = NAN;
		if (space_epsilon(c->s->state->spec, objective, x, &e, &err) == DP_OK)
			z[i] = e.epsilon;
	}
}

/* The position of a value in the parameter's range, 0..1; categories are 1 apart. */
static double position_in_range(const struct dp_param *p, double v)
{
	if (p->kind == DP_PARAM_CATEGORICAL)
		return v;
	if (!(p->hi > p->lo))
		return 0;
	return p->log_scale ? log(v / p->lo) / log(p->hi / p->lo) : (v - p->lo) / (p->hi - p->lo);
}

static double distance_between(const struct dp_param *p, double a, double b)
{
	return p->kind == DP_PARAM_CATEGORICAL ? a != b : a - b;
}

static void fill_nearest_values(struct arena *mem, const struct space_slice *c, size_t objective,
				double *z)
{
	const struct dp_study_state *st = c->s->state;
	size_t x_param = c->x.param, y_param = c->y.n ? c->y.param : c->x.param;
	const struct dp_param *px = &st->spec->params[x_param], *py = &st->spec->params[y_param];
	struct fig_points at = space_collect_points(mem, c->s, NULL, x_param, y_param);

	for (size_t i = 0; i < at.n; i++) {
		at.x[i] = position_in_range(px, at.x[i]);
		at.y[i] = position_in_range(py, at.y[i]);
	}
	for (size_t i = 0; i < space_count_cells(c); i++) {
		double x = position_in_range(px, c->x.centre[i % c->x.n]), least = INFINITY;
		double y = c->y.n ? position_in_range(py, c->y.centre[i / c->x.n]) : x;

		z[i] = NAN;
		for (size_t k = 0; k < at.n; k++) {
			double dx = distance_between(px, x, at.x[k]),
			       dy = distance_between(py, y, at.y[k]);

			if (dx * dx + dy * dy < least) {
				least = dx * dx + dy * dy;
				z[i] = dp_result_get_objectives(st, at.results[k])[objective];
			}
		}
	}
}

double *space_values(struct arena *mem, struct space_slice *c, size_t objective)
{
	size_t n = space_count_cells(c), nobjectives = c->s->state->spec->nobjectives;
	double *z = arena_calloc(mem, n, sizeof *z);

	switch (space_source(c, objective)) {
	case SPACE_EVALUATED:
		fill_mean_values(c, objective, z);
		break;
	case SPACE_COMPUTED:
		fill_accountant_values(c, objective, z);
		break;
	case SPACE_NEAREST:
		fill_nearest_values(mem, c, objective, z);
		break;
	case SPACE_PREDICTED:
		space_predict(mem, c);
		for (size_t i = 0; i < n; i++)
			z[i] = c->predictions[i * nobjectives + objective].value;
		break;
	}
	return z;
}

static bool is_unknown(const struct surrogate_fit *fit, const struct dp_objective *o, double doubt,
		       const struct dp_prediction *y)
{
	double width = y->hi - y->lo, all = fit->max_observed - fit->min_observed;

	if (o->transform == DP_TRANSFORM_LOG && fit->min_observed > 0) {
		width = log(y->hi / y->lo);
		all = log(fit->max_observed / fit->min_observed);
	}
	return y->model_sd * y->model_sd > max_unknown_fraction * doubt * doubt ||
	       (all > 0 && width > max_unknown_fraction * all);
}

/* Blanks predictions and acquisition in cells where a model is too uncertain: the acquisition there
 * only reflects that. */
static void blank_unknown(struct space_slice *c)
{
	size_t nobjectives = c->s->state->spec->nobjectives;

	for (size_t k = 0; k < nobjectives; k++) {
		struct dp_surrogate_info info;

		if (!c->s->fit[k].has_model ||
		    dp_surrogate_get_info(c->s->surrogates, k, &info) != DP_OK)
			continue;
		for (size_t i = 0; i < space_count_cells(c); i++) {
			struct dp_prediction *y = &c->predictions[i * nobjectives + k];

			if (!is_unknown(&c->s->fit[k], &c->s->state->spec->objectives[k],
					info.prior_sd, y))
				continue;
			c->n_blank += !isnan(c->acquisition[i]);
			c->acquisition[i] = y->value = y->lo = y->hi = NAN;
		}
	}
}

void space_predict(struct arena *mem, struct space_slice *c)
{
	const struct dp_study *spec = c->s->state->spec;
	size_t n = space_count_cells(c);
	double *x;

	if (c->predictions)
		return;
	x = dp_calloc(n * spec->nparams, sizeof *x);
	c->predictions = arena_calloc(mem, n * spec->nobjectives, sizeof *c->predictions);
	c->acquisition = arena_calloc(mem, n, sizeof *c->acquisition);
	for (size_t i = 0; i < n; i++)
		cell_point(c, i, x + i * spec->nparams);
	dp_surrogate_predict(c->s->surrogates, x, n, c->predictions, NULL, c->acquisition);
	free(x);
	blank_unknown(c);
}

/* ---- drawing ---- */

enum plot_scale space_heat_scale(const struct dp_objective *o, const double *z, size_t n)
{
	double lo = INFINITY, hi = -INFINITY;

	if (!o || o->transform == DP_TRANSFORM_LOGIT)
		return PLOT_LINEAR;
	if (!o->privacy && o->transform != DP_TRANSFORM_LOG)
		return fig_scale(z, n);
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(z[i]))
			continue;
		lo = fmin(lo, z[i]);
		hi = fmax(hi, z[i]);
	}
	return lo > 0 && hi > (o->privacy ? 1 : 30) * lo ? PLOT_LOG : PLOT_LINEAR;
}

void space_heat(struct plot_panel *a, const struct space_slice *c, const double *z,
		const struct dp_objective *o, const char *label)
{
	const struct dp_study *spec = c->s->state->spec;

	space_axis(a, PLOT_X, spec, c->x.param);
	space_axis(a, PLOT_Y, spec, c->y.param);
	panel_heat(a, PLOT_VIRIDIS, c->x.edge, c->x.n, c->y.edge, c->y.n, z,
		   space_heat_scale(o, z, space_count_cells(c)), label);
	panel_limits(a, PLOT_X, c->x.edge[0], c->x.edge[c->x.n]);
	panel_limits(a, PLOT_Y, c->y.edge[0], c->y.edge[c->y.n]);
}

void space_objective_heat(struct plot_panel *a, const struct space_slice *c, size_t objective,
			  const double *z)
{
	struct dp_buf label = DP_BUF_INIT;

	fig_label(c->s, objective, &label);
	space_heat(a, c, z, &c->s->state->spec->objectives[objective], dp_buf_text(&label));
	dp_buf_free(&label);
}

void space_draw_anchor(struct plot_panel *a, const struct space_slice *c)
{
	/* a dark edge, visible beyond the colours */
	struct plot_style edge = {
		.colour = plot_palette(PLOT_BLACK), .marker = PLOT_RING, .size = 11, .width = 3.6
	};
	struct plot_style ring = edge;

	ring.colour = 0xffffff;
	ring.width = 2.2;
	if (c->nfree <= 2)
		return;
	panel_points(a, &edge, NULL, &c->anchor.x[c->x.param], &c->anchor.x[c->y.param], 1);
	panel_points(a, &ring, NULL, &c->anchor.x[c->x.param], &c->anchor.x[c->y.param], 1);
}

void space_append_slice(const struct space_slice *c, struct dp_buf *out)
{
	if (c->nfree <= 2)
		return;
	dp_buf_printf(out, " The plane of %s and %s, which matter most",
		      c->s->state->spec->params[c->x.param].name,
		      c->s->state->spec->params[c->y.param].name);
	dp_buf_printf(out, ", goes through ");
	space_append_result(c->s, c->anchor.point, out);
	dp_buf_puts(out, ", the ring; points are projected onto it.");
}
