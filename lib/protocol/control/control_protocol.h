/* control_protocol.h - the control protocol: newline-delimited JSON over a Unix stream socket.
 *
 * Request  {"v":1,"do":"status","study":"svt"}          one line, <= DP_CONTROL_REQUEST_MAX
 * Reply    {"v":1,"ok":{...}}  or  {"v":1,"error":{"code":5,"kind":"not-found",
 *          "message":"...","hint":"..."}}                one line, <= DP_CONTROL_REPLY_MAX
 *          with "unsaved":SECONDS beside "ok" if it shows what is not on the disk yet
 *
 * One reply a request, in order. A request of another version is refused before it is
 * looked at. Unknown fields are ignored, unknown verbs are errors. docs/protocol.md
 * lists the verbs. */
#ifndef DP_PROTOCOL_CONTROL_CONTROL_PROTOCOL_H
#define DP_PROTOCOL_CONTROL_CONTROL_PROTOCOL_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

enum {
	DP_CONTROL_VERSION = 1,
	DP_CONTROL_REQUEST_MAX = 4 << 20, /* a study file of 1 MiB, escaped */
	DP_CONTROL_REPLY_MAX = 256 << 20,
	DP_CONTROL_SOCKET_PATH_MAX = 107, /* of a socket: sun_path without its NUL */
};

/* ---- framing (control_message.c) ---- */

/* Appends {"v":1,"do":verb,...fields} and a newline. Takes the reference `fields`
 * (an object or NULL). */
void dp_control_format_request(struct dp_buf *out, const char *verb, json_t *fields);
/* Appends a reply; takes the reference. */
void dp_control_format_ok(struct dp_buf *out, json_t *ok);
void dp_control_format_error(struct dp_buf *out, const struct dp_err *err);

/* Marks a reply that was written already: it shows what is not on the disk yet, because
 * the journal has not answered for so many seconds. */
void dp_control_mark_unsaved(struct dp_buf *reply, double seconds);

/* Checks one request line (without its newline): JSON object, version, verb.
 * DP_OK with *request owned by the caller and *verb inside it, else DP_E_PROTOCOL. */
DP_MUSTCHECK int dp_control_parse_request(const char *line, size_t len, json_t **request,
					  const char **verb, struct dp_err *err);
/* Checks one reply line. DP_OK with *ok owned by the caller (with a field "unsaved" if
 * the reply was marked so), or the error that the
 * other side sent, or DP_E_PROTOCOL. */
DP_MUSTCHECK int dp_control_parse_reply(const char *line, size_t len, json_t **ok,
					struct dp_err *err);

/* ---- a blocking client (client.c) ---- */

struct dp_client;
/* Connects to the socket at `path`. DP_E_NO_DAEMON (with how to start one),
 * DP_E_DENIED, DP_E_LIMIT for a path that is too long. */
DP_MUSTCHECK int dp_client_open(const char *path, struct dp_client **out, struct dp_err *err);
/* A client over a socket that is connected already; owns the descriptor. */
struct dp_client *dp_client_from_fd(int fd);
void dp_client_close(struct dp_client *c);
/* One request and its reply; connects again first if the daemon has closed a connection
 * that dp_client_open() made. Takes the reference `fields`. timeout_ms < 0: waits for
 * ever; DP_E_TIMEOUT. DP_E_NO_DAEMON when the daemon went away. EINTR by a signal
 * gives DP_E_INTERRUPTED. */
DP_MUSTCHECK int dp_client_call(struct dp_client *c, const char *verb, json_t *fields,
				int timeout_ms, json_t **ok, struct dp_err *err);

#endif
