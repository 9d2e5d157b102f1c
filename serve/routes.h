/* routes.h - what all requests share. */
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
	struct event_broker *broker; /* NULL in tests that have none: there are no events then */
	struct trial_cache trial_cache;
	pthread_mutex_t plot_lock; /* the libraries behind pictures share their fonts */
	pthread_mutex_t listing;   /* one table of all trials is written at a time */
	atomic_size_t held;        /* bytes of answers that are being sent */
};

void web_app_init(struct web_app *app, const char *socket);
void web_app_free(struct web_app *app);

/* Answers a request, with an error if need be (routes.c). Any thread may call it. */
void web_app_handle_request(struct web_app *app, const struct http_request *q,
			    struct http_reply *a);
/* May it be answered before its body is read? If not, *a is the answer. */
DP_MUSTCHECK bool web_app_authorize(struct web_app *app, const struct http_request *q,
				    struct http_reply *a);

#endif
