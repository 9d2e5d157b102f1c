/* test_no_memory_journal.c - records, the fold of the journal, its views and the journal
 * itself when memory ends: at every allocation in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/units.h"
#include "failing_malloc.h"
#include "folder.h"
#include "state/state.h"
#include "state/state_json.h"
#include "optimize/history/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char study_text[] = "study: two\n"
				 "trainer: {command: [x], runs: 2}\n"
				 "parameters: {x: {type: float, range: [0, 1]}}\n"
				 "objectives: {a: {metric: a}, b: {metric: b, goal: maximize}}\n"
				 "anti_ideal: {a: 10, b: 0}\n"
				 "constraints: {seconds: \"<= 5\"}\n"
				 "search: {method: random, evaluations: 10, initial_from: other}\n";

static const double point[] = { 0.25 }, values[] = { 1, 2 };
static const char *const names[] = { "a", "b", "seconds" };
static const uint32_t runs[] = { 0, 1 };
static const char *const changes[] = { "trainer.timeout=30s", "trainer.retries=7" };
static const double metrics[] = { 1, 2, 3, 1, 2, 3 };

/* Every type of event, in an order that makes a history. */
static const struct dp_event history[] = {
	{ .type = DP_EV_STUDY_CREATED, .name = "two", .text = study_text, .path = "f", .dir = "/" },
	{ .type = DP_EV_STUDY_AMENDED, .evaluations = 20, .parallel = NAN, .priority = 3 },
	{ .type = DP_EV_STUDY_AMENDED,
	  .evaluations = 30,
	  .parallel = NAN,
	  .priority = NAN,
	  .changes = changes,
	  .nchanges = 2,
	  .reason = "so it was said",
	  .text = study_text,
	  .path = "g",
	  .dir = "/d" },
	{ .type = DP_EV_RESULT_IMPORTED,
	  .name = "other",
	  .params = point,
	  .nparams = 1,
	  .objectives = values,
	  .nobjectives = 2 },
	{ .type = DP_EV_TRIAL_PROPOSED, .source = "random", .params = point, .nparams = 1 },
	{ .type = DP_EV_ATTEMPT_PLANNED, .run = DP_RUN_ALL },
	{ .type = DP_EV_ATTEMPT_PLACED, .run = DP_RUN_ALL, .job_id = "314" },
	{ .type = DP_EV_ATTEMPT_ADOPTED, .run = DP_RUN_ALL },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .run = DP_RUN_ALL,
	  .end_class = DP_END_SIGNAL,
	  .charged = true,
	  .reason = "the trainer was ended by signal 9",
	  .exit = { .kind = DP_EXIT_SIGNAL, .value = 9 },
	  .declaration = { NULL, NAN, NAN, NAN, NAN } },
	{ .type = DP_EV_ATTEMPT_PLANNED, .run = DP_RUN_ALL, .attempt = 1 },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .run = DP_RUN_ALL,
	  .attempt = 1,
	  .end_class = DP_END_OK,
	  .reason = "it took long",
	  .charged = true,
	  .exit = { .kind = DP_EXIT_CODE },
	  .metric_names = names,
	  .nmetrics = 3,
	  .runs = runs,
	  .nruns = 2,
	  .metrics = metrics,
	  .declaration = { (char *)"poisson", 100, 10, 5, 2 } },
	{ .type = DP_EV_TRIAL_ENDED, .state = "ok", .objectives = values, .nobjectives = 2 },
	{ .type = DP_EV_TRIAL_PROPOSED,
	  .trial = 1,
	  .source = "random",
	  .params = point,
	  .nparams = 1 },
	{ .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = 1 },
	{ .type = DP_EV_TRIAL_ENDED, .trial = 1, .state = "cancelled", .reason = "asked" },
	{ .type = DP_EV_TRIAL_RETRY_ASKED, .trial = 1 },
	{ .type = DP_EV_STUDY_MOVED, .state = "stopped", .reason = "somebody asked" },
	{ .type = DP_EV_MEASURE_ASKED,
	  .trial = DP_REEVAL_TRIAL_FIRST,
	  .source = "remeasure",
	  .reeval_checkpoint = NAN,
	  .reeval_runs = 3,
	  .params = point,
	  .nparams = 1 },
	{ .type = DP_EV_ATTEMPT_PLANNED, .trial = DP_REEVAL_TRIAL_FIRST, .run = DP_RUN_ALL },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .trial = DP_REEVAL_TRIAL_FIRST,
	  .run = DP_RUN_ALL,
	  .end_class = DP_END_OK,
	  .reason = "it took long",
	  .metric_names = names,
	  .nmetrics = 3,
	  .runs = runs,
	  .nruns = 2,
	  .metrics = metrics,
	  .declaration = { (char *)"poisson", 100, 10, 5, 2 } },
	{ .type = DP_EV_TRIAL_ENDED,
	  .trial = DP_REEVAL_TRIAL_FIRST,
	  .state = "ok",
	  .objectives = values,
	  .nobjectives = 2 },
	{ .type = DP_EV_MEASURE_ASKED,
	  .source = "end",
	  .reeval_trial = NAN,
	  .reeval_checkpoint = NAN,
	  .reason = "nothing is left out" },
};
enum {
	EVENTS = DP_COUNT(history)
};

/* A training in two processes, on whose way there are results: cancelled, and when it is
 * tried again one run is too late. */
static const char path_text[] = "study: path\n"
				"trainer: {command: [x], runs: 2, runs_per_process: 1, path: n}\n"
				"parameters: {n: {type: int, range: [1, 8]}}\n"
				"objectives: {a: {metric: a}, b: {metric: b, goal: maximize}}\n"
				"anti_ideal: {a: 10, b: 0}\n"
				"constraints: {seconds: \"<= 5\"}\n"
				"search: {method: random, evaluations: 10}\n";
static const double path_point[] = { 8 }, waypoints[] = { 1, 3 };
static const double ways[] = { 1, 2, 3, 2, 3, 3 }, unreached[] = { NAN, NAN, NAN };
#define ON_THE_WAY                                                                                 \
	.metric_names = names, .nmetrics = 3, .nruns = 1, .checkpoints = waypoints,                \
	.ncheckpoints = 2, .checkpoint_metrics = ways, .ncheckpoint_metrics = 6, .charged = true
static const struct dp_event path_history[] = {
	{ .type = DP_EV_STUDY_CREATED, .name = "path", .text = path_text, .path = "f", .dir = "/" },
	{ .type = DP_EV_TRIAL_PROPOSED, .source = "random", .params = path_point, .nparams = 1 },
	{ .type = DP_EV_ATTEMPT_PLANNED },
	{ .type = DP_EV_ATTEMPT_PLANNED, .run = 1 },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .run = 1,
	  .end_class = DP_END_CANCELLED,
	  .reason = "asked",
	  .runs = &runs[1],
	  .metrics = unreached,
	  ON_THE_WAY },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .end_class = DP_END_OK,
	  .runs = &runs[0],
	  .metrics = metrics,
	  ON_THE_WAY },
	{ .type = DP_EV_TRIAL_ENDED, .state = "cancelled", .reason = "asked" },
	{ .type = DP_EV_TRIAL_RETRY_ASKED },
	{ .type = DP_EV_ATTEMPT_PLANNED, .run = 1, .attempt = 1 },
	{ .type = DP_EV_ATTEMPT_ENDED,
	  .run = 1,
	  .attempt = 1,
	  .end_class = DP_END_TIMEOUT,
	  .reason = "late",
	  .runs = &runs[1],
	  .metrics = unreached,
	  ON_THE_WAY },
	{ .type = DP_EV_TRIAL_ENDED, .state = "failed", .reason = "late" },
};
enum {
	PATH_EVENTS = DP_COUNT(path_history)
};

static const struct dp_event *told = history;

static struct dp_event event_at(uint32_t seq)
{
	struct dp_event e = told[seq];

	e.study = 1;
	e.seq = seq;
	e.time_us = 1000000 + seq;
	return e;
}

/* ---- records ---- */

static int encode_decode(void *arg)
{
	struct dp_event e = event_at(*(uint32_t *)arg), back = { 0 };
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;
	json_t *v;
	int code = dp_event_encode(&e, &bytes, &err);

	if (code == DP_OK)
		code = dp_event_decode(bytes.data, bytes.len, &back, &err);
	if (code == DP_OK) {
		assert_int_equal(back.type, e.type);
		assert_int_equal(back.nmetrics, e.nmetrics);
		v = dp_event_to_json(&back);
		if (!v)
			code = DP_E_NOMEM;
		json_decref(v);
	}
	dp_event_clear(&back);
	dp_buf_free(&bytes);
	return code;
}

static void test_events(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < EVENTS; i++)
		with_little_memory(encode_decode, &i);
}

/* ---- the fold ---- */

/* Everything that the next event or a person looks at, as text. */
static char *picture(struct dp_state *s)
{
	struct dp_study_state *st = dp_state_get_study(s, 1);
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_printf(&out, "%u studies", (unsigned)s->nstudies);
	if (st) {
		json_t *v = dp_state_summary_json(st);

		dp_buf_printf(&out,
			      " seq %u live %u open %u waiting %u row %u"
			      " imported %u updated %lld\n",
			      (unsigned)st->next_seq, (unsigned)st->first_unfinished,
			      (unsigned)st->open_attempts, (unsigned)st->waiting_trials,
			      (unsigned)st->consecutive_failures, (unsigned)st->nimported,
			      (long long)st->updated_us);
		/* a name that waits for its numbers changes nothing */
		json_object_del(v, "metrics");
		dp_json_dump(&out, v, 0);
		json_decref(v);
		for (uint32_t i = 0; i < st->ntrials; i++) {
			v = dp_trial_json(st, st->trials[i], true, "/f");
			dp_json_dump(&out, v, 0);
			json_decref(v);
		}
		dp_buf_printf(&out, "rests %d waiting %u open %u end %s\n",
			      st->reevals.has_resume_state, (unsigned)st->reevals.waiting_trials,
			      (unsigned)st->reevals.open_attempts,
			      st->reevals.final_reason ? st->reevals.final_reason : "-");
		for (uint32_t i = 0; i < st->reevals.count; i++) {
			v = dp_reeval_json(st, i);
			dp_json_dump(&out, v, 0);
			json_decref(v);
		}
	}
	return dp_buf_detach(&out);
}

static void apply_until(struct dp_state *s, uint32_t seq)
{
	struct dp_err err;

	for (uint32_t i = 0; i < seq; i++) {
		struct dp_event e = event_at(i);

		if (dp_state_apply(s, &e, &err) != DP_OK)
			fail_msg("event %u: %s", (unsigned)i, err.msg);
	}
}

/* An event that found no memory has changed nothing, and fits when it comes again. */
static int apply_one(void *arg)
{
	uint32_t seq = *(uint32_t *)arg;
	struct dp_event e = event_at(seq);
	struct dp_state s = { 0 }, undisturbed = { 0 };
	char *before, *after, *expected;
	struct dp_err err;
	int code, again;

	memory_is_fine();
	apply_until(&s, seq);
	before = picture(&s);
	memory_is_short_again();
	code = dp_state_apply(&s, &e, &err);
	memory_is_fine();
	after = picture(&s);
	if (code != DP_OK) {
		assert_string_equal(before, after);
		again = dp_state_apply(&s, &e, &err);
		if (again != DP_OK)
			fail_msg("event %u again: %s", (unsigned)seq, err.msg);
		free(after);
		after = picture(&s);
	}
	apply_until(&undisturbed, seq + 1);
	expected = picture(&undisturbed);
	assert_string_equal(after, expected);
	free(before);
	free(after);
	free(expected);
	dp_state_free(&s);
	dp_state_free(&undisturbed);
	memory_is_short_again();
	return code;
}

static void test_apply(void **state)
{
	/* those that only move a trial or a study on need no memory */
	static const enum dp_event_type free_of_charge[] = { DP_EV_STUDY_AMENDED,
							     DP_EV_ATTEMPT_ADOPTED,
							     DP_EV_TRIAL_CANCEL_ASKED,
							     DP_EV_TRIAL_RETRY_ASKED };

	(void)state;
	for (uint32_t i = 0; i < EVENTS; i++) {
		bool needs = true;

		for (size_t k = 0; k < DP_COUNT(free_of_charge); k++)
			needs &= history[i].type != free_of_charge[k] || history[i].nchanges > 0;
		if (needs)
			with_little_memory(apply_one, &i);
	}
}

struct front_of {
	struct dp_study_state *s;
	uint32_t points;
};

/* A front that found no memory is none, and is found when asked again. */
static int find_front(void *arg)
{
	const struct front_of *f = arg;
	struct dp_err err;
	int code;

	f->s->front_valid = false;
	code = dp_state_update_front(f->s, &err);
	if (code == DP_OK)
		assert_int_equal(f->s->nfront, f->points);
	return code;
}

static int list_points(void *arg)
{
	size_t n;
	struct dp_result_id *all = dp_state_list_results(arg, &n);

	if (!all)
		return DP_E_NOMEM;
	assert_int_equal(n, 2);
	free(all);
	return DP_OK;
}

/* Waypoints, from the record to the front. */
static void test_paths(void **state)
{
	struct dp_state s = { 0 };
	struct dp_study_state *st;

	(void)state;
	told = path_history;
	for (uint32_t i = 0; i < PATH_EVENTS; i++) {
		with_little_memory(encode_decode, &i);
		if (path_history[i].type != DP_EV_TRIAL_RETRY_ASKED) /* needs none */
			with_little_memory(apply_one, &i);
	}
	apply_until(&s, PATH_EVENTS);
	st = dp_state_get_study(&s, 1);
	with_little_memory(list_points, st);
	with_little_memory(find_front, &(struct front_of){ st, 2 });
	dp_state_free(&s);
	told = history;
}

/* ---- what is made of it ---- */

struct viewed {
	struct dp_study_state *s;
	char *expected;
};

static json_t *view_with_remeasured(struct dp_study_state *s)
{
	json_t *o = dp_state_result_json(s);

	if (o && dp_front_json_add_reevals(s, o))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *all_views(struct dp_study_state *s)
{
	json_t *list = json_array();
	json_t *views[] = { dp_state_result_json(s),
			    dp_state_smoothed_result_json(s, 1.5, json_array()),
			    dp_state_summary_json(s),
			    dp_trial_json(s, s->trials[0], true, "/f"),
			    dp_trial_json(s, s->trials[1], false, "/f"),
			    dp_objectives_json(s, s->trials[0]->objectives),
			    dp_result_json(s, (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }),
			    dp_result_metrics_json(s,
						   (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }),
			    dp_reeval_json(s, 0),
			    dp_trial_json(s, s->reevals.trials[0], true, "/f"),
			    view_with_remeasured(s),
			    dp_time_json(1) };
	bool whole = list;

	for (size_t i = 0; i < DP_COUNT(views); i++) {
		whole &= views[i] != NULL;
		if (list && views[i])
			whole &= json_array_append_new(list, views[i]) == 0;
		else
			json_decref(views[i]);
	}
	if (!whole) {
		json_decref(list);
		list = NULL;
	}
	return list;
}

/* A view is whole or not at all. */
static int view_all(void *arg)
{
	const struct viewed *v = arg;
	struct dp_buf out = DP_BUF_INIT;
	json_t *list;

	v->s->front_valid = false;
	list = all_views(v->s);
	if (!list)
		return DP_E_NOMEM;
	memory_is_fine();
	dp_json_dump(&out, list, 0);
	assert_string_equal(out.data, v->expected);
	dp_buf_free(&out);
	json_decref(list);
	memory_is_short_again();
	return DP_OK;
}

static int recall_all(void *arg)
{
	const struct dp_study_state *s = arg;
	size_t n;
	struct dp_observation *known = dp_history_load(s, true, &n);

	if (!known)
		return DP_E_NOMEM;
	assert_int_equal(n, 3);
	free(known);
	return DP_OK;
}

static void test_views(void **state)
{
	struct dp_state s = { 0 };
	struct dp_buf out = DP_BUF_INIT;
	struct viewed v;
	json_t *list;

	(void)state;
	apply_until(&s, EVENTS);
	v.s = dp_state_get_study(&s, 1);
	list = all_views(v.s);
	dp_json_dump(&out, list, 0);
	v.expected = out.data;
	json_decref(list);
	with_little_memory(find_front, &(struct front_of){ v.s, 1 });
	with_little_memory(view_all, &v);
	with_little_memory(recall_all, v.s);
	dp_buf_free(&out);
	dp_state_free(&s);
}

/* ---- the journal ---- */

static bool wait_durable(struct dp_journal *j, uint64_t ticket)
{
	for (int64_t began = dp_monotonic_us(); dp_journal_durable_ticket(j) < ticket; usleep(500))
		if (dp_monotonic_us() - began > 60000000)
			return false;
	return true;
}

/* Opens, writes what memory allows, closes; what has a ticket is there afterwards. */
static int write_journal(void *arg)
{
	struct dp_journal *j = NULL;
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_journal_verify_result found;
	uint64_t ticket = 1, last = 0;
	uint32_t kept = 0;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	assert_int_equal(dp_remove_tree(folder, &err), DP_OK);
	memory_is_short_again();
	code = dp_journal_open(folder, NULL, &j, &err);
	if (code == DP_OK)
		code = dp_journal_start_writer(j, NULL, NULL, &err);
	while (code == DP_OK && ticket && kept < EVENTS) {
		struct dp_event e = event_at(kept);

		memory_is_fine();
		assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
		memory_is_short_again();
		ticket = dp_journal_append(j, 1, kept, bytes.data, bytes.len);
		if (ticket) {
			last = ticket;
			kept++;
		} else {
			code = DP_E_NOMEM;
		}
	}
	if (j)
		assert_true(wait_durable(j, last));
	dp_journal_close(j);
	memory_is_fine();
	dp_buf_free(&bytes);
	if (kept > 0) {
		assert_int_equal(dp_journal_open(folder, NULL, &j, &err), DP_OK);
		assert_int_equal(dp_journal_verify(j, NULL, NULL, &found, &err), DP_OK);
		assert_int_equal(found.records, kept);
		assert_int_equal(found.faults, 0);
		dp_journal_close(j);
	}
	memory_is_short_again();
	return code;
}

/* A reader that lacks memory says so; it finds no damage. */
static int read_journal(void *arg)
{
	const struct dp_journal_options readonly = { .readonly = true };
	struct dp_state s = { 0 };
	struct dp_journal_verify_result found = { 0 };
	struct dp_journal *j = NULL;
	struct dp_err err;
	uint32_t next;
	int code = dp_journal_open(folder, &readonly, &j, &err);

	(void)arg;
	if (code == DP_OK)
		code = dp_journal_next_study_id(j, &next, &err);
	if (code == DP_OK)
		code = dp_state_replay(&s, j, 0, &err);
	if (code == DP_OK)
		assert_int_equal(dp_state_get_study(&s, 1)->next_seq, EVENTS);
	if (code == DP_OK)
		code = dp_journal_verify(j, NULL, NULL, &found, &err);
	assert_int_equal(found.faults, 0);
	if (code == DP_OK)
		assert_int_equal(found.records, EVENTS);
	dp_journal_close(j);
	dp_state_free(&s);
	return code;
}

static void test_journal(void **state)
{
	(void)state;
	with_little_memory(write_journal, NULL);
	with_little_memory(read_journal, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_events, plenty_of_memory),
		cmocka_unit_test_setup(test_apply, plenty_of_memory),
		cmocka_unit_test_setup(test_paths, plenty_of_memory),
		cmocka_unit_test_setup(test_views, plenty_of_memory),
		cmocka_unit_test_setup(test_journal, plenty_of_memory),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
