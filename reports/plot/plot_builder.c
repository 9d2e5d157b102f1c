/* plot_builder.c - what a figure shows, as its author adds it. */
#include "reports/plot/plot_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLOT_SIDE_MAX = 4000, /* CSS pixels */
	WIDE_PLOT_MIN = 800   /* from here on its text is too small at half a page */
};

/* ---- copies; what cannot be had is told by plot_render() ---- */

static void plot_set_text(struct plot *p, char **to, const char *text)
{
	free(*to);
	*to = NULL;
	if (!text)
		return;
	*to = text_sanitized_copy(text);
	if (!*to)
		p->failed = true;
}

static double *copy_values(struct plot *p, const double *v, size_t n)
{
	double *out = dp_malloc((n ? n : 1) * sizeof *out);

	if (!out)
		p->failed = true;
	else if (n)
		memcpy(out, v, n * sizeof *out);
	return out;
}

static char **copy_names(struct plot *p, const char *const *names, size_t n)
{
	char **out = dp_calloc(n ? n : 1, sizeof *out);

	if (!out)
		p->failed = true;
	for (size_t i = 0; out && i < n; i++)
		plot_set_text(p, &out[i], names[i] ? names[i] : "");
	return out;
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

/* ---- figure and panels ---- */

struct plot *plot_new(int width, int height, const char *title)
{
	struct plot *p = dp_calloc(1, sizeof *p);

	p->width = width < 1 ? 1 : width > PLOT_SIDE_MAX ? PLOT_SIDE_MAX : width;
	p->height = height < 1 ? 1 : height > PLOT_SIDE_MAX ? PLOT_SIDE_MAX : height;
	plot_set_text(p, &p->title, title);
	plot_grid(p, 1, 1);
	plot_id(p, "figure");
	return p;
}

void plot_id(struct plot *p, const char *id)
{
	size_t n = 0;

	if (!p)
		return;
	for (; id[n] && n + 1 < sizeof p->id; n++)
		p->id[n] = isalnum((unsigned char)id[n]) ? id[n] : '-';
	p->id[n] = '\0';
}

bool plot_is_wide(const struct plot *p)
{
	return p && p->width > WIDE_PLOT_MIN;
}

bool plot_is_single_row(const struct plot *p)
{
	return plot_is_wide(p) && p->rows == 1;
}

void plot_hide_title(struct plot *p)
{
	if (p)
		p->no_title = true;
}

static void panel_free(struct plot_panel *a)
{
	if (!a)
		return;
	free(a->title);
	free(a->empty_text);
	for (size_t i = 0; i < a->nseries; i++) {
		free(a->series[i].name);
		free_names(a->series[i].tooltips, a->series[i].ntooltips);
		free_names(a->series[i].links, a->series[i].ntooltips);
		for (size_t k = 0; k < DP_COUNT(a->series[i].values); k++)
			free(a->series[i].values[k]);
	}
	free(a->series);
	for (size_t i = 0; i < a->nlabels; i++)
		free(a->labels[i].text);
	free(a->labels);
	axis_free(&a->axis[PLOT_X]);
	axis_free(&a->axis[PLOT_Y]);
	heatmap_free(a->heatmap);
	parallel_free(a->parallel);
	legend_free(&a->legend);
	free(a);
}

static void free_panels(struct plot *p)
{
	for (int i = 0; p->panels && i < p->rows * p->columns; i++)
		panel_free(p->panels[i]);
	free(p->panels);
	p->panels = NULL;
}

void plot_free(struct plot *p)
{
	if (!p)
		return;
	free_panels(p);
	legend_free(&p->legend);
	free(p->title);
	free(p->note);
	free(p);
}

void plot_grid(struct plot *p, int rows, int columns)
{
	if (!p)
		return;
	free_panels(p);
	p->rows = rows < 1 ? 1 : rows > 100 ? 100 : rows;
	p->columns = columns < 1 ? 1 : columns > 100 ? 100 : columns;
	p->panels = dp_calloc((size_t)p->rows * (size_t)p->columns, sizeof *p->panels);
	if (!p->panels)
		p->failed = true;
}

struct plot_panel *plot_panel(struct plot *p, int row, int column)
{
	struct plot_panel **a;

	if (!p)
		return NULL;
	if (row < 0 || row >= p->rows || column < 0 || column >= p->columns) {
		p->misused = true;
		return NULL;
	}
	if (!p->panels)
		return NULL;
	a = &p->panels[row * p->columns + column];
	if (*a)
		return *a;
	*a = dp_calloc(1, sizeof **a);
	if (!*a) {
		p->failed = true;
		return NULL;
	}
	(*a)->plot = p;
	for (int side = 0; side < 2; side++)
		(*a)->axis[side].limits[0] = (*a)->axis[side].limits[1] = NAN;
	return *a;
}

const char *plot_buf_text(struct plot *p, const struct dp_buf *text)
{
	(void)p;
	return dp_buf_text(text);
}

const char *panel_buf_text(struct plot_panel *a, const struct dp_buf *text)
{
	return plot_buf_text(a ? a->plot : NULL, text);
}

void panel_set_failed(struct plot_panel *a)
{
	if (a)
		a->plot->failed = true;
}

void plot_note(struct plot *p, const char *text)
{
	if (p)
		plot_set_text(p, &p->note, text);
}

/* ---- axes ---- */

void panel_title(struct plot_panel *a, const char *title)
{
	if (a)
		plot_set_text(a->plot, &a->title, title);
}

void panel_axis(struct plot_panel *a, enum plot_side side, const char *label, enum plot_scale scale)
{
	if (!a)
		return;
	plot_set_text(a->plot, &a->axis[side].label, label);
	a->axis[side].scale = scale;
}

void panel_limits(struct plot_panel *a, enum plot_side side, double lo, double hi)
{
	if (!a)
		return;
	a->axis[side].limits[0] = lo;
	a->axis[side].limits[1] = hi;
}

void panel_set_integer_ticks(struct plot_panel *a, enum plot_side side)
{
	if (a)
		a->axis[side].integer_ticks = true;
}

static void set_names(struct plot *p, struct axis *x, const char *const *names, size_t n)
{
	for (size_t i = 0; i < x->ncategories; i++)
		free(x->categories[i]);
	free(x->categories);
	x->categories = copy_names(p, names, n);
	x->ncategories = x->categories ? n : 0;
}

void panel_set_categories(struct plot_panel *a, enum plot_side side, const char *const *names,
			  size_t n)
{
	if (a)
		set_names(a->plot, &a->axis[side], names, n);
}

void panel_set_empty_text(struct plot_panel *a, const char *why)
{
	if (a)
		plot_set_text(a->plot, &a->empty_text, why);
}

/* ---- series ---- */

/* NULL arrays are not there. */
static struct series *add_series(struct plot_panel *a, enum series_kind kind,
				 const struct plot_style *s, const char *name,
				 const double *const v[4], size_t n)
{
	struct series *new;

	if (!a)
		return NULL;
	new = grow_array(a->series, &a->series_cap, a->nseries + 1, sizeof *new);
	if (!new) {
		a->plot->failed = true;
		return NULL;
	}
	a->series = new;
	new += a->nseries++;
	*new = (struct series){ 0 };
	new->kind = kind;
	new->style = style_with_defaults(s);
	plot_set_text(a->plot, &new->name, name);
	for (size_t k = 0; k < 4 && v[k]; k++)
		new->values[k] = copy_values(a->plot, v[k], n);
	new->n = n;
	return new;
}

void panel_line(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *y, size_t n)
{
	add_series(a, SERIES_LINE, s, name, (const double *const[4]){ x, y }, n);
}

void panel_steps(struct plot_panel *a, const struct plot_style *s, const char *name,
		 const double *x, const double *y, size_t n)
{
	add_series(a, SERIES_STEPS, s, name, (const double *const[4]){ x, y }, n);
}

void panel_points(struct plot_panel *a, const struct plot_style *s, const char *name,
		  const double *x, const double *y, size_t n)
{
	add_series(a, SERIES_POINTS, s, name, (const double *const[4]){ x, y }, n);
}

void panel_add_error_bars(struct plot_panel *a, const struct plot_style *s, const char *name,
			  const double *x, const double *lo, const double *hi, size_t n)
{
	add_series(a, SERIES_ERROR_BARS, s, name, (const double *const[4]){ x, lo, hi }, n);
}

void panel_band(struct plot_panel *a, const struct plot_style *s, const char *name, const double *x,
		const double *lo, const double *hi, size_t n, bool steps)
{
	struct series *new =
		add_series(a, SERIES_BAND, s, name, (const double *const[4]){ x, lo, hi }, n);

	if (!new)
		return;
	new->steps = steps;
	if (!(s->opacity > 0))
		new->style.opacity = 0.25;
}

void panel_add_rects(struct plot_panel *a, const struct plot_style *s, const char *name,
		     const double *x0, const double *x1, const double *y0, const double *y1,
		     size_t n)
{
	add_series(a, SERIES_RECTS, s, name, (const double *const[4]){ x0, x1, y0, y1 }, n);
}

void panel_add_reference_line(struct plot_panel *a, const struct plot_style *s, enum plot_side side,
			      double at, const char *label)
{
	struct series *new =
		add_series(a, SERIES_REFERENCE_LINE, s, label, (const double *const[4]){ &at }, 1);

	if (new)
		new->side = side;
}

void panel_add_region(struct plot_panel *a, const struct plot_style *s, const char *name, double x0,
		      double x1, double y0, double y1)
{
	add_series(a, SERIES_REGION, s, name, (const double *const[4]){ &x0, &x1, &y0, &y1 }, 1);
}

/* Copies of texts of which each may be NULL. */
static char **plot_copy_tooltips(struct plot *p, const char *const *texts, size_t n)
{
	char **out = dp_calloc(n ? n : 1, sizeof *out);

	if (!out)
		p->failed = true;
	for (size_t i = 0; out && i < n; i++)
		plot_set_text(p, &out[i], texts[i]);
	return out;
}

void panel_add_tooltips(struct plot_panel *a, const char *const *tips, const char *const *links,
			size_t n)
{
	struct series *s = a && a->nseries ? &a->series[a->nseries - 1] : NULL;

	if (!s || s->tooltips || n > PLOT_TOOLTIPS_MAX)
		return;
	s->tooltips = plot_copy_tooltips(a->plot, tips, n);
	s->links = links ? plot_copy_tooltips(a->plot, links, n) : NULL;
	s->ntooltips = n;
}

static void panel_add_text(struct plot_panel *a, double x, double y, const char *text, bool fixed)
{
	struct label *l;

	if (!a || !text)
		return;
	l = grow_array(a->labels, &a->labels_cap, a->nlabels + 1, sizeof *l);
	if (!l) {
		a->plot->failed = true;
		return;
	}
	a->labels = l;
	l += a->nlabels++;
	*l = (struct label){ 0 };
	l->x = x;
	l->y = y;
	l->is_fixed = fixed;
	plot_set_text(a->plot, &l->text, text);
}

void panel_label(struct plot_panel *a, double x, double y, const char *text)
{
	panel_add_text(a, x, y, text, false);
}

void panel_add_value_label(struct plot_panel *a, double x, double y, const char *text)
{
	panel_add_text(a, x, y, text, true);
}

void panel_heat(struct plot_panel *a, enum plot_colourmap map, const double *x, size_t nx,
		const double *y, size_t ny, const double *z, enum plot_scale scale,
		const char *label)
{
	struct heatmap *h;

	if (!a)
		return;
	heatmap_free(a->heatmap);
	a->heatmap = h = dp_calloc(1, sizeof *h);
	if (!h) {
		a->plot->failed = true;
		return;
	}
	h->nx = nx;
	h->ny = ny;
	h->x = copy_values(a->plot, x, nx + 1);
	h->y = copy_values(a->plot, y, ny + 1);
	h->z = copy_values(a->plot, z, nx * ny);
	h->bar.map = map;
	h->bar.axis.scale = scale;
	h->bar.axis.limits[0] = h->bar.axis.limits[1] = NAN;
	plot_set_text(a->plot, &h->bar.axis.label, label);
}

void panel_heat_limits(struct plot_panel *a, enum plot_scale scale, double lo, double hi)
{
	if (!a || !a->heatmap)
		return;
	a->heatmap->bar.axis.scale = scale;
	a->heatmap->bar.axis.limits[0] = lo;
	a->heatmap->bar.axis.limits[1] = hi;
}

void panel_parallel(struct plot_panel *a, const struct plot_parallel_axis *axes, size_t n,
		    const double *values, size_t m, const double *by, enum plot_scale scale,
		    const char *by_label)
{
	struct parallel_coordinates *p;

	if (!a)
		return;
	parallel_free(a->parallel);
	a->parallel = p = dp_calloc(1, sizeof *p);
	if (p)
		p->axes = dp_calloc(n ? n : 1, sizeof *p->axes);
	if (!p || !p->axes) {
		a->plot->failed = true;
		return;
	}
	p->naxes = n;
	p->nlines = m;
	for (size_t i = 0; i < n; i++) {
		plot_set_text(a->plot, &p->axes[i].label, axes[i].label);
		p->axes[i].scale = axes[i].scale;
		p->axes[i].limits[0] = axes[i].lo;
		p->axes[i].limits[1] = axes[i].hi;
		if (axes[i].categories)
			set_names(a->plot, &p->axes[i], axes[i].categories, axes[i].ncategories);
	}
	p->values = copy_values(a->plot, values, n * m);
	p->colour_values = copy_values(a->plot, by, m);
	p->bar.map = PLOT_VIRIDIS;
	p->bar.axis.scale = scale;
	p->bar.axis.limits[0] = p->bar.axis.limits[1] = NAN;
	plot_set_text(a->plot, &p->bar.axis.label, by_label);
}
