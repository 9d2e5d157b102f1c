/* ctl_output.c - writes data to standard output, messages and errors to standard error. */
#include "ctl/ctl_output.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/text_format.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* ---- escaping for terminals ---- */

static const char *const style_codes[] = {
	[CTL_NORMAL] = "",       [CTL_BOLD] = "\033[1m",  [CTL_DIM] = "\033[2m",
	[CTL_GOOD] = "\033[32m", [CTL_WARN] = "\033[33m", [CTL_BAD] = "\033[31m",
};
#define STYLE_OFF "\033[0m"

/* Returns the length of one of our style sequences at the start of a text; 0: none. */
static size_t style_prefix_len(const char *text, size_t len)
{
	size_t off = strlen(STYLE_OFF);

	if (len >= off && memcmp(text, STYLE_OFF, off) == 0)
		return off;
	for (size_t i = CTL_BOLD; i < DP_COUNT(style_codes); i++) {
		size_t n = strlen(style_codes[i]);

		if (len >= n && memcmp(text, style_codes[i], n) == 0)
			return n;
	}
	return 0;
}

/* Includes Unicode control characters and marks that change the text direction. */
static bool is_terminal_control(wchar_t w)
{
	return (wcwidth(w) < 0 && w != L'\n' && w != L'\t') || (w >= 0x202a && w <= 0x202e) ||
	       (w >= 0x2066 && w <= 0x2069);
}

void ctl_escape_controls(struct dp_buf *out, const char *text, size_t len, bool styles)
{
	while (len > 0) {
		mbstate_t state = { 0 };
		wchar_t w = 0;
		size_t n = styles ? style_prefix_len(text, len) : 0;
		bool own = n > 0;

		if (!own)
			n = mbrtowc(&w, text, len, &state);
		if (n == (size_t)-1 || n == (size_t)-2) {
			n = 1;
			dp_buf_printf(out, "\\x%02x", (unsigned char)*text);
		} else if (own || (n > 0 && !is_terminal_control(w))) {
			dp_buf_add(out, text, n);
		} else if (w < 0x80) {
			n = 1; /* NUL counts as length 0 */
			dp_buf_printf(out, "^%c", (char)(w ^ 0x40));
		} else {
			dp_buf_printf(out, "<U+%04X>", (unsigned)w);
		}
		text += n;
		len -= n;
	}
}

size_t ctl_utf8_partial_len(const char *text, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		unsigned char c = (unsigned char)text[len - n];
		size_t whole = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

		if (c >= 0xc0)
			return whole > n ? n : 0;
		if (c < 0x80)
			return 0;
	}
	return 0;
}

/* Records a failed write of data. ctl_flush() reports it at the end of the command. */
static void out_record_failure(struct ctl *ctl, int errnum)
{
	if (errnum == EPIPE)
		ctl->out_closed = true;
	else if (ctl->out_errno == 0)
		ctl->out_errno = errnum;
}

static void out_write_bytes(struct ctl *ctl, const char *text, size_t len)
{
	if (!ctl->out_closed && fwrite(text, 1, len, ctl->out) != len)
		out_record_failure(ctl, errno);
}

/* Flushes data before a message: both streams may lead to one file or pipe, and only data is
 * buffered. Otherwise a message could split a row. */
static void err_stream_puts(struct ctl *ctl, const char *text)
{
	if (!ctl->out_closed && fflush(ctl->out) != 0)
		out_record_failure(ctl, errno);
	fputs(text, ctl->err_stream);
}

/* Writes text escaped to terminals, unchanged to pipes and files. */
static void out_write_escaped(struct ctl *ctl, const char *text, size_t len, bool styles)
{
	struct dp_buf shown = DP_BUF_INIT;

	if (!ctl_escapes_output(ctl, ctl->out)) {
		out_write_bytes(ctl, text, len);
		return;
	}
	ctl_escape_controls(&shown, text, len, styles);
	out_write_bytes(ctl, dp_buf_text(&shown), shown.len);
	dp_buf_free(&shown);
}

bool ctl_escapes_output(const struct ctl *ctl, FILE *stream)
{
	return !ctl->raw && isatty(fileno(stream));
}

void ctl_print_bytes(struct ctl *ctl, const char *text, size_t len)
{
	out_write_escaped(ctl, text, len, false);
}

void ctl_print_stderr(struct ctl *ctl, const char *text)
{
	struct dp_buf shown = DP_BUF_INIT;

	if (ctl_escapes_output(ctl, ctl->err_stream))
		ctl_escape_controls(&shown, text, strlen(text), false);
	else
		dp_buf_puts(&shown, text);
	err_stream_puts(ctl, dp_buf_text(&shown));
	dp_buf_free(&shown);
}

void ctl_print_buf(struct ctl *ctl, struct dp_buf *buf)
{
	out_write_escaped(ctl, dp_buf_text(buf), buf->len, true);
	dp_buf_free(buf);
}

void ctl_printf(struct ctl *ctl, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = dp_vasprintf(format, ap);
	va_end(ap);
	out_write_escaped(ctl, text, strlen(text), true);
	free(text);
}

static void print_json_indented(struct ctl *ctl, const json_t *value, int indent)
{
	struct dp_buf out = DP_BUF_INIT;

	if (!value) { /* jansson builds no strings from invalid UTF-8 */
		fputs("dparetoctl: the answer has text that is not UTF-8\n", stderr);
		exit(dp_code_exit(DP_E_INVALID));
	}
	dp_json_dump(&out, value, indent);
	dp_buf_putc(&out, '\n');
	ctl_print_buf(ctl, &out);
}

void ctl_print_json(struct ctl *ctl, const json_t *value)
{
	print_json_indented(ctl, value, isatty(fileno(ctl->out)) ? 2 : 0);
}

void ctl_print_json_line(struct ctl *ctl, const json_t *value)
{
	print_json_indented(ctl, value, 0);
}

int ctl_flush(struct ctl *ctl, struct dp_err *err)
{
	if (ctl->out_closed)
		return DP_OK;
	errno = 0;
	if (fflush(ctl->out) == 0 && !ferror(ctl->out))
		return DP_OK;
	out_record_failure(ctl, errno);
	if (ctl->out_closed)
		return DP_OK;
	return dp_fail(err, DP_E_IO, "cannot write to standard output: %s",
		       ctl->out_errno ? strerror(ctl->out_errno) : "a write failed");
}

/* Wraps a line between words, where a terminal would break words. */
static void wrap_line(FILE *stream, const char *line, struct dp_buf *out)
{
	int columns, rows;

	ctl_terminal_size(stream, &columns, &rows);
	if (columns > 0 && ctl_text_width(line) > columns)
		ctl_text_wrap(out, line, 0, columns);
	else
		dp_buf_printf(out, "%s\n", line);
}

void ctl_print_message(struct ctl *ctl, const char *format, ...)
{
	struct dp_buf line = DP_BUF_INIT, wrapped = DP_BUF_INIT;
	char *text;
	va_list ap;

	if (ctl->quiet)
		return;
	va_start(ap, format);
	text = dp_vasprintf(format, ap);
	va_end(ap);
	ctl_text_sanitize(&line, text);
	wrap_line(ctl->err_stream, dp_buf_text(&line), &wrapped);
	err_stream_puts(ctl, dp_buf_text(&wrapped));
	dp_buf_free(&wrapped);
	dp_buf_free(&line);
	free(text);
}

void ctl_print_wrapped(struct ctl *ctl, const char *format, ...)
{
	struct dp_buf wrapped = DP_BUF_INIT;
	char *text;
	va_list ap;

	va_start(ap, format);
	text = dp_vasprintf(format, ap);
	va_end(ap);
	wrap_line(ctl->out, text, &wrapped);
	ctl_print_buf(ctl, &wrapped);
	free(text);
}

/* Appends an escaped message. Errors about files may have several lines. */
static void append_clean_lines(struct dp_buf *out, const char *text)
{
	while (text) {
		const char *end = strchr(text, '\n');
		char *line = end ? dp_strndup(text, (size_t)(end - text)) : dp_strdup(text);

		ctl_text_sanitize(out, line);
		free(line);
		if (end)
			dp_buf_putc(out, '\n');
		text = end ? end + 1 : NULL;
	}
}

void ctl_print_error(struct ctl *ctl, const struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	bool color = ctl_use_color(ctl, ctl->err_stream);
	json_t *object;

	if ((ctl->format == CTL_JSON || ctl->format == CTL_JSONL) && !ctl->json_printed) {
		object = json_pack("{s:o?}", "error", dp_json_from_error(err));
		ctl_print_json(ctl, object);
		json_decref(object);
		return;
	}
	dp_buf_printf(&text, "%sdparetoctl:%s ", ctl_style_on(CTL_BAD, color),
		      ctl_style_off(CTL_BAD, color));
	append_clean_lines(&text, err->msg[0] ? err->msg : dp_code_text(err->code));
	dp_buf_putc(&text, '\n');
	if (err->hint[0]) {
		dp_buf_puts(&text, "hint: ");
		append_clean_lines(&text, err->hint);
		dp_buf_putc(&text, '\n');
	}
	err_stream_puts(ctl, dp_buf_text(&text));
	dp_buf_free(&text);
}

const char *ctl_style_on(enum ctl_style style, bool color)
{
	return color ? style_codes[style] : "";
}

const char *ctl_style_off(enum ctl_style style, bool color)
{
	return color && style != CTL_NORMAL ? STYLE_OFF : "";
}

bool ctl_use_color(const struct ctl *ctl, FILE *stream)
{
	return ctl->color && isatty(fileno(stream));
}

static int env_positive_int(const char *name, int otherwise)
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
	*columns = size.ws_col > 0 ? size.ws_col : env_positive_int("COLUMNS", 80);
	*rows = size.ws_row > 0 ? size.ws_row : env_positive_int("LINES", 24);
}
