/* fuzz_request_head.c - any bytes as the beginning of a connection to the web server: a
 * head that is accepted has one reading only, also if it arrives in pieces. */
#include "serve/http/request_head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

/* Lines of the head that start with these letters, in any case. */
static unsigned lines_with(const char *head, const char *end, const char *name)
{
	size_t n = strlen(name);
	unsigned found = 0;

	for (const char *p = head; p && p < end; p = memchr(p, '\n', (size_t)(end - p))) {
		if (*p == '\n')
			p++;
		found += (size_t)(end - p) >= n && strncasecmp(p, name, n) == 0;
	}
	return found;
}

static void check_value(const struct head_value *v, const char *head, const char *end)
{
	char *copy = head_value_copy(v);

	demand(!v->text || (v->text >= head && v->text + v->len <= end));
	demand(!copy == !v->text && (!copy || strlen(copy) == v->len));
	free(copy);
}

static void check_complete(const char *text, size_t size, const struct request_head *h)
{
	const char *end = memmem(text, size, "\r\n\r\n", 4);

	demand(end && h->target.len > 0);
	demand(h->len == (size_t)(end - text) + 4);
	for (const char *p = text; p < end; p++) {
		demand((unsigned char)*p >= ' ' || *p == '\t' || *p == '\r' || *p == '\n');
		demand(*p != '\n' || (p > text && p[-1] == '\r' && p[1] != ' '));
		demand(*p != '\r' || p[1] == '\n');
	}
	demand(lines_with(text, end, "Content-Length:") +
		       lines_with(text, end, "Transfer-Encoding:") <=
	       1);
	check_value(&h->target, text, end);
	check_value(&h->token, text, end);
	check_value(&h->authorization, text, end);
	check_value(&h->cookie, text, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* of exact size: a read behind it is seen */
	struct request_head h, part;
	enum head_status whole, status;
	bool decided = false;

	demand(text != NULL);
	if (size)
		memcpy(text, data, size);
	whole = request_head_parse(text, size, &h);
	demand(whole != HEAD_INVALID || (h.status >= 400 && h.status < 600 && h.error));
	demand(whole != HEAD_INCOMPLETE || size < HEAD_MAX);
	if (whole == HEAD_COMPLETE)
		check_complete(text, size, &h);
	/* once decided, more bytes change nothing */
	for (size_t n = 0; n < size && size <= 512; n++) {
		status = request_head_parse(text, n, &part);
		demand(status == HEAD_INCOMPLETE ? !decided : status == whole);
		decided = status != HEAD_INCOMPLETE;
	}
	free(text);
	return 0;
}
