/* http_message.h - an HTTP request and its reply, without sockets.
 *
 * serve/http_server.c fills a request from libmicrohttpd and sends the reply. Tests and the fuzzer
 * do the same without a network. */
#ifndef DP_SERVE_HTTP_HTTP_MESSAGE_H
#define DP_SERVE_HTTP_HTTP_MESSAGE_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

enum {
	HTTP_TARGET_MAX = 4096, /* bytes of path and query */
	HTTP_MAX_SEGMENTS = 8,
	HTTP_MAX_QUERY = 32,
	HTTP_BODY_MAX = 64 << 10,
};

enum http_method {
	HTTP_GET, /* also HEAD; the body is not sent */
	HTTP_POST,
	HTTP_OTHER,
};

struct http_field {
	const char *name, *value; /* value: "" without '=' */
};

struct http_request {
	enum http_method method;
	/* path segments, decoded: "/api/studies/svt" has three, "/" none */
	const char *segments[HTTP_MAX_SEGMENTS];
	size_t n_segments;
	struct http_field query[HTTP_MAX_QUERY];
	size_t n_query;
	/* headers; NULL: absent */
	const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *token, *cookie,
		*if_none_match;
	const char *peer_address;
	const char *local_address; /* the address of this server that it used */
	const char *user_name;     /* local user; NULL: unknown */
	bool user_denied;          /* this user may not use the daemon */
	const char *body;
	size_t body_len;
	char *target_copy; /* buffer of segments and query */
};

/* Splits path and query as sent by a browser. DP_E_USAGE: malformed. */
DP_MUSTCHECK int http_parse_target(struct http_request *q, const char *target, struct dp_err *err);
void http_request_free(struct http_request *q);
enum http_method http_parse_method(const char *word);
/* Returns the first value of a name in the query; NULL: absent. */
const char *http_query_get(const struct http_request *q, const char *name);
/* Parses an integer of the query within limits; `otherwise` if absent. */
DP_MUSTCHECK int http_query_get_int(const struct http_request *q, const char *name, int64_t least,
				    int64_t most, int64_t otherwise, int64_t *out,
				    struct dp_err *err);
/* Returns the decoded value of a name in a form's "name=value&...". The caller frees it; NULL:
 * absent. */
char *http_form_get(const char *body, size_t len, const char *name);

struct http_reply {
	unsigned status;
	const char *content_type;
	const char *security_policy;
	const char *allow;    /* with 405: the allowed methods */
	const char *location; /* with 303 */
	char etag[72];        /* "": none, and the reply must not be cached */
	char cookie[256];
	bool is_event_stream; /* no body: the reply is the event stream */
	size_t held;          /* bytes of the body counted in `held` of routes.h */
	struct dp_buf body;
};

void http_reply_free(struct http_reply *a);
/* Writes an error reply; the status follows from the code. */
void http_reply_error(struct http_reply *a, const struct dp_err *err);
void http_reply_error_status(struct http_reply *a, unsigned status, const struct dp_err *err);
/* Takes the reference. NULL: error, the daemon's answer lacked this value. */
DP_MUSTCHECK int http_reply_json(struct http_reply *a, json_t *value, struct dp_err *err);

#endif
