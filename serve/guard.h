/* guard.h - who may ask at all: looked at before anything else.
 *
 * A page of somebody else's, opened in the same browser, must reach nothing here. A name
 * of another site that suddenly points to this machine is known by its Host header; a
 * form or script of another site by its Origin; and what changes something needs the
 * token in a header, which no other site can set. */
#ifndef DP_SERVE_GUARD_H
#define DP_SERVE_GUARD_H
#include "serve/http.h"
#include "serve/token.h"

enum {
	GUARD_HOSTS = 16
};

struct guard {
	const char *host[GUARD_HOSTS]; /* names it is called by, beside localhost */
	size_t nhosts;
	const char *socket; /* the daemon's: who may use it may look */
	bool control;       /* something may be changed */
	bool closed;        /* reading needs the token, too */
	char cookie[32];    /* the name of the cookie: cookies know no ports */
	struct token token;
};

/* May this request be answered? If not, the answer says why. Whether its path and method
 * belong together is not looked at. */
DP_MUSTCHECK bool guard_admits(const struct guard *g, const struct http_request *q,
			       struct http_reply *a);
/* May it read what is of studies? A page of another site may lead its reader here by a
 * link, but neither show the answer in a frame nor ask by itself: browsers would keep the
 * answer from it, yet not how long it took, and the daemon would have had the work. */
DP_MUSTCHECK bool guard_admits_reader(const struct http_request *q, struct http_reply *a);
/* What a user reads who may not use the daemon's socket. */
#define GUARD_STRANGER                                                                             \
	"your user may not use the daemon's socket, so this page is not for you either"
#define GUARD_STRANGER_HINT                                                                        \
	"ask to be let into the group of the socket, or for a server with a "                      \
	"--token-file"
/* The token in an Authorization header; NULL: it has none. */
const char *guard_bearer_token(const char *authorization);
/* Has it shown the token, in the header, or (cookie) as a browser that signed in? */
bool guard_knows(const struct guard *g, const struct http_request *q, bool cookie);
/* Answers that it has not. */
void guard_refuse(struct http_reply *a);

#endif
