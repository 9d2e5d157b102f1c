/* axes.c - ranges, ticks that fit, margins for them, and the drawing of axes. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdlib.h>

/* Lengths in CSS pixels. */
static const double tick = 4, minor_tick = 2.5, gap = 4, between_labels = 8;
static const double names_beside = 150, names_below = 110, slant = 40;
/* Beyond this, differences and margins of values are no longer numbers. */
static const double huge_value = 1e300;

bool axis_shows(const struct axis *a, double value)
{
	return isfinite(value) && (a->scale == PLOT_LINEAR || value > 0);
}

/* Can the axis end at this value? */
static bool can_limit(const struct axis *a, double value)
{
	return axis_shows(a, value) && fabs(value) <= huge_value &&
	       (a->scale == PLOT_LINEAR || value >= 1 / huge_value);
}

void axis_begin(struct axis *a, bool tight)
{
	a->any = a->hidden = false;
	a->tight = tight;
}

void axis_see(struct axis *a, double value)
{
	if (isfinite(value) && !axis_shows(a, value))
		a->hidden = true;
	if (!can_limit(a, value))
		return;
	a->lo = a->any ? fmin(a->lo, value) : value;
	a->hi = a->any ? fmax(a->hi, value) : value;
	a->any = true;
}

static double axis_scaled(const struct axis *a, double value)
{
	return a->scale == PLOT_LOG ? log10(value) : value;
}

static double axis_unscaled(const struct axis *a, double value)
{
	return a->scale == PLOT_LOG ? pow(10, fmin(fmax(value, -305), 305)) : value;
}

static bool axis_is_fixed(const struct axis *a, int end)
{
	return can_limit(a, a->want[end]);
}

/* How far a range goes beyond values from lo to hi. */
static double axis_padding(const struct axis *a, double lo, double hi)
{
	double size = fmax(fabs(lo), fabs(hi));

	if (hi - lo > 1e-9 * size)
		return a->tight ? 0 : 0.04 * (hi - lo);
	if (a->scale == PLOT_LOG)
		return 0.5;
	if (a->whole)
		return 1;
	return size > 0 ? 0.1 * size : 1;
}

void axis_settle(struct axis *a)
{
	double lo, hi, pad;
	bool alone;

	if (a->nnames) {
		a->lo = -0.5;
		a->hi = (double)a->nnames - 0.5;
		return;
	}
	if (!a->any) {
		a->lo = a->scale == PLOT_LOG ? 1 : 0;
		a->hi = a->scale == PLOT_LOG ? 10 : 1;
		a->tight = true;
	}
	lo = axis_is_fixed(a, 0) ? a->want[0] : a->lo;
	hi = axis_is_fixed(a, 1) ? a->want[1] : a->hi;
	a->lo = fmin(lo, hi);
	a->hi = fmax(lo, hi);
	lo = axis_scaled(a, a->lo);
	hi = axis_scaled(a, a->hi);
	pad = axis_padding(a, lo, hi);
	alone = hi - lo <= pad;
	if (!axis_is_fixed(a, 0) || alone)
		a->lo = axis_unscaled(a, lo - pad);
	if (!axis_is_fixed(a, 1) || alone)
		a->hi = axis_unscaled(a, hi + pad);
	/* values of one sign do not need room on the other side of zero */
	if (a->scale == PLOT_LINEAR && lo >= 0 && hi > lo)
		a->lo = fmax(a->lo, 0);
	if (a->scale == PLOT_LINEAR && hi <= 0 && hi > lo)
		a->hi = fmin(a->hi, 0);
}

double axis_share(const struct axis *a, double value)
{
	const double far = 1e4; /* out of sight, and still a place */
	double lo = axis_scaled(a, a->lo), hi = axis_scaled(a, a->hi),
	       t = (axis_scaled(a, value) - lo) / (hi - lo);

	return fmin(fmax(t, -far), far);
}

double axis_at(const struct axis *a, double value)
{
	return a->from + axis_share(a, value) * (a->to - a->from);
}

/* ---- ticks that fit ---- */

static double axis_label_room(struct canvas *c, const char *label, enum plot_side side)
{
	return side == PLOT_X ? text_width(c, FONT_TICK, label) + between_labels
			      : text_line_height(c, FONT_TICK);
}

static bool labels_fit(struct canvas *c, const struct axis *a, enum plot_side side, double length)
{
	const struct ticks *t = &a->ticks;

	for (size_t i = 1; i < t->n; i++) {
		double need = (axis_label_room(c, t->label[i - 1], side) +
			       axis_label_room(c, t->label[i], side)) /
			      2;

		if ((axis_share(a, t->at[i]) - axis_share(a, t->at[i - 1])) * length < need)
			return false;
	}
	return true;
}

/* Where even the fewest ticks are too close, some keep only their mark. */
static void thin_labels(struct canvas *c, struct axis *a, enum plot_side side, double length)
{
	struct ticks *t = &a->ticks;
	size_t kept = 0;

	for (size_t i = 1; i < t->n; i++) {
		double need = (axis_label_room(c, t->label[kept], side) +
			       axis_label_room(c, t->label[i], side)) /
			      2;

		if ((axis_share(a, t->at[i]) - axis_share(a, t->at[kept])) * length < need)
			t->label[i][0] = '\0';
		else
			kept = i;
	}
}

static void name_ticks(struct canvas *c, struct axis *a, enum plot_side side, double length)
{
	struct ticks *t = &a->ticks;
	double slot = length / (double)a->nnames, widest = 0, limit;
	size_t stride;

	for (size_t i = 0; i < a->nnames; i++)
		widest = fmax(widest, text_width(c, FONT_TICK, a->names[i]));
	a->slanted = side == PLOT_X && widest + between_labels > slot;
	limit = side == PLOT_Y ? fmin(names_beside, c->plot->width / (c->print ? 2.6 : 6.0))
		: a->slanted   ? names_below
			       : widest;
	stride = (size_t)ceil(text_line_height(c, FONT_TICK) / slot);
	if (a->nnames / stride >= TICKS_MAX)
		stride = a->nnames / TICKS_MAX + 1;
	t->n = t->nminor = 0;
	for (size_t i = 0; i < a->nnames; i += stride) {
		t->at[t->n] = (double)i;
		text_fit(c, FONT_TICK, a->names[i], limit, t->label[t->n++]);
	}
}

void axis_ticks(struct canvas *c, struct axis *a, enum plot_side side, double length)
{
	double limit = a->scale == PLOT_LOG ? 11 : 9;
	size_t most = (size_t)fmax(2, fmin(length / (side == PLOT_X ? 50 : 28), limit));

	if (a->nnames) {
		name_ticks(c, a, side, length);
		return;
	}
	for (;; most--) {
		if (a->scale == PLOT_LOG)
			ticks_log(&a->ticks, a->lo, a->hi, most);
		else
			ticks_linear(&a->ticks, a->lo, a->hi, most, a->whole);
		if (labels_fit(c, a, side, length))
			return;
		if (most <= 2)
			break;
	}
	thin_labels(c, a, side, length);
}

double axis_widest(struct canvas *c, const struct axis *a)
{
	double widest = 0;

	for (size_t i = 0; i < a->ticks.n; i++)
		widest = fmax(widest, text_width(c, FONT_TICK, a->ticks.label[i]));
	return widest;
}

/* ---- margins ---- */

static double label_height(struct canvas *c, const struct axis *a, double length)
{
	struct lines l;

	text_wrap(c, FONT_AXIS, a->label, length, 2, &l);
	return (double)l.n * text_line_height(c, FONT_AXIS);
}

static double axis_below(struct canvas *c, const struct axis *x)
{
	if (!x->ticks.n)
		return 0;
	if (x->slanted)
		return axis_widest(c, x) * sin(slant * M_PI / 180) + text_line_height(c, FONT_TICK);
	return text_line_height(c, FONT_TICK);
}

/* What labels of the x axis need beyond its ends. */
static void axis_overhang(struct canvas *c, const struct axis *x, double length, double *left,
			  double *right)
{
	const struct ticks *t = &x->ticks;

	*left = *right = 0;
	for (size_t i = 0; i < t->n; i++) {
		double at = axis_share(x, t->at[i]) * length,
		       width = text_width(c, FONT_TICK, t->label[i]);

		if (x->slanted) {
			*left = fmax(*left, width * cos(slant * M_PI / 180) - at);
		} else {
			*left = fmax(*left, width / 2 - at);
			*right = fmax(*right, at + width / 2 - length);
		}
	}
}

void axes_measure(struct canvas *c, struct plot_panel *a, struct margins *m)
{
	struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];
	double width = a->area.x1 - a->area.x0, height = a->area.y1 - a->area.y0, left, right;

	if (panel_has_data(a) || (axis_is_fixed(x, 0) && axis_is_fixed(x, 1)))
		axis_ticks(c, x, PLOT_X, width);
	if (panel_has_data(a) || (axis_is_fixed(y, 0) && axis_is_fixed(y, 1)))
		axis_ticks(c, y, PLOT_Y, height);
	axis_overhang(c, x, width, &left, &right);
	m->left = tick + gap + axis_widest(c, y) + gap + label_height(c, y, height);
	m->left = fmax(m->left, left);
	m->right = fmax(fmax(right, gap), labels_overhang(c, a, width));
	m->top = text_line_height(c, FONT_TICK) / 2;
	m->bottom = tick + 2 + axis_below(c, x) + 2 + label_height(c, x, width);
}

/* ---- drawing ---- */

void axes_draw_grid(struct canvas *c, struct plot_panel *a)
{
	const struct rect *r = &a->area;
	const struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];

	for (size_t i = 0; i < x->ticks.n && !x->nnames; i++) {
		double at = axis_at(x, x->ticks.at[i]);

		canvas_rule(c, (struct point){ at, r->y0 }, (struct point){ at, r->y1 }, GRID);
	}
	for (size_t i = 0; i < y->ticks.n && !y->nnames; i++) {
		double at = axis_at(y, y->ticks.at[i]);

		canvas_rule(c, (struct point){ r->x0, at }, (struct point){ r->x1, at }, GRID);
	}
}

static void draw_x(struct canvas *c, const struct axis *x, const struct rect *r)
{
	const struct ticks *t = &x->ticks;
	double y = r->y1, middle = y + tick + 2 + text_line_height(c, FONT_TICK) / 2;
	struct lines l;

	canvas_rule(c, (struct point){ r->x0 - 0.5, y }, (struct point){ r->x1, y }, GREY);
	for (size_t i = 0; i < t->nminor; i++) {
		double at = axis_at(x, t->minor[i]);

		canvas_rule(c, (struct point){ at, y }, (struct point){ at, y + minor_tick }, GREY);
	}
	for (size_t i = 0; i < t->n; i++) {
		double at = axis_at(x, t->at[i]);

		canvas_rule(c, (struct point){ at, y }, (struct point){ at, y + tick }, GREY);
	}
	for (size_t i = 0; i < t->n; i++) {
		double at = axis_at(x, t->at[i]);

		text_draw(c, FONT_TICK, (struct point){ x->slanted ? at + 3 : at, middle },
			  x->slanted ? 1 : 0.5, x->slanted ? slant : 0, t->label[i], GREY);
	}
	text_wrap(c, FONT_AXIS, x->label, r->x1 - r->x0, 2, &l);
	text_lines(c, FONT_AXIS,
		   (struct point){ (r->x0 + r->x1) / 2, y + tick + 2 + axis_below(c, x) + 2 }, 0.5,
		   &l, INK);
}

static void draw_y(struct canvas *c, const struct axis *y, const struct rect *r)
{
	const struct ticks *t = &y->ticks;
	double x = r->x0, edge = x - tick - gap, step = text_line_height(c, FONT_AXIS);
	struct lines l;

	canvas_rule(c, (struct point){ x, r->y0 }, (struct point){ x, r->y1 + 0.5 }, GREY);
	for (size_t i = 0; i < t->nminor; i++) {
		double at = axis_at(y, t->minor[i]);

		canvas_rule(c, (struct point){ x - minor_tick, at }, (struct point){ x, at }, GREY);
	}
	for (size_t i = 0; i < t->n; i++) {
		double at = axis_at(y, t->at[i]);

		canvas_rule(c, (struct point){ x - tick, at }, (struct point){ x, at }, GREY);
	}
	for (size_t i = 0; i < t->n; i++)
		text_draw(c, FONT_TICK, (struct point){ edge, axis_at(y, t->at[i]) }, 1, 0,
			  t->label[i], GREY);
	text_wrap(c, FONT_AXIS, y->label, r->y1 - r->y0, 2, &l);
	edge -= axis_widest(c, y) + gap;
	for (size_t i = 0; i < l.n; i++)
		text_draw(c, FONT_AXIS,
			  (struct point){ edge - step * ((double)(l.n - i) - 0.5),
					  (r->y0 + r->y1) / 2 },
			  0.5, 90, l.line[i], INK);
}

void axes_draw(struct canvas *c, struct plot_panel *a)
{
	const struct rect *r = &a->area;

	draw_x(c, &a->axis[PLOT_X], r);
	draw_y(c, &a->axis[PLOT_Y], r);
	if (!a->heat)
		return;
	canvas_rule(c, (struct point){ r->x0 - 0.5, r->y0 }, (struct point){ r->x1 + 0.5, r->y0 },
		    GREY);
	canvas_rule(c, (struct point){ r->x1, r->y0 - 0.5 }, (struct point){ r->x1, r->y1 + 0.5 },
		    GREY);
}

void axis_free(struct axis *a)
{
	free(a->label);
	for (size_t i = 0; i < a->nnames; i++)
		free(a->names[i]);
	free(a->names);
}
