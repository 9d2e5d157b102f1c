/* conn_limits.c - counts connections by user and address. */
#include "serve/http/conn_limits.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

void conn_list_add(struct conn_list *list, struct conn *c)
{
	c->next = list->newest;
	c->prev_link = &list->newest;
	if (c->next)
		c->next->prev_link = &c->next;
	list->newest = c;
}

void conn_list_remove(struct conn *c)
{
	*c->prev_link = c->next;
	if (c->next)
		c->next->prev_link = c->prev_link;
}

void conn_set_peer(struct conn *c, const struct sockaddr *peer, bool local, uid_t user)
{
	const struct sockaddr_in6 *v6 = (const void *)peer;
	const struct sockaddr_in *v4 = (const void *)peer;

	memset(c->address, 0, sizeof c->address);
	if (peer->sa_family == AF_INET)
		memcpy(c->address + 12, &v4->sin_addr, 4);
	else if (peer->sa_family == AF_INET6) /* one machine may own a whole /64 */
		memcpy(c->address, &v6->sin6_addr, 8);
	c->is_local = local;
	c->uid = local ? user : 0;
}

bool conn_is_owner(const struct conn *c)
{
	return c->is_local && (c->uid == 0 || c->uid == geteuid());
}

/* All peers on other machines count as one user. */
static bool conn_same_user(const struct conn *a, const struct conn *b)
{
	return a->is_local == b->is_local && a->uid == b->uid;
}

bool conn_same_peer(const struct conn *a, const struct conn *b)
{
	return conn_same_user(a, b) && memcmp(a->address, b->address, sizeof a->address) == 0;
}

size_t conn_count(const struct conn_list *list, unsigned states)
{
	size_t n = 0;

	for (const struct conn *c = list->newest; c; c = c->next)
		n += (c->state & states) && !c->is_evicted;
	return n;
}

size_t conn_count_of_peer(const struct conn_list *list, const struct conn *of, unsigned states)
{
	size_t n = 0;

	for (const struct conn *c = list->newest; c; c = c->next)
		n += (c->state & states) && conn_same_peer(c, of);
	return n;
}

size_t conn_count_evicted(const struct conn_list *list)
{
	size_t n = 0;

	for (const struct conn *c = list->newest; c; c = c->next)
		n += c->is_evicted;
	return n;
}

static size_t count_running_of_user(const struct conn_list *list, const struct conn *of)
{
	size_t n = 0;

	for (const struct conn *c = list->newest; c; c = c->next)
		n += (c->state & CONN_RUNNING) && conn_same_user(c, of);
	return n;
}

bool conn_peer_runs_more(const struct conn_list *list, const struct conn *a, const struct conn *b,
			 size_t b_more)
{
	if (conn_same_user(a, b))
		return conn_count_of_peer(list, a, CONN_RUNNING) >
		       conn_count_of_peer(list, b, CONN_RUNNING) + b_more;
	return count_running_of_user(list, a) > count_running_of_user(list, b) + b_more;
}

static bool is_evictable(const struct conn *c, unsigned states, enum conn_trust max)
{
	return (c->state & states) && c->trust <= max && !c->is_evicted;
}

/* Counts evictable connections of the user, and of the user at this address. */
static void count_evictable(const struct conn_list *list, const struct conn *of, unsigned states,
			    enum conn_trust max, size_t *of_user, size_t *of_peer)
{
	*of_user = *of_peer = 0;
	for (const struct conn *c = list->newest; c; c = c->next) {
		if (!is_evictable(c, states, max))
			continue;
		*of_user += conn_same_user(c, of);
		*of_peer += conn_same_peer(c, of);
	}
	if (conn_is_owner(of))
		*of_user -= *of_user < CONN_OWNER_RESERVE ? *of_user : CONN_OWNER_RESERVE;
}

struct conn *conn_to_evict(const struct conn_list *list, unsigned states, enum conn_trust max)
{
	struct conn *found = NULL;
	size_t of_user, of_peer, max_user = 0, max_peer = 0;

	/* the list starts with the newest: among equals, take the last */
	for (struct conn *c = list->newest; c; c = c->next) {
		if (!is_evictable(c, states, max))
			continue;
		if (found && conn_same_peer(c, found)) {
			found = c;
			continue;
		}
		count_evictable(list, c, states, max, &of_user, &of_peer);
		if (found && (of_user < max_user || (of_user == max_user && of_peer < max_peer)))
			continue;
		found = c;
		max_user = of_user;
		max_peer = of_peer;
	}
	return max_user ? found : NULL;
}

struct conn_usage conn_usage_of(const struct conn_list *list)
{
	struct conn_usage u = { 0 };

	for (const struct conn *c = list->newest; c; c = c->next) {
		if (!(c->state & CONN_RUNNING))
			continue;
		u.metrics += c->metrics_reserved;
		u.all += !c->metrics_reserved;
		u.untrusted += !c->metrics_reserved && c->trust == CONN_UNTRUSTED;
	}
	return u;
}

bool conn_uses_metrics_reserve(const struct conn_usage *u, const struct conn *c)
{
	return c->asks_metrics && c->trust >= CONN_TRUSTED && u->metrics < CONN_METRICS_RESERVE;
}

bool conn_thread_available(const struct conn_usage *u, const struct conn *c)
{
	size_t limit = CONN_THREADS_SHARED, untrusted = CONN_UNTRUSTED_MAX;

	if (conn_uses_metrics_reserve(u, c))
		return true;
	/* the user is known before the token; a proxy may run as this user, so the user alone must
	 * not get all threads */
	if (conn_is_owner(c)) {
		limit += CONN_OWNER_RESERVE;
		untrusted += CONN_SIGN_IN_RESERVE;
	}
	if (c->trust == CONN_UNTRUSTED && u->untrusted >= untrusted)
		return false;
	return u->all < limit;
}
