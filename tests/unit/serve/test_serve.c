/* test_serve.c - the web server without a network: addresses, who is let in, what each
 * path answers, tables, curves, metrics, and that nobody's text becomes markup. */
#include "tests/unit/support/fake_asked.h"
#include "reports/plot/plot.h"
#include "ctl/support/front_filter.h"
#include "serve/http/conn_limits.h"
#include "serve/figures/study_figures.h"
#include "serve/large_front.h"
#include "serve/figures/hypervolume_curve.h"
#include "serve/http/listen_socket.h"
#include "serve/http/request_head.h"
#include "serve/trial_table.h"

#include "base/json.h"

#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"

/* ---- a visitor ---- */

struct visitor {
	struct web_app s;
	struct http_request q;
	struct http_reply a;
};

static void visitor_init(struct visitor *v)
{
	memset(v, 0, sizeof *v);
	web_app_init(&v->s, NULL);
	v->s.daemon.open_client = fake_open;
	v->s.daemon.open_client_arg = FAKE_ANSWER;
	snprintf(v->s.auth.cookie_name, sizeof v->s.auth.cookie_name, "dpareto_1");
	snprintf(v->s.auth.token.text, sizeof v->s.auth.token.text, "secret");
	snprintf(v->s.auth.token.cookie_value, sizeof v->s.auth.token.cookie_value, "digest");
	v->q.host = "localhost:9000";
	v->q.local_address = "127.0.0.1";
	v->q.peer_address = "192.0.2.7";
}

/* Asks, and gives the status; the answer stays until the next question. */
static unsigned visit_ask(struct visitor *v, const char *method, const char *target)
{
	struct dp_err err;

	http_reply_free(&v->a);
	http_request_free(&v->q);
	v->a = (struct http_reply){ 0 };
	v->q.method = http_parse_method(method);
	assert_int_equal(http_parse_target(&v->q, target, &err), DP_OK);
	web_app_handle_request(&v->s, &v->q, &v->a);
	return v->a.status;
}

static void visitor_free(struct visitor *v)
{
	http_reply_free(&v->a);
	http_request_free(&v->q);
	web_app_free(&v->s);
}

static json_t *answer_json(const struct visitor *v)
{
	struct dp_err err;
	json_t *value;

	assert_string_equal(v->a.content_type, "application/json");
	assert_int_equal(dp_json_parse(v->a.body.data, v->a.body.len, &value, &err), DP_OK);
	return value;
}

static void answer_has(const struct visitor *v, const char *text)
{
	if (!strstr(dp_buf_text(&v->a.body), text))
		fail_msg("'%s' is not in:\n%s", text, dp_buf_text(&v->a.body));
}

static void answer_lacks(const struct visitor *v, const char *text)
{
	if (strstr(dp_buf_text(&v->a.body), text))
		fail_msg("'%s' is in:\n%s", text, dp_buf_text(&v->a.body));
}

/* ---- addresses ---- */

static void test_targets(void **state)
{
	static const char *const bad[] = {
		"",      "x",        "http://h/",         "/%", "/%4", "/%zz", "/%00", "/%ff",
		"/?a=%", "/a?b=%c3", "/1/2/3/4/5/6/7/8/9"
	};
	struct http_request q = { 0 };
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_int_equal(http_parse_target(&q, bad[i], &err), DP_E_USAGE);
		http_request_free(&q);
	}
	assert_int_equal(http_parse_target(&q, "/", &err), DP_OK);
	assert_int_equal(q.n_segments, 0);
	http_request_free(&q);
	assert_int_equal(http_parse_target(&q, "/a%2Fb/%C3%A9?x=1+2&y&z=%3d&x=2", &err), DP_OK);
	assert_int_equal(q.n_segments, 2);
	assert_string_equal(q.segments[0], "a/b");
	assert_string_equal(q.segments[1], "\xc3\xa9");
	assert_string_equal(http_query_get(&q, "x"), "1 2");
	assert_string_equal(http_query_get(&q, "y"), "");
	assert_string_equal(http_query_get(&q, "z"), "=");
	assert_null(http_query_get(&q, "w"));
	http_request_free(&q);
}

static void test_forms(void **state)
{
	char *value = http_form_get("a=b&token=x%2By+z", 17, "token");

	(void)state;
	assert_string_equal(value, "x+y z");
	free(value);
	assert_null(http_form_get("token", 0, "token"));
	assert_null(http_form_get(NULL, 0, "token"));
}

static void test_listening(void **state)
{
	static const char *const bad[] = {
		"",    ":1",      "127.0.0.1", "127.0.0.1:x",
		"::1", "h:65536", "h:-1",      "no.such.host.invalid:1"
	};
	struct listen_socket l;
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		assert_int_equal(listen_socket_open(bad[i], true, &l, &err), DP_E_USAGE);
	assert_int_equal(listen_socket_open("0.0.0.0:0", false, &l, &err), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "--token-file"));
	assert_int_equal(listen_socket_open("127.0.0.1:0", false, &l, &err), DP_OK);
	assert_true(l.is_loopback && l.port > 0);
	close(l.fd);
	assert_int_equal(listen_socket_open("0.0.0.0:0", true, &l, &err), DP_OK);
	assert_false(l.is_loopback);
	close(l.fd);
}

/* ---- request line and headers ---- */

static void test_request_heads(void **state)
{
	static const char good[] = "POST /login?a=b HTTP/1.1\r\nHost: localhost\r\n"
				   "Content-Length:\t5 \r\nX-DPareto-Token:  word\r\n"
				   "Cookie: \r\n\r\n";
	static const char chunked[] = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"
				      "Expect: 100-Continue\r\n\r\n0\r\n";
	static const struct {
		const char *text;
		unsigned status;
	} bad[] = { { "\r\n", 400 },
		    { "GET\r\n", 400 },
		    { "GET / HTTP/1.1 \r\n", 400 },
		    { "GET / http/1.1\r\n", 400 },
		    { "GET / HTTP/1.2\r\n", 505 },
		    { "GET / HTTP/1.1\n", 400 },
		    { "G\x7fT / HTTP/1.1\r\n", 400 },
		    { "GET / HTTP/1.1\r\n folded\r\n", 400 },
		    { "GET / HTTP/1.1\r\nX : y\r\n", 400 },
		    { "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n", 400 },
		    { "GET / HTTP/1.1\r\nContent-Length: 1 1\r\n", 400 },
		    { "GET / HTTP/1.1\r\nContent-Length: 1234567890123456789\r\n", 413 },
		    { "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", 400 },
		    { "GET / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n"
		      "Content-Length: 0\r\n\r\n",
		      400 } };
	struct request_head h;
	char *token;

	(void)state;
	for (size_t n = 0; n < sizeof good - 1; n++)
		assert_int_equal(request_head_parse(good, n, &h), HEAD_INCOMPLETE);
	assert_int_equal(request_head_parse(good, sizeof good - 1, &h), HEAD_COMPLETE);
	token = head_value_copy(&h.token);
	assert_string_equal(token, "word");
	free(token);
	assert_int_equal(h.target.len, strlen("/login?a=b"));
	assert_int_equal(h.cookie.len, 0);
	assert_null(h.authorization.text);
	assert_int_equal(h.len, sizeof good - 1);
	assert_int_equal(h.body_length, 5);
	assert_false(h.chunked || h.expects_continue);
	assert_int_equal(request_head_parse(chunked, sizeof chunked - 1, &h), HEAD_COMPLETE);
	assert_int_equal(h.len, sizeof chunked - 1 - strlen("0\r\n"));
	assert_true(h.chunked && h.expects_continue && h.body_length == 0);
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_int_equal(request_head_parse(bad[i].text, strlen(bad[i].text), &h),
				 HEAD_INVALID);
		assert_int_equal(h.status, bad[i].status);
	}
	/* a NUL anywhere */
	for (size_t n = 0; n < sizeof good - 1; n++) {
		char copy[sizeof good];

		memcpy(copy, good, sizeof good);
		copy[n] = '\0';
		assert_int_equal(request_head_parse(copy, sizeof good - 1, &h), HEAD_INVALID);
		assert_int_equal(h.status, 400);
	}
}

/* ---- connections ---- */

static struct conn *add_conn(struct conn_list *list, struct conn *c, uint32_t address, bool local,
			     uid_t user)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };

	*c = (struct conn){ .state = CONN_INCOMPLETE };
	conn_set_peer(c, (struct sockaddr *)&a, local, user);
	conn_list_add(list, c);
	return c;
}

/* The oldest of the address with the most, of the user with the most. */
static void test_evicted_connection(void **state)
{
	static struct conn some[64];
	struct conn_list list = { 0 };
	size_t n = 0;
	struct conn *first;

	(void)state;
	assert_null(conn_to_evict(&list, CONN_PENDING, CONN_OWNER));
	/* the owner keeps a reserve */
	while (n < CONN_OWNER_RESERVE)
		add_conn(&list, &some[n++], 0x7f000001, true, geteuid());
	assert_null(conn_to_evict(&list, CONN_PENDING, CONN_OWNER));
	first = add_conn(&list, &some[n++], 0x7f000001, true, 4242);
	assert_ptr_equal(conn_to_evict(&list, CONN_PENDING, CONN_OWNER), first);
	/* one user counts over all its addresses, and so do all other machines */
	add_conn(&list, &some[n++], 0xc0000207, false, 0);
	for (uint32_t i = 2; i < 5; i++)
		add_conn(&list, &some[n++], 0x7f000000 + i, true, 4242);
	assert_ptr_equal(conn_to_evict(&list, CONN_PENDING, CONN_OWNER), first);
	for (uint32_t i = 0; i < 5; i++)
		add_conn(&list, &some[n++], 0xc0000208, false, 0);
	assert_ptr_equal(conn_to_evict(&list, CONN_PENDING, CONN_OWNER), &some[n - 5]);
	/* evicted connections and other states do not count */
	some[n - 5].is_evicted = true;
	assert_ptr_equal(conn_to_evict(&list, CONN_PENDING, CONN_OWNER), &some[n - 4]);
	some[n - 4].state = CONN_READING_BODY;
	some[n - 3].state = CONN_READING_BODY;
	assert_ptr_equal(conn_to_evict(&list, CONN_INCOMPLETE, CONN_OWNER), first);
	conn_list_remove(first);
	assert_ptr_equal(conn_to_evict(&list, CONN_READING_BODY, CONN_OWNER), &some[n - 4]);
}

/* A local user is one peer whatever addresses it uses; other machines are many. */
static void test_running_of_user(void **state)
{
	static struct conn some[6];
	struct conn_list list = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		add_conn(&list, &some[i], 0x7f000002 + i, true, 4242)->state = CONN_READING_BODY;
	add_conn(&list, &some[3], 0x7f000001, true, 4243);
	assert_true(conn_peer_runs_more(&list, &some[0], &some[3], 1));
	assert_false(conn_peer_runs_more(&list, &some[3], &some[0], 0));
	add_conn(&list, &some[4], 0xc0000207, false, 0)->state = CONN_READING_BODY;
	add_conn(&list, &some[5], 0xc0000208, false, 0);
	assert_true(conn_peer_runs_more(&list, &some[0], &some[5], 1));
	assert_true(conn_peer_runs_more(&list, &some[4], &some[5], 0));
	assert_false(conn_peer_runs_more(&list, &some[4], &some[5], 1));
}

static void test_reserved_threads(void **state)
{
	struct conn untrusted = { .state = CONN_QUEUED, .trust = CONN_UNTRUSTED };
	struct conn trusted = { .state = CONN_QUEUED, .trust = CONN_TRUSTED };
	struct conn owner = {
		.state = CONN_QUEUED, .trust = CONN_OWNER, .is_local = true, .uid = geteuid()
	};
	struct conn signs_in = {
		.state = CONN_QUEUED, .trust = CONN_UNTRUSTED, .is_local = true, .uid = geteuid()
	};
	struct conn_usage u = { .all = CONN_UNTRUSTED_MAX, .untrusted = CONN_UNTRUSTED_MAX };

	(void)state;
	assert_false(conn_thread_available(&u, &untrusted));
	assert_true(conn_thread_available(&u, &trusted));
	assert_true(conn_thread_available(&u, &signs_in));
	u.all = CONN_THREADS_SHARED;
	assert_false(conn_thread_available(&u, &trusted));
	assert_true(conn_thread_available(&u, &owner));
	assert_true(conn_thread_available(&u, &signs_in));
	u.untrusted += CONN_SIGN_IN_RESERVE;
	assert_false(conn_thread_available(&u, &signs_in));
	u.all = CONN_THREADS_SHARED + CONN_OWNER_RESERVE;
	assert_false(conn_thread_available(&u, &owner));
	untrusted.asks_metrics = trusted.asks_metrics = true;
	assert_true(conn_thread_available(&u, &trusted) && conn_uses_metrics_reserve(&u, &trusted));
	assert_false(conn_thread_available(&u, &untrusted));
	u.metrics = CONN_METRICS_RESERVE;
	assert_false(conn_thread_available(&u, &trusted));
}

/* ---- who is let in ---- */

static void test_hosts(void **state)
{
	static const struct {
		const char *host;
		unsigned status;
	} each[] = { { "localhost", 200 },
		     { "LOCALHOST:1", 200 },
		     { "127.0.0.1:8410", 200 },
		     { "web.example", 200 },
		     { "localhost.evil.com", 421 },
		     { "evil.com", 421 },
		     { "127.0.0.2", 421 },
		     { "", 421 },
		     { NULL, 421 },
		     { "[::1]:8410", 421 },
		     { ":8410", 421 },
		     { "localhost:", 200 },
		     { "localhost:1@evil.com", 421 },
		     { "127.0.0.1:8410.evil.com", 421 },
		     { "[", 421 } };
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.auth.hosts[v.s.auth.n_hosts++] = "web.example";
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		v.q.host = each[i].host;
		assert_int_equal(visit_ask(&v, "GET", "/api/studies"), each[i].status);
	}
	v.q.host = "[::1]:8410";
	v.q.local_address = "[::1]";
	assert_int_equal(visit_ask(&v, "GET", "/"), 200);
	visitor_free(&v);
}

static void test_methods(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	assert_int_equal(visit_ask(&v, "HEAD", "/"), 200);
	assert_int_equal(visit_ask(&v, "PUT", "/"), 405);
	assert_string_equal(v.a.allow, "GET, HEAD");
	assert_int_equal(visit_ask(&v, "OPTIONS", "/api/studies"), 405);
	assert_int_equal(visit_ask(&v, "POST", "/"), 405);
	assert_int_equal(visit_ask(&v, "GET", "/api/studies/s/pause"), 405);
	/* without --control the way is not there, whoever asks */
	v.q.token = "secret";
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/pause"), 405);
	visitor_free(&v);
}

static void test_other_sites(void **state)
{
	static const struct {
		const char *origin, *site;
		unsigned status;
	} each[] = { { NULL, NULL, 200 },
		     { "http://localhost:9000", "same-origin", 200 },
		     { "https://localhost:9000", NULL, 200 },
		     { "http://localhost:9001", NULL, 403 },
		     { "http://evil.com", NULL, 403 },
		     { "null", NULL, 403 },
		     { NULL, "cross-site", 403 },
		     { NULL, "same-site", 403 },
		     { "http://localhost:9000", "cross-site", 403 } };
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.auth.allow_control = true;
	v.q.token = "secret";
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		v.q.origin = each[i].origin;
		v.q.fetch_site = each[i].site;
		assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/pause"), each[i].status);
	}
	visitor_free(&v);
}

/* What their pages ask for by themselves; but a link may lead here from anywhere. */
static void test_readers_of_other_sites(void **state)
{
	static const struct {
		const char *site, *mode, *dest, *target;
		unsigned status;
	} each[] = {
		{ "same-origin", "cors", "empty", "/api/studies", 200 },
		{ "none", "navigate", "document", "/api/studies", 200 },
		{ "cross-site", "no-cors", "image", "/api/studies", 403 },
		{ "same-site", "cors", "empty", "/api/studies", 403 },
		{ "cross-site", NULL, NULL, "/metrics", 403 },
		{ "cross-site", "no-cors", NULL, "/api/studies/s/figures/spark.svg", 403 },
		{ "cross-site", "navigate", NULL, "/api/studies/s/front", 200 },
		{ "cross-site", "navigate", "document", "/api/studies/s/front", 200 },
		{ "cross-site", "navigate", "document", "/studies/s", 200 },
		{ "cross-site", "navigate", "document", "/", 200 },
		/* a frame is no reader who followed a link */
		{ "cross-site", "navigate", "iframe", "/", 403 },
		{ "cross-site", "navigate", "iframe", "/studies/s", 403 },
		{ "same-site", "navigate", "iframe", "/studies/s/report", 403 },
		{ "cross-site", "navigate", "frame", "/api/studies", 403 },
		{ "cross-site", "navigate", "object", "/api/studies/s/front", 403 },
		{ "cross-site", "no-cors", "embed", "/page.css", 403 },
		{ "cross-site", "navigate", "fencedframe", "/api/session", 403 },
		{ "cross-site", "navigate", "webidentity", "/api/studies", 403 },
		{ "same-origin", "navigate", "iframe", "/studies/s", 200 },
	};
	struct visitor v;

	(void)state;
	visitor_init(&v);
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		v.q.fetch_site = each[i].site;
		v.q.fetch_mode = each[i].mode;
		v.q.fetch_dest = each[i].dest;
		assert_int_equal(visit_ask(&v, "GET", each[i].target), each[i].status);
	}
	visitor_free(&v);
}

static void test_control_needs_the_header(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.auth.allow_control = true;
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/stop"), 401);
	v.q.token = "wrong";
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/stop"), 401);
	v.q.token = "";
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/stop"), 401);
	v.q.token = NULL;
	v.q.cookie = "dpareto_1=digest"; /* other sites' forms would send it */
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/stop"), 401);
	v.q.token = "secret";
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/stop"), 200);
	assert_int_equal(visit_ask(&v, "POST", "/api/studies/s/delete"), 405);
	visitor_free(&v);
}

static void test_closed(void **state)
{
	static const char *const shown[] = { "/metrics", "/api/studies", "/api/daemon",
					     "/studies/s/report", "/api/studies/s/trials/0/log" };
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.auth.token_required = true;
	for (size_t i = 0; i < DP_COUNT(shown); i++)
		assert_int_equal(visit_ask(&v, "GET", shown[i]), 401);
	/* the page itself shows nothing then */
	assert_int_equal(visit_ask(&v, "GET", "/studies/s"), 200);
	answer_lacks(&v, "paused");
	v.q.cookie = "a=b; dpareto_1=digest; c=d";
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 200);
	v.q.cookie = "dpareto_1=digestx";
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 401);
	v.q.cookie = "xdpareto_1=digest";
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 401);
	v.q.cookie = NULL;
	v.q.token = "secret";
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 200);
	visitor_free(&v);
}

static void test_sign_in(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.auth.token_required = true;
	v.q.body = "token=wrong";
	v.q.body_len = strlen(v.q.body);
	assert_int_equal(visit_ask(&v, "POST", "/login"), 401);
	assert_string_equal(v.a.cookie, "");
	v.q.body = "token=secret";
	v.q.body_len = strlen(v.q.body);
	assert_int_equal(visit_ask(&v, "POST", "/login"), 303);
	assert_non_null(strstr(v.a.cookie, "dpareto_1=digest;"));
	assert_non_null(strstr(v.a.cookie, "HttpOnly; SameSite=Strict"));
	v.q.origin = "http://evil.com";
	assert_int_equal(visit_ask(&v, "POST", "/login"), 403);
	visitor_free(&v);
}

static void test_tokens(void **state)
{
	struct token t, other;
	struct dp_err err;

	(void)state;
	assert_int_equal(token_generate(&t, &err), DP_OK);
	assert_int_equal(token_generate(&other, &err), DP_OK);
	assert_true(token_matches(&t, t.text));
	assert_false(token_matches(&t, other.text));
	assert_string_not_equal(t.cookie_value, t.text);
	file_of("token", "word\r\nmore\n");
	chmod(in_folder("token"), 0600);
	assert_int_equal(token_read_file(&t, in_folder("token"), &err), DP_OK);
	assert_string_equal(t.text, "word");
	chmod(in_folder("token"), 0604);
	assert_int_equal(token_read_file(&t, in_folder("token"), &err), DP_E_DENIED);
	file_of("empty", "\n");
	chmod(in_folder("empty"), 0600);
	assert_int_equal(token_read_file(&t, in_folder("empty"), &err), DP_E_INVALID);
	file_of("spaces", "two words\n");
	chmod(in_folder("spaces"), 0600);
	assert_int_equal(token_read_file(&t, in_folder("spaces"), &err), DP_E_INVALID);
	assert_int_equal(token_read_file(&t, in_folder("none"), &err), DP_E_NOT_FOUND);
	/* no token at all lets nobody in */
	memset(&t, 0, sizeof t);
	assert_false(token_matches(&t, ""));
	assert_false(token_matches_cookie(&t, "dpareto_1=", "dpareto_1"));
}

static void test_strangers(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.q.user_denied = true;
	assert_int_equal(visit_ask(&v, "GET", "/"), 403);
	assert_int_equal(visit_ask(&v, "GET", "/api/session"), 403);
	/* a socket of ours, by its mode */
	file_of("socket", "");
	chmod(in_folder("socket"), 0600);
	assert_true(peer_may_use_socket(0, in_folder("socket")));
	assert_true(peer_may_use_socket(geteuid(), in_folder("socket")));
	assert_false(peer_may_use_socket(4242, in_folder("socket")));
	chmod(in_folder("socket"), 0666);
	assert_true(peer_may_use_socket(4242, in_folder("socket")));
	assert_false(peer_may_use_socket(4242, in_folder("none")));
	visitor_free(&v);
}

/* Finds ourselves at the other end. */
static void test_peers(void **state)
{
	static const char *const where[] = { "127.0.0.1:0", "[::1]:0" };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(where); i++) {
		struct sockaddr_storage server, client;
		socklen_t n = sizeof server, m = sizeof client;
		struct listen_socket l;
		struct dp_err err;
		uid_t user = 4242;
		int fd;

		if (listen_socket_open(where[i], false, &l, &err) != DP_OK)
			continue; /* a machine without IPv6 */
		assert_int_equal(getsockname(l.fd, (struct sockaddr *)&server, &n), 0);
		fd = socket(server.ss_family, SOCK_STREAM, 0);
		assert_int_equal(connect(fd, (struct sockaddr *)&server, n), 0);
		assert_int_equal(getsockname(fd, (struct sockaddr *)&client, &m), 0);
		assert_true(peer_find_user((struct sockaddr *)&server, (struct sockaddr *)&client,
					   &user));
		assert_int_equal(user, getuid());
		/* who asks and leaves at once does not pass for root */
		close(fd);
		assert_false(peer_find_user((struct sockaddr *)&server, (struct sockaddr *)&client,
					    &user));
		close(l.fd);
	}
}

/* ---- what is answered ---- */

static void test_paths(void **state)
{
	static const struct {
		const char *path;
		unsigned status;
		const char *type;
	} each[] = {
		{ "/", 200, "text/html; charset=utf-8" },
		{ "/compare?study=s", 200, "text/html; charset=utf-8" },
		{ "/studies/s", 200, "text/html; charset=utf-8" },
		{ "/studies/s/trials/7@4", 200, "text/html; charset=utf-8" },
		{ "/page.css", 200, "text/css; charset=utf-8" },
		{ "/page.js", 200, "text/javascript; charset=utf-8" },
		{ "/page.html", 404, NULL },
		{ "/nothing", 404, NULL },
		{ "/studies/", 404, NULL },
		{ "/studies/../s", 404, NULL },
		{ "/studies/%3Cb%3E", 404, NULL },
		{ "/studies/s/report", 404, "text/plain; charset=utf-8" },
		{ "/api/session", 200, "application/json" },
		{ "/api/studies", 200, "application/json" },
		{ "/api/studies/s", 200, "application/json" },
		{ "/api/studies/s/front", 200, "application/json" },
		{ "/api/studies/s/front?one-se", 200, "application/json" },
		{ "/api/studies/s/front?best=epsilon", 200, "application/json" },
		{ "/api/studies/s/front?best", 400, "application/json" },
		{ "/api/studies/s/front?nothing", 400, "application/json" },
		{ "/api/studies/s/front?state=/etc", 400, "application/json" },
		{ "/api/studies/s/front?max=epsilon", 400, "application/json" },
		{ "/api/studies/s/recommend?verify=5", 400, "application/json" },
		{ "/api/studies/s/choice", 200, "application/json" },
		{ "/api/studies/s/trials", 200, "application/json" },
		{ "/api/studies/s/trials?limit=0", 400, "application/json" },
		{ "/api/studies/s/trials?limit=501", 400, "application/json" },
		{ "/api/studies/s/trials?sort=nothing", 400, "application/json" },
		{ "/api/studies/s/trials/0", 200, "application/json" },
		{ "/api/studies/s/trials/0/log", 200, "application/json" },
		{ "/api/studies/s/trials/x/log", 400, "application/json" },
		{ "/api/studies/s/trials/0/log?attempt=3", 404, "application/json" },
		{ "/api/studies/s/trials/0/log?stream=/etc/passwd", 400, "application/json" },
		{ "/api/studies/s/figures/front.svg", 200, "image/svg+xml" },
		{ "/api/studies/s/figures/front.svg?inline&width=320", 200, "image/svg+xml" },
		{ "/api/studies/s/figures/front.svg?width=1", 400, "application/json" },
		{ "/api/studies/s/figures/hypervolume.svg", 200, "image/svg+xml" },
		{ "/api/studies/s/figures/spark.svg", 200, "image/svg+xml" },
		{ "/api/studies/s/figures/other.svg", 404, "application/json" },
		{ "/api/compare/front.svg?study=s&study=s", 200, "image/svg+xml" },
		{ "/api/compare/front.svg", 400, "application/json" },
		{ "/api/figures.css", 200, "text/css; charset=utf-8" },
		{ "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8" },
	};
	struct visitor v;

	(void)state;
	visitor_init(&v);
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		unsigned status = visit_ask(&v, "GET", each[i].path);

		if (status != each[i].status)
			fail_msg("%s: %u %s", each[i].path, status, dp_buf_text(&v.a.body));
		if (each[i].type)
			assert_string_equal(v.a.content_type, each[i].type);
	}
	visitor_free(&v);
}

static void test_without_a_daemon(void **state)
{
	struct visitor v;
	json_t *error;

	(void)state;
	visitor_init(&v);
	v.s.daemon.open_client_arg = NULL;
	assert_int_equal(visit_ask(&v, "GET", "/"), 200);
	answer_has(&v, "no daemon is running");
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 503);
	error = answer_json(&v);
	assert_string_equal(dp_json_str(json_object_get(error, "error"), "kind", ""), "no-daemon");
	json_decref(error);
	assert_int_equal(visit_ask(&v, "GET", "/metrics"), 200);
	answer_has(&v, "\ndpareto_up 0\n");
	visitor_free(&v);
}

/* A daemon whose answers lack everything costs a request its answer, and no more. */
static void test_incomplete_answers(void **state)
{
	static const char *const paths[] = { "/",
					     "/studies/s",
					     "/api/studies",
					     "/api/studies/s",
					     "/api/studies/s/front",
					     "/api/studies/s/front?one-se",
					     "/api/studies/s/choice",
					     "/api/studies/s/recommend?at=epsilon%3D1",
					     "/api/studies/s/trials",
					     "/api/studies/s/trials?limit=2",
					     "/api/studies/s/trials/0",
					     "/api/studies/s/trials/0/log",
					     "/api/studies/s/figures/front.svg",
					     "/api/studies/s/figures/spark.svg",
					     "/metrics" };
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.daemon.open_client_arg = "{\"v\":1,\"ok\":{}}\n";
	for (size_t i = 0; i < DP_COUNT(paths); i++)
		assert_true(visit_ask(&v, "GET", paths[i]) > 0);
	assert_int_equal(visit_ask(&v, "GET", "/api/studies"), 502);
	visitor_free(&v);
}

static void test_markup(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	visit_ask(&v, "GET", "/");
	answer_has(&v, "&lt;img src=x onerror=alert(1)&gt;");
	answer_lacks(&v, "<img");
	visit_ask(&v, "GET", "/api/studies/s/figures/front.svg?inline");
	answer_has(&v, "&lt;img src=x");
	answer_lacks(&v, "<img");
	assert_string_equal(v.a.security_policy,
			    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors "
			    "'none'");
	visitor_free(&v);
}

static void test_files_are_known(void **state)
{
	struct visitor v;
	char etag[80];

	(void)state;
	visitor_init(&v);
	assert_int_equal(visit_ask(&v, "GET", "/page.js"), 200);
	snprintf(etag, sizeof etag, "%s", v.a.etag);
	v.q.if_none_match = etag;
	assert_int_equal(visit_ask(&v, "GET", "/page.js"), 304);
	assert_int_equal(v.a.body.len, 0);
	assert_int_equal(visit_ask(&v, "GET", "/page.css"), 200);
	visitor_free(&v);
}

static void test_figure_links(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	visit_ask(&v, "GET", "/api/studies/s/figures/front.svg?inline");
	answer_has(&v, "xlink:href=\"/studies/s/trials/1\"");
	answer_has(&v, "trial 1: ε 2, error 0.25 (0.1 to 0.9); x 0.5");
	answer_has(&v, "recommended");
	/* a file has no links: they would lead out of it */
	visit_ask(&v, "GET", "/api/studies/s/figures/front.svg");
	answer_lacks(&v, "xlink:href=\"/");
	visitor_free(&v);
}

/* A front of three objectives, of which two are shown; and a trial that a constraint
 * bars: a figure from JSON, as the daemon tells it. */
static void test_figure_of_three_objectives(void **state)
{
	static const char summary[] =
		"{\"name\":\"s\",\"objectives\":[\"a\",\"b\",\"c\"],\"goals\":["
		"\"minimize\",\"minimize\",\"minimize\"],\"transforms\":[\"none\","
		"\"none\",\"none\"],\"privacy\":[],\"anti_ideal\":{}}";
	static const char front[] =
		"{\"front\":[{\"trial\":0,\"objectives\":{\"a\":1,\"b\":3,\"c\":3}},"
		"{\"trial\":1,\"objectives\":{\"a\":2,\"b\":4,\"c\":1}},"
		"{\"trial\":2,\"objectives\":{\"a\":3,\"b\":1,\"c\":2}}]}";
	static const char rows[] = "[{\"trial\":3,\"state\":\"ok\",\"feasible\":false,"
				   "\"objectives\":{\"a\":1.5,\"b\":1.5,\"c\":1}}]";
	const struct figure_options form = { .width = 600, .is_inline = true };
	struct figure_study picture;
	json_t *list;
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;

	(void)state;
	list = json_loads(rows, 0, NULL);
	picture = (struct figure_study){ .summary = json_loads(summary, 0, NULL),
					 .front = json_loads(front, 0, NULL),
					 .rows = trial_rows_from_json(list) };
	assert_int_equal(study_figure_render_front(&picture, 1, &form, &out, &err), DP_OK);
	assert_non_null(strstr(dp_buf_text(&out), "front of these two of 3 objectives"));
	assert_non_null(strstr(dp_buf_text(&out), "a constraint is not met"));
	assert_non_null(strstr(dp_buf_text(&out), "trial 1:"));
	dp_buf_free(&out);
	json_decref((json_t *)picture.summary);
	json_decref((json_t *)picture.front);
	trial_rows_unref((struct trial_rows *)picture.rows);
	json_decref(list);
}

/* ---- large fronts ---- */

enum {
	MANY_POINTS = 20000
};

/* Points on a curve, each with runs that say something of its noise, as a front and as
 * what stands for it. */
static json_t *many_points(struct large_front *f)
{
	json_t *list = json_array(), *front;
	struct trial_rows *rows;

	for (int i = 0; i < MANY_POINTS; i++) {
		double at = (i * 7919 % MANY_POINTS + 0.5) / MANY_POINTS;

		json_array_append_new(list, json_pack("{s:i, s:n, s:{s:f, s:f}, s:{s:{s:i, s:f}}}",
						      "trial", i, "at", "objectives", "epsilon",
						      0.01 * pow(1000, at), "error", 1 - at,
						      "spread", "error", "runs", 3, "sd", 0.1));
	}
	front = json_pack("{s:{s:i, s:i}, s:o}", "anti_ideal", "epsilon", 10, "error", 1, "front",
			  list);
	rows = trial_rows_from_json(list);
	assert_non_null(rows);
	*f = (struct large_front){ .head = json_pack("{s:O}", "anti_ideal",
						     json_object_get(front, "anti_ideal")),
				   .rows = rows,
				   .member_rows = malloc(MANY_POINTS * sizeof *f->member_rows),
				   .n_members = MANY_POINTS };
	for (size_t i = 0; i < f->n_members; i++)
		f->member_rows[i] = i;
	return front;
}

/* A picture of many points has those that can be told apart: each other one is less than
 * a pixel from one of them. The point to take is that of all points. */
static void test_large_front(void **state)
{
	json_t *summary = json_loads(FAKE_SUMMARY, 0, NULL), *whole, *thin, *by_all, *by_rows;
	static bool seen[1001][1001];
	struct figure_axis x, y;
	struct large_front f;
	const json_t *p, *list;
	size_t i, member;

	(void)state;
	whole = many_points(&f);
	assert_true(study_figure_choose_axes(summary, &x, &y));
	assert_true(strcmp(x.name, "epsilon") == 0 && x.is_log && !y.is_log);
	thin = large_front_downsample(&f, &x, &y);
	list = json_object_get(thin, "front");
	assert_true(json_array_size(list) > 1000);
	assert_true(json_array_size(list) <= LARGE_FRONT_MAX_DRAWN + 4);
	json_array_foreach (list, i, p) {
		const json_t *v = json_object_get(p, "objectives");
		double error = json_real_value(json_object_get(v, "error")),
		       epsilon = json_real_value(json_object_get(v, "epsilon"));

		assert_true(json_is_object(json_object_get(p, "spread")));
		seen[lround(1000 * log(epsilon / 0.01) / log(1000))][lround(1000 * error)] = true;
	}
	for (i = 0; i <= 1000; i++)
		assert_true(seen[i][1000 - i]);
	by_all = ctl_front_recommend(whole, summary);
	by_rows = large_front_recommend_row(&f, summary, &member);
	assert_string_equal(dp_json_str(by_rows, "rule", ""), "one-se");
	assert_string_equal(dp_json_str(by_all, "rule", ""), "one-se");
	p = json_array_get(json_object_get(by_all, "front"), 0);
	assert_int_equal(member, dp_json_int(p, "trial", -1));
	json_decref(by_all);
	json_decref(by_rows);
	json_decref(thin);
	json_decref(whole);
	json_decref(summary);
	large_front_free(&f);
}

/* Its points are those that the daemon names, but for those that have no row. */
static void test_large_front_found(void **state)
{
	struct large_front f;
	struct visitor v;
	struct dp_err err;

	(void)state;
	visitor_init(&v);
	v.s.daemon.open_client_arg =
		"{\"v\":1,\"ok\":{\"trials\":" FAKE_POINTS ",\"next\":null,\"front\":[" FAKE_POINT(
			"2", "0.5", "0.75", "0.125") "],\"more\":[[0,null],[0,4],[9,null]]}}\n";
	assert_int_equal(large_front_load(&v.s.trial_cache, "s", &f, &err), DP_OK);
	assert_int_equal(f.n_members, 2);
	assert_true(f.member_rows[0] == 2 && f.member_rows[1] == 0);
	large_front_free(&f);
	visitor_free(&v);
}

/* ---- tables ---- */

/* The numbers of the trials that a query gives: "2 0 1 of 3". */
static char *table_numbers(struct visitor *v, const char *query)
{
	struct dp_buf out = DP_BUF_INIT;
	char target[400];
	json_t *part, *row;
	size_t i;

	snprintf(target, sizeof target, "/api/studies/s/trials?%s", query);
	assert_int_equal(visit_ask(v, "GET", target), 200);
	part = answer_json(v);
	json_array_foreach (json_object_get(part, "trials"), i, row)
		dp_buf_printf(&out, "%d ", (int)dp_json_int(row, "trial", -1));
	dp_buf_printf(&out, "of %d", (int)dp_json_int(part, "total", -1));
	json_decref(part);
	return dp_buf_detach(&out);
}

static void test_tables(void **state)
{
	static const struct {
		const char *query, *numbers;
	} each[] = {
		{ "limit=10", "2 1 0 of 3" }, /* the newest first */
		{ "sort=trial", "0 1 2 of 3" },
		{ "sort=epsilon", "2 0 1 of 3" },
		{ "sort=-objectives.epsilon", "1 0 2 of 3" },
		{ "sort=x", "2 0 1 of 3" },
		{ "sort=parameters.x&limit=1&from=1", "0 of 3" },
		{ "sort=trial&from=3", "of 3" },
		{ "where=epsilon%3C=1&sort=trial", "0 2 of 2" },
		{ "where=error>=0.5&where=x=0.25", "0 of 1" },
		{ "where=state=ok&sort=trial", "0 1 2 of 3" },
		{ "where=state=failed", "of 0" },
		{ "status=failed", "of 0" },
		{ "where=onerror&sort=trial", "0 1 2 of 3" }, /* text anywhere */
		{ "where=0.125", "2 of 1" },
		{ "where=nothing<=1", "of 0" },
		{ "where=", "2 1 0 of 3" },
	};
	struct visitor v;

	(void)state;
	visitor_init(&v);
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		char *numbers = table_numbers(&v, each[i].query);

		if (strcmp(numbers, each[i].numbers) != 0)
			fail_msg("%s: %s", each[i].query, numbers);
		free(numbers);
	}
	visitor_free(&v);
}

/* Where the daemon counts the rows, a part in the order of their numbers is fetched alone
 * and no row is kept. */
static void test_plain_tables(void **state)
{
	static const struct {
		const char *query, *numbers;
		bool kept;
	} each[] = {
		{ "limit=10", "2 1 0 of 3", false },
		{ "sort=-trial&where=", "2 1 0 of 3", false },
		{ "sort=trial", "0 1 2 of 3", false },
		{ "sort=trial&from=3", "of 3", false },
		{ "from=3", "of 3", false },
		{ "status=ok", "2 1 0 of 3", true },
	};
	struct visitor v;

	(void)state;
	visitor_init(&v);
	v.s.daemon.open_client_arg =
		"{\"v\":1,\"ok\":{\"trials\":" FAKE_POINTS ",\"next\":null,\"total\":3}}\n";
	for (size_t i = 0; i < DP_COUNT(each); i++) {
		char *numbers = table_numbers(&v, each[i].query);

		if (strcmp(numbers, each[i].numbers) != 0)
			fail_msg("%s: %s", each[i].query, numbers);
		assert_int_equal(v.s.trial_cache.bytes > 0, each[i].kept);
		free(numbers);
	}
	visitor_free(&v);
}

static void test_tables_with_gaps(void **state)
{
	struct http_request q = { 0 };
	struct dp_err err;
	json_t *rows, *part;
	struct dp_buf text = DP_BUF_INIT;
	struct trial_rows *kept;

	(void)state;
	rows = json_pack("[{s:i, s:n}, {s:i, s:f}, {s:i, s:s}, {s:i, s:f}]", "trial", 0, "seconds",
			 "trial", 1, "seconds", 2.0, "trial", 2, "seconds", "inf", "trial", 3,
			 "seconds", 1.0);
	kept = trial_rows_from_json(rows);
	for (int down = 0; down < 2; down++) {
		static const int order[2][4] = { { 3, 1, 2, 0 }, { 2, 1, 3, 0 } };

		assert_int_equal(
			http_parse_target(&q, down ? "/?sort=-seconds" : "/?sort=seconds", &err),
			DP_OK);
		assert_int_equal(trial_table_write_query(kept, &q, -1, &text, &err), DP_OK);
		assert_int_equal(dp_json_parse(text.data, text.len, &part, &err), DP_OK);
		dp_buf_free(&text);
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(
				dp_json_int(json_array_get(json_object_get(part, "trials"), i),
					    "trial", -1),
				order[down][i]);
		json_decref(part);
		http_request_free(&q);
	}
	trial_rows_unref(kept);
	json_decref(rows);
}

/* ---- curves ---- */

static void test_growth(void **state)
{
	json_t *answer, *ok;
	struct trial_rows *rows;
	struct hypervolume_curve g;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_json_parse(FAKE_ANSWER, strlen(FAKE_ANSWER), &answer, &err), DP_OK);
	ok = json_object_get(answer, "ok");
	rows = trial_rows_from_json(json_object_get(ok, "trials"));
	hypervolume_curve_compute(json_object_get(ok, "study"), rows, &g);
	trial_rows_unref(rows);
	/* by hand, below (10, 1): (1, .5), then (2, .25), then (.5, .75) */
	assert_int_equal(g.n_points, 4);
	assert_true(g.volume[0] == 0 && fabs(g.volume[1] - 4.5) < 1e-12);
	assert_true(fabs(g.volume[2] - 6.5) < 1e-12);
	assert_true(fabs(g.volume[3] - 6.625) < 1e-12);
	assert_true(g.evaluations[3] == 3);
	json_decref(answer);
}

static void test_growth_of_paths(void **state)
{
	/* waypoints stand before their trial and count when it ends; a failed trial is an
	 * evaluation, too */
	static const char text[] =
		"{\"summary\":{\"objectives\":[\"e\"],\"goals\":[\"maximize\"],"
		"\"anti_ideal\":{\"e\":0}},\"rows\":["
		"{\"trial\":0,\"at\":2,\"state\":\"ok\",\"feasible\":true,\"objectives\":"
		"{\"e\":3},\"ended\":null},"
		"{\"trial\":0,\"at\":null,\"state\":\"failed\",\"feasible\":null,"
		"\"objectives\":null,\"ended\":\"2026-01-01T00:00:02Z\"},"
		"{\"trial\":1,\"at\":null,\"state\":\"ok\",\"feasible\":true,"
		"\"objectives\":{\"e\":1},\"ended\":\"2026-01-01T00:00:01Z\"},"
		"{\"trial\":2,\"at\":null,\"state\":\"ok\",\"feasible\":false,"
		"\"objectives\":{\"e\":9},\"ended\":\"2026-01-01T00:00:03Z\"},"
		"{\"trial\":3,\"at\":null,\"state\":\"running\",\"feasible\":null,"
		"\"objectives\":null,\"ended\":null}]}";
	struct hypervolume_curve g;
	struct dp_err err;
	struct trial_rows *rows;
	json_t *v;

	(void)state;
	assert_int_equal(dp_json_parse(text, sizeof text - 1, &v, &err), DP_OK);
	rows = trial_rows_from_json(json_object_get(v, "rows"));
	hypervolume_curve_compute(json_object_get(v, "summary"), rows, &g);
	trial_rows_unref(rows);
	assert_int_equal(g.n_points, 4);
	assert_true(g.volume[1] == 1 && g.volume[2] == 3 && g.volume[3] == 3);
	json_decref(v);
}

/* ---- metrics ---- */

static void test_metrics(void **state)
{
	struct visitor v;

	(void)state;
	visitor_init(&v);
	assert_int_equal(visit_ask(&v, "GET", "/metrics"), 200);
	answer_has(&v, "\ndpareto_up 1\n");
	answer_has(&v, "\ndpareto_studies{state=\"paused\"} 1\n");
	answer_has(&v, "\ndpareto_studies{state=\"running\"} 0\n");
	answer_has(&v, "\ndpareto_trials_total{study=\"s\",end=\"ok\"} 3\n");
	answer_has(&v, "\ndpareto_hypervolume{study=\"s\"} 5.25\n");
	answer_has(&v, "\ndpareto_slots 2\n");
	answer_has(&v, "\ndpareto_slots_busy 1\n");
	answer_has(&v, "\ndpareto_disk_free_bytes 1000\n");
	answer_has(&v, "\ndpareto_journal_commit_seconds{quantile=\"0.5\"} 0.1\n");
	answer_has(&v, "\ndpareto_journal_commit_seconds_sum 0.5\n");
	answer_has(&v, "\ndpareto_journal_commit_seconds_count 4\n");
	answer_has(&v, "\ndpareto_study_updated_seconds{study=\"s\"} 1767225610\n");
	visitor_free(&v);
}

/* ---- the shelf ---- */

/* A daemon that takes until the test says so. */
struct slow_daemon {
	int asked[2], go[2]; /* pipes: it is asked, it may answer */
	atomic_bool answers_at_once;
	struct trial_cache *shelf;
};

static int slow_open(void *arg, struct dp_client **client, struct dp_err *err)
{
	struct slow_daemon *slow = arg;
	char byte = 0;

	if (!atomic_exchange(&slow->answers_at_once, true) &&
	    (write(slow->asked[1], &byte, 1) != 1 || read(slow->go[0], &byte, 1) != 1))
		return dp_fail(err, DP_E_FAILED, "the test's pipes are broken");
	return fake_open(FAKE_ANSWER, client, err);
}

static void *ask_slowly(void *arg)
{
	struct slow_daemon *slow = arg;
	struct dp_err err;
	struct trial_rows *rows = NULL;
	int64_t version;

	if (trial_cache_get(slow->shelf, "slow", TRIAL_CACHE_NEWEST, &rows, &version, &err) !=
	    DP_OK)
		rows = NULL;
	return rows;
}

/* What is kept stays below a number of bytes, and the study that was not used for longest
 * leaves first; what is larger than all of it is refused. */
static void test_shelf_bytes(void **state)
{
	static const struct {
		const char *study;
		bool a, b, c; /* kept afterwards */
	} steps[] = { { "a", true, false, false },
		      { "b", true, true, false },
		      { "a", true, true, false }, /* used again */
		      { "c", true, false, true },
		      { "b", false, true, true } };
	struct trial_cache shelf;
	struct daemon_client k;
	struct dp_err err;
	struct trial_rows *rows;
	int64_t version;

	(void)state;
	daemon_client_init(&k, NULL);
	trial_cache_init(&shelf, &k);
	k.open_client = fake_open;
	k.open_client_arg = FAKE_ANSWER;
	for (size_t i = 0; i < DP_COUNT(steps); i++) {
		bool kept[3] = { false };

		assert_int_equal(trial_cache_get(&shelf, steps[i].study, TRIAL_CACHE_NEWEST, &rows,
						 &version, &err),
				 DP_OK);
		if (i == 0)
			shelf.max_bytes = trial_rows_memory_bytes(rows) * 5 / 2;
		trial_rows_unref(rows);
		assert_true(shelf.bytes <= shelf.max_bytes);
		for (size_t p = 0; p < TRIAL_CACHE_MAX_STUDIES; p++)
			if (shelf.entries[p].study[0])
				kept[shelf.entries[p].study[0] - 'a'] = true;
		assert_true(kept[0] == steps[i].a && kept[1] == steps[i].b &&
			    kept[2] == steps[i].c);
	}
	shelf.max_bytes = 100;
	assert_int_equal(trial_cache_get(&shelf, "d", TRIAL_CACHE_NEWEST, &rows, &version, &err),
			 DP_E_LIMIT);
	daemon_client_free(&k);
	trial_cache_free(&shelf);
}

/* A row takes little more than its text, and gives it back byte for byte. */
static void test_rows(void **state)
{
	struct trial_rows *rows = trial_rows_new();
	size_t text = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		json_t *row =
			json_pack("{s:i, s:n, s:s, s:s, s:{s:f, s:s}, s:{s:f, s:o}, s:b, s:i, s:s, "
				  "s:f}",
				  "trial", i, "at", "state", i % 3 ? "ok" : "failed", "source",
				  "random", "parameters", "rate", 1.0 / (i + 3), "kind",
				  i % 2 ? "a \"b\"" : "c", "objectives", "epsilon", i / 7.0,
				  "error", i % 5 ? json_real(3.0 / (i + 1)) : json_string("inf"),
				  "feasible", i % 4 != 0, "attempts", 1, "started",
				  "2026-11-18T08:40:29.535323Z", "seconds", 0.25);
		struct dp_buf one = DP_BUF_INIT;
		const char *kept;
		size_t len;

		trial_rows_append(rows, row);
		dp_json_dump(&one, row, 0);
		kept = trial_rows_get_text(rows, (size_t)i, &len);
		assert_int_equal(len, one.len);
		assert_memory_equal(kept, one.data, len);
		text += len;
		dp_buf_free(&one);
		json_decref(row);
	}
	trial_rows_trim(rows);
	assert_true(trial_rows_memory_bytes(rows) < 2 * text + 20000);
	assert_int_equal(trial_rows_find_column(rows, NULL, "rate"), -1);
	assert_true(
		trial_rows_get_cell(rows, 5, trial_rows_find_column(rows, "objectives", "error"))
			.number == INFINITY);
	assert_string_equal(
		trial_rows_get_cell(rows, 7, trial_rows_find_column(rows, "parameters", "kind"))
			.string,
		"a \"b\"");
	assert_int_equal(
		trial_rows_get_cell(rows, 7, trial_rows_find_column(rows, NULL, "at")).kind,
		CELL_NONE);
	trial_rows_unref(rows);
}

/* A study that takes long holds up nobody who asks for another; what nobody can fetch
 * takes nobody's place. */
static void test_shelf(void **state)
{
	struct slow_daemon slow;
	struct dp_err err;
	struct daemon_client k;
	struct trial_cache shelf;
	struct trial_rows *rows, *again;
	pthread_t thread;
	int64_t version;
	void *got;
	char byte = 0;

	(void)state;
	daemon_client_init(&k, NULL);
	trial_cache_init(&shelf, &k);
	k.open_client = slow_open;
	k.open_client_arg = &slow;
	atomic_init(&slow.answers_at_once, false);
	slow.shelf = &shelf;
	assert_int_equal(pipe(slow.asked), 0);
	assert_int_equal(pipe(slow.go), 0);
	assert_int_equal(pthread_create(&thread, NULL, ask_slowly, &slow), 0);
	assert_int_equal(read(slow.asked[0], &byte, 1), 1);
	assert_int_equal(
		trial_cache_get(&shelf, "other", TRIAL_CACHE_NEWEST, &rows, &version, &err), DP_OK);
	assert_int_equal(trial_rows_count(rows), 3);
	assert_int_equal(write(slow.go[1], &byte, 1), 1);
	assert_int_equal(pthread_join(thread, &got), 0);
	assert_int_equal(trial_rows_count(got), 3);
	/* the newest is never what was there before somebody asked */
	assert_int_equal(
		trial_cache_get(&shelf, "other", TRIAL_CACHE_NEWEST, &again, &version, &err),
		DP_OK);
	assert_ptr_not_equal(again, rows);
	trial_rows_unref(rows);
	k.open_client = fake_open;
	k.open_client_arg = NULL;
	for (int i = 0; i < 2 * TRIAL_CACHE_MAX_STUDIES; i++) {
		char name[32];

		snprintf(name, sizeof name, "none-%d", i);
		assert_int_not_equal(
			trial_cache_get(&shelf, name, TRIAL_CACHE_STALE_OK, &rows, &version, &err),
			DP_OK);
	}
	assert_int_equal(trial_rows_count(shelf.entries[1].rows), 3);
	trial_rows_unref(again);
	trial_rows_unref(got);
	for (int i = 0; i < 2; i++) {
		close(slow.asked[i]);
		close(slow.go[i]);
	}
	daemon_client_free(&k);
	trial_cache_free(&shelf);
}

/* Fonts are kept until the end. */
static int let_go(void **state)
{
	plot_shutdown();
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_listening),
		cmocka_unit_test(test_request_heads),
		cmocka_unit_test(test_evicted_connection),
		cmocka_unit_test(test_running_of_user),
		cmocka_unit_test(test_reserved_threads),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_other_sites),
		cmocka_unit_test(test_readers_of_other_sites),
		cmocka_unit_test(test_control_needs_the_header),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_sign_in),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_without_a_daemon),
		cmocka_unit_test(test_incomplete_answers),
		cmocka_unit_test(test_markup),
		cmocka_unit_test(test_files_are_known),
		cmocka_unit_test(test_figure_links),
		cmocka_unit_test(test_figure_of_three_objectives),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_large_front),
		cmocka_unit_test(test_large_front_found),
		cmocka_unit_test(test_plain_tables),
		cmocka_unit_test(test_tables_with_gaps),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_growth_of_paths),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_shelf),
		cmocka_unit_test(test_shelf_bytes),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, make_folder, let_go);
}
