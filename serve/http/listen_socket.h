/* listen_socket.h - where the server is reached. */
#ifndef DP_SERVE_HTTP_LISTEN_SOCKET_H
#define DP_SERVE_HTTP_LISTEN_SOCKET_H
#include "base/base.h"

struct listen_socket {
	int fd;
	bool is_loopback; /* only this machine reaches it */
	char host[256];   /* as it was named, IPv6 in brackets */
	unsigned port;    /* the real one, where any was asked for */
};

/* Listens at "ADDRESS:PORT" or "[ADDRESS]:PORT"; port 0: any that is free. Unless
 * `beyond`, an address that others reach is refused: DP_E_USAGE. */
DP_MUSTCHECK int listen_socket_open(const char *where, bool beyond, struct listen_socket *out,
				    struct dp_err *err);

#endif
