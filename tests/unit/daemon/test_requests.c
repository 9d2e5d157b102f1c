/* test_requests.c - the verbs of the control protocol, asked of a daemon in this process
 * whose trainers are played by the test: what each answers, refuses and records, field
 * by field; long polls; answers that come later. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/support/fake_daemon.h"

#include "daemon/api/requests.h"
#include "daemon/api/status_cache.h"
#include "daemon/studies/proposals/proposals.h"
#include "study/accounting.h"

static json_t *ok;
static struct dp_err err;

/* Asks and keeps the answer in `ok`, the error in `err`. */
static int ask(const char *verb, json_t *fields)
{
	json_decref(ok);
	ok = NULL;
	return fake_ask(verb, fields, &ok, &err);
}

static int setup(void **s)
{
	ok = NULL;
	return fake_setup(s);
}

static int teardown(void **s)
{
	json_decref(ok);
	return fake_teardown(s);
}

static json_t *of(const char *study)
{
	return json_pack("{s:s}", "study", study);
}

static json_t *trial_of(const char *study, int trial)
{
	return json_pack("{s:s, s:i}", "study", study, "trial", trial);
}

static const char *text(const char *path, const char *key)
{
	return json_string_value(json_object_get(json_object_get(ok, path), key));
}

static json_int_t number(const char *path, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(ok, path), key));
}

static void finish(struct study *study)
{
	time_t limit = time(NULL) + FAKE_LIMIT_S;

	while (study->state->status == DP_STUDY_RUNNING && time(NULL) < limit) {
		for (unsigned i = 0; i < fake_njobs; i++)
			if (fake_jobs[i].running)
				fake_end_ok(&fake_jobs[i], 0.5);
		fake_turn();
	}
	assert_int_equal(study->state->status, DP_STUDY_FINISHED);
}

/* ---- the protocol itself ---- */

static void what_is_no_verb_or_has_wrong_fields(void **s)
{
	static const struct {
		const char *field;
		const char *sentence;
	} wrong[] = {
		{ "study", "'study' must be a text" },
		{ "text", "'text' must be a text" },
		{ "trial", "'trial' must be a whole number" },
		{ "parameters", "'parameters' must be an object" },
		{ "now", "'now' must be true or false" },
	};

	(void)s;
	assert_int_equal(ask("dance", NULL), DP_E_PROTOCOL);
	assert_string_equal(err.msg, "this daemon does not know 'dance'");
	assert_int_equal(ask("status", of("nobody")), DP_E_NOT_FOUND);
	assert_int_equal(ask("pause", NULL), DP_E_PROTOCOL);
	assert_string_equal(err.msg, "'pause' needs a study");
	for (size_t i = 0; i < DP_COUNT(wrong); i++) {
		assert_int_equal(ask("list", json_pack("{s:[]}", wrong[i].field)), DP_E_PROTOCOL);
		assert_string_equal(err.msg, wrong[i].sentence);
	}
}

static void hello_and_lists(void **s)
{
	(void)s;
	assert_int_equal(ask("hello", NULL), DP_OK);
	assert_int_equal(json_integer_value(json_object_get(ok, "slots")), 4);
	assert_int_equal(json_integer_value(json_object_get(ok, "studies")), 0);
	assert_true(json_is_null(json_object_get(ok, "trouble")));
	fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");
	fake_submit("b", "", "method: grid, grid: 2");
	FAKE_UNTIL(fake_running() == 3);
	assert_int_equal(ask("list", NULL), DP_OK);
	assert_int_equal(json_array_size(json_object_get(ok, "studies")), 2);
	assert_int_equal(ask("status", NULL), DP_OK);
	assert_int_equal(number("daemon", "busy"), 3);
	assert_int_equal(ask("status", of("a")), DP_OK);
	assert_int_equal(json_array_size(json_object_get(ok, "running")), 2);
	assert_string_equal(text("study", "state"), "running");
}

/* A path may be any bytes; JSON has only UTF-8. Every answer comes nevertheless. */
static void folders_that_are_no_utf8(void **s)
{
	char *folder = strdup(fake_d.paths.state_dir);

	(void)s;
	fake_submit("a", ", retries: 0", "method: random, evaluations: 9");
	FAKE_UNTIL(fake_running() == 1);
	fake_end(&fake_jobs[0], NULL, "{\"signal\":9}");
	FAKE_UNTIL(fake_running() == 1);
	fake_d.paths.state_dir[1] = '\xff'; /* as it is shown: nothing more starts */
	assert_int_equal(ask("hello", NULL), DP_OK);
	assert_true(json_is_null(json_object_get(ok, "state_dir")));
	assert_int_equal(ask("status", of("a")), DP_OK);
	assert_int_equal(json_array_size(json_object_get(ok, "failures")), 1);
	assert_true(json_is_null(json_object_get(json_object_get(ok, "study"), "directory")));
	strcpy(fake_d.paths.state_dir, folder);
	free(folder);
}

/* ---- submitting ---- */

static json_t *file(const char *contents)
{
	return json_pack("{s:s, s:s, s:s}", "text", contents, "path", "x.yaml", "dir", "/");
}

/* text with its first `from` replaced by `to`, as a file to submit. */
static json_t *edited(const char *contents, const char *from, const char *to)
{
	const char *at = strstr(contents, from);

	assert_non_null(at);
	return json_pack(
		"{s:o, s:s, s:s}", "text",
		json_sprintf("%.*s%s%s", (int)(at - contents), contents, to, at + strlen(from)),
		"path", "x.yaml", "dir", "/");
}

static void submitting_twice(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9");
	json_t *other;

	(void)s;
	assert_int_equal(ask("submit", file(study->state->text)), DP_OK);
	assert_true(json_is_false(json_object_get(ok, "new")));
	assert_int_equal(number("study", "id"), study->state->id);
	other = file(study->state->text);
	json_object_set_new(other, "text", json_sprintf("%s# a word more\n", study->state->text));
	assert_int_equal(ask("submit", other), DP_OK); /* it means the same */
	assert_true(json_is_false(json_object_get(ok, "new")));
	assert_non_null(strstr(study->state->text, "# a word more"));
	assert_int_equal(ask("submit", edited(study->state->text, "seed: 1", "seed: 77")),
			 DP_E_EXISTS);
	assert_string_equal(err.msg, "there is another study 'a': seed: '1' there, '77' here");
	assert_null(strstr(study->state->text, "77"));
	assert_int_equal(fake_d.studies->n, 1);
	assert_int_equal(ask("submit", json_pack("{s:s}", "text", "x")), DP_E_PROTOCOL);
	assert_int_equal(ask("submit", file("study: [")), DP_E_INVALID);
	assert_int_equal(fake_d.studies->n, 1);
}

static const char *change(size_t i, const char *key)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(ok, "changes"), i), key));
}

/* What the file leaves as it was stays as `set` made it; going back in the file goes
 * back. */
static void an_edited_file_goes_on(void **s)
{
	struct study *study =
		fake_submit("a", ", timeout: 10s", "method: random, evaluations: 9, parallel: 1");

	(void)s;
	assert_int_equal(ask("set", json_pack("{s:s, s:{s:s, s:s}}", "study", "a", "keys", "stall",
					      "5m", "search.parallel", "3")),
			 DP_OK);
	assert_int_equal(ask("submit", edited(study->state->text, "10s", "30s")), DP_OK);
	assert_true(json_is_false(json_object_get(ok, "new")));
	assert_int_equal(json_array_size(json_object_get(ok, "changes")), 1);
	assert_string_equal(change(0, "key"), "trainer.timeout");
	assert_string_equal(change(0, "from"), "10s");
	assert_string_equal(change(0, "to"), "30s");
	assert_true(study->state->current_spec->trainer.timeout == 30);
	assert_true(study->state->spec->trainer.timeout == 10); /* threads may read it */
	assert_true(study->state->current_spec->trainer.stall == 300 &&
		    study->state->parallel == 3);
	assert_int_equal(ask("submit", edited(study->state->text, "30s", "10s")), DP_OK);
	assert_true(study->state->current_spec->trainer.timeout == 10);
	assert_int_equal(
		ask("submit", edited(study->state->text, "evaluations: 9", "evaluations: 12")),
		DP_OK);
	assert_int_equal(study->state->evaluations, 12);
	assert_int_equal(study->state->parallel, 3);
}

static void submitted_paused(void **s)
{
	struct study *a = fake_submit("a", "", "method: random, evaluations: 2"), *b;
	json_t *f = edited(a->state->text, "study: a", "study: b");

	(void)s;
	json_object_set_new(f, "paused", json_true());
	assert_int_equal(ask("submit", f), DP_OK);
	assert_string_equal(text("study", "state"), "paused");
	assert_string_equal(text("study", "reason"), "submitted with --paused");
	b = fake_d.studies->list[1];
	finish(a);
	assert_int_equal(b->state->ntrials, 0);
	assert_int_equal(b->state->next_seq, 2); /* created and paused */
	assert_int_equal(ask("resume", of("b")), DP_OK);
	finish(b);
}

/* Points are drawn for what the other study's results lack, unless the file says. */
static void initial_points_beside_known_results(void **s)
{
	static const struct {
		const char *search;
		uint32_t initial;
		bool told;
	} cases[] = {
		{ "method: dpareto, evaluations: 20, initial_from: few", 13, true },
		{ "method: dpareto, evaluations: 20, initial_from: many", 0, true },
		{ "method: dpareto, evaluations: 20, initial_from: many, initial: 5", 5, false },
		{ "method: dpareto, evaluations: 20, initial_from: few, initial: 0", 0, false },
	};
	struct study *study;

	(void)s;
	finish(fake_submit("few", "", "method: random, evaluations: 3"));
	finish(fake_submit("many", "", "method: random, evaluations: 17"));
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char name[] = { (char)('a' + i), '\0' };

		study = fake_submit(name, "", cases[i].search);
		assert_int_equal(study->state->spec->search.initial, cases[i].initial);
		assert_int_equal(study->state->current_spec->search.initial, cases[i].initial);
		assert_int_equal(study->state->spec_versions != NULL, cases[i].told);
		assert_int_equal(ask("submit", file(study->state->text)), DP_OK);
		assert_int_equal(ask("stop", of(name)), DP_OK);
	}
}

static void results_of_another_study(void **s)
{
	struct study *a = fake_submit("a", "", "method: random, evaluations: 3"), *b;

	(void)s;
	finish(a);
	b = fake_submit("b", "", "method: dpareto, evaluations: 20, initial_from: a");
	assert_int_equal(b->state->nimported, 3);
	assert_true(b->state->imported[1].objectives[0] == a->state->trials[1]->objectives[0]);
	assert_int_equal(ask("submit", file("study: c\ntrainer: {command: [x]}\n"
					    "parameters: {q: {type: int, range: [1, 3]}}\n"
					    "objectives: {u: {metric: u}, v: {metric: "
					    "v}}\nanti_ideal: {u: 1, v: 1}\n"
					    "search: {method: dpareto, evaluations: 20, "
					    "initial_from: a}\n")),
			 DP_E_INVALID);
	assert_non_null(strstr(err.msg, "has other parameters or objectives"));
}

/* Noise that follows from the other parameters must do so in the same way. */
static void results_of_a_study_that_calibrates_otherwise(void **s)
{
	static const char text[] =
		"study: %s\ntrainer: {command: [x]}\nparameters: {t: {type: float, "
		"range: "
		"[1, 9]}, b: {calibrate: {epsilon: t, mechanism: svt, cutoff: %d}}}\n"
		"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: %d, scale: "
		"b}}, "
		"error: {metric: f1}}\nanti_ideal: {epsilon: 10, error: 1}\n"
		"search: {method: dpareto, evaluations: 4%s}\n";
	char file_text[1000];

	(void)s;
	snprintf(file_text, sizeof file_text, text, "a", 3, 3, "");
	assert_int_equal(ask("submit", file(file_text)), DP_OK);
	snprintf(file_text, sizeof file_text, text, "b", 3, 3, ", initial_from: a");
	assert_int_equal(ask("submit", file(file_text)), DP_OK);
	snprintf(file_text, sizeof file_text, text, "c", 4, 4, ", initial_from: a");
	assert_int_equal(ask("submit", file(file_text)), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "or calibrates them otherwise"));
}

/* ---- steering ---- */

static void pausing_resuming_stopping(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 3");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(ask("pause", of("a")), DP_OK);
	assert_string_equal(text("study", "state"), "paused");
	fake_end_ok(&fake_jobs[0], 0.5); /* what runs goes on */
	FAKE_UNTIL(dp_state_count_ended_trials(study->state) == 1);
	for (int i = 0; i < 20; i++)
		fake_turn();
	assert_int_equal(fake_njobs, 1); /* and nothing new starts */
	assert_int_equal(ask("resume", of("a")), DP_OK);
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(ask("stop", of("a")), DP_OK);
	assert_string_equal(text("study", "state"), "stopped");
	assert_int_equal(ask("pause", of("a")), DP_E_INVALID);
	assert_int_equal(ask("stop", json_pack("{s:s, s:b}", "study", "a", "now", 1)), DP_OK);
	FAKE_UNTIL(dp_state_count_ended_trials(study->state) == 2);
	assert_int_equal(study->state->trials[1]->status, DP_TRIAL_CANCELLED);
}

static void setting(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 1");

	(void)s;
	finish(study);
	assert_int_equal(ask("set", of("a")), DP_E_USAGE);
	assert_int_equal(ask("set", json_pack("{s:s, s:i}", "study", "a", "evaluations", 0)),
			 DP_E_INVALID);
	assert_int_equal(ask("set", json_pack("{s:s, s:i}", "study", "a", "evaluations", 3)),
			 DP_OK);
	assert_string_equal(text("study", "state"), "running"); /* it woke */
	assert_true(json_is_null(json_object_get(ok, "note")));
	finish(study);
	assert_int_equal(study->state->ok, 3);
}

static json_t *keys_of(const char *key, const char *value)
{
	return json_pack("{s:s, s:{s:s}}", "study", "a", "keys", key, value);
}

static void setting_limits(void **s)
{
	struct study *study = fake_submit("a", ", stall: 10s",
					  "method: random, evaluations: "
					  "9, parallel: 2");

	(void)s;
	assert_int_equal(ask("set", keys_of("timeout", "250ms")), DP_OK);
	assert_string_equal(change(0, "from"), "none");
	assert_string_equal(change(0, "to"), "0.25s");
	assert_int_equal(ask("set", keys_of("trainer.stall", "none")), DP_OK);
	assert_true(study->state->current_spec->trainer.timeout == 0.25 &&
		    study->state->current_spec->trainer.stall == 0);
	assert_int_equal(ask("set", keys_of("timeout", "0")), DP_E_INVALID);
	assert_int_equal(ask("set", keys_of("timeout", "soon")), DP_E_INVALID);
	assert_int_equal(ask("set", keys_of("seed", "1")), DP_E_USAGE);
	assert_non_null(strstr(err.msg, "would be another study"));
	assert_int_equal(ask("set", keys_of("memory", "1G")), DP_OK);
	assert_true(study->state->current_spec->trainer.memory_limit == 1 << 30);
	assert_int_equal(ask("set", keys_of("memory", "1")), DP_E_INVALID);
	assert_int_equal(ask("set", keys_of("patience", "1G")), DP_E_USAGE);
	assert_string_equal(err.msg, "unknown key 'patience'");
	assert_int_equal(
		ask("set", json_pack("{s:s, s:{s:i}}", "study", "a", "keys", "retries", 1)),
		DP_E_PROTOCOL);
	assert_int_equal(ask("set", json_pack("{s:s, s:i, s:{s:s}}", "study", "a", "parallel", 1,
					      "keys", "search.parallel", "2")),
			 DP_E_USAGE);
	assert_int_equal(study->state->current_spec->trainer.retries, 3);
}

/* A total below what is made already ends the study, and is told in words. */
static void setting_fewer_evaluations_than_there_are(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 2);
	fake_end_ok(&fake_jobs[0], 0.5);
	FAKE_UNTIL(study->state->ok == 1 && fake_running() == 2);
	assert_int_equal(ask("set", keys_of("evaluations", "1")), DP_OK);
	assert_string_equal(json_string_value(json_object_get(ok, "note")),
			    "evaluations is the total of all trials: 1 has ended already "
			    "and 2 are under way, so no more are started; it finishes "
			    "with 3 once these have ended");
	finish(study);
	assert_int_equal(study->state->ok, 3);
	assert_int_equal(ask("set", keys_of("evaluations", "2")), DP_OK);
	assert_string_equal(json_string_value(json_object_get(ok, "note")),
			    "evaluations is the total of all trials: 3 have ended "
			    "already, so no more are started; it is finished with 3");
}

static void trials_cancelled_and_retried(void **s)
{
	struct study *study = fake_submit("a", ", retries: 0", "method: random, evaluations: 3");

	(void)s;
	assert_int_equal(ask("trial", trial_of("a", 7)), DP_E_NOT_FOUND);
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(ask("retry", trial_of("a", 0)), DP_E_INVALID);
	assert_int_equal(ask("cancel", trial_of("a", 0)), DP_OK);
	FAKE_UNTIL(study->state->trials[0]->status == DP_TRIAL_CANCELLED);
	assert_int_equal(ask("cancel", trial_of("a", 0)), DP_E_INVALID);
	assert_int_equal(ask("retry", trial_of("a", 0)), DP_OK);
	assert_string_equal(text("trial", "state"), "waiting");
	finish(study);
	assert_int_equal(study->state->ok, 3);
	assert_int_equal(
		ask("trials", json_pack("{s:s, s:i, s:i}", "study", "a", "from", 1, "limit", 1)),
		DP_OK);
	assert_int_equal(json_array_size(json_object_get(ok, "trials")), 1);
	assert_int_equal(json_integer_value(json_object_get(ok, "next")), 2);
	assert_int_equal(json_integer_value(json_object_get(ok, "total")), 3);
	assert_int_equal(ask("trials", json_pack("{s:s, s:s}", "study", "a", "state", "ok")),
			 DP_OK);
	assert_true(json_is_null(json_object_get(ok, "total")));
}

/* ---- points ---- */

static void enqueued_points_have_their_epsilon(void **s)
{
	json_t *point = json_pack("{s:i, s:f}", "C", 4, "b", 2.0);
	struct dp_epsilon cost;
	struct study *study;

	(void)s;
	fake_d.executors->list->hold.until_us = INT64_MAX; /* nothing is proposed */
	study = fake_submit("a", "", "method: random, evaluations: 2, parallel: 2");
	assert_int_equal(
		ask("enqueue", json_pack("{s:s, s:{s:i}}", "study", "a", "parameters", "C", 4)),
		DP_E_INVALID);
	while (study->state->ntrials < 2)
		assert_int_equal(
			ask("enqueue", json_pack("{s:s, s:O}", "study", "a", "parameters", point)),
			DP_OK);
	assert_string_equal(text("trial", "source"), "enqueued");
	assert_int_equal(dp_objective_epsilon(study->state->spec, 0, study->state->trials[1]->x,
					      &cost, NULL),
			 DP_OK);
	assert_true(study->state->trials[1]->privacy[0] == cost.epsilon);
	assert_int_equal(ask("enqueue", json_pack("{s:s, s:o}", "study", "a", "parameters", point)),
			 DP_E_LIMIT);
}

static void the_next_point_is_shown_and_not_proposed(void **s)
{
	json_t *shown;
	struct study *study;

	(void)s;
	fake_d.executors->list->hold.until_us = INT64_MAX; /* nothing is proposed */
	study = fake_submit("a", "", "method: random, evaluations: 9");
	FAKE_UNTIL(study->proposal_job &&
		   !proposal_is_busy(study)); /* points are found ahead of time */
	assert_int_equal(ask("propose", of("a")), DP_OK);
	assert_int_equal(json_integer_value(json_object_get(ok, "trial")), 0);
	assert_int_equal(study->state->ntrials, 0);
	shown = json_incref(json_object_get(ok, "parameters"));
	fake_d.executors->list->hold.until_us = 0;
	study_mark_changed(study);
	FAKE_UNTIL(fake_running() > 0);
	assert_int_equal(ask("trial", trial_of("a", 0)), DP_OK);
	assert_true(json_equal(shown, json_object_get(json_object_get(ok, "trial"), "parameters")));
	json_decref(shown);
}

/* ---- waiting ---- */

static void a_long_poll_answers_when_something_changed(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_send("changes", json_pack("{s:s, s:i, s:i}", "study", "a", "since",
				       (int)study->state->next_seq, "timeout_ms", 60000));
	for (int i = 0; i < 30; i++)
		fake_turn();
	assert_false(fake_readable());
	fake_end_ok(&fake_jobs[0], 0.5);
	assert_int_equal(fake_reply(&ok, &err), DP_OK);
	assert_true(number("study", "version") > 0);
	/* and when its time is over */
	assert_int_equal(ask("changes", json_pack("{s:s, s:i, s:i}", "study", "a", "since",
						  (int)study->state->next_seq, "timeout_ms", 10)),
			 DP_OK);
}

static void two_want_it_deleted(void **s)
{
	static const char line[] = "{\"v\":1,\"do\":\"delete\",\"study\":\"a\",\"now\":true}\n";
	int other[2];

	(void)s;
	fake_submit("a", "", "method: random, evaluations: 2");
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
	assert_int_equal(server_add_fd(&fake_d, other[1], false, &err), DP_OK);
	fake_send("delete", json_pack("{s:s, s:b}", "study", "a", "now", 1));
	assert_int_equal(dp_write_all(other[0], line, strlen(line)), 0);
	assert_int_equal(fake_reply(&ok, &err), DP_OK);
	FAKE_UNTIL(fake_d.studies->n == 0);
	close(other[0]);
}

/* As if the newest client asked for it, and now. */
static void handle_at_once(const char *verb, const json_t *request)
{
	struct request r = { .daemon = &fake_d,
			     .client_id = fake_d.clients->last_id,
			     .user_name = "a test",
			     .json = request };

	request_handle(&r, verb);
}

/* What is to go takes no more orders: it would come to life again. */
static void what_is_being_deleted_takes_no_orders(void **s)
{
	static const char *const verbs[] = { "resume", "set", "enqueue" };
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9");
	json_t *request = json_pack("{s:s, s:i, s:{s:i, s:f}}", "study", "a", "evaluations", 20,
				    "parameters", "C", 4, "b", 2.0);
	uint32_t before;

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	json_object_set_new(request, "now", json_true());
	handle_at_once("delete", request);
	before = study->state->next_seq;
	for (size_t i = 0; i < DP_COUNT(verbs); i++)
		handle_at_once(verbs[i], request);
	assert_int_equal(study->state->next_seq, before);
	assert_int_equal(study->n_accounting_jobs, 0);
	FAKE_UNTIL(fake_d.studies->n == 0);
	json_decref(request);
}

/* ---- the daemon ---- */

static void reloading(void **s)
{
	(void)s;
	assert_int_equal(ask("reload", NULL), DP_OK);
	assert_int_equal(json_array_size(json_object_get(ok, "changed")), 0);
	fake_settings.config_source.values[0] = "2";
	assert_int_equal(ask("reload", NULL), DP_OK);
	assert_string_equal(json_string_value(json_array_get(json_object_get(ok, "changed"), 0)),
			    "slots");
	assert_int_equal(fake_d.config.slots, 2);
	fake_settings.config_source.values[0] = "none";
	assert_int_equal(ask("reload", NULL), DP_E_USAGE);
	assert_int_equal(fake_d.config.slots, 2); /* the old one stays */
}

static void shutting_down(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(ask("shutdown", json_pack("{s:s}", "policy", "gently")), DP_E_INVALID);
	assert_int_equal(ask("shutdown", json_pack("{s:s}", "policy", "finish")), DP_OK);
	FAKE_UNTIL(fake_d.stopping);
	fake_end_ok(&fake_jobs[0], 0.5);
	FAKE_UNTIL(dp_state_count_ended_trials(study->state) == 1);
	assert_int_equal(fake_njobs, 1); /* nothing new while it stops */
}

/* Who stops a daemon need not wait for a disk that refuses. */
static void shutting_down_in_trouble(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");
	json_t *request = json_pack("{s:s}", "policy", "leave");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	study_cancel_trial(study, study->state->trials[0], NULL); /* not durable yet */
	fake_d.commits->is_failing = true;
	handle_at_once("shutdown", request);
	assert_true(fake_d.stopping);
	json_decref(request);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- many clients ---- */

enum {
	MANY = 200
};

static int many[MANY];

/* Connects all of them and has each ask; takes the reference. */
static void many_ask(const char *verb, json_t *fields)
{
	struct dp_buf line = DP_BUF_INIT;

	dp_control_format_request(&line, verb, fields);
	for (int i = 0; i < MANY; i++) {
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		assert_int_equal(server_add_fd(&fake_d, pair[1], false, &err), DP_OK);
		many[i] = pair[0];
		assert_int_equal(dp_write_all(many[i], line.data, line.len), 0);
	}
	dp_buf_free(&line);
}

/* Reads what has come for those that had no answer yet; how many are answered now. */
static unsigned many_answered(bool *done, unsigned before)
{
	char bytes[65536];

	for (int i = 0; i < MANY; i++) {
		ssize_t n = recv(many[i], bytes, sizeof bytes, MSG_DONTWAIT);

		before += n > 0 && !done[i];
		done[i] |= n > 0;
	}
	return before;
}

static void many_leave(void)
{
	for (int i = 0; i < MANY; i++)
		close(many[i]);
	FAKE_UNTIL(fake_d.clients->n == 1);
}

/* Between two rounds of the loop the scheduler, the journal and trainers have their turn,
 * so that the number of requests in one round is what others wait for. */
static void many_clients_do_not_keep_the_loop(void **s)
{
	bool done[MANY] = { false };
	uint64_t first;
	unsigned all = 0;

	(void)s;
	fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");
	FAKE_UNTIL(fake_running() == 2);
	first = fake_d.clients->n_requests;
	many_ask("hello", NULL);
	while (all < MANY) {
		uint64_t before = fake_d.clients->n_requests;

		fake_turn();
		assert_true(fake_d.clients->n_requests - before <= 64);
		all = many_answered(done, all);
	}
	assert_int_equal(fake_d.clients->n_requests - first, MANY);
	many_leave();
}

/* Those who ask at the same time get the same bytes, made once; but never what they know
 * to be over. */
static void status_is_made_once_for_many(void **s)
{
	bool done[MANY] = { false };
	uint64_t made;
	unsigned all = 0;

	(void)s;
	fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");
	FAKE_UNTIL(fake_running() == 2);
	made = fake_d.status_cache->n_rendered;
	many_ask("status", of("a"));
	while (all < MANY) {
		fake_turn();
		all = many_answered(done, all);
	}
	/* one of each STATUS_CACHE_MS on a machine that is busy with other things */
	assert_true(fake_d.status_cache->n_rendered - made < MANY / 2);
	many_leave();
	for (int i = 0; i < 10; i++) {
		assert_int_equal(ask("pause", of("a")), DP_OK);
		assert_int_equal(ask("status", of("a")), DP_OK);
		assert_string_equal(text("study", "state"), "paused");
		assert_int_equal(ask("resume", of("a")), DP_OK);
		assert_int_equal(ask("status", of("a")), DP_OK);
		assert_string_equal(text("study", "state"), "running");
	}
	fake_d.disk.is_low = true; /* what is not journaled shows, too */
	assert_int_equal(ask("status", of("a")), DP_OK);
	made = fake_d.status_cache->n_rendered;
	assert_int_equal(ask("status", of("a")), DP_OK);
	fake_d.executors->jobs->progress = 0.25;
	assert_int_equal(ask("status", of("a")), DP_OK);
	assert_true(fake_d.status_cache->n_rendered > made);
}

/* The newest failures are shown, however many trials there are, newest first. */
static void failures_are_the_newest(void **s)
{
	struct study *study;
	const json_t *list;

	(void)s;
	study = fake_submit("a", ", retries: 0", "method: random, evaluations: 30, parallel: 1");
	FAKE_UNTIL(study->state->ntrials == 1 && fake_running() == 1);
	for (unsigned i = 0; i < 15; i++) {
		FAKE_UNTIL(fake_njobs == i + 1 && fake_jobs[i].running);
		if (i % 5 == 4 || i == 0)
			fake_end_ok(&fake_jobs[i], 0.5 + 0.01 * i);
		else
			fake_end(&fake_jobs[i], NULL, "{\"signal\":9}");
		FAKE_UNTIL(dp_state_count_ended_trials(study->state) == i + 1);
		if (study->state->status == DP_STUDY_PAUSED) /* too many in a row */
			assert_int_equal(ask("resume", of("a")), DP_OK);
	}
	assert_int_equal(ask("status", of("a")), DP_OK);
	list = json_object_get(ok, "failures");
	assert_int_equal(json_array_size(list), 10);
	for (unsigned i = 0, trial = 13; i < 10; i++, trial--) {
		trial -= trial % 5 == 4;
		assert_int_equal(dp_json_int(json_array_get(list, i), "trial", -1), trial);
	}
}

/* A front to which results are added is the one of all results, to the last bit. */
static void front_grows_as_if_found_anew(void **s)
{
	struct dp_study_state *st;
	struct study *study;

	(void)s;
	study = fake_submit("a", "", "method: random, evaluations: 40, parallel: 3");
	st = study->state;
	for (unsigned i = 0, ended; i < 40; i++) {
		struct dp_result_id kept[40];
		double volume;
		uint32_t n;

		FAKE_UNTIL(fake_running() > 0);
		/* equal ones, too, and not in the order of their numbers */
		for (ended = fake_njobs - 1; !fake_jobs[ended].running; ended--)
			;
		fake_end_ok(&fake_jobs[ended], 0.1 * (double)((i * 7) % 10));
		FAKE_UNTIL(st->ok == i + 1);
		if (i % 3 == 2)
			continue; /* several are added at once */
		dp_state_update_front(st);
		n = st->nfront;
		volume = st->hypervolume;
		memcpy(kept, st->front, n * sizeof *kept);
		st->front_valid = st->front_is_extendable = false;
		dp_state_update_front(st);
		assert_int_equal(st->nfront, n);
		assert_memory_equal(st->front, kept, n * sizeof *kept);
		assert_true(st->hypervolume == volume);
		for (uint32_t k = 0; k < st->ntrials; k++) {
			struct dp_result_id p = { k, DP_CHECKPOINT_FINAL };
			bool on = false;

			for (uint32_t f = 0; f < n; f++)
				on |= kept[f].trial == k;
			assert_int_equal(dp_result_is_on_front(st, p), on);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_no_verb_or_has_wrong_fields),
		CASE(hello_and_lists),
		CASE(folders_that_are_no_utf8),
		CASE(submitting_twice),
		CASE(an_edited_file_goes_on),
		CASE(submitted_paused),
		CASE(initial_points_beside_known_results),
		CASE(results_of_another_study),
		CASE(results_of_a_study_that_calibrates_otherwise),
		CASE(pausing_resuming_stopping),
		CASE(setting),
		CASE(setting_limits),
		CASE(setting_fewer_evaluations_than_there_are),
		CASE(trials_cancelled_and_retried),
		CASE(enqueued_points_have_their_epsilon),
		CASE(the_next_point_is_shown_and_not_proposed),
		CASE(a_long_poll_answers_when_something_changed),
		CASE(two_want_it_deleted),
		CASE(what_is_being_deleted_takes_no_orders),
		CASE(reloading),
		CASE(shutting_down),
		CASE(shutting_down_in_trouble),
		cmocka_unit_test_setup_teardown(many_clients_do_not_keep_the_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(status_is_made_once_for_many, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_the_newest, setup, teardown),
		cmocka_unit_test_setup_teardown(front_grows_as_if_found_anew, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
