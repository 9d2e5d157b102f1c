/* plot_csv.c - write a figure's data as CSV, and its alternative text.
 *
 * Both come from the description: they contain what is drawn and nothing else. CSV (RFC 4180) has
 * one row for each item. Panel titles and axis labels have rows of their own (kind "panel", "x
 * axis", "y axis", "colours"), since heat maps have thousands of item rows. */
#include "reports/plot/plot_internal.h"

#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const kinds[] = {
	[SERIES_LINE] = "line",           [SERIES_STEPS] = "steps", [SERIES_POINTS] = "points",
	[SERIES_ERROR_BARS] = "bars",     [SERIES_BAND] = "band",   [SERIES_RECTS] = "blocks",
	[SERIES_REFERENCE_LINE] = "mark", [SERIES_REGION] = "box",
};

/* Prefixes formulas with an apostrophe, so that a spreadsheet does not run a study's name. A name
 * that is a number stays as it is. */
static void csv_text(struct dp_buf *out, const char *text)
{
	bool quoted = text && strpbrk(text, ",\"\r\n");
	double number;

	if (quoted)
		dp_buf_putc(out, '"');
	if (text && *text && strchr("=+-@", *text) && !dp_num_parse(text, &number))
		dp_buf_putc(out, '\'');
	for (; text && *text; text++) {
		if (*text == '"')
			dp_buf_putc(out, '"');
		dp_buf_putc(out, *text);
	}
	if (quoted)
		dp_buf_putc(out, '"');
}

/* Writes numbers as x, x_to, y, y_to and value, NaN as empty; texts are x_name, y_name and text.
 * Panels count from 1. */
static void csv_row(struct dp_buf *out, int panel, const char *kind, const char *series,
		    const double numbers[5], const char *const texts[3])
{
	char number[DP_NUM_LEN];

	dp_buf_printf(out, "%d,%s,", panel, kind);
	csv_text(out, series);
	for (size_t i = 0; i < 5; i++) {
		dp_buf_putc(out, ',');
		if (!isnan(numbers[i]))
			dp_buf_puts(out, dp_num_text(numbers[i], number));
	}
	for (size_t i = 0; i < 3; i++) {
		dp_buf_putc(out, ',');
		csv_text(out, texts[i]);
	}
	dp_buf_puts(out, "\r\n");
}

static void csv_name(struct dp_buf *out, int panel, const char *kind, const char *name)
{
	const double none[5] = { NAN, NAN, NAN, NAN, NAN };
	const char *const texts[3] = { NULL };

	if (name && *name)
		csv_row(out, panel, kind, name, none, texts);
}

/* The category name of a value, if the axis has categories. */
static const char *csv_category_name(const struct axis *a, double value)
{
	double i = rint(value);

	return a->ncategories && i >= 0 && i < (double)a->ncategories ? a->categories[(size_t)i]
								      : NULL;
}

static void csv_series(struct dp_buf *out, const struct plot_panel *a, int panel,
		       const struct series *s)
{
	/* the column of each array of values */
	static const char columns[][4] = {
		[SERIES_LINE] = { 0, 2 },         [SERIES_STEPS] = { 0, 2 },
		[SERIES_POINTS] = { 0, 2 },       [SERIES_ERROR_BARS] = { 0, 2, 3 },
		[SERIES_BAND] = { 0, 2, 3 },      [SERIES_RECTS] = { 0, 1, 2, 3 },
		[SERIES_REGION] = { 0, 1, 2, 3 },
	};
	bool range = s->kind == SERIES_RECTS;

	for (size_t i = 0; i < s->n; i++) {
		double v[5] = { NAN, NAN, NAN, NAN, NAN };
		const char *texts[3];

		if (s->kind == SERIES_REFERENCE_LINE)
			v[s->side == PLOT_X ? 0 : 2] = s->values[0][0];
		else
			for (size_t k = 0; k < 4 && s->values[k]; k++)
				v[(int)columns[s->kind][k]] = s->values[k][i];
		texts[0] = csv_category_name(&a->axis[PLOT_X], range ? (v[0] + v[1]) / 2 : v[0]);
		texts[1] = csv_category_name(&a->axis[PLOT_Y], range ? (v[2] + v[3]) / 2 : v[2]);
		texts[2] = s->tooltips && i < s->ntooltips ? s->tooltips[i] : NULL;
		csv_row(out, panel, kinds[s->kind], s->name, v, texts);
	}
}

/* x is the number of the axis from 1, x_name its label, value the colour value of the line. */
static void csv_parallel(struct dp_buf *out, const struct parallel_coordinates *p, int panel)
{
	for (size_t i = 0; i < p->naxes * p->nlines; i++) {
		const struct axis *a = &p->axes[i % p->naxes];
		const double v[5] = { (double)(i % p->naxes + 1), NAN, p->values[i], NAN,
				      p->colour_values[i / p->naxes] };
		const char *const texts[3] = { a->label, csv_category_name(a, p->values[i]) };
		char line[DP_NUM_LEN];

		csv_row(out, panel, "parallel", dp_num_text((double)(i / p->naxes + 1), line), v,
			texts);
	}
}

static void csv_panel(struct dp_buf *out, const struct plot_panel *a, int panel)
{
	const struct heatmap *h = a->heatmap;
	const char *const none[3] = { NULL };

	csv_name(out, panel, "panel", a->title ? a->title : a->plot->title);
	csv_name(out, panel, "x axis", a->axis[PLOT_X].label);
	csv_name(out, panel, "y axis", a->axis[PLOT_Y].label);
	if (a->parallel) {
		csv_name(out, panel, "colours", a->parallel->bar.axis.label);
		csv_parallel(out, a->parallel, panel);
		return;
	}
	if (h)
		csv_name(out, panel, "colours", h->bar.axis.label);
	for (size_t i = 0; h && i < h->nx * h->ny; i++) {
		const double *x = &h->x[i % h->nx], *y = &h->y[i / h->nx];
		const double v[5] = { x[0], x[1], y[0], y[1], h->z[i] };

		csv_row(out, panel, "cell", NULL, v, none);
	}
	for (size_t i = 0; i < a->nseries; i++)
		csv_series(out, a, panel, &a->series[i]);
	for (size_t i = 0; i < a->nlabels; i++) {
		const double v[5] = { a->labels[i].x, NAN, a->labels[i].y, NAN, NAN };
		const char *const texts[3] = { NULL, NULL, a->labels[i].text };

		csv_row(out, panel, "label", NULL, v, texts);
	}
}

void plot_csv(const struct plot *p, struct dp_buf *out)
{
	const struct plot_panel *a;
	int panel = 0;

	dp_buf_puts(out, "panel,kind,series,x,x_to,y,y_to,value,x_name,y_name,text\r\n");
	for (int i = 0; (a = plot_next_panel(p, &i));)
		csv_panel(out, a, ++panel);
}

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

void plot_write_alt_text(const struct plot *p, struct dp_buf *out)
{
	const struct plot_panel *a;
	int n = 0;

	for (int i = 0; plot_next_panel(p, &i);)
		n++;
	dp_buf_puts(out, p->title ? p->title : "Figure");
	if (n > 1)
		dp_buf_printf(out, ", %d panels", n);
	for (int i = 0; (a = plot_next_panel(p, &i));) {
		struct legend names = { 0 };
		const char *kind = panel_kind_name(a);

		dp_buf_puts(out, ". ");
		if (a->title)
			dp_buf_printf(out, "%s: %s", a->title, kind);
		else
			dp_buf_printf(out, "%c%s", toupper(kind[0]), kind + 1);
		alt_text_append_axes(a, out);
		legend_collect(&names, a, true);
		for (size_t k = 0; k < names.n; k++)
			dp_buf_printf(out, "%s%s", k ? ", " : ": ", names.entries[k].name);
		legend_free(&names);
	}
	dp_buf_putc(out, '.');
}
