/* output.c - data to standard output, talk and errors to standard error, tables. */
#include "ctl/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

_Noreturn void ctl_die_nomem(void)
{
	fputs("dparetoctl: out of memory\n", stderr);
	exit(dp_code_exit(DP_E_NOMEM));
}

void *ctl_alloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		ctl_die_nomem();
	return p;
}

char *ctl_strdup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		ctl_die_nomem();
	return copy;
}

char *ctl_detach(struct dp_buf *buf)
{
	char *text = dp_buf_detach(buf);

	if (!text)
		ctl_die_nomem();
	return text;
}

/* ---- streams ---- */

void ctl_put(struct ctl *ctl, const char *text, size_t len)
{
	if (!ctl->out_closed && fwrite(text, 1, len, stdout) != len && errno == EPIPE)
		ctl->out_closed = true;
}

void ctl_put_buf(struct ctl *ctl, struct dp_buf *buf)
{
	if (buf->failed)
		ctl_die_nomem();
	ctl_put(ctl, dp_buf_text(buf), buf->len);
	dp_buf_free(buf);
}

char *ctl_vformat(const char *format, va_list ap)
{
	char *text;

	if (vasprintf(&text, format, ap) < 0)
		ctl_die_nomem();
	return text;
}

void ctl_printf(struct ctl *ctl, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = ctl_vformat(format, ap);
	va_end(ap);
	ctl_put(ctl, text, strlen(text));
	free(text);
}

static void put_json(struct ctl *ctl, const json_t *value, int indent)
{
	struct dp_buf out = DP_BUF_INIT;

	if (!value)
		ctl_die_nomem();
	dp_json_dump(&out, value, indent);
	dp_buf_putc(&out, '\n');
	ctl_put_buf(ctl, &out);
}

void ctl_put_json(struct ctl *ctl, const json_t *value)
{
	put_json(ctl, value, isatty(STDOUT_FILENO) ? 2 : 0);
}

void ctl_put_json_line(struct ctl *ctl, const json_t *value)
{
	put_json(ctl, value, 0);
}

int ctl_flush(struct ctl *ctl, struct dp_err *err)
{
	if (ctl->out_closed)
		return DP_OK;
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return DP_OK;
	if (errno == EPIPE) {
		ctl->out_closed = true;
		return DP_OK;
	}
	return dp_fail(err, DP_E_IO, "cannot write to standard output: %s",
		       errno ? strerror(errno) : "a write failed");
}

void ctl_say(struct ctl *ctl, const char *format, ...)
{
	struct dp_buf line = DP_BUF_INIT;
	char *text;
	va_list ap;

	if (ctl->quiet)
		return;
	va_start(ap, format);
	text = ctl_vformat(format, ap);
	va_end(ap);
	ctl_clean(&line, text);
	fprintf(stderr, "%s\n", dp_buf_text(&line));
	dp_buf_free(&line);
	free(text);
}

void ctl_put_error(struct ctl *ctl, const struct dp_err *err)
{
	struct dp_buf line = DP_BUF_INIT;
	bool color = ctl_colored(ctl, stderr);
	json_t *object;

	if (ctl->format == CTL_JSON || ctl->format == CTL_JSONL) {
		object = json_pack("{s:o?}", "error", dp_json_error(err));
		ctl_put_json(ctl, object);
		json_decref(object);
		return;
	}
	ctl_clean(&line, err->msg[0] ? err->msg : dp_code_text(err->code));
	fprintf(stderr, "%sdparetoctl:%s %s\n", ctl_style_on(CTL_BAD, color),
		ctl_style_off(CTL_BAD, color), dp_buf_text(&line));
	if (err->hint[0]) {
		dp_buf_clear(&line);
		ctl_clean(&line, err->hint);
		fprintf(stderr, "hint: %s\n", dp_buf_text(&line));
	}
	dp_buf_free(&line);
}

/* ---- terminals ---- */

const char *ctl_style_on(enum ctl_style style, bool color)
{
	static const char *const codes[] = {
		[CTL_NORMAL] = "",       [CTL_BOLD] = "\033[1m",  [CTL_DIM] = "\033[2m",
		[CTL_GOOD] = "\033[32m", [CTL_WARN] = "\033[33m", [CTL_BAD] = "\033[31m",
	};

	return color ? codes[style] : "";
}

const char *ctl_style_off(enum ctl_style style, bool color)
{
	return color && style != CTL_NORMAL ? "\033[0m" : "";
}

bool ctl_colored(const struct ctl *ctl, FILE *stream)
{
	return ctl->color && isatty(fileno(stream));
}

static int env_number(const char *name, int otherwise)
{
	const char *text = getenv(name);
	int64_t n;

	return text && dp_int_parse(text, &n) && n > 0 && n < 10000 ? (int)n : otherwise;
}

void ctl_terminal_size(FILE *stream, int *columns, int *rows)
{
	struct winsize size = { 0 };

	*columns = *rows = 0;
	if (!isatty(fileno(stream)))
		return;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0)
		memset(&size, 0, sizeof size);
	*columns = size.ws_col > 0 ? size.ws_col : env_number("COLUMNS", 80);
	*rows = size.ws_row > 0 ? size.ws_row : env_number("LINES", 24);
}

/* ---- tables ---- */

enum {
	COLUMNS_MAX = 96,
	FLEX_MIN = 8, /* columns that a shortened cell keeps */
	GAP = 2
};

struct cell {
	char *text;
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
};

struct ctl_table *ctl_table_new(void)
{
	return ctl_alloc(1, sizeof(struct ctl_table));
}

void ctl_table_free(struct ctl_table *t)
{
	for (size_t i = 0; i < t->ncolumns; i++)
		free(t->column[i].title);
	for (size_t i = 0; i < t->ncells; i++)
		free(t->cells[i].text);
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
	va_list ap;

	if (t->ncells == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->cells = realloc(t->cells, t->room * sizeof *t->cells);
		if (!t->cells)
			ctl_die_nomem();
	}
	cell = &t->cells[t->ncells++];
	va_start(ap, format);
	cell->text = ctl_vformat(format, ap);
	va_end(ap);
	cell->style = style;
	cell->width = ctl_width(cell->text);
	if (cell->width > t->column[column].width)
		t->column[column].width = cell->width;
}

size_t ctl_table_rows(const struct ctl_table *t)
{
	return t->ncolumns ? t->ncells / t->ncolumns : 0;
}

/* Widths that fit: the widest flexible column gives way first. Returns how many
 * columns of the table are shown; the rest has no place. */
static size_t fit(const struct ctl_table *t, int columns, int *width)
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

static void put_cell(struct dp_buf *out, const char *text, enum ctl_align align,
		     enum ctl_style style, int width, bool last, bool color, bool utf8)
{
	struct dp_buf cut = DP_BUF_INIT;
	int used = ctl_cut(&cut, text, width, utf8);

	if (align == CTL_RIGHT)
		dp_buf_printf(out, "%*s", width - used, "");
	dp_buf_printf(out, "%s%s%s", ctl_style_on(style, color), dp_buf_text(&cut),
		      ctl_style_off(style, color));
	if (!last)
		dp_buf_printf(out, "%*s", (align == CTL_RIGHT ? 0 : width - used) + GAP,
			      "");
	dp_buf_free(&cut);
}

void ctl_table_text(const struct ctl_table *t, struct dp_buf *out, int columns,
		    bool color, bool utf8)
{
	int width[COLUMNS_MAX];
	size_t shown = fit(t, columns, width);

	for (size_t i = 0; i < shown; i++)
		put_cell(out, t->column[i].title, t->column[i].align, CTL_BOLD, width[i],
			 i + 1 == shown, color, utf8);
	dp_buf_putc(out, '\n');
	for (size_t row = 0; row < ctl_table_rows(t); row++) {
		for (size_t i = 0; i < shown; i++) {
			const struct cell *cell = &t->cells[row * t->ncolumns + i];

			put_cell(out, cell->text, t->column[i].align, cell->style,
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

	ctl_terminal_size(stdout, &columns, &rows);
	ctl_table_text(t, &out, columns, ctl_colored(ctl, stdout), ctl->utf8);
	ctl_put_buf(ctl, &out);
	hidden = t->ncolumns - fit(t, columns, width);
	if (hidden > 0)
		ctl_say(ctl, "(%zu more column%s do%s not fit here; -o json shows all)",
			hidden, hidden > 1 ? "s" : "", hidden > 1 ? "" : "es");
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
