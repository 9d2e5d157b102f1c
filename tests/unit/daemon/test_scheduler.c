/* test_scheduler.c - a whole daemon without any process: an executor that the test
 * plays decides what becomes of attempts. Slots, priorities, retries, what follows from
 * every end, the machine's trouble, restarts, executors that cannot tell. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/support/fake_daemon.h"

#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/report_writer.h"
#include "daemon/api/requests.h"
#include "daemon/studies/scheduler.h"
#include "study/accounting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The attempt that runs now of a trial; fails if none does. */
static struct fake_job *running(uint32_t trial)
{
	for (unsigned i = 0; i < fake_njobs; i++)
		if (fake_jobs[i].trial == trial && fake_jobs[i].running)
			return &fake_jobs[i];
	fail_msg("trial %u does not run", trial);
	return NULL;
}

static bool ended(const struct study *study, uint32_t n)
{
	return dp_state_count_ended_trials(study->state) >= n;
}

/* Without waiting for it. */
static void pass_seconds(int64_t n)
{
	fake_d.clock->base_us += n * 1000000;
}

/* Ends whatever runs, well, until the study is not running any more. */
static void run_to_end(struct study *study)
{
	time_t limit = time(NULL) + FAKE_LIMIT_S;

	while (study->state->status == DP_STUDY_RUNNING && time(NULL) < limit) {
		for (unsigned i = 0; i < fake_njobs; i++)
			if (fake_jobs[i].running)
				fake_end_ok(&fake_jobs[i], 0.1 + 0.01 * fake_jobs[i].trial);
		fake_turn();
	}
	assert_int_not_equal(study->state->status, DP_STUDY_RUNNING);
}

static void a_study_runs_to_its_end(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 2);
	run_to_end(study);
	assert_int_equal(study->state->status, DP_STUDY_FINISHED);
	assert_int_equal(study->state->ok, 9);
	assert_int_equal(fake_njobs, 9);
	assert_int_equal(fake_most, 2);
	assert_null(fake_d.executors->jobs); /* all freed after their turn */
	assert_null(study->proposal_job);    /* nothing is kept for a study that has ended */
	for (uint32_t i = 0; i < 9; i++) {
		struct dp_epsilon cost;

		/* epsilon was journaled with the point, and is what the oracle says */
		assert_int_equal(dp_objective_epsilon(study->state->spec, 0,
						      study->state->trials[i]->x, &cost, NULL),
				 DP_OK);
		assert_true(study->state->trials[i]->objectives[0] == cost.epsilon);
		assert_true(study->state->trials[i]->objectives[1] == 0.1 + 0.01 * i);
	}
}

static void epsilon_is_known_before_the_training(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	assert_non_null(study->state->trials[0]->privacy);
	assert_true(study->state->trials[0]->privacy[0] > 0);
	assert_true(isnan(study->state->trials[0]->privacy[1]));
}

static void slots_and_priorities(void **s)
{
	struct study *low = fake_submit("low", "", "method: random, evaluations: 20, parallel: 9");
	struct study *high;

	(void)s;
	FAKE_UNTIL(fake_running() == 4);
	high = fake_submit("high", "", "method: random, evaluations: 3, parallel: 3");
	fake_do("set", json_pack("{s:s, s:i}", "study", "high", "priority", 5));
	FAKE_UNTIL(high->proposal_job &&
		   !proposal_is_busy(high)); /* its points are there already */
	assert_int_equal(fake_most, 4);      /* slots */
	assert_int_equal(high->state->open_attempts, 0);
	/* the next places are the higher one's, all of them */
	for (unsigned i = 0; i < 3; i++)
		fake_end_ok(&fake_jobs[i], 0.5);
	FAKE_UNTIL(high->state->open_attempts == 3);
	assert_int_equal(low->state->open_attempts, 1);
	run_to_end(high);
	run_to_end(low);
	assert_int_equal(fake_most, 4);
}

/* The value of a variable in what an attempt is given; NULL: it has none. */
static const char *given(const struct launch_command *l, const char *name_equals)
{
	for (char **e = l->env; *e; e++)
		if (strncmp(*e, name_equals, strlen(name_equals)) == 0)
			return *e + strlen(name_equals);
	return NULL;
}

/* fake_start() sees that no two share one. */
static void slots_have_numbers(void **s)
{
	struct study *study = fake_submit("a", ", env: {GPU: x, OWN: y}",
					  "method: random, evaluations: 20, parallel: 9");
	struct launch_command l;

	(void)s;
	FAKE_UNTIL(fake_running() == 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fake_jobs[i].slot, i);
	/* the lowest that is free */
	fake_end_ok(&fake_jobs[2], 0.5);
	fake_end_ok(&fake_jobs[1], 0.5);
	FAKE_UNTIL(fake_running() == 4);
	assert_true(fake_jobs[4].slot + fake_jobs[5].slot == 3);
	/* the next daemon knows who has which */
	fake_stop_daemon();
	fake_end_ok(&fake_jobs[3], 0.5);
	fake_settings.config_source.names[2] = "slot_env";
	fake_settings.config_source.values[2] = "{\"GPU\":[\"a\",\"b\",\"c\",\"d\"]}";
	fake_settings.config_source.count = 3;
	fake_start_daemon();
	FAKE_UNTIL(fake_njobs == 7);
	assert_int_equal(fake_jobs[6].slot, 3);
	/* what the machine says of a slot counts more than what a study says */
	launch_build_attempt(fake_jobs[6].job, &(struct launch_options){ 0 }, &l);
	assert_string_equal(given(&l, "DPARETO_SLOT="), "3");
	assert_string_equal(given(&l, "GPU="), "d");
	assert_string_equal(given(&l, "OWN="), "y");
	launch_clear(&l);
	study = fake_jobs[6].job->study;
	/* one program for the whole study has no slot */
	launch_build_accountant(study, study->state->spec->trainer.argv, &l);
	assert_null(given(&l, "DPARETO_SLOT="));
	assert_string_equal(given(&l, "GPU="), "x");
	launch_clear(&l);
	run_to_end(study);
}

/* With fewer slots nobody is ended, and new ones have lower numbers. One that was planned
 * with a number that is gone is planned anew. */
static void slots_taken_away(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 12, parallel: 9");

	(void)s;
	FAKE_UNTIL(fake_running() == 4);
	fake_d.config.slots = 2;
	fake_end_ok(&fake_jobs[0], 0.5);
	fake_end_ok(&fake_jobs[1], 0.5);
	fake_end_ok(&fake_jobs[2], 0.5);
	FAKE_UNTIL(fake_njobs == 5);
	assert_int_equal(fake_jobs[4].slot, 0); /* number 3 still runs */
	fake_d.config.slots = 4;
	fake_end_ok(&fake_jobs[3], 0.5);
	fake_end_ok(&fake_jobs[4], 0.5);
	FAKE_UNTIL(study->state->open_attempts == 4); /* planned, and perhaps not started */
	fake_d.config.slots = 1;
	run_to_end(study);
	assert_int_equal(study->state->ok, 12);
}

/* Two of the same priority share the places. */
static void equals_share(void **s)
{
	struct study *a = fake_submit("a", "", "method: random, evaluations: 20, parallel: 4");
	struct study *b = fake_submit("b", "", "method: random, evaluations: 20, parallel: 4");

	(void)s;
	FAKE_UNTIL(fake_running() == 4);
	for (unsigned round = 0; round < 6; round++) {
		unsigned before = fake_njobs;

		for (unsigned i = 0; i < before; i++)
			if (fake_jobs[i].running) {
				fake_end_ok(&fake_jobs[i], 0.5);
				break;
			}
		FAKE_UNTIL(fake_running() == 4);
	}
	assert_int_equal(a->state->open_attempts, 2);
	assert_int_equal(b->state->open_attempts, 2);
}

static void why_nothing_more_runs(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9, parallel: 9");
	struct study *other;
	char why[700];

	(void)s;
	FAKE_UNTIL(fake_running() == 4);
	FAKE_UNTIL(!proposal_is_busy(study));
	assert_string_equal(scheduler_waiting_reason(study, why, sizeof why),
			    "the fake cluster is full");
	fake_do("set", json_pack("{s:s, s:i}", "study", "a", "parallel", 4));
	FAKE_UNTIL(!scheduler_waiting_reason(study, why, sizeof why));
	other = fake_submit("b", "", "method: random, evaluations: 9");
	FAKE_UNTIL(other->proposal_job && !proposal_is_busy(other));
	assert_string_equal(scheduler_waiting_reason(other, why, sizeof why),
			    "the fake cluster is full");
	fake_d.disk.is_low = true;
	assert_non_null(strstr(scheduler_waiting_reason(other, why, sizeof why), "disk_watermark"));
	fake_d.disk.is_low = false;
	fake_do("pause", json_pack("{s:s}", "study", "b"));
	assert_null(scheduler_waiting_reason(other, why, sizeof why));
}

/* ---- ends ---- */

static void a_signal_is_retried(void **s)
{
	struct study *study = fake_submit("a", ", retries: 1", "method: random, evaluations: 2");
	char why[700];

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_end(running(0), NULL, "{\"signal\":9}");
	FAKE_UNTIL(study->next_step.wait_reason == DP_WAIT_RETRY);
	assert_memory_equal(scheduler_waiting_reason(study, why, sizeof why),
			    "a failed attempt is tri", 23);
	assert_int_equal(study->state->ntrials, 1); /* it keeps its place */
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(running(0)->attempt, 1);
	fake_end(running(0), NULL, "{\"signal\":9}");
	FAKE_UNTIL(ended(study, 1));
	assert_int_equal(study->state->trials[0]->status, DP_TRIAL_FAILED);
	assert_non_null(strstr(study->state->trials[0]->reason, "signal"));
}

static void bad_output_fails_and_the_study_goes_on(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 3");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_end(running(0), "nonsense\n", "{\"code\":0}");
	FAKE_UNTIL(fake_running() == 1);
	fake_end(running(1), "{\"run\":0,\"metrics\":{\"f1\":NaN}}\n", "{\"code\":0}");
	FAKE_UNTIL(fake_running() == 1);
	run_to_end(study);
	assert_int_equal(study->state->trials[0]->status, DP_TRIAL_FAILED);
	assert_int_equal(study->state->trials[1]->status, DP_TRIAL_DIVERGED);
	assert_int_equal(study->state->trials[2]->status, DP_TRIAL_OK);
	assert_int_equal(study->state->status, DP_STUDY_FINISHED);
}

static void progress_is_seen(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 1");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_write(running(0), "result.jsonl", "{\"progress\":0.25}\n");
	FAKE_UNTIL(fake_d.executors->jobs->progress == 0.25);
	fake_end(running(0), "{\"progress\":0.25}\n{\"run\":0,\"metrics\":{\"f1\":1}}\n",
		 "{\"code\":0}");
	FAKE_UNTIL(study->state->status == DP_STUDY_FINISHED);
}

/* ---- starts that fail ---- */

static void a_study_that_cannot_start_pauses(void **s)
{
	struct study *study;

	(void)s;
	dp_fail(&fake_refusal, DP_E_NOT_FOUND, "there is no such program");
	study = fake_submit("a", "", "method: random, evaluations: 3");
	FAKE_UNTIL(study->state->status == DP_STUDY_PAUSED);
	assert_string_equal(study->state->reason,
			    "there is no such program; put it right, then 'dparetoctl resume a'");
	assert_true(study->state->moved_by_failures);
	fake_refusal.code = 0;
	fake_do("resume", json_pack("{s:s}", "study", "a"));
	run_to_end(study);
	assert_int_equal(study->state->ok, 3);
}

/* The machine's trouble holds everything back for a while, and uses nothing up. */
static void the_machines_trouble_costs_nothing(void **s)
{
	struct study *study, *other;
	uint32_t attempts;
	char why[700];

	(void)s;
	dp_fail(&fake_refusal, DP_E_IO, "No space left on device");
	study = fake_submit("a", ", retries: 0", "method: random, evaluations: 3");
	FAKE_UNTIL(fake_d.executors->list->hold.until_us > 0);
	other = fake_submit("b", "", "method: random, evaluations: 1");
	for (int i = 0; i < 50; i++)
		fake_turn();
	assert_int_equal(other->state->ntrials, 0); /* held back, too */
	assert_non_null(strstr(scheduler_waiting_reason(other, why, sizeof why), "No space left"));
	pass_seconds(1);
	FAKE_UNTIL(fake_d.executors->list->hold.seconds > 1.5); /* longer each time */
	assert_int_equal(study->state->ntrials, 1);
	assert_int_equal(study->state->status, DP_STUDY_RUNNING);
	attempts = study->state->trials[0]->nattempts;
	assert_true(attempts >= 2 && attempts <= 4);
	fake_refusal.code = 0;
	pass_seconds(2);
	run_to_end(study);
	run_to_end(other);
	assert_int_equal(study->state->ok, 3);
	assert_int_equal(study->state->failed, 0);
	assert_true(fake_d.executors->list->hold.until_us == 0);
}

static void assert_waits(const struct study *study, const char *sentence)
{
	char why[700];

	FAKE_UNTIL(scheduler_waiting_reason(study, why, sizeof why));
	assert_string_equal(why, sentence);
}

/* A trainer that was started did not fail to start, whoever ended it. */
static void what_holds_everything_back_is_told_as_it_is(void **s)
{
	static int64_t still; /* goes on only when the test says so */
	struct study *study = fake_submit("a", "", "method: random, evaluations: 3");

	(void)s;
	still = clock_now(&fake_d);
	fake_settings.simulated_clock_us = &still;
	FAKE_UNTIL(fake_running() == 1);
	job_set_external_end(fake_jobs[0].job, DP_END_CANCELLED, "somebody cancelled it");
	fake_end(&fake_jobs[0], NULL, "{\"signal\":15}");
	FAKE_UNTIL(study->state->open_attempts == 0);
	assert_int_equal(study->state->trials[0]->attempts[0].end_class, DP_END_CANCELLED);
	assert_waits(study, "the last trainer was ended from outside; trying again in 1 s");
	still += 1000000;
	FAKE_UNTIL(fake_running() == 1);
	fake_end(&fake_jobs[1], NULL, "{\"code\":1,\"output_lost\":\"ENOSPC\"}");
	FAKE_UNTIL(study->state->open_attempts == 0);
	assert_waits(study, "the last trainer had no room for what it wrote; trying again in "
			    "2 s");
	dp_fail(&fake_refusal, DP_E_IO, "No space left on device");
	still += 2000000;
	FAKE_UNTIL(fake_d.executors->list->hold.seconds > 3 && study->state->open_attempts == 0);
	assert_waits(study, "the machine could not start a trainer (No space left on "
			    "device); trying again in 4 s");
	fake_refusal.code = 0;
	still += 4000000;
	run_to_end(study);
	assert_int_equal(study->state->ok, 3);
}

/* A disk that is read-only costs no retry, but what ran has cost privacy. */
static void a_read_only_disk_costs_no_trial_anything(void **s)
{
	static int64_t still; /* goes on only when the test says so */
	struct study *study = fake_submit("a", "", "method: random, evaluations: 1");
	static const char *const ends[] = {
		"{\"code\":1,\"output_lost\":\"EROFS\"}",
		"{\"code\":0,\"output_lost\":\"EROFS\"}",
		"{\"signal\":7,\"output_lost\":\"EROFS\"}",
		"{\"exec\":\"EROFS\"}",
	};
	const struct dp_attempt *a;

	(void)s;
	still = clock_now(&fake_d);
	fake_settings.simulated_clock_us = &still;
	for (unsigned i = 0; i < DP_COUNT(ends); i++) {
		FAKE_UNTIL(fake_running() == 1);
		fake_end(&fake_jobs[i], NULL, ends[i]);
		FAKE_UNTIL(study->state->open_attempts == 0);
		a = &study->state->trials[0]->attempts[i];
		assert_int_equal(a->end_class, DP_END_LOST);
		assert_false(a->charged);
		assert_int_equal(a->never_ran, strstr(ends[i], "exec") != NULL);
		still += 40000000;
	}
	FAKE_UNTIL(fake_running() == 1);
	fake_end_ok(&fake_jobs[DP_COUNT(ends)], 1);
	run_to_end(study);
	assert_int_equal(study->state->ok, 1);
}

/* The end is told by the clock of the shim's machine. */
static void a_clock_behind_ours_gives_no_negative_time(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");
	json_t *summary;

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_end(&fake_jobs[0], "{\"run\":0,\"metrics\":{\"f1\":1}}\n",
		 "{\"code\":0,\"start\":4,\"end\":5}");
	FAKE_UNTIL(study->state->ok == 1 && fake_running() == 1);
	summary = request_summary_json(study);
	assert_true(json_real_value(json_object_get(summary, "eta")) >= 0);
	assert_true(json_is_real(json_object_get(summary, "eta")));
	json_decref(summary);
	fake_end_ok(&fake_jobs[1], 1);
	run_to_end(study);
}

/* However many were on their way when it came. */
static void one_trouble_is_one_hold(void **s)
{
	struct study *study;

	(void)s;
	dp_fail(&fake_refusal, DP_E_IO, "No space left on device");
	fake_d.executors->list->hold.until_us = INT64_MAX;
	study = fake_submit("a", "", "method: random, evaluations: 4, parallel: 4");
	FAKE_UNTIL(study->proposal_job && !proposal_is_busy(study)); /* all four points are there */
	fake_d.executors->list->hold.until_us = 0;
	study_mark_changed(study);
	FAKE_UNTIL(study->state->ntrials == 4 && study->state->open_attempts == 0);
	assert_true(fake_d.executors->list->hold.seconds == 1);
	fake_refusal.code = 0;
	pass_seconds(1);
	run_to_end(study);
	assert_int_equal(study->state->ok, 4);
}

/* ---- restarts ---- */

static struct study *again(const char *name)
{
	struct study *study;

	fake_stop_daemon();
	fake_start_daemon();
	assert_int_equal(study_find(&fake_d, name, &study, NULL), DP_OK);
	return study;
}

static void restarts_lose_and_repeat_nothing(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 12, parallel: 3");
	unsigned ends = 0;

	(void)s;
	while (study->state->status == DP_STUDY_RUNNING) {
		FAKE_UNTIL(fake_running() > 0 || study->state->status != DP_STUDY_RUNNING);
		for (unsigned i = 0; i < fake_njobs; i++)
			if (fake_jobs[i].running) {
				/* some end while no daemon is there */
				if (ends % 3 == 0)
					study = again("a");
				if (ends % 3 == 1)
					fake_jobs[i].job = NULL;
				fake_end_ok(&fake_jobs[i], 0.1 + 0.01 * fake_jobs[i].trial);
				if (ends % 3 == 1)
					study = again("a");
				ends++;
				break;
			}
		fake_turn();
	}
	assert_int_equal(study->state->status, DP_STUDY_FINISHED);
	assert_int_equal(study->state->ok, 12);
	assert_int_equal(fake_njobs, 12); /* each trial was started once */
	for (uint32_t i = 0; i < 12; i++)
		assert_true(study->state->trials[i]->objectives[1] == 0.1 + 0.01 * i);
}

/* "Cannot tell" is not "dead": the attempt stays open and is asked for again. */
static void an_executor_that_cannot_tell(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2, parallel: 2");

	(void)s;
	FAKE_UNTIL(fake_running() == 2);
	fake_cannot_tell = true;
	study = again("a");
	FAKE_UNTIL(fake_asked_unknown >= 5);
	assert_int_equal(study->state->open_attempts, 2);
	assert_int_equal(fake_njobs, 2); /* nothing was started beside them */
	fake_cannot_tell = false;
	FAKE_UNTIL(fake_jobs[0].job && fake_jobs[1].job);
	run_to_end(study);
	assert_int_equal(study->state->ok, 2);
	assert_int_equal(fake_njobs, 2);
}

/* A daemon that shall kill its trainers also kills one that it finds only then. */
static void found_while_stopping(void **s)
{
	(void)s;
	fake_submit("a", "", "method: random, evaluations: 2, parallel: 2");
	FAKE_UNTIL(fake_running() == 2);
	fake_cannot_tell = true;
	again("a");
	fake_d.ops->stop(&fake_d, STOP_KILL, "the test says so");
	fake_cannot_tell = false;
	FAKE_UNTIL(fake_running() == 0);
	assert_true(fake_jobs[0].cancelled && fake_jobs[1].cancelled);
}

/* An executor that answers later: the attempt stays open, is shown and waited for. */
static void an_executor_that_takes_its_time(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 1");

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	fake_silent = true;
	study = again("a");
	for (int i = 0; i < 50; i++)
		fake_turn();
	assert_int_equal(study->state->open_attempts, 1);
	assert_int_equal(fake_d.executors->jobs->phase, JOB_ADOPTING);
	fake_jobs[0].job = fake_d.executors->jobs;
	job_on_started(fake_d.executors->jobs, "nowhere");
	assert_int_equal(fake_d.executors->jobs->phase, JOB_STARTED);
	run_to_end(study);
	assert_int_equal(study->state->ok, 1);
	assert_int_equal(fake_njobs, 1);
}

/* Taken back from the queue: it costs nothing, and the trial starts again. */
static void taken_back_before_it_started(void **s)
{
	struct study *study = fake_submit("a", ", retries: 0", "method: random, evaluations: 1");
	struct job *j;

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	j = fake_jobs[0].job;
	fake_jobs[0].running = false;
	fake_jobs[0].job = NULL;
	job_on_never_started(j);
	assert_string_equal(study->state->trials[0]->attempts[0].message,
			    "it was taken back before it started");
	FAKE_UNTIL(fake_running() == 1);
	run_to_end(study);
	assert_int_equal(study->state->ok, 1);
	assert_int_equal(study->state->trials[0]->nattempts, 2);
}

static void the_clock_never_goes_back(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");
	int64_t newest;

	(void)s;
	FAKE_UNTIL(fake_running() == 1);
	/* as if the wall's clock had been a day ahead, and was set right */
	fake_d.clock->base_us += INT64_C(86400000000);
	run_to_end(study);
	newest = study->state->updated_us;
	study = again("a");
	assert_true(clock_now(&fake_d) >= newest);
	assert_true(study->state->updated_us == newest);
}

/* ---- time limits ---- */

/* A place is free for a study whose time is over, before anybody looked at the clock. */
static void place_comes_too_late(bool points_are_there)
{
	struct study *first = fake_submit("a", "", "method: random, evaluations: 4, parallel: 4");
	struct study *late;

	FAKE_UNTIL(fake_running() == 4);
	late = fake_submit("b", "", "method: random, evaluations: 9, max_time: 3600");
	FAKE_UNTIL(late->proposal_job && !proposal_is_busy(late));
	if (!points_are_there)
		proposal_discard_job(late);
	assert_int_equal(late->next_step.kind, DP_STEP_PROPOSE);
	uv_timer_stop(&fake_d.housekeeping->timer);
	fake_d.clock->base_us += INT64_C(3601000000);
	run_to_end(first);
	FAKE_UNTIL(late->state->status != DP_STUDY_RUNNING);
	assert_int_equal(late->state->ntrials, 0);
	assert_int_equal(executor_free_slots(late->executor), 4);
}

static void time_is_over_when_a_place_comes(void **s)
{
	(void)s;
	place_comes_too_late(true);
}

static void time_is_over_before_a_point_is_asked_for(void **s)
{
	(void)s;
	place_comes_too_late(false);
}

/* The same moment, but between the look at the study and the question. */
static void time_is_over_as_a_point_is_asked_for(void **s)
{
	struct study *study;

	(void)s;
	fake_submit("a", "", "method: random, evaluations: 4, parallel: 4");
	FAKE_UNTIL(fake_running() == 4);
	study = fake_submit("b", "", "method: random, evaluations: 9, max_time: 3600");
	FAKE_UNTIL(study->proposal_job && !proposal_is_busy(study));
	proposal_discard_job(study);
	fake_d.clock->base_us += INT64_C(3601000000);
	proposal_next(study);
	assert_false(proposal_is_busy(study));
	assert_int_equal(study->executor->n_reserved, 0);
	FAKE_UNTIL(study->state->status == DP_STUDY_FAILED);
}

/* The wall's clock was set a month ahead, or the machine was off for so long. */
static void a_month_without_a_daemon_does_not_count(void **s)
{
	struct study *study;
	json_t *ok;
	struct dp_err err;

	(void)s;
	fake_d.clock->base_us -= INT64_C(30) * 86400000000;
	study = fake_submit("a", "", "method: random, evaluations: 3, max_time: 3600");
	FAKE_UNTIL(fake_running() == 1);
	fake_end_ok(running(0), 0.5);
	FAKE_UNTIL(fake_running() == 1 && ended(study, 1));
	study = again("a");
	FAKE_UNTIL(fake_jobs[1].job); /* adopted */
	assert_int_equal(study->state->status, DP_STUDY_RUNNING);
	assert_int_equal(fake_ask("status", json_pack("{s:s}", "study", "a"), &ok, &err), DP_OK);
	assert_true(json_real_value(json_object_get(json_object_get(ok, "study"), "active")) < 600);
	json_decref(ok);
	pass_seconds(3601);
	fake_end_ok(running(1), 0.5);
	FAKE_UNTIL(study->state->status == DP_STUDY_FINISHED);
	assert_string_equal(study->state->reason, "search.max_time was over");
}

/* A stop in good order notes the time to its moment, and costs one record. */
static void a_stop_notes_the_time(void **s)
{
	struct study *study;
	uint32_t seq;

	(void)s;
	study = fake_submit("a", "", "method: random, evaluations: 3, max_time: 3600");
	FAKE_UNTIL(fake_running() == 1);
	pass_seconds(50);
	seq = study->state->next_seq;
	fake_d.ops->stop(&fake_d, STOP_LEAVE, "the test says so");
	assert_true(study->state->active_us >= INT64_C(50) * 1000000);
	assert_int_equal(study->state->next_seq, seq + 1);
}

/* ---- deletion ---- */

static void deletion_waits_for_what_is_under_way(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 9, parallel: 2");
	struct dp_err err;
	json_t *ok;

	(void)s;
	FAKE_UNTIL(fake_running() == 2);
	assert_int_equal(fake_ask("delete", json_pack("{s:s}", "study", "a"), &ok, &err),
			 DP_E_BUSY);
	assert_int_equal(study->state->status, DP_STUDY_RUNNING);
	fake_do("delete", json_pack("{s:s, s:b}", "study", "a", "now", 1));
	assert_int_equal(fake_d.studies->n, 0);
	assert_int_equal(fake_d.state.nstudies, 0);
	fake_stop_daemon();
	fake_start_daemon();
	assert_int_equal(fake_d.studies->n, 0);
}

/* Nothing of it is under way, and nothing is recorded by asking. */
static void a_study_that_has_ended_is_deleted(void **s)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 2");

	(void)s;
	run_to_end(study);
	FAKE_UNTIL(study->report_status &&
		   study->report_status->shown_seq == study->state->next_seq &&
		   !report_writer_is_writing(study));
	for (int i = 0; i < 20; i++)
		fake_turn(); /* nobody looks at it any more */
	fake_do("delete", json_pack("{s:s}", "study", "a"));
	assert_int_equal(fake_d.studies->n, 0);
}

/* ---- stopping ---- */

/* A trainer that is found only while the daemon kills them is killed, too. */
static void a_trainer_found_while_stopping(void **s)
{
	(void)s;
	fake_submit("a", "", "method: random, evaluations: 2");
	FAKE_UNTIL(fake_running() == 1);
	fake_cannot_tell = true;
	again("a");
	FAKE_UNTIL(fake_asked_unknown >= 2);
	fake_d.ops->stop(&fake_d, STOP_KILL, "the test says so");
	fake_cannot_tell = false;
	FAKE_UNTIL(fake_jobs[0].cancelled);
}

/* What is in the way of an attempt may be large: the loop moves it away and does not delete it. */
static void an_old_directory_is_not_deleted_on_the_loop(void **s)
{
	char path[400], link[64], target[400] = "";
	int fd;

	(void)s;
	fake_submit("a", ", retries: 1", "method: random, evaluations: 2");
	FAKE_UNTIL(fake_running() == 1);
	snprintf(path, sizeof path, "%s/studies/a/trials/0/1", fake_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(mkdirat(fd, "stale", 0700), 0);
	fake_end(running(0), NULL, "{\"signal\":9}");
	FAKE_UNTIL(fake_running() == 1 && running(0)->attempt == 1);
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	assert_true(readlink(link, target, sizeof target - 1) > 0);
	assert_non_null(strstr(target, "/trash/attempt-"));
	close(fd);
	strcat(path, "/stale");
	assert_int_equal(access(path, F_OK), -1);
	FAKE_UNTIL(fake_d.n_background_jobs == 0);
}

/* What names the result of a private selection is made once its end is on the disk, like all that
 * can be seen from outside. */
static void the_link_of_a_selection_waits_for_its_records(void **s)
{
	time_t limit = time(NULL) + FAKE_LIMIT_S;
	struct study *study;
	struct stat st;
	bool linked = false;
	char link[400];

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
	snprintf(link, sizeof link, "%s/studies/p/selected", fake_dir);
	while (!linked && time(NULL) < limit) {
		uv_run(&fake_d.loop, UV_RUN_NOWAIT);
		linked = lstat(link, &st) == 0;
		assert_true(!linked || commit_queue_is_durable(&fake_d));
		for (unsigned i = 0; i < fake_njobs; i++)
			if (fake_jobs[i].running)
				fake_end_ok(&fake_jobs[i], 0.5);
	}
	assert_int_equal(study->state->status, DP_STUDY_FINISHED);
	assert_true(linked);
	assert_true(stat(link, &st) == 0 && S_ISDIR(st.st_mode));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fake_setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_study_runs_to_its_end),
		CASE(the_link_of_a_selection_waits_for_its_records),
		CASE(an_old_directory_is_not_deleted_on_the_loop),
		CASE(epsilon_is_known_before_the_training),
		CASE(slots_and_priorities),
		CASE(slots_have_numbers),
		CASE(slots_taken_away),
		CASE(equals_share),
		CASE(why_nothing_more_runs),
		CASE(a_signal_is_retried),
		CASE(bad_output_fails_and_the_study_goes_on),
		CASE(progress_is_seen),
		CASE(a_study_that_cannot_start_pauses),
		CASE(the_machines_trouble_costs_nothing),
		CASE(one_trouble_is_one_hold),
		CASE(what_holds_everything_back_is_told_as_it_is),
		CASE(a_read_only_disk_costs_no_trial_anything),
		CASE(a_clock_behind_ours_gives_no_negative_time),
		CASE(restarts_lose_and_repeat_nothing),
		CASE(an_executor_that_cannot_tell),
		CASE(found_while_stopping),
		CASE(an_executor_that_takes_its_time),
		CASE(taken_back_before_it_started),
		CASE(the_clock_never_goes_back),
		CASE(time_is_over_when_a_place_comes),
		CASE(time_is_over_before_a_point_is_asked_for),
		CASE(time_is_over_as_a_point_is_asked_for),
		CASE(a_month_without_a_daemon_does_not_count),
		CASE(a_stop_notes_the_time),
		CASE(deletion_waits_for_what_is_under_way),
		CASE(a_study_that_has_ended_is_deleted),
		CASE(a_trainer_found_while_stopping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
