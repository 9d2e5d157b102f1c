/* http_message.h - a request as the rest of this folder sees it, and the answer to it.
 *
 * Knows nothing of sockets: serve/http_server.c fills a request from what libmicrohttpd gives
 * it and sends the answer, tests and the fuzzer do the same without a network. */
#ifndef DP_SERVE_HTTP_HTTP_MESSAGE_H
#define DP_SERVE_HTTP_HTTP_MESSAGE_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

enum {
	HTTP_TARGET_MAX = 4096, /* bytes of a request's path and query */
	HTTP_MAX_SEGMENTS = 8,
	HTTP_MAX_QUERY = 32,
	HTTP_BODY_MAX = 64 << 10,
};

enum http_method {
	HTTP_GET, /* and HEAD, whose body nobody sends */
	HTTP_POST,
	HTTP_OTHER,
};

struct http_field {
	const char *name, *value; /* value: "" without '=' */
};

struct http_request {
	enum http_method method;
	/* the path's parts, decoded: "/api/studies/svt" has three, "/" none */
	const char *segments[HTTP_MAX_SEGMENTS];
	size_t n_segments;
	struct http_field query[HTTP_MAX_QUERY];
	size_t n_query;
	/* headers, NULL where there is none */
	const char *host, *origin, *fetch_site, *fetch_mode, *fetch_dest, *token, *cookie,
		*if_none_match;
	const char *peer_address;  /* where it comes from, "192.0.2.7" */
	const char *local_address; /* the address that it came to */
	const char *user_name;     /* the user of this machine who asks; NULL: not known */
	bool user_denied;          /* one who may not ask the daemon */
	const char *body;
	size_t body_len;
	char *target_copy; /* what parts and query point into */
};

/* Takes a path and query as a browser sends it apart. DP_E_USAGE for what is none. */
DP_MUSTCHECK int http_parse_target(struct http_request *q, const char *target, struct dp_err *err);
void http_request_free(struct http_request *q);
enum http_method http_parse_method(const char *word);
/* The first value of that name in the query; NULL: there is none. */
const char *http_query_get(const struct http_request *q, const char *name);
/* A whole number of the query within limits; `otherwise` if it is not there. */
DP_MUSTCHECK int http_query_get_int(const struct http_request *q, const char *name, int64_t least,
				    int64_t most, int64_t otherwise, int64_t *out,
				    struct dp_err *err);
/* Takes a form's "name=value&..." apart and gives the value of that name, decoded; the
 * caller frees it; NULL: there is none. */
char *http_form_get(const char *body, size_t len, const char *name);

struct http_reply {
	unsigned status;
	const char *content_type;    /* of the body */
	const char *security_policy; /* Content-Security-Policy */
	const char *allow;           /* with 405: methods that there are */
	const char *location;        /* with 303 */
	char etag[72];               /* "": none, and nothing is kept by anybody */
	char cookie[256];            /* Set-Cookie; "": none */
	bool is_event_stream;        /* no body: the stream of events is the answer */
	size_t held;                 /* bytes of the body that count in routes.h's `held` */
	struct dp_buf body;
};

void http_reply_free(struct http_reply *a);
/* The answer to all that failed: its status follows from the code. */
void http_reply_error(struct http_reply *a, const struct dp_err *err);
/* The same with a status of one's own. */
void http_reply_error_status(struct http_reply *a, unsigned status, const struct dp_err *err);
/* Takes the reference; NULL: the daemon's answer lacks what was asked for. */
DP_MUSTCHECK int http_reply_json(struct http_reply *a, json_t *value, struct dp_err *err);

#endif
