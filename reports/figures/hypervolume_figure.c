/* hypervolume_figure.c - figure: hypervolume against evaluations and cost, for one or more
 * studies. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct hypervolume_line {
	const struct study_data *s;
	struct fig_hypervolume_curve curve;
	uint32_t initial_design_size; /* evaluations in the initial design, or 0 */
	double total[FIG_COST_AXES];  /* of all evaluations */
};

struct hypervolume_data {
	struct hypervolume_line *lines; /* (n) one for each study */
	size_t n;
	const char *path_parameter; /* path parameter of one of the studies, or NULL */
	double max_seconds;         /* the longest total duration of a study */
	double y_min;               /* lower axis limit */
};

static struct hypervolume_line gather_line(struct arena *mem, const struct study_data *s,
					   const char *path_parameter)
{
	const struct dp_search *search = &s->state->spec->search;
	struct hypervolume_line line = {
		.s = s, .curve = fig_compute_hypervolume_curve(mem, s, path_parameter)
	};

	if (search->method == DP_METHOD_DPARETO && !search->initial_from &&
	    dp_state_count_ended_trials(s->state) > search->initial)
		line.initial_design_size = search->initial;
	for (int by = 0; by < FIG_COST_AXES; by++)
		line.total[by] = line.curve.spent[by][line.curve.n - 1];
	return line;
}

/* One line for each distinct end of an initial design. */
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

/* Four digits: compared studies differ by little. */
static char *volume_text(double volume, char out[FIG_NUMBER_LEN])
{
	snprintf(out, FIG_NUMBER_LEN, "%.4g", volume);
	return out;
}

/* "LogReg, after 31 evaluations: hypervolume 1.47" */
static char *format_gain_tooltip(const struct hypervolume_line *line, size_t i, const char *name)
{
	const struct fig_hypervolume_curve *g = &line->curve;
	struct dp_buf out = DP_BUF_INIT;
	char volume[FIG_NUMBER_LEN];

	if (name)
		dp_buf_printf(&out, "%s, ", name);
	dp_buf_puts(&out, "after ");
	fig_count(&out, (size_t)g->spent[FIG_COST_EVALUATIONS][i], "evaluation");
	dp_buf_printf(&out, ": hypervolume %s", volume_text(g->volume[i], volume));
	return dp_buf_detach(&out);
}

/* Draws the curve with markers where results increased the hypervolume. Costs are divided by
 * `unit`. */
static void draw_hypervolume_line(struct plot_panel *a, const struct hypervolume_line *line,
				  const struct plot_style *style, const char *name,
				  enum fig_cost_axis by, double unit)
{
	const struct fig_hypervolume_curve *g = &line->curve;
	struct arena mem = { 0 };
	double *x = arena_calloc(&mem, g->n, sizeof *x);
	struct fig_points gains = fig_points_new(&mem, g->n);
	const char **tips = arena_calloc(&mem, g->n, sizeof *tips);

	for (size_t i = 0; i < g->n; i++) {
		x[i] = g->spent[by][i] / unit;
		if (i == 0 || !(g->volume[i] > g->volume[i - 1]))
			continue;
		tips[gains.n] = arena_adopt(&mem, format_gain_tooltip(line, i, name));
		fig_add_point(&gains, x[i], g->volume[i], FIG_NO_RESULT);
	}
	panel_steps(a, style, name, x, g->volume, g->n);
	if (gains.n > 0) {
		panel_points(a, style, name, gains.x, gains.y, gains.n);
		panel_add_tooltips(a, tips, NULL, gains.n);
	}
	arena_free(&mem);
}

/* Whether all studies measure the same objectives from the same reference point. */
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
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style style = fig_style(i);
		char text[FIG_STUDY_NAME_LEN];

		style.width = 2;
		style.marker = fig_marker(i);
		style.size = d->n > 1 ? 5 : 4;
		draw_hypervolume_line(a, &d->lines[i], &style,
				      d->n > 1 ? fig_format_study_name(d->lines[i].s, text) : NULL,
				      by, unit.seconds);
	}
}

/* The total cost of a study's evaluations: "12 evaluations, 340 epochs, 1.2 minutes". */
static void append_cost_spent(const struct hypervolume_data *d, const struct hypervolume_line *line,
			      struct dp_buf *out)
{
	double seconds = line->total[FIG_COST_SECONDS];
	struct fig_time_unit unit = fig_choose_time_unit(seconds);
	char text[FIG_NUMBER_LEN];

	fig_count(out, dp_state_count_ended_trials(line->s->state), "evaluation");
	if (d->path_parameter && isfinite(line->total[FIG_COST_PATH]))
		dp_buf_printf(out, ", %.0f %s", line->total[FIG_COST_PATH], d->path_parameter);
	if (seconds > 0)
		dp_buf_printf(out, ", %s %s of training", fig_number(seconds / unit.seconds, text),
			      unit.name);
}

static int hypervolume_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct hypervolume_data d = { .n = r->nstudies };
	const struct study_data *first;
	char name[FIG_STUDY_NAME_LEN], volume[FIG_NUMBER_LEN];
	int panels = 0, column = 0, code = fig_main_study(r, &first, err);
	struct dp_buf note = DP_BUF_INIT;
	double early = INFINITY, high = 0;
	uint32_t initial;

	if (code != DP_OK)
		return code;
	if (!first->npoints)
		return fig_nothing(err, "no trial has given a result");
	/* the path parameter of the first study that has one */
	for (size_t i = d.n; i-- > 0;) {
		const struct dp_study *spec = r->studies[i].state->spec;

		if (study_data_has_checkpoints(&r->studies[i]))
			d.path_parameter = spec->params[spec->trainer.learning_curve.param].name;
	}
	d.lines = arena_calloc(&f->mem, d.n, sizeof *d.lines);
	for (size_t i = 0; i < d.n; i++) {
		const struct fig_hypervolume_curve *g = &d.lines[i].curve;

		d.lines[i] = gather_line(&f->mem, &r->studies[i], d.path_parameter);
		d.max_seconds = fmax(d.max_seconds, d.lines[i].total[FIG_COST_SECONDS]);
		high = fmax(high, g->volume[g->n - 1]);
		if (r->studies[i].npoints)
			early = fmin(early, g->volume[g->n / 10]);
	}
	/* The first few points give most of the growth: the axis starts a little below the lowest
	 * curve at a tenth of its length. */
	d.y_min = fig_hypervolume_axis_start(early, high, 1.5);

	for (int by = 0; by < FIG_COST_AXES; by++)
		panels += has_cost_panel(&d, by);
	f->plot = fig_new(d.n > 1 ? NULL : first, figure_hypervolume.title,
			  panels == 1 ? FIG_WIDTH : 60 + 350 * panels,
			  panels == 1 ? FIG_HEIGHT : 400);
	plot_grid(f->plot, 1, panels);
	for (int by = 0; by < FIG_COST_AXES; by++)
		if (has_cost_panel(&d, by))
			draw_hypervolume_panel(plot_panel(f->plot, 0, column++), &d, by);
	if (d.y_min > 0)
		dp_buf_puts(&note, "The vertical axis does not start at zero. ");
	if (!has_same_reference_point(&d))
		dp_buf_puts(&note, "The studies have different objectives or anti-ideal points: "
				   "compare shapes, not heights.");
	fig_note(f->plot, &note);

	dp_buf_puts(&f->caption, "The hypervolume that the front of observed means dominates, as "
				 "evaluations end: ");
	for (size_t i = 0; i < d.n; i++) {
		double v = d.lines[i].s->state->hypervolume;

		if (d.n > 1)
			dp_buf_printf(&f->caption, "%s ",
				      fig_format_study_name(d.lines[i].s, name));
		dp_buf_printf(&f->caption, "%s after ",
			      d.n > 1 ? volume_text(v, volume) : fig_number(v, volume));
		append_cost_spent(&d, &d.lines[i], &f->caption);
		dp_buf_puts(&f->caption, i + 1 < d.n ? "; " : ".");
	}
	if (d.n == 1 && first->smoothed.is_modelled)
		dp_buf_printf(&f->caption, " Without the noise, by the models, it is %s.",
			      fig_number(first->smoothed.hypervolume, volume));
	initial = d.lines[0].initial_design_size;
	if (initial)
		dp_buf_printf(&f->caption,
			      initial == 1 ? " The first point was the initial design."
					   : " The first %u points were the initial design.",
			      initial);
	return DP_OK;
}

const struct figure figure_hypervolume = {
	.name = "hypervolume",
	.title = "Hypervolume",
	.chapter = FIGURE_CHAPTER_SEARCH,
	.make = hypervolume_make,
};
