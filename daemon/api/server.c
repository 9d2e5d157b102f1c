/* server.c - the control socket: listens, checks permissions and limits the number of clients. */
#include "daemon/api/server.h"

#include "base/fs.h"
#include "base/units.h"
#include "daemon/api/client_connection.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	BACKLOG = 1024, /* the kernel may allow less (net.core.somaxconn) */
	ACCEPTS_PER_ROUND = 32,
	OWNER_CLIENTS_RESERVED = 8,  /* most clients reserved for the daemon's user */
	EVICTABLE_IDLE_US = 2000000, /* a client idle for this long may be replaced */
	LISTEN_PAUSE_MIN_MS = 100,   /* after accept() failed */
	LISTEN_PAUSE_MAX_MS = 5000,
	PROBES = 21, /* of a socket in use, for a second */
	PROBE_PAUSE_MS = 50,
};

struct server {
	uv_poll_t poll;
	uv_timer_t resume_timer; /* runs while accept() is paused */
	int fd;
	unsigned pause_ms; /* last pause; 0: not paused */
	bool owns_socket, is_open;
};

/* ---- permissions ---- */

/* Allows the same user, root and members of socket_group. */
static bool server_peer_is_allowed(struct daemon *d, int fd, bool *own)
{
	gid_t gid = d->config.socket_group.gid, groups[1024];
	struct ucred peer;
	socklen_t len = sizeof peer, groups_len = sizeof groups;

	*own = false;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	*own = peer.uid == geteuid() || peer.uid == 0;
	if (*own || gid == (gid_t)-1)
		return *own;
	if (peer.gid == gid)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &groups_len) != 0)
		return false;
	for (size_t i = 0; i < groups_len / sizeof groups[0]; i++)
		if (groups[i] == gid)
			return true;
	return false;
}

/* ---- client limit ---- */

/* Makes room for a new client. If the limit is reached, the client idle for longest is closed.
 * Group members never replace clients of the daemon's user, for whom some places are reserved. */
static bool server_make_room(struct daemon *d, const struct client *newcomer)
{
	unsigned most = fd_limits_max_clients(&d->fd_limits, &d->config), n = 0;
	unsigned kept = most / 8 < OWNER_CLIENTS_RESERVED ? most / 8 : OWNER_CLIENTS_RESERVED;
	int64_t before = dp_monotonic_us() - EVICTABLE_IDLE_US;
	struct client *idle_owner = NULL, *idle_other = NULL, *idle;

	for (struct client *c = d->clients->list; c; c = c->next) {
		struct client **longest = c->is_owner ? &idle_owner : &idle_other;

		if (c == newcomer || c->closing || c->close_after_reply)
			continue;
		n++;
		if (!c->awaiting_reply && !c->lifeline && c->last_active_us < before &&
		    (!*longest || c->last_active_us < (*longest)->last_active_us))
			*longest = c;
	}
	if (n < most - (newcomer->is_owner ? 0 : kept))
		return true;
	idle = idle_other || !newcomer->is_owner ? idle_other : idle_owner;
	if (!idle)
		return false;
	log_line(&d->log, LOG_DEBUG, "", "client %llu, idle, makes room for another",
		 (unsigned long long)idle->id);
	client_close(idle);
	return true;
}

static void server_admit(struct daemon *d, int fd)
{
	bool own, welcome = server_peer_is_allowed(d, fd, &own);
	struct client *c = client_open(d, fd);

	if (!c)
		return; /* it has disconnected */
	c->is_owner = own;
	if (!welcome)
		client_reject(c, DP_E_DENIED, "this daemon is not yours to control",
			      "ask its owner for membership in its socket_group");
	else if (!server_make_room(d, c))
		client_reject(c, DP_E_BUSY, "too many connections (max_clients)",
			      "try again later");
	client_start_reading(c);
}

int server_add_fd(struct daemon *d, int fd, bool lifeline, struct dp_err *err)
{
	struct client *c = client_open(d, fd);

	if (!c)
		return dp_fail(err, DP_E_USAGE, "descriptor %d is not a connected socket", fd);
	c->is_owner = true;
	c->lifeline = lifeline;
	client_start_reading(c);
	return DP_OK;
}

/* ---- listening ----
 *
 * Without uv_listen(): when the process is out of descriptors, libuv closes a spare one to reject
 * clients. If another thread takes that one, libuv never gets it back and calls accept() forever
 * within one callback. */

static void on_connection(uv_poll_t *poll, int status, int events);

static void on_listen_resume(uv_timer_t *timer)
{
	struct daemon *d = timer->data;

	uv_poll_start(&d->server->poll, UV_READABLE, on_connection);
}

/* Pauses accept() while the machine lacks a resource; clients wait in the backlog. */
static void pause_listening(struct daemon *d, const char *why)
{
	if (d->server->pause_ms == 0)
		log_line(&d->log, LOG_WARN, "",
			 "a connection could not be taken: %s; trying again; "
			 "clients served: %u",
			 why, d->clients->n);
	d->server->pause_ms = (unsigned)dp_backoff_next(d->server->pause_ms, LISTEN_PAUSE_MIN_MS,
							LISTEN_PAUSE_MAX_MS);
	uv_poll_stop(&d->server->poll);
	uv_timer_start(&d->server->resume_timer, on_listen_resume, d->server->pause_ms, 0);
}

static void server_resume_listening(struct daemon *d)
{
	if (d->server->is_open && uv_is_active((uv_handle_t *)&d->server->resume_timer))
		uv_timer_start(&d->server->resume_timer, on_listen_resume, 0, 0);
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	struct daemon *d = poll->data;

	(void)events;
	if (status < 0) {
		pause_listening(d, uv_strerror(status));
		return;
	}
	/* a few per round, so that connected clients are not delayed */
	for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
		int fd = accept4(d->server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			server_admit(d, fd);
		} else if (errno == EAGAIN) {
			d->server->pause_ms = 0; /* no client waits any more */
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			pause_listening(d, strerror(errno));
			return;
		}
	}
}

/* True if a process listens at the address. After a daemon was killed, its child between fork and
 * exec holds the socket for a moment. */
static bool socket_stays_alive(const struct sockaddr_un *a)
{
	struct timespec pause = { .tv_nsec = PROBE_PAUSE_MS * 1000000L };

	for (int i = 0; i < PROBES; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		bool alive = fd >= 0 && (connect(fd, (const struct sockaddr *)a, sizeof *a) == 0 ||
					 errno == EAGAIN); /* its backlog is full */

		if (fd >= 0)
			close(fd);
		if (!alive)
			return false;
		if (i < PROBES - 1)
			nanosleep(&pause, NULL);
	}
	return true;
}

/* Without libuv, which truncates long paths and reports success. */
static int bind_socket(struct daemon *d, int *out, struct dp_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct stat st;
	char *dir;
	int fd, code;

	if (strlen(d->paths.socket_path) > DP_CONTROL_SOCKET_PATH_MAX) {
		dp_fail(err, DP_E_LIMIT, "the socket's path has %zu bytes, %d are possible: %s",
			strlen(d->paths.socket_path), DP_CONTROL_SOCKET_PATH_MAX,
			d->paths.socket_path);
		return dp_hint(err, "name a shorter one with --socket");
	}
	strcpy(a.sun_path, d->paths.socket_path);
	dir = dp_strdup(d->paths.socket_path);
	code = DP_OK;
	if (strrchr(dir, '/') && strrchr(dir, '/') != dir) {
		*strrchr(dir, '/') = '\0';
		code = dp_mkdirs(dir, 0755, err);
	}
	free(dir);
	if (code != DP_OK)
		return code;
	if (socket_stays_alive(&a)) {
		dp_fail(err, DP_E_BUSY, "another daemon listens at %s", d->paths.socket_path);
		return dp_hint(err, "stop it, or name another socket with --socket");
	}
	if (lstat(d->paths.socket_path, &st) == 0 && !S_ISSOCK(st.st_mode))
		return dp_fail(err, DP_E_EXISTS, "%s exists and is not a socket",
			       d->paths.socket_path);
	unlink(d->paths.socket_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) != 0) {
		code = dp_fail_errno(err, errno, "cannot make the socket %s", d->paths.socket_path);
		if (fd >= 0)
			close(fd);
		return code;
	}
	chmod(d->paths.socket_path, 0660);
	*out = fd;
	return DP_OK;
}

void server_set_group(struct daemon *d)
{
	gid_t group = d->config.socket_group.gid;
	gid_t gid = group == (gid_t)-1 ? getegid() : group;

	if (d->server->owns_socket && chown(d->paths.socket_path, (uid_t)-1, gid) != 0)
		log_line(&d->log, LOG_WARN, "", "cannot give the socket to group %u: %s",
			 (unsigned)gid, strerror(errno));
}

void server_log_client_limit(const struct daemon *d)
{
	unsigned most = fd_limits_max_clients(&d->fd_limits, &d->config);
	char clients[DP_PLURAL_LEN];

	log_line(&d->log, most < d->config.max_clients ? LOG_WARN : LOG_INFO, "",
		 "at most %s at once (max_clients: %u, open files: %llu)",
		 dp_plural_text(most, "client", clients), d->config.max_clients,
		 (unsigned long long)d->fd_limits.soft_limit);
}

int server_start(struct daemon *d, int systemd_fd, struct dp_err *err)
{
	int fd = systemd_fd, code = DP_OK;

	d->server = dp_calloc(1, sizeof *d->server);
	d->clients->on_closed = server_resume_listening;
	fd_limits_count_open(&d->fd_limits);
	if (fd < 0 && !d->paths.socket_path)
		return DP_OK;
	if (fd < 0)
		code = bind_socket(d, &fd, err);
	if (code != DP_OK)
		return code;
	d->server->owns_socket = systemd_fd < 0; /* systemd owns the socket that it passed */
	server_set_group(d);
	d->server->fd = fd;
	code = -uv_poll_init(&d->loop, &d->server->poll, fd);
	if (code == 0) {
		uv_timer_init(&d->loop, &d->server->resume_timer);
		d->server->poll.data = d->server->resume_timer.data = d;
		d->server->is_open = true;
		code = listen(fd, BACKLOG) == 0 ? 0 : errno;
	}
	if (code == 0)
		code = -uv_poll_start(&d->server->poll, UV_READABLE, on_connection);
	if (code != 0)
		return dp_fail(err, DP_E_IO, "cannot listen at %s: %s",
			       systemd_fd < 0 ? d->paths.socket_path : "systemd's socket",
			       strerror(code));
	server_log_client_limit(d);
	return DP_OK;
}

void server_stop(struct daemon *d)
{
	if (!d->server)
		return;
	if (d->server->is_open) {
		uv_close((uv_handle_t *)&d->server->poll, NULL);
		uv_close((uv_handle_t *)&d->server->resume_timer, NULL);
		close(d->server->fd);
	}
	d->server->is_open = false;
	if (d->server->owns_socket)
		unlink(d->paths.socket_path);
	d->server->owns_socket = false;
}

void server_free(struct daemon *d)
{
	free(d->server);
}
