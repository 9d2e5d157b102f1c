/* raster.c - fills polygons with smooth edges.
 *
 * Every row of pixels is sampled at ROWS sub-rows. In each the spans inside the shape
 * (where the winding number is not zero) are exact in x; the coverage of a pixel is
 * their mean over its sub-rows. A shape is blended once, however much its parts
 * overlap, so that transparent lines have no dark joins. Coordinates are doubles and
 * are clipped while they are sampled: no value is too large. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROWS = 4,
	FEW = 24,  /* crossings that are sorted by insertion */
	BLOCK = 32 /* pixels: a row is looked through in blocks */
};

struct crossing {
	float x;
	int16_t turn; /* +1 or -1 */
	int next;     /* in the same sub-row */
};

bool raster_open(struct raster *r, int width, int height, double zoom)
{
	*r = (struct raster){
		.width = width, .height = height, .zoom = zoom, .x1 = width, .y1 = height
	};
	r->heads = malloc((size_t)height * ROWS * sizeof *r->heads);
	r->part = calloc((size_t)width + 2, sizeof *r->part);
	r->rise = calloc((size_t)width + 2, sizeof *r->rise);
	r->touched = calloc((size_t)width / BLOCK + 2, 1);
	if (!r->heads || !r->part || !r->rise || !r->touched) {
		raster_close(r);
		return false;
	}
	memset(r->heads, 0xff, (size_t)height * ROWS * sizeof *r->heads);
	r->first = height * ROWS;
	return true;
}

void raster_close(struct raster *r)
{
	free(r->crossings);
	free(r->heads);
	free(r->row);
	free(r->part);
	free(r->rise);
	free(r->touched);
	*r = (struct raster){ 0 };
}

static bool raster_grow(struct raster *r, struct crossing **a, size_t *cap, size_t need)
{
	struct crossing *p = make_room(*a, cap, need, sizeof *p);

	if (!p) {
		r->failed = true;
		return false;
	}
	*a = p;
	return true;
}

/* The sub-row whose middle is the first at or below y, within the clip. */
static int sub_row(const struct raster *r, double y)
{
	double k = ceil(y * ROWS - 0.5);

	return (int)fmin(fmax(k, r->y0 * ROWS), r->y1 * ROWS);
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
	from = sub_row(r, a.y);
	to = sub_row(r, b.y);
	if (from >= to || !raster_grow(r, &r->crossings, &r->cap, r->n + (size_t)(to - from)))
		return;
	slope = (b.x - a.x) / (b.y - a.y);
	if (from < r->first)
		r->first = from;
	if (to > r->last)
		r->last = to;
	for (int k = from; k < to; k++) {
		struct crossing *c = &r->crossings[r->n];

		x = a.x + ((k + 0.5) / ROWS - a.y) * slope;
		c->x = (float)(x < lo ? lo : x > hi ? hi : x);
		c->turn = (int16_t)turn;
		c->next = r->heads[k];
		r->heads[k] = (int)r->n++;
	}
}

static struct point raster_zoomed(const struct raster *r, struct point p)
{
	return (struct point){ p.x * r->zoom, p.y * r->zoom };
}

/* Polygons turn the same way whatever the order of their points, so that overlapping
 * ones add up and never cancel. */
static void raster_add_turned(struct raster *r, const struct point *p, size_t n, int turn)
{
	double area = 0;

	for (size_t i = 0, j = n - 1; i < n; j = i++)
		area += (p[j].x - p[0].x) * (p[i].y - p[0].y) -
			(p[i].x - p[0].x) * (p[j].y - p[0].y);
	if (area < 0)
		turn = -turn;
	for (size_t i = 0, j = n - 1; i < n; j = i++)
		raster_edge(r, raster_zoomed(r, p[j]), raster_zoomed(r, p[i]), turn);
}

void raster_add(struct raster *r, const struct point *p, size_t n)
{
	if (n)
		raster_add_turned(r, p, n, 1);
}

void raster_cut(struct raster *r, const struct point *p, size_t n)
{
	if (n)
		raster_add_turned(r, p, n, -1);
}

static int by_x(const void *a, const void *b)
{
	const struct crossing *p = a, *q = b;

	return (p->x > q->x) - (p->x < q->x);
}

static size_t sorted_row(struct raster *r, int k)
{
	int head = r->heads[k];
	size_t n = 0, j;

	r->heads[k] = -1;
	for (int i = head; i >= 0; i = r->crossings[i].next) {
		if (!raster_grow(r, &r->row, &r->row_cap, n + 1))
			return 0;
		r->row[n++] = r->crossings[i];
	}
	if (n > FEW) {
		qsort(r->row, n, sizeof *r->row, by_x);
		return n;
	}
	for (size_t i = 1; i < n; i++) {
		struct crossing c = r->row[i];

		for (j = i; j > 0 && r->row[j - 1].x > c.x; j--)
			r->row[j] = r->row[j - 1];
		r->row[j] = c;
	}
	return n;
}

/* Adds the span [a, b) of one sub-row: `part` is what single pixels get, `rise` what
 * this pixel and all further ones get. */
static void raster_span(struct raster *r, float a, float b)
{
	const float w = 1.0F / ROWS;
	int i = (int)a, j = (int)b;

	r->touched[i / BLOCK] = r->touched[j / BLOCK] = 1;
	if (i == j) {
		r->part[i] += (b - a) * w;
		return;
	}
	r->part[i] += ((float)(i + 1) - a) * w;
	r->rise[i + 1] += w;
	r->touched[(i + 1) / BLOCK] = 1;
	r->rise[j] -= w;
	r->part[j] += (b - (float)j) * w;
}

static int raster_mix(int under, int over, int alpha)
{
	return under + ((over - under) * alpha + (over < under ? -128 : 128)) / 256;
}

struct paint {
	plot_colour colour;
	int red, green, blue;
	float opacity; /* 256: nothing shines through */
};

static int raster_blended(int under, const struct paint *p, int alpha)
{
	if (alpha >= 256)
		return (int)p->colour;
	return raster_mix(under >> 16 & 255, p->red, alpha) << 16 |
	       raster_mix(under >> 8 & 255, p->green, alpha) << 8 |
	       raster_mix(under & 255, p->blue, alpha);
}

enum {
	SHADES = 16 /* of an edge: the eye sees no more, and pictures get smaller */
};

/* Paints one row from the coverage that was collected, and clears that. */
static void raster_blend(struct raster *r, int *pixels, int from, int to, const struct paint *p)
{
	float level = 0, cover;

	for (int b = from / BLOCK; b <= to / BLOCK; b++) {
		int end = (b + 1) * BLOCK;

		if (!r->touched[b] && level == 0)
			continue;
		r->touched[b] = 0;
		/* one more than `to`: a span may end at the right edge of the clip */
		for (int x = b * BLOCK; x < end && x <= to; x++) {
			int alpha;

			level += r->rise[x];
			cover = level + r->part[x];
			r->rise[x] = r->part[x] = 0;
			cover = cover < 1 ? rintf(cover * SHADES) / SHADES : 1;
			alpha = (int)(cover * p->opacity + 0.5F);
			if (alpha > 0)
				pixels[x] = raster_blended(pixels[x], p, alpha);
		}
	}
}

/* The spans of one row of pixels; false: none. */
static bool raster_collect(struct raster *r, int y, int *from, int *to)
{
	*from = r->x1;
	*to = r->x0 - 1;
	for (int k = y * ROWS; k < (y + 1) * ROWS; k++) {
		size_t n = sorted_row(r, k);
		int winding = 0;

		for (size_t i = 0; i < n; i++) {
			if (winding && r->row[i].x > r->row[i - 1].x)
				raster_span(r, r->row[i - 1].x, r->row[i].x);
			winding += r->row[i].turn;
		}
		if (n && (int)r->row[0].x < *from)
			*from = (int)r->row[0].x;
		if (n && (int)r->row[n - 1].x > *to)
			*to = (int)r->row[n - 1].x;
	}
	return *from <= *to;
}

void raster_fill(struct raster *r, gdImagePtr im, plot_colour colour, double opacity)
{
	struct paint p = { colour, (int)(colour >> 16 & 255), (int)(colour >> 8 & 255),
			   (int)(colour & 255), (float)(opacity * 256) };
	int from, to;

	for (int y = r->first / ROWS; y * ROWS < r->last; y++) {
		if (raster_collect(r, y, &from, &to))
			raster_blend(r, im->tpixels[y], from, to, &p);
	}
	r->n = 0;
	r->first = r->height * ROWS;
	r->last = 0;
}
