/* surrogates.c - what the models believe: both objectives over the parameters that matter
 * most, the front without its noise, and where to look next. */
#include "reports/figures/series.h"
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct surrogates_data {
	const struct subject *s;
	struct space_slice slice;
	/* What the models say in every cell. */
	struct belief {
		size_t objective;
		bool exact; /* known without uncertainty */
		double *mean, *lo, *hi;
		struct fig_points at; /* evaluated points: in the plane, or against the
				       * only parameter */
	} of[2];
	double *acquisition;
	size_t blank; /* cells that the models know too little of */
	size_t best;  /* the cell that promises most; the number of cells: none does */
	/* What it promises, as a share of the hypervolume that there is; NaN: that is not
	 * what the study looks for, or there is none yet. */
	double gain;
	bool incredible; /* the promise; none is shown then */
	/* On the plane of the objectives; `evaluated` are those that are drawn. */
	struct fig_points all, evaluated, front, denoised;
	struct fig_points front_stairs, denoised_stairs;
	struct fig_truth truth;
};

/* ---- gathering ---- */

static int gather_belief(const struct surrogates_data *d, const struct space_prediction *known,
			 struct belief *b, struct dp_err *err)
{
	const struct space_slice *c = &d->slice;
	size_t n = space_size(c), p = d->s->s->spec->nobjectives;
	struct space_where x = { false, c->x.param };
	struct space_where y = { !c->y.n, c->y.n ? c->y.param : b->objective };

	b->mean = malloc(n * sizeof *b->mean);
	b->lo = malloc(n * sizeof *b->lo);
	b->hi = malloc(n * sizeof *b->hi);
	if (!b->mean || !b->lo || !b->hi)
		return fig_nomem(err);
	b->exact = known->y[b->objective].sd == 0;
	space_predicted(c, known, b->objective, b->mean);
	for (size_t i = 0; i < n; i++) {
		b->lo[i] = known->y[i * p + b->objective].lo;
		b->hi[i] = known->y[i * p + b->objective].hi;
	}
	return space_places(d->s, NULL, x, y, &b->at, err);
}

static bool is_real_cell(const struct surrogates_data *d, const struct space_cells *c)
{
	return c->n && d->s->s->spec->params[c->param].kind == DP_PARAM_FLOAT;
}

/* A model that promises more than all that was reached so far extrapolates: such a place
 * is not to be recommended. */
static void judge_promise(struct surrogates_data *d)
{
	const struct dp_study *spec = d->s->s->spec;
	enum dp_acquisition what = spec->search.acquisition;
	double there = fmax(d->s->s->hypervolume, d->s->denoised.hypervolume);

	d->gain = NAN;
	if (d->best == space_size(&d->slice) || !(there > 0) ||
	    (what != DP_ACQ_DEFAULT && what != DP_ACQ_EHVI) || dp_study_cost(spec) != DP_COST_NONE)
		return;
	d->gain = d->acquisition[d->best] / there;
	d->incredible = d->gain > 1;
}

/* The free cell where the acquisition is largest, if it is more than as good as 0. What
 * has been evaluated is not proposed again. Among real numbers that says nothing of a
 * cell around, and it keeps its colour. */
static int gather_acquisition(struct surrogates_data *d, struct dp_err *err)
{
	const struct space_slice *c = &d->slice;
	bool real = is_real_cell(d, &c->x) || is_real_cell(d, &c->y);
	size_t n = space_size(c);
	bool *taken = malloc(n * sizeof *taken);
	double most = 1e-12;
	size_t count;
	int code = taken ? space_taken(c, taken, &count, err) : fig_nomem(err);

	if (code != DP_OK) {
		free(taken);
		return code;
	}
	d->best = n;
	for (size_t i = 0; i < n; i++) {
		if (taken[i] && (!real || !c->y.n)) /* on a line it would be a spike */
			d->acquisition[i] = NAN;
		if (taken[i] || !(d->acquisition[i] > most) || isinf(d->acquisition[i]))
			continue;
		most = d->acquisition[i];
		d->best = i;
	}
	free(taken);
	judge_promise(d);
	return DP_OK;
}

/* Both objectives and the acquisition, from one prediction. */
static int gather_beliefs(struct surrogates_data *d, struct dp_err *err)
{
	struct space_prediction known = { 0 };
	int code = space_predict(&d->slice, &known, err);

	d->of[0].objective = d->s->x;
	d->of[1].objective = d->s->y;
	for (int i = 0; code == DP_OK && i < 2; i++)
		code = gather_belief(d, &known, &d->of[i], err);
	d->acquisition = known.acquisition;
	d->blank = known.blank;
	known.acquisition = NULL;
	space_prediction_free(&known);
	return code == DP_OK ? gather_acquisition(d, err) : code;
}

static int gather_fronts(struct surrogates_data *d, struct dp_err *err)
{
	const struct subject *s = d->s;
	int code;

	if ((code = fig_points(s, &d->all, err)) != DP_OK ||
	    (code = fig_front(s, &d->all, &d->front, err)) != DP_OK ||
	    (code = fig_stairs(s, &d->front, NAN, NAN, &d->front_stairs, err)) != DP_OK ||
	    (code = fig_denoised_front(s, &d->denoised, err)) != DP_OK ||
	    (code = fig_stairs(s, &d->denoised, NAN, NAN, &d->denoised_stairs, err)) != DP_OK)
		return code;
	return space_places(s, NULL, (struct space_where){ true, s->x },
			    (struct space_where){ true, s->y }, &d->evaluated, err);
}

static int surrogates_gather(const struct report *r, void *data, const char **why,
			     struct dp_err *err)
{
	struct surrogates_data *d = data;
	int code;

	d->s = fig_first(r, why);
	if (d->s && (!d->s->models || !d->s->npoints))
		*why = "there are no models";
	else if (d->s && subject_distrust(d->s))
		*why = subject_distrust(d->s)->why;
	if (*why)
		return DP_OK;
	if ((code = space_slice(d->s, false, &d->slice, err)) != DP_OK ||
	    (code = gather_beliefs(d, err)) != DP_OK)
		return code;
	if (4 * d->blank > 3 * space_size(&d->slice))
		*why = "the models know too little of what it would show";
	if (*why)
		return DP_OK;
	code = gather_fronts(d, err);
	if (code == DP_OK)
		code = fig_truth(r, NAN, &d->truth, err);
	return code == DP_OK ? fig_truth_weigh(&d->truth, d->s, &d->front, err) : code;
}

static void surrogates_release(void *data)
{
	struct surrogates_data *d = data;

	space_slice_free(&d->slice);
	for (int i = 0; i < 2; i++) {
		free(d->of[i].mean);
		free(d->of[i].lo);
		free(d->of[i].hi);
		fig_points_free(&d->of[i].at);
	}
	free(d->acquisition);
	fig_points_free(&d->all);
	fig_points_free(&d->evaluated);
	fig_points_free(&d->front);
	fig_points_free(&d->denoised);
	fig_points_free(&d->front_stairs);
	fig_points_free(&d->denoised_stairs);
	fig_truth_free(&d->truth);
}

/* ---- the models ---- */

static void belief_title(struct plot_panel *a, const struct surrogates_data *d,
			 const struct belief *b)
{
	char text[DP_NAME_MAX + 40];

	snprintf(text, sizeof text, "%s, %s", d->s->s->spec->objectives[b->objective].name,
		 b->exact ? "computed exactly" : "predicted by the model");
	panel_title(a, text);
}

static void draw_belief_map(struct plot_panel *a, const struct surrogates_data *d,
			    const struct belief *b)
{
	struct plot_style white = space_behind(b->at.n, true);
	struct dp_buf label = DP_BUF_INIT;

	belief_title(a, d, b);
	fig_label(d->s, b->objective, &label);
	space_heat(a, &d->slice, b->mean, &d->s->s->spec->objectives[b->objective],
		   panel_words(a, &label));
	panel_points(a, &white, NULL, b->at.x, b->at.y, b->at.n);
	space_mark_through(a, &d->slice);
	dp_buf_free(&label);
}

/* With one parameter: mean, 95 % interval and the evaluations. */
static void draw_belief_line(struct plot_panel *a, const struct surrogates_data *d,
			     const struct belief *b)
{
	const struct space_cells *x = &d->slice.x;
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 2 };
	struct plot_style area = { .colour = plot_palette(PLOT_SKY), .opacity = 0.3 };
	struct plot_style dots = { .colour = plot_palette(PLOT_BLACK), .size = 5, .outline = true };

	belief_title(a, d, b);
	space_axis(a, PLOT_X, d->s->s->spec, x->param);
	fig_axis(a, PLOT_Y, d->s, b->objective,
		 fig_objective_scale(d->s, b->objective, b->mean, x->n));
	if (!b->exact)
		panel_band(a, &area, "95 % interval", x->centre, b->lo, b->hi, x->n, false);
	panel_line(a, &blue, b->exact ? "computed" : "model", x->centre, b->mean, x->n);
	panel_points(a, &dots, "evaluated", b->at.x, b->at.y, b->at.n);
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

static void draw_both_fronts(struct plot_panel *a, const struct surrogates_data *d)
{
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE), .width = 3, .size = 7 };
	struct plot_style orange = { .colour = plot_palette(PLOT_ORANGE), .width = 1.5, .size = 4 };
	struct plot_style light = space_behind(d->evaluated.n, false);

	panel_title(a,
		    d->front.n ? "observed front and the models'" : "no front: no point qualifies");
	fig_axis(a, PLOT_X, d->s, d->s->x, fig_objective_scale(d->s, d->s->x, d->all.x, d->all.n));
	fig_axis(a, PLOT_Y, d->s, d->s->y, fig_objective_scale(d->s, d->s->y, d->all.y, d->all.n));
	fig_truth_draw(a, &d->truth);
	panel_points(a, &light, "evaluated", d->evaluated.x, d->evaluated.y, d->evaluated.n);
	draw_stairs(a, &d->front, &d->front_stairs, &blue, "observed");
	draw_stairs(a, &d->denoised, &d->denoised_stairs, &orange, "without noise");
}

/* ---- the acquisition ---- */

/* What the study maximises; NULL: it takes random points. */
static const char *acquisition_name(const struct dp_study *s)
{
	switch (s->search.acquisition) {
	case DP_ACQ_DEFAULT:
	case DP_ACQ_EHVI:
		return "expected gain of hypervolume";
	case DP_ACQ_HVPOI:
		return "hypervolume-based PoI";
	case DP_ACQ_POI:
		return "probability of improvement";
	case DP_ACQ_RANDOM:
		break;
	}
	return NULL;
}

/* The same with what it is divided by. */
static void acquisition_label(const struct dp_study *s, char *out, size_t size)
{
	const char *by = dp_cost_text(s);

	if (dp_study_cost(s) == DP_COST_PATH)
		by = s->params[s->trainer.path.param].name;
	if (dp_study_cost(s) == DP_COST_NONE)
		snprintf(out, size, "%s", acquisition_name(s));
	else
		snprintf(out, size, "%s / %s", acquisition_name(s), by);
}

static bool promises_something(const struct surrogates_data *d)
{
	return d->best < space_size(&d->slice) && !d->incredible;
}

static void say_place(const struct surrogates_data *d, struct dp_buf *out)
{
	const struct space_slice *c = &d->slice;
	const struct dp_study *spec = d->s->s->spec;

	dp_buf_printf(out, "%s ", spec->params[c->x.param].name);
	space_say_value(spec, c->x.param, c->x.centre[d->best % c->x.n], out);
	if (!c->y.n)
		return;
	dp_buf_printf(out, ", %s ", spec->params[c->y.param].name);
	space_say_value(spec, c->y.param, c->y.centre[d->best / c->x.n], out);
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
	const char *name = acquisition_name(d->s->s->spec);
	char label[DP_NAME_MAX + 40];

	if (name)
		acquisition_label(d->s->s->spec, label, sizeof label);
	panel_title(a, c->nfree > 2 ? "where in this plane to look next" : "where to look next");
	if (!name || !promises_something(d)) {
		panel_empty(a, !name           ? "This study takes random points"
			       : d->incredible ? "More is promised than can be believed"
					       : "No new point promises anything here");
	} else if (c->y.n) {
		space_heat(a, c, d->acquisition, NULL, label);
		draw_star(a, c->x.centre[d->best % c->x.n], c->y.centre[d->best / c->x.n]);
	} else {
		space_axis(a, PLOT_X, d->s->s->spec, c->x.param);
		panel_axis(a, PLOT_Y, label, PLOT_LINEAR);
		panel_limits(a, PLOT_Y, 0, 1.1 * d->acquisition[d->best]);
		panel_line(a, &line, NULL, c->x.centre, d->acquisition, c->x.n);
		draw_star(a, c->x.centre[d->best], d->acquisition[d->best]);
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
			draw_belief_map(a, d, &d->of[i]);
		else
			draw_belief_line(a, d, &d->of[i]);
	}
	draw_both_fronts(plot_panel(p, 1, 0), d);
	draw_acquisition(plot_panel(p, 1, 1), d);
	return p;
}

/* "; the star marks the most promising place, b 0.5, where 3.2 % more hypervolume is
 * expected" */
static void say_promise(const struct surrogates_data *d, struct dp_buf *out)
{
	enum {
		LITTLE = 1000 /* a gain below one part of so many is none */
	};
	char text[FIG_TEXT_LEN];

	if (acquisition_name(d->s->s->spec) && d->incredible)
		dp_buf_puts(out, "; they promise more than was reached in all so far, "
				 "which is not to be believed");
	if (!acquisition_name(d->s->s->spec) || !promises_something(d))
		return;
	dp_buf_puts(out, "; the star marks the most promising place, ");
	say_place(d, out);
	if (d->gain * LITTLE < 1)
		dp_buf_puts(out, ", but less than 0.1 % more hypervolume is expected "
				 "there");
	else if (!isnan(d->gain))
		dp_buf_printf(out, ", where %s %% more hypervolume is expected",
			      fig_percent(d->gain, text));
}

static void say_fronts(const struct surrogates_data *d, struct dp_buf *out)
{
	if (d->front.n) {
		dp_buf_puts(out, "the observed front of ");
		fig_count(out, d->front.n, "point");
		dp_buf_printf(out, ", and of %zu once the models take the noise away",
			      d->denoised.n);
	} else {
		dp_buf_puts(out, "there is no front yet");
	}
	say_promise(d, out);
	dp_buf_putc(out, '.');
}

static void surrogates_caption(const void *data, struct dp_buf *out)
{
	const struct surrogates_data *d = data;

	dp_buf_puts(out, "Top: the models of ");
	fig_count(out, d->s->history.n, "result");
	dp_buf_printf(out, ", with the sampled points %s. Bottom: ",
		      d->slice.y.n ? "in white" : "as dots");
	say_fronts(d, out);
	fig_truth_say(&d->truth, out);
	if (d->blank)
		dp_buf_puts(out, " Nothing is shown where the models know too little, "
				 "far from what was tested.");
	space_say_slice(&d->slice, out);
}

const struct figure figure_surrogates = {
	.name = "surrogates",
	.title = "What the models believe",
	.chapter = FIGURE_OF_MODELS,
	.size = sizeof(struct surrogates_data),
	.gather = surrogates_gather,
	.draw = surrogates_draw,
	.caption = surrogates_caption,
	.release = surrogates_release,
};
