/* hypervolume.c - how the hypervolume grows with the evaluations, and with what they
 * cost; several studies in one picture. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct growth_line {
	const struct subject *s;
	struct fig_growth growth;
	uint32_t initial; /* where its initial design ended, or 0 */
};

struct hypervolume_data {
	struct growth_line *lines; /* (n) one a study */
	size_t n;
	const char *walked; /* what trainings of one of them walk up, or NULL */
	double longest;     /* seconds of training of one of them */
	double lower;       /* end of the vertical axis */
};

static uint32_t initial_end(const struct subject *s)
{
	const struct dp_search *search = &s->s->spec->search;

	return search->method == DP_METHOD_DPARETO && !search->initial_from &&
			       dp_study_ended(s->s) > search->initial
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
		const struct fig_growth *g = &d->lines[i].growth;

		high = fmax(high, g->volume[g->n - 1]);
		if (d->lines[i].s->npoints)
			early = fmin(early, g->volume[g->n / 10]);
	}
	lower = high - 1.5 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

/* The parameter that trainings walk up in the first study that has a path. */
static const char *walked_parameter(const struct report *r)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct dp_study *spec = r->subjects[i].s->spec;

		if (subject_walks(&r->subjects[i]))
			return spec->params[spec->trainer.path.param].name;
	}
	return NULL;
}

/* All that was spent on a study's evaluations. */
static double spent_in_all(const struct growth_line *line, enum fig_growth_by by)
{
	return line->growth.spent[by][line->growth.n - 1];
}

static int hypervolume_gather(const struct report *r, void *data, const char **why,
			      struct dp_err *err)
{
	struct hypervolume_data *d = data;
	const struct subject *first = fig_first(r, why);

	if (first && !first->npoints)
		*why = "no trial has given a result";
	if (*why)
		return DP_OK;
	d->walked = walked_parameter(r);
	d->lines = calloc(r->nsubjects, sizeof *d->lines);
	if (!d->lines)
		return fig_nomem(err);
	for (; d->n < r->nsubjects; d->n++) {
		struct growth_line *line = &d->lines[d->n];
		int code;

		line->s = &r->subjects[d->n];
		line->initial = initial_end(line->s);
		code = fig_growth(line->s, d->walked, &line->growth, err);
		if (code != DP_OK)
			return code;
		d->longest = fmax(d->longest, spent_in_all(line, FIG_GROWTH_SECONDS));
	}
	d->lower = lower_limit(d);
	return DP_OK;
}

static void hypervolume_release(void *data)
{
	struct hypervolume_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_growth_free(&d->lines[i].growth);
	free(d->lines);
}

/* One line for each end of an initial design that differs. */
static void mark_initial(struct plot_panel *a, const struct hypervolume_data *d)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY),
				    .width = 1,
				    .dash = PLOT_DOTTED };

	for (size_t i = 0; i < d->n; i++) {
		uint32_t end = d->lines[i].initial;
		bool new = end > 0;

		for (size_t k = 0; k < i; k++)
			new &= d->lines[k].initial != end;
		if (new)
			panel_mark(a, &style, PLOT_X, end, "initial design");
	}
}

/* Four digits: those of studies that are compared differ by little. */
static char *volume_text(double volume, char out[FIG_TEXT_LEN])
{
	snprintf(out, FIG_TEXT_LEN, "%.4g", volume);
	return out;
}

/* Seconds as parts of the unit of their axis. */
static void draw_line(struct plot_panel *a, const struct growth_line *line,
		      const struct plot_style *style, const char *name, enum fig_growth_by by,
		      double unit)
{
	const struct fig_growth *g = &line->growth;
	double x[FIG_GROWTH_STEPS + 1];

	for (size_t i = 0; i < g->n; i++)
		x[i] = g->spent[by][i] / unit;
	panel_steps(a, style, name, x, g->volume, g->n);
}

/* "LogReg, after 31 evaluations: hypervolume 1.47" */
static char *gain_tip(const struct growth_line *line, size_t i, bool named)
{
	const struct fig_growth *g = &line->growth;
	struct dp_buf out = DP_BUF_INIT;
	char name[FIG_NAME_LEN], volume[FIG_TEXT_LEN];

	if (named)
		dp_buf_printf(&out, "%s, ", fig_name(line->s, name));
	dp_buf_puts(&out, "after ");
	fig_count(&out, (size_t)g->spent[FIG_GROWTH_EVALUATIONS][i], "evaluation");
	dp_buf_printf(&out, ": hypervolume %s", volume_text(g->volume[i], volume));
	return dp_buf_detach(&out);
}

/* Markers where results made the hypervolume grow, which say so. */
static void draw_gains(struct plot_panel *a, const struct growth_line *line,
		       const struct plot_style *style, const char *name, enum fig_growth_by by,
		       double unit)
{
	const struct fig_growth *g = &line->growth;
	double x[FIG_GROWTH_STEPS + 1], y[FIG_GROWTH_STEPS + 1];
	char *tips[FIG_GROWTH_STEPS + 1];
	size_t n = 0;

	for (size_t i = 1; i < g->n; i++) {
		if (!(g->volume[i] > g->volume[i - 1]))
			continue;
		x[n] = g->spent[by][i] / unit;
		y[n] = g->volume[i];
		tips[n++] = gain_tip(line, i, name != NULL);
	}
	if (n == 0)
		return;
	panel_points(a, style, name, x, y, n);
	/* one that there was no memory for just says nothing */
	panel_tips(a, (const char *const *)tips, NULL, n);
	while (n > 0)
		free(tips[--n]);
}

static void draw_growth(struct plot_panel *a, const struct hypervolume_data *d,
			enum fig_growth_by by, double unit)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct growth_line *line = &d->lines[i];
		struct plot_style style = fig_style(i);
		char text[FIG_NAME_LEN];
		const char *name = d->n > 1 ? fig_name(line->s, text) : NULL;

		style.width = 2;
		style.marker = fig_marker(i);
		style.size = d->n > 1 ? 5 : 4;
		draw_line(a, line, &style, name, by, unit);
		draw_gains(a, line, &style, name, by, unit);
	}
}

/* Do all studies measure the same from the same point? */
static bool same_reference(const struct hypervolume_data *d)
{
	const struct dp_study *first = d->lines[0].s->s->spec;

	for (size_t i = 1; i < d->n; i++) {
		const struct dp_study *other = d->lines[i].s->s->spec;

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

	if (d->lower > 0)
		dp_buf_puts(&text, "The vertical axis does not start at zero. ");
	if (!same_reference(d))
		dp_buf_puts(&text, "The studies have different objectives or anti-ideal points: "
				   "compare shapes, not heights.");
	if (text.len)
		plot_note(p, plot_words(p, &text));
	dp_buf_free(&text);
}

static bool is_panel(const struct hypervolume_data *d, enum fig_growth_by by)
{
	return by == FIG_GROWTH_EVALUATIONS || (by == FIG_GROWTH_WALKED && d->walked) ||
	       (by == FIG_GROWTH_SECONDS && d->longest > 0);
}

static void draw_growth_panel(struct plot_panel *a, const struct hypervolume_data *d,
			      enum fig_growth_by by)
{
	struct fig_unit unit = { 1, NULL };
	char label[DP_NAME_MAX + 32] = "evaluations";

	if (by == FIG_GROWTH_WALKED)
		snprintf(label, sizeof label, "%s of all trainings", d->walked);
	if (by == FIG_GROWTH_SECONDS) {
		unit = fig_unit_for(d->longest);
		snprintf(label, sizeof label, "%s of training", unit.name);
	}
	panel_axis(a, PLOT_X, label, PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	if (by != FIG_GROWTH_SECONDS)
		panel_whole(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, d->lower, NAN);
	if (by == FIG_GROWTH_EVALUATIONS)
		mark_initial(a, d);
	draw_growth(a, d, by, unit.seconds);
}

static struct plot *hypervolume_draw(const void *data)
{
	const struct hypervolume_data *d = data;
	int panels = 0, column = 0;
	struct plot *p;

	for (int by = 0; by < FIG_GROWTH_BY; by++)
		panels += is_panel(d, by);
	p = fig_new(d->n > 1 ? NULL : d->lines[0].s, figure_hypervolume.title,
		    panels == 1 ? FIG_WIDTH : 60 + 350 * panels, panels == 1 ? FIG_HEIGHT : 400);
	plot_grid(p, 1, panels);
	for (int by = 0; by < FIG_GROWTH_BY; by++)
		if (is_panel(d, by))
			draw_growth_panel(plot_panel(p, 0, column++), d, by);
	note_axes(p, d);
	return p;
}

/* What a study's evaluations cost: "12 evaluations, 340 epochs, 1.2 minutes". */
static void say_spent(const struct hypervolume_data *d, const struct growth_line *line,
		      struct dp_buf *out)
{
	double walked = spent_in_all(line, FIG_GROWTH_WALKED);
	double seconds = spent_in_all(line, FIG_GROWTH_SECONDS);
	struct fig_unit unit = fig_unit_for(seconds);
	char text[FIG_TEXT_LEN];

	fig_count(out, dp_study_ended(line->s->s), "evaluation");
	if (d->walked && isfinite(walked))
		dp_buf_printf(out, ", %.0f %s", walked, d->walked);
	if (seconds > 0)
		dp_buf_printf(out, ", %s %s of training", fig_number(seconds / unit.seconds, text),
			      unit.name);
}

static void hypervolume_caption(const void *data, struct dp_buf *out)
{
	const struct hypervolume_data *d = data;
	char name[FIG_NAME_LEN], volume[FIG_TEXT_LEN];

	dp_buf_puts(out, "The hypervolume that the front of observed means dominates, as "
			 "evaluations end: ");
	for (size_t i = 0; i < d->n; i++) {
		const struct growth_line *line = &d->lines[i];

		if (d->n > 1)
			dp_buf_printf(out, "%s ", fig_name(line->s, name));
		dp_buf_printf(out, "%s after ",
			      d->n > 1 ? volume_text(line->s->s->hypervolume, volume)
				       : fig_number(line->s->s->hypervolume, volume));
		say_spent(d, line, out);
		dp_buf_puts(out, i + 1 < d->n ? "; " : ".");
	}
	if (d->n == 1 && d->lines[0].s->denoised.modelled)
		dp_buf_printf(out, " Without the noise, by the models, it is %s.",
			      fig_number(d->lines[0].s->denoised.hypervolume, volume));
	if (d->lines[0].initial)
		dp_buf_printf(out,
			      d->lines[0].initial == 1
				      ? " The first point was the initial design."
				      : " The first %u points were the initial design.",
			      d->lines[0].initial);
}

const struct figure figure_hypervolume = {
	.name = "hypervolume",
	.title = "Hypervolume",
	.chapter = FIGURE_OF_SEARCH,
	.size = sizeof(struct hypervolume_data),
	.gather = hypervolume_gather,
	.draw = hypervolume_draw,
	.caption = hypervolume_caption,
	.release = hypervolume_release,
};
