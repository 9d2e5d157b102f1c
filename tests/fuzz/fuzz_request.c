/* fuzz_request.c - any request to the web server: method, address, headers and body, a
 * line each. Nothing is admitted that should not be, answers are whole, and neither what
 * is asked nor what a trainer wrote becomes markup or leaves its JSON. */
#include "tests/unit/support/fake_asked.h"
#include "reports/plot/plot.h"
#include "serve/html_page.h"

#include "base/json.h"

#include <stdio.h>

enum {
	FIELDS = 8 /* method, target, host, origin, site, token, cookie, body */
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static size_t count(const char *text, size_t len, const char *what)
{
	size_t n = 0, width = strlen(what);

	for (size_t i = 0; i + width <= len; i++)
		n += memcmp(text + i, what, width) == 0;
	return n;
}

static void check_json(const struct http_reply *a)
{
	struct dp_err err;
	json_t *v;

	demand(dp_json_parse(a->body.data, a->body.len, &v, &err) == DP_OK);
	json_decref(v);
}

/* Text of others is there only escaped. */
static void check_markup(const struct http_reply *a)
{
	demand(count(a->body.data, a->body.len, "<img") == 0);
	demand(count(a->body.data, a->body.len, "<zz") == 0);
}

static void check_reply(const struct web_app *s, const struct http_request *q,
			const struct http_reply *a)
{
	bool post = q->method == HTTP_POST;

	demand(a->status >= 200 && a->status < 600 && (a->content_type || !a->body.len));
	if (a->body.len && strcmp(a->content_type, "application/json") == 0)
		check_json(a);
	else if (a->body.len && strncmp(a->content_type, "text/javascript", 15) != 0)
		check_markup(a);
	/* without the token nothing is changed, and of closed doors nothing is shown */
	if (a->status < 400 && (!q->token || !token_matches(&s->auth.token, q->token))) {
		bool in = token_matches_cookie(&s->auth.token, q->cookie, s->auth.cookie_name);

		demand(!post || a->cookie[0]);
		demand(!s->auth.token_required || in || q->n_segments == 0 ||
		       strcmp(q->segments[0], "metrics") != 0);
	}
	demand(!q->host || strncmp(q->host, "evil", 4) != 0 || a->status == 421);
}

static void ask_all(struct web_app *s, char *field[FIELDS], size_t len)
{
	struct http_request q = { .host = field[2],
				  .origin = *field[3] ? field[3] : NULL,
				  .fetch_site = *field[4] ? field[4] : NULL,
				  .token = *field[5] ? field[5] : NULL,
				  .cookie = *field[6] ? field[6] : NULL,
				  .peer_address = "192.0.2.7",
				  .local_address = "127.0.0.1",
				  .body = field[7],
				  .body_len = len };
	struct http_reply a = { 0 };
	struct dp_err err;

	q.method = http_parse_method(field[0]);
	if (http_parse_target(&q, field[1], &err) == DP_OK) {
		web_app_handle_request(s, &q, &a);
		check_reply(s, &q, &a);
	}
	http_reply_free(&a);
	http_request_free(&q);
}

/* With what a visitor may meet: open, closed, to be steered or not, a daemon or none. */
static void ask_each(char *field[FIELDS], size_t len)
{
	for (int how = 0; how < 4; how++) {
		struct web_app s;

		web_app_init(&s, NULL);
		s.daemon.open_client = fake_open;
		s.daemon.open_client_arg = how == 3 ? NULL : FAKE_ANSWER;
		s.auth.allow_control = how > 0;
		s.auth.token_required = how == 2;
		snprintf(s.auth.cookie_name, sizeof s.auth.cookie_name, "dpareto_1");
		snprintf(s.auth.token.text, sizeof s.auth.token.text, "secret");
		snprintf(s.auth.token.cookie_value, sizeof s.auth.token.cookie_value, "digest");
		ask_all(&s, field, len);
		web_app_free(&s);
	}
}

/* Fonts are kept until the end. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return atexit(plot_shutdown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *field[FIELDS];
	size_t n = 0;

	demand(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	for (; n < FIELDS - 1 && rest; n++)
		field[n] = strsep(&rest, "\n");
	if (n == FIELDS - 1) {
		field[n] = rest ? rest : "";
		ask_each(field, strlen(field[n]));
	}
	free(text);
	return 0;
}
