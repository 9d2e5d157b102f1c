/* table.c - tables for people, and fields of CSV. */
#include "ctl/table.h"

#include "base/buf.h"
#include "ctl/memory.h"
#include "ctl/output.h"
#include "ctl/text.h"

#include <stdlib.h>
#include <string.h>

enum {
	COLUMNS_MAX = 96,
	FLEX_MIN = 8, /* columns that a shortened cell keeps */
	GAP = 2
};

struct cell {
	size_t text; /* where it begins among the table's texts */
	enum ctl_style style;
	int width;
};

struct ctl_table {
	struct {
		char *title;
		enum ctl_align align;
		int width;
	} column[COLUMNS_MAX];
	size_t ncolumns;
	struct cell *cells; /* row by row */
	size_t ncells, room;
	/* Of all cells, each with its NUL: a block of its own for each of a million
	 * cells would scatter what else is allocated meanwhile. */
	struct dp_buf texts;
};

struct ctl_table *ctl_table_new(void)
{
	return ctl_alloc(1, sizeof(struct ctl_table));
}

void ctl_table_free(struct ctl_table *t)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		free(t->column[i].title);
	dp_buf_free(&t->texts);
	free(t->cells);
	free(t);
}

void ctl_table_column(struct ctl_table *t, const char *title, enum ctl_align align)
{
	if (t->ncolumns == COLUMNS_MAX)
		return;
	t->column[t->ncolumns].title = ctl_strdup(title);
	t->column[t->ncolumns].align = align;
	t->column[t->ncolumns].width = ctl_width(title);
	t->ncolumns++;
}

void ctl_cell(struct ctl_table *t, enum ctl_style style, const char *format, ...)
{
	struct cell *cell;
	size_t column = t->ncells % t->ncolumns;
	char brief[256], *text = brief;
	int len;
	va_list ap;

	if (t->ncells == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->cells = realloc(t->cells, t->room * sizeof *t->cells);
		if (!t->cells)
			ctl_die_nomem();
	}
	cell = &t->cells[t->ncells++];
	va_start(ap, format);
	len = vsnprintf(brief, sizeof brief, format, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= sizeof brief) {
		va_start(ap, format);
		text = ctl_vformat(format, ap);
		va_end(ap);
	}
	cell->text = t->texts.len;
	dp_buf_add(&t->texts, text, strlen(text) + 1);
	if (t->texts.failed)
		ctl_die_nomem();
	cell->style = style;
	cell->width = ctl_width(text);
	if (text != brief)
		free(text);
	if (cell->width > t->column[column].width)
		t->column[column].width = cell->width;
}

size_t ctl_table_rows(const struct ctl_table *t)
{
	return t->ncolumns ? t->ncells / t->ncolumns : 0;
}

/* Widths that fit: the widest flexible column gives way first. Returns how many
 * columns of the table are shown; the rest has no place. */
static size_t table_fit(const struct ctl_table *t, int columns, int *width)
{
	size_t shown = t->ncolumns, widest;
	int total = -GAP;

	for (size_t i = 0; i < t->ncolumns; i++) {
		width[i] = t->column[i].width;
		total += width[i] + GAP;
	}
	while (columns > 0 && total > columns) {
		widest = SIZE_MAX;
		for (size_t i = 0; i < shown; i++)
			if (t->column[i].align == CTL_FLEX && width[i] > FLEX_MIN &&
			    (widest == SIZE_MAX || width[i] > width[widest]))
				widest = i;
		if (widest != SIZE_MAX) {
			width[widest]--;
			total--;
		} else if (shown > 1) {
			shown--;
			total -= width[shown] + GAP;
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
	int used = ctl_width(text);

	if (used > width) {
		struct dp_buf cut = DP_BUF_INIT;

		used = ctl_cut(&cut, text, width, utf8);
		dp_buf_free(&cut);
	}
	if (align == CTL_RIGHT)
		put_spaces(out, width - used);
	dp_buf_puts(out, ctl_style_on(style, color));
	ctl_cut(out, text, width, utf8);
	dp_buf_puts(out, ctl_style_off(style, color));
	if (!last)
		put_spaces(out, (align == CTL_RIGHT ? 0 : width - used) + GAP);
}

void ctl_table_text(const struct ctl_table *t, struct dp_buf *out, int columns, bool color,
		    bool utf8)
{
	int width[COLUMNS_MAX];
	size_t shown = table_fit(t, columns, width);

	for (size_t i = 0; i < shown; i++)
		put_cell(out, t->column[i].title, t->column[i].align, CTL_BOLD, width[i],
			 i + 1 == shown, color, utf8);
	dp_buf_putc(out, '\n');
	for (size_t row = 0; row < ctl_table_rows(t); row++) {
		for (size_t i = 0; i < shown; i++) {
			const struct cell *cell = &t->cells[row * t->ncolumns + i];

			put_cell(out, t->texts.data + cell->text, t->column[i].align, cell->style,
				 width[i], i + 1 == shown, color, utf8);
		}
		dp_buf_putc(out, '\n');
	}
}

void ctl_table_print(struct ctl *ctl, struct ctl_table *t)
{
	struct dp_buf out = DP_BUF_INIT;
	int columns, rows, width[COLUMNS_MAX];
	size_t hidden;

	ctl_terminal_size(ctl->out, &columns, &rows);
	ctl_table_text(t, &out, columns, ctl_colored(ctl, ctl->out), ctl->utf8);
	ctl_put_buf(ctl, &out);
	hidden = t->ncolumns - table_fit(t, columns, width);
	if (hidden > 0)
		ctl_say(ctl, "(%zu more column%s do%s not fit here; -o json shows all)", hidden,
			hidden > 1 ? "s" : "", hidden > 1 ? "" : "es");
	ctl_table_free(t);
}

void ctl_csv_field(struct dp_buf *out, const char *text, bool first)
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
