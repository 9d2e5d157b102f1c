/* time_spent.c - figure: slot usage in total and over time. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <stdio.h>

enum {
	TIME_SHARE_BINS = 40 /* time bins */
};

struct time_spent {
	struct fig_attempt_spans spans;
	double seconds[TIME_SHARE_BINS * FIG_USE_COUNT]; /* see fig_compute_slot_usage() */
	double total[FIG_USE_COUNT], total_seconds;      /* over all bins */
};

static const struct {
	const char *name, *in_words;
	unsigned role;
} slot_use_styles[FIG_USE_COUNT] = {
	[FIG_USE_TRAINING] = { "training", "training", PLOT_BLUE },
	[FIG_USE_FAILED] = { "failed", "attempts that failed", PLOT_VERMILLION },
	[FIG_USE_STARTING] = { "starting", "starting processes", PLOT_SKY },
	[FIG_USE_PROPOSING] = { "proposing", "finding points", PLOT_ORANGE },
	[FIG_USE_WAITING] = { "waiting", "waiting", PLOT_LIGHT },
};

/* Draws totals as bars with the numbers in their names; omits zeros. */
static void draw_totals(struct plot_panel *a, const struct time_spent *d)
{
	char text[FIG_USE_COUNT][80], time[DP_NUM_LEN];
	const char *names[FIG_USE_COUNT];
	struct fig_time_unit unit = fig_choose_time_unit(d->total_seconds);
	int row = 0;

	for (int i = FIG_USE_COUNT - 1; i >= 0; i--) { /* y goes up, reading order down */
		struct plot_style style = { .colour = plot_palette(slot_use_styles[i].role) };
		double x0 = 0, x1 = d->total[i] / unit.seconds;
		double y0 = row - 0.35, y1 = row + 0.35;

		if (!(d->total[i] > 0))
			continue;
		snprintf(text[row], sizeof text[row], "%s: %s, %.1f %%", slot_use_styles[i].name,
			 dp_duration_text(d->total[i], time), 100 * d->total[i] / d->total_seconds);
		names[row] = text[row];
		panel_add_rects(a, &style, NULL, &x0, &x1, &y0, &y1, 1);
		row++;
	}
	snprintf(time, sizeof time, "%s of slot time", unit.name);
	panel_title(a, "In all");
	panel_axis(a, PLOT_X, time, PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, names, (size_t)row);
}

static void draw_shares(struct plot_panel *a, struct arena *mem, const struct time_spent *d)
{
	double length = d->spans.length, width = length / TIME_SHARE_BINS;
	double unit = fig_choose_time_unit(length).seconds, below[TIME_SHARE_BINS] = { 0 };

	for (int use = 0; use < FIG_USE_COUNT; use++) {
		struct plot_style style = { .colour = plot_palette(slot_use_styles[use].role) };
		struct fig_rects b = fig_rects_new(mem, TIME_SHARE_BINS);

		for (int i = 0; i < TIME_SHARE_BINS; i++) {
			double share = 100 * d->seconds[i * FIG_USE_COUNT + use] /
				       (width * (double)d->spans.slots);

			if (share > 0)
				fig_rects_add(&b, i * width / unit, (i + 1) * width / unit,
					      below[i], below[i] + share);
			below[i] += share;
		}
		panel_add_rects(a, &style, NULL, b.x0, b.x1, b.y0, b.y1, b.n);
	}
	panel_title(a, "Over time");
	fig_set_time_axis(a, length);
	panel_axis(a, PLOT_Y, "share of the slots, %", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, 100);
}

static int time_spent_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct time_spent d = { 0 };
	const struct study_data *s;
	char text[DP_NUM_LEN];
	size_t named = 0;
	int code = fig_main_study(r, &s, err);

	if (code == DP_OK)
		code = fig_collect_attempt_spans(&f->mem, s, &d.spans, err);
	if (code != DP_OK)
		return code;
	fig_compute_slot_usage(&d.spans, TIME_SHARE_BINS, d.seconds);
	for (size_t use = 0; use < FIG_USE_COUNT; use++) {
		for (size_t i = 0; i < TIME_SHARE_BINS; i++)
			d.total[use] += d.seconds[i * FIG_USE_COUNT + use];
		d.total_seconds += d.total[use];
	}

	f->plot = fig_new(s, figure_time_spent.title, 900, 340);
	if (!(d.total_seconds > 0)) {
		panel_set_empty_text(plot_panel(f->plot, 0, 0), "No time has passed yet");
		dp_buf_puts(&f->caption, "No time has passed yet.");
		return DP_OK;
	}
	plot_grid(f->plot, 1, 2);
	draw_totals(plot_panel(f->plot, 0, 0), &d);
	draw_shares(plot_panel(f->plot, 0, 1), &f->mem, &d);

	/* "93.1 % went to training, 5.0 % to waiting." Omits the smallest shares. */
	dp_buf_printf(&f->caption, "Of %s of slot time ", dp_duration_text(d.total_seconds, text));
	for (int i = 0; i < FIG_USE_COUNT; i++) {
		double percent = 100 * d.total[i] / d.total_seconds;

		if (percent < 0.05)
			continue;
		dp_buf_printf(&f->caption, "%s%.1f %% %s %s", named ? ", " : "", percent,
			      named ? "to" : "went to", slot_use_styles[i].in_words);
		named++;
	}
	dp_buf_putc(&f->caption, '.');
	if (d.spans.has_estimated_times)
		dp_buf_puts(&f->caption,
			    " The journal is of an older version, which did not tell how long "
			    "finding a point took: it is counted from the end of what came before, "
			    "with pauses of the study and with waiting for a slot that other "
			    "studies of the daemon have.");
	return DP_OK;
}

const struct figure figure_time_spent = {
	.name = "time-spent",
	.title = "Where the time went",
	.chapter = FIGURE_CHAPTER_SEARCH,
	.make = time_spent_make,
};
