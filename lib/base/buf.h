/* buf.h - a growing byte buffer with a hard maximum. */
#ifndef DP_BUF_H
#define DP_BUF_H
#include "base/base.h"

/* Initialise it to zero or with DP_BUF_INIT. Once something was added, `data` ends with a NUL that
 * `len` does not count. Additions cannot fail unless `max` is set: then one that does not fit sets
 * `over_limit`, and it and all later ones are dropped. A writer checks once, at the end. */
struct dp_buf {
	char *data;
	size_t len, cap;
	size_t max; /* 0: unlimited */
	bool over_limit;
};
#define DP_BUF_INIT                                                                                \
	{                                                                                          \
		0                                                                                  \
	}

void dp_buf_free(struct dp_buf *b);  /* also empties it */
void dp_buf_clear(struct dp_buf *b); /* keeps the memory, resets over_limit */
void dp_buf_add(struct dp_buf *b, const void *p, size_t n);
void dp_buf_puts(struct dp_buf *b, const char *s);
void dp_buf_putc(struct dp_buf *b, char c);
void dp_buf_printf(struct dp_buf *b, const char *fmt, ...) DP_PRINTF(2, 3);
/* Escapes text for XML and HTML, also within quotes. */
void dp_buf_add_xml_escaped(struct dp_buf *b, const char *text);
void dp_buf_consume(struct dp_buf *b, size_t n);
/* Gives the memory to the caller, who frees it. Not for a buffer with a `max`. */
__attribute__((returns_nonnull)) char *dp_buf_detach(struct dp_buf *b);
/* Never NULL. */
const char *dp_buf_text(const struct dp_buf *b);

#endif
