/* control_protocol.h - the control protocol: newline-delimited JSON over a Unix stream socket.
 *
 * Request  {"v":1,"do":"status","study":"svt"}          one line, <= DP_CONTROL_REQUEST_MAX
 * Reply    {"v":1,"ok":{...}}  or  {"v":1,"error":{"code":5,"kind":"not-found",
 *          "message":"...","hint":"..."}}                one line, <= DP_CONTROL_REPLY_MAX
 *          with "unsaved":SECONDS next to "ok" if it shows events that are not durable yet
 *
 * One reply per request, in order. Requests of another version are refused unread. Unknown fields
 * are ignored, unknown verbs are errors. docs/protocol.md lists the verbs. */
#ifndef DP_PROTOCOL_CONTROL_CONTROL_PROTOCOL_H
#define DP_PROTOCOL_CONTROL_CONTROL_PROTOCOL_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

enum {
	DP_CONTROL_VERSION = 1,
	DP_CONTROL_REQUEST_MAX = 4 << 20, /* a study file of 1 MiB, escaped */
	DP_CONTROL_REPLY_MAX = 256 << 20,
	DP_CONTROL_SOCKET_PATH_MAX = 107, /* sun_path without its NUL */
};

/* ---- framing (control_message.c) ---- */

/* Appends {"v":1,"do":verb,...fields} and a newline. Takes the reference to `fields` (an object or
 * NULL). Appends nothing if a text is not UTF-8. */
void dp_control_format_request(struct dp_buf *out, const char *verb, json_t *fields);
/* Appends a reply; takes the reference. */
void dp_control_format_ok(struct dp_buf *out, json_t *ok);
void dp_control_format_error(struct dp_buf *out, const struct dp_err *err);

/* Adds "unsaved" to a finished reply: it shows events that are not durable yet, because the journal
 * has not confirmed a commit for this many seconds. */
void dp_control_mark_unsaved(struct dp_buf *reply, double seconds);

/* Checks one request line (without its newline): JSON object, version, verb. On DP_OK the caller
 * owns *request, and *verb points into it; else DP_E_PROTOCOL. */
DP_MUSTCHECK int dp_control_parse_request(const char *line, size_t len, json_t **request,
					  const char **verb, struct dp_err *err);
/* Checks one reply line. On DP_OK the caller owns *ok, which has a field "unsaved" if the reply was
 * marked so. Else returns the error that the daemon sent, or DP_E_PROTOCOL. */
DP_MUSTCHECK int dp_control_parse_reply(const char *line, size_t len, json_t **ok,
					struct dp_err *err);

/* ---- blocking client (control_client.c) ---- */

struct dp_client;
/* Connects to the socket at `path`. DP_E_NO_DAEMON, DP_E_DENIED, DP_E_LIMIT (path too long). */
DP_MUSTCHECK int dp_client_open(const char *path, struct dp_client **out, struct dp_err *err);
/* A client over a connected socket; takes ownership of the descriptor. */
struct dp_client *dp_client_from_fd(int fd);
void dp_client_close(struct dp_client *c);
/* Sends one request and waits for its reply. Reconnects first if the daemon has closed a connection
 * of dp_client_open(). Takes the reference to `fields`. timeout_ms < 0: no timeout. Errors:
 * DP_E_TIMEOUT; DP_E_NO_DAEMON if the daemon closed the connection; DP_E_INTERRUPTED after a
 * signal. */
DP_MUSTCHECK int dp_client_call(struct dp_client *c, const char *verb, json_t *fields,
				int timeout_ms, json_t **ok, struct dp_err *err);

#endif
