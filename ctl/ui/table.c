/* table.c - formats text tables and CSV fields. */
#include "ctl/ui/table.h"

#include "base/buf.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_COLUMNS = 96,
	MIN_FLEX_WIDTH = 8,
	COLUMN_GAP = 2
};

struct table_cell {
	size_t text_offset;
	enum ctl_style style;
	int width;
};

struct ctl_table {
	struct {
		char *title;
		enum ctl_align align;
		int width;
	} columns[MAX_COLUMNS];
	size_t n_columns;
	struct table_cell *cells;
	size_t n_cells, capacity;
	/* Texts of all cells, NUL-terminated. Separate allocations for a million cells would
	 * fragment the heap. */
	struct dp_buf texts;
};

struct ctl_table *ctl_table_new(const char *columns)
{
	struct ctl_table *t = dp_calloc(1, sizeof *t);

	while (*columns) {
		size_t len = strcspn(columns, "|");
		char mark = columns[len - 1];
		enum ctl_align align = mark == '>' ? CTL_RIGHT : mark == '*' ? CTL_FLEX : CTL_LEFT;
		char *title = dp_strndup(columns, align == CTL_LEFT ? len : len - 1);

		ctl_table_add_column(t, title, align);
		free(title);
		columns += len + (columns[len] == '|');
	}
	return t;
}

void ctl_table_free(struct ctl_table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		free(t->columns[i].title);
	dp_buf_free(&t->texts);
	free(t->cells);
	free(t);
}

void ctl_table_add_column(struct ctl_table *t, const char *title, enum ctl_align align)
{
	if (t->n_columns == MAX_COLUMNS)
		return;
	t->columns[t->n_columns].title = dp_strdup(title);
	t->columns[t->n_columns].align = align;
	t->columns[t->n_columns].width = ctl_text_width(title);
	t->n_columns++;
}

void ctl_table_add_cell(struct ctl_table *t, enum ctl_style style, const char *format, ...)
{
	struct table_cell *cell;
	size_t column = t->n_cells % t->n_columns;
	char brief[256], *text = brief;
	int len;
	va_list ap;

	if (t->n_cells == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->cells = dp_realloc(t->cells, t->capacity * sizeof *t->cells);
	}
	cell = &t->cells[t->n_cells++];
	va_start(ap, format);
	len = vsnprintf(brief, sizeof brief, format, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof brief) {
		va_start(ap, format);
		text = dp_vasprintf(format, ap);
		va_end(ap);
	}
	cell->text_offset = t->texts.len;
	dp_buf_add(&t->texts, text, strlen(text) + 1);
	cell->style = style;
	cell->width = ctl_text_width(text);
	if (text != brief)
		free(text);
	if (cell->width > t->columns[column].width)
		t->columns[column].width = cell->width;
}

void ctl_table_add_text(struct ctl_table *t, const char *text)
{
	ctl_table_add_cell(t, CTL_NORMAL, "%s", text);
}

void ctl_table_add_value(struct ctl_table *t, const json_t *value)
{
	char text[CTL_TEXT_LEN];

	ctl_table_add_text(t, ctl_format_value(value, text));
}

size_t ctl_table_count_rows(const struct ctl_table *t)
{
	return t->n_columns ? t->n_cells / t->n_columns : 0;
}

/* Computes widths that fit: shrinks the widest flexible column first. Returns the number of columns
 * shown; the others do not fit. */
static size_t table_fit_widths(const struct ctl_table *t, int columns, int *width)
{
	size_t shown = t->n_columns, widest;
	int total = -COLUMN_GAP;

	for (size_t i = 0; i < t->n_columns; i++) {
		width[i] = t->columns[i].width;
		total += width[i] + COLUMN_GAP;
	}
	while (columns > 0 && total > columns) {
		widest = SIZE_MAX;
		for (size_t i = 0; i < shown; i++)
			if (t->columns[i].align == CTL_FLEX && width[i] > MIN_FLEX_WIDTH &&
			    (widest == SIZE_MAX || width[i] > width[widest]))
				widest = i;
		if (widest != SIZE_MAX) {
			width[widest]--;
			total--;
		} else if (shown > 1) {
			shown--;
			total -= width[shown] + COLUMN_GAP;
		} else {
			width[0] = columns;
			break;
		}
	}
	return shown;
}

static void put_spaces(struct dp_buf *out, int n)
{
	while (n-- > 0)
		dp_buf_putc(out, ' ');
}

static void put_cell(struct dp_buf *out, const char *text, enum ctl_align align,
		     enum ctl_style style, int width, bool last, bool color, bool utf8)
{
	int used = ctl_text_width(text);

	if (used > width) {
		struct dp_buf cut = DP_BUF_INIT;

		used = ctl_text_truncate(&cut, text, width, utf8);
		dp_buf_free(&cut);
	}
	if (align == CTL_RIGHT)
		put_spaces(out, width - used);
	dp_buf_puts(out, ctl_style_on(style, color));
	ctl_text_truncate(out, text, width, utf8);
	dp_buf_puts(out, ctl_style_off(style, color));
	if (!last)
		put_spaces(out, (align == CTL_RIGHT ? 0 : width - used) + COLUMN_GAP);
}

void ctl_table_format(const struct ctl_table *t, struct dp_buf *out, int columns, bool color,
		      bool utf8)
{
	int width[MAX_COLUMNS];
	size_t shown = table_fit_widths(t, columns, width);

	for (size_t i = 0; i < shown; i++)
		put_cell(out, t->columns[i].title, t->columns[i].align, CTL_BOLD, width[i],
			 i + 1 == shown, color, utf8);
	dp_buf_putc(out, '\n');
	for (size_t row = 0; row < ctl_table_count_rows(t); row++) {
		for (size_t i = 0; i < shown; i++) {
			const struct table_cell *cell = &t->cells[row * t->n_columns + i];

			put_cell(out, t->texts.data + cell->text_offset, t->columns[i].align,
				 cell->style, width[i], i + 1 == shown, color, utf8);
		}
		dp_buf_putc(out, '\n');
	}
}

void ctl_table_print(struct ctl *ctl, struct ctl_table *t)
{
	struct dp_buf out = DP_BUF_INIT;
	int columns, rows, width[MAX_COLUMNS];
	size_t hidden;

	ctl_terminal_size(ctl->out, &columns, &rows);
	ctl_table_format(t, &out, columns, ctl_use_color(ctl, ctl->out), ctl->utf8);
	ctl_print_buf(ctl, &out);
	hidden = t->n_columns - table_fit_widths(t, columns, width);
	if (hidden > 0)
		ctl_print_message(ctl, "(%zu more column%s do%s not fit here; -o json shows all)",
				  hidden, hidden > 1 ? "s" : "", hidden > 1 ? "" : "es");
	ctl_table_free(t);
}

void ctl_append_csv_field(struct dp_buf *out, const char *text, bool first)
{
	if (!first)
		dp_buf_putc(out, ',');
	if (!text[strcspn(text, ",\"\r\n")]) {
		dp_buf_puts(out, text);
		return;
	}
	dp_buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			dp_buf_putc(out, '"');
		dp_buf_putc(out, *text);
	}
	dp_buf_putc(out, '"');
}
