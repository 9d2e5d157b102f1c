/* test_control_protocol.c - the control protocol: framing, and the client against servers that
 * are slow, silent, talkative or rude. */
#include "protocol/control/control_protocol.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- framing ---- */

static void test_request_text(void **state)
{
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	dp_control_format_request(&out, "hello", NULL);
	assert_string_equal(out.data, "{\"v\":1,\"do\":\"hello\"}\n");
	dp_buf_clear(&out);
	dp_control_format_request(&out, "status", json_pack("{s:s}", "study", "a\nb"));
	assert_string_equal(out.data, "{\"v\":1,\"do\":\"status\",\"study\":\"a\\nb\"}\n");
	/* fields cannot change what the request is */
	dp_buf_clear(&out);
	dp_control_format_request(&out, "list", json_pack("{s:s, s:i}", "do", "delete", "v", 7));
	assert_string_equal(out.data, "{\"v\":1,\"do\":\"list\"}\n");
	dp_buf_free(&out);
}

static void test_request_round_trip(void **state)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	const char *verb;
	json_t *request;

	(void)state;
	dp_control_format_request(&out, "trials",
				  json_pack("{s:s, s:I, s:f}", "study", "svt", "from",
					    (json_int_t)9007199254740993, "x", 0.1));
	assert_int_equal(dp_control_parse_request(out.data, out.len - 1, &request, &verb, &err),
			 DP_OK);
	assert_string_equal(verb, "trials");
	assert_string_equal(dp_json_str(request, "study", ""), "svt");
	assert_int_equal(dp_json_int(request, "from", 0), 9007199254740993);
	assert_true(json_real_value(json_object_get(request, "x")) == 0.1);
	json_decref(request);
	dp_buf_free(&out);
}

static void test_bad_requests(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{ "", "not JSON" },
		{ "garbage", "not JSON" },
		{ "{\"v\":1,\"do\":\"x\"", "not JSON" },
		{ "{\"v\":1,\"do\":\"x\"} {}", "not JSON" },
		{ "{\"v\":1,\"v\":1,\"do\":\"x\"}", "not JSON" },
		{ "{\"v\":1,\"do\":\"\xff\"}", "not JSON" },
		{ "[1]", "not a JSON object" },
		{ "{}", "no protocol version" },
		{ "{\"do\":\"x\"}", "no protocol version" },
		{ "{\"v\":\"1\",\"do\":\"x\"}", "no protocol version" },
		{ "{\"v\":1.0,\"do\":\"x\"}", "no protocol version" },
		{ "{\"v\":2,\"do\":\"x\"}", "version 2" },
		{ "{\"v\":0,\"do\":\"x\"}", "version 0" },
		{ "{\"v\":-1}", "version -1" },
		{ "{\"v\":1}", "no verb" },
		{ "{\"v\":1,\"do\":7}", "no verb" },
		{ "{\"v\":1,\"do\":\"\"}", "no verb" },
		{ "{\"v\":1,\"do\":null}", "no verb" },
	};
	struct dp_err err;
	const char *verb;
	json_t *request;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_int_equal(dp_control_parse_request(bad[i].line, strlen(bad[i].line),
							  &request, &verb, &err),
				 DP_E_PROTOCOL);
		if (!strstr(err.msg, bad[i].says))
			fail_msg("%s: %s", bad[i].line, err.msg);
	}
	/* an error is not needed to be told one */
	assert_int_equal(dp_control_parse_request("{}", 2, &request, &verb, NULL), DP_E_PROTOCOL);
}

/* A version from the future is refused before anything else is looked at. */
static void test_future_version(void **state)
{
	static const char line[] = "{\"v\":2,\"verb\":{\"new\":true}}";
	struct dp_err err;
	const char *verb;
	json_t *request;

	(void)state;
	assert_int_equal(dp_control_parse_request(line, strlen(line), &request, &verb, &err),
			 DP_E_PROTOCOL);
	assert_non_null(strstr(err.msg, "version 2"));
	assert_non_null(strstr(err.hint, "dparetoctl"));
}

static void test_limits(void **state)
{
	size_t len = DP_CONTROL_REQUEST_MAX + 1;
	char *line = malloc(len);
	struct dp_err err;
	const char *verb;
	json_t *request;

	(void)state;
	assert_non_null(line);
	memset(line, ' ', len);
	memcpy(line, "{\"v\":1,\"do\":\"x\"}", 16);
	assert_int_equal(dp_control_parse_request(line, len, &request, &verb, &err), DP_E_PROTOCOL);
	assert_non_null(strstr(err.msg, "longer"));
	assert_int_equal(dp_control_parse_request(line, len - 1, &request, &verb, &err), DP_OK);
	json_decref(request);
	/* deep nesting must not eat the stack */
	memset(line, '[', len);
	assert_int_equal(dp_control_parse_request(line, len - 1, &request, &verb, &err),
			 DP_E_PROTOCOL);
	free(line);
}

static void test_replies(void **state)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	json_t *ok;

	(void)state;
	dp_control_format_ok(&out, json_pack("{s:i}", "n", 3));
	assert_string_equal(out.data, "{\"v\":1,\"ok\":{\"n\":3}}\n");
	assert_int_equal(dp_control_parse_reply(out.data, out.len - 1, &ok, &err), DP_OK);
	assert_int_equal(dp_json_int(ok, "n", 0), 3);
	assert_null(json_object_get(ok, "unsaved"));
	json_decref(ok);
	dp_control_mark_unsaved(&out, 24.5);
	assert_string_equal(out.data, "{\"v\":1,\"ok\":{\"n\":3},\"unsaved\":24.5}\n");
	assert_int_equal(dp_control_parse_reply(out.data, out.len - 1, &ok, &err), DP_OK);
	assert_true(json_number_value(json_object_get(ok, "unsaved")) == 24.5);
	json_decref(ok);
	dp_buf_clear(&out);
	dp_control_format_ok(&out, NULL); /* made of text that is not UTF-8 */
	assert_int_equal(out.len, 0);
	dp_buf_free(&out);
}

/* Every kind of error comes out as it went in, with its exit code. */
static void test_errors_round_trip(void **state)
{
	(void)state;
	for (int code = DP_E_FAILED; code <= DP_E_INTERRUPTED; code++) {
		struct dp_buf out = DP_BUF_INIT;
		struct dp_err sent, got;
		json_t *ok;

		dp_fail(&sent, code, "sentence %d \"quoted\"", code);
		if (code % 2)
			dp_hint(&sent, "do this");
		dp_control_format_error(&out, &sent);
		assert_int_equal(dp_control_parse_reply(out.data, out.len - 1, &ok, &got), code);
		assert_int_equal(got.code, code);
		assert_string_equal(got.msg, sent.msg);
		assert_string_equal(got.hint, sent.hint);
		dp_buf_free(&out);
	}
}

/* Text that is not UTF-8 (a cut path in a hint) must not swallow the error. */
static void test_error_not_utf8(void **state)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err sent, got;
	json_t *ok;

	(void)state;
	dp_fail(&sent, DP_E_NOT_FOUND, "plain");
	dp_hint(&sent, "cut \xc3");
	dp_control_format_error(&out, &sent);
	assert_int_equal(dp_control_parse_reply(out.data, out.len - 1, &ok, &got), DP_E_NOT_FOUND);
	assert_string_equal(got.msg, "plain");
	dp_buf_clear(&out);
	dp_fail(&sent, DP_E_NOT_FOUND, "bad \xff");
	dp_control_format_error(&out, &sent);
	assert_int_equal(dp_control_parse_reply(out.data, out.len - 1, &ok, &got), DP_E_NOT_FOUND);
	assert_string_equal(got.msg, dp_code_text(DP_E_NOT_FOUND));
	dp_buf_free(&out);
}

static void test_bad_replies(void **state)
{
	static const char *const bad[] = {
		"",
		"{\"v\":1}",
		"{\"v\":1,\"ok\":3}",
		"{\"v\":1,\"ok\":null}",
		"{\"v\":1,\"error\":\"x\"}",
		"{\"v\":1,\"ok\":{},\"error\":{\"kind\":\"failed\"}}",
		"{\"v\":9,\"ok\":{}}",
		"{\"ok\":{}}",
		"{\"v\":1,\"error\":{\"kind\":\"ok\",\"message\":\"m\"}}",
	};
	struct dp_err err;
	json_t *ok;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		assert_int_equal(dp_control_parse_reply(bad[i], strlen(bad[i]), &ok, &err),
				 DP_E_PROTOCOL);
		assert_int_equal(err.code, DP_E_PROTOCOL);
		assert_int_equal(dp_control_parse_reply(bad[i], strlen(bad[i]), &ok, NULL),
				 DP_E_PROTOCOL);
	}
	/* an unknown kind is a failure like any other */
	assert_int_equal(
		dp_control_parse_reply("{\"v\":1,\"error\":{\"kind\":\"new\"}}", 30, &ok, &err),
		DP_E_FAILED);
	/* and one without a word gets the words of its kind */
	assert_int_equal(
		dp_control_parse_reply("{\"v\":1,\"error\":{\"kind\":\"busy\",\"message\":\"\"}}",
				       44, &ok, &err),
		DP_E_BUSY);
	assert_string_equal(err.msg, dp_code_text(DP_E_BUSY));
}

/* ---- the client ---- */

enum {
	PATIENCE_MS = 300 * 1000, /* for what comes, however busy the machine is */
};

/* A server thread on the other end of a socket pair: reads requests line by line and
 * plays a part. It is not on the stack of a test, which may fail and be gone while the
 * thread still looks at it. */
static struct server {
	int fd;
	void (*play)(struct server *s);
	pthread_t thread;
	bool running;
	struct dp_client *client; /* of this server, until finish() */
	char bytes[65536];        /* read and not looked at yet: */
	size_t at, end;
	char seen[8][256]; /* the lines it got, cut */
	int nseen;
	pthread_t caller;
	bool returned; /* the interrupted call */
} server;

static bool read_byte(struct server *s, char *c)
{
	if (s->at == s->end) {
		ssize_t n = read(s->fd, s->bytes, sizeof s->bytes);

		if (n <= 0)
			return false;
		s->at = 0;
		s->end = (size_t)n;
	}
	*c = s->bytes[s->at++];
	return true;
}

static bool read_line(struct server *s)
{
	char *line = s->seen[s->nseen % 8];
	size_t n = 0;
	char c;

	while (read_byte(s, &c)) {
		if (c == '\n') {
			line[n] = '\0';
			s->nseen++;
			return true;
		}
		if (n + 1 < sizeof s->seen[0])
			line[n++] = c;
	}
	return false;
}

static void say(struct server *s, const char *text)
{
	if (send(s->fd, text, strlen(text), MSG_NOSIGNAL) < 0) {
		/* the client is gone; its test will tell */
	}
}

static void nap(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static void *scheduler_serve_study(void *arg)
{
	struct server *s = arg;

	s->play(s);
	close(s->fd);
	return NULL;
}

static struct dp_client *start(void (*play)(struct server *s))
{
	int pair[2];

	memset(&server, 0, sizeof server);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	server.fd = pair[1];
	server.play = play;
	server.caller = pthread_self();
	server.client = dp_client_from_fd(pair[0]);
	assert_non_null(server.client);
	assert_int_equal(pthread_create(&server.thread, NULL, scheduler_serve_study, &server), 0);
	server.running = true;
	return server.client;
}

static void wait_for_server(void)
{
	if (server.running)
		pthread_join(server.thread, NULL);
	server.running = false;
}

/* Closes the client, whereupon the server ends. */
static void finish(void)
{
	dp_client_close(server.client);
	server.client = NULL;
	__atomic_store_n(&server.returned, true, __ATOMIC_SEQ_CST);
	wait_for_server();
}

/* After every test with a server, also one that failed before its finish(). */
static int end_server(void **state)
{
	(void)state;
	finish();
	return 0;
}

static void play_echo(struct server *s)
{
	while (read_line(s))
		say(s, "{\"v\":1,\"ok\":{\"yes\":true}}\n");
}

static void test_call(void **state)
{
	struct dp_client *c = start(play_echo);
	struct dp_err err;
	json_t *ok;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(dp_client_call(c, "list", json_pack("{s:i}", "i", i), PATIENCE_MS,
						&ok, &err),
				 DP_OK);
		assert_true(dp_json_bool(ok, "yes", false));
		json_decref(ok);
	}
	finish();
	assert_int_equal(server.nseen, 3);
	assert_string_equal(server.seen[2], "{\"v\":1,\"do\":\"list\",\"i\":2}");
}

/* A reply in small pieces, and the next reply already behind it. */
static void play_pieces(struct server *s)
{
	static const char text[] = "{\"v\":1,\"ok\":{\"n\":1}}\n{\"v\":1,\"ok\":{\"n\":2}}\n";

	read_line(s);
	for (size_t i = 0; i < sizeof text - 1; i++) {
		char piece[2] = { text[i], '\0' };

		say(s, piece);
		if (i % 7 == 0)
			nap(1);
	}
	read_line(s);
	read_line(s);
}

static void test_pieces(void **state)
{
	struct dp_client *c = start(play_pieces);
	struct dp_err err;
	json_t *ok;

	(void)state;
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(dp_client_call(c, "list", NULL, PATIENCE_MS, &ok, &err), DP_OK);
		assert_int_equal(dp_json_int(ok, "n", 0), i);
		json_decref(ok);
	}
	finish();
}

/* Requests and replies far larger than a socket takes at once. */
static void play_large(struct server *s)
{
	enum {
		N = 3 << 20
	};
	char *text = malloc(N + 64);

	nap(20);
	read_line(s);
	strcpy(text, "{\"v\":1,\"ok\":{\"t\":\"");
	memset(text + strlen(text), 'y', N);
	strcpy(text + 18 + N, "\"}}\n");
	for (size_t at = 0, all = strlen(text); at < all;) {
		ssize_t n = send(s->fd, text + at, all - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	free(text);
	read_line(s);
}

static void test_large(void **state)
{
	struct dp_client *c = start(play_large);
	char *text = malloc((2 << 20) + 1);
	struct dp_err err;
	json_t *ok;

	(void)state;
	memset(text, 'x', 2 << 20);
	text[2 << 20] = '\0';
	assert_int_equal(dp_client_call(c, "submit", json_pack("{s:s}", "text", text), PATIENCE_MS,
					&ok, &err),
			 DP_OK);
	assert_int_equal(json_string_length(json_object_get(ok, "t")), 3 << 20);
	json_decref(ok);
	free(text);
	finish();
}

static void test_request_too_long(void **state)
{
	struct dp_client *c = start(play_echo);
	char *text = malloc(DP_CONTROL_REQUEST_MAX + 1);
	struct dp_err err;
	json_t *ok;

	(void)state;
	memset(text, 'x', DP_CONTROL_REQUEST_MAX);
	text[DP_CONTROL_REQUEST_MAX] = '\0';
	assert_int_equal(dp_client_call(c, "submit", json_pack("{s:s}", "text", text), PATIENCE_MS,
					&ok, &err),
			 DP_E_LIMIT);
	free(text);
	/* nothing of it was sent: the next call is undisturbed */
	assert_int_equal(dp_client_call(c, "list", NULL, PATIENCE_MS, &ok, &err), DP_OK);
	json_decref(ok);
	finish();
	assert_int_equal(server.nseen, 1);
	assert_string_equal(server.seen[0], "{\"v\":1,\"do\":\"list\"}");
}

static void play_error(struct server *s)
{
	read_line(s);
	say(s, "{\"v\":1,\"error\":{\"code\":5,\"kind\":\"not-found\",\"message\":\"no "
	       "study\",\"hint\":\"list\",\"new\":1}}\n");
	read_line(s);
	say(s, "what?\n");
	read_line(s);
}

static void test_error_reply(void **state)
{
	struct dp_client *c = start(play_error);
	struct dp_err err;
	json_t *ok;

	(void)state;
	assert_int_equal(dp_client_call(c, "status", NULL, PATIENCE_MS, &ok, &err), DP_E_NOT_FOUND);
	assert_string_equal(err.msg, "no study");
	assert_string_equal(err.hint, "list");
	assert_int_equal(dp_client_call(c, "status", NULL, PATIENCE_MS, &ok, &err), DP_E_PROTOCOL);
	finish();
}

static void play_half(struct server *s)
{
	read_line(s);
	say(s, "{\"v\":1,\"ok\":{");
}

static void test_half_reply(void **state)
{
	struct dp_client *c = start(play_half);
	struct dp_err err;
	json_t *ok;

	(void)state;
	assert_int_equal(dp_client_call(c, "list", NULL, PATIENCE_MS, &ok, &err), DP_E_NO_DAEMON);
	assert_non_null(strstr(err.msg, "went away"));
	/* and again: writing to a closed socket must not end the process */
	assert_int_equal(dp_client_call(c, "list", NULL, PATIENCE_MS, &ok, &err), DP_E_NO_DAEMON);
	finish();
}

/* A refusal that is sent before the request is read, as to a stranger. */
static void play_refuse(struct server *s)
{
	say(s, "{\"v\":1,\"error\":{\"kind\":\"not-permitted\",\"message\":\"no\"}}\n");
}

static void test_refused(void **state)
{
	struct dp_client *c = start(play_refuse);
	struct dp_err err;
	json_t *ok;

	(void)state;
	wait_for_server();
	assert_int_equal(dp_client_call(c, "list", NULL, PATIENCE_MS, &ok, &err), DP_E_DENIED);
	finish();
}

static void play_silent(struct server *s)
{
	while (read_line(s))
		continue;
}

static void test_timeout(void **state)
{
	struct dp_client *c = start(play_silent);
	int64_t began = dp_monotonic_us(), took;
	struct dp_err err;
	json_t *ok;

	(void)state;
	assert_int_equal(dp_client_call(c, "list", NULL, 50, &ok, &err), DP_E_TIMEOUT);
	took = dp_monotonic_us() - began;
	assert_true(took >= 50000 && took < PATIENCE_MS * INT64_C(1000));
	assert_non_null(strstr(err.msg, "0.050 s"));
	finish();
}

/* The reply to a call that was given up on comes late, and is not taken for the reply
 * to the next one. */
static void play_late(struct server *s)
{
	read_line(s);
	read_line(s);
	say(s, "{\"v\":1,\"ok\":{\"n\":1}}\n");
	nap(5);
	say(s, "{\"v\":1,\"ok\":{\"n\":2}}\n");
	read_line(s);
	say(s, "{\"v\":1,\"ok\":{\"n\":3}}\n");
	read_line(s);
}

static void test_late_reply(void **state)
{
	struct dp_client *c = start(play_late);
	struct dp_err err;
	json_t *ok;

	(void)state;
	assert_int_equal(dp_client_call(c, "one", NULL, 20, &ok, &err), DP_E_TIMEOUT);
	for (int i = 2; i <= 3; i++) {
		assert_int_equal(dp_client_call(c, "more", NULL, PATIENCE_MS, &ok, &err), DP_OK);
		assert_int_equal(dp_json_int(ok, "n", 0), i);
		json_decref(ok);
	}
	finish();
}

static void on_signal(int number)
{
	(void)number;
}

/* Until the call has returned: the first signal may come before it waits. */
static void play_signal(struct server *s)
{
	read_line(s);
	while (!__atomic_load_n(&s->returned, __ATOMIC_SEQ_CST)) {
		pthread_kill(s->caller, SIGUSR1);
		nap(5);
	}
	read_line(s);
	say(s, "{\"v\":1,\"ok\":{\"n\":1}}\n{\"v\":1,\"ok\":{\"n\":2}}\n");
	read_line(s);
}

static void test_interrupted(void **state)
{
	struct sigaction action = { .sa_handler = on_signal }, old;
	struct dp_client *c;
	struct dp_err err;
	sigset_t usr1;
	json_t *ok;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &action, &old);
	c = start(play_signal);
	assert_int_equal(dp_client_call(c, "one", NULL, -1, &ok, &err), DP_E_INTERRUPTED);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL); /* those on their way are too late */
	__atomic_store_n(&server.returned, true, __ATOMIC_SEQ_CST);
	assert_int_equal(dp_client_call(c, "two", NULL, PATIENCE_MS, &ok, &err), DP_OK);
	assert_int_equal(dp_json_int(ok, "n", 0), 2);
	json_decref(ok);
	finish();
	pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
	sigaction(SIGUSR1, &old, NULL);
}

/* ---- connecting ---- */

static char *folder;

static int make_folder(void **state)
{
	const char *base = getenv("TMPDIR");
	struct dp_buf path = DP_BUF_INIT;

	(void)state;
	dp_buf_printf(&path, "%s/dpwireXXXXXX", base ? base : "/tmp");
	folder = dp_buf_detach(&path);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	struct dp_err err;
	int code = dp_remove_tree(folder, &err);

	(void)state;
	free(folder);
	return code;
}

static int end_server_and_folder(void **state)
{
	finish();
	return remove_folder(state);
}

static int listen_socket_open(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(fd, 4), 0);
	return fd;
}

static void test_open(void **state)
{
	char *path = dp_path_join(folder, "sock");
	struct dp_client *c = NULL;
	struct dp_err err;
	int fd;

	(void)state;
	assert_int_equal(dp_client_open(path, &c, &err), DP_E_NO_DAEMON);
	assert_non_null(strstr(err.msg, "no daemon is running (no socket at "));
	assert_non_null(strstr(err.msg, path));
	assert_non_null(strstr(err.hint, "dparetoctl run FILE"));
	assert_null(c);
	fd = listen_socket_open(path);
	assert_int_equal(dp_client_open(path, &c, &err), DP_OK);
	dp_client_close(c);
	close(fd);
	/* the file is there, but nobody behind it */
	assert_int_equal(dp_client_open(path, &c, &err), DP_E_NO_DAEMON);
	assert_int_equal(dp_code_exit(err.code), 3);
	free(path);
}

/* server.fd listens here. */
static void play_one_connection(struct server *s)
{
	int listener = s->fd;

	s->fd = accept(listener, NULL, NULL);
	close(listener);
	play_echo(s);
}

/* The daemon hangs up on those who ask nothing; the next question finds it again. A
 * daemon that has gone is told as such. */
static void test_connects_again(void **state)
{
	char *path = dp_path_join(folder, "again");
	struct dp_err err;
	json_t *ok;

	(void)state;
	memset(&server, 0, sizeof server);
	server.fd = listen_socket_open(path);
	assert_int_equal(dp_client_open(path, &server.client, &err), DP_OK);
	close(accept(server.fd, NULL, NULL));
	server.play = play_one_connection;
	assert_int_equal(pthread_create(&server.thread, NULL, scheduler_serve_study, &server), 0);
	server.running = true;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			dp_client_call(server.client, "hello", NULL, PATIENCE_MS, &ok, &err),
			DP_OK);
		json_decref(ok);
	}
	shutdown(server.fd, SHUT_RDWR);
	wait_for_server();
	assert_int_equal(server.nseen, 2);
	assert_int_equal(dp_client_call(server.client, "hello", NULL, PATIENCE_MS, &ok, &err),
			 DP_E_NO_DAEMON);
	free(path);
}

static void test_long_path(void **state)
{
	char path[DP_CONTROL_SOCKET_PATH_MAX + 2];
	struct dp_client *c;
	struct dp_err err;

	(void)state;
	memset(path, 'a', sizeof path);
	path[0] = '/';
	path[DP_CONTROL_SOCKET_PATH_MAX] = '\0';
	assert_int_equal(dp_client_open(path, &c, &err), DP_E_NO_DAEMON);
	path[DP_CONTROL_SOCKET_PATH_MAX] = 'a';
	path[DP_CONTROL_SOCKET_PATH_MAX + 1] = '\0';
	assert_int_equal(dp_client_open(path, &c, &err), DP_E_LIMIT);
	assert_non_null(strstr(err.msg, "108"));
	assert_non_null(strstr(err.hint, "--socket"));
}

/* As root the test becomes nobody, of no group, because nothing is denied to root. */
static int open_as_other(const char *path, struct dp_err *err)
{
	struct dp_client *c = NULL;
	bool root = geteuid() == 0;
	gid_t groups[256], gid = getegid();
	int code, ngroups = getgroups(256, groups);

	if (root) {
		assert_true(ngroups >= 0);
		assert_int_equal(setgroups(0, NULL), 0);
		assert_int_equal(setegid(65534), 0);
		assert_int_equal(seteuid(65534), 0);
	}
	code = dp_client_open(path, &c, err);
	if (root) {
		assert_int_equal(seteuid(0), 0);
		assert_int_equal(setegid(gid), 0);
		assert_int_equal(setgroups((size_t)ngroups, groups), 0);
	}
	dp_client_close(c);
	return code;
}

static void test_denied(void **state)
{
	char *path = dp_path_join(folder, "shut");
	struct dp_err err;
	int fd = listen_socket_open(path);

	(void)state;
	/* the socket itself */
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(open_as_other(path, &err), DP_E_DENIED);
	assert_int_equal(dp_code_exit(err.code), 4);
	assert_non_null(strstr(err.msg, "alone; you are user "));
	/* for a group, too */
	assert_int_equal(chmod(path, geteuid() == 0 ? 0660 : 0060), 0);
	assert_int_equal(open_as_other(path, &err), DP_E_DENIED);
	assert_non_null(strstr(err.msg, " and group "));
	assert_non_null(strstr(err.hint, "join the group "));
	/* a folder that hides it */
	assert_int_equal(chmod(folder, 0), 0);
	assert_int_equal(open_as_other(path, &err), DP_E_DENIED);
	assert_non_null(strstr(err.msg, "you are user "));
	assert_int_equal(chmod(folder, 0700), 0);
	close(fd);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_text),
		cmocka_unit_test(test_request_round_trip),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_future_version),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_replies),
		cmocka_unit_test(test_errors_round_trip),
		cmocka_unit_test(test_error_not_utf8),
		cmocka_unit_test(test_bad_replies),
		cmocka_unit_test_teardown(test_call, end_server),
		cmocka_unit_test_teardown(test_pieces, end_server),
		cmocka_unit_test_teardown(test_large, end_server),
		cmocka_unit_test_teardown(test_request_too_long, end_server),
		cmocka_unit_test_teardown(test_error_reply, end_server),
		cmocka_unit_test_teardown(test_half_reply, end_server),
		cmocka_unit_test_teardown(test_refused, end_server),
		cmocka_unit_test_teardown(test_timeout, end_server),
		cmocka_unit_test_teardown(test_late_reply, end_server),
		cmocka_unit_test_teardown(test_interrupted, end_server),
		cmocka_unit_test_setup_teardown(test_open, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_connects_again, make_folder,
						end_server_and_folder),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test_setup_teardown(test_denied, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
