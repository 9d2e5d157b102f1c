/* test_change_feed.c - `changes` without a study: who waits for any of them hears of every
 * change once and in order, of what was deleted, and is told all where it must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/support/fake_daemon.h"

static json_t *ok;
static struct dp_err err;
static json_int_t since; /* what the last answer said */

static int setup(void **s)
{
	ok = NULL;
	since = 0;
	return fake_setup(s);
}

static int teardown(void **s)
{
	json_decref(ok);
	return fake_teardown(s);
}

static json_t *from(json_int_t revision, int timeout_ms)
{
	return json_pack("{s:I, s:i}", "since", revision, "timeout_ms", timeout_ms);
}

/* Its answer, and what to ask with next. */
static void hear(void)
{
	json_decref(ok);
	assert_int_equal(fake_reply(&ok, &err), DP_OK);
	assert_true(json_integer_value(json_object_get(ok, "revision")) >= since ||
		    json_is_true(json_object_get(ok, "whole")));
	since = json_integer_value(json_object_get(ok, "revision"));
}

static void ask_since(json_int_t revision)
{
	fake_send("changes", from(revision, 0));
	hear();
}

static void wait_for_news(void)
{
	fake_send("changes", from(since, 60000));
	for (int i = 0; i < 30; i++)
		fake_turn();
	assert_false(fake_readable());
}

static size_t told(void)
{
	return json_array_size(json_object_get(ok, "studies"));
}

static bool is(const char *key)
{
	return json_is_true(json_object_get(ok, key));
}

/* Row i of the answer; version 0: it was deleted. */
static void assert_told(size_t i, const char *name, json_int_t version)
{
	const json_t *row = json_array_get(json_object_get(ok, "studies"), i),
		     *number = json_object_get(row, "version");

	assert_string_equal(dp_json_str(row, "study", "none"), name);
	assert_int_equal(json_integer_value(number), version);
	assert_true(version > 0 ? json_is_integer(number) : json_is_null(number));
}

static void submit_paused(const char *name)
{
	char contents[400];

	snprintf(contents, sizeof contents,
		 "study: %s\nseed: 1\ntrainer: {command: [x]}\n"
		 "parameters: {x: {type: float, range: [0, 1]}}\n"
		 "objectives: {a: {metric: f1}, b: {metric: b}}\n"
		 "anti_ideal: {a: 1, b: 1}\nsearch: {method: random, evaluations: 9}\n",
		 name);
	fake_send("submit",
		  json_pack("{s:s, s:s, s:b}", "text", contents, "dir", "/", "paused", 1));
}

static void add_paused(const char *name)
{
	json_t *reply;

	submit_paused(name);
	assert_int_equal(fake_reply(&reply, &err), DP_OK);
	json_decref(reply);
}

static json_t *of(const char *study)
{
	return json_pack("{s:s}", "study", study);
}

/* Another client does something while ours waits. */
static void meanwhile(const char *verb, const char *study)
{
	struct dp_buf line = DP_BUF_INIT;
	struct pollfd answered = { .events = POLLIN };
	int other[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	assert_int_equal(server_add_fd(&fake_d, other[1], false, &err), DP_OK);
	dp_control_format_request(&line, verb, of(study));
	assert_int_equal(dp_write_all(other[0], line.data, line.len), 0);
	dp_buf_free(&line);
	answered.fd = other[0];
	FAKE_UNTIL(poll(&answered, 1, 0) == 1);
	FAKE_UNTIL(fake_readable());
	close(other[0]);
}

static void every_change_is_told_once(void **s)
{
	(void)s;
	ask_since(0);
	assert_int_equal(told(), 0);
	assert_true(is("whole"));
	add_paused("a");
	add_paused("b");
	ask_since(since);
	assert_int_equal(told(), 2);
	assert_false(is("whole"));
	assert_told(0, "a", 2);
	assert_told(1, "b", 2);
	assert_int_equal(json_integer_value(json_object_get(ok, "all")), 2);
	ask_since(since);
	assert_int_equal(told(), 0);
	/* the newest change is the last */
	fake_do("set", json_pack("{s:s, s:i}", "study", "a", "priority", 7));
	ask_since(0);
	assert_int_equal(told(), 2);
	assert_told(0, "b", 2);
	assert_told(1, "a", 3);
	wait_for_news();
	meanwhile("stop", "b");
	hear();
	assert_int_equal(told(), 1);
	assert_told(0, "b", 3);
}

static void a_result_is_told(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 1");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	ask_since(0);
	wait_for_news();
	fake_end_ok(&fake_jobs[0], 0.5);
	hear();
	assert_told(0, "a", study->state->next_seq);
}

static void what_was_deleted_is_told(void **s)
{
	(void)s;
	add_paused("a");
	add_paused("b");
	ask_since(0);
	wait_for_news();
	meanwhile("delete", "a");
	hear();
	if (json_integer_value(json_object_get(ok, "all")) == 2) {
		assert_told(0, "a", 3); /* it is being deleted */
		fake_send("changes", from(since, 60000));
		hear();
	}
	assert_int_equal(told(), 1);
	assert_told(0, "a", 0);
	assert_int_equal(json_integer_value(json_object_get(ok, "all")), 1);
	/* another of its name comes after it */
	fake_do("delete", of("b"));
	add_paused("b");
	ask_since(since);
	assert_int_equal(told(), 2);
	assert_told(0, "b", 0);
	assert_told(1, "b", 2);
	assert_false(is("whole"));
}

/* Who has not heard of all deletions is told what there is. */
static void more_deletions_than_are_remembered(void **s)
{
	json_int_t before;
	char name[16];

	(void)s;
	add_paused("stays");
	ask_since(0);
	before = since;
	for (int i = 0; i < CHANGE_FEED_DELETIONS_MAX; i++) {
		snprintf(name, sizeof name, "x%d", i);
		add_paused(name);
		fake_do("delete", of(name));
	}
	ask_since(before);
	assert_int_equal(told(), CHANGE_FEED_DELETIONS_MAX);
	assert_false(is("whole"));
	add_paused("last");
	fake_do("delete", of("last"));
	ask_since(before);
	assert_true(is("whole"));
	assert_int_equal(told(), 1);
	assert_told(0, "stays", 2);
	ask_since(since);
	assert_int_equal(told(), 0);
	assert_false(is("whole"));
}

static void a_revision_of_another_life_or_of_none(void **s)
{
	json_int_t before;

	(void)s;
	add_paused("a");
	ask_since(0);
	before = since;
	fake_stop_daemon();
	fake_start_daemon();
	since = 0;
	ask_since(before);
	assert_true(is("whole"));
	assert_told(0, "a", 2);
	assert_true(since > before);
	ask_since(since + 1);
	assert_true(is("whole"));
	ask_since(-1);
	assert_true(is("whole"));
	ask_since(since);
	assert_false(is("whole"));
}

/* Going on from page to page shows each study, also one that changes meanwhile. */
static void pages(void **s)
{
	enum {
		MANY = 1200,
		AT_ONCE = 100
	};
	size_t seen;
	char name[16];
	json_t *reply;

	(void)s;
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "s%d", i);
		submit_paused(name);
		if ((i + 1) % AT_ONCE)
			continue;
		for (int k = 0; k < AT_ONCE; k++) {
			assert_int_equal(fake_reply(&reply, &err), DP_OK);
			json_decref(reply);
		}
	}
	ask_since(0);
	assert_true(is("whole") && is("more"));
	seen = told();
	assert_in_range(seen, 100, MANY - 1);
	assert_int_equal(json_integer_value(json_object_get(ok, "all")), MANY);
	fake_do("stop", of("s0")); /* was listed, and is again */
	ask_since(since);
	assert_false(is("whole") || is("more"));
	assert_int_equal(told(), MANY - seen + 1);
	assert_told(told() - 1, "s0", 3);
}

/* That a training of a private selection has ended is nobody's business. */
static void a_private_selection_tells_nothing_of_its_trainings(void **s)
{
	struct study *study;
	uint32_t before;

	(void)s;
	fake_do("submit", json_pack("{s:s, s:s}", "dir", "/", "text",
				    "study: p\ntrainer: {command: [x]}\n"
				    "parameters: {x: {type: float, range: [0, 1]}}\n"
				    "objectives: {e: {privacy: {mechanism: gaussian, sigma: 5, "
				    "delta: 1e-5}}, u: {metric: f1, goal: maximize, release: "
				    "{records: 5000, sigma: 1e-3}}}\n"
				    "anti_ideal: {e: 10, u: 0}\n"
				    "search: {method: select, rounds: {poisson: 20}}\n"));
	assert_int_equal(study_find(&fake_d, "p", &study, NULL), DP_OK);
	FAKE_UNTIL(fake_running() == 1);
	ask_since(0);
	before = study->state->next_seq;
	wait_for_news();
	fake_end_ok(&fake_jobs[0], 0.5);
	FAKE_UNTIL(fake_running() == 1 || study->state->status != DP_STUDY_RUNNING);
	assert_true(study->state->next_seq > before);
	if (study->state->status == DP_STUDY_RUNNING) /* chance may end it with the first */
		assert_false(fake_readable());
	meanwhile("stop", "p");
	hear();
	assert_int_equal(told(), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(every_change_is_told_once),
		CASE(a_result_is_told),
		CASE(what_was_deleted_is_told),
		CASE(more_deletions_than_are_remembered),
		CASE(a_revision_of_another_life_or_of_none),
		CASE(pages),
		CASE(a_private_selection_tells_nothing_of_its_trainings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
