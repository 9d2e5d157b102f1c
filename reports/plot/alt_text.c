/* alt_text.c - a figure in words, for who cannot see it: what kind of picture it is, what its
 * axes are and what is drawn. What it shows is the caption's. */
#include "reports/plot/plot_internal.h"

#include <ctype.h>
#include <string.h>

static const char *panel_kind_name(const struct plot_panel *a)
{
	bool has[SERIES_REGION + 1] = { false };

	if (a->parallel)
		return "parallel coordinates";
	if (a->heatmap)
		return "heat map";
	for (size_t i = 0; i < a->nseries; i++)
		has[a->series[i].kind] = true;
	if (has[SERIES_RECTS])
		return "bars";
	if (has[SERIES_LINE] || has[SERIES_STEPS])
		return has[SERIES_POINTS] ? "points and lines" : "lines";
	return has[SERIES_POINTS] ? "points" : "panel";
}

static void alt_text_append_axes(const struct plot_panel *a, struct dp_buf *out)
{
	const struct axis *x = &a->axis[PLOT_X], *y = &a->axis[PLOT_Y];

	for (size_t i = 0; a->parallel && i < a->parallel->naxes; i++)
		dp_buf_printf(out, "%s%s", i ? ", " : " of ",
			      a->parallel->axes[i].label ? a->parallel->axes[i].label : "");
	if (a->parallel && a->parallel->bar.axis.label)
		dp_buf_printf(out, ", coloured by %s", a->parallel->bar.axis.label);
	if (a->parallel)
		return;
	if (a->heatmap && a->heatmap->bar.axis.label)
		dp_buf_printf(out, " of %s", a->heatmap->bar.axis.label);
	if (y->label && x->label)
		dp_buf_printf(out, "%s %s against %s", a->heatmap ? " over" : " of", y->label,
			      x->label);
	else if (x->label || y->label)
		dp_buf_printf(out, " over %s", x->label ? x->label : y->label);
	if (x->label && x->scale == PLOT_LOG)
		dp_buf_puts(out, " (logarithmic)");
}

/* Was the name told before in this panel? */
static bool alt_text_series_named(const struct plot_panel *a, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (a->series[k].name && strcmp(a->series[k].name, a->series[i].name) == 0)
			return true;
	return false;
}

static void alt_text_append_series(const struct plot_panel *a, struct dp_buf *out)
{
	bool any = false;

	for (size_t i = 0; i < a->nseries; i++) {
		const char *name = a->series[i].name;

		if (!name || !*name || alt_text_series_named(a, i))
			continue;
		dp_buf_printf(out, "%s%s", any ? ", " : ": ", name);
		any = true;
	}
}

void plot_write_alt_text(const struct plot *p, struct dp_buf *out)
{
	int n = 0, count = p->rows * p->columns;

	for (int i = 0; i < count; i++)
		n += p->panels[i] != NULL;
	dp_buf_puts(out, p->title ? p->title : "Figure");
	if (n > 1)
		dp_buf_printf(out, ", %d panels", n);
	for (int i = 0; i < count; i++) {
		const struct plot_panel *a = p->panels[i];

		if (!a)
			continue;
		dp_buf_puts(out, ". ");
		if (a->title)
			dp_buf_printf(out, "%s: %s", a->title, panel_kind_name(a));
		else
			dp_buf_printf(out, "%c%s", toupper(panel_kind_name(a)[0]),
				      panel_kind_name(a) + 1);
		alt_text_append_axes(a, out);
		alt_text_append_series(a, out);
	}
	dp_buf_putc(out, '.');
}
