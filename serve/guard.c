/* guard.c - refuses what does not come from this server's own page or its people. */
#include "serve/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The name of a Host header, without its port: through a tunnel that is another one. 0:
 * it is none. */
static size_t host_length(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;
	size_t n = end ? (size_t)(end - host) + 1 : strcspn(host, ":");
	const char *port = host + n;

	if (*port == ':')
		port += 1 + strspn(port + 1, "0123456789");
	return *port ? 0 : n;
}

static bool host_is(const char *host, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(host, name, n) == 0;
}

static bool host_known(const struct guard *g, const struct http_request *q)
{
	size_t n = q->host ? host_length(q->host) : 0;

	if (n == 0)
		return false;
	if (host_is(q->host, n, "localhost") || (q->local && host_is(q->host, n, q->local)))
		return true;
	for (size_t i = 0; i < g->nhosts; i++)
		if (host_is(q->host, n, g->host[i]))
			return true;
	return false;
}

/* Does a browser say that a page of another site asks? "same-site" is another port of
 * this machine, and somebody else's. */
static bool site_is_foreign(const struct http_request *q)
{
	return q->site && strcmp(q->site, "same-origin") != 0 && strcmp(q->site, "none") != 0;
}

/* Would a browser show the answer inside of a page of another site? Such a page could
 * lay it under its own buttons, and measure how long it took. */
static bool framed_by_other_site(const struct http_request *q)
{
	static const char *const inside[] = { "iframe", "frame", "embed", "object", "fencedframe" };

	if (!q->dest || !site_is_foreign(q))
		return false;
	for (size_t i = 0; i < DP_COUNT(inside); i++)
		if (strcmp(q->dest, inside[i]) == 0)
			return true;
	return false;
}

/* Does a reader follow a link, so that the answer is a page of its own? Browsers that
 * send no Sec-Fetch-Dest obey X-Frame-Options. */
static bool follows_link(const struct http_request *q)
{
	return q->mode && strcmp(q->mode, "navigate") == 0 &&
	       (!q->dest || strcmp(q->dest, "document") == 0);
}

/* Does a request that changes something come from a page of this server, or from no
 * page at all? */
static bool origin_is_ours(const struct http_request *q)
{
	const char *origin = q->origin;

	if (site_is_foreign(q))
		return false;
	if (!origin)
		return true;
	origin = strncmp(origin, "http://", 7) == 0    ? origin + 7
		 : strncmp(origin, "https://", 8) == 0 ? origin + 8
						       : "";
	return q->host && strcasecmp(origin, q->host) == 0;
}

static bool guard_deny(struct http_reply *a, unsigned status, int code, const char *message,
		       const char *hint)
{
	struct dp_err err;

	dp_fail(&err, code, "%s", message);
	dp_hint(&err, "%s", hint);
	http_reply_status(a, status, &err);
	return false;
}

bool guard_admits(const struct guard *g, const struct http_request *q, struct http_reply *a)
{
	if (!host_known(g, q))
		return guard_deny(a, 421, DP_E_DENIED,
				  "this server is not called by that name (Host)",
				  "open it by the address that it printed, or start it with "
				  "--host NAME");
	if (q->stranger)
		return guard_deny(a, 403, DP_E_DENIED, GUARD_STRANGER, GUARD_STRANGER_HINT);
	if (q->method == HTTP_OTHER) {
		a->allow = g->control ? "GET, HEAD, POST" : "GET, HEAD";
		return guard_deny(a, 405, DP_E_USAGE, "this method is not known here", "");
	}
	if (q->method == HTTP_POST && !origin_is_ours(q))
		return guard_deny(a, 403, DP_E_DENIED,
				  "a page of another site may change nothing here", "");
	if (framed_by_other_site(q))
		return guard_deny(a, 403, DP_E_DENIED,
				  "a page of another site may not show this one inside "
				  "of it",
				  "follow a link to it instead");
	return true;
}

bool guard_admits_reader(const struct http_request *q, struct http_reply *a)
{
	if (!site_is_foreign(q) || follows_link(q))
		return true;
	return guard_deny(a, 403, DP_E_DENIED, "a page of another site may read nothing here", "");
}

const char *guard_bearer_token(const char *authorization)
{
	static const char bearer[] = "Bearer ";
	size_t n = strlen(bearer);

	return authorization && strncasecmp(authorization, bearer, n) == 0 ? authorization + n
									   : NULL;
}

bool guard_knows(const struct guard *g, const struct http_request *q, bool cookie)
{
	if (q->token && token_is(&g->token, q->token))
		return true;
	return cookie && token_in_cookie(&g->token, q->cookie, g->cookie);
}

void guard_refuse(struct http_reply *a)
{
	guard_deny(a, 401, DP_E_DENIED,
		   "this needs the token, in the header X-DPareto-Token or as "
		   "Authorization: Bearer",
		   "it was printed when the server started, or is in its --token-file");
}
