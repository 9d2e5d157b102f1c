/* test_retention.c - folders of attempts go by the time that daemons ran, whatever is
 * done to the wall's clock; what a daemon knows of that time from those before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/support/fake_daemon.h"

#include "daemon/executors/retention.h"

#define HOUR (INT64_C(3600) * 1000000)
#define DAY  (24 * HOUR)

static int setup(void **state)
{
	int code = fake_setup(state);

	fake_d.config.retention = 90 * 86400.0;
	return code;
}

/* As killed, but after it had noted the time. */
static void restart(void)
{
	fake_stop_daemon();
	fake_start_daemon();
	fake_d.config.retention = 90 * 86400.0;
}

/* The first daemon of the folder started so long ago. */
static void began_before(int64_t ago)
{
	fake_d.clock->base_us -= ago;
	fake_d.clock->gaps[0].end_us -= ago;
	fake_d.clock->gaps[0].length_us -= ago;
}

static void sweep(void)
{
	retention_sweep(&fake_d);
	assert_true(fake_d.executors->retention_running);
	FAKE_UNTIL(!fake_d.executors->retention_running);
}

static unsigned folders(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake_njobs; i++)
		n += access(fake_jobs[i].folder, F_OK) == 0;
	return n;
}

/* A study of three trials, of which the last runs on. */
static void two_of_three(void)
{
	struct study *study = fake_submit("a", "", "method: random, evaluations: 3");

	for (unsigned i = 0; i < 2; i++) {
		FAKE_UNTIL(fake_njobs == i + 1 && fake_jobs[i].job);
		fake_end_ok(&fake_jobs[i], 0.5);
	}
	FAKE_UNTIL(fake_running() == 1);
	assert_int_equal(study->state->ok, 2);
	assert_int_equal(folders(), 3);
}

static void what_is_old_goes(void **s)
{
	(void)s;
	two_of_three();
	fake_d.clock->base_us += 90 * DAY - HOUR;
	sweep();
	assert_int_equal(folders(), 3);
	fake_d.clock->base_us += HOUR;
	sweep();
	assert_int_equal(folders(), 1); /* of the one that runs */
	assert_true(fake_jobs[2].running && access(fake_jobs[2].folder, F_OK) == 0);
	sweep(); /* what is gone is no trouble */
}

/* +1 year: the daemon before lived a year ago, by what it left. */
static void a_clock_that_is_ahead_removes_nothing(void **s)
{
	(void)s;
	began_before(365 * DAY);
	two_of_three();
	restart();
	assert_int_equal(fake_d.clock->n_gaps, 2); /* what was before the first start, and this */
	assert_true(fake_d.clock->gaps[1].length_us > 364 * DAY);
	assert_true(fake_d.clock->gaps[1].length_us < 366 * DAY);
	FAKE_UNTIL(fake_jobs[2].job); /* found again */
	sweep();
	assert_int_equal(folders(), 3);
	assert_true(fake_d.executors->retention_kept_logged);
	fake_d.clock->base_us += 89 * DAY;
	sweep();
	assert_int_equal(folders(), 3);
	/* and the gap is known to those after it, for good */
	fake_d.clock->base_us -= 89 * DAY;
	restart();
	assert_int_equal(fake_d.clock->n_gaps, 2);
	fake_d.clock->base_us += 91 * DAY;
	sweep();
	assert_int_equal(folders(), 1);
}

/* An idle daemon has no records to show for its time, but the file. */
static void time_without_records_counts(void **s)
{
	int64_t then;

	(void)s;
	began_before(100 * DAY);
	two_of_three();
	then = clock_now(&fake_d);
	fake_d.clock->base_us += 100 * DAY;
	sweep();
	assert_int_equal(folders(), 1);
	restart();
	assert_int_equal(fake_d.clock->n_gaps, 1);
	assert_true(clock_running_time_since(&fake_d, then) >= 100 * DAY);
}

/* Of an older version, lost or damaged: counting begins anew. */
static void without_the_file_nothing_is_old(void **s)
{
	static const char *const texts[] = { NULL,
					     "",
					     "{\"seen\": [",
					     "[]",
					     "{\"seen\": -1}",
					     "{\"seen\": 9e99}",
					     "{\"seen\":9000000000000000000}" };
	char *path = dp_path_join(fake_dir, "clock");

	(void)s;
	began_before(365 * DAY);
	two_of_three();
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		fake_stop_daemon();
		assert_int_equal(unlink(path), 0);
		if (texts[i]) {
			FILE *f = fopen(path, "w");

			assert_non_null(f);
			fputs(texts[i], f);
			fclose(f);
		}
		fake_start_daemon();
		fake_d.config.retention = 90 * 86400.0;
		assert_int_equal(fake_d.clock->n_gaps, 1);
		assert_true(clock_running_time_since(&fake_d, clock_now(&fake_d) - HOUR) <
			    HOUR / 2);
		fake_d.clock->base_us += 89 * DAY;
		sweep();
		assert_int_equal(folders(), 3);
		fake_d.clock->base_us -= 89 * DAY;
	}
	free(path);
}

/* -1 year: records and ages never go back. */
static void a_clock_that_is_behind_removes_nothing(void **s)
{
	int64_t newest;

	(void)s;
	fake_d.clock->base_us += 365 * DAY; /* as it was, before it was set right */
	two_of_three();
	newest = clock_now(&fake_d) - HOUR;
	restart();
	assert_true(clock_now(&fake_d) > newest);
	assert_int_equal(fake_d.clock->n_gaps, 1);
	sweep();
	assert_int_equal(folders(), 3);
	assert_false(fake_d.executors->retention_kept_logged);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_is_old_goes),
		CASE(a_clock_that_is_ahead_removes_nothing),
		CASE(time_without_records_counts),
		CASE(without_the_file_nothing_is_old),
		CASE(a_clock_that_is_behind_removes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
