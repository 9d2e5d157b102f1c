/* timeline.c - evaluations over time by slot. */
#include "reports/figures/common/figure_data.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>

enum {
	TIMELINE_RECTS_MAX = 2000, /* more cannot be told apart */
	TIMELINE_SLOTS_MAX = 40,   /* beyond, a count of busy slots says more than rows */
	BUSY_SLOT_BINS = 300,      /* of that count */
};

struct timeline_data {
	const struct study_data *s;
	struct fig_attempt_spans spans;
	size_t count[FIG_SPAN_KINDS];
	/* In the unit of the axis: a row for each slot, or with very many slots how
	 * many were busy. */
	struct fig_rects rows[FIG_SPAN_KINDS];
	struct fig_rects training, failed;
};

/* ---- rows ---- */

/* Rows stand at 1, 2, ... with some room between them. What failed is half as high: its
 * colour alone is that of the others in grey. */
static void add_span(struct fig_rects *b, const struct fig_attempt_span *s)
{
	double middle = (double)s->slot + 1;
	double half = s->kind == FIG_SPAN_FAILED ? 0.19 : 0.38;

	fig_rects_add(b, s->planned, s->end, middle - half, middle + half);
}

/* The spans of one kind as blocks; those of a slot that are nearer than `gap` seconds
 * become one. `open` (slots) is room to work in. */
static void join_spans(const struct fig_attempt_spans *s, enum fig_span_kind kind, double gap,
		       size_t *open, struct fig_rects *out)
{
	out->n = 0;
	for (size_t i = 0; i < s->slots; i++)
		open[i] = SIZE_MAX;
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_attempt_span *span = &s->list[i];
		size_t *last = &open[span->slot];

		if (span->kind != kind)
			continue;
		if (*last != SIZE_MAX && span->planned - out->x1[*last] < gap) {
			out->x1[*last] = fmax(out->x1[*last], span->end);
			continue;
		}
		*last = out->n;
		add_span(out, span);
	}
}

/* To picture units; blocks leave a hair between them where they are wide enough, and
 * are never too thin to be seen. */
static void trim_span_rects(struct fig_rects *b, double length, double least)
{
	double unit = fig_choose_time_unit(length).seconds;

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

static void gather_span_rects(const struct fig_attempt_spans *s, enum fig_span_kind kind,
			      size_t *open, struct fig_rects *b)
{
	double gap = 0;

	join_spans(s, kind, gap, open, b);
	while (b->n > TIMELINE_RECTS_MAX && gap < s->length) {
		gap = gap > 0 ? 2 * gap : s->length / 1000;
		join_spans(s, kind, gap, open, b);
	}
	/* one failure among thousands must be seen */
	trim_span_rects(b, s->length, kind == FIG_SPAN_FAILED ? s->length / 300 : s->length / 1500);
}

static int gather_rows(struct timeline_data *d, struct dp_err *err)
{
	size_t *open = dp_malloc(d->spans.slots * sizeof *open + 1);
	int code = open ? DP_OK : fig_nomem(err);

	for (int kind = 0; code == DP_OK && kind < FIG_SPAN_KINDS; kind++) {
		if (fig_rects_alloc(&d->rows[kind], d->count[kind]))
			gather_span_rects(&d->spans, kind, open, &d->rows[kind]);
		else
			code = fig_nomem(err);
	}
	free(open);
	return code;
}

/* ---- busy slots ---- */

static int gather_busy(struct timeline_data *d, struct dp_err *err)
{
	const struct fig_attempt_spans *s = &d->spans;
	double *seconds = dp_malloc(BUSY_SLOT_BINS * FIG_USE_COUNT * sizeof *seconds);
	double width = s->length / BUSY_SLOT_BINS, unit = fig_choose_time_unit(s->length).seconds;
	int code = seconds && fig_rects_alloc(&d->training, BUSY_SLOT_BINS) &&
				   fig_rects_alloc(&d->failed, BUSY_SLOT_BINS)
			   ? fig_compute_slot_usage(s, BUSY_SLOT_BINS, seconds, err)
			   : fig_nomem(err);

	for (size_t i = 0; code == DP_OK && i < BUSY_SLOT_BINS; i++) {
		const double *use = seconds + i * FIG_USE_COUNT;
		double from = (double)i * width / unit, to = (double)(i + 1) * width / unit;
		double low = use[FIG_USE_TRAINING] / width;
		double high = low + use[FIG_USE_FAILED] / width;

		if (low > 0)
			fig_rects_add(&d->training, from, to, 0, low);
		if (high > low)
			fig_rects_add(&d->failed, from, to, low, high);
	}
	free(seconds);
	return code;
}

/* ---- the figure ---- */

static int timeline_gather(const struct report_data *r, void *data, const char **why,
			   struct dp_err *err)
{
	struct timeline_data *d = data;
	int code;

	d->s = fig_main_study(r, why);
	if (!d->s)
		return DP_OK;
	code = fig_collect_attempt_spans(d->s, &d->spans, err);
	if (code == DP_OK && d->spans.n == 0)
		*why = FIG_NO_ATTEMPT;
	if (code != DP_OK || *why)
		return code;
	for (size_t i = 0; i < d->spans.n; i++)
		d->count[d->spans.list[i].kind]++;
	return d->spans.slots > TIMELINE_SLOTS_MAX ? gather_busy(d, err) : gather_rows(d, err);
}

static void timeline_release(void *data)
{
	struct timeline_data *d = data;

	fig_attempt_spans_free(&d->spans);
	for (int kind = 0; kind < FIG_SPAN_KINDS; kind++)
		fig_rects_free(&d->rows[kind]);
	fig_rects_free(&d->training);
	fig_rects_free(&d->failed);
}

static const struct {
	const char *name;
	unsigned role;
} span_styles[FIG_SPAN_KINDS] = {
	[FIG_SPAN_OK] = { "ended well", PLOT_BLUE },
	[FIG_SPAN_DIVERGED] = { "diverged", PLOT_ORANGE },
	[FIG_SPAN_FAILED] = { "failed", PLOT_VERMILLION },
	[FIG_SPAN_RUNNING] = { "running", PLOT_SKY },
};

/* "trial 13, ended well: 2.3s, 1m05s after the study was submitted" */
static char *format_span_tooltip(const struct fig_attempt_span *s)
{
	struct dp_buf out = DP_BUF_INIT;
	char took[DP_NUM_LEN], after[DP_NUM_LEN];

	dp_buf_printf(&out, "trial %u, %s: %s, %s after the study was submitted", s->trial,
		      span_styles[s->kind].name, dp_duration_text(s->end - s->start, took),
		      dp_duration_text(s->start, after));
	return dp_buf_detach(&out);
}

/* What the blocks of one kind say, which were drawn last; nothing where blocks are
 * several attempts. */
static void add_span_tooltips(struct plot_panel *a, const struct timeline_data *d,
			      enum fig_span_kind kind)
{
	size_t n = 0, all = d->count[kind];
	char **tips;

	if (d->rows[kind].n != all || !(tips = dp_calloc(all + 1, sizeof *tips)))
		return;
	for (size_t i = 0; i < d->spans.n; i++)
		if (d->spans.list[i].kind == kind)
			tips[n++] = format_span_tooltip(&d->spans.list[i]);
	panel_add_tooltips(a, (const char *const *)tips, NULL, n);
	while (n > 0)
		free(tips[--n]);
	free(tips);
}

static void draw_running(struct plot_panel *a, const struct fig_rects *b)
{
	struct plot_style style = { .colour = plot_palette(span_styles[FIG_SPAN_RUNNING].role),
				    .opacity = 0.3 };

	for (size_t i = 0; i < b->n; i++)
		panel_add_region(a, &style, i == 0 ? span_styles[FIG_SPAN_RUNNING].name : NULL,
				 b->x0[i], b->x1[i], b->y0[i], b->y1[i]);
}

static void draw_rows(struct plot_panel *a, const struct timeline_data *d)
{
	static const enum fig_span_kind order[] = { FIG_SPAN_OK, FIG_SPAN_RUNNING,
						    FIG_SPAN_DIVERGED, FIG_SPAN_FAILED };

	panel_axis(a, PLOT_Y, "slot", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_Y);
	panel_limits(a, PLOT_Y, 0.4, (double)d->spans.slots + 0.6);
	for (size_t i = 0; i < DP_COUNT(order); i++) {
		const struct fig_rects *b = &d->rows[order[i]];
		struct plot_style style = { .colour = plot_palette(span_styles[order[i]].role) };

		if (order[i] == FIG_SPAN_RUNNING) {
			draw_running(a, b);
		} else if (b->n) {
			fig_rects_draw(a, &style, span_styles[order[i]].name, b);
			add_span_tooltips(a, d, order[i]);
		}
	}
}

static void draw_busy(struct plot_panel *a, const struct timeline_data *d)
{
	struct plot_style good = { .colour = plot_palette(PLOT_BLUE) };
	struct plot_style bad = { .colour = plot_palette(PLOT_VERMILLION) };

	panel_axis(a, PLOT_Y, "busy slots", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, NAN);
	fig_rects_draw(a, &good, "training", &d->training);
	if (d->failed.n)
		fig_rects_draw(a, &bad, "failed", &d->failed);
}

static struct plot *timeline_draw(const void *data)
{
	const struct timeline_data *d = data;
	bool many = d->spans.slots > TIMELINE_SLOTS_MAX;
	int height = many ? 360 : 190 + 24 * (int)d->spans.slots;
	struct plot *p =
		fig_new(d->s, figure_timeline.title, FIG_WIDTH, height < 460 ? height : 460);
	struct plot_panel *a = plot_panel(p, 0, 0);

	fig_set_time_axis(a, d->spans.length);
	if (many)
		draw_busy(a, d);
	else
		draw_rows(a, d);
	return p;
}

static void timeline_caption(const void *data, struct dp_buf *out)
{
	const struct timeline_data *d = data;
	const size_t *count = d->count;
	char text[DP_NUM_LEN];

	fig_count(out, d->spans.n, "attempt");
	dp_buf_printf(out,
		      " in %s, at most %zu at a time: %zu ended well, %zu diverged, "
		      "%zu failed",
		      dp_duration_text(d->spans.length, text), d->spans.slots, count[FIG_SPAN_OK],
		      count[FIG_SPAN_DIVERGED], count[FIG_SPAN_FAILED]);
	if (count[FIG_SPAN_RUNNING])
		dp_buf_printf(out, ", %zu still running", count[FIG_SPAN_RUNNING]);
	if (count[FIG_SPAN_FAILED] && d->spans.slots <= TIMELINE_SLOTS_MAX)
		dp_buf_puts(out, "; what failed is half as high");
	dp_buf_putc(out, '.');
}

const struct figure figure_timeline = {
	.name = "timeline",
	.title = "Timeline",
	.chapter = FIGURE_CHAPTER_SEARCH,
	.data_size = sizeof(struct timeline_data),
	.gather = timeline_gather,
	.draw = timeline_draw,
	.caption = timeline_caption,
	.free_data = timeline_release,
};
