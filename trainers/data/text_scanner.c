/* text_scanner.c - scans lines, words and numbers for the text formats. */
#include "base/units.h"
#include "trainers/data/dataset_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void text_scanner_init(struct text_scanner *t, const char *p, size_t len)
{
	t->pos = p;
	t->end = p + len;
	t->line = 0;
	if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		t->pos += 3;
}

bool text_scanner_read_line(struct text_scanner *t, struct text_span *line)
{
	const char *end;

	if (t->pos == t->end)
		return false;
	end = memchr(t->pos, '\n', (size_t)(t->end - t->pos));
	line->p = t->pos;
	line->len = (size_t)((end ? end : t->end) - t->pos);
	t->pos = end ? end + 1 : t->end;
	if (line->len > 0 && line->p[line->len - 1] == '\r')
		line->len--;
	t->line++;
	return true;
}

int text_parse_rows(const char *p, size_t len,
		    int (*read_row)(struct text_span line, struct dataset_builder *b,
				    struct dataset *s, struct dp_err *err),
		    struct dataset_builder *b, struct dataset *s, struct dp_err *err)
{
	struct text_scanner text;
	struct text_span line;
	int code = DP_OK;

	text_scanner_init(&text, p, len);
	while (code == DP_OK && text_scanner_read_line(&text, &line)) {
		code = read_row(line, b, s, err);
		if (code != DP_OK)
			dp_err_prefix(err, "line %zu", text.line);
	}
	return code;
}

bool span_split_at(struct text_span *rest, char separator, struct text_span *part)
{
	const char *end;

	if (!rest->p)
		return false;
	end = memchr(rest->p, separator, rest->len);
	*part = *rest;
	if (!end) {
		rest->p = NULL;
		return true;
	}
	part->len = (size_t)(end - rest->p);
	rest->p += part->len + 1;
	rest->len -= part->len + 1;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

struct text_span span_trim(struct text_span w)
{
	while (w.len > 0 && is_space(*w.p)) {
		w.p++;
		w.len--;
	}
	while (w.len > 0 && is_space(w.p[w.len - 1]))
		w.len--;
	return w;
}

bool span_next_word(struct text_span *rest, struct text_span *part)
{
	*rest = span_trim(*rest);
	part->p = rest->p;
	for (part->len = 0; part->len < rest->len; part->len++)
		if (is_space(rest->p[part->len]))
			break;
	rest->p += part->len;
	rest->len -= part->len;
	return part->len > 0;
}

bool span_equals(struct text_span w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.p, text, w.len) == 0;
}

const char *span_printable(struct text_span w, char out[SPAN_PRINTABLE_LEN])
{
	size_t n = w.len < SPAN_PRINTABLE_LEN - 4 ? w.len : SPAN_PRINTABLE_LEN - 4;

	for (size_t i = 0; i < n; i++)
		out[i] = w.p[i] >= ' ' && w.p[i] < 0x7f ? w.p[i] : '?';
	strcpy(out + n, n < w.len ? "..." : "");
	return out;
}

bool span_parse_uint(struct text_span w, uint32_t *x)
{
	uint32_t v = 0;

	if (w.len == 0 || w.len > 9)
		return false;
	for (size_t i = 0; i < w.len; i++) {
		if (w.p[i] < '0' || w.p[i] > '9')
			return false;
		v = 10 * v + (uint32_t)(w.p[i] - '0');
	}
	*x = v;
	return true;
}

/* True for a number too large for a double, which dp_num_parse() rejects. */
static bool is_double_overflow(const char *text, double *x)
{
	const char *digits = text + (*text == '-' || *text == '+');
	char *end;

	if ((*digits < '0' || *digits > '9') && *digits != '.')
		return false;
	if (strspn(digits, "0123456789.eE+-") != strlen(digits))
		return false;
	*x = strtod(text, &end);
	return *end == '\0' && isinf(*x);
}

bool span_parse_float(struct text_span w, float *x)
{
	char copy[64];
	uint32_t whole;
	double v;

	/* most values are integers and need no slow conversion */
	if (span_parse_uint(w, &whole)) {
		*x = (float)whole;
		return true;
	}
	if (w.len == 0 || w.len >= sizeof copy || memchr(w.p, '\0', w.len))
		return false;
	memcpy(copy, w.p, w.len);
	copy[w.len] = '\0';
	if (dp_num_parse(copy, &v) ? !isfinite(v) : !is_double_overflow(copy, &v))
		return false;
	*x = v > (double)FLT_MAX ? FLT_MAX : v < -(double)FLT_MAX ? -FLT_MAX : (float)v;
	return true;
}
