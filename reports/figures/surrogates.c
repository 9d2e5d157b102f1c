/* surrogates.c - what the models believe: both objectives over the parameters that matter
 * most, the front without its noise, and where to look next. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/common/param_space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct surrogates_data {
	const struct study_data *s;
	struct space_slice slice;
	/* What the models say in every cell. */
	struct surrogate_prediction {
		size_t objective;
		bool is_exact; /* known without uncertainty */
		double *mean, *lo, *hi;
		struct fig_points points; /* evaluated points: in the plane, or against the
					   * only parameter */
	} predictions[2];
	double *acquisition;
	size_t n_blank;   /* cells that the models know too little of */
	size_t best_cell; /* the cell that promises most; the number of cells: none does */
	/* What it promises, as a share of the hypervolume that there is; NaN: that is not
	 * what the study looks for, or there is none yet. */
	double expected_gain;
	bool gain_is_implausible; /* the promise; none is shown then */
	/* On the plane of the objectives; `evaluated` are those that are drawn. */
	struct fig_points all, evaluated, front, smoothed;
	struct fig_points front_staircase, smoothed_staircase;
	struct fig_reference_front reference;
};

/* ---- gathering ---- */

static int gather_surrogate_prediction(const struct surrogates_data *d,
				       const struct space_prediction *known,
				       struct surrogate_prediction *b, struct dp_err *err)
{
	const struct space_slice *c = &d->slice;
	size_t n = space_count_cells(c), p = d->s->state->spec->nobjectives;
	struct space_coordinate x = { false, c->x.param };
	struct space_coordinate y = { !c->y.n, c->y.n ? c->y.param : b->objective };

	b->mean = dp_malloc(n * sizeof *b->mean);
	b->lo = dp_malloc(n * sizeof *b->lo);
	b->hi = dp_malloc(n * sizeof *b->hi);
	if (!b->mean || !b->lo || !b->hi)
		return fig_nomem(err);
	b->is_exact = known->y[b->objective].model_sd == 0;
	space_predicted_objective(c, known, b->objective, b->mean);
	for (size_t i = 0; i < n; i++) {
		b->lo[i] = known->y[i * p + b->objective].lo;
		b->hi[i] = known->y[i * p + b->objective].hi;
	}
	return space_collect_points(d->s, NULL, x, y, &b->points, err);
}

static bool is_continuous_axis(const struct surrogates_data *d, const struct space_cells *c)
{
	return c->n && d->s->state->spec->params[c->param].kind == DP_PARAM_FLOAT;
}

/* A model that promises more than all that was reached so far extrapolates: such a place
 * is not to be recommended. */
static void check_expected_gain(struct surrogates_data *d)
{
	const struct dp_study *spec = d->s->state->spec;
	enum dp_acquisition what = spec->search.acquisition;
	double there = fmax(d->s->state->hypervolume, d->s->smoothed.hypervolume);

	d->expected_gain = NAN;
	if (d->best_cell == space_count_cells(&d->slice) || !(there > 0) ||
	    (what != DP_ACQUISITION_DEFAULT && what != DP_ACQUISITION_EHVI) ||
	    dp_study_cost(spec) != DP_COST_NONE)
		return;
	d->expected_gain = d->acquisition[d->best_cell] / there;
	d->gain_is_implausible = d->expected_gain > 1;
}

/* The free cell where the acquisition is largest, if it is more than as good as 0. What
 * has been evaluated is not proposed again. Among real numbers that says nothing of a
 * cell around, and it keeps its colour. */
static int find_best_acquisition(struct surrogates_data *d, struct dp_err *err)
{
	const struct space_slice *c = &d->slice;
	bool real = is_continuous_axis(d, &c->x) || is_continuous_axis(d, &c->y);
	size_t n = space_count_cells(c);
	bool *taken = dp_malloc(n * sizeof *taken);
	double most = 1e-12;
	size_t count;
	int code = taken ? space_mark_evaluated_cells(c, taken, &count, err) : fig_nomem(err);

	if (code != DP_OK) {
		free(taken);
		return code;
	}
	d->best_cell = n;
	for (size_t i = 0; i < n; i++) {
		if (taken[i] && (!real || !c->y.n)) /* on a line it would be a spike */
			d->acquisition[i] = NAN;
		if (taken[i] || !(d->acquisition[i] > most) || isinf(d->acquisition[i]))
			continue;
		most = d->acquisition[i];
		d->best_cell = i;
	}
	free(taken);
	check_expected_gain(d);
	return DP_OK;
}

/* Both objectives and the acquisition, from one prediction. */
static int gather_surrogate_predictions(struct surrogates_data *d, struct dp_err *err)
{
	struct space_prediction known = { 0 };
	int code = space_predict(&d->slice, &known, err);

	d->predictions[0].objective = d->s->x_obj;
	d->predictions[1].objective = d->s->y_obj;
	for (int i = 0; code == DP_OK && i < 2; i++)
		code = gather_surrogate_prediction(d, &known, &d->predictions[i], err);
	d->acquisition = known.acquisition;
	d->n_blank = known.n_blank;
	known.acquisition = NULL;
	space_prediction_free(&known);
	return code == DP_OK ? find_best_acquisition(d, err) : code;
}

static int gather_fronts(struct surrogates_data *d, struct dp_err *err)
{
	const struct study_data *s = d->s;
	int code;

	if ((code = fig_collect_points(s, &d->all, err)) != DP_OK ||
	    (code = fig_filter_front(s, &d->all, &d->front, err)) != DP_OK ||
	    (code = fig_staircase(s, &d->front, NAN, NAN, &d->front_staircase, err)) != DP_OK ||
	    (code = fig_smoothed_front(s, &d->smoothed, err)) != DP_OK ||
	    (code = fig_staircase(s, &d->smoothed, NAN, NAN, &d->smoothed_staircase, err)) != DP_OK)
		return code;
	return space_collect_points(s, NULL, (struct space_coordinate){ true, s->x_obj },
				    (struct space_coordinate){ true, s->y_obj }, &d->evaluated,
				    err);
}

static int surrogates_gather(const struct report_data *r, void *data, const char **why,
			     struct dp_err *err)
{
	struct surrogates_data *d = data;
	int code;

	d->s = fig_main_study(r, why);
	if (d->s && (!d->s->surrogates || !d->s->npoints))
		*why = "there are no models";
	else if (d->s && study_data_find_untrusted(d->s))
		*why = study_data_find_untrusted(d->s)->reason;
	if (*why)
		return DP_OK;
	if ((code = space_slice(d->s, false, &d->slice, err)) != DP_OK ||
	    (code = gather_surrogate_predictions(d, err)) != DP_OK)
		return code;
	if (4 * d->n_blank > 3 * space_count_cells(&d->slice))
		*why = "the models know too little of what it would show";
	if (*why)
		return DP_OK;
	code = gather_fronts(d, err);
	if (code == DP_OK)
		code = fig_reference_front_load(r, NAN, &d->reference, err);
	if (code == DP_OK)
		fig_reference_front_compare(&d->reference, d->s, &d->front);
	return code;
}

static void surrogates_release(void *data)
{
	struct surrogates_data *d = data;

	space_slice_free(&d->slice);
	for (int i = 0; i < 2; i++) {
		free(d->predictions[i].mean);
		free(d->predictions[i].lo);
		free(d->predictions[i].hi);
		fig_points_free(&d->predictions[i].points);
	}
	free(d->acquisition);
	fig_points_free(&d->all);
	fig_points_free(&d->evaluated);
	fig_points_free(&d->front);
	fig_points_free(&d->smoothed);
	fig_points_free(&d->front_staircase);
	fig_points_free(&d->smoothed_staircase);
	fig_reference_front_free(&d->reference);
}

/* ---- the models ---- */

static void set_prediction_title(struct plot_panel *a, const struct surrogates_data *d,
				 const struct surrogate_prediction *b)
{
	char text[DP_NAME_MAX + 40];

	snprintf(text, sizeof text, "%s, %s", d->s->state->spec->objectives[b->objective].name,
		 b->is_exact ? "computed exactly" : "predicted by the model");
	panel_title(a, text);
}

static void draw_prediction_map(struct plot_panel *a, const struct surrogates_data *d,
				const struct surrogate_prediction *b)
{
	struct plot_style white = space_background_style(b->points.n, true);
	struct dp_buf label = DP_BUF_INIT;

	set_prediction_title(a, d, b);
	fig_label(d->s, b->objective, &label);
	space_heat(a, &d->slice, b->mean, &d->s->state->spec->objectives[b->objective],
		   panel_buf_text(a, &label));
	panel_points(a, &white, NULL, b->points.x, b->points.y, b->points.n);
	space_draw_anchor(a, &d->slice);
	dp_buf_free(&label);
}

/* With one parameter: mean, 95 % interval and the evaluations. */
static void draw_prediction_line(struct plot_panel *a, const struct surrogates_data *d,
				 const struct surrogate_prediction *b)
{
	const struct space_cells *x = &d->slice.x;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.3 };
	struct plot_style dots = { .colour = plot_palette(PLOT_BLACK), .size = 5, .outline = true };

	set_prediction_title(a, d, b);
	space_axis(a, PLOT_X, d->s->state->spec, x->param);
	fig_axis(a, PLOT_Y, d->s, b->objective,
		 fig_objective_scale(d->s, b->objective, b->mean, x->n));
	if (!b->is_exact)
		panel_band(a, &area, "95 % interval", x->centre, b->lo, b->hi, x->n, false);
	panel_line(a, &blue, b->is_exact ? "computed" : "model", x->centre, b->mean, x->n);
	panel_points(a, &dots, "evaluated", b->points.x, b->points.y, b->points.n);
}

/* ---- the fronts ---- */

/* A staircase with its points, which alone show where it has but one. */
static void draw_stairs(struct plot_panel *a, const struct fig_points *front,
			const struct fig_points *stairs, const struct plot_style *style,
			const char *name)
{
	if (!front->n)
		return;
	panel_line(a, style, name, stairs->x, stairs->y, stairs->n);
	panel_points(a, style, NULL, front->x, front->y, front->n);
}

static void draw_observed_and_smoothed(struct plot_panel *a, const struct surrogates_data *d)
{
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 3, .size = 7 };
	struct plot_style orange = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5, .size = 4 };
	struct plot_style light = space_background_style(d->evaluated.n, false);

	panel_title(a,
		    d->front.n ? "observed front and the models'" : "no front: no point qualifies");
	fig_axis(a, PLOT_X, d->s, d->s->x_obj,
		 fig_objective_scale(d->s, d->s->x_obj, d->all.x, d->all.n));
	fig_axis(a, PLOT_Y, d->s, d->s->y_obj,
		 fig_objective_scale(d->s, d->s->y_obj, d->all.y, d->all.n));
	fig_reference_front_draw(a, &d->reference);
	panel_points(a, &light, "evaluated", d->evaluated.x, d->evaluated.y, d->evaluated.n);
	draw_stairs(a, &d->front, &d->front_staircase, &blue, "observed");
	draw_stairs(a, &d->smoothed, &d->smoothed_staircase, &orange, "without noise");
}

/* ---- the acquisition ---- */

/* What the study maximises; NULL: it takes random points. */
static const char *acquisition_name(const struct dp_study *s)
{
	switch (s->search.acquisition) {
	case DP_ACQUISITION_DEFAULT:
	case DP_ACQUISITION_EHVI:
		return "expected gain of hypervolume";
	case DP_ACQUISITION_HVPOI:
		return "hypervolume-based PoI";
	case DP_ACQUISITION_POI:
		return "probability of improvement";
	case DP_ACQUISITION_RANDOM:
		break;
	}
	return NULL;
}

/* The same with what it is divided by. */
static void acquisition_label(const struct dp_study *s, char *out, size_t size)
{
	const char *by = dp_study_cost_text(s);

	if (dp_study_cost(s) == DP_COST_PATH)
		by = s->params[s->trainer.learning_curve.param].name;
	if (dp_study_cost(s) == DP_COST_NONE)
		snprintf(out, size, "%s", acquisition_name(s));
	else
		snprintf(out, size, "%s / %s", acquisition_name(s), by);
}

static bool has_plausible_gain(const struct surrogates_data *d)
{
	return d->best_cell < space_count_cells(&d->slice) && !d->gain_is_implausible;
}

static void append_best_cell(const struct surrogates_data *d, struct dp_buf *out)
{
	const struct space_slice *c = &d->slice;
	const struct dp_study *spec = d->s->state->spec;

	dp_buf_printf(out, "%s ", spec->params[c->x.param].name);
	space_append_value(spec, c->x.param, c->x.centre[d->best_cell % c->x.n], out);
	if (!c->y.n)
		return;
	dp_buf_printf(out, ", %s ", spec->params[c->y.param].name);
	space_append_value(spec, c->y.param, c->y.centre[d->best_cell / c->x.n], out);
}

static void draw_star(struct plot_panel *a, double x, double y)
{
	struct plot_style under = { .colour = 0xffffff, .marker = PLOT_STAR, .size = 20 };
	struct plot_style red = { .colour = plot_palette(PLOT_VERMILLION),
				  .marker = PLOT_STAR,
				  .size = 15 };

	panel_points(a, &under, NULL, &x, &y, 1);
	panel_points(a, &red, NULL, &x, &y, 1);
}

static void draw_acquisition(struct plot_panel *a, const struct surrogates_data *d)
{
	const struct space_slice *c = &d->slice;
	struct plot_style line = { .colour = plot_palette(PLOT_PURPLE), .width = 2 };
	const char *name = acquisition_name(d->s->state->spec);
	char label[DP_NAME_MAX + 40];

	if (name)
		acquisition_label(d->s->state->spec, label, sizeof label);
	panel_title(a, c->nfree > 2 ? "where in this plane to look next" : "where to look next");
	if (!name || !has_plausible_gain(d)) {
		panel_set_empty_text(a, !name ? "This study takes random points"
					: d->gain_is_implausible
						? "More is promised than can be believed"
						: "No new point promises anything here");
	} else if (c->y.n) {
		space_heat(a, c, d->acquisition, NULL, label);
		draw_star(a, c->x.centre[d->best_cell % c->x.n],
			  c->y.centre[d->best_cell / c->x.n]);
	} else {
		space_axis(a, PLOT_X, d->s->state->spec, c->x.param);
		panel_axis(a, PLOT_Y, label, PLOT_LINEAR);
		panel_limits(a, PLOT_Y, 0, 1.1 * d->acquisition[d->best_cell]);
		panel_line(a, &line, NULL, c->x.centre, d->acquisition, c->x.n);
		draw_star(a, c->x.centre[d->best_cell], d->acquisition[d->best_cell]);
	}
}

/* ---- the figure ---- */

static struct plot *surrogates_draw(const void *data)
{
	const struct surrogates_data *d = data;
	struct plot *p = fig_new(d->s, figure_surrogates.title, 920, 760);

	plot_grid(p, 2, 2);
	for (int i = 0; i < 2; i++) {
		struct plot_panel *a = plot_panel(p, 0, i);

		if (d->slice.y.n)
			draw_prediction_map(a, d, &d->predictions[i]);
		else
			draw_prediction_line(a, d, &d->predictions[i]);
	}
	draw_observed_and_smoothed(plot_panel(p, 1, 0), d);
	draw_acquisition(plot_panel(p, 1, 1), d);
	return p;
}

/* "; the star marks the most promising place, b 0.5, where 3.2 % more hypervolume is
 * expected" */
static void append_expected_gain(const struct surrogates_data *d, struct dp_buf *out)
{
	enum {
		NEGLIGIBLE_GAIN_DIVISOR = 1000 /* a gain below one part of so many is none */
	};
	char text[FIG_NUMBER_LEN];

	if (acquisition_name(d->s->state->spec) && d->gain_is_implausible)
		dp_buf_puts(out, "; they promise more than was reached in all so far, "
				 "which is not to be believed");
	if (!acquisition_name(d->s->state->spec) || !has_plausible_gain(d))
		return;
	dp_buf_puts(out, "; the star marks the most promising place, ");
	append_best_cell(d, out);
	if (d->expected_gain * NEGLIGIBLE_GAIN_DIVISOR < 1)
		dp_buf_puts(out, ", but less than 0.1 % more hypervolume is expected "
				 "there");
	else if (!isnan(d->expected_gain))
		dp_buf_printf(out, ", where %s %% more hypervolume is expected",
			      fig_percent(d->expected_gain, text));
}

static void append_front_sizes(const struct surrogates_data *d, struct dp_buf *out)
{
	if (d->front.n) {
		dp_buf_puts(out, "the observed front of ");
		fig_count(out, d->front.n, "point");
		dp_buf_printf(out, ", and of %zu once the models take the noise away",
			      d->smoothed.n);
	} else {
		dp_buf_puts(out, "there is no front yet");
	}
	append_expected_gain(d, out);
	dp_buf_putc(out, '.');
}

static void surrogates_caption(const void *data, struct dp_buf *out)
{
	const struct surrogates_data *d = data;

	dp_buf_puts(out, "Top: the models of ");
	fig_count(out, d->s->history.n, "result");
	dp_buf_printf(out, ", with the sampled points %s. Bottom: ",
		      d->slice.y.n ? "in white" : "as dots");
	append_front_sizes(d, out);
	fig_reference_front_append(&d->reference, out);
	if (d->n_blank)
		dp_buf_puts(out, " Nothing is shown where the models know too little, "
				 "far from what was tested.");
	space_append_slice(&d->slice, out);
}

const struct figure figure_surrogates = {
	.name = "surrogates",
	.title = "What the models believe",
	.chapter = FIGURE_CHAPTER_SURROGATES,
	.data_size = sizeof(struct surrogates_data),
	.gather = surrogates_gather,
	.draw = surrogates_draw,
	.caption = surrogates_caption,
	.free_data = surrogates_release,
};
