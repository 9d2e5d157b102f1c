/* http_server.c - connects libmicrohttpd to routes.c and enforces time limits.
 *
 * Each request has a thread, so it may wait for the daemon or for events. Limits bound what a
 * client can occupy: the number of requests, their size, and the time to send one or to read its
 * reply. acceptor.c has checked the headers of each connection's first request. The connection
 * closes after the reply, so that no second request bypasses that check. */
#include "serve/http_server.h"

#include "base/units.h"
#include "serve/http/acceptor.h"

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
	STREAMS_MAX = 128, /* event streams; the other threads are for pages */
	MHD_MEMORY_BYTES = 32 << 10,
	IDLE_TIMEOUT_S = 20,      /* without input or output */
	BODY_TIMEOUT_S = 15,      /* from the end of the headers to the end of the body */
	REPLY_TIMEOUT_S = 120,    /* from there to the end of the reply */
	STREAM_POLL_MS = 1000,    /* how often a stream checks whether its client is gone */
	POLLS_PER_KEEPALIVE = 15, /* polls without events before a keepalive */
	STREAM_BLOCK_BYTES = 16 << 10,
};

struct http_server {
	struct web_app *app;
	struct MHD_Daemon *mhd;
	struct acceptor acceptor; /* its lock protects all connections */
};

struct exchange {
	struct http_request request;
	struct http_reply reply;
	struct dp_buf body;
	uint64_t body_bytes;
	char peer_address[NI_MAXHOST], local_address[NI_MAXHOST + 2];
	unsigned n_hosts;
	bool headers_read, is_refused, is_invalid;
	struct dp_err error;
};

static struct conn *get_mhd_conn(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int get_mhd_socket(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void mhd_conn_set_state(struct http_server *server, struct MHD_Connection *c,
			       enum conn_state state)
{
	struct conn *conn = get_mhd_conn(c);

	if (conn)
		conn_set_state(&server->acceptor, conn, state);
}

static void conn_remove_and_free(struct http_server *server, struct conn *conn)
{
	pthread_mutex_lock(&server->acceptor.lock);
	conn_list_remove(conn);
	pthread_mutex_unlock(&server->acceptor.lock);
	free(conn);
	acceptor_wake(&server->acceptor);
}

static void on_connected(void *arg, struct MHD_Connection *c, void **context,
			 enum MHD_ConnectionNotificationCode what)
{
	struct http_server *server = arg;
	struct conn *conn;
	int fd = get_mhd_socket(c);

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		/* find the handed-over connection by its descriptor */
		pthread_mutex_lock(&server->acceptor.lock);
		for (conn = server->acceptor.conns.newest; conn && conn->fd != fd;)
			conn = conn->next;
		if (conn)
			conn->mhd_started = true;
		pthread_mutex_unlock(&server->acceptor.lock);
		*context = conn;
	} else if (*context) {
		conn_remove_and_free(server, *context);
		*context = NULL;
	}
}

/* Hands a connection to libmicrohttpd, which closes it in every case. */
static void on_handoff(void *arg, struct conn *conn)
{
	struct http_server *server = arg;
	struct sockaddr_storage peer = conn->peer;
	struct conn *left;

	if (MHD_add_connection(server->mhd, conn->fd, (struct sockaddr *)&peer, conn->peer_len) ==
	    MHD_YES)
		return;
	/* no memory or thread; if it was started, on_connected() has taken it off the list */
	pthread_mutex_lock(&server->acceptor.lock);
	for (left = server->acceptor.conns.newest; left && left != conn;)
		left = left->next;
	pthread_mutex_unlock(&server->acceptor.lock);
	if (left)
		conn_remove_and_free(server, left);
}

/* libmicrohttpd only limits silence: a client could send a byte every ten seconds. */
void http_server_close_slow(struct http_server *server)
{
	int64_t now = dp_monotonic_us();

	pthread_mutex_lock(&server->acceptor.lock);
	for (struct conn *conn = server->acceptor.conns.newest; conn; conn = conn->next) {
		int64_t most = conn->state == CONN_READING_BODY ? BODY_TIMEOUT_S : REPLY_TIMEOUT_S;

		if ((conn->state & CONN_RUNNING) && conn->state != CONN_STREAMING &&
		    now - conn->state_since_us > most * 1000000)
			conn_evict(conn);
	}
	pthread_mutex_unlock(&server->acceptor.lock);
}

/* Formats an address, "::ffff:192.0.2.7" of a dual-stack socket as "192.0.2.7". */
static void format_address(const struct sockaddr_storage *address, socklen_t len,
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

static const char *get_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* First callback for a request: receives the path as sent. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *c)
{
	struct exchange *x = dp_calloc(1, sizeof *x);

	(void)arg;
	(void)c;
	x->is_invalid = http_parse_target(&x->request, target, &x->error) != DP_OK;
	return x;
}

static enum MHD_Result on_host_header(void *arg, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct exchange *x = arg;

	(void)kind;
	if (strcasecmp(name, "Host") == 0 && x->n_hosts++ == 0)
		x->request.host = value;
	return MHD_YES;
}

/* Records the connection's user. Runs once, in the connection's thread, because group lookup may be
 * slow. If reading needs the token, skips it: the token decides. */
static void read_request_user(struct http_server *server, struct exchange *x, struct conn *conn)
{
	const struct auth *auth = &server->app->auth;

	if (conn && !conn->user_checked && !auth->token_required) {
		conn->user_denied =
			!conn->is_local || !peer_may_use_socket(conn->uid, auth->socket);
		if (conn->is_local)
			acceptor_remember_user(&server->acceptor, conn->uid, !conn->user_denied);
		if (!conn->user_denied)
			peer_format_user(conn->uid, conn->user_name);
	}
	if (conn)
		conn->user_checked = true;
	x->request.user_denied = !conn || conn->user_denied;
	x->request.user_name = conn && conn->user_name[0] ? conn->user_name : NULL;
}

static void read_headers(struct http_server *server, struct exchange *x, struct MHD_Connection *c,
			 const char *method)
{
	struct http_request *q = &x->request;
	const char *token = get_header(c, "X-DPareto-Token");
	struct sockaddr_storage address;
	socklen_t len = sizeof address;
	char text[NI_MAXHOST];
	int fd = get_mhd_socket(c);

	q->method = http_parse_method(method);
	q->origin = get_header(c, "Origin");
	q->fetch_site = get_header(c, "Sec-Fetch-Site");
	q->fetch_mode = get_header(c, "Sec-Fetch-Mode");
	q->fetch_dest = get_header(c, "Sec-Fetch-Dest");
	q->cookie = get_header(c, "Cookie");
	q->if_none_match = get_header(c, "If-None-Match");
	/* other sites' pages can set neither header; Prometheus sends the second */
	q->token = token ? token : auth_bearer_token(get_header(c, "Authorization"));
	/* with two Host headers, a proxy may have used the other one */
	MHD_get_connection_values(c, MHD_HEADER_KIND, on_host_header, x);
	if (x->n_hosts != 1)
		q->host = NULL;
	read_request_user(server, x, get_mhd_conn(c));
	if (getpeername(fd, (struct sockaddr *)&address, &len) == 0)
		format_address(&address, len, x->peer_address);
	len = sizeof address;
	if (getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
		format_address(&address, len, text);
		snprintf(x->local_address, sizeof x->local_address,
			 strchr(text, ':') ? "[%s]" : "%s", text);
	}
	q->peer_address = x->peer_address;
	q->local_address = x->local_address;
}

struct event_stream {
	struct http_server *server;
	struct event_cursor cursor;
	struct dp_buf text;
	size_t sent;
	unsigned n_polls;
	int fd;
};

/* Sends events as they come, and sometimes a comment, so that proxies keep the stream open. */
static ssize_t event_stream_read(void *arg, uint64_t position, char *out, size_t size)
{
	struct event_stream *st = arg;
	struct pollfd peer = { .fd = st->fd, .events = POLLRDHUP };
	size_t n;

	(void)position;
	while (st->sent == st->text.len) {
		dp_buf_clear(&st->text);
		st->sent = 0;
		if (!event_broker_next(st->server->app->broker, &st->cursor, STREAM_POLL_MS,
				       &st->text) ||
		    poll(&peer, 1, 0) > 0)
			return MHD_CONTENT_READER_END_OF_STREAM;
		if (st->text.len == 0 && ++st->n_polls % POLLS_PER_KEEPALIVE == 0)
			dp_buf_puts(&st->text, ": still here\n\n");
	}
	n = st->text.len - st->sent < size ? st->text.len - st->sent : size;
	memcpy(out, st->text.data + st->sent, n);
	st->sent += n;
	return (ssize_t)n;
}

static void event_stream_free(void *arg)
{
	struct event_stream *st = arg;

	dp_buf_free(&st->text);
	free(st);
}

/* Turns the connection into a stream if the limit allows. At the limit, ends the oldest stream of
 * the peer with the most, if this peer has fewer. Browsers reconnect by themselves. */
static bool event_stream_start(struct http_server *server, struct MHD_Connection *c,
			       struct http_reply *a)
{
	struct conn_list *list = &server->acceptor.conns;
	struct conn *conn = get_mhd_conn(c), *other;
	struct dp_err err;
	bool begins = conn != NULL;

	pthread_mutex_lock(&server->acceptor.lock);
	if (begins && conn_count(list, CONN_STREAMING) >= STREAMS_MAX) {
		other = conn_to_evict(list, CONN_STREAMING, CONN_OWNER);
		begins = other && !conn_same_peer(other, conn) &&
			 conn_count_of_peer(list, other, CONN_STREAMING) >
				 conn_count_of_peer(list, conn, CONN_STREAMING) + 1;
		if (begins)
			conn_evict(other);
	}
	if (begins)
		conn->state = CONN_STREAMING;
	pthread_mutex_unlock(&server->acceptor.lock);
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

static enum MHD_Result http_server_send_reply(struct http_server *server, struct MHD_Connection *c,
					      struct http_reply *a)
{
	struct event_stream *st = NULL;
	struct MHD_Response *r;
	enum MHD_Result sent;
	size_t len = a->body.len;
	char *body = NULL;

	if (a->is_event_stream && event_stream_start(server, c, a)) {
		st = dp_calloc(1, sizeof *st);
		*st = (struct event_stream){ .server = server, .fd = get_mhd_socket(c) };
		r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES,
						      event_stream_read, st, event_stream_free);
	} else {
		mhd_conn_set_state(server, c, CONN_SENDING);
		len = a->body.len;
		body = dp_buf_detach(&a->body);
		r = MHD_create_response_from_buffer(len, body ? body : (char *)"",
						    body ? MHD_RESPMEM_MUST_FREE
							 : MHD_RESPMEM_PERSISTENT);
	}
	if (!r) { /* libmicrohttpd is out of memory: the connection ends */
		free(st);
		free(body);
		return MHD_NO;
	}
	put_header(r, "Content-Type", a->content_type);
	put_header(r, "Content-Security-Policy",
		   a->security_policy ? a->security_policy
				      : "default-src 'none'; frame-ancestors 'none'");
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
	put_header(r, "Connection", "close"); /* acceptor.c checks only one request */
	if (a->is_event_stream)
		put_header(r, "X-Accel-Buffering", "no"); /* for nginx: do not buffer */
	sent = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return sent;
}

/* Called after the headers: decides whether to read the body. */
static enum MHD_Result exchange_begin(struct http_server *server, struct MHD_Connection *c,
				      struct exchange *x, const char *method)
{
	const char *length = get_header(c, "Content-Length");
	int64_t n;

	x->headers_read = true;
	read_headers(server, x, c, method);
	if (!x->is_invalid && web_app_authorize(server->app, &x->request, &x->reply)) {
		if (!length || !dp_int_parse(length, &n) || n <= HTTP_BODY_MAX)
			return MHD_YES;
		dp_fail(&x->error, DP_E_LIMIT, "what is sent may not be longer than %d bytes",
			HTTP_BODY_MAX);
		http_reply_error_status(&x->reply, 413, &x->error);
	}
	x->is_refused = true;
	if (x->is_invalid)
		http_reply_error_status(&x->reply, 400, &x->error);
	/* reply without waiting for the body */
	return x->request.method == HTTP_GET ? MHD_YES
					     : http_server_send_reply(server, c, &x->reply);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **context)
{
	struct exchange *x = *context;
	struct http_server *server = arg;

	(void)url;
	(void)version;
	if (!x)
		return MHD_NO;
	if (!x->headers_read)
		return exchange_begin(server, c, x, method);
	if (*size > 0) {
		x->body_bytes += *size;
		if (!x->is_refused && x->body_bytes <= HTTP_BODY_MAX)
			dp_buf_add(&x->body, data, *size);
		*size = 0;
		/* the length was not announced: closing is the only way to stop it */
		return x->body_bytes > HTTP_BODY_MAX ? MHD_NO : MHD_YES;
	}
	if (!x->is_refused) {
		mhd_conn_set_state(server, c, CONN_ANSWERING);
		x->request.body = dp_buf_text(&x->body);
		x->request.body_len = x->body.len;
		web_app_handle_request(server->app, &x->request, &x->reply);
	}
	return http_server_send_reply(server, c, &x->reply);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context,
			 enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *context;
	struct http_server *server = arg;

	(void)c;
	(void)why;
	if (!x)
		return;
	atomic_fetch_sub(&server->app->held, x->reply.held);
	http_request_free(&x->request);
	http_reply_free(&x->reply);
	dp_buf_free(&x->body);
	free(x);
	*context = NULL;
}

int http_server_start(struct web_app *app, int fd, struct http_server **out, struct dp_err *err)
{
	struct http_server *server = dp_calloc(1, sizeof *server);
	int code;

	server->app = app;
	server->acceptor =
		(struct acceptor){ .auth = &app->auth, .handoff = on_handoff, .arg = server };
	server->mhd = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET,
		0, NULL, NULL, on_request, server, MHD_OPTION_CONNECTION_LIMIT,
		CONN_THREADS_MAX + 8, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MHD_MEMORY_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_TIMEOUT_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_URI_LOG_CALLBACK, on_target, server, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, on_connected, server,
		MHD_OPTION_END);
	if (!server->mhd) {
		close(fd);
		free(server);
		return dp_fail(err, DP_E_FAILED, "the server cannot be started");
	}
	code = acceptor_start(&server->acceptor, fd, err);
	if (code != DP_OK) {
		MHD_stop_daemon(server->mhd);
		free(server);
		return code;
	}
	*out = server;
	return DP_OK;
}

void http_server_stop(struct http_server *server)
{
	acceptor_stop(&server->acceptor);
	MHD_stop_daemon(server->mhd);
	acceptor_free(&server->acceptor);
	free(server);
}
