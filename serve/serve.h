/* serve.h - what all requests share. */
#ifndef DP_SERVE_SERVE_H
#define DP_SERVE_SERVE_H
#include "serve/ask.h"
#include "serve/guard.h"
#include "serve/hub.h"
#include "serve/shelf.h"

#include <stdatomic.h>

struct serve {
	struct asking asking;
	struct guard guard;
	struct hub *hub; /* NULL in tests that have none: there are no events then */
	struct shelf shelf;
	pthread_mutex_t drawing; /* the libraries behind pictures share their fonts */
	pthread_mutex_t listing; /* one table of all trials is written at a time */
	atomic_size_t held;      /* bytes of answers that are being sent */
};

void serve_init(struct serve *s, const char *socket);
void serve_free(struct serve *s);

/* Answers a request, with an error if need be (routes.c). Any thread may call it. */
void serve_answer(struct serve *s, const struct http_request *q, struct http_reply *a);
/* May it be answered before its body is read? If not, *a is the answer. */
DP_MUSTCHECK bool serve_admits(struct serve *s, const struct http_request *q, struct http_reply *a);

#endif
