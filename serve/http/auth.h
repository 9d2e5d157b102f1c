/* auth.h - decides whether a request may be answered, before anything else looks at it.
 *
 * A page of another site in the same browser must not get access. Host reveals DNS rebinding, that
 * is, another site's name that resolves to this machine. Origin reveals forms and scripts of other
 * sites. Changes need the token in a header, which other sites cannot set. */
#ifndef DP_SERVE_HTTP_AUTH_H
#define DP_SERVE_HTTP_AUTH_H
#include "serve/http/http_message.h"
#include "serve/http/token.h"

enum {
	AUTH_MAX_HOSTS = 16
};

struct auth {
	const char *hosts[AUTH_MAX_HOSTS]; /* accepted host names besides localhost */
	size_t n_hosts;
	const char *socket;   /* the daemon's: its users may read */
	bool allow_control;   /* studies may be changed */
	bool token_required;  /* reading needs the token too */
	char cookie_name[32]; /* has the port, which cookies ignore */
	struct token token;
};

/* May this request be answered? If not, writes the refusal. Does not check that the method fits the
 * path. */
DP_MUSTCHECK bool auth_check_request(const struct auth *auth, const struct http_request *q,
				     struct http_reply *a);
/* May this request read study data? A page of another site may link here, but not embed the answer
 * or fetch it. Browsers would hide the answer from that page, but not its timing, and the daemon
 * would do the work. */
DP_MUSTCHECK bool auth_check_reader(const struct http_request *q, struct http_reply *a);
#define AUTH_USER_DENIED_TEXT                                                                      \
	"your user may not use the daemon's socket, so this page is not for you either"
#define AUTH_USER_DENIED_HINT                                                                      \
	"ask to be let into the group of the socket, or for a server with a "                      \
	"--token-file"
/* Returns the token of an Authorization header; NULL: none. */
const char *auth_bearer_token(const char *authorization);
/* Has the request the token, in the header or (cookie) in the cookie of a signed-in browser? */
bool auth_has_token(const struct auth *auth, const struct http_request *q, bool cookie);
void auth_reply_token_required(struct http_reply *a);

#endif
