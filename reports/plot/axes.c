/* axes.c - compute axis ranges, ticks and margins, and draw axes. */
#include "reports/plot/plot_internal.h"

#include <math.h>

/* Lengths in CSS pixels. */
static const double tick = 4, minor_tick = 2.5, gap = 4, between_labels = 8;
static const double names_beside = 150, names_below = 110, slant = 40;
/* Larger values could overflow in differences and margins. */
static const double huge_value = 1e300;

bool axis_can_show(const struct axis *a, double value)
{
	return isfinite(value) && (a->scale == PLOT_LINEAR || value > 0);
}

static bool axis_can_end_at(const struct axis *a, double value)
{
	return axis_can_show(a, value) && fabs(value) <= huge_value &&
	       (a->scale == PLOT_LINEAR || value >= 1 / huge_value);
}

void axis_reset_range(struct axis *a, bool tight)
{
	a->has_values = a->has_hidden_values = false;
	a->no_margin = tight;
}

void axis_include_value(struct axis *a, double value)
{
	if (isfinite(value) && !axis_can_show(a, value))
		a->has_hidden_values = true;
	if (!axis_can_end_at(a, value))
		return;
	a->lo = a->has_values ? fmin(a->lo, value) : value;
	a->hi = a->has_values ? fmax(a->hi, value) : value;
	a->has_values = true;
}

static double axis_to_scale(const struct axis *a, double value)
{
	return a->scale == PLOT_LOG ? log10(value) : value;
}

static double axis_from_scale(const struct axis *a, double value)
{
	return a->scale == PLOT_LOG ? pow(10, fmin(fmax(value, -305), 305)) : value;
}

static bool axis_is_fixed(const struct axis *a, int end)
{
	return axis_can_end_at(a, a->limits[end]);
}

/* Padding around values from lo to hi. */
static double axis_padding(const struct axis *a, double lo, double hi)
{
	double size = fmax(fabs(lo), fabs(hi));

	if (hi - lo > 1e-9 * size)
		return a->no_margin ? 0 : 0.04 * (hi - lo);
	if (a->scale == PLOT_LOG)
		return 0.5;
	if (a->integer_ticks)
		return 1;
	return size > 0 ? 0.1 * size : 1;
}

void axis_finish_range(struct axis *a)
{
	double lo, hi, pad;
	bool alone;

	if (a->ncategories) {
		a->lo = -0.5;
		a->hi = (double)a->ncategories - 0.5;
		return;
	}
	if (!a->has_values) {
		a->lo = a->scale == PLOT_LOG ? 1 : 0;
		a->hi = a->scale == PLOT_LOG ? 10 : 1;
		a->no_margin = true;
	}
	lo = axis_is_fixed(a, 0) ? a->limits[0] : a->lo;
	hi = axis_is_fixed(a, 1) ? a->limits[1] : a->hi;
	a->lo = fmin(lo, hi);
	a->hi = fmax(lo, hi);
	lo = axis_to_scale(a, a->lo);
	hi = axis_to_scale(a, a->hi);
	pad = axis_padding(a, lo, hi);
	alone = hi - lo <= pad;
	if (!axis_is_fixed(a, 0) || alone)
		a->lo = axis_from_scale(a, lo - pad);
	if (!axis_is_fixed(a, 1) || alone)
		a->hi = axis_from_scale(a, hi + pad);
	/* values of one sign need no room across zero */
	if (a->scale == PLOT_LINEAR && lo >= 0 && hi > lo)
		a->lo = fmax(a->lo, 0);
	if (a->scale == PLOT_LINEAR && hi <= 0 && hi > lo)
		a->hi = fmin(a->hi, 0);
}

double axis_fraction(const struct axis *a, double value)
{
	const double far = 1e4; /* outside the picture, but a valid coordinate */
	double lo = axis_to_scale(a, a->lo), hi = axis_to_scale(a, a->hi),
	       t = (axis_to_scale(a, value) - lo) / (hi - lo);

	return fmin(fmax(t, -far), far);
}

double axis_to_pixel(const struct axis *a, double value)
{
	return a->pixel_lo + axis_fraction(a, value) * (a->pixel_hi - a->pixel_lo);
}

/* Whether the labels of two ticks touch on an axis of this length. */
static bool tick_labels_touch(struct canvas *c, const struct axis *a, enum plot_side side,
			      double length, size_t i, size_t k)
{
	const struct ticks *t = &a->ticks;
	double need = side == PLOT_X ? (text_width(c, FONT_TICK, t->label[i]) + between_labels +
					text_width(c, FONT_TICK, t->label[k]) + between_labels) /
					       2
				     : text_line_height(c, FONT_TICK);

	return (axis_fraction(a, t->at[k]) - axis_fraction(a, t->at[i])) * length < need;
}

static bool labels_fit(struct canvas *c, const struct axis *a, enum plot_side side, double length)
{
	for (size_t i = 1; i < a->ticks.n; i++)
		if (tick_labels_touch(c, a, side, length, i - 1, i))
			return false;
	return true;
}

static void choose_category_ticks(struct canvas *c, struct axis *a, enum plot_side side,
				  double length)
{
	struct ticks *t = &a->ticks;
	double slot = length / (double)a->ncategories, widest = 0, limit;
	size_t stride;

	for (size_t i = 0; i < a->ncategories; i++)
		widest = fmax(widest, text_width(c, FONT_TICK, a->categories[i]));
	a->labels_slanted = side == PLOT_X && widest + between_labels > slot;
	limit = side == PLOT_Y ? fmin(names_beside, c->plot->width / (c->for_print ? 2.6 : 6.0))
		: a->labels_slanted ? names_below
				    : widest;
	stride = (size_t)ceil(text_line_height(c, FONT_TICK) / slot);
	if (a->ncategories / stride >= TICKS_MAX)
		stride = a->ncategories / TICKS_MAX + 1;
	t->n = t->nminor = 0;
	for (size_t i = 0; i < a->ncategories; i += stride) {
		t->at[t->n] = (double)i;
		text_ellipsize(c, FONT_TICK, a->categories[i], limit, t->label[t->n++]);
	}
}

void axis_ticks(struct canvas *c, struct axis *a, enum plot_side side, double length)
{
	double limit = a->scale == PLOT_LOG ? 11 : 9;
	size_t most = (size_t)fmax(2, fmin(length / (side == PLOT_X ? 50 : 28), limit));

	if (a->ncategories) {
		choose_category_ticks(c, a, side, length);
		return;
	}
	for (;; most--) {
		if (a->scale == PLOT_LOG)
			ticks_log(&a->ticks, a->lo, a->hi, most);
		else
			ticks_linear(&a->ticks, a->lo, a->hi, most, a->integer_ticks);
		if (labels_fit(c, a, side, length))
			return;
		if (most <= 2)
			break;
	}
	/* if even the fewest ticks are too close, some lose their label */
	for (size_t i = 1, kept = 0; i < a->ticks.n; i++) {
		if (tick_labels_touch(c, a, side, length, kept, i))
			a->ticks.label[i][0] = '\0';
		else
			kept = i;
	}
}

double axis_max_label_width(struct canvas *c, const struct axis *a)
{
	double widest = 0;

	for (size_t i = 0; i < a->ticks.n; i++)
		widest = fmax(widest, text_width(c, FONT_TICK, a->ticks.label[i]));
	return widest;
}

static double label_height(struct canvas *c, const struct axis *a, double length)
{
	struct wrapped_text l;

	text_wrap(c, FONT_AXIS, a->label, length, 2, &l);
	return (double)l.n * text_line_height(c, FONT_AXIS);
}

static double x_tick_labels_height(struct canvas *c, const struct axis *x)
{
	if (!x->ticks.n)
		return 0;
	if (x->labels_slanted)
		return axis_max_label_width(c, x) * sin(slant * M_PI / 180) +
		       text_line_height(c, FONT_TICK);
	return text_line_height(c, FONT_TICK);
}

void axes_measure(struct canvas *c, struct plot_panel *a, struct margins *m)
{
	struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];
	double width = a->area.x1 - a->area.x0, height = a->area.y1 - a->area.y0;
	double left = 0, right = 0; /* overhang of x axis labels */

	if (panel_has_data(a) || (axis_is_fixed(x, 0) && axis_is_fixed(x, 1)))
		axis_ticks(c, x, PLOT_X, width);
	if (panel_has_data(a) || (axis_is_fixed(y, 0) && axis_is_fixed(y, 1)))
		axis_ticks(c, y, PLOT_Y, height);
	for (size_t i = 0; i < x->ticks.n; i++) {
		double at = axis_fraction(x, x->ticks.at[i]) * width,
		       label = text_width(c, FONT_TICK, x->ticks.label[i]);

		if (x->labels_slanted) {
			left = fmax(left, label * cos(slant * M_PI / 180) - at);
		} else {
			left = fmax(left, label / 2 - at);
			right = fmax(right, at + label / 2 - width);
		}
	}
	m->left = tick + gap + axis_max_label_width(c, y) + gap + label_height(c, y, height);
	m->left = fmax(m->left, left);
	m->right = fmax(fmax(right, gap), labels_overhang(c, a, width));
	m->top = text_line_height(c, FONT_TICK) / 2;
	m->bottom = tick + 2 + x_tick_labels_height(c, x) + 2 + label_height(c, x, width);
}

static void axis_rule(struct canvas *c, enum plot_side side, double at, double from, double to,
		      plot_colour colour)
{
	if (side == PLOT_X)
		canvas_rule(c, (struct point){ at, from }, (struct point){ at, to }, colour);
	else
		canvas_rule(c, (struct point){ from, at }, (struct point){ to, at }, colour);
}

void axes_draw_grid(struct canvas *c, struct plot_panel *a)
{
	const struct rect *r = &a->area;

	for (enum plot_side side = PLOT_X; side <= PLOT_Y; side++) {
		const struct axis *x = &a->axis[side];

		for (size_t i = 0; i < x->ticks.n && !x->ncategories; i++)
			axis_rule(c, side, axis_to_pixel(x, x->ticks.at[i]),
				  side == PLOT_X ? r->y0 : r->x0, side == PLOT_X ? r->y1 : r->x1,
				  GRID_COLOUR);
	}
}

/* Draws marks below the x axis or left of the y axis. */
static void draw_tick_marks(struct canvas *c, const struct axis *a, enum plot_side side,
			    double edge)
{
	const struct ticks *t = &a->ticks;

	for (size_t i = 0; i < t->nminor; i++)
		axis_rule(c, side, axis_to_pixel(a, t->minor[i]),
			  side == PLOT_X ? edge : edge - minor_tick,
			  side == PLOT_X ? edge + minor_tick : edge, AXIS_COLOUR);
	for (size_t i = 0; i < t->n; i++)
		axis_rule(c, side, axis_to_pixel(a, t->at[i]), side == PLOT_X ? edge : edge - tick,
			  side == PLOT_X ? edge + tick : edge, AXIS_COLOUR);
}

static void draw_x(struct canvas *c, const struct axis *x, const struct rect *r)
{
	const struct ticks *t = &x->ticks;
	double y = r->y1, middle = y + tick + 2 + text_line_height(c, FONT_TICK) / 2;
	struct wrapped_text l;

	canvas_rule(c, (struct point){ r->x0 - 0.5, y }, (struct point){ r->x1, y }, AXIS_COLOUR);
	draw_tick_marks(c, x, PLOT_X, y);
	for (size_t i = 0; i < t->n; i++) {
		double at = axis_to_pixel(x, t->at[i]);

		text_draw(c, FONT_TICK, (struct point){ x->labels_slanted ? at + 3 : at, middle },
			  x->labels_slanted ? 1 : 0.5, x->labels_slanted ? slant : 0, t->label[i],
			  AXIS_COLOUR);
	}
	text_wrap(c, FONT_AXIS, x->label, r->x1 - r->x0, 2, &l);
	text_draw_lines(c, FONT_AXIS,
			(struct point){ (r->x0 + r->x1) / 2,
					y + tick + 2 + x_tick_labels_height(c, x) + 2 },
			0.5, &l, TITLE_COLOUR);
}

static void draw_y(struct canvas *c, const struct axis *y, const struct rect *r)
{
	const struct ticks *t = &y->ticks;
	double x = r->x0, edge = x - tick - gap, step = text_line_height(c, FONT_AXIS);
	struct wrapped_text l;

	canvas_rule(c, (struct point){ x, r->y0 }, (struct point){ x, r->y1 + 0.5 }, AXIS_COLOUR);
	draw_tick_marks(c, y, PLOT_Y, x);
	for (size_t i = 0; i < t->n; i++)
		text_draw(c, FONT_TICK, (struct point){ edge, axis_to_pixel(y, t->at[i]) }, 1, 0,
			  t->label[i], AXIS_COLOUR);
	text_wrap(c, FONT_AXIS, y->label, r->y1 - r->y0, 2, &l);
	edge -= axis_max_label_width(c, y) + gap;
	for (size_t i = 0; i < l.n; i++)
		text_draw(c, FONT_AXIS,
			  (struct point){ edge - step * ((double)(l.n - i) - 0.5),
					  (r->y0 + r->y1) / 2 },
			  0.5, 90, l.line[i], TITLE_COLOUR);
}

void axes_draw(struct canvas *c, struct plot_panel *a)
{
	const struct rect *r = &a->area;

	draw_x(c, &a->axis[PLOT_X], r);
	draw_y(c, &a->axis[PLOT_Y], r);
	if (!a->heatmap)
		return;
	canvas_rule(c, (struct point){ r->x0 - 0.5, r->y0 }, (struct point){ r->x1 + 0.5, r->y0 },
		    AXIS_COLOUR);
	canvas_rule(c, (struct point){ r->x1, r->y0 - 0.5 }, (struct point){ r->x1, r->y1 + 0.5 },
		    AXIS_COLOUR);
}
