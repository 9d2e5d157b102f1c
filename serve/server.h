/* server.h - HTTP: libmicrohttpd with a thread for each connection, and limits. */
#ifndef DP_SERVE_SERVER_H
#define DP_SERVE_SERVER_H
#include "serve/serve.h"

struct server;
/* Serves what comes to a listening socket, which it owns from now on. */
DP_MUSTCHECK int server_start(struct serve *s, int fd, struct server **out,
			      struct dp_err *err);
/* Ends connections that take too long. To be called every second or so. */
void server_watch(struct server *v);
/* Answers what is being answered, and ends. */
void server_stop(struct server *v);

#endif
