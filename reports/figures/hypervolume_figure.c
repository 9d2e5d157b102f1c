/* hypervolume.c - how the hypervolume grows with the evaluations, and with what they
 * cost; several studies in one picture. */
#include "reports/figures/common/figure_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hypervolume_line {
	const struct study_data *s;
	struct fig_hypervolume_curve curve;
	uint32_t initial_design_size; /* where its initial design ended, or 0 */
};

struct hypervolume_data {
	struct hypervolume_line *lines; /* (n) one a study */
	size_t n;
	const char *path_parameter; /* what trainings of one of them walk up, or NULL */
	double max_seconds;         /* seconds of training of one of them */
	double y_min;               /* end of the vertical axis */
};

static uint32_t initial_design_end(const struct study_data *s)
{
	const struct dp_search *search = &s->state->spec->search;

	return search->method == DP_METHOD_DPARETO && !search->initial_from &&
			       dp_state_count_ended_trials(s->state) > search->initial
		       ? search->initial
		       : 0;
}

/* Most of the growth comes with the first few points. Where the rest would be a flat
 * line at the top, the axis starts above zero: a little below the lowest curve at a
 * tenth of its way. */
static double lower_limit(const struct hypervolume_data *d)
{
	double early = INFINITY, high = 0, lower;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_hypervolume_curve *g = &d->lines[i].curve;

		high = fmax(high, g->volume[g->n - 1]);
		if (d->lines[i].s->npoints)
			early = fmin(early, g->volume[g->n / 10]);
	}
	lower = high - 1.5 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

/* The parameter that trainings walk up in the first study that has a path. */
static const char *find_path_parameter(const struct report_data *r)
{
	for (size_t i = 0; i < r->nstudies; i++) {
		const struct dp_study *spec = r->studies[i].state->spec;

		if (study_data_has_checkpoints(&r->studies[i]))
			return spec->params[spec->trainer.learning_curve.param].name;
	}
	return NULL;
}

/* All that was spent on a study's evaluations. */
static double total_cost_spent(const struct hypervolume_line *line, enum fig_cost_axis by)
{
	return line->curve.spent[by][line->curve.n - 1];
}

static int hypervolume_gather(const struct report_data *r, void *data, const char **why,
			      struct dp_err *err)
{
	struct hypervolume_data *d = data;
	const struct study_data *first = fig_main_study(r, why);

	if (first && !first->npoints)
		*why = "no trial has given a result";
	if (*why)
		return DP_OK;
	d->path_parameter = find_path_parameter(r);
	d->lines = dp_calloc(r->nstudies, sizeof *d->lines);
	if (!d->lines)
		return fig_nomem(err);
	for (; d->n < r->nstudies; d->n++) {
		struct hypervolume_line *line = &d->lines[d->n];

		line->s = &r->studies[d->n];
		line->initial_design_size = initial_design_end(line->s);
		fig_compute_hypervolume_curve(line->s, d->path_parameter, &line->curve);
		d->max_seconds = fmax(d->max_seconds, total_cost_spent(line, FIG_COST_SECONDS));
	}
	d->y_min = lower_limit(d);
	return DP_OK;
}

static void hypervolume_release(void *data)
{
	struct hypervolume_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_hypervolume_curve_free(&d->lines[i].curve);
	free(d->lines);
}

/* One line for each end of an initial design that differs. */
static void mark_initial(struct plot_panel *a, const struct hypervolume_data *d)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY),
				    .width = 1,
				    .dash = PLOT_DOTTED };

	for (size_t i = 0; i < d->n; i++) {
		uint32_t end = d->lines[i].initial_design_size;
		bool new = end > 0;

		for (size_t k = 0; k < i; k++)
			new &= d->lines[k].initial_design_size != end;
		if (new)
			panel_add_reference_line(a, &style, PLOT_X, end, "initial design");
	}
}

/* Four digits: those of studies that are compared differ by little. */
static char *volume_text(double volume, char out[FIG_NUMBER_LEN])
{
	snprintf(out, FIG_NUMBER_LEN, "%.4g", volume);
	return out;
}

/* Seconds as parts of the unit of their axis. */
static void draw_line(struct plot_panel *a, const struct hypervolume_line *line,
		      const struct plot_style *style, const char *name, enum fig_cost_axis by,
		      double unit)
{
	const struct fig_hypervolume_curve *g = &line->curve;
	double x[FIG_CURVE_STEPS_MAX + 1];

	for (size_t i = 0; i < g->n; i++)
		x[i] = g->spent[by][i] / unit;
	panel_steps(a, style, name, x, g->volume, g->n);
}

/* "LogReg, after 31 evaluations: hypervolume 1.47" */
static char *format_gain_tooltip(const struct hypervolume_line *line, size_t i, bool named)
{
	const struct fig_hypervolume_curve *g = &line->curve;
	struct dp_buf out = DP_BUF_INIT;
	char name[FIG_STUDY_NAME_LEN], volume[FIG_NUMBER_LEN];

	if (named)
		dp_buf_printf(&out, "%s, ", fig_format_study_name(line->s, name));
	dp_buf_puts(&out, "after ");
	fig_count(&out, (size_t)g->spent[FIG_COST_EVALUATIONS][i], "evaluation");
	dp_buf_printf(&out, ": hypervolume %s", volume_text(g->volume[i], volume));
	return dp_buf_detach(&out);
}

/* Markers where results made the hypervolume grow, which say so. */
static void draw_gains(struct plot_panel *a, const struct hypervolume_line *line,
		       const struct plot_style *style, const char *name, enum fig_cost_axis by,
		       double unit)
{
	const struct fig_hypervolume_curve *g = &line->curve;
	double x[FIG_CURVE_STEPS_MAX + 1], y[FIG_CURVE_STEPS_MAX + 1];
	char *tips[FIG_CURVE_STEPS_MAX + 1];
	size_t n = 0;

	for (size_t i = 1; i < g->n; i++) {
		if (!(g->volume[i] > g->volume[i - 1]))
			continue;
		x[n] = g->spent[by][i] / unit;
		y[n] = g->volume[i];
		tips[n++] = format_gain_tooltip(line, i, name != NULL);
	}
	if (n == 0)
		return;
	panel_points(a, style, name, x, y, n);
	/* one that there was no memory for just says nothing */
	panel_add_tooltips(a, (const char *const *)tips, NULL, n);
	while (n > 0)
		free(tips[--n]);
}

static void draw_hypervolume_lines(struct plot_panel *a, const struct hypervolume_data *d,
				   enum fig_cost_axis by, double unit)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct hypervolume_line *line = &d->lines[i];
		struct plot_style style = fig_style(i);
		char text[FIG_STUDY_NAME_LEN];
		const char *name = d->n > 1 ? fig_format_study_name(line->s, text) : NULL;

		style.width = 2;
		style.marker = fig_marker(i);
		style.size = d->n > 1 ? 5 : 4;
		draw_line(a, line, &style, name, by, unit);
		draw_gains(a, line, &style, name, by, unit);
	}
}

/* Do all studies measure the same from the same point? */
static bool has_same_reference_point(const struct hypervolume_data *d)
{
	const struct dp_study *first = d->lines[0].s->state->spec;

	for (size_t i = 1; i < d->n; i++) {
		const struct dp_study *other = d->lines[i].s->state->spec;

		if (other->nobjectives != first->nobjectives)
			return false;
		for (size_t k = 0; k < first->nobjectives; k++)
			if (!fig_same_objective(&other->objectives[k], &first->objectives[k]) ||
			    other->objectives[k].anti_ideal != first->objectives[k].anti_ideal)
				return false;
	}
	return true;
}

static void note_axes(struct plot *p, const struct hypervolume_data *d)
{
	struct dp_buf text = DP_BUF_INIT;

	if (d->y_min > 0)
		dp_buf_puts(&text, "The vertical axis does not start at zero. ");
	if (!has_same_reference_point(d))
		dp_buf_puts(&text, "The studies have different objectives or anti-ideal points: "
				   "compare shapes, not heights.");
	if (text.len)
		plot_note(p, plot_buf_text(p, &text));
	dp_buf_free(&text);
}

static bool has_cost_panel(const struct hypervolume_data *d, enum fig_cost_axis by)
{
	return by == FIG_COST_EVALUATIONS || (by == FIG_COST_PATH && d->path_parameter) ||
	       (by == FIG_COST_SECONDS && d->max_seconds > 0);
}

static void draw_hypervolume_panel(struct plot_panel *a, const struct hypervolume_data *d,
				   enum fig_cost_axis by)
{
	struct fig_time_unit unit = { 1, NULL };
	char label[DP_NAME_MAX + 32] = "evaluations";

	if (by == FIG_COST_PATH)
		snprintf(label, sizeof label, "%s of all trainings", d->path_parameter);
	if (by == FIG_COST_SECONDS) {
		unit = fig_choose_time_unit(d->max_seconds);
		snprintf(label, sizeof label, "%s of training", unit.name);
	}
	panel_axis(a, PLOT_X, label, PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	if (by != FIG_COST_SECONDS)
		panel_set_integer_ticks(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, d->y_min, NAN);
	if (by == FIG_COST_EVALUATIONS)
		mark_initial(a, d);
	draw_hypervolume_lines(a, d, by, unit.seconds);
}

static struct plot *hypervolume_draw(const void *data)
{
	const struct hypervolume_data *d = data;
	int panels = 0, column = 0;
	struct plot *p;

	for (int by = 0; by < FIG_COST_AXES; by++)
		panels += has_cost_panel(d, by);
	p = fig_new(d->n > 1 ? NULL : d->lines[0].s, figure_hypervolume.title,
		    panels == 1 ? FIG_WIDTH : 60 + 350 * panels, panels == 1 ? FIG_HEIGHT : 400);
	plot_grid(p, 1, panels);
	for (int by = 0; by < FIG_COST_AXES; by++)
		if (has_cost_panel(d, by))
			draw_hypervolume_panel(plot_panel(p, 0, column++), d, by);
	note_axes(p, d);
	return p;
}

/* What a study's evaluations cost: "12 evaluations, 340 epochs, 1.2 minutes". */
static void append_cost_spent(const struct hypervolume_data *d, const struct hypervolume_line *line,
			      struct dp_buf *out)
{
	double walked = total_cost_spent(line, FIG_COST_PATH);
	double seconds = total_cost_spent(line, FIG_COST_SECONDS);
	struct fig_time_unit unit = fig_choose_time_unit(seconds);
	char text[FIG_NUMBER_LEN];

	fig_count(out, dp_state_count_ended_trials(line->s->state), "evaluation");
	if (d->path_parameter && isfinite(walked))
		dp_buf_printf(out, ", %.0f %s", walked, d->path_parameter);
	if (seconds > 0)
		dp_buf_printf(out, ", %s %s of training", fig_number(seconds / unit.seconds, text),
			      unit.name);
}

static void hypervolume_caption(const void *data, struct dp_buf *out)
{
	const struct hypervolume_data *d = data;
	char name[FIG_STUDY_NAME_LEN], volume[FIG_NUMBER_LEN];

	dp_buf_puts(out, "The hypervolume that the front of observed means dominates, as "
			 "evaluations end: ");
	for (size_t i = 0; i < d->n; i++) {
		const struct hypervolume_line *line = &d->lines[i];

		if (d->n > 1)
			dp_buf_printf(out, "%s ", fig_format_study_name(line->s, name));
		dp_buf_printf(out, "%s after ",
			      d->n > 1 ? volume_text(line->s->state->hypervolume, volume)
				       : fig_number(line->s->state->hypervolume, volume));
		append_cost_spent(d, line, out);
		dp_buf_puts(out, i + 1 < d->n ? "; " : ".");
	}
	if (d->n == 1 && d->lines[0].s->smoothed.is_modelled)
		dp_buf_printf(out, " Without the noise, by the models, it is %s.",
			      fig_number(d->lines[0].s->smoothed.hypervolume, volume));
	if (d->lines[0].initial_design_size)
		dp_buf_printf(out,
			      d->lines[0].initial_design_size == 1
				      ? " The first point was the initial design."
				      : " The first %u points were the initial design.",
			      d->lines[0].initial_design_size);
}

const struct figure figure_hypervolume = {
	.name = "hypervolume",
	.title = "Hypervolume",
	.chapter = FIGURE_CHAPTER_SEARCH,
	.data_size = sizeof(struct hypervolume_data),
	.gather = hypervolume_gather,
	.draw = hypervolume_draw,
	.caption = hypervolume_caption,
	.free_data = hypervolume_release,
};
