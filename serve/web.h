/* web.h - HTTP: libmicrohttpd with a thread for each connection, and limits. */
#ifndef DP_SERVE_WEB_H
#define DP_SERVE_WEB_H
#include "serve/serve.h"

struct web;
/* Serves what comes to a listening socket, which it owns from now on. */
DP_MUSTCHECK int web_start(struct serve *s, int fd, struct web **out, struct dp_err *err);
/* Ends connections that take too long. To be called every second or so. */
void web_watch(struct web *v);
/* Answers what is being answered, and ends. */
void web_stop(struct web *v);

#endif
