/* request_head.h - parses the request line and headers before libmicrohttpd does.
 *
 * libmicrohttpd accepts requests that a proxy may parse differently: two Content-Length, a NUL in a
 * header, folded headers. This parser rejects them. */
#ifndef DP_SERVE_HTTP_REQUEST_HEAD_H
#define DP_SERVE_HTTP_REQUEST_HEAD_H
#include "base/base.h"

enum {
	HEAD_MAX = 24 << 10,
	HEAD_FIELDS_MAX = 100,
};

enum head_status {
	HEAD_INCOMPLETE,
	HEAD_COMPLETE,
	HEAD_INVALID, /* `status` and `why` hold the answer */
};

struct head_value {
	const char *text; /* NULL: absent */
	size_t len;
};

struct request_head {
	unsigned status;
	const char *error;
	/* of a complete head */
	size_t len; /* bytes, with the empty line */
	uint64_t body_length;
	bool chunked;          /* the length of the body is unknown */
	bool expects_continue; /* the peer waits for "100 Continue" */
	struct head_value target, token, authorization, cookie; /* point into the input */
};

/* Parses the first `n` bytes of a connection. Often detects an invalid head before it is
 * complete. */
enum head_status request_head_parse(const char *bytes, size_t n, struct request_head *out);
/* Returns a NUL-terminated copy; NULL: absent, or out of memory. */
char *head_value_copy(const struct head_value *v);

#endif
