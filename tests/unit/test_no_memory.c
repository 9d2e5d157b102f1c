/* test_no_memory.c - base, the trainer protocol and the control protocol when memory
 * ends: at every allocation in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "failing_malloc.h"
#include "folder.h"
#include "protocol/trainer/trainer_protocol.h"
#include "protocol/control/control_protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- base ---- */

static int fill_buffer(void *arg)
{
	struct dp_buf b = DP_BUF_INIT;
	bool failed;

	(void)arg;
	for (int i = 0; i < 300; i++)
		dp_buf_printf(&b, "%d %s ", i, "and a longer text than before");
	dp_buf_puts(&b, "x");
	failed = b.failed;
	if (!failed)
		assert_int_equal(b.len, strlen(b.data));
	assert_int_equal(dp_buf_text(&b)[b.len], '\0');
	dp_buf_clear(&b);
	dp_buf_free(&b);
	return failed ? DP_E_NOMEM : DP_OK;
}

static int read_json(void *arg)
{
	static const char text[] = "{\"a\":[1,2.5,\"inf\",null,true],\"b\":{\"c\":\"\\u00e9\"}}";
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	json_t *v;
	int code = dp_json_parse(text, strlen(text), &v, &err);

	(void)arg;
	if (code != DP_OK)
		return code;
	dp_json_dump(&out, v, 0);
	code = out.failed ? DP_E_NOMEM : DP_OK;
	if (!out.failed)
		assert_string_equal(out.data, "{\"a\":[1,2.5,\"inf\",null,true],"
					      "\"b\":{\"c\":\"\303\251\"}}");
	json_decref(v);
	dp_buf_free(&out);
	return code;
}

static int json_of_error(void *arg)
{
	struct dp_err err, back;
	json_t *v;

	(void)arg;
	dp_fail(&err, DP_E_NOT_FOUND, "not here");
	dp_hint(&err, "look there");
	v = dp_json_from_error(&err);
	if (!v)
		return DP_E_NOMEM;
	dp_json_to_error(v, &back);
	assert_int_equal(back.code, DP_E_NOT_FOUND);
	assert_string_equal(back.hint, "look there");
	json_decref(v);
	return DP_OK;
}

/* A file that could not be written leaves the old one, and nothing beside it. */
static int write_and_read(void *arg)
{
	struct dp_buf b = DP_BUF_INIT;
	struct dp_err err;
	char path[64], text[64];
	int code;

	(void)arg;
	snprintf(path, sizeof path, "%s/file", folder);
	memory_is_fine();
	assert_int_equal(dp_write_file(path, "old", 3, false, &err), DP_OK);
	memory_is_short_again();
	code = dp_write_file(path, "new!", 4, false, &err);
	snprintf(text, sizeof text, "%s", code == DP_OK ? "new!" : "old");
	if (code == DP_OK)
		code = dp_read_file(path, 100, &b, &err);
	if (code == DP_OK)
		assert_string_equal(b.data, text);
	dp_buf_free(&b);
	memory_is_fine();
	assert_int_equal(dp_read_file(path, 100, &b, &err), DP_OK);
	assert_string_equal(b.data, text);
	dp_buf_free(&b);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* it was empty */
	assert_int_equal(dp_mkdirs(folder, 0700, &err), DP_OK);
	memory_is_short_again();
	return code;
}

static int make_and_remove(void *arg)
{
	struct dp_err err;
	char path[64];
	int code;

	(void)arg;
	snprintf(path, sizeof path, "%s/a/b/c", folder);
	code = dp_mkdirs(path, 0700, &err);
	snprintf(path, sizeof path, "%s/a", folder);
	if (code == DP_OK)
		code = dp_remove_tree(path, &err);
	if (code == DP_OK)
		assert_int_equal(access(path, F_OK), -1);
	memory_is_fine();
	assert_int_equal(dp_remove_tree(path, &err), DP_OK);
	memory_is_short_again();
	return code;
}

static int make_paths(void *arg)
{
	char *made[] = { dp_path_join("a", "b"),    dp_path_dir_absolute("/tmp/x"),
			 dp_path_dir_absolute("x"), dp_default_state_dir(),
			 dp_default_socket_path(),  dp_user_dir("XDG_CACHE_HOME", ".cache") };
	int code = DP_OK;

	(void)arg;
	for (size_t i = 0; i < DP_COUNT(made); i++) {
		if (!made[i])
			code = DP_E_NOMEM;
		free(made[i]);
	}
	return code;
}

static void test_base(void **state)
{
	(void)state;
	setenv("HOME", "/tmp", 1);
	with_little_memory(fill_buffer, NULL);
	with_little_memory(read_json, NULL);
	with_little_memory(json_of_error, NULL);
	with_little_memory(write_and_read, NULL);
	with_little_memory(make_and_remove, NULL);
	with_little_memory(make_paths, NULL);
}

/* ---- the trainer protocol ---- */

static int request_and_back(void *arg)
{
	uint32_t runs[] = { 0, 1 };
	uint64_t seeds[] = { 7, 8 };
	double waypoints[] = { 1, 4 };
	struct dp_trainer_request q = { .study = (char *)"s",
					.trial = 3,
					.nruns = 2,
					.runs = runs,
					.seeds = seeds,
					.path_parameter = (char *)"n",
					.checkpoints = waypoints,
					.ncheckpoints = 2 },
				  back = { 0 };
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	q.parameters = json_pack("{s:i, s:f}", "n", 5, "x", 0.25);
	memory_is_short_again();
	dp_trainer_request_format(&q, &text);
	code = text.failed ? DP_E_NOMEM
			   : dp_trainer_request_parse(text.data, text.len, &back, &err);
	if (code == DP_OK) {
		assert_string_equal(back.study, "s");
		assert_int_equal(back.seeds[1], 8);
		assert_int_equal(json_object_size(back.parameters), 2);
		dp_trainer_request_clear(&back);
	}
	json_decref(q.parameters);
	dp_buf_free(&text);
	return code;
}

static const char result_lines[] =
	"{\"declare\":{\"sampling\":\"poisson\",\"records\":100,\"lot\":10,\"steps\":5}}"
	"\n"
	"{\"progress\":0.5}\n"
	"{\"run\":0,\"at\":4,\"metrics\":{\"a\":1}}\n"
	"{\"run\":0,\"metrics\":{\"a\":1,\"b\":2}}\n"
	"{\"run\":1,\"metrics\":{\"a\":3,\"b\":\"inf\",\"c\":4}}\n"
	"{\"done\":true}";

/* A reader that lost something says so, and its attempt is no success; nor is it the
 * trainer's mistake. */
static int read_result(void *arg)
{
	static const char *const needed[] = { "a", "c", NULL };
	const struct dp_exit_record ended = { .kind = DP_EXIT_CODE };
	static const uint32_t runs[] = { 0, 1 };
	struct dp_result_reader *r = dp_result_reader_new(runs, 2);
	char why[200];
	double x;

	(void)arg;
	if (!r)
		return DP_E_NOMEM;
	if (!dp_result_reader_set_checkpoints(r, (const double[]){ 2, 4 }, 2)) {
		dp_result_reader_free(r);
		return DP_E_NOMEM;
	}
	for (size_t at = 0; at < sizeof result_lines - 1; at += 13)
		dp_result_reader_feed(
			r, result_lines + at,
			sizeof result_lines - 1 - at < 13 ? sizeof result_lines - 1 - at : 13);
	dp_result_reader_finish(r);
	if (dp_result_reader_problem(r)) {
		assert_int_equal(dp_trainer_classify_end(&ended, r, needed, false, why, sizeof why),
				 DP_END_LOST);
		if (!strstr(dp_result_reader_problem(r), "memory"))
			fail_msg("'%s'", dp_result_reader_problem(r));
		dp_result_reader_free(r);
		return DP_E_NOMEM;
	}
	assert_true(dp_result_reader_is_done(r) && dp_result_reader_is_complete(r));
	assert_int_equal(dp_result_reader_count_metrics(r), 3);
	assert_true(
		dp_result_reader_run_value(r, 1, (size_t)dp_result_reader_find_metric(r, "c"), &x));
	assert_true(x == 4);
	assert_string_equal(dp_result_reader_declaration(r)->sampling, "poisson");
	dp_result_reader_free(r);
	return DP_OK;
}

/* A line is written whole or not at all. */
static int report_lines(void *arg)
{
	int fd = *(int *)arg, code;
	struct dp_err err;
	json_t *metrics;
	char text[256];
	ssize_t n;

	memory_is_fine();
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	metrics = json_pack("{s:f}", "a", 0.5);
	memory_is_short_again();
	code = dp_trainer_report_declaration(fd, metrics, &err);
	if (code == DP_OK)
		code = dp_trainer_report_progress(fd, 0.5, &err);
	if (code == DP_OK)
		code = dp_trainer_report_run(fd, 0, metrics, &err);
	if (code == DP_OK)
		code = dp_trainer_report_done(fd, &err);
	n = pread(fd, text, sizeof text, 0);
	assert_true(n == 0 || text[n - 1] == '\n');
	json_decref(metrics);
	return code;
}

static void test_trial(void **state)
{
	FILE *f = tmpfile();
	int fd = fileno(f);

	(void)state;
	with_little_memory(request_and_back, NULL);
	with_little_memory(read_result, NULL);
	with_little_memory(report_lines, &fd);
	fclose(f);
}

/* ---- the control protocol ---- */

static int request_line(void *arg)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *fields, *request;
	const char *verb;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	fields = json_pack("{s:s}", "study", "s");
	memory_is_short_again();
	dp_control_format_request(&out, "status", fields);
	code = out.failed ? DP_E_NOMEM
			  : dp_control_parse_request(out.data, out.len - 1, &request, &verb, &err);
	if (code == DP_OK) {
		assert_string_equal(verb, "status");
		json_decref(request);
	}
	dp_buf_free(&out);
	return code;
}

static int reply_line(void *arg)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *ok, *back;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	ok = json_pack("{s:i}", "n", 1);
	memory_is_short_again();
	dp_control_format_ok(&out, ok);
	code = out.failed ? DP_E_NOMEM : dp_control_parse_reply(out.data, out.len - 1, &back, &err);
	if (code == DP_OK) {
		assert_int_equal(dp_json_int(back, "n", 0), 1);
		json_decref(back);
	}
	dp_buf_free(&out);
	return code;
}

/* The error that was sent, or that memory ended; never another one. */
static int error_line(void *arg)
{
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err sent, err;
	json_t *back;
	int code;

	(void)arg;
	dp_fail(&sent, DP_E_BUSY, "later");
	dp_control_format_error(&out, &sent);
	code = out.failed ? DP_E_NOMEM : dp_control_parse_reply(out.data, out.len - 1, &back, &err);
	dp_buf_free(&out);
	return code == DP_E_BUSY ? DP_OK : code;
}

/* After a call that memory ended, the connection still knows which reply is whose. */
static int two_calls(void *arg)
{
	static const char replies[] = "{\"v\":1,\"ok\":{\"n\":1}}\n{\"v\":1,\"ok\":{\"n\":2}}\n";
	struct dp_client *c;
	struct dp_err err;
	int pair[2], code = DP_OK;
	json_t *ok;

	(void)arg;
	memory_is_fine();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	memory_is_short_again();
	c = dp_client_from_fd(pair[0]);
	if (!c) {
		close(pair[0]);
		close(pair[1]);
		return DP_E_NOMEM;
	}
	assert_int_equal(write(pair[1], replies, strlen(replies)), strlen(replies));
	for (int n = 1; n <= 2 && code == DP_OK; n++) {
		code = dp_client_call(c, "list", NULL, 60000, &ok, &err);
		if (code == DP_OK) {
			assert_int_equal(dp_json_int(ok, "n", 0), n);
			json_decref(ok);
		}
	}
	dp_client_close(c);
	close(pair[1]);
	return code;
}

static void test_wire(void **state)
{
	(void)state;
	with_little_memory(request_line, NULL);
	with_little_memory(reply_line, NULL);
	with_little_memory(error_line, NULL);
	with_little_memory(two_calls, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_base, plenty_of_memory),
		cmocka_unit_test_setup(test_trial, plenty_of_memory),
		cmocka_unit_test_setup(test_wire, plenty_of_memory),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
