/* http_server.h - HTTP: libmicrohttpd with a thread for each connection, and limits. */
#ifndef DP_SERVE_HTTP_SERVER_H
#define DP_SERVE_HTTP_SERVER_H
#include "serve/routes.h"

struct http_server;
/* Serves what comes to a listening socket, which it owns from now on. */
DP_MUSTCHECK int http_server_start(struct web_app *app, int fd, struct http_server **out,
				   struct dp_err *err);
/* Ends connections that take too long. To be called every second or so. */
void http_server_close_slow(struct http_server *server);
/* Answers what is being answered, and ends. */
void http_server_stop(struct http_server *server);

#endif
