/* buf.h - a growing byte buffer with a hard maximum. */
#ifndef DP_BUF_H
#define DP_BUF_H
#include "base/base.h"

/* Zero-initialise it, or use DP_BUF_INIT. `data` is always NUL-terminated once
 * something was added, and never counts that NUL in `len`. Additions cannot fail, except
 * to a buffer with a `max`: one that does not fit sets `over_limit`, and it and all later
 * ones are dropped, so that a writer checks once, at the end. */
struct dp_buf {
	char *data;
	size_t len, cap;
	size_t max; /* 0: no limit */
	bool over_limit;
};
#define DP_BUF_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

void dp_buf_free(struct dp_buf *b);  /* and makes it empty again */
void dp_buf_clear(struct dp_buf *b); /* keeps the memory, forgets over_limit */
void dp_buf_add(struct dp_buf *b, const void *p, size_t n);
void dp_buf_puts(struct dp_buf *b, const char *s);
void dp_buf_putc(struct dp_buf *b, char c);
void dp_buf_printf(struct dp_buf *b, const char *fmt, ...) DP_PRINTF(2, 3);
/* Text for XML and HTML, also within quotes: it cannot become markup. */
void dp_buf_add_xml_escaped(struct dp_buf *b, const char *text);
/* Drops the first n bytes. */
void dp_buf_consume(struct dp_buf *b, size_t n);
/* Hands the memory to the caller, who frees it; not for a buffer with a `max`. */
__attribute__((returns_nonnull)) char *dp_buf_detach(struct dp_buf *b);
/* The text, never NULL. */
const char *dp_buf_text(const struct dp_buf *b);

#endif
