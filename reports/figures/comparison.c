/* comparison.c - figure: the fronts of several studies, with baselines. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>

struct compared_study {
	const struct study_data *s;
	bool comparable;
	struct fig_points front, stairs;
	double majority; /* NaN: unknown */
};

struct comparison_data {
	const struct report_data *r; /* for the baselines */
	struct compared_study *list; /* (n) */
	size_t n;
	double x_best, x_worst; /* of all fronts */
	double test_records;    /* of the first study, if utilities are shares; or NaN */
	bool beats_baseline;    /* a front is better than a baseline */
};

/* Two standard errors of a baseline that is a share of test records; NaN: unknown. */
static double baseline_error(const struct comparison_data *d, double value)
{
	return 2 * sqrt(value * (1 - value) / d->test_records);
}

static void gather_compared(struct arena *mem, struct comparison_data *d)
{
	const struct study_data *first = d->list[0].s;
	bool left = fig_is_maximised(first, first->x_obj);
	bool up = fig_is_maximised(first, first->y_obj);

	d->x_best = d->x_worst = NAN;
	for (size_t i = 0; i < d->n; i++) {
		struct compared_study *c = &d->list[i];

		c->comparable = fig_same_plane(first, c->s);
		c->majority = c->comparable ? study_data_majority_value(c->s, c->s->y_obj) : NAN;
		if (!c->comparable)
			continue;
		/* several studies are compared by observed fronts */
		c->front = d->n > 1 ? fig_observed_front(mem, c->s) : fig_study_front(mem, c->s);
		fig_trim_front_tail(c->s, &c->front);
		for (size_t k = 0; k < c->front.n; k++) {
			double x = c->front.x[k];

			d->x_best = left ? fmax(d->x_best, x) : fmin(d->x_best, x);
			d->x_worst = left ? fmin(d->x_worst, x) : fmax(d->x_worst, x);
			for (size_t b = 0; b < d->r->nbaselines; b++) {
				double by = c->front.y[k] - d->r->baselines[b].value;

				d->beats_baseline |= up ? by > 0 : by < 0;
			}
		}
	}
	for (size_t i = 0; i < d->n; i++)
		d->list[i].stairs =
			fig_staircase(mem, d->list[i].s, &d->list[i].front, d->x_worst, NAN);
	d->test_records =
		study_data_is_percent(first, first->y_obj) ? study_data_test_records(first) : NAN;
}

static void draw_compared(struct plot_panel *a, const struct compared_study *c, size_t i)
{
	struct plot_style style = fig_style(i);
	char name[FIG_STUDY_NAME_LEN];

	if (!c->front.n)
		return;
	style.width = 2;
	fig_format_study_name(c->s, name);
	panel_line(a, &style, name, c->stairs.x, c->stairs.y, c->stairs.n);
	style.marker = fig_marker(i);
	style.size = fig_marker_size(c->front.n);
	style.outline = fig_outlined(c->front.n);
	panel_points(a, &style, name, c->front.x, c->front.y, c->front.n);
	fig_add_tooltips(a, c->s, &c->front, FIG_TOOLTIP_STUDY);
}

/* One line for each distinct majority class value. */
static void draw_majority(struct plot_panel *a, const struct comparison_data *d,
			  const struct plot_style *style)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct study_data *s = d->list[i].s;
		double at = d->list[i].majority;
		char name[FIG_STUDY_NAME_LEN], value[FIG_NUMBER_LEN],
			label[FIG_STUDY_NAME_LEN + 80];
		bool new = isfinite(at);

		for (size_t k = 0; new &&k < i; k++)
			new = !(fabs(d->list[k].majority - at) < 1e-9);
		if (!new)
			continue;
		snprintf(label, sizeof label, i ? "commonest class %s (%s)" : "commonest class %s",
			 fig_value(s, s->y_obj, at, value), fig_format_study_name(s, name));
		panel_add_reference_line(a, style, PLOT_Y, at, label);
	}
}

static void draw_baselines(struct plot_panel *a, const struct comparison_data *d)
{
	const struct study_data *s = d->list[0].s;
	struct plot_style grey = { .colour = plot_palette(PLOT_GREY), .opacity = 0.2 };
	struct plot_style style = {
		.colour = plot_palette(PLOT_BLACK), .width = 1, .dash = PLOT_DASHED, .opacity = 0.7
	};
	double x0 = fmin(d->x_best, d->x_worst), x1 = fmax(d->x_best, d->x_worst);
	char value[FIG_NUMBER_LEN], label[200];

	/* Sampling error of a baseline as a band across the fronts. Drawn only if a front beats a
	 * baseline, which it may explain; otherwise it would just hide fronts. */
	for (size_t i = 0; d->beats_baseline && i < d->r->nbaselines; i++) {
		double at = d->r->baselines[i].value, by = baseline_error(d, at);
		double y0 = at - by, y1 = at + by;

		if (by > 0 && x0 < x1)
			panel_add_rects(a, &grey, "two standard errors of a baseline", &x0, &x1,
					&y0, &y1, 1);
	}
	for (size_t i = 0; i < d->r->nbaselines; i++) {
		double at = d->r->baselines[i].value;

		snprintf(label, sizeof label, "%.120s %s", d->r->baselines[i].label,
			 fig_value(s, s->y_obj, at, value));
		panel_add_reference_line(a, &style, PLOT_Y, at, label);
	}
	style.dash = PLOT_DOTTED;
	draw_majority(a, d, &style);
}

/* Names the studies with other objectives, and their objectives. */
static void note_incomparable_studies(struct plot *p, const struct comparison_data *d)
{
	struct dp_buf text = DP_BUF_INIT;
	char name[FIG_STUDY_NAME_LEN];

	for (size_t i = 1; i < d->n; i++) {
		const struct study_data *s = d->list[i].s;

		if (d->list[i].comparable)
			continue;
		dp_buf_printf(&text, "%s%s: ", text.len ? "; " : "Other objectives, not shown: ",
			      fig_format_study_name(s, name));
		fig_label(s, s->x_obj, &text);
		dp_buf_puts(&text, " and ");
		fig_label(s, s->y_obj, &text);
	}
	fig_note(p, &text);
}

/* The best utility of each study, at its worst x, and baselines. */
static void append_best_utilities(const struct comparison_data *d, struct dp_buf *out)
{
	const struct study_data *first = d->list[0].s;
	char name[FIG_STUDY_NAME_LEN], value[FIG_NUMBER_LEN];
	size_t named = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_points *f = &d->list[i].front;
		const struct study_data *s = d->list[i].s;
		size_t end = fig_is_maximised(s, s->x_obj) ? 0 : f->n - 1;

		if (!f->n)
			continue;
		dp_buf_printf(out, "%s%s %s at ", named++ ? ", " : "",
			      fig_format_study_name(s, name),
			      fig_value(s, s->y_obj, f->y[end], value));
		fig_append_value(s, s->x_obj, f->x[end], out);
	}
	for (size_t i = 0; i < d->r->nbaselines; i++)
		dp_buf_printf(out, ", %s %s", d->r->baselines[i].label,
			      fig_value(first, first->y_obj, d->r->baselines[i].value, value));
	if (isfinite(d->list[0].majority))
		dp_buf_printf(out, ", commonest class %s",
			      fig_value(first, first->y_obj, d->list[0].majority, value));
	dp_buf_putc(out, '.');
}

/* Explains how private training can appear better than a baseline. */
static void append_beats_baseline_note(const struct comparison_data *d, struct dp_buf *out)
{
	const struct study_data *s = d->list[0].s;
	double by = baseline_error(d, d->r->baselines[0].value);
	char error[FIG_NUMBER_LEN];

	dp_buf_puts(out, " That a front goes beyond a baseline does not show that it is "
			 "better: ");
	if (by > 0)
		dp_buf_printf(out,
			      "if %s is a share of the %.0f test records, two standard "
			      "errors of it are %s (the band), and a front is the best "
			      "of many.",
			      s->state->spec->objectives[s->y_obj].name, d->test_records,
			      fig_difference(s, s->y_obj, by, error));
	else
		dp_buf_puts(out, "both have the sampling error of the test records, and "
				 "a front is the best of many.");
}

static int comparison_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct comparison_data d = { .r = r, .n = r->nstudies };
	enum plot_scale scale[2] = { PLOT_LINEAR, PLOT_LINEAR };
	struct fig_reference_front reference;
	const struct study_data *first;
	struct plot_panel *a;
	size_t others = 0;
	int code = fig_main_study(r, &first, err);

	if (code != DP_OK)
		return code;
	d.list = arena_calloc(&f->mem, d.n, sizeof *d.list);
	for (size_t i = 0; i < d.n; i++)
		d.list[i].s = &r->studies[i];
	gather_compared(&f->mem, &d);
	for (size_t i = 1; i < d.n; i++)
		others += d.list[i].front.n > 0;
	if (!d.list[0].front.n)
		return fig_nothing(err, "the study has no front");
	if (!others && !r->nbaselines && !r->reference)
		return fig_nothing(err, "there is nothing to compare the front with but guessing, "
					"which the figure 'front' shows");
	reference = fig_reference_front_load(&f->mem, r, d.x_worst, &d.list[0].front);

	f->plot = fig_new(d.n > 1 ? NULL : first, figure_comparison.title, FIG_WIDTH, FIG_HEIGHT);
	a = plot_panel(f->plot, 0, 0);
	for (size_t i = 0; i < d.n; i++)
		fig_widen_scales(scale, d.list[i].s, d.list[i].front.x, d.list[i].front.y,
				 d.list[i].front.n);
	fig_plane_axes(a, first, scale);
	draw_baselines(a, &d);
	fig_reference_front_draw(a, &reference);
	for (size_t i = 0; i < d.n; i++)
		draw_compared(a, &d.list[i], i);
	note_incomparable_studies(f->plot, &d);

	dp_buf_printf(&f->caption, "%s Best %s: ",
		      d.n > 1 ? "The fronts of several studies, as observed."
			      : "The front and what it compares with.",
		      first->state->spec->objectives[first->y_obj].name);
	append_best_utilities(&d, &f->caption);
	fig_reference_front_append(&reference, &f->caption);
	if (d.beats_baseline)
		append_beats_baseline_note(&d, &f->caption);
	return DP_OK;
}

const struct figure figure_comparison = {
	.name = "comparison",
	.title = "Comparison",
	.chapter = FIGURE_CHAPTER_FRONT,
	.make = comparison_make,
};
