/* http_server.h - the HTTP server: libmicrohttpd with one thread per connection, and limits. */
#ifndef DP_SERVE_HTTP_SERVER_H
#define DP_SERVE_HTTP_SERVER_H
#include "serve/routes.h"

struct http_server;
/* Serves a listening socket and takes it over. */
DP_MUSTCHECK int http_server_start(struct web_app *app, int fd, struct http_server **out,
				   struct dp_err *err);
/* Ends connections that are too slow. Call about once a second. */
void http_server_close_slow(struct http_server *server);
/* Finishes running requests and stops. */
void http_server_stop(struct http_server *server);

#endif
