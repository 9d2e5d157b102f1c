/* listen_socket.c - parses the address and opens the listening socket. */
#include "serve/http/listen_socket.h"

#include "base/fs.h"
#include "base/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BACKLOG = 4096
};

/* Splits "[::1]:8410" into a host without brackets and a port. */
static int parse_listen_address(const char *where, char host[256], char port[8], struct dp_err *err)
{
	const char *colon = strrchr(where, ':');
	size_t n = colon ? (size_t)(colon - where) : 0;
	bool brackets = n > 2 && where[0] == '[' && where[n - 1] == ']';
	int64_t number;

	if (n == 0 || n > 250 || !dp_int_parse(colon + 1, &number) || number < 0 ||
	    number > 65535) {
		dp_fail(err, DP_E_USAGE, "'%.100s' is not of the form ADDRESS:PORT", where);
		return dp_hint(err, "for example 127.0.0.1:8410 or [::1]:8410");
	}
	snprintf(host, 256, "%.*s", (int)(brackets ? n - 2 : n), where + brackets);
	snprintf(port, 8, "%d", (int)number);
	return DP_OK;
}

static bool address_is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)a;

		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	}
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int fail_needs_token_file(const char *where, struct dp_err *err)
{
	dp_fail(err, DP_E_USAGE, "others on the network would reach %s, so it needs --token-file",
		where);
	return dp_hint(err, "or stay on 127.0.0.1 and use 'ssh -L 8410:127.0.0.1:8410 "
			    "HOST' from elsewhere");
}

static int create_listen_socket(const struct addrinfo *a, const char *where,
				struct listen_socket *out, struct dp_err *err)
{
	struct sockaddr_storage got;
	socklen_t len = sizeof got;
	char port[8];
	int on = 1, errnum;

	out->fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (out->fd >= 0)
		setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (out->fd < 0 || bind(out->fd, a->ai_addr, a->ai_addrlen) != 0 ||
	    listen(out->fd, BACKLOG) != 0 ||
	    getsockname(out->fd, (struct sockaddr *)&got, &len) != 0 ||
	    getnameinfo((struct sockaddr *)&got, len, NULL, 0, port, sizeof port, NI_NUMERICSERV) !=
		    0) {
		errnum = errno;
		if (out->fd >= 0)
			close(out->fd);
		dp_fail_errno(err, errnum, "cannot listen on %s", where);
		return errnum == EADDRINUSE
			       ? dp_hint(err, "another program has that port; --listen "
					      "127.0.0.1:0 takes any that is free")
			       : err->code;
	}
	sscanf(port, "%u", &out->port);
	return DP_OK;
}

int listen_socket_open(const char *where, bool beyond, struct listen_socket *out,
		       struct dp_err *err)
{
	struct addrinfo wish = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found = NULL;
	char host[256], port[8];
	int code = parse_listen_address(where, host, port, err), why;

	if (code != DP_OK)
		return code;
	why = getaddrinfo(host, port, &wish, &found);
	if (why != 0)
		return dp_fail(err, DP_E_USAGE, "cannot listen on %s: %s", where,
			       gai_strerror(why));
	out->is_loopback = address_is_loopback(found->ai_addr);
	snprintf(out->host, sizeof out->host, strchr(host, ':') ? "[%s]" : "%s", host);
	if (!out->is_loopback && !beyond)
		code = fail_needs_token_file(where, err);
	else
		code = create_listen_socket(found, where, out, err);
	freeaddrinfo(found);
	return code;
}
