/* text.c - what the text formats share: lines, words, numbers. */
#include "base/num.h"
#include "trainers/data/data_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void text_init(struct text *t, const char *p, size_t len)
{
	t->at = p;
	t->end = p + len;
	t->line = 0;
	if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		t->at += 3;
}

bool text_read_line(struct text *t, struct word *line)
{
	const char *end;

	if (t->at == t->end)
		return false;
	end = memchr(t->at, '\n', (size_t)(t->end - t->at));
	line->p = t->at;
	line->len = (size_t)((end ? end : t->end) - t->at);
	t->at = end ? end + 1 : t->end;
	if (line->len > 0 && line->p[line->len - 1] == '\r')
		line->len--;
	t->line++;
	return true;
}

int text_rows(const char *p, size_t len,
	      int (*read_row)(struct word line, struct builder *b, struct set *s,
			      struct dp_err *err),
	      struct builder *b, struct set *s, struct dp_err *err)
{
	struct text text;
	struct word line;
	int code = DP_OK;

	text_init(&text, p, len);
	while (code == DP_OK && text_read_line(&text, &line)) {
		code = read_row(line, b, s, err);
		if (code != DP_OK)
			dp_err_prefix(err, "line %zu", text.line);
	}
	return code;
}

bool word_cut(struct word *rest, char separator, struct word *part)
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

struct word word_trim(struct word w)
{
	while (w.len > 0 && is_space(*w.p)) {
		w.p++;
		w.len--;
	}
	while (w.len > 0 && is_space(w.p[w.len - 1]))
		w.len--;
	return w;
}

bool word_next(struct word *rest, struct word *part)
{
	*rest = word_trim(*rest);
	part->p = rest->p;
	for (part->len = 0; part->len < rest->len; part->len++)
		if (is_space(rest->p[part->len]))
			break;
	rest->p += part->len;
	rest->len -= part->len;
	return part->len > 0;
}

bool word_is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.p, text, w.len) == 0;
}

const char *word_show(struct word w, char out[SHOWN_LEN])
{
	size_t n = w.len < SHOWN_LEN - 4 ? w.len : SHOWN_LEN - 4;

	for (size_t i = 0; i < n; i++)
		out[i] = w.p[i] >= ' ' && w.p[i] < 0x7f ? w.p[i] : '?';
	strcpy(out + n, n < w.len ? "..." : "");
	return out;
}

bool word_whole(struct word w, uint32_t *x)
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

/* A number that even a double cannot hold; dp_num_parse() refuses it. */
static bool beyond_double(const char *text, double *x)
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

bool word_float(struct word w, float *x)
{
	char copy[64];
	uint32_t whole;
	double v;

	/* most are, and need no conversion from text */
	if (word_whole(w, &whole)) {
		*x = (float)whole;
		return true;
	}
	if (w.len == 0 || w.len >= sizeof copy || memchr(w.p, '\0', w.len))
		return false;
	memcpy(copy, w.p, w.len);
	copy[w.len] = '\0';
	if (dp_num_parse(copy, &v) ? !isfinite(v) : !beyond_double(copy, &v))
		return false;
	*x = v > (double)FLT_MAX ? FLT_MAX : v < -(double)FLT_MAX ? -FLT_MAX : (float)v;
	return true;
}
