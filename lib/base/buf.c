/* buf.c - a growing byte buffer with a hard maximum. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp_buf_free(struct dp_buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->over_limit = false;
}

void dp_buf_clear(struct dp_buf *b)
{
	b->len = 0;
	b->over_limit = false;
	if (b->data)
		b->data[0] = '\0';
}

static bool buf_reserve(struct dp_buf *b, size_t n)
{
	size_t need, cap;

	if (n > SIZE_MAX / 2 - b->len)
		dp_out_of_memory();
	b->over_limit |= b->max && b->len + n > b->max;
	if (b->over_limit)
		return false;
	need = b->len + n + 1;
	if (need <= b->cap)
		return true;
	cap = b->cap ? b->cap : 64;
	while (cap < need)
		cap *= 2;
	b->data = dp_realloc(b->data, cap);
	b->cap = cap;
	return true;
}

void dp_buf_add(struct dp_buf *b, const void *p, size_t n)
{
	if (!buf_reserve(b, n))
		return;
	if (n)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void dp_buf_puts(struct dp_buf *b, const char *s)
{
	dp_buf_add(b, s, strlen(s));
}

void dp_buf_putc(struct dp_buf *b, char c)
{
	dp_buf_add(b, &c, 1);
}

void dp_buf_printf(struct dp_buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !buf_reserve(b, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
}

void dp_buf_add_xml_escaped(struct dp_buf *b, const char *text)
{
	static const char special[] = "<>&\"'";
	static const char *const words[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };

	while (*text) {
		size_t n = strcspn(text, special);

		dp_buf_add(b, text, n);
		text += n;
		if (*text)
			dp_buf_puts(b, words[strchr(special, *text++) - special]);
	}
}

void dp_buf_consume(struct dp_buf *b, size_t n)
{
	if (n > b->len)
		n = b->len;
	if (!b->data)
		return;
	memmove(b->data, b->data + n, b->len - n + 1);
	b->len -= n;
}

char *dp_buf_detach(struct dp_buf *b)
{
	char *p;

	if (!b->data)
		dp_buf_puts(b, "");
	p = b->data;
	b->data = NULL;
	b->len = b->cap = 0;
	return p;
}

const char *dp_buf_text(const struct dp_buf *b)
{
	return b->data ? b->data : "";
}
