/* surrogates.c - figure: the models over the most relevant parameters, the smoothed front and the
 * acquisition. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"
#include "reports/figures/common/param_space_internal.h"

#include <math.h>
#include <stdio.h>

struct surrogates_data {
	const struct study_data *s;
	struct space_slice slice;
	size_t best_cell; /* cell with the largest acquisition; the number of cells: none */
	/* Its expected gain as a share of the current hypervolume. NaN: the study maximises
	 * something else, or the hypervolume is 0. */
	double expected_gain;
	bool gain_is_implausible; /* the gain is not shown then */
	/* on the objective plane */
	struct fig_points all, front, smoothed;
	struct fig_reference_front reference;
};

static bool is_continuous_axis(const struct surrogates_data *d, const struct space_cells *c)
{
	return c->n && d->s->state->spec->params[c->param].kind == DP_PARAM_FLOAT;
}

/* The unevaluated cell with the largest positive acquisition. Evaluated points are not proposed
 * again. With real parameters one point says nothing about its cell, which keeps its colour. */
static void find_best_acquisition(struct arena *mem, struct surrogates_data *d)
{
	const struct space_slice *c = &d->slice;
	bool real = is_continuous_axis(d, &c->x) || is_continuous_axis(d, &c->y);
	size_t n = space_count_cells(c);
	bool *taken = arena_calloc(mem, n, sizeof *taken);
	const struct dp_study *spec = d->s->state->spec;
	enum dp_acquisition what = spec->search.acquisition;
	double most = 1e-12, there = fmax(d->s->state->hypervolume, d->s->smoothed.hypervolume);

	space_mark_evaluated_cells(c, taken);
	d->best_cell = n;
	for (size_t i = 0; i < n; i++) {
		if (taken[i] && (!real || !c->y.n)) /* on a line it would be a spike */
			c->acquisition[i] = NAN;
		if (taken[i] || !(c->acquisition[i] > most) || isinf(c->acquisition[i]))
			continue;
		most = c->acquisition[i];
		d->best_cell = i;
	}
	d->expected_gain = NAN;
	if (d->best_cell == n || !(there > 0) || dp_study_cost(spec) != DP_COST_NONE ||
	    (what != DP_ACQUISITION_DEFAULT && what != DP_ACQUISITION_EHVI))
		return;
	/* A model that expects more gain than the whole hypervolume so far extrapolates: its point
	 * is not recommended. */
	d->expected_gain = most / there;
	d->gain_is_implausible = d->expected_gain > 1;
}

/* A map of the means; with one parameter: mean, 95% interval and evaluations. */
static void draw_prediction(struct plot_panel *a, struct arena *mem,
			    const struct surrogates_data *d, size_t objective)
{
	const struct space_slice *c = &d->slice;
	const struct dp_study *spec = d->s->state->spec;
	size_t n = space_count_cells(c), p = spec->nobjectives;
	bool is_exact = c->predictions[objective].model_sd == 0; /* no model uncertainty */
	struct fig_points at = space_collect_points(
		mem, d->s, NULL, c->x.param, c->y.n ? c->y.param : SPACE_OBJECTIVE + objective);
	struct plot_style white = fig_background_style(at.n, true);
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.3 };
	struct plot_style dots = { .colour = plot_palette(PLOT_BLACK), .size = 5, .outline = true };
	struct fig_band b = fig_band_new(mem, n);
	char title[DP_NAME_MAX + 40];

	for (size_t i = 0; i < n; i++) {
		const struct dp_prediction *y = &c->predictions[i * p + objective];

		fig_band_add(&b, c->x.centre[i % c->x.n], y->value, y->lo, y->hi);
	}
	snprintf(title, sizeof title, "%s, %s", spec->objectives[objective].name,
		 is_exact ? "computed exactly" : "predicted by the model");
	panel_title(a, title);
	if (c->y.n) {
		space_objective_heat(a, c, objective, b.mid);
		panel_points(a, &white, NULL, at.x, at.y, at.n);
		space_draw_anchor(a, c);
		return;
	}
	space_axis(a, PLOT_X, spec, c->x.param);
	fig_axis(a, PLOT_Y, d->s, objective, fig_objective_scale(d->s, objective, b.mid, n));
	if (!is_exact)
		panel_band(a, &area, "95 % interval", b.x, b.from, b.to, n, false);
	panel_line(a, &blue, is_exact ? "computed" : "model", b.x, b.mid, n);
	panel_points(a, &dots, "evaluated", at.x, at.y, at.n);
}

/* A staircase with its points; a single point has no line. */
static void draw_stairs(struct plot_panel *a, struct arena *mem, const struct study_data *s,
			const struct fig_points *front, const struct plot_style *style,
			const char *name)
{
	struct fig_points stairs = fig_staircase(mem, s, front, NAN, NAN);

	if (!front->n)
		return;
	panel_line(a, style, name, stairs.x, stairs.y, stairs.n);
	panel_points(a, style, NULL, front->x, front->y, front->n);
}

static void draw_observed_and_smoothed(struct plot_panel *a, struct arena *mem,
				       const struct surrogates_data *d)
{
	const struct study_data *s = d->s;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 3, .size = 7 };
	struct plot_style orange = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5, .size = 4 };
	struct fig_points evaluated = space_collect_points(mem, s, NULL, SPACE_OBJECTIVE + s->x_obj,
							   SPACE_OBJECTIVE + s->y_obj);

	panel_title(a,
		    d->front.n ? "observed front and the models'" : "no front: no point qualifies");
	fig_plane_axes_for(a, s, d->all.x, d->all.y, d->all.n);
	fig_reference_front_draw(a, &d->reference);
	fig_draw_background(a, "evaluated", &evaluated);
	draw_stairs(a, mem, s, &d->front, &blue, "observed");
	draw_stairs(a, mem, s, &d->smoothed, &orange, "without noise");
}

/* The acquisition function of the study; NULL: random search. */
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

static bool has_plausible_gain(const struct surrogates_data *d)
{
	return d->best_cell < space_count_cells(&d->slice) && !d->gain_is_implausible;
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
	const struct dp_study *spec = d->s->state->spec;
	const char *name = acquisition_name(spec);
	const char *by = dp_study_cost(spec) == DP_COST_PATH
				 ? spec->params[spec->trainer.learning_curve.param].name
				 : dp_study_cost_text(spec);
	bool divided = dp_study_cost(spec) != DP_COST_NONE;
	char label[DP_NAME_MAX + 40];

	snprintf(label, sizeof label, "%s%s%s", name ? name : "", divided ? " / " : "",
		 divided ? by : "");
	panel_title(a, c->nfree > 2 ? "where in this plane to look next" : "where to look next");
	if (!name || !has_plausible_gain(d)) {
		panel_set_empty_text(a, !name ? "This study takes random points"
					: d->gain_is_implausible
						? "More is promised than can be believed"
						: "No new point promises anything here");
	} else if (c->y.n) {
		space_heat(a, c, c->acquisition, NULL, label);
		draw_star(a, c->x.centre[d->best_cell % c->x.n],
			  c->y.centre[d->best_cell / c->x.n]);
	} else {
		space_axis(a, PLOT_X, spec, c->x.param);
		panel_axis(a, PLOT_Y, label, PLOT_LINEAR);
		panel_limits(a, PLOT_Y, 0, 1.1 * d->slice.acquisition[d->best_cell]);
		panel_line(a, &line, NULL, c->x.centre, c->acquisition, c->x.n);
		draw_star(a, c->x.centre[d->best_cell], d->slice.acquisition[d->best_cell]);
	}
}

/* "; the star marks the most promising place, b 0.5, where 3.2 % more hypervolume is
 * expected" */
static void append_expected_gain(const struct surrogates_data *d, struct dp_buf *out)
{
	enum {
		NEGLIGIBLE_GAIN_DIVISOR = 1000 /* a relative gain below 1/1000 is none */
	};
	const struct space_slice *c = &d->slice;
	const struct dp_study *spec = d->s->state->spec;
	char text[FIG_NUMBER_LEN];

	if (acquisition_name(spec) && d->gain_is_implausible)
		dp_buf_puts(out, "; they promise more than was reached in all so far, "
				 "which is not to be believed");
	if (!acquisition_name(spec) || !has_plausible_gain(d))
		return;
	dp_buf_puts(out, "; the star marks the most promising place, ");
	dp_buf_printf(out, "%s ", spec->params[c->x.param].name);
	space_append_value(spec, c->x.param, c->x.centre[d->best_cell % c->x.n], out);
	if (c->y.n) {
		dp_buf_printf(out, ", %s ", spec->params[c->y.param].name);
		space_append_value(spec, c->y.param, c->y.centre[d->best_cell / c->x.n], out);
	}
	if (d->expected_gain * NEGLIGIBLE_GAIN_DIVISOR < 1)
		dp_buf_puts(out, ", but less than 0.1 % more hypervolume is expected "
				 "there");
	else if (!isnan(d->expected_gain))
		dp_buf_printf(out, ", where %s %% more hypervolume is expected",
			      fig_percent(d->expected_gain, text));
}

static int surrogates_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct surrogates_data d = { 0 };
	const struct study_data *s;
	int code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	d.s = s;
	if (!s->surrogates || !s->npoints)
		return fig_nothing(err, "there are no models");
	if (study_data_find_untrusted(s))
		return fig_nothing(err, study_data_find_untrusted(s)->reason);
	d.slice = space_slice(&f->mem, s, false);
	space_predict(&f->mem, &d.slice);
	if (4 * d.slice.n_blank > 3 * space_count_cells(&d.slice))
		return fig_nothing(err, "the models know too little of what it would show");
	find_best_acquisition(&f->mem, &d);
	d.all = fig_collect_points(&f->mem, s);
	d.front = fig_filter_front(&f->mem, s, &d.all);
	d.smoothed = fig_smoothed_front(&f->mem, s);
	d.reference = fig_reference_front_load(&f->mem, r, NAN, &d.front);

	f->plot = fig_new(s, figure_surrogates.title, 920, 760);
	plot_grid(f->plot, 2, 2);
	for (int i = 0; i < 2; i++)
		draw_prediction(plot_panel(f->plot, 0, i), &f->mem, &d,
				i == 0 ? s->x_obj : s->y_obj);
	draw_observed_and_smoothed(plot_panel(f->plot, 1, 0), &f->mem, &d);
	draw_acquisition(plot_panel(f->plot, 1, 1), &d);

	dp_buf_puts(&f->caption, "Top: the models of ");
	fig_count(&f->caption, s->history.n, "result");
	dp_buf_printf(&f->caption, ", with the sampled points %s. Bottom: ",
		      d.slice.y.n ? "in white" : "as dots");
	if (d.front.n) {
		dp_buf_puts(&f->caption, "the observed front of ");
		fig_count(&f->caption, d.front.n, "point");
		dp_buf_printf(&f->caption, ", and of %zu once the models take the noise away",
			      d.smoothed.n);
	} else {
		dp_buf_puts(&f->caption, "there is no front yet");
	}
	append_expected_gain(&d, &f->caption);
	dp_buf_putc(&f->caption, '.');
	fig_reference_front_append(&d.reference, &f->caption);
	if (d.slice.n_blank)
		dp_buf_puts(&f->caption, " Nothing is shown where the models know too little, "
					 "far from what was tested.");
	space_append_slice(&d.slice, &f->caption);
	return DP_OK;
}

const struct figure figure_surrogates = {
	.name = "surrogates",
	.title = "What the models believe",
	.chapter = FIGURE_CHAPTER_SURROGATES,
	.make = surrogates_make,
};
