/* web.c - between libmicrohttpd and routes.c.
 *
 * A request has a thread, so that an answer may take its time: it waits for the daemon,
 * or for events. What a client can hold up is bounded: how many requests there are, what
 * a request may be, and how long it may take to send one or to take its answer.
 * Connections come from acceptor.c, which has checked the headers of the first request;
 * each is closed after its answer, so that no second request goes past that check. */
#include "serve/web.h"

#include "base/num.h"
#include "serve/acceptor.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	STREAMS_MAX = 128,    /* of events: the rest is for pages */
	MEMORY = 32 << 10,    /* of a connection, for its headers */
	STILL_S = 20,         /* nothing comes or goes for so long */
	BODY_S = 15,          /* from a request's head to the end of its body */
	ANSWER_S = 120,       /* from there to the end of its answer */
	BEAT_MS = 1000,       /* streams look so often whether somebody listens, */
	BEATS_A_COMMENT = 15, /* and say so often that they are there */
	EVENTS_BLOCK = 16 << 10,
};

struct web {
	struct serve *s;
	struct MHD_Daemon *http;
	struct acceptor acceptor; /* its lock is that of all connections */
};

/* A request that is being read. */
struct exchange {
	struct http_request q;
	struct http_reply a;
	struct dp_buf body;
	uint64_t taken; /* bytes of the body, kept or not */
	char peer[NI_MAXHOST], local[NI_MAXHOST + 2];
	bool begun, refused, bad;
	struct dp_err why; /* it is bad */
};

/* ---- connections and their time ---- */

static struct conn *conn_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void connection_set_state(struct web *v, struct MHD_Connection *c, enum conn_state state)
{
	struct conn *conn = conn_of(c);

	if (conn)
		conn_set_state(&v->acceptor, conn, state);
}

/* Finds out whether its user may use the daemon's socket. Where a token is needed, that
 * decides. */
static void connection_judge(struct web *v, struct conn *conn)
{
	conn->judged = true;
	if (v->s->guard.closed)
		return;
	conn->stranger = !conn->local || !peer_may_use(conn->user, v->s->guard.socket);
	if (conn->local)
		acceptor_remember_user(&v->acceptor, conn->user, !conn->stranger);
	if (!conn->stranger)
		peer_name(conn->user, conn->who);
}

/* Finds the connection that was handed over, by its descriptor. */
static void connection_open(struct web *v, struct MHD_Connection *c, void **context)
{
	struct conn *conn;
	int fd = socket_of(c);

	pthread_mutex_lock(&v->acceptor.lock);
	for (conn = v->acceptor.conns.first; conn && conn->fd != fd;)
		conn = conn->next;
	if (conn)
		conn->started = true;
	pthread_mutex_unlock(&v->acceptor.lock);
	*context = conn;
}

static void connection_forget(struct web *v, struct conn *conn)
{
	pthread_mutex_lock(&v->acceptor.lock);
	conn_list_remove(conn);
	pthread_mutex_unlock(&v->acceptor.lock);
	free(conn);
	acceptor_wake(&v->acceptor);
}

static void on_connected(void *arg, struct MHD_Connection *c, void **context,
			 enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		connection_open(arg, c, context);
	} else if (*context) {
		connection_forget(arg, *context);
		*context = NULL;
	}
}

/* Hands a connection to libmicrohttpd, which closes it in any case. */
static void on_handoff(void *arg, struct conn *conn)
{
	struct web *v = arg;
	struct sockaddr_storage peer = conn->peer;
	struct conn *left;

	if (MHD_add_connection(v->http, conn->fd, (struct sockaddr *)&peer, conn->peer_len) ==
	    MHD_YES)
		return;
	/* no memory or no thread; if it started, on_connected() has forgotten it */
	pthread_mutex_lock(&v->acceptor.lock);
	for (left = v->acceptor.conns.first; left && left != conn;)
		left = left->next;
	pthread_mutex_unlock(&v->acceptor.lock);
	if (left)
		connection_forget(v, left);
}

/* libmicrohttpd's own limit is one of silence: a byte every ten seconds would outlive it.
 */
void web_watch(struct web *v)
{
	int64_t now = dp_mono_us();

	pthread_mutex_lock(&v->acceptor.lock);
	for (struct conn *conn = v->acceptor.conns.first; conn; conn = conn->next) {
		int64_t most = conn->state == CONN_READING_BODY ? BODY_S : ANSWER_S;

		if ((conn->state & CONN_RUNNING) && conn->state != CONN_STREAMING &&
		    now - conn->since > most * 1000000)
			conn_evict(conn);
	}
	pthread_mutex_unlock(&v->acceptor.lock);
}

/* ---- requests ---- */

/* As people write it, too where a socket of both kinds has "::ffff:192.0.2.7". */
static void address_text(const struct sockaddr_storage *address, socklen_t len,
			 char out[NI_MAXHOST])
{
	static const char mapped[] = "::ffff:";
	size_t n = strlen(mapped);

	if (getnameinfo((const struct sockaddr *)address, len, out, NI_MAXHOST, NULL, 0,
			NI_NUMERICHOST) != 0)
		snprintf(out, NI_MAXHOST, "?");
	if (strncmp(out, mapped, n) == 0 && strchr(out, '.'))
		memmove(out, out + n, strlen(out + n) + 1);
}

static void read_addresses(struct exchange *x, struct MHD_Connection *c)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof address;
	int fd = socket_of(c);
	char text[NI_MAXHOST];

	if (getpeername(fd, (struct sockaddr *)&address, &len) == 0)
		address_text(&address, len, x->peer);
	len = sizeof address;
	if (getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		address_text(&address, len, text);
		snprintf(x->local, sizeof x->local, strchr(text, ':') ? "[%s]" : "%s", text);
	}
	x->q.peer = x->peer;
	x->q.local = x->local;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* The first that is heard of a request: its path as it was sent. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *c)
{
	struct exchange *x = calloc(1, sizeof *x);

	(void)arg;
	(void)c;
	if (x && http_read_target(&x->q, target, &x->why) != DP_OK)
		x->bad = true;
	return x;
}

/* In a header of its own or, as Prometheus sends one, in that for such things. No other
 * site's page can set either. */
static const char *shown_token(struct MHD_Connection *c)
{
	const char *own = header(c, "X-DPareto-Token");

	return own ? own : guard_bearer_token(header(c, "Authorization"));
}

/* Found out once, in the connection's own thread: asking for a user's groups may take
 * time. */
static void read_user(struct web *v, struct exchange *x, struct MHD_Connection *c)
{
	struct conn *conn = conn_of(c);

	if (conn && !conn->judged)
		connection_judge(v, conn);
	x->q.stranger = !conn || conn->stranger;
	x->q.who = conn && conn->who[0] ? conn->who : NULL;
}

struct hosts {
	const char *first;
	unsigned n;
};

static enum MHD_Result on_header(void *arg, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	struct hosts *hosts = arg;

	(void)kind;
	if (strcasecmp(name, "Host") == 0 && hosts->n++ == 0)
		hosts->first = value;
	return MHD_YES;
}

/* Of two, a proxy in between might have gone by the other one. NULL: not one. */
static const char *only_host(struct MHD_Connection *c)
{
	struct hosts hosts = { 0 };

	MHD_get_connection_values(c, MHD_HEADER_KIND, on_header, &hosts);
	return hosts.n == 1 ? hosts.first : NULL;
}

static void read_headers(struct web *v, struct exchange *x, struct MHD_Connection *c,
			 const char *method)
{
	x->q.method = http_method_from(method);
	x->q.host = only_host(c);
	x->q.origin = header(c, "Origin");
	x->q.site = header(c, "Sec-Fetch-Site");
	x->q.mode = header(c, "Sec-Fetch-Mode");
	x->q.dest = header(c, "Sec-Fetch-Dest");
	x->q.token = shown_token(c);
	x->q.cookie = header(c, "Cookie");
	x->q.known = header(c, "If-None-Match");
	read_user(v, x, c);
	read_addresses(x, c);
}

/* ---- answers ---- */

struct stream {
	struct web *v;
	struct hub_place at;
	struct dp_buf text;
	size_t sent;
	unsigned beats;
	int fd;
};

static bool somebody_listens(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) <= 0;
}

/* Events as they come; at times a comment, so that nobody in between takes the stream
 * for dead. */
static ssize_t stream_read(void *arg, uint64_t position, char *out, size_t size)
{
	struct stream *st = arg;
	size_t n;

	(void)position;
	while (st->sent == st->text.len) {
		dp_buf_clear(&st->text);
		st->sent = 0;
		if (!hub_next(st->v->s->hub, &st->at, BEAT_MS, &st->text) ||
		    !somebody_listens(st->fd))
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (st->text.len == 0 && ++st->beats % BEATS_A_COMMENT == 0)
			dp_buf_puts(&st->text, ": still here\n\n");
	}
	n = st->text.len - st->sent < size ? st->text.len - st->sent : size;
	memcpy(out, st->text.data + st->sent, n);
	st->sent += n;
	return (ssize_t)n;
}

static void stream_free(void *arg)
{
	struct stream *st = arg;

	dp_buf_free(&st->text);
	free(st);
}

static struct MHD_Response *stream_response(struct web *v, struct MHD_Connection *c)
{
	struct MHD_Response *response;
	struct stream *st = calloc(1, sizeof *st);

	if (!st)
		return NULL;
	*st = (struct stream){ .v = v, .fd = socket_of(c) };
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EVENTS_BLOCK, stream_read,
						     st, stream_free);
	if (!response) {
		dp_buf_free(&st->text);
		free(st);
		return NULL;
	}
	return response;
}

/* Makes room for another stream: the oldest one of the peer with the most streams ends,
 * if this peer has fewer. Browsers connect again by themselves. With the lock. */
static bool stream_evict(struct conn_list *list, const struct conn *conn)
{
	struct conn *other = conn_to_evict(list, CONN_STREAMING, CONN_OWNER);

	if (!other || conn_same_peer(other, conn) ||
	    conn_count_of_peer(list, other, CONN_STREAMING) <=
		    conn_count_of_peer(list, conn, CONN_STREAMING) + 1)
		return false;
	conn_evict(other);
	return true;
}

/* Makes the connection a stream, if there may be another one. */
static bool stream_begins(struct web *v, struct MHD_Connection *c, struct http_reply *a)
{
	struct conn_list *list = &v->acceptor.conns;
	struct conn *conn = conn_of(c);
	struct dp_err err;
	bool begins;

	pthread_mutex_lock(&v->acceptor.lock);
	begins = conn &&
		 (conn_count(list, CONN_STREAMING) < STREAMS_MAX || stream_evict(list, conn));
	if (begins)
		conn->state = CONN_STREAMING;
	pthread_mutex_unlock(&v->acceptor.lock);
	if (begins)
		return true;
	dp_fail(&err, DP_E_BUSY, "too many pages follow events already");
	dp_hint(&err, "close some of them");
	http_reply_error(a, &err);
	return false;
}

static void put_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value && *value)
		(void)MHD_add_response_header(r, name, value);
}

static void put_headers(struct MHD_Response *r, const struct http_reply *a)
{
	put_header(r, "Content-Type", a->type);
	put_header(r, "Content-Security-Policy",
		   a->policy ? a->policy : "default-src 'none'; frame-ancestors 'none'");
	put_header(r, "X-Content-Type-Options", "nosniff");
	put_header(r, "X-Frame-Options", "DENY");
	put_header(r, "Referrer-Policy", "same-origin");
	put_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	put_header(r, "Cross-Origin-Opener-Policy", "same-origin");
	put_header(r, "Cache-Control", a->etag[0] ? "no-cache" : "no-store");
	put_header(r, "ETag", a->etag);
	put_header(r, "Allow", a->allow);
	put_header(r, "Location", a->location);
	put_header(r, "Set-Cookie", a->cookie);
	put_header(r, "Connection", "close"); /* acceptor.c checks one request */
	if (a->events)
		put_header(r, "X-Accel-Buffering", "no"); /* nginx's word for it */
}

static enum MHD_Result http_send(struct web *v, struct MHD_Connection *c, struct http_reply *a)
{
	bool events = a->events && stream_begins(v, c, a);
	struct MHD_Response *r;
	enum MHD_Result sent;
	size_t len = a->body.len;
	char *body;

	if (events) {
		r = stream_response(v, c);
	} else {
		connection_set_state(v, c, CONN_SENDING);
		body = dp_buf_detach(&a->body);
		r = MHD_create_response_from_buffer(len, body ? body : (char *)"",
						    body ? MHD_RESPMEM_MUST_FREE
							 : MHD_RESPMEM_PERSISTENT);
		if (!r)
			free(body);
	}
	if (!r)
		return MHD_NO; /* no memory: the connection ends */
	put_headers(r, a);
	sent = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return sent;
}

/* Does it say that its body is longer than any that is wanted? */
static bool exchange_too_long(struct exchange *x, struct MHD_Connection *c)
{
	const char *length = header(c, "Content-Length");
	int64_t n;

	if (!length || !dp_int_parse(length, &n) || n <= HTTP_BODY_MAX)
		return false;
	dp_fail(&x->why, DP_E_LIMIT, "what is sent may not be longer than %d bytes", HTTP_BODY_MAX);
	http_reply_status(&x->a, 413, &x->why);
	return true;
}

/* Its headers are read: may it go on? */
static enum MHD_Result exchange_begin(struct web *v, struct MHD_Connection *c, struct exchange *x,
				      const char *method)
{
	x->begun = true;
	read_headers(v, x, c, method);
	if (!x->bad && serve_admits(v->s, &x->q, &x->a) && !exchange_too_long(x, c))
		return MHD_YES;
	x->refused = true;
	if (x->bad)
		http_reply_status(&x->a, 400, &x->why);
	/* a body is not waited for */
	return x->q.method == HTTP_GET ? MHD_YES : http_send(v, c, &x->a);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **context)
{
	struct exchange *x = *context;
	struct web *v = arg;

	(void)url;
	(void)version;
	if (!x)
		return MHD_NO;
	if (!x->begun)
		return exchange_begin(v, c, x, method);
	if (*size > 0) {
		x->taken += *size;
		if (!x->refused && x->taken <= HTTP_BODY_MAX)
			dp_buf_add(&x->body, data, *size);
		*size = 0;
		/* it did not say how long it is: there is no other way to stop it */
		return x->taken > HTTP_BODY_MAX ? MHD_NO : MHD_YES;
	}
	if (!x->refused) {
		connection_set_state(v, c, CONN_ANSWERING);
		x->q.body = dp_buf_text(&x->body);
		x->q.len = x->body.len;
		serve_answer(v->s, &x->q, &x->a);
	}
	return http_send(v, c, &x->a);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context,
			 enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *context;
	struct web *v = arg;

	(void)c;
	(void)why;
	if (!x)
		return;
	atomic_fetch_sub(&v->s->held, x->a.held);
	http_request_free(&x->q);
	http_reply_free(&x->a);
	dp_buf_free(&x->body);
	free(x);
	*context = NULL;
}

/* ---- the server ---- */

static struct MHD_Daemon *http_start(struct web *v)
{
	return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
					MHD_USE_POLL | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
				0, NULL, NULL, on_request, v, MHD_OPTION_CONNECTION_LIMIT,
				CONN_THREADS_MAX + 8, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, STILL_S,
				MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_URI_LOG_CALLBACK,
				on_target, v, MHD_OPTION_NOTIFY_COMPLETED, on_completed, v,
				MHD_OPTION_NOTIFY_CONNECTION, on_connected, v, MHD_OPTION_END);
}

int web_start(struct serve *s, int fd, struct web **out, struct dp_err *err)
{
	struct web *v = calloc(1, sizeof *v);
	int code;

	if (!v) {
		close(fd);
		return dp_fail(err, DP_E_NOMEM, "no memory for a server");
	}
	v->s = s;
	v->acceptor = (struct acceptor){ .guard = &s->guard, .handoff = on_handoff, .arg = v };
	v->http = http_start(v);
	if (!v->http) {
		close(fd);
		free(v);
		return dp_fail(err, DP_E_FAILED, "the server cannot be started");
	}
	code = acceptor_start(&v->acceptor, fd, err);
	if (code != DP_OK) {
		MHD_stop_daemon(v->http);
		free(v);
		return code;
	}
	*out = v;
	return DP_OK;
}

void web_stop(struct web *v)
{
	acceptor_stop(&v->acceptor);
	MHD_stop_daemon(v->http);
	acceptor_free(&v->acceptor);
	free(v);
}
