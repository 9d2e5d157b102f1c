/* listen.h - where the server is reached. */
#ifndef DP_SERVE_LISTEN_H
#define DP_SERVE_LISTEN_H
#include "base/base.h"

struct listening {
	int fd;
	bool loopback;  /* only this machine reaches it */
	char host[256]; /* as it was named, IPv6 in brackets */
	unsigned port;  /* the real one, where any was asked for */
};

/* Listens at "ADDRESS:PORT" or "[ADDRESS]:PORT"; port 0: any that is free. Unless
 * `beyond`, an address that others reach is refused: DP_E_USAGE. */
DP_MUSTCHECK int listen_at(const char *where, bool beyond, struct listening *out,
			   struct dp_err *err);

#endif
