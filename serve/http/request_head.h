/* request_head.h - parses the request line and the headers before libmicrohttpd does.
 *
 * libmicrohttpd accepts requests that a proxy in front of it may read in another way: two
 * Content-Length, a NUL in a header, a header of several lines. They are invalid here. */
#ifndef DP_SERVE_HTTP_REQUEST_HEAD_H
#define DP_SERVE_HTTP_REQUEST_HEAD_H
#include "base/base.h"

enum {
	HEAD_MAX = 24 << 10, /* bytes, with the request line */
	HEAD_FIELDS_MAX = 100,
};

enum head_status {
	HEAD_INCOMPLETE,
	HEAD_COMPLETE,
	HEAD_INVALID, /* `status` and `why` are the answer */
};

struct head_value {
	const char *text; /* NULL: the header is absent */
	size_t len;
};

struct request_head {
	unsigned status;
	const char *error;
	/* of a complete head */
	size_t len;            /* bytes up to the empty line, which is included */
	uint64_t body_length;  /* Content-Length, 0 without one */
	bool chunked;          /* the body's length is unknown */
	bool expects_continue; /* the peer waits for "100 Continue" with its body */
	struct head_value target, token, authorization, cookie; /* point into the bytes */
};

/* Parses the first `n` bytes of a connection. An invalid head is often recognised before
 * it is complete. */
enum head_status request_head_parse(const char *bytes, size_t n, struct request_head *out);
/* A copy that ends in NUL; NULL: absent, or no memory. */
char *head_value_copy(const struct head_value *v);

#endif
