/* timeline.c - evaluations over time by slot, and where the slots' time went. */
#include "reports/figures/series.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	MOST_BLOCKS = 2000, /* more cannot be told apart */
	MOST_SLOTS = 40,    /* beyond, a count of busy slots says more than rows */
	FINE_BINS = 300,    /* of that count */
	COARSE_BINS = 40,   /* of shares over time */
};

static bool applies(const struct report *r)
{
	const struct dp_study_state *st = r->nsubjects ? r->subjects[0].s : NULL;

	for (uint32_t i = 0; st && i < st->ntrials; i++)
		if (st->trials[i]->nattempts)
			return true;
	return false;
}

/* ---- time axes ---- */

struct unit {
	double seconds;
	const char *name;
};

static struct unit unit_for(double seconds)
{
	if (seconds < 180)
		return (struct unit){ 1, "seconds" };
	if (seconds < 3 * 3600)
		return (struct unit){ 60, "minutes" };
	if (seconds < 3 * 86400)
		return (struct unit){ 3600, "hours" };
	return (struct unit){ 86400, "days" };
}

static void time_axis(struct plot_panel *a, double length)
{
	struct unit u = unit_for(length);
	char label[80];

	snprintf(label, sizeof label, "%s since the study was submitted", u.name);
	panel_axis(a, PLOT_X, label, PLOT_LINEAR);
	panel_limits(a, PLOT_X, 0, fmax(length, 1e-3) / u.seconds);
}

/* ---- blocks ---- */

struct blocks {
	double *x0, *x1, *y0, *y1; /* (n) */
	size_t n;
};

static void blocks_free(struct blocks *b)
{
	free(b->x0);
	free(b->x1);
	free(b->y0);
	free(b->y1);
}

static bool blocks_room(struct blocks *b, size_t room)
{
	*b = (struct blocks){ .x0 = malloc(room * sizeof *b->x0 + 1),
			      .x1 = malloc(room * sizeof *b->x1 + 1),
			      .y0 = malloc(room * sizeof *b->y0 + 1),
			      .y1 = malloc(room * sizeof *b->y1 + 1) };
	return b->x0 && b->x1 && b->y0 && b->y1;
}

static void add_block(struct blocks *b, double x0, double x1, double y0, double y1)
{
	b->x0[b->n] = x0;
	b->x1[b->n] = x1;
	b->y0[b->n] = y0;
	b->y1[b->n++] = y1;
}

/* Rows stand at 1, 2, ... with some room between them. */
static void add_span(struct blocks *b, size_t slot, double start, double end)
{
	add_block(b, start, end, (double)slot + 0.62, (double)slot + 1.38);
}

/* The spans of one kind as blocks; those of a slot that are nearer than `gap` seconds
 * become one. `open` (slots) is room to work in. */
static void join(const struct fig_spans *s, enum fig_span_kind kind, double gap,
		 size_t *open, struct blocks *out)
{
	out->n = 0;
	for (size_t i = 0; i < s->slots; i++)
		open[i] = SIZE_MAX;
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_span *span = &s->list[i];
		size_t *last = &open[span->slot];

		if (span->kind != kind)
			continue;
		if (*last != SIZE_MAX && span->planned - out->x1[*last] < gap) {
			out->x1[*last] = fmax(out->x1[*last], span->end);
			continue;
		}
		*last = out->n;
		add_span(out, span->slot, span->planned, span->end);
	}
}

/* To picture units; blocks leave a hair between them where they are wide enough, and
 * are never too thin to be seen. */
static void finish(struct blocks *b, double unit, double length, double least)
{
	for (size_t i = 0; i < b->n; i++) {
		double width = b->x1[i] - b->x0[i];

		b->x1[i] -= fmin(0.1 * width, 0.0015 * length);
		if (width < least)
			b->x1[i] = b->x0[i] + least;
		if (b->x1[i] > length) {
			b->x0[i] -= b->x1[i] - length;
			b->x1[i] = length;
		}
		b->x0[i] /= unit;
		b->x1[i] /= unit;
	}
}

static const struct {
	const char *name;
	unsigned role;
} looks[FIG_SPAN_KINDS] = {
	[FIG_SPAN_OK] = { "ended well", PLOT_BLUE },
	[FIG_SPAN_DIVERGED] = { "diverged", PLOT_ORANGE },
	[FIG_SPAN_FAILED] = { "failed", PLOT_VERMILLION },
	[FIG_SPAN_RUNNING] = { "running", PLOT_SKY },
};

static void draw_running(struct plot_panel *a, const struct blocks *b)
{
	struct plot_style style = { .colour = plot_palette(looks[FIG_SPAN_RUNNING].role),
				    .opacity = 0.3 };

	for (size_t i = 0; i < b->n; i++)
		panel_box(a, &style, i == 0 ? looks[FIG_SPAN_RUNNING].name : NULL,
			  b->x0[i], b->x1[i], b->y0[i], b->y1[i]);
}

static void draw_kind(struct plot_panel *a, const struct fig_spans *s,
		      enum fig_span_kind kind, size_t *open, struct blocks *b)
{
	struct plot_style style = { .colour = plot_palette(looks[kind].role) };
	double gap = 0, unit = unit_for(s->length).seconds;

	join(s, kind, gap, open, b);
	while (b->n > MOST_BLOCKS && gap < s->length) {
		gap = gap > 0 ? 2 * gap : s->length / 1000;
		join(s, kind, gap, open, b);
	}
	/* one failure among thousands must be seen */
	finish(b, unit, s->length,
	       kind == FIG_SPAN_FAILED ? s->length / 300 : s->length / 1500);
	if (b->n == 0)
		return;
	if (kind == FIG_SPAN_RUNNING)
		draw_running(a, b);
	else
		panel_blocks(a, &style, looks[kind].name, b->x0, b->x1, b->y0, b->y1,
			     b->n);
}

static int draw_rows(struct plot_panel *a, const struct fig_spans *s, struct dp_err *err)
{
	static const enum fig_span_kind order[] = { FIG_SPAN_OK, FIG_SPAN_RUNNING,
						    FIG_SPAN_DIVERGED, FIG_SPAN_FAILED };
	size_t *open = malloc(s->slots * sizeof *open + 1);
	struct blocks b;
	int code = DP_OK;

	if (!blocks_room(&b, s->n) || !open)
		code = fig_nomem(err);
	panel_axis(a, PLOT_Y, "slot", PLOT_LINEAR);
	panel_whole(a, PLOT_Y);
	panel_limits(a, PLOT_Y, 0.4, (double)s->slots + 0.6);
	for (size_t i = 0; code == DP_OK && i < DP_COUNT(order); i++)
		draw_kind(a, s, order[i], open, &b);
	blocks_free(&b);
	free(open);
	return code;
}

/* With very many slots: how many were busy. */
static int draw_busy(struct plot_panel *a, const struct fig_spans *s, struct dp_err *err)
{
	struct plot_style good = { .colour = plot_palette(PLOT_BLUE) };
	struct plot_style bad = { .colour = plot_palette(PLOT_VERMILLION) };
	double *seconds = malloc(FINE_BINS * FIG_USES * sizeof *seconds);
	double width = s->length / FINE_BINS, unit = unit_for(s->length).seconds;
	struct blocks done = { 0 }, failed = { 0 };
	int code = DP_E_NOMEM;

	if (seconds && blocks_room(&done, FINE_BINS) && blocks_room(&failed, FINE_BINS))
		code = fig_use_of_time(s, FINE_BINS, seconds, err);
	for (size_t i = 0; code == DP_OK && i < FINE_BINS; i++) {
		const double *use = seconds + i * FIG_USES;
		double from = (double)i * width / unit,
		       to = (double)(i + 1) * width / unit;
		double low = use[FIG_USE_TRAINING] / width;
		double high = low + use[FIG_USE_FAILED] / width;

		if (low > 0)
			add_block(&done, from, to, 0, low);
		if (high > low)
			add_block(&failed, from, to, low, high);
	}
	panel_axis(a, PLOT_Y, "busy slots", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, NAN);
	if (code == DP_OK)
		panel_blocks(a, &good, "training", done.x0, done.x1, done.y0, done.y1,
			     done.n);
	if (code == DP_OK && failed.n)
		panel_blocks(a, &bad, "failed", failed.x0, failed.x1, failed.y0,
			     failed.y1, failed.n);
	blocks_free(&done);
	blocks_free(&failed);
	free(seconds);
	return code == DP_OK ? DP_OK : fig_nomem(err);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	struct fig_spans s;
	int code = fig_spans(&r->subjects[0], &s, err), height;

	*out = NULL;
	if (code != DP_OK)
		return code;
	height = s.slots > MOST_SLOTS ? 360 : 190 + 24 * (int)s.slots;
	code = fig_new(r, figure_timeline.title, FIG_WIDTH, height < 460 ? height : 460,
		       out, err);
	if (code == DP_OK) {
		struct plot_panel *a = plot_panel(*out, 0, 0);

		time_axis(a, s.length);
		code = s.slots > MOST_SLOTS ? draw_busy(a, &s, err)
					    : draw_rows(a, &s, err);
	}
	fig_spans_free(&s);
	return fig_end(code, out);
}

static void caption(const struct report *r, struct dp_buf *out)
{
	size_t count[FIG_SPAN_KINDS] = { 0 };
	char text[DP_NUM_LEN];
	struct fig_spans s;
	struct dp_err err;

	if (fig_spans(&r->subjects[0], &s, &err) != DP_OK)
		return;
	for (size_t i = 0; i < s.n; i++)
		count[s.list[i].kind]++;
	fig_count(out, s.n, "attempt");
	dp_buf_printf(out,
		      " in %s, at most %zu at a time: %zu ended well, %zu diverged, "
		      "%zu failed",
		      dp_duration_text(s.length, text), s.slots, count[FIG_SPAN_OK],
		      count[FIG_SPAN_DIVERGED], count[FIG_SPAN_FAILED]);
	if (count[FIG_SPAN_RUNNING])
		dp_buf_printf(out, ", %zu still running", count[FIG_SPAN_RUNNING]);
	dp_buf_putc(out, '.');
	fig_spans_free(&s);
}

const struct figure figure_timeline = { "timeline.png", "Timeline", applies, draw,
					caption };

/* ---- where the time went ---- */

static const struct {
	const char *name;
	unsigned role;
} uses[FIG_USES] = {
	[FIG_USE_TRAINING] = { "training", PLOT_BLUE },
	[FIG_USE_FAILED] = { "failed", PLOT_VERMILLION },
	[FIG_USE_STARTING] = { "starting", PLOT_SKY },
	[FIG_USE_PROPOSING] = { "proposing", PLOT_ORANGE },
	[FIG_USE_WAITING] = { "waiting", PLOT_LIGHT },
};

/* Totals as bars, with the numbers in their names. */
static void draw_totals(struct plot_panel *a, const double *total, double all)
{
	char text[FIG_USES][80], time[DP_NUM_LEN];
	const char *names[FIG_USES];
	struct unit unit = unit_for(all);

	for (int i = 0; i < FIG_USES; i++) {
		struct plot_style style = { .colour = plot_palette(uses[i].role) };
		int row = FIG_USES - 1 - i; /* y rises, reading goes down */
		double x0 = 0, x1 = total[i] / unit.seconds;
		double y0 = row - 0.35, y1 = row + 0.35;

		snprintf(text[row], sizeof text[row], "%s: %s, %.1f %%", uses[i].name,
			 dp_duration_text(total[i], time), 100 * total[i] / all);
		names[row] = text[row];
		if (total[i] > 0)
			panel_blocks(a, &style, NULL, &x0, &x1, &y0, &y1, 1);
	}
	snprintf(time, sizeof time, "%s of slot time", unit.name);
	panel_title(a, "In all");
	panel_axis(a, PLOT_X, time, PLOT_LINEAR);
	panel_names(a, PLOT_Y, names, FIG_USES);
}

/* Shares of each part of the time, one upon the other. */
static int draw_shares(struct plot_panel *a, const struct fig_spans *s,
		       const double *seconds, struct dp_err *err)
{
	double width = s->length / COARSE_BINS, unit = unit_for(s->length).seconds;
	double below[COARSE_BINS] = { 0 };
	struct blocks b;
	int code = blocks_room(&b, COARSE_BINS) ? DP_OK : fig_nomem(err);

	for (int use = 0; code == DP_OK && use < FIG_USES; use++) {
		struct plot_style style = { .colour = plot_palette(uses[use].role) };

		b.n = 0;
		for (size_t i = 0; i < COARSE_BINS; i++) {
			double share = 100 * seconds[i * FIG_USES + (size_t)use] /
				       (width * (double)s->slots);

			if (share > 0)
				add_block(&b, (double)i * width / unit,
					  (double)(i + 1) * width / unit, below[i],
					  below[i] + share);
			below[i] += share;
		}
		panel_blocks(a, &style, NULL, b.x0, b.x1, b.y0, b.y1, b.n);
	}
	blocks_free(&b);
	panel_title(a, "Over time");
	time_axis(a, s->length);
	panel_axis(a, PLOT_Y, "share of the slots, %", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, 100);
	return code;
}

/* Totals over the bins; returns their sum. */
static double sum_up(const double *seconds, size_t bins, double total[FIG_USES])
{
	double all = 0;

	for (int use = 0; use < FIG_USES; use++) {
		total[use] = 0;
		for (size_t i = 0; i < bins; i++)
			total[use] += seconds[i * FIG_USES + (size_t)use];
		all += total[use];
	}
	return all;
}

static int draw_spent(const struct report *r, struct plot **out, struct dp_err *err)
{
	double seconds[COARSE_BINS * FIG_USES], total[FIG_USES], all;
	struct fig_spans s = { 0 };
	int code;

	*out = NULL;
	if ((code = fig_spans(&r->subjects[0], &s, err)) != DP_OK ||
	    (code = fig_use_of_time(&s, COARSE_BINS, seconds, err)) != DP_OK ||
	    (code = fig_new(r, figure_time_spent.title, 900, 340, out, err)) != DP_OK)
		goto out;
	all = sum_up(seconds, COARSE_BINS, total);
	if (all > 0) {
		plot_grid(*out, 1, 2);
		draw_totals(plot_panel(*out, 0, 0), total, all);
		code = draw_shares(plot_panel(*out, 0, 1), &s, seconds, err);
	} else {
		panel_empty(plot_panel(*out, 0, 0), "No time has passed yet");
	}
out:
	fig_spans_free(&s);
	return fig_end(code, out);
}

/* "93.1 % went to training, 5.0 % to waiting." The smallest shares are left out. */
static void say_shares(const double *total, double all, struct dp_buf *out)
{
	static const char *const words[FIG_USES] = {
		[FIG_USE_TRAINING] = "training",
		[FIG_USE_FAILED] = "attempts that failed",
		[FIG_USE_STARTING] = "starting processes",
		[FIG_USE_PROPOSING] = "proposing",
		[FIG_USE_WAITING] = "waiting",
	};
	bool first = true;

	for (int i = 0; i < FIG_USES; i++) {
		double percent = 100 * total[i] / all;

		if (percent < 0.05)
			continue;
		dp_buf_printf(out, "%s%.1f %% %s %s", first ? "" : ", ", percent,
			      first ? "went to" : "to", words[i]);
		first = false;
	}
	dp_buf_putc(out, '.');
}

static void caption_spent(const struct report *r, struct dp_buf *out)
{
	double seconds[FIG_USES], total[FIG_USES], all;
	struct fig_spans s = { 0 };
	char text[DP_NUM_LEN];
	struct dp_err err;

	if (fig_spans(&r->subjects[0], &s, &err) == DP_OK &&
	    fig_use_of_time(&s, 1, seconds, &err) == DP_OK) {
		all = sum_up(seconds, 1, total);
		if (all > 0) {
			dp_buf_printf(out, "Of %s of slot time ",
				      dp_duration_text(all, text));
			say_shares(total, all, out);
			dp_buf_puts(out, " Proposing is counted from a free slot to the "
					 "next point, pauses of the study included.");
		} else {
			dp_buf_puts(out, "No time has passed yet.");
		}
	}
	fig_spans_free(&s);
}

const struct figure figure_time_spent = { "time-spent.png", "Where the time went",
					  applies, draw_spent, caption_spent };
