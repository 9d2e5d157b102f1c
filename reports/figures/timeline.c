/* timeline.c - figure: evaluations over time by slot. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <math.h>

enum {
	TIMELINE_RECTS_MAX = 2000, /* more are not visible */
	TIMELINE_SLOTS_MAX = 40,   /* with more slots, a plot of the busy count is clearer */
	BUSY_SLOT_BINS = 300,      /* of that plot */
};

struct timeline_data {
	const struct study_data *s;
	struct fig_attempt_spans spans;
	size_t count[FIG_SPAN_KINDS];
};

/* Rectangles for the spans of one kind; merges spans of a slot that are less than `gap` seconds
 * apart. `open` (slots) is scratch memory. */
static void join_spans(const struct fig_attempt_spans *s, enum fig_span_kind kind, double gap,
		       size_t *open, struct fig_rects *out)
{
	out->n = 0;
	for (size_t i = 0; i < s->slots; i++)
		open[i] = SIZE_MAX;
	for (size_t i = 0; i < s->n; i++) {
		const struct fig_attempt_span *span = &s->list[i];
		size_t *last = &open[span->slot];
		double middle = (double)span->slot + 1,
		       half = kind == FIG_SPAN_FAILED ? 0.19 : 0.38;

		if (span->kind != kind)
			continue;
		if (*last != SIZE_MAX && span->planned - out->x1[*last] < gap) {
			out->x1[*last] = fmax(out->x1[*last], span->end);
			continue;
		}
		*last = out->n;
		/* Rows are at 1, 2, ... with a gap between them. Failures have half the height, to
		 * stand out in greyscale. */
		fig_rects_add(out, span->planned, span->end, middle - half, middle + half);
	}
}

/* Rectangles for the spans of one kind, in the unit of the axis. Wide ones leave a hairline gap;
 * all are wide enough to see. */
static void gather_span_rects(const struct fig_attempt_spans *s, enum fig_span_kind kind,
			      size_t *open, struct fig_rects *b)
{
	double unit = fig_choose_time_unit(s->length).seconds, gap = 0;
	/* one failure among thousands must be visible */
	double least = kind == FIG_SPAN_FAILED ? s->length / 300 : s->length / 1500;

	join_spans(s, kind, gap, open, b);
	while (b->n > TIMELINE_RECTS_MAX && gap < s->length) {
		gap = gap > 0 ? 2 * gap : s->length / 1000;
		join_spans(s, kind, gap, open, b);
	}
	for (size_t i = 0; i < b->n; i++) {
		double width = b->x1[i] - b->x0[i];

		b->x1[i] -= fmin(0.1 * width, 0.0015 * s->length);
		if (width < least)
			b->x1[i] = b->x0[i] + least;
		if (b->x1[i] > s->length) {
			b->x0[i] -= b->x1[i] - s->length;
			b->x1[i] = s->length;
		}
		b->x0[i] /= unit;
		b->x1[i] /= unit;
	}
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

/* Tooltips of the rectangles of one kind, added last, one for each attempt: "trial 13, ended well:
 * 2.3s, 1m05s after the study was submitted". */
static void add_span_tooltips(struct plot_panel *a, const struct fig_attempt_spans *spans,
			      enum fig_span_kind kind)
{
	struct arena mem = { 0 };
	const char **tips = arena_calloc(&mem, spans->n, sizeof *tips);
	size_t n = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct fig_attempt_span *s = &spans->list[i];
		char took[DP_NUM_LEN], after[DP_NUM_LEN];

		if (s->kind == kind)
			tips[n++] = arena_adopt(
				&mem,
				dp_asprintf("trial %u, %s: %s, %s after the study was submitted",
					    s->trial, span_styles[kind].name,
					    dp_duration_text(s->end - s->start, took),
					    dp_duration_text(s->start, after)));
	}
	panel_add_tooltips(a, tips, NULL, n);
	arena_free(&mem);
}

static void draw_rows(struct plot_panel *a, struct arena *mem, const struct timeline_data *d)
{
	static const enum fig_span_kind order[] = { FIG_SPAN_OK, FIG_SPAN_RUNNING,
						    FIG_SPAN_DIVERGED, FIG_SPAN_FAILED };
	size_t *open = arena_calloc(mem, d->spans.slots, sizeof *open);

	panel_axis(a, PLOT_Y, "slot", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_Y);
	panel_limits(a, PLOT_Y, 0.4, (double)d->spans.slots + 0.6);
	for (size_t i = 0; i < DP_COUNT(order); i++) {
		struct fig_rects b = fig_rects_new(mem, d->count[order[i]]);
		const char *name = span_styles[order[i]].name;
		struct plot_style style = { .colour = plot_palette(span_styles[order[i]].role) };

		gather_span_rects(&d->spans, order[i], open, &b);
		if (order[i] == FIG_SPAN_RUNNING) {
			style.opacity = 0.3;
			for (size_t k = 0; k < b.n; k++)
				panel_add_region(a, &style, k == 0 ? name : NULL, b.x0[k], b.x1[k],
						 b.y0[k], b.y1[k]);
		} else if (b.n) {
			panel_add_rects(a, &style, name, b.x0, b.x1, b.y0, b.y1, b.n);
			if (b.n == d->count[order[i]])
				add_span_tooltips(a, &d->spans, order[i]);
		}
	}
}

/* With many slots: the number of busy slots. */
static void draw_busy(struct plot_panel *a, struct arena *mem, const struct fig_attempt_spans *s)
{
	struct plot_style good = { .colour = plot_palette(PLOT_BLUE) };
	struct plot_style bad = { .colour = plot_palette(PLOT_VERMILLION) };
	double *seconds = arena_calloc(mem, BUSY_SLOT_BINS * FIG_USE_COUNT, sizeof *seconds);
	double width = s->length / BUSY_SLOT_BINS, unit = fig_choose_time_unit(s->length).seconds;
	struct fig_rects training = fig_rects_new(mem, BUSY_SLOT_BINS);
	struct fig_rects failed = fig_rects_new(mem, BUSY_SLOT_BINS);

	fig_compute_slot_usage(s, BUSY_SLOT_BINS, seconds);
	for (size_t i = 0; i < BUSY_SLOT_BINS; i++) {
		const double *use = seconds + i * FIG_USE_COUNT;
		double from = (double)i * width / unit, to = (double)(i + 1) * width / unit;
		double low = use[FIG_USE_TRAINING] / width;
		double high = low + use[FIG_USE_FAILED] / width;

		if (low > 0)
			fig_rects_add(&training, from, to, 0, low);
		if (high > low)
			fig_rects_add(&failed, from, to, low, high);
	}
	panel_axis(a, PLOT_Y, "busy slots", PLOT_LINEAR);
	panel_limits(a, PLOT_Y, 0, NAN);
	panel_add_rects(a, &good, "training", training.x0, training.x1, training.y0, training.y1,
			training.n);
	if (failed.n)
		panel_add_rects(a, &bad, "failed", failed.x0, failed.x1, failed.y0, failed.y1,
				failed.n);
}

static int timeline_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	struct timeline_data d = { 0 };
	char text[DP_NUM_LEN];
	bool many;
	int height, code = fig_main_study(r, &d.s, err);
	struct plot_panel *a;

	if (code == DP_OK)
		code = fig_collect_attempt_spans(&f->mem, d.s, &d.spans, err);
	if (code != DP_OK)
		return code;
	for (size_t i = 0; i < d.spans.n; i++)
		d.count[d.spans.list[i].kind]++;

	many = d.spans.slots > TIMELINE_SLOTS_MAX;
	height = many ? 360 : 190 + 24 * (int)d.spans.slots;
	f->plot = fig_new(d.s, figure_timeline.title, FIG_WIDTH, height < 460 ? height : 460);
	a = plot_panel(f->plot, 0, 0);
	fig_set_time_axis(a, d.spans.length);
	if (many)
		draw_busy(a, &f->mem, &d.spans);
	else
		draw_rows(a, &f->mem, &d);

	fig_count(&f->caption, d.spans.n, "attempt");
	dp_buf_printf(&f->caption,
		      " in %s, at most %zu at a time: %zu ended well, %zu diverged, "
		      "%zu failed",
		      dp_duration_text(d.spans.length, text), d.spans.slots, d.count[FIG_SPAN_OK],
		      d.count[FIG_SPAN_DIVERGED], d.count[FIG_SPAN_FAILED]);
	if (d.count[FIG_SPAN_RUNNING])
		dp_buf_printf(&f->caption, ", %zu still running", d.count[FIG_SPAN_RUNNING]);
	if (d.count[FIG_SPAN_FAILED] && !many)
		dp_buf_puts(&f->caption, "; what failed is half as high");
	dp_buf_putc(&f->caption, '.');
	return DP_OK;
}

const struct figure figure_timeline = {
	.name = "timeline",
	.title = "Timeline",
	.chapter = FIGURE_CHAPTER_SEARCH,
	.make = timeline_make,
};
