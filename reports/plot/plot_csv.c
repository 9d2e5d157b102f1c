/* plot_csv.c - the numbers of a figure, from its description: what is drawn and nothing else.
 *
 * One row for each item, as RFC 4180 has it. What the panels and their axes are called
 * stands in rows of its own (kind "panel", "x axis", "y axis", "colours"), since heat
 * maps have thousands of others. */
#include "reports/plot/plot_internal.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

static const char header[] = "panel,kind,series,x,x_to,y,y_to,value,x_name,y_name,text\r\n";

static const char *const kinds[] = {
	[SERIES_LINE] = "line",           [SERIES_STEPS] = "steps", [SERIES_POINTS] = "points",
	[SERIES_ERROR_BARS] = "bars",     [SERIES_BAND] = "band",   [SERIES_RECTS] = "blocks",
	[SERIES_REFERENCE_LINE] = "mark", [SERIES_REGION] = "box",
};

struct row {
	int panel; /* from 1 */
	const char *kind, *series;
	double x, x_to, y, y_to, value; /* NaN: empty */
	const char *x_name, *y_name, *text;
};

/* Would a spreadsheet compute it? A number that is a name is left as it is. */
static bool csv_is_formula(const char *text)
{
	double number;

	return text && *text && strchr("=+-@", *text) && !dp_num_parse(text, &number);
}

/* What somebody called a study must not run in the spreadsheet of somebody else: an
 * apostrophe before a formula keeps it text. */
static void csv_text(struct dp_buf *out, const char *text)
{
	bool quoted = text && strpbrk(text, ",\"\r\n");

	if (quoted)
		dp_buf_putc(out, '"');
	if (csv_is_formula(text))
		dp_buf_putc(out, '\'');
	for (; text && *text; text++) {
		if (*text == '"')
			dp_buf_putc(out, '"');
		dp_buf_putc(out, *text);
	}
	if (quoted)
		dp_buf_putc(out, '"');
}

static void csv_number(struct dp_buf *out, double x)
{
	char text[DP_NUM_LEN];

	if (!isnan(x))
		dp_buf_puts(out, dp_num_text(x, text));
}

static void csv_row(struct dp_buf *out, const struct row *r)
{
	const double numbers[] = { r->x, r->x_to, r->y, r->y_to, r->value };
	const char *const texts[] = { r->x_name, r->y_name, r->text };

	dp_buf_printf(out, "%d,%s,", r->panel, r->kind);
	csv_text(out, r->series);
	for (size_t i = 0; i < DP_COUNT(numbers); i++) {
		dp_buf_putc(out, ',');
		csv_number(out, numbers[i]);
	}
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		dp_buf_putc(out, ',');
		csv_text(out, texts[i]);
	}
	dp_buf_puts(out, "\r\n");
}

static struct row csv_make_row(int panel, const char *kind, const char *series)
{
	return (struct row){ .panel = panel,
			     .kind = kind,
			     .series = series,
			     .x = NAN,
			     .x_to = NAN,
			     .y = NAN,
			     .y_to = NAN,
			     .value = NAN };
}

static void csv_write_caption(struct dp_buf *out, int panel, const char *kind, const char *text)
{
	struct row r = csv_make_row(panel, kind, text);

	if (text && *text)
		csv_row(out, &r);
}

/* What an axis with names calls the value. */
static const char *csv_category_name(const struct axis *a, double value)
{
	double i = rint(value);

	return a->ncategories && i >= 0 && i < (double)a->ncategories ? a->categories[(size_t)i]
								      : NULL;
}

static void csv_item(struct row *r, const struct series *s, size_t i)
{
	switch (s->kind) {
	case SERIES_LINE:
	case SERIES_STEPS:
	case SERIES_POINTS:
		r->x = s->values[0][i];
		r->y = s->values[1][i];
		break;
	case SERIES_ERROR_BARS:
	case SERIES_BAND:
		r->x = s->values[0][i];
		r->y = s->values[1][i];
		r->y_to = s->values[2][i];
		break;
	case SERIES_RECTS:
	case SERIES_REGION:
		r->x = s->values[0][i];
		r->x_to = s->values[1][i];
		r->y = s->values[2][i];
		r->y_to = s->values[3][i];
		break;
	case SERIES_REFERENCE_LINE:
		*(s->side == PLOT_X ? &r->x : &r->y) = s->values[0][0];
		break;
	}
}

static void csv_series(struct dp_buf *out, const struct plot_panel *a, int panel,
		       const struct series *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct row r = csv_make_row(panel, kinds[s->kind], s->name);
		bool range = s->kind == SERIES_RECTS;

		csv_item(&r, s, i);
		r.x_name = csv_category_name(&a->axis[PLOT_X], range ? (r.x + r.x_to) / 2 : r.x);
		r.y_name = csv_category_name(&a->axis[PLOT_Y], range ? (r.y + r.y_to) / 2 : r.y);
		r.text = s->tooltips && i < s->ntooltips ? s->tooltips[i] : NULL;
		csv_row(out, &r);
	}
}

static void csv_heat(struct dp_buf *out, const struct heatmap *h, int panel)
{
	for (size_t i = 0; i < h->nx * h->ny; i++) {
		struct row r = csv_make_row(panel, "cell", NULL);
		size_t x = i % h->nx, y = i / h->nx;

		r.x = h->x[x];
		r.x_to = h->x[x + 1];
		r.y = h->y[y];
		r.y_to = h->y[y + 1];
		r.value = h->z[i];
		csv_row(out, &r);
	}
}

/* x is the number of the axis, from 1, and x_name what it is called; the value is what
 * the line is coloured by. */
static void csv_parallel(struct dp_buf *out, const struct parallel_coordinates *p, int panel)
{
	for (size_t i = 0; i < p->naxes * p->nlines; i++) {
		const struct axis *a = &p->axes[i % p->naxes];
		struct row r = csv_make_row(panel, "parallel", NULL);
		char line[DP_NUM_LEN];

		dp_num_text((double)(i / p->naxes + 1), line);
		r.series = line;
		r.x = (double)(i % p->naxes + 1);
		r.y = p->values[i];
		r.value = p->colour_values[i / p->naxes];
		r.x_name = a->label;
		r.y_name = csv_category_name(a, r.y);
		csv_row(out, &r);
	}
}

static void csv_labels(struct dp_buf *out, const struct plot_panel *a, int panel)
{
	for (size_t i = 0; i < a->nlabels; i++) {
		struct row r = csv_make_row(panel, "label", NULL);

		r.x = a->labels[i].x;
		r.y = a->labels[i].y;
		r.text = a->labels[i].text;
		csv_row(out, &r);
	}
}

static void csv_panel(struct dp_buf *out, const struct plot_panel *a, int panel)
{
	csv_write_caption(out, panel, "panel", a->title ? a->title : a->plot->title);
	csv_write_caption(out, panel, "x axis", a->axis[PLOT_X].label);
	csv_write_caption(out, panel, "y axis", a->axis[PLOT_Y].label);
	if (a->parallel) {
		csv_write_caption(out, panel, "colours", a->parallel->bar.axis.label);
		csv_parallel(out, a->parallel, panel);
		return;
	}
	if (a->heatmap) {
		csv_write_caption(out, panel, "colours", a->heatmap->bar.axis.label);
		csv_heat(out, a->heatmap, panel);
	}
	for (size_t i = 0; i < a->nseries; i++)
		csv_series(out, a, panel, &a->series[i]);
	csv_labels(out, a, panel);
}

void plot_csv(const struct plot *p, struct dp_buf *out)
{
	int panel = 0;

	dp_buf_puts(out, header);
	for (int i = 0; i < p->rows * p->columns; i++)
		if (p->panels[i])
			csv_panel(out, p->panels[i], ++panel);
}
