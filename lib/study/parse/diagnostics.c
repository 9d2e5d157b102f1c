/* diagnostics.c - collects, sorts and formats the diagnostics of a study file. */
#include "study/parse/study_parse_internal.h"
#include "study/diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIAGNOSTICS_MAX = 100, /* a file can have a hundred thousand errors */
	EXCERPT_MAX = 100,     /* columns of a source line */
	EXCERPT_BEFORE = 60    /* of them before the caret, in a cut line */
};

void dp_diagnostics_free(struct dp_diagnostics *p)
{
	for (size_t i = 0; i < p->count; i++) {
		free(p->list[i].message);
		free(p->list[i].allowed);
	}
	free(p->list);
	memset(p, 0, sizeof *p);
}

static size_t bom_len(const char *text, size_t len)
{
	return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The end of the line at `pos`. *next is the start of the next line. */
static size_t line_end(const char *text, size_t len, size_t pos, size_t *next)
{
	size_t end = pos;

	while (end < len && text[end] != '\n' && text[end] != '\r')
		end++;
	*next = end < len ? end + 1 : len;
	if (end + 1 < len && text[end] == '\r' && text[end + 1] == '\n')
		*next = end + 2;
	return end;
}

/* Columns count characters, as editors do. An invalid byte counts as one. */
static size_t utf8_step(const char *text, size_t len, size_t pos)
{
	size_t n = dp__utf8_printable_len(text + pos, len - pos);

	return n ? n : 1;
}

void dp__line_and_column(const char *text, size_t len, size_t pos, int *line, int *column)
{
	size_t start = bom_len(text, len), end, next;

	*line = *column = 1;
	if (pos > len)
		pos = len;
	end = line_end(text, len, start, &next);
	while (pos > end && next > end && next <= pos) {
		start = next;
		++*line;
		end = line_end(text, len, start, &next);
	}
	while (start < pos && start < end) {
		start += utf8_step(text, len, start);
		++*column;
	}
}

bool dp__diagnostics_full(const struct dp__study_parser *r)
{
	return r->diagnostics->count == DIAGNOSTICS_MAX;
}

DP_PRINTF(6, 0)
static void diagnostics_add(struct dp__study_parser *r, bool warning, int line, int column,
			    const char *allowed, const char *fmt, va_list ap)
{
	struct dp_diagnostics *p = r->diagnostics;
	if (!warning)
		p->error_count++;
	if (p->count == DIAGNOSTICS_MAX)
		return;
	p->list = dp_realloc(p->list, (p->count + 1) * sizeof *p->list);
	p->list[p->count++] = (struct dp_diagnostic){ line, column, warning, dp_vasprintf(fmt, ap),
						      dp_strdup_null(allowed) };
}

void dp__report_error(struct dp__study_parser *r, size_t pos, const char *allowed, const char *fmt,
		      ...)
{
	int line = 0, column = 0;
	va_list ap;

	if (!dp__diagnostics_full(r))
		dp__line_and_column(r->text, r->len, pos, &line, &column);
	va_start(ap, fmt);
	diagnostics_add(r, false, line, column, allowed, fmt, ap);
	va_end(ap);
}

void dp__report_warning(struct dp__study_parser *r, size_t pos, const char *allowed,
			const char *fmt, ...)
{
	int line, column;
	va_list ap;

	dp__line_and_column(r->text, r->len, pos, &line, &column);
	va_start(ap, fmt);
	diagnostics_add(r, true, line, column, allowed, fmt, ap);
	va_end(ap);
}

void dp__report_error_at(struct dp__study_parser *r, int line, int column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diagnostics_add(r, false, line, column, NULL, fmt, ap);
	va_end(ap);
}

/* Stable sort by place. At most DIAGNOSTICS_MAX items. */
void dp__diagnostics_sort(struct dp_diagnostics *p)
{
	for (size_t i = 1; i < p->count; i++) {
		struct dp_diagnostic x = p->list[i];
		size_t j = i;

		for (; j > 0; j--) {
			const struct dp_diagnostic *y = &p->list[j - 1];

			if (y->line < x.line || (y->line == x.line && y->column <= x.column))
				break;
			p->list[j] = p->list[j - 1];
		}
		p->list[j] = x;
	}
}

char *dp__printable(const char *word, char out[DP__PRINTABLE_SIZE])
{
	size_t len = strlen(word), n = 0;

	for (size_t i = 0, k; i < len; i += k) {
		k = utf8_step(word, len, i);
		if (n + k + 4 > DP__PRINTABLE_SIZE) {
			memcpy(out + n, "...", 3);
			n += 3;
			break;
		}
		if (dp__utf8_printable_len(word + i, len - i) && word[i] != '\n' &&
		    word[i] != '\r' && word[i] != '\t')
			memcpy(out + n, word + i, k);
		else
			out[n] = '?';
		n += k;
	}
	out[n] = '\0';
	return out;
}

char *dp__did_you_mean(const char *word, const char *const *list, char out[DP__DID_YOU_MEAN_SIZE])
{
	const char *near = dp_nearest_word(word, list);
	char shown[DP__PRINTABLE_SIZE];

	out[0] = '\0';
	if (near)
		snprintf(out, DP__DID_YOU_MEAN_SIZE, "; did you mean '%s'?",
			 dp__printable(near, shown));
	return out;
}

/* Appends line `line` in printable form: invalid bytes, control characters and tabs become one
 * column each; a long line is cut around the column. Returns the caret's column in the result. */
static int diagnostic_excerpt(const char *text, size_t len, int line, int column,
			      struct dp_buf *out)
{
	size_t start = bom_len(text, len), end, next;
	int at = 1, caret, from = 1;

	for (int i = 1; i < line && start < len; i++) {
		line_end(text, len, start, &next);
		start = next;
	}
	end = line_end(text, len, start, &next);
	if (column > EXCERPT_MAX) {
		from = column - EXCERPT_BEFORE;
		dp_buf_puts(out, "...");
	}
	caret = column - from + 1 + (from > 1 ? 3 : 0);
	for (size_t n; start < end; start += n, at++) {
		n = dp__utf8_printable_len(text + start, end - start);
		if (at < from) {
			n = n ? n : 1;
			continue;
		}
		if (at >= from + EXCERPT_MAX) {
			dp_buf_puts(out, "...");
			break;
		}
		if (text[start] == '\t')
			dp_buf_putc(out, ' ');
		else if (n)
			dp_buf_add(out, text + start, n);
		else
			dp_buf_putc(out, '?');
		n = n ? n : 1;
	}
	return caret;
}

static void diagnostic_format(const struct dp_diagnostic *p, const char *path, const char *text,
			      size_t len, struct dp_buf *out)
{
	const char *severity = p->is_warning ? "warning" : "error";
	int caret;

	if (p->line == 0) {
		dp_buf_printf(out, "%s: %s: %s\n", path, severity, p->message);
	} else {
		dp_buf_printf(out, "%s:%d:%d: %s: %s\n", path, p->line, p->column, severity,
			      p->message);
		dp_buf_printf(out, "%4d | ", p->line);
		caret = diagnostic_excerpt(text, len, p->line, p->column, out);
		dp_buf_printf(out, "\n     | %*s\n", caret, "^");
	}
	if (p->allowed)
		dp_buf_printf(out, "     = allowed: %s\n", p->allowed);
}

void dp_diagnostics_format(const struct dp_diagnostics *p, const char *path, const char *text,
			   size_t len, struct dp_buf *out)
{
	size_t warnings = 0, shown = 0;

	if (p->count == 0)
		return;
	for (size_t i = 0; i < p->count; i++) {
		diagnostic_format(&p->list[i], path, text, len, out);
		if (p->list[i].is_warning)
			warnings++;
		else
			shown++;
	}
	dp_buf_printf(out, "%s: %zu %s", path, p->error_count,
		      p->error_count == 1 ? "error" : "errors");
	if (p->error_count > shown)
		dp_buf_printf(out, " (the first %zu shown)", shown);
	if (warnings)
		dp_buf_printf(out, ", %zu %s", warnings, warnings == 1 ? "warning" : "warnings");
	dp_buf_putc(out, '\n');
}

json_t *dp_diagnostics_to_json(const struct dp_diagnostics *p, const char *text, size_t len)
{
	json_t *list = json_array(), *one;
	struct dp_buf line = DP_BUF_INIT;

	for (size_t i = 0; i < p->count; i++) {
		const struct dp_diagnostic *x = &p->list[i];

		dp_buf_clear(&line);
		if (x->line > 0)
			diagnostic_excerpt(text, len, x->line, x->column, &line);
		one = json_pack("{s:i, s:i, s:s, s:s, s:s?, s:s?}", "line", x->line, "column",
				x->column, "severity", x->is_warning ? "warning" : "error",
				"message", x->message, "allowed", x->allowed, "source",
				x->line > 0 ? dp_buf_text(&line) : NULL);
		json_array_append_new(list, one);
	}
	dp_buf_free(&line);
	return list;
}
