/* auth.c - refuses requests from other sites and from users without access. */
#include "serve/http/auth.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Length of the name in a Host header, without the port: a tunnel has another port. 0:
 * malformed. */
static size_t host_name_len(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	size_t n = end ? (size_t)(end - host) + 1 : strcspn(host, ":");
	const char *port = host + n;

	if (*port == ':')
		port += 1 + strspn(port + 1, "0123456789");
	return *port ? 0 : n;
}

static bool host_equals(const char *host, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(host, name, n) == 0;
}

static bool host_is_known(const struct auth *auth, const struct http_request *q)
{
	size_t n = q->host ? host_name_len(q->host) : 0;

	if (n == 0)
		return false;
	if (host_equals(q->host, n, "localhost") ||
	    (q->local_address && host_equals(q->host, n, q->local_address)))
		return true;
	for (size_t i = 0; i < auth->n_hosts; i++)
		if (host_equals(q->host, n, auth->hosts[i]))
			return true;
	return false;
}

/* Does the browser say that another site's page sent this? "same-site" is another port of this
 * machine, which may be another user's. */
static bool request_is_cross_site(const struct http_request *q)
{
	return q->fetch_site && strcmp(q->fetch_site, "same-origin") != 0 &&
	       strcmp(q->fetch_site, "none") != 0;
}

static bool auth_deny(struct http_reply *a, unsigned status, int code, const char *message,
		      const char *hint)
{
	struct dp_err err;

	dp_fail(&err, code, "%s", message);
	dp_hint(&err, "%s", hint);
	http_reply_error_status(a, status, &err);
	return false;
}

bool auth_check_request(const struct auth *auth, const struct http_request *q, struct http_reply *a)
{
	static const char *const frames[] = { "iframe", "frame", "embed", "object", "fencedframe" };
	const char *origin = q->origin ? q->origin : "";

	if (!host_is_known(auth, q))
		return auth_deny(a, 421, DP_E_DENIED,
				 "this server is not called by that name (Host)",
				 "open it by the address that it printed, or start it with "
				 "--host NAME");
	if (q->user_denied)
		return auth_deny(a, 403, DP_E_DENIED, AUTH_USER_DENIED_TEXT, AUTH_USER_DENIED_HINT);
	if (q->method == HTTP_OTHER) {
		a->allow = auth->allow_control ? "GET, HEAD, POST" : "GET, HEAD";
		return auth_deny(a, 405, DP_E_USAGE, "this method is not known here", "");
	}
	/* a change must come from a page of this server or from no page */
	origin = strncmp(origin, "http://", 7) == 0    ? origin + 7
		 : strncmp(origin, "https://", 8) == 0 ? origin + 8
						       : "";
	if (q->method == HTTP_POST &&
	    (request_is_cross_site(q) ||
	     (q->origin && (!q->host || strcasecmp(origin, q->host) != 0))))
		return auth_deny(a, 403, DP_E_DENIED,
				 "a page of another site may change nothing here", "");
	/* an embedding page of another site could overlay its own buttons (clickjacking) and
	 * measure the response time */
	for (size_t i = 0; q->fetch_dest && i < DP_COUNT(frames); i++)
		if (strcmp(q->fetch_dest, frames[i]) == 0 && request_is_cross_site(q))
			return auth_deny(a, 403, DP_E_DENIED,
					 "a page of another site may not show this one inside "
					 "of it",
					 "follow a link to it instead");
	return true;
}

bool auth_check_reader(const struct http_request *q, struct http_reply *a)
{
	/* a followed link opens its own page; browsers without Sec-Fetch-Dest obey
	 * X-Frame-Options */
	bool link = q->fetch_mode && strcmp(q->fetch_mode, "navigate") == 0 &&
		    (!q->fetch_dest || strcmp(q->fetch_dest, "document") == 0);

	if (!request_is_cross_site(q) || link)
		return true;
	return auth_deny(a, 403, DP_E_DENIED, "a page of another site may read nothing here", "");
}

const char *auth_bearer_token(const char *authorization)
{
	static const char bearer[] = "Bearer ";
	size_t n = strlen(bearer);

	return authorization && strncasecmp(authorization, bearer, n) == 0 ? authorization + n
									   : NULL;
}

bool auth_has_token(const struct auth *auth, const struct http_request *q, bool cookie)
{
	if (q->token && token_matches(&auth->token, q->token))
		return true;
	return cookie && token_matches_cookie(&auth->token, q->cookie, auth->cookie_name);
}

void auth_reply_token_required(struct http_reply *a)
{
	auth_deny(a, 401, DP_E_DENIED,
		  "this needs the token, in the header X-DPareto-Token or as "
		  "Authorization: Bearer",
		  "it was printed when the server started, or is in its --token-file");
}
