/* time_spent.c - where the slots' time went, in all and over time. */
#include "reports/figures/series.h"

#include "base/num.h"

#include <stdio.h>

enum {
	COARSE_BINS = 40 /* of shares over time */
};

struct time_spent_data {
	const struct subject *s;
	double length; /* of the study, seconds */
	size_t slots;
	double seconds[COARSE_BINS * FIG_USES]; /* as in fig_use_of_time() */
	double total[FIG_USES], all;            /* seconds over all bins */
	bool guessed;                           /* how long it took to find points */
	/* In the unit of the axis, in percent, one upon the other. */
	struct fig_blocks shares[FIG_USES];
};

static const struct {
	const char *name, *in_words;
	unsigned role;
} uses[FIG_USES] = {
	[FIG_USE_TRAINING] = { "training", "training", PLOT_BLUE },
	[FIG_USE_FAILED] = { "failed", "attempts that failed", PLOT_VERMILLION },
	[FIG_USE_STARTING] = { "starting", "starting processes", PLOT_SKY },
	[FIG_USE_PROPOSING] = { "proposing", "finding points", PLOT_ORANGE },
	[FIG_USE_WAITING] = { "waiting", "waiting", PLOT_LIGHT },
};

static void add_up_uses(struct time_spent_data *d)
{
	for (size_t use = 0; use < FIG_USES; use++) {
		for (size_t i = 0; i < COARSE_BINS; i++)
			d->total[use] += d->seconds[i * FIG_USES + use];
		d->all += d->total[use];
	}
}

static int gather_shares(struct time_spent_data *d, struct dp_err *err)
{
	double width = d->length / COARSE_BINS, unit = fig_unit_for(d->length).seconds;
	double below[COARSE_BINS] = { 0 };

	for (size_t use = 0; use < FIG_USES; use++) {
		if (!fig_blocks_room(&d->shares[use], COARSE_BINS))
			return fig_nomem(err);
		for (size_t i = 0; i < COARSE_BINS; i++) {
			double share =
				100 * d->seconds[i * FIG_USES + use] / (width * (double)d->slots);

			if (share > 0)
				fig_blocks_add(&d->shares[use], (double)i * width / unit,
					       (double)(i + 1) * width / unit, below[i],
					       below[i] + share);
			below[i] += share;
		}
	}
	return DP_OK;
}

static int time_spent_gather(const struct report *r, void *data, const char **why,
			     struct dp_err *err)
{
	struct time_spent_data *d = data;
	struct fig_spans spans = { 0 };
	int code;

	d->s = fig_first(r, why);
	if (!d->s)
		return DP_OK;
	code = fig_spans(d->s, &spans, err);
	d->length = spans.length;
	d->slots = spans.slots;
	d->guessed = spans.guessed;
	if (code == DP_OK && spans.n == 0)
		*why = FIG_NO_ATTEMPT;
	else if (code == DP_OK)
		code = fig_use_of_time(&spans, COARSE_BINS, d->seconds, err);
	fig_spans_free(&spans);
	add_up_uses(d);
	return code == DP_OK && d->all > 0 ? gather_shares(d, err) : code;
}

static void time_spent_release(void *data)
{
	struct time_spent_data *d = data;

	for (size_t use = 0; use < FIG_USES; use++)
		fig_blocks_free(&d->shares[use]);
}

/* Totals as bars, with the numbers in their names; what took no time has none. */
static void draw_totals(struct plot_panel *a, const struct time_spent_data *d)
{
	char text[FIG_USES][80], time[DP_NUM_LEN];
	const char *names[FIG_USES];
	struct fig_unit unit = fig_unit_for(d->all);
	int row = 0;

	for (int i = FIG_USES - 1; i >= 0; i--) { /* y rises, reading goes down */
		struct plot_style style = { .colour = plot_palette(uses[i].role) };
		double x0 = 0, x1 = d->total[i] / unit.seconds;
		double y0 = row - 0.35, y1 = row + 0.35;

		if (!(d->total[i] > 0))
			continue;
		snprintf(text[row], sizeof text[row], "%s: %s, %.1f %%", uses[i].name,
			 dp_duration_text(d->total[i], time), 100 * d->total[i] / d->all);
		names[row] = text[row];
		panel_blocks(a, &style, NULL, &x0, &x1, &y0, &y1, 1);
		row++;
	}
	snprintf(time, sizeof time, "%s of slot time", unit.name);
	panel_title(a, "In all");
	panel_axis(a, PLOT_X, time, PLOT_LINEAR);
	panel_names(a, PLOT_Y, names, (size_t)row);
}

static void draw_shares(struct plot_panel *a, const struct time_spent_data *d)
{
	for (int use = 0; use < FIG_USES; use++) {
		struct plot_style style = { .colour = plot_palette(uses[use].role) };

		fig_blocks_draw(a, &style, NULL, &d->shares[use]);
	}
	panel_title(a, "Over time");
	fig_time_axis(a, d->length);
	panel_axis(a, PLOT_Y, "share of the slots, %", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, 100);
}

static struct plot *time_spent_draw(const void *data)
{
	const struct time_spent_data *d = data;
	struct plot *p = fig_new(d->s, figure_time_spent.title, 900, 340);

	if (d->all > 0) {
		plot_grid(p, 1, 2);
		draw_totals(plot_panel(p, 0, 0), d);
		draw_shares(plot_panel(p, 0, 1), d);
	} else {
		panel_empty(plot_panel(p, 0, 0), "No time has passed yet");
	}
	return p;
}

/* "93.1 % went to training, 5.0 % to waiting." The smallest shares are left out. */
static void say_shares(const struct time_spent_data *d, struct dp_buf *out)
{
	bool first = true;

	for (int i = 0; i < FIG_USES; i++) {
		double percent = 100 * d->total[i] / d->all;

		if (percent < 0.05)
			continue;
		dp_buf_printf(out, "%s%.1f %% %s %s", first ? "" : ", ", percent,
			      first ? "went to" : "to", uses[i].in_words);
		first = false;
	}
	dp_buf_putc(out, '.');
}

static void time_spent_caption(const void *data, struct dp_buf *out)
{
	const struct time_spent_data *d = data;
	char text[DP_NUM_LEN];

	if (!(d->all > 0)) {
		dp_buf_puts(out, "No time has passed yet.");
		return;
	}
	dp_buf_printf(out, "Of %s of slot time ", dp_duration_text(d->all, text));
	say_shares(d, out);
	if (d->guessed)
		dp_buf_puts(out, " The journal is of an older version, which did not "
				 "tell how long finding a point took: it is counted "
				 "from the end of what came before, with pauses of the "
				 "study and with waiting for a slot that other studies "
				 "of the daemon have.");
}

const struct figure figure_time_spent = {
	.name = "time-spent",
	.title = "Where the time went",
	.chapter = FIGURE_OF_SEARCH,
	.size = sizeof(struct time_spent_data),
	.gather = time_spent_gather,
	.draw = time_spent_draw,
	.caption = time_spent_caption,
	.release = time_spent_release,
};
