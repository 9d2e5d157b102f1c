/* output.c - data to standard output, talk and errors to standard error, tables. */
#include "ctl/output.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/memory.h"
#include "ctl/text.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- streams ---- */

void ctl_put(struct ctl *ctl, const char *text, size_t len)
{
	if (!ctl->out_closed && fwrite(text, 1, len, ctl->out) != len && errno == EPIPE)
		ctl->out_closed = true;
}

void ctl_put_buf(struct ctl *ctl, struct dp_buf *buf)
{
	if (buf->failed)
		ctl_die_nomem();
	ctl_put(ctl, dp_buf_text(buf), buf->len);
	dp_buf_free(buf);
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
	put_json(ctl, value, isatty(fileno(ctl->out)) ? 2 : 0);
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
	if (fflush(ctl->out) == 0 && !ferror(ctl->out))
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
	fprintf(ctl->talk, "%s\n", dp_buf_text(&line));
	dp_buf_free(&line);
	free(text);
}

void ctl_put_error(struct ctl *ctl, const struct dp_err *err)
{
	struct dp_buf line = DP_BUF_INIT;
	bool color = ctl_colored(ctl, ctl->talk);
	json_t *object;

	if (ctl->format == CTL_JSON || ctl->format == CTL_JSONL) {
		object = json_pack("{s:o?}", "error", dp_json_error(err));
		ctl_put_json(ctl, object);
		json_decref(object);
		return;
	}
	ctl_clean(&line, err->msg[0] ? err->msg : dp_code_text(err->code));
	fprintf(ctl->talk, "%sdparetoctl:%s %s\n", ctl_style_on(CTL_BAD, color),
		ctl_style_off(CTL_BAD, color), dp_buf_text(&line));
	if (err->hint[0]) {
		dp_buf_clear(&line);
		ctl_clean(&line, err->hint);
		fprintf(ctl->talk, "hint: %s\n", dp_buf_text(&line));
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
