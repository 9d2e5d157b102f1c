/* control_client.c - a blocking client of the control protocol. */
#include "protocol/control/control_protocol.h"

#include "base/fs.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	CONNECT_SECONDS = 10 /* timeout if the daemon's connection queue is full */
};

struct dp_client {
	int fd;
	char *path;        /* to reconnect; NULL: not possible */
	struct dp_buf out; /* not yet sent */
	struct dp_buf in;  /* received and not yet parsed */
	size_t scanned;    /* bytes of `in` known to have no newline */
	/* Replies to calls that timed out or were interrupted: still to come, to be discarded. */
	unsigned abandoned_replies;
};

static void set_socket_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

struct dp_client *dp_client_from_fd(int fd)
{
	struct dp_client *c = dp_calloc(1, sizeof *c);

	c->fd = fd;
	c->in.max = DP_CONTROL_REPLY_MAX + 1;
	set_socket_nonblocking(fd);
	return c;
}

void dp_client_close(struct dp_client *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c->path);
	dp_buf_free(&c->out);
	dp_buf_free(&c->in);
	free(c);
}

static void user_name(uid_t uid, char out[64])
{
	struct passwd *p = getpwuid(uid);

	if (p)
		snprintf(out, 64, "%s", p->pw_name);
	else
		snprintf(out, 64, "number %u", (unsigned)uid);
}

/* Names the owner and group of a socket that we may not use, or of the directory that hides it. */
static int fail_denied(const char *path, struct dp_err *err)
{
	char owner[64], group[64], me[64], place[DP_CONTROL_SOCKET_PATH_MAX + 1];
	struct group *g;
	struct stat st;
	char *slash;

	snprintf(place, sizeof place, "%s", path);
	while (stat(place, &st) != 0) {
		slash = strrchr(place, '/');
		if (!slash || slash == place)
			return dp_fail(err, DP_E_DENIED, "you may not use the socket %s", path);
		*slash = '\0';
	}
	user_name(st.st_uid, owner);
	g = getgrgid(st.st_gid);
	if (g)
		snprintf(group, sizeof group, "%s", g->gr_name);
	else
		snprintf(group, sizeof group, "number %u", (unsigned)st.st_gid);
	user_name(geteuid(), me);
	if (st.st_mode & S_IXGRP || (S_ISSOCK(st.st_mode) && st.st_mode & S_IWGRP)) {
		dp_fail(err, DP_E_DENIED,
			"the daemon at %s is for user %s and group %s; you are user %s", path,
			owner, group, me);
		return dp_hint(err,
			       "join the group %s, or run your own daemon with "
			       "'dparetod' and name its socket with --socket",
			       group);
	}
	dp_fail(err, DP_E_DENIED, "the daemon at %s is for user %s alone; you are user %s", path,
		owner, me);
	return dp_hint(err,
		       "run your own daemon with 'dparetod', or ask %s to open that one "
		       "to a group (see dparetod(8))",
		       owner);
}

static int fail_connect(int errnum, const char *path, struct dp_err *err)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		dp_fail(err, DP_E_NO_DAEMON, "no daemon is running (%s at %s)",
			errnum == ECONNREFUSED ? "nobody listens" : "no socket", path);
		return dp_hint(err, "start one with 'dparetod' or 'systemctl start "
				    "dparetod', or run the study on its own with "
				    "'dparetoctl run FILE'");
	case EACCES:
	case EPERM:
		return fail_denied(path, err);
	case EAGAIN:
		return dp_fail(err, DP_E_TIMEOUT,
			       "the daemon at %s accepted no connection within %d s", path,
			       CONNECT_SECONDS);
	case EINTR:
		return dp_fail(err, DP_E_INTERRUPTED, "interrupted while connecting");
	default:
		return dp_fail_errno(err, errnum, "cannot connect to %s", path);
	}
}

static int connect_to(const char *path, int *out, struct dp_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval patience = { .tv_sec = CONNECT_SECONDS };
	size_t len = strlen(path);
	int fd, e;

	if (len > DP_CONTROL_SOCKET_PATH_MAX) {
		dp_fail(err, DP_E_LIMIT,
			"the socket path is %zu bytes long, the system allows %d: "
			"%.120s...",
			len, DP_CONTROL_SOCKET_PATH_MAX, path);
		return dp_hint(err, "give a shorter one with --socket or DPARETO_SOCKET");
	}
	memcpy(address.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return dp_fail_errno(err, errno, "cannot make a socket");
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
		e = errno;
		close(fd);
		return fail_connect(e, path, err);
	}
	*out = fd;
	return DP_OK;
}

int dp_client_open(const char *path, struct dp_client **out, struct dp_err *err)
{
	struct dp_client *c;
	int fd, code = connect_to(path, &fd, err);

	if (code != DP_OK)
		return code;
	c = dp_client_from_fd(fd);
	c->path = dp_strdup(path);
	*out = c;
	return DP_OK;
}

/* The daemon closes idle connections. Detected before a request is sent, so that none is executed
 * twice. */
static int reconnect_if_closed(struct dp_client *c, struct dp_err *err)
{
	char byte;
	int fd, code;

	if (!c->path || c->out.len > 0 || c->in.len > 0 || c->abandoned_replies > 0 ||
	    recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
		return DP_OK;
	code = connect_to(c->path, &fd, err);
	if (code != DP_OK)
		return code;
	close(c->fd);
	c->fd = fd;
	set_socket_nonblocking(fd);
	return DP_OK;
}

static int send_some(struct dp_client *c, struct dp_err *err)
{
	ssize_t n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0) {
		dp_buf_consume(&c->out, (size_t)n);
		return DP_OK;
	}
	if (errno == EAGAIN || errno == EINTR)
		return DP_OK;
	if (errno == EPIPE || errno == ECONNRESET) {
		/* a refusal may have been sent before the close: read it */
		dp_buf_clear(&c->out);
		return DP_OK;
	}
	return dp_fail_errno(err, errno, "cannot send to the daemon");
}

static int receive_some(struct dp_client *c, struct dp_err *err)
{
	char chunk[65536];
	ssize_t n = recv(c->fd, chunk, sizeof chunk, MSG_DONTWAIT);

	if (n > 0) {
		if (c->in.len + (size_t)n > c->in.max)
			return dp_fail(err, DP_E_PROTOCOL,
				       "the daemon's reply is longer than %d bytes",
				       DP_CONTROL_REPLY_MAX);
		dp_buf_add(&c->in, chunk, (size_t)n);
		return DP_OK;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return DP_OK;
	if (n == 0 || errno == ECONNRESET) {
		dp_fail(err, DP_E_NO_DAEMON, "the daemon went away before it answered");
		return dp_hint(err, "'dparetoctl daemon status' tells whether it runs again; its "
				    "log tells why");
	}
	return dp_fail_errno(err, errno, "cannot read from the daemon");
}

/* Waits until the socket is readable or writable. deadline: monotonic microseconds, < 0: none. */
static int wait_ready(struct dp_client *c, int64_t deadline, int timeout_ms, struct dp_err *err)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	int64_t left_us = deadline - dp_monotonic_us();
	int wait_ms = -1, n;

	if (c->out.len > 0)
		p.events |= POLLOUT;
	if (deadline >= 0)
		wait_ms = left_us > 0 ? (int)((left_us + 999) / 1000) : 0;
	n = poll(&p, 1, wait_ms);
	if (n > 0)
		return DP_OK;
	if (n == 0)
		return dp_fail(err, DP_E_TIMEOUT, "the daemon did not answer within %d.%03d s",
			       timeout_ms / 1000, timeout_ms % 1000);
	if (errno == EINTR)
		return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
	return dp_fail_errno(err, errno, "cannot wait for the daemon");
}

/* The length of the first complete line in `in`, or -1. */
static ssize_t find_complete_line(struct dp_client *c)
{
	const char *nl = NULL;

	if (c->in.len > c->scanned)
		nl = memchr(c->in.data + c->scanned, '\n', c->in.len - c->scanned);
	c->scanned = nl ? 0 : c->in.len;
	return nl ? nl - c->in.data : -1;
}

/* Queues a request after an abandoned, partly sent one; all or nothing. Takes the reference. */
static int queue_request(struct dp_client *c, const char *verb, json_t *fields, struct dp_err *err)
{
	size_t before = c->out.len;

	dp_control_format_request(&c->out, verb, fields);
	if (c->out.len == before)
		return dp_fail(err, DP_E_INVALID, "the request has text that is not UTF-8");
	if (c->out.len - before <= DP_CONTROL_REQUEST_MAX)
		return DP_OK;
	c->out.len = before;
	return dp_fail(err, DP_E_LIMIT, "the request is longer than %d bytes",
		       DP_CONTROL_REQUEST_MAX);
}

int dp_client_call(struct dp_client *c, const char *verb, json_t *fields, int timeout_ms,
		   json_t **ok, struct dp_err *err)
{
	int64_t deadline = timeout_ms < 0 ? -1 : dp_monotonic_us() + timeout_ms * INT64_C(1000);
	ssize_t len;
	int code = reconnect_if_closed(c, err);

	if (code != DP_OK) {
		json_decref(fields);
		return code;
	}
	code = queue_request(c, verb, fields, err);
	if (code != DP_OK)
		return code;
	for (;;) {
		while ((len = find_complete_line(c)) >= 0 && c->abandoned_replies > 0) {
			dp_buf_consume(&c->in, (size_t)len + 1);
			c->abandoned_replies--;
		}
		if (len >= 0)
			break;
		code = c->out.len > 0 ? send_some(c, err) : DP_OK;
		if (code == DP_OK)
			code = wait_ready(c, deadline, timeout_ms, err);
		if (code == DP_E_TIMEOUT || code == DP_E_INTERRUPTED)
			c->abandoned_replies++;
		if (code == DP_OK)
			code = receive_some(c, err);
		if (code != DP_OK)
			return code;
	}
	code = dp_control_parse_reply(c->in.data, (size_t)len, ok, err);
	dp_buf_consume(&c->in, (size_t)len + 1);
	return code;
}
