/* server.c - the control socket: connections, lines, who may speak, replies. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	READ_ROOM = 64 << 10,
};

struct client {
	struct client *next;
	struct dpd *d;
	uint64_t id;
	uv_pipe_t pipe;
	struct dp_buf in;
	size_t scanned; /* bytes of `in` that hold no newline */
	bool answering; /* one request at a time, until its reply is written: what a
			 * client does not read cannot pile up */
	bool paused;    /* not reading: it has sent more than is good for it */
	bool ended;     /* it will send no more */
	bool handling;  /* lines are being taken from `in` further up the stack */
	bool hang_up;   /* close once the reply is written */
	bool closing;
	bool lifeline;
	uint64_t ticket; /* the journal's newest when the request came */
	/* a long poll */
	bool waiting;
	uint32_t study, since;
	int64_t until; /* dp_mono_us() */
};

static void take_lines(struct client *c);
static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf);
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);

static struct client *by_id(struct dpd *d, uint64_t id)
{
	for (struct client *c = d->clients; c; c = c->next)
		if (c->id == id && !c->closing)
			return c;
	return NULL;
}

static void on_closed(uv_handle_t *h)
{
	struct client *c = h->data;
	struct dpd *d = c->d;

	for (struct client **p = &d->clients; *p; p = &(*p)->next) {
		if (*p == c) {
			*p = c->next;
			d->nclients--;
			break;
		}
	}
	if (c->lifeline && !d->closed && !d->stopping)
		daemon_stop(d, STOP_KILL, "whoever started it has gone");
	dp_buf_free(&c->in);
	free(c);
}

static void client_close(struct client *c)
{
	if (c->closing)
		return;
	c->closing = true;
	uv_close((uv_handle_t *)&c->pipe, on_closed);
}

/* ---- replies ---- */

struct reply {
	uint64_t client;
	struct dp_buf text;
	uv_write_t write;
	struct dpd *d;
};

static void reply_free(struct reply *r)
{
	dp_buf_free(&r->text);
	free(r);
}

static void on_written(uv_write_t *w, int status)
{
	struct reply *r = w->data;
	struct client *c = by_id(r->d, r->client);

	reply_free(r);
	if (!c)
		return;
	c->answering = false;
	if (status < 0 || c->hang_up)
		client_close(c);
	else
		take_lines(c);
}

static void send_reply(struct dpd *d, void *arg)
{
	struct reply *r = arg;
	struct client *c = by_id(d, r->client);
	uv_buf_t b = uv_buf_init(r->text.data, (unsigned)r->text.len);

	if (!c || uv_write(&r->write, (uv_stream_t *)&c->pipe, &b, 1, on_written) != 0) {
		if (c)
			client_close(c);
		reply_free(r);
	}
}

static void answer(struct dpd *d, struct reply *r)
{
	struct client *c = by_id(d, r->client);

	if (r->text.failed) {
		if (c)
			client_close(c);
		reply_free(r);
		return;
	}
	if (c && c->ticket == d->last_ticket)
		after_commit_look(d, send_reply, r);
	else
		after_commit(d, send_reply, r);
}

static struct reply *reply_new(struct dpd *d, uint64_t client)
{
	struct reply *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	r->client = client;
	r->d = d;
	r->write.data = r;
	r->text.max = DP_WIRE_REPLY_MAX;
	return r;
}

void client_ok(struct dpd *d, uint64_t client, json_t *ok)
{
	struct reply *r = reply_new(d, client);

	if (!r) {
		json_decref(ok);
		return;
	}
	dp_wire_ok(&r->text, ok);
	answer(d, r);
}

void client_error(struct dpd *d, uint64_t client, const struct dp_err *err)
{
	struct reply *r = reply_new(d, client);

	if (!r)
		return;
	dp_wire_error(&r->text, err);
	answer(d, r);
}

/* ---- long polls ---- */

void client_wait(struct dpd *d, uint64_t client, uint32_t study, uint32_t since,
		 int64_t timeout_us)
{
	struct client *c = by_id(d, client);

	if (!c)
		return;
	c->waiting = true;
	c->study = study;
	c->since = since;
	c->until = dp_mono_us() + timeout_us;
	client_poll_changes(d);
}

void client_poll_changes(struct dpd *d)
{
	int64_t now = dp_mono_us();

	for (struct client *c = d->clients, *next; c; c = next) {
		struct dp_study_state *s;
		struct dp_err err;

		next = c->next;
		if (!c->waiting || c->closing)
			continue;
		s = dp_state_by_id(&d->state, c->study);
		if (s && s->seq == c->since && now < c->until)
			continue;
		c->waiting = false;
		c->ticket = d->last_ticket;
		if (s) {
			client_ok(d, c->id, request_status(d, s));
		} else {
			dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted");
			client_error(d, c->id, &err);
		}
	}
}

/* ---- requests ---- */

static void handle_line(struct client *c, const char *line, size_t len)
{
	json_t *request = NULL;
	const char *verb;
	struct dp_err err;

	c->answering = true;
	c->ticket = c->d->last_ticket;
	if (dp_wire_read_request(line, len, &request, &verb, &err) != DP_OK) {
		/* a stranger: tell it once, then hang up */
		c->hang_up = true;
		client_error(c->d, c->id, &err);
		return;
	}
	request_handle(c->d, c->id, verb, request);
	json_decref(request);
}

static void take_lines(struct client *c)
{
	struct dp_err err;
	char *end;

	if (c->handling)
		return; /* the loop below goes on */
	c->handling = true;
	while (!c->closing && !c->answering && !c->hang_up && c->in.len > c->scanned) {
		end = memchr(c->in.data + c->scanned, '\n', c->in.len - c->scanned);
		if (!end) {
			c->scanned = c->in.len;
			break;
		}
		handle_line(c, c->in.data, (size_t)(end - c->in.data));
		dp_buf_drop(&c->in, (size_t)(end - c->in.data) + 1);
		c->scanned = 0;
	}
	c->handling = false;
	if (c->closing || c->hang_up || c->answering)
		return;
	if (c->scanned > DP_WIRE_REQUEST_MAX) {
		dp_fail(&err, DP_E_LIMIT, "a request may have at most %d bytes",
			DP_WIRE_REQUEST_MAX);
		c->hang_up = c->answering = true;
		c->ticket = c->d->last_ticket;
		client_error(c->d, c->id, &err);
	} else if (c->ended) {
		client_close(c);
	} else if (c->paused) {
		c->paused = false;
		uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
	}
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	(void)h;
	(void)suggested;
	buf->base = malloc(READ_ROOM);
	buf->len = buf->base ? READ_ROOM : 0;
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = stream->data;

	if (n > 0 && !c->hang_up) {
		dp_buf_add(&c->in, buf->base, (size_t)n);
		take_lines(c);
		if (c->in.len > DP_WIRE_REQUEST_MAX && c->answering && !c->closing) {
			c->paused = true;
			uv_read_stop(stream);
		}
	}
	free(buf->base);
	if (n >= 0)
		return;
	c->ended = true;
	/* one that closed only its own side still gets the answers it asked for */
	if (n != UV_EOF || !c->answering || c->waiting || c->lifeline)
		client_close(c);
}

/* ---- connections ---- */

static bool in_group(int fd, const struct ucred *peer, gid_t gid)
{
	gid_t groups[1024];
	socklen_t len = sizeof groups;

	if (peer->gid == gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) != 0)
		return false;
	for (size_t i = 0; i < len / sizeof groups[0]; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* Same user, root, or a member of socket_group. */
static bool may_speak(struct dpd *d, int fd)
{
	gid_t gid = d->config.socket_group.gid;
	struct ucred peer;
	socklen_t len = sizeof peer;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	if (peer.uid == geteuid() || peer.uid == 0)
		return true;
	return gid != (gid_t)-1 && in_group(fd, &peer, gid);
}

/* Refuses a new connection with a sentence. */
static void refuse(struct client *c, int code, const char *why, const char *hint)
{
	struct dp_err err;

	dp_fail(&err, code, "%s", why);
	dp_hint(&err, "%s", hint);
	c->hang_up = c->answering = true;
	c->ticket = c->d->last_ticket;
	client_error(c->d, c->id, &err);
}

static struct client *client_new(struct dpd *d)
{
	struct client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->d = d;
	c->id = ++d->last_client;
	uv_pipe_init(&d->loop, &c->pipe, 0);
	c->pipe.data = c;
	c->next = d->clients;
	d->clients = c;
	d->nclients++;
	return c;
}

static void on_connection(uv_stream_t *server, int status)
{
	struct dpd *d = server->data;
	struct client *c = status < 0 ? NULL : client_new(d);
	int fd;

	if (!c)
		return;
	if (uv_accept(server, (uv_stream_t *)&c->pipe) != 0 ||
	    uv_fileno((uv_handle_t *)&c->pipe, &fd) != 0) {
		client_close(c);
		return;
	}
	if (!may_speak(d, fd))
		refuse(c, DP_E_DENIED, "this daemon is not yours to control",
		       "ask its owner for membership in its socket_group");
	else if (d->nclients > d->config.max_clients)
		refuse(c, DP_E_BUSY, "too many connections (max_clients)",
		       "try again later");
	uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read);
}

int server_add_fd(struct dpd *d, int fd, bool lifeline, struct dp_err *err)
{
	struct client *c = client_new(d);

	if (!c)
		return dp_fail(err, DP_E_NOMEM, "no memory for a connection");
	if (uv_pipe_open(&c->pipe, fd) != 0 ||
	    uv_read_start((uv_stream_t *)&c->pipe, on_alloc, on_read) != 0) {
		client_close(c);
		return dp_fail(err, DP_E_USAGE, "descriptor %d is not a connected socket",
			       fd);
	}
	c->lifeline = lifeline;
	return DP_OK;
}

/* Is somebody listening at the address? */
static bool alive(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) == 0;

	if (fd >= 0)
		close(fd);
	return yes;
}

/* By hand, because libuv cuts long paths off and reports success. */
static int bind_socket(struct dpd *d, int *out, struct dp_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct stat st;
	char *dir;
	int fd, code;

	if (strlen(d->socket_path) > DP_WIRE_PATH_MAX) {
		dp_fail(err, DP_E_LIMIT,
			"the socket's path has %zu bytes, %d are possible: %s",
			strlen(d->socket_path), DP_WIRE_PATH_MAX, d->socket_path);
		return dp_hint(err, "name a shorter one with --socket");
	}
	strcpy(a.sun_path, d->socket_path);
	dir = strdup(d->socket_path);
	if (!dir)
		return dp_fail(err, DP_E_NOMEM, "no memory for the socket");
	code = DP_OK;
	if (strrchr(dir, '/') && strrchr(dir, '/') != dir) {
		*strrchr(dir, '/') = '\0';
		code = dp_mkdirs(dir, 0755, err);
	}
	free(dir);
	if (code != DP_OK)
		return code;
	if (alive(&a)) {
		dp_fail(err, DP_E_BUSY, "another daemon listens at %s", d->socket_path);
		return dp_hint(err, "stop it, or name another socket with --socket");
	}
	if (lstat(d->socket_path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return dp_fail(err, DP_E_EXISTS, "%s exists and is not a socket",
			       d->socket_path);
	unlink(d->socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0) {
		code = dp_fail_errno(err, errno, "cannot make the socket %s",
				     d->socket_path);
		if (fd >= 0)
			close(fd);
		return code;
	}
	chmod(d->socket_path, 0660);
	*out = fd;
	return DP_OK;
}

void server_set_group(struct dpd *d)
{
	gid_t group = d->config.socket_group.gid;
	gid_t gid = group == (gid_t)-1 ? getegid() : group;

	if (d->listening && chown(d->socket_path, (uid_t)-1, gid) != 0)
		log_line(&d->log, LOG_WARN, "", "cannot give the socket to group %u: %s",
			 (unsigned)gid, strerror(errno));
}

int server_start(struct dpd *d, int systemd_fd, struct dp_err *err)
{
	int fd = systemd_fd, code = DP_OK, rc;

	if (fd < 0 && !d->socket_path)
		return DP_OK;
	if (fd < 0)
		code = bind_socket(d, &fd, err);
	if (code != DP_OK)
		return code;
	d->listening = systemd_fd < 0; /* a socket of systemd's is not ours to change */
	server_set_group(d);
	d->listener_open = true;
	uv_pipe_init(&d->loop, &d->listener, 0);
	d->listener.data = d;
	rc = uv_pipe_open(&d->listener, fd);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)&d->listener, 128, on_connection);
	if (rc != 0)
		return dp_fail(err, DP_E_IO, "cannot listen at %s: %s",
			       systemd_fd < 0 ? d->socket_path : "systemd's socket",
			       uv_strerror(rc));
	return DP_OK;
}

void server_stop(struct dpd *d)
{
	if (d->listener_open && !uv_is_closing((uv_handle_t *)&d->listener))
		uv_close((uv_handle_t *)&d->listener, NULL);
	d->listener_open = false;
	if (d->listening)
		unlink(d->socket_path);
	d->listening = false;
}

void server_drop_clients(struct dpd *d)
{
	for (struct client *c = d->clients; c; c = c->next)
		client_close(c);
}
