/* acceptor.c - accepts connections, authorizes them, and waits for their requests. */
#include "serve/http/acceptor.h"

#include "base/units.h"
#include "serve/http/request_head.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
	EPOLL_EVENTS_MAX = 64,
	ACCEPT_BATCH_MAX = 64, /* accepted in a row before other events */
	TICK_MS = 250,
	UNTHROTTLED_PEEKS = 8,
	PEEK_PAUSE_MS = 100,
	ACCEPT_RETRY_MS = 20, /* after running out of descriptors */
};

void acceptor_wake(struct acceptor *acc)
{
	uint64_t one = 1;

	if (write(acc->wake_fd, &one, sizeof one) < 0)
		return; /* the counter is full, so the thread wakes up anyway */
}

/* ---- pending connections: only this thread removes them from the list ---- */

void conn_set_state(struct acceptor *acc, struct conn *c, enum conn_state state)
{
	pthread_mutex_lock(&acc->lock);
	c->state = state;
	c->state_since_us = dp_monotonic_us();
	pthread_mutex_unlock(&acc->lock);
}

static void conn_drop(struct acceptor *acc, struct conn *c)
{
	pthread_mutex_lock(&acc->lock);
	conn_list_remove(c);
	pthread_mutex_unlock(&acc->lock);
	close(c->fd); /* this removes it from the epoll set */
	free(c);
}

/* Answers without a thread. The connection stays open for a while: close() with unread input would
 * reset it and lose the answer. */
static void conn_refuse(struct acceptor *acc, struct conn *c, unsigned status,
			const struct dp_err *err)
{
	struct http_reply a = { 0 };
	struct dp_buf text = DP_BUF_INIT;

	http_reply_error_status(&a, status, err);
	dp_buf_printf(&text,
		      "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		      "Connection: close\r\nCache-Control: no-store\r\n"
		      "Content-Security-Policy: default-src 'none'; frame-ancestors "
		      "'none'\r\nX-Content-Type-Options: nosniff\r\n"
		      "X-Frame-Options: DENY\r\n\r\n",
		      status, MHD_get_reason_phrase_for(status), a.content_type, a.body.len);
	dp_buf_add(&text, dp_buf_text(&a.body), a.body.len);
	(void)!send(c->fd, text.data, text.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(c->fd, SHUT_WR);
	dp_buf_free(&text);
	http_reply_free(&a);
	conn_set_state(acc, c, CONN_REFUSED);
}

/* ---- authorization ---- */

void acceptor_remember_user(struct acceptor *acc, uid_t user, bool allowed)
{
	struct known_user *at = &acc->users[0];

	pthread_mutex_lock(&acc->lock);
	for (size_t i = 0; i < KNOWN_USERS_MAX; i++) {
		if (acc->users[i].in_use && acc->users[i].uid == user) {
			at = &acc->users[i];
			break;
		}
		if (acc->users[i].checked_us < at->checked_us)
			at = &acc->users[i];
	}
	*at = (struct known_user){ user, allowed, true, dp_monotonic_us() };
	pthread_mutex_unlock(&acc->lock);
}

/* Maps "::ffff:127.0.0.1" to IPv4, under which the kernel lists the peer's socket. */
static void unmap_ipv4(struct sockaddr_storage *a)
{
	struct sockaddr_in6 v6;
	struct sockaddr_in v4 = { .sin_family = AF_INET };

	memcpy(&v6, a, sizeof v6);
	if (a->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
		return;
	v4.sin_port = v6.sin6_port;
	memcpy(&v4.sin_addr, v6.sin6_addr.s6_addr + 12, 4);
	memcpy(a, &v4, sizeof v4);
}

/* Finds the user of a local peer; the kernel knows no others. */
static void conn_identify(struct conn *c)
{
	struct sockaddr_storage ours = { 0 }, theirs = c->peer;
	const struct sockaddr_in *a4 = (const void *)&ours, *b4 = (const void *)&theirs;
	const struct sockaddr_in6 *a6 = (const void *)&ours, *b6 = (const void *)&theirs;
	socklen_t n = sizeof ours;
	uid_t user = 0;
	bool local = getsockname(c->fd, (struct sockaddr *)&ours, &n) == 0;

	unmap_ipv4(&ours);
	unmap_ipv4(&theirs);
	if (ours.ss_family == AF_INET)
		local = local && (ntohl(b4->sin_addr.s_addr) >> 24 == 127 ||
				  a4->sin_addr.s_addr == b4->sin_addr.s_addr);
	else
		local = local && (IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr) ||
				  IN6_IS_ADDR_LOOPBACK(&b6->sin6_addr));
	local = local &&
		peer_find_user((struct sockaddr *)&ours, (struct sockaddr *)&theirs, &user);
	conn_set_peer(c, (struct sockaddr *)&theirs, local, user);
}

/* Authorizes a connection by its user if it shows no token. A user whose groups are not in the
 * cache stays untrusted until the request's thread looks them up. False: refused. */
static bool conn_authorize(struct acceptor *acc, struct conn *c)
{
	enum peer_access access =
		c->is_local ? peer_access_by_mode(c->uid, acc->auth->socket) : PEER_DENIED;
	int64_t oldest = dp_monotonic_us() - KNOWN_USER_S * INT64_C(1000000);
	bool allowed = access == PEER_ALLOWED, known = access != PEER_BY_GROUP;
	struct dp_err err;

	if (acc->auth->token_required)
		return true;
	pthread_mutex_lock(&acc->lock);
	for (size_t i = 0; i < KNOWN_USERS_MAX && !known; i++) {
		const struct known_user *u = &acc->users[i];

		known = u->in_use && u->uid == c->uid && u->checked_us > oldest;
		allowed = known && u->allowed;
	}
	pthread_mutex_unlock(&acc->lock);
	if (!known)
		return true;
	if (allowed) {
		c->trust = conn_is_owner(c) ? CONN_OWNER : CONN_TRUSTED;
	} else {
		dp_fail(&err, DP_E_DENIED, "%s", AUTH_USER_DENIED_TEXT);
		dp_hint(&err, "%s", AUTH_USER_DENIED_HINT);
		conn_refuse(acc, c, 403, &err);
	}
	return allowed;
}

/* ---- headers, and bodies of peers without the token ---- */

/* A peer without the token gets a thread only for a complete request. Otherwise 64 addresses with
 * slow bodies could occupy all threads for such peers. `n` bytes of the request have arrived.
 * False: waiting for more, or refused. */
static bool conn_body_arrived(struct acceptor *acc, struct conn *c, const struct request_head *head,
			      size_t n)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
	struct dp_err err;

	if (head->chunked || head->body_length > UNTRUSTED_BODY_MAX) {
		dp_fail(&err, DP_E_LIMIT,
			"without the token, a request needs a Content-Length of at most %d bytes",
			UNTRUSTED_BODY_MAX);
		conn_refuse(acc, c, head->chunked ? 411 : 413, &err);
		return false;
	}
	if (n - head->len >= head->body_length)
		return true;
	if (head->expects_continue && !c->continued)
		(void)!send(c->fd, go_on, strlen(go_on), MSG_DONTWAIT | MSG_NOSIGNAL);
	c->continued = true;
	return false;
}

/* Queues a request with complete headers, of which `n` bytes have arrived. */
static void conn_enqueue(struct acceptor *acc, struct conn *c, const struct request_head *head,
			 size_t n)
{
	static const char metrics[] = "/metrics";
	size_t len = strlen(metrics);
	bool own = head->token.text != NULL, known;
	char *text = head_value_copy(own ? &head->token : &head->authorization);
	char *cookie = head_value_copy(&head->cookie);
	struct http_request q = { .token = own ? text : auth_bearer_token(text), .cookie = cookie };

	known = auth_has_token(acc->auth, &q, true);
	free(text);
	free(cookie);
	if (acc->auth->token_required && known)
		c->trust = conn_is_owner(c) ? CONN_OWNER : CONN_TRUSTED;
	if (c->trust == CONN_UNTRUSTED && !known && !conn_body_arrived(acc, c, head, n))
		return;
	c->asks_metrics = head->target.len >= len && memcmp(head->target.text, metrics, len) == 0 &&
			  (head->target.len == len || head->target.text[len] == '?');
	conn_set_state(acc, c, CONN_QUEUED);
}

/* Peeks: leaves the bytes in the socket for libmicrohttpd. */
static void conn_peek(struct acceptor *acc, struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	/* is the input complete? check before the peek */
	bool finished = poll(&p, 1, 0) > 0;
	ssize_t n = recv(c->fd, acc->head_buf, PEEK_MAX, MSG_PEEK | MSG_DONTWAIT);
	struct request_head head;
	struct dp_err err;

	c->has_unread = false;
	c->n_peeks++;
	c->last_peek_us = dp_monotonic_us();
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_drop(acc, c);
		return;
	}
	switch (request_head_parse(acc->head_buf, n < HEAD_MAX ? (size_t)n : HEAD_MAX, &head)) {
	case HEAD_INCOMPLETE:
		break;
	case HEAD_COMPLETE:
		conn_enqueue(acc, c, &head, (size_t)n);
		break;
	case HEAD_INVALID:
		dp_fail(&err, DP_E_USAGE, "%s", head.error);
		conn_refuse(acc, c, head.status, &err);
		break;
	}
	if (finished && c->state == CONN_INCOMPLETE)
		conn_drop(acc, c);
}

/* Discards the input of a refused connection. Limits how often headers are parsed if a peer sends
 * byte by byte. */
static void conn_on_input(struct acceptor *acc, struct conn *c)
{
	int64_t pause = c->n_peeks > UNTHROTTLED_PEEKS ? PEEK_PAUSE_MS * INT64_C(1000) : 0;

	if (c->state == CONN_INCOMPLETE) {
		c->has_unread = true;
		if (dp_monotonic_us() - c->last_peek_us >= pause)
			conn_peek(acc, c); /* may free it */
		return;
	}
	if (c->state != CONN_REFUSED)
		return;
	for (int i = 0; i < 16; i++) {
		ssize_t n = recv(c->fd, acc->head_buf, PEEK_MAX, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
	}
	conn_drop(acc, c);
}

static bool evict_pending(struct acceptor *acc)
{
	struct conn *c;

	pthread_mutex_lock(&acc->lock);
	c = conn_to_evict(&acc->conns, CONN_PENDING, CONN_OWNER);
	pthread_mutex_unlock(&acc->lock);
	if (c)
		conn_drop(acc, c);
	return c != NULL;
}

void conn_evict(struct conn *c)
{
	c->is_evicted = true;
	if (c->mhd_started) /* otherwise libmicrohttpd may have closed the descriptor */
		shutdown(c->fd, SHUT_RDWR);
}

/* Makes room for a queued request: ends a request of the peer with the most threads that is waiting
 * for its peer. A thread that computes an answer is spared, since it would not end. Another peer
 * loses one only if it has more than this peer will have. */
static void evict_running(struct acceptor *acc, const struct conn *queued)
{
	enum conn_trust max = queued->trust == CONN_UNTRUSTED ? CONN_UNTRUSTED : CONN_OWNER;
	struct conn *c = conn_to_evict(&acc->conns, CONN_READING_BODY | CONN_SENDING, max);

	if (!c)
		c = conn_to_evict(&acc->conns, CONN_STREAMING, max);
	if (c && (conn_same_peer(c, queued) || conn_peer_runs_more(&acc->conns, c, queued, 1)))
		conn_evict(c);
}

/* Caches the running requests of recently counted peers. In a flood, a few peers queue most
 * requests. */
struct running_cache {
	struct {
		const struct conn *of;
		size_t n;
	} peer[8];
	unsigned next;
};

static size_t count_running(const struct acceptor *acc, struct running_cache *cache,
			    const struct conn *of)
{
	unsigned i;

	for (i = 0; i < DP_COUNT(cache->peer) && cache->peer[i].of; i++)
		if (conn_same_peer(cache->peer[i].of, of))
			return cache->peer[i].n;
	i = cache->next++ % DP_COUNT(cache->peer);
	cache->peer[i].of = of;
	cache->peer[i].n = conn_count_of_peer(&acc->conns, of, CONN_RUNNING);
	return cache->peer[i].n;
}

/* Chooses the most trusted request; among equals, of the peer with the fewest running requests;
 * then the oldest. */
static struct conn *choose_queued(const struct acceptor *acc, const struct conn_usage *usage,
				  bool available)
{
	struct running_cache cache = { 0 };
	struct conn *found = NULL;
	size_t n, fewest = 0;

	for (struct conn *c = acc->conns.newest; c; c = c->next) {
		if (c->state != CONN_QUEUED || conn_thread_available(usage, c) != available)
			continue;
		n = count_running(acc, &cache, c);
		if (found && (c->trust < found->trust || (c->trust == found->trust && n > fewest)))
			continue;
		found = c;
		fewest = n;
	}
	return found;
}

/* Returns the next request to get a thread. If none is free for a request, evicts running ones, at
 * most one for each waiting request. */
static struct conn *next_queued(struct acceptor *acc)
{
	struct conn_usage usage;
	struct conn *next, *blocked;

	pthread_mutex_lock(&acc->lock);
	usage = conn_usage_of(&acc->conns);
	next = choose_queued(acc, &usage, true);
	blocked = next ? NULL : choose_queued(acc, &usage, false);
	if (blocked && conn_count(&acc->conns, CONN_QUEUED) > conn_count_evicted(&acc->conns))
		evict_running(acc, blocked);
	if (next) {
		next->metrics_reserved = conn_uses_metrics_reserve(&usage, next);
		next->state = CONN_READING_BODY;
		next->state_since_us = dp_monotonic_us();
	}
	pthread_mutex_unlock(&acc->lock);
	return next;
}

static bool epoll_add(struct acceptor *acc, int fd, uint32_t events, void *what)
{
	struct epoll_event e = { .events = events, .data.ptr = what };

	return epoll_ctl(acc->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

static void conn_accept(struct acceptor *acc, int fd, const struct sockaddr_storage *peer,
			socklen_t len)
{
	struct conn *c = dp_malloc(sizeof *c), *gone;
	int on = 1;

	*c = (struct conn){ .fd = fd,
			    .peer = *peer,
			    .peer_len = len,
			    .state = CONN_INCOMPLETE,
			    .state_since_us = dp_monotonic_us() };
	/* otherwise a later urgent byte would remove a byte from checked headers */
	setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof on);
	conn_identify(c);
	/* libmicrohttpd does not report a connection that it closed early for lack of memory; a
	 * reused descriptor shows that it is gone */
	pthread_mutex_lock(&acc->lock);
	for (gone = acc->conns.newest; gone && gone->fd != fd;)
		gone = gone->next;
	if (gone)
		conn_list_remove(gone);
	conn_list_add(&acc->conns, c);
	pthread_mutex_unlock(&acc->lock);
	free(gone);
	if (!epoll_add(acc, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, c))
		conn_drop(acc, c);
	else if (conn_authorize(acc, c))
		conn_peek(acc, c);
}

static void accept_batch(struct acceptor *acc)
{
	for (int i = 0; i < ACCEPT_BATCH_MAX; i++) {
		struct sockaddr_storage peer = { 0 };
		socklen_t len = sizeof peer;
		int fd = accept4(acc->listen_fd, (struct sockaddr *)&peer, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			conn_accept(acc, fd, &peer, len);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
			   errno == ENOBUFS) {
			(void)evict_pending(acc);
			poll(NULL, 0, ACCEPT_RETRY_MS);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

/* Closes connections over their time limit and parses delayed input. True: some is still
 * delayed. */
static bool check_pending(struct acceptor *acc)
{
	struct conn *pending[CONN_PENDING_MAX + ACCEPT_BATCH_MAX];
	int64_t now = dp_monotonic_us();
	bool unread = false;
	struct dp_err err;
	size_t n = 0;

	pthread_mutex_lock(&acc->lock);
	for (struct conn *c = acc->conns.newest; c && n < DP_COUNT(pending); c = c->next)
		if (c->state & CONN_PENDING)
			pending[n++] = c;
	pthread_mutex_unlock(&acc->lock);
	for (size_t i = 0; i < n; i++) {
		struct conn *c = pending[i];
		int64_t seconds = c->state == CONN_REFUSED  ? REFUSED_TIMEOUT_S
				  : c->state == CONN_QUEUED ? QUEUE_TIMEOUT_S
							    : REQUEST_TIMEOUT_S;
		bool expired = now - c->state_since_us > seconds * 1000000;

		if (expired && c->state != CONN_QUEUED) {
			conn_drop(acc, c);
		} else if (expired) {
			dp_fail(&err, DP_E_BUSY, "too many requests run at the moment");
			dp_hint(&err, "try again");
			conn_refuse(acc, c, 503, &err);
		} else if (c->has_unread) {
			unread = true; /* until the next round: it may be gone then */
			conn_on_input(acc, c);
		}
	}
	return unread;
}

static bool too_many_pending(struct acceptor *acc)
{
	size_t n;

	pthread_mutex_lock(&acc->lock);
	n = conn_count(&acc->conns, CONN_PENDING);
	pthread_mutex_unlock(&acc->lock);
	return n > CONN_PENDING_MAX;
}

static void *acceptor_run(void *arg)
{
	struct acceptor *acc = arg;
	struct epoll_event events[EPOLL_EVENTS_MAX];
	struct conn *next;
	bool unread = false;

	while (!atomic_load(&acc->stopping)) {
		int n = epoll_wait(acc->epoll_fd, events, EPOLL_EVENTS_MAX,
				   unread ? PEEK_PAUSE_MS : TICK_MS);
		bool connections = false;
		uint64_t count;

		/* accept last: it may drop connections that have events in this batch */
		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr == &acc->listen_fd)
				connections = true;
			else if (events[i].data.ptr == &acc->wake_fd)
				(void)!read(acc->wake_fd, &count, sizeof count);
			else
				conn_on_input(acc, events[i].data.ptr);
		}
		if (connections)
			accept_batch(acc);
		unread = check_pending(acc);
		while ((next = next_queued(acc)) != NULL) {
			epoll_ctl(acc->epoll_fd, EPOLL_CTL_DEL, next->fd, NULL);
			acc->handoff(acc->arg, next);
		}
		while (too_many_pending(acc) && evict_pending(acc))
			;
	}
	return NULL;
}

int acceptor_start(struct acceptor *acc, int fd, struct dp_err *err)
{
	pthread_mutex_init(&acc->lock, NULL);
	acc->listen_fd = fd;
	acc->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	acc->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	acc->head_buf = dp_malloc(PEEK_MAX);
	if (acc->epoll_fd >= 0 && acc->wake_fd >= 0 && acc->head_buf &&
	    fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && epoll_add(acc, fd, EPOLLIN, &acc->listen_fd) &&
	    epoll_add(acc, acc->wake_fd, EPOLLIN, &acc->wake_fd) &&
	    pthread_create(&acc->thread, NULL, acceptor_run, acc) == 0)
		return DP_OK;
	close(fd);
	acceptor_free(acc);
	return dp_fail(err, DP_E_FAILED, "the server cannot be started");
}

void acceptor_stop(struct acceptor *acc)
{
	struct conn *c, *next;

	atomic_store(&acc->stopping, true);
	acceptor_wake(acc);
	pthread_join(acc->thread, NULL);
	close(acc->listen_fd);
	pthread_mutex_lock(&acc->lock);
	for (c = acc->conns.newest; c; c = next) {
		next = c->next;
		if (!(c->state & CONN_PENDING))
			continue;
		conn_list_remove(c);
		close(c->fd);
		free(c);
	}
	pthread_mutex_unlock(&acc->lock);
}

void acceptor_free(struct acceptor *acc)
{
	struct conn *c;

	while ((c = acc->conns.newest) != NULL) { /* handed over, but never started */
		conn_list_remove(c);
		free(c);
	}
	if (acc->epoll_fd >= 0)
		close(acc->epoll_fd);
	if (acc->wake_fd >= 0)
		close(acc->wake_fd);
	free(acc->head_buf);
	pthread_mutex_destroy(&acc->lock);
}
