/* listen_socket.h - opens the listening socket. */
#ifndef DP_SERVE_HTTP_LISTEN_SOCKET_H
#define DP_SERVE_HTTP_LISTEN_SOCKET_H
#include "base/base.h"

struct listen_socket {
	int fd;
	bool is_loopback; /* reachable only from this machine */
	char host[256];   /* as given; IPv6 in brackets */
	unsigned port;    /* the actual one if port 0 was given */
};

/* Listens at "ADDRESS:PORT" or "[ADDRESS]:PORT"; port 0: any free port. Refuses an address that
 * other machines can reach unless `beyond`: DP_E_USAGE. */
DP_MUSTCHECK int listen_socket_open(const char *where, bool beyond, struct listen_socket *out,
				    struct dp_err *err);

#endif
