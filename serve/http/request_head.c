/* request_head.c - parses the grammar of RFC 9112 without its tolerance for old clients. */
#include "serve/http/request_head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	LENGTH_DIGITS_MAX = 18, /* of a Content-Length: fits 64 bits */
};

struct head_counts {
	unsigned fields, lengths, encodings;
	bool http_1_0;
};

static enum head_status head_invalid(struct request_head *out, unsigned status, const char *why)
{
	out->status = status;
	out->error = why;
	return HEAD_INVALID;
}

static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static size_t token_length(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && is_token_char(text[i]))
		i++;
	return i;
}

static bool header_name_equals(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(text, name, n) == 0;
}

/* METHOD SP TARGET SP HTTP/1.x */
static enum head_status check_request_line(const char *line, size_t n, struct request_head *out,
					   struct head_counts *counts)
{
	size_t method = token_length(line, n), end;

	if (method == 0 || method == n || line[method] != ' ')
		return head_invalid(out, 400, "the request line has no method");
	for (end = method + 1; end < n && line[end] != ' '; end++)
		if (line[end] == '\t')
			return head_invalid(out, 400, "the request line has a tab");
	out->target = (struct head_value){ line + method + 1, end - method - 1 };
	if (out->target.len == 0 || end == n)
		return head_invalid(out, 400, "the request line has no path");
	if (n - end != 9 || strncmp(line + end, " HTTP/", 6) != 0)
		return head_invalid(out, 400, "the request line does not end in HTTP/1.1");
	if (memcmp(line + end + 6, "1.1", 3) != 0 && memcmp(line + end + 6, "1.0", 3) != 0)
		return head_invalid(out, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
	counts->http_1_0 = line[end + 8] == '0';
	return HEAD_COMPLETE;
}

static enum head_status check_content_length(const struct head_value *value,
					     struct request_head *out, struct head_counts *counts)
{
	if (counts->lengths++ > 0)
		return head_invalid(out, 400, "the request has two Content-Length headers");
	for (size_t i = 0; i < value->len; i++)
		if (value->text[i] < '0' || value->text[i] > '9')
			return head_invalid(out, 400, "Content-Length is not a number");
	if (value->len == 0)
		return head_invalid(out, 400, "Content-Length is not a number");
	if (value->len > LENGTH_DIGITS_MAX)
		return head_invalid(out, 413, "Content-Length is too large");
	for (size_t i = 0; i < value->len; i++)
		out->body_length = out->body_length * 10 + (uint64_t)(value->text[i] - '0');
	return HEAD_COMPLETE;
}

static enum head_status check_transfer_encoding(const struct head_value *value,
						struct request_head *out,
						struct head_counts *counts)
{
	if (counts->encodings++ > 0 || counts->http_1_0 ||
	    !header_name_equals(value->text, value->len, "chunked"))
		return head_invalid(out, 400, "Transfer-Encoding is not just 'chunked'");
	out->chunked = true;
	return HEAD_COMPLETE;
}

static enum head_status parse_header_field(const char *line, size_t n, struct request_head *out,
					   struct head_counts *counts)
{
	size_t name = token_length(line, n);
	struct head_value value;

	if (*line == ' ' || *line == '\t')
		return head_invalid(out, 400, "a header continues on a second line");
	if (name == 0 || name == n || line[name] != ':')
		return head_invalid(out, 400, "a header does not start with a name and a colon");
	if (++counts->fields > HEAD_FIELDS_MAX)
		return head_invalid(out, 431, "the request has too many headers");
	value = (struct head_value){ line + name + 1, n - name - 1 };
	while (value.len && (*value.text == ' ' || *value.text == '\t'))
		value.text++, value.len--;
	while (value.len && (value.text[value.len - 1] == ' ' || value.text[value.len - 1] == '\t'))
		value.len--;
	if (header_name_equals(line, name, "Content-Length"))
		return check_content_length(&value, out, counts);
	if (header_name_equals(line, name, "Transfer-Encoding"))
		return check_transfer_encoding(&value, out, counts);
	if (header_name_equals(line, name, "Expect"))
		out->expects_continue = header_name_equals(value.text, value.len, "100-continue");
	else if (header_name_equals(line, name, "X-DPareto-Token") && !out->token.text)
		out->token = value;
	else if (header_name_equals(line, name, "Authorization") && !out->authorization.text)
		out->authorization = value;
	else if (header_name_equals(line, name, "Cookie") && !out->cookie.text)
		out->cookie = value;
	return HEAD_COMPLETE;
}

/* Finds the CR at the end of the next line. Accepts tabs, which the caller checks. Any other
 * control character makes the request invalid. */
static enum head_status find_line_end(const char *bytes, size_t n, size_t from, size_t *end,
				      struct request_head *out)
{
	for (size_t i = from; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c == '\r' && i + 1 == n)
			return HEAD_INCOMPLETE;
		if (c == '\r' && bytes[i + 1] == '\n') {
			*end = i;
			return HEAD_COMPLETE;
		}
		if ((c < ' ' && c != '\t') || c == 0x7f)
			return head_invalid(out, 400,
					    "the request has a control character, or a "
					    "line that does not end in CR LF");
	}
	return HEAD_INCOMPLETE;
}

enum head_status request_head_parse(const char *bytes, size_t n, struct request_head *out)
{
	struct head_counts counts = { 0 };
	size_t from = 0, end;
	enum head_status status;

	*out = (struct request_head){ 0 };
	for (bool first = true;; first = false, from = end + 2) {
		status = find_line_end(bytes, n, from, &end, out);
		if (status == HEAD_INCOMPLETE && n >= HEAD_MAX)
			return head_invalid(out, 431, "the request line and headers are too long");
		if (status != HEAD_COMPLETE)
			return status;
		if (end == from && !first)
			break;
		status = first ? check_request_line(bytes, end, out, &counts)
			       : parse_header_field(bytes + from, end - from, out, &counts);
		if (status != HEAD_COMPLETE)
			return status;
	}
	if (counts.lengths && counts.encodings)
		return head_invalid(out, 400,
				    "the request has both Content-Length and Transfer-Encoding");
	out->len = end + 2;
	return HEAD_COMPLETE;
}

char *head_value_copy(const struct head_value *v)
{
	char *copy = v->text ? dp_malloc(v->len + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, v->text, v->len);
	copy[v->len] = '\0';
	return copy;
}
