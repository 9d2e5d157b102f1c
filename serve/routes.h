/* routes.h - the state shared by all requests, and the dispatch of a request. */
#ifndef DP_SERVE_ROUTES_H
#define DP_SERVE_ROUTES_H
#include "serve/data/daemon_client.h"
#include "serve/http/auth.h"
#include "serve/data/event_broker.h"
#include "serve/data/trial_cache.h"

#include <stdatomic.h>

struct web_app {
	struct daemon_client daemon;
	struct auth auth;
	struct event_broker *broker; /* NULL in tests: no events */
	struct trial_cache trial_cache;
	pthread_mutex_t plot_lock; /* the plot libraries share their fonts */
	pthread_mutex_t listing;   /* only one full trial list is written at a time */
	atomic_size_t held;        /* bytes of replies being sent */
};

void web_app_init(struct web_app *app, const char *socket);
void web_app_free(struct web_app *app);

/* Answers a request, also with an error. Any thread. */
void web_app_handle_request(struct web_app *app, const struct http_request *q,
			    struct http_reply *a);
/* May the request be answered? Called before its body is read. If not, writes the refusal. */
DP_MUSTCHECK bool web_app_authorize(struct web_app *app, const struct http_request *q,
				    struct http_reply *a);

#endif
