/* front_draw.c - draw the Pareto front figure. */
#include "reports/figures/front_figure_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

static void draw_colour_bins(struct plot_panel *a, const struct front_data *d)
{
	for (int k = 0; k < FRONT_COLOUR_BINS; k++) {
		const struct front_colour_bin *shade = &d->colour_bins[k];
		char name[200], low[FIG_NUMBER_LEN], high[FIG_NUMBER_LEN];
		struct plot_style style = {
			.colour = plot_colourmap_lookup(PLOT_VIRIDIS,
							0.9 * k / (FRONT_COLOUR_BINS - 1)),
			.size = 7,
			.outline = true,
		};

		snprintf(name, sizeof name, "%s %s to %s",
			 d->study->state->spec->objectives[d->third_obj].name,
			 fig_number(shade->from, low), fig_number(shade->to, high));
		if (shade->points.n)
			panel_points(a, &style, name, shade->points.x, shade->points.y,
				     shade->points.n);
	}
}

static void draw_choices(struct plot_panel *a, const struct front_data *d)
{
	const struct {
		size_t place;
		const char *name;
	} each[] = { { d->choices.recommended, "recommended" },
		     { d->choices.high_privacy, "strict" },
		     { d->choices.best_utility, "loose" } };
	struct plot_style star = { .colour = plot_palette(PLOT_ORANGE),
				   .marker = PLOT_STAR,
				   .size = 13,
				   .outline = true };

	for (size_t i = 0; i < DP_COUNT(each); i++) {
		char x[FIG_NUMBER_LEN], text[2 * FIG_NUMBER_LEN];
		double at[2];

		if (each[i].place == SIZE_MAX || (i && each[i].place == each[0].place))
			continue;
		at[0] = front_member_value(d, each[i].place, PLOT_X);
		at[1] = front_member_value(d, each[i].place, PLOT_Y);
		if (!front_is_within_limits(d, at[0], at[1]))
			continue;
		if (i == 0)
			panel_points(a, &star, "recommended", &at[0], &at[1], 1);
		snprintf(text, sizeof text, "%s, %s", each[i].name,
			 fig_value(d->study, d->study->x_obj, at[0], x));
		panel_label(a, at[0], at[1], text);
	}
}

static void draw_comparison_lines(struct plot_panel *a, const struct front_data *d)
{
	struct plot_style style = {
		.colour = plot_palette(PLOT_BLACK), .width = 1, .dash = PLOT_DASHED, .opacity = 0.7
	};
	struct plot_style grey = { .colour = plot_palette(PLOT_GREY), .opacity = 0.2 };

	for (size_t i = 0; i < d->nlines; i++) {
		const struct front_line *l = &d->lines[i];
		double y0 = l->at - l->error, y1 = l->at + l->error;
		char value[FIG_NUMBER_LEN], label[200];

		if (!l->is_shown)
			continue;
		if (l->is_beaten && l->error > 0)
			panel_add_rects(a, &grey, "two standard errors of the test set",
					&d->lo[PLOT_X], &d->hi[PLOT_X], &y0, &y1, 1);
		snprintf(label, sizeof label, "%.120s %s", l->label,
			 fig_value(d->study, d->study->y_obj, l->at, value));
		panel_add_reference_line(a, &style, PLOT_Y, l->at, label);
	}
}

/* Draws the front with its band, the observed points and re-evaluations. */
static void draw_staircase(struct plot_panel *a, const struct front_data *d)
{
	const struct fig_band *again = &d->reevaluated;
	double size = fig_marker_size(d->front.n);
	struct plot_style blue = { .colour = plot_palette(PLOT_BLUE),
				   .size = size,
				   .width = 2,
				   .outline = fig_outlined(d->front.n) };
	struct plot_style band = { .colour = blue.colour, .opacity = 0.16 };
	struct plot_style tie = { .colour = blue.colour, .width = 1, .opacity = 0.25 };
	struct plot_style ring = {
		.colour = blue.colour, .marker = PLOT_RING, .size = size, .opacity = 0.45
	};
	struct plot_style bar = { .colour = plot_palette(PLOT_GREEN), .width = 1.2, .size = 4 };
	struct plot_style square = {
		.colour = bar.colour, .marker = PLOT_SQUARE, .size = size - 1, .outline = true
	};
	char name[80];

	snprintf(name, sizeof name, "front%s%s", d->third_obj < 0 ? "" : " of these two",
		 d->observed.n ? " without noise" : "");
	if (d->band.n)
		panel_band(a, &band,
			   d->band_by_surrogates ? "95 % by the models" : "95 % by the runs",
			   d->band.x, d->band.from, d->band.to, d->band.n, false);
	for (size_t i = 0; i < d->observed.n; i++)
		panel_line(a, &tie, NULL, (const double[]){ d->observed.x[i], d->front.x[i] },
			   (const double[]){ d->observed.y[i], d->front.y[i] }, 2);
	if (d->observed.n)
		panel_points(a, &ring, "the same points as searched", d->observed.x, d->observed.y,
			     d->observed.n);
	panel_line(a, &blue, name, d->staircase.x, d->staircase.y, d->staircase.n);
	if (d->third_obj < 0) {
		panel_points(a, &blue, name, d->front.x, d->front.y, d->front.n);
		fig_add_tooltips(a, d->study, &d->front, FIG_TOOLTIP_LINK);
	} else {
		draw_colour_bins(a, d);
	}
	if (again->n) {
		panel_add_error_bars(a, &bar, "measured again, 95 %", again->x, again->from,
				     again->to, again->n);
		panel_points(a, &square, "measured again, 95 %", again->x, again->mid, again->n);
	}
	draw_choices(a, d);
}

static void set_front_empty_text(struct plot_panel *a, const struct front_data *d)
{
	const struct dp_study_state *st = d->study->state;
	const struct {
		size_t n;
		const char *what;
	} counts[] = { { st->diverged, "diverged" },
		       { st->failed, "failed" },
		       { d->all.n_not_finite, "not finite" },
		       { d->infeasible.n, "do not meet a constraint" } };
	struct dp_buf why = DP_BUF_INIT;
	int listed = 0;

	dp_buf_puts(&why, dp_state_count_ended_trials(st) ? "No point to show"
							  : "No evaluation has ended yet");
	for (size_t i = 0; i < DP_COUNT(counts); i++) {
		if (counts[i].n)
			dp_buf_printf(&why, "%s %zu %s", listed++ ? "," : ":", counts[i].n,
				      counts[i].what);
	}
	panel_set_empty_text(a, dp_buf_text(&why));
	dp_buf_free(&why);
}

/* Notes omitted points, and whether the plane is a projection. */
static void note_hidden_points(struct plot *p, const struct front_data *d)
{
	struct dp_buf text = DP_BUF_INIT;

	for (int side = PLOT_X; d->all.n && side <= PLOT_Y; side++) {
		double at = front_side_objective(d->study, side)->anti_ideal;

		if (at >= d->lo[side] && at <= d->hi[side])
			continue;
		dp_buf_puts(&text, "The anti-ideal is at ");
		fig_append_value(d->study, side == PLOT_X ? d->study->x_obj : d->study->y_obj, at,
				 &text);
		dp_buf_puts(&text, ", beyond the axis. ");
	}
	if (d->n_outside + d->all.n_not_finite)
		dp_buf_puts(&text, "Not shown: ");
	if (d->n_outside) {
		fig_count(&text, d->n_outside, "point");
		dp_buf_puts(&text,
			    d->all.n_not_finite ? " beyond the axes, " : " beyond the axes. ");
	}
	if (d->all.n_not_finite) {
		fig_count(&text, d->all.n_not_finite, "point");
		dp_buf_printf(&text, " with an infinite %s. ",
			      front_side_objective(d->study, PLOT_X)->name);
	}
	if (d->third_obj >= 0)
		dp_buf_printf(&text,
			      "Projection of %zu objectives; the line is the front of the "
			      "two shown.",
			      d->study->state->spec->nobjectives);
	fig_note(p, &text);
}

static void draw_all_points(struct plot_panel *a, const struct front_data *d)
{
	struct plot_style light = fig_faint_dot_style(plot_palette(PLOT_GREY), d->all.n);
	struct plot_style ring = { .colour = plot_palette(PLOT_GREY),
				   .marker = PLOT_RING,
				   .opacity = 0.6 };
	struct plot_style region = { .colour = plot_palette(PLOT_GREY), .opacity = 0.07 };
	struct plot_style cross = { .colour = plot_palette(PLOT_VERMILLION), .marker = PLOT_CROSS };
	/* learning curves; fainter if there are many */
	struct plot_style path = { .colour = plot_palette(PLOT_SKY),
				   .width = 0.8,
				   .opacity = d->npaths > FRONT_PATHS_MAX / 2 ? 0.4 : 0.7 };
	double x[2], y[2];

	panel_limits(a, PLOT_X, d->lo[PLOT_X], d->hi[PLOT_X]);
	panel_limits(a, PLOT_Y, d->lo[PLOT_Y], d->hi[PLOT_Y]);
	front_reference_region(d, PLOT_X, x);
	front_reference_region(d, PLOT_Y, y);
	panel_add_region(a, &region, "better than the anti-ideal", x[0], x[1], y[0], y[1]);
	fig_reference_front_draw(a, &d->reference);
	for (size_t i = 0; i < d->npaths; i++) {
		size_t first = d->path_starts[i];

		panel_line(a, &path, "one training", d->all.x + first, d->all.y + first,
			   front_path_length(&d->all, first));
	}
	draw_comparison_lines(a, d);
	panel_points(a, &light, "evaluated", d->all.x, d->all.y, d->all.n);
	fig_add_tooltips(a, d->study, &d->all, 0);
	if (d->infeasible.n)
		panel_points(a, &ring, "a constraint is not met", d->infeasible.x, d->infeasible.y,
			     d->infeasible.n);
	if (d->diverged.n)
		panel_points(a, &cross, "diverged (at the border)", d->diverged.x, d->diverged.y,
			     d->diverged.n);
	draw_staircase(a, d);
}

struct plot *front_draw(const struct front_data *d)
{
	const struct study_data *s = d->study;
	struct plot *p = fig_new(s, figure_front.title, FRONT_WIDTH, FRONT_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);

	fig_plane_axes(a, s, d->scale);
	if (d->all.n)
		draw_all_points(a, d);
	else
		set_front_empty_text(a, d);
	note_hidden_points(p, d);
	return p;
}
