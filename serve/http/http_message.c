/* http_message.c - parses request targets and builds replies. */
#include "serve/http/http_message.h"

#include "base/json.h"
#include "base/units.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum http_method http_parse_method(const char *word)
{
	if (strcmp(word, "GET") == 0 || strcmp(word, "HEAD") == 0)
		return HTTP_GET;
	return strcmp(word, "POST") == 0 ? HTTP_POST : HTTP_OTHER;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %41 in place, in a query also '+'. False: not valid text. */
static bool percent_decode(char *text, bool plus)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		int high, low;

		if (*from != '%') {
			*to++ = plus && *from == '+' ? ' ' : *from;
			continue;
		}
		high = hex_digit(from[1]);
		low = high < 0 ? -1 : hex_digit(from[2]);
		if (low < 0 || high + low == 0)
			return false;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return dp_utf8_is_valid(text);
}

static bool parse_path_segments(struct http_request *q, char *path)
{
	char *part;

	while ((part = strsep(&path, "/")) != NULL) {
		if (q->n_segments == HTTP_MAX_SEGMENTS || !percent_decode(part, false))
			return false;
		q->segments[q->n_segments++] = part;
	}
	/* "/" has one empty segment, which does not count */
	if (q->n_segments == 1 && !*q->segments[0])
		q->n_segments = 0;
	return true;
}

static bool parse_query_fields(struct http_request *q, char *query)
{
	char *field;

	while ((field = strsep(&query, "&")) != NULL) {
		char *value = strchr(field, '=');

		if (value)
			*value++ = '\0';
		if (!*field)
			continue;
		if (q->n_query == HTTP_MAX_QUERY || !percent_decode(field, true) ||
		    (value && !percent_decode(value, true)))
			return false;
		q->query[q->n_query++] = (struct http_field){ field, value ? value : "" };
	}
	return true;
}

int http_parse_target(struct http_request *q, const char *target, struct dp_err *err)
{
	char *query;

	q->n_segments = q->n_query = 0;
	if (*target != '/' || strlen(target) > HTTP_TARGET_MAX)
		return dp_fail(err, DP_E_USAGE, "this is not the address of a page here");
	q->target_copy = dp_strdup(target + 1);
	query = strchr(q->target_copy, '?');
	if (query)
		*query++ = '\0';
	if (!parse_path_segments(q, q->target_copy) || (query && !parse_query_fields(q, query)))
		return dp_fail(err, DP_E_USAGE,
			       "the address cannot be read: it is too long, or not UTF-8 "
			       "text in percent encoding");
	return DP_OK;
}

void http_request_free(struct http_request *q)
{
	free(q->target_copy);
	q->target_copy = NULL;
}

const char *http_query_get(const struct http_request *q, const char *name)
{
	for (size_t i = 0; i < q->n_query; i++)
		if (strcmp(q->query[i].name, name) == 0)
			return q->query[i].value;
	return NULL;
}

int http_query_get_int(const struct http_request *q, const char *name, int64_t least, int64_t most,
		       int64_t otherwise, int64_t *out, struct dp_err *err)
{
	const char *text = http_query_get(q, name);

	*out = otherwise;
	if (!text || (dp_int_parse(text, out) && *out >= least && *out <= most))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE, "'%s' must be a whole number from %lld to %lld", name,
		       (long long)least, (long long)most);
}

char *http_form_get(const char *body, size_t len, const char *name)
{
	struct http_request form = { 0 };
	char *text = dp_strndup(body ? body : "", len), *found = NULL;
	const char *value;

	if (text && parse_query_fields(&form, text)) {
		value = http_query_get(&form, name);
		found = value ? dp_strdup(value) : NULL;
	}
	free(text);
	return found;
}

void http_reply_free(struct http_reply *a)
{
	dp_buf_free(&a->body);
}

static unsigned http_status_of_code(int code)
{
	switch (code) {
	case DP_E_NOT_FOUND:
		return 404;
	case DP_E_USAGE:
		return 400;
	case DP_E_EXISTS:
	case DP_E_INVALID:
	case DP_E_FAILED:
	case DP_E_LIMIT:
		return 409; /* not possible in the current state */
	case DP_E_NO_DAEMON:
	case DP_E_DENIED: /* access denied to us, by the daemon or the file system */
	case DP_E_BUSY:
		return 503;
	case DP_E_TIMEOUT:
		return 504;
	case DP_E_PROTOCOL:
		return 502;
	default:
		return 500;
	}
}

void http_reply_error_status(struct http_reply *a, unsigned status, const struct dp_err *err)
{
	json_t *v = json_pack("{s:o}", "error", dp_json_from_error(err));

	dp_buf_clear(&a->body);
	a->status = status;
	a->content_type = "application/json";
	a->etag[0] = a->cookie[0] = '\0';
	a->is_event_stream = false;
	dp_json_dump(&a->body, v, 0);
	dp_buf_putc(&a->body, '\n');
	json_decref(v);
}

void http_reply_error(struct http_reply *a, const struct dp_err *err)
{
	http_reply_error_status(a, http_status_of_code(err->code), err);
}

int http_reply_json(struct http_reply *a, json_t *value, struct dp_err *err)
{
	if (!value)
		return dp_fail(err, DP_E_PROTOCOL, "the daemon's answer is not complete");
	a->content_type = "application/json";
	dp_json_dump(&a->body, value, 0);
	dp_buf_putc(&a->body, '\n');
	json_decref(value);
	return DP_OK;
}
