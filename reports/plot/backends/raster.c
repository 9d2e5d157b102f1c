/* raster.c - fill polygons with antialiasing.
 *
 * Every row of pixels is sampled at SUBROWS sub-rows. In each, the spans with a nonzero winding
 * number are exact in x; the coverage of a pixel is their mean over its sub-rows. A shape is
 * blended once even if its parts overlap, so that transparent lines have no dark joins. Coordinates
 * are doubles, clipped while they are sampled: no value is too large. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SUBROWS = 4,
	INSERTION_SORT_MAX = 24, /* up to this many crossings are sorted by insertion */
	ROW_BLOCK_PIXELS = 32    /* pixels: a row is searched in blocks */
};

struct crossing {
	float x;
	int16_t winding; /* +1 or -1 */
	int next;        /* index of the next crossing in the same sub-row */
};

void raster_open(struct raster *r, int width, int height, double zoom)
{
	*r = (struct raster){
		.width = width, .height = height, .zoom = zoom, .x1 = width, .y1 = height
	};
	r->subrow_heads = dp_malloc((size_t)height * SUBROWS * sizeof *r->subrow_heads);
	r->partial_cover = dp_calloc((size_t)width + 2, sizeof *r->partial_cover);
	r->cover_step = dp_calloc((size_t)width + 2, sizeof *r->cover_step);
	r->touched_blocks = dp_calloc((size_t)width / ROW_BLOCK_PIXELS + 2, 1);
	memset(r->subrow_heads, 0xff, (size_t)height * SUBROWS * sizeof *r->subrow_heads);
	r->first = height * SUBROWS;
}

void raster_close(struct raster *r)
{
	free(r->crossings);
	free(r->subrow_heads);
	free(r->sorted);
	free(r->partial_cover);
	free(r->cover_step);
	free(r->touched_blocks);
	*r = (struct raster){ 0 };
}

/* The first sub-row whose middle is at or below y, within the clip. */
static int raster_subrow_at(const struct raster *r, double y)
{
	double k = ceil(y * SUBROWS - 0.5);

	return (int)fmin(fmax(k, r->y0 * SUBROWS), r->y1 * SUBROWS);
}

static void raster_edge(struct raster *r, struct point a, struct point b, int turn)
{
	double slope, x, lo = r->x0, hi = r->x1;
	struct point swap;
	int from, to;

	if (a.y > b.y) {
		swap = a;
		a = b;
		b = swap;
		turn = -turn;
	}
	from = raster_subrow_at(r, a.y);
	to = raster_subrow_at(r, b.y);
	if (from >= to)
		return;
	r->crossings =
		grow_array(r->crossings, &r->cap, r->n + (size_t)(to - from), sizeof *r->crossings);
	slope = (b.x - a.x) / (b.y - a.y);
	if (from < r->first)
		r->first = from;
	if (to > r->last)
		r->last = to;
	for (int k = from; k < to; k++) {
		struct crossing *c = &r->crossings[r->n];

		x = a.x + ((k + 0.5) / SUBROWS - a.y) * slope;
		c->x = (float)(x < lo ? lo : x > hi ? hi : x);
		c->winding = (int16_t)turn;
		c->next = r->subrow_heads[k];
		r->subrow_heads[k] = (int)r->n++;
	}
}

static struct point raster_scale_point(const struct raster *r, struct point p)
{
	return (struct point){ p.x * r->zoom, p.y * r->zoom };
}

/* Gives all polygons the same orientation, so that overlaps add up and never cancel. */
static void raster_add_oriented(struct raster *r, const struct point *p, size_t n, int turn)
{
	double area = 0;

	for (size_t i = 0, j = n - 1; i < n; j = i++)
		area += (p[j].x - p[0].x) * (p[i].y - p[0].y) -
			(p[i].x - p[0].x) * (p[j].y - p[0].y);
	if (area < 0)
		turn = -turn;
	for (size_t i = 0, j = n - 1; i < n; j = i++)
		raster_edge(r, raster_scale_point(r, p[j]), raster_scale_point(r, p[i]), turn);
}

void raster_add_polygon(struct raster *r, const struct point *p, size_t n)
{
	if (n)
		raster_add_oriented(r, p, n, 1);
}

void raster_add_hole(struct raster *r, const struct point *p, size_t n)
{
	if (n)
		raster_add_oriented(r, p, n, -1);
}

static int compare_crossings(const void *a, const void *b)
{
	const struct crossing *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

static size_t raster_sort_subrow(struct raster *r, int k)
{
	int head = r->subrow_heads[k];
	size_t n = 0, j;

	r->subrow_heads[k] = -1;
	for (int i = head; i >= 0; i = r->crossings[i].next) {
		r->sorted = grow_array(r->sorted, &r->sorted_cap, n + 1, sizeof *r->sorted);
		r->sorted[n++] = r->crossings[i];
	}
	if (n > INSERTION_SORT_MAX) {
		qsort(r->sorted, n, sizeof *r->sorted, compare_crossings);
		return n;
	}
	for (size_t i = 1; i < n; i++) {
		struct crossing c = r->sorted[i];

		for (j = i; j > 0 && r->sorted[j - 1].x > c.x; j--)
			r->sorted[j] = r->sorted[j - 1];
		r->sorted[j] = c;
	}
	return n;
}

/* Adds the span [a, b) of one sub-row: `part` is the coverage of single pixels, `rise` the change
 * from this pixel on. */
static void raster_span(struct raster *r, float a, float b)
{
	const float w = 1.0F / SUBROWS;
	int i = (int)a, j = (int)b;

	r->touched_blocks[i / ROW_BLOCK_PIXELS] = r->touched_blocks[j / ROW_BLOCK_PIXELS] = 1;
	if (i == j) {
		r->partial_cover[i] += (b - a) * w;
		return;
	}
	r->partial_cover[i] += ((float)(i + 1) - a) * w;
	r->cover_step[i + 1] += w;
	r->touched_blocks[(i + 1) / ROW_BLOCK_PIXELS] = 1;
	r->cover_step[j] -= w;
	r->partial_cover[j] += (b - (float)j) * w;
}

static int blend_channel(int under, int over, int alpha)
{
	return under + ((over - under) * alpha + (over < under ? -128 : 128)) / 256;
}

struct paint {
	plot_colour colour;
	int red, green, blue;
	float opacity; /* 256: opaque */
};

static int blend_pixel(int under, const struct paint *p, int alpha)
{
	if (alpha >= 256)
		return (int)p->colour;
	return blend_channel(under >> 16 & 255, p->red, alpha) << 16 |
	       blend_channel(under >> 8 & 255, p->green, alpha) << 8 |
	       blend_channel(under & 255, p->blue, alpha);
}

enum {
	COVER_LEVELS = 16 /* of antialiasing: more are not visible, and fewer make files smaller */
};

static void raster_paint_row(struct raster *r, int *pixels, int from, int to, const struct paint *p)
{
	float level = 0, cover;

	for (int b = from / ROW_BLOCK_PIXELS; b <= to / ROW_BLOCK_PIXELS; b++) {
		int end = (b + 1) * ROW_BLOCK_PIXELS;

		if (!r->touched_blocks[b] && level == 0)
			continue;
		r->touched_blocks[b] = 0;
		/* one more than `to`: a span may end at the right edge of the clip */
		for (int x = b * ROW_BLOCK_PIXELS; x < end && x <= to; x++) {
			int alpha;

			level += r->cover_step[x];
			cover = level + r->partial_cover[x];
			r->cover_step[x] = r->partial_cover[x] = 0;
			cover = cover < 1 ? rintf(cover * COVER_LEVELS) / COVER_LEVELS : 1;
			alpha = (int)(cover * p->opacity + 0.5F);
			if (alpha > 0)
				pixels[x] = blend_pixel(pixels[x], p, alpha);
		}
	}
}

static bool raster_collect_spans(struct raster *r, int y, int *from, int *to)
{
	*from = r->x1;
	*to = r->x0 - 1;
	for (int k = y * SUBROWS; k < (y + 1) * SUBROWS; k++) {
		size_t n = raster_sort_subrow(r, k);
		int winding = 0;

		for (size_t i = 0; i < n; i++) {
			if (winding && r->sorted[i].x > r->sorted[i - 1].x)
				raster_span(r, r->sorted[i - 1].x, r->sorted[i].x);
			winding += r->sorted[i].winding;
		}
		if (n && (int)r->sorted[0].x < *from)
			*from = (int)r->sorted[0].x;
		if (n && (int)r->sorted[n - 1].x > *to)
			*to = (int)r->sorted[n - 1].x;
	}
	return *from <= *to;
}

void raster_fill(struct raster *r, gdImagePtr im, plot_colour colour, double opacity)
{
	struct paint p = { colour, (int)(colour >> 16 & 255), (int)(colour >> 8 & 255),
			   (int)(colour & 255), (float)(opacity * 256) };
	int from, to;

	for (int y = r->first / SUBROWS; y * SUBROWS < r->last; y++) {
		if (raster_collect_spans(r, y, &from, &to))
			raster_paint_row(r, im->tpixels[y], from, to, &p);
	}
	r->n = 0;
	r->first = r->height * SUBROWS;
	r->last = 0;
}
