/* plot_builder.c - build the description of a figure. */
#include "reports/plot/plot_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLOT_SIDE_MAX = 4000, /* CSS pixels */
	WIDE_PLOT_MIN = 800   /* a narrower figure is readable at half a page */
};

/* A copy owned by the plot; NULL gives NULL. */
static char *plot_copy_text(struct plot *p, const char *text)
{
	return text ? arena_adopt(&p->mem, text_sanitized_copy(text)) : NULL;
}

/* Copies n texts, each of which may be NULL. */
static char **plot_copy_texts(struct plot *p, const char *const *texts, size_t n)
{
	char **out = arena_calloc(&p->mem, n, sizeof *out);

	for (size_t i = 0; i < n; i++)
		out[i] = plot_copy_text(p, texts[i]);
	return out;
}

struct plot *plot_new(int width, int height, const char *title)
{
	struct plot *p = dp_calloc(1, sizeof *p);

	p->width = width < 1 ? 1 : width > PLOT_SIDE_MAX ? PLOT_SIDE_MAX : width;
	p->height = height < 1 ? 1 : height > PLOT_SIDE_MAX ? PLOT_SIDE_MAX : height;
	p->title = plot_copy_text(p, title);
	plot_grid(p, 1, 1);
	plot_id(p, "figure");
	return p;
}

void plot_free(struct plot *p)
{
	struct plot_panel *a;

	if (!p)
		return;
	for (int i = 0; (a = plot_next_panel(p, &i));) {
		free(a->series);
		free(a->labels);
		legend_free(&a->legend);
	}
	legend_free(&p->legend);
	arena_free(&p->mem);
	free(p);
}

void plot_id(struct plot *p, const char *id)
{
	size_t n = 0;

	for (; id[n] && n + 1 < sizeof p->id; n++)
		p->id[n] = isalnum((unsigned char)id[n]) ? id[n] : '-';
	p->id[n] = '\0';
}

bool plot_is_wide(const struct plot *p)
{
	return p->width > WIDE_PLOT_MIN;
}

bool plot_is_single_row(const struct plot *p)
{
	return plot_is_wide(p) && p->rows == 1;
}

void plot_hide_title(struct plot *p)
{
	p->no_title = true;
}

void plot_grid(struct plot *p, int rows, int columns)
{
	p->rows = rows < 1 ? 1 : rows > 100 ? 100 : rows;
	p->columns = columns < 1 ? 1 : columns > 100 ? 100 : columns;
	p->panels = arena_calloc(&p->mem, (size_t)(p->rows * p->columns), sizeof *p->panels);
}

struct plot_panel *plot_panel(struct plot *p, int row, int column)
{
	struct plot_panel **a = &p->panels[row * p->columns + column];

	if (*a)
		return *a;
	*a = arena_calloc(&p->mem, 1, sizeof **a);
	(*a)->plot = p;
	for (int side = 0; side < 2; side++)
		(*a)->axis[side].limits[0] = (*a)->axis[side].limits[1] = NAN;
	return *a;
}

void plot_note(struct plot *p, const char *text)
{
	p->note = plot_copy_text(p, text);
}

void panel_title(struct plot_panel *a, const char *title)
{
	a->title = plot_copy_text(a->plot, title);
}

void panel_axis(struct plot_panel *a, enum plot_side side, const char *label, enum plot_scale scale)
{
	a->axis[side].label = plot_copy_text(a->plot, label);
	a->axis[side].scale = scale;
}

void panel_limits(struct plot_panel *a, enum plot_side side, double lo, double hi)
{
	a->axis[side].limits[0] = lo;
	a->axis[side].limits[1] = hi;
}

void panel_set_integer_ticks(struct plot_panel *a, enum plot_side side)
{
	a->axis[side].integer_ticks = true;
}

void panel_set_categories(struct plot_panel *a, enum plot_side side, const char *const *names,
			  size_t n)
{
	a->axis[side].categories = plot_copy_texts(a->plot, names, n);
	a->axis[side].ncategories = n;
}

void panel_set_empty_text(struct plot_panel *a, const char *why)
{
	a->empty_text = plot_copy_text(a->plot, why);
}

/* Arrays may be NULL. */
static struct series *add_series(struct plot_panel *a, enum series_kind kind,
				 const struct plot_style *s, const char *name,
				 const double *const v[4], size_t n)
{
	struct series *new;

	a->series = grow_array(a->series, &a->series_cap, a->nseries + 1, sizeof *new);
	new = &a->series[a->nseries++];
	*new = (struct series){ .kind = kind, .style = style_with_defaults(s), .n = n };
	new->name = plot_copy_text(a->plot, name);
	for (size_t k = 0; k < 4; k++)
		new->values[k] = arena_copy_doubles(&a->plot->mem, v[k], n);
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
	add_series(a, SERIES_REFERENCE_LINE, s, label, (const double *const[4]){ &at }, 1)->side =
		side;
}

void panel_add_region(struct plot_panel *a, const struct plot_style *s, const char *name, double x0,
		      double x1, double y0, double y1)
{
	add_series(a, SERIES_REGION, s, name, (const double *const[4]){ &x0, &x1, &y0, &y1 }, 1);
}

void panel_add_tooltips(struct plot_panel *a, const char *const *tips, const char *const *links,
			size_t n)
{
	struct series *s = a->nseries ? &a->series[a->nseries - 1] : NULL;

	if (!s || s->tooltips || n > PLOT_TOOLTIPS_MAX)
		return;
	s->tooltips = plot_copy_texts(a->plot, tips, n);
	s->links = links ? plot_copy_texts(a->plot, links, n) : NULL;
	s->ntooltips = n;
}

static void panel_add_text(struct plot_panel *a, double x, double y, const char *text, bool fixed)
{
	a->labels = grow_array(a->labels, &a->labels_cap, a->nlabels + 1, sizeof *a->labels);
	a->labels[a->nlabels++] = (struct label){
		.x = x, .y = y, .text = plot_copy_text(a->plot, text), .is_fixed = fixed
	};
}

void panel_label(struct plot_panel *a, double x, double y, const char *text)
{
	panel_add_text(a, x, y, text, false);
}

void panel_add_value_label(struct plot_panel *a, double x, double y, const char *text)
{
	panel_add_text(a, x, y, text, true);
}

static struct colourbar make_colourbar(struct plot *p, enum plot_colourmap map,
				       enum plot_scale scale, const char *label)
{
	return (struct colourbar){ .map = map,
				   .axis = { .scale = scale,
					     .limits = { NAN, NAN },
					     .label = plot_copy_text(p, label) } };
}

void panel_heat(struct plot_panel *a, enum plot_colourmap map, const double *x, size_t nx,
		const double *y, size_t ny, const double *z, enum plot_scale scale,
		const char *label)
{
	struct arena *mem = &a->plot->mem;
	struct heatmap *h = a->heatmap = arena_calloc(mem, 1, sizeof *h);

	*h = (struct heatmap){ .x = arena_copy_doubles(mem, x, nx + 1),
			       .y = arena_copy_doubles(mem, y, ny + 1),
			       .z = arena_copy_doubles(mem, z, nx * ny),
			       .nx = nx,
			       .ny = ny,
			       .bar = make_colourbar(a->plot, map, scale, label) };
}

void panel_heat_limits(struct plot_panel *a, enum plot_scale scale, double lo, double hi)
{
	a->heatmap->bar.axis.scale = scale;
	a->heatmap->bar.axis.limits[0] = lo;
	a->heatmap->bar.axis.limits[1] = hi;
}

void panel_parallel(struct plot_panel *a, const struct plot_parallel_axis *axes, size_t n,
		    const double *values, size_t m, const double *by, enum plot_scale scale,
		    const char *by_label)
{
	struct arena *mem = &a->plot->mem;
	struct parallel_coordinates *p = a->parallel = arena_calloc(mem, 1, sizeof *p);

	*p = (struct parallel_coordinates){
		.axes = arena_calloc(mem, n, sizeof *p->axes),
		.naxes = n,
		.nlines = m,
		.values = arena_copy_doubles(mem, values, n * m),
		.colour_values = arena_copy_doubles(mem, by, m),
		.bar = make_colourbar(a->plot, PLOT_VIRIDIS, scale, by_label),
	};
	for (size_t i = 0; i < n; i++) {
		p->axes[i] = (struct axis){ .label = plot_copy_text(a->plot, axes[i].label),
					    .scale = axes[i].scale,
					    .limits = { axes[i].lo, axes[i].hi } };
		if (!axes[i].categories)
			continue;
		p->axes[i].categories =
			plot_copy_texts(a->plot, axes[i].categories, axes[i].ncategories);
		p->axes[i].ncategories = axes[i].ncategories;
	}
}
