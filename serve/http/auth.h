/* auth.h - who may ask at all: looked at before anything else.
 *
 * A page of somebody else's, opened in the same browser, must reach nothing here. A name
 * of another site that suddenly points to this machine is known by its Host header; a
 * form or script of another site by its Origin; and what changes something needs the
 * token in a header, which no other site can set. */
#ifndef DP_SERVE_HTTP_AUTH_H
#define DP_SERVE_HTTP_AUTH_H
#include "serve/http/http_message.h"
#include "serve/http/token.h"

enum {
	AUTH_MAX_HOSTS = 16
};

struct auth {
	const char *hosts[AUTH_MAX_HOSTS]; /* names it is called by, beside localhost */
	size_t n_hosts;
	const char *socket;   /* the daemon's: who may use it may look */
	bool allow_control;   /* something may be changed */
	bool token_required;  /* reading needs the token, too */
	char cookie_name[32]; /* the name of the cookie: cookies know no ports */
	struct token token;
};

/* May this request be answered? If not, the answer says why. Whether its path and method
 * belong together is not looked at. */
DP_MUSTCHECK bool auth_check_request(const struct auth *auth, const struct http_request *q,
				     struct http_reply *a);
/* May it read what is of studies? A page of another site may lead its reader here by a
 * link, but neither show the answer in a frame nor ask by itself: browsers would keep the
 * answer from it, yet not how long it took, and the daemon would have had the work. */
DP_MUSTCHECK bool auth_check_reader(const struct http_request *q, struct http_reply *a);
/* What a user reads who may not use the daemon's socket. */
#define AUTH_USER_DENIED_TEXT                                                                      \
	"your user may not use the daemon's socket, so this page is not for you either"
#define AUTH_USER_DENIED_HINT                                                                      \
	"ask to be let into the group of the socket, or for a server with a "                      \
	"--token-file"
/* The token in an Authorization header; NULL: it has none. */
const char *auth_bearer_token(const char *authorization);
/* Has it shown the token, in the header, or (cookie) as a browser that signed in? */
bool auth_has_token(const struct auth *auth, const struct http_request *q, bool cookie);
/* Answers that it has not. */
void auth_reply_token_required(struct http_reply *a);

#endif
