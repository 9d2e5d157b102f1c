/* test_hook_backlog.c - notifications that wait in the journal: a read of it that fails
 * discards none, and the queue in memory has an end. */
#include <fcntl.h>
#include <lmdb.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/notify/hooks.h"
#include "tests/unit/support/fake_daemon.h"

enum {
	HOOKS = 50,  /* one reports, the others cannot be started */
	QUEUED = 20, /* events that the queue of 1,000 holds */
	READERS = 126
};

static char conf[300], told[300], go[300], log_file[300];
static pid_t hog; /* takes every place for a reader of the journal */
static int hog_in = -1, hog_out = -1;

/* The first waits for the file `go` before it ends. */
static void write_conf(const char *events)
{
	FILE *f = fopen(conf, "w");

	assert_non_null(f);
	fprintf(f,
		"hooks:\n- {on: [%s], timeout: 600s, command: [sh, -c, 'cat >> %s; while "
		"! "
		"[ -e %s ]; do sleep 0.02; done']}\n",
		events, told, go);
	for (int i = 1; i < HOOKS; i++)
		fprintf(f, "- {on: [%s], command: [/nonexistent/hook]}\n", events);
	assert_int_equal(fclose(f), 0);
}

/* Where it is told to: opens the journal there and holds as many readers as it gets. */
static void hog_run(int in, int out)
{
	char dir[300] = "";
	MDB_env *env;
	MDB_txn *txn;
	int n = 0;

	if (read(in, dir, sizeof dir - 1) <= 0 || mdb_env_create(&env) != 0 ||
	    mdb_env_open(env, dir, MDB_RDONLY | MDB_NOTLS, 0600) != 0)
		_exit(1);
	while (n < 2 * READERS && mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) == 0)
		n++;
	if (write(out, &n, sizeof n) != sizeof n)
		_exit(1);
	for (;;)
		pause();
}

/* Before the daemon has threads. */
static void hog_fork(void)
{
	int to[2], from[2];

	assert_int_equal(pipe2(to, O_CLOEXEC), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC), 0);
	hog = fork();
	assert_true(hog >= 0);
	if (hog == 0)
		hog_run(to[0], from[1]);
	close(to[0]);
	close(from[1]);
	hog_in = to[1];
	hog_out = from[0];
}

static void hog_take(void)
{
	char *dir = dp_path_join(fake_dir, "journal");
	int n = 0;

	assert_int_equal(dp_write_all(hog_in, dir, strlen(dir)), 0);
	assert_int_equal(read(hog_out, &n, sizeof n), sizeof n);
	assert_int_equal(n, READERS);
	free(dir);
}

static void hog_end(void)
{
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	hog = 0;
	close(hog_in);
	close(hog_out);
}

static int setup(void **state)
{
	hog_fork();
	if (fake_setup(state) != 0)
		return -1;
	fake_stop_daemon();
	snprintf(conf, sizeof conf, "%s/conf", fake_dir);
	snprintf(told, sizeof told, "%s/told", fake_dir);
	snprintf(go, sizeof go, "%s/go", fake_dir);
	snprintf(log_file, sizeof log_file, "%s/log", fake_dir);
	fake_settings.config_source.path = conf;
	fake_settings.log_file = log_file;
	return 0;
}

static int teardown(void **state)
{
	fclose(fopen(go, "w"));
	if (hog)
		hog_end();
	return fake_teardown(state);
}

/* How often a word is in a file. */
static int count_in(const char *path, const char *word)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;
	int n = 0;

	if (dp_read_file(path, 1 << 24, &text, &err) == DP_OK)
		for (const char *p = dp_buf_text(&text); (p = strstr(p, word)) != NULL; p++)
			n++;
	dp_buf_free(&text);
	return n;
}

static void test_full_table_of_readers(void **state)
{
	(void)state;
	write_conf("paused, resumed");
	fake_start_daemon();
	fake_submit("s", "", "method: random, evaluations: 9");
	for (int i = 0; i < QUEUED; i++) { /* twice as many as the queue holds */
		fake_do("pause", json_pack("{s:s}", "study", "s"));
		fake_do("resume", json_pack("{s:s}", "study", "s"));
	}
	assert_int_equal(count_in(log_file, "wait in the journal"), 1);
	hog_take();
	fclose(fopen(go, "w"));
	FAKE_UNTIL(count_in(log_file, "cannot read what hooks have not heard yet") ||
		   count_in(log_file, "no notification waits"));
	assert_int_equal(count_in(log_file, "no notification waits"), 0);
	hog_end();
	FAKE_UNTIL(count_in(log_file, "no notification waits"));
	FAKE_UNTIL(count_in(told, "\n") == 2 * QUEUED);
	assert_int_equal(count_in(told, "\"event\":\"paused\""), QUEUED);
}

/* What has no record cannot wait in the journal. */
static void test_daemon_events_are_bounded(void **state)
{
	(void)state;
	write_conf("disk-low, paused");
	fake_start_daemon();
	for (int i = 0; i < 2 * QUEUED; i++)
		hooks_on_disk_low(&fake_d, "a test");
	fake_submit("s", "", "method: random, evaluations: 9");
	fake_do("pause", json_pack("{s:s}", "study", "s"));
	fclose(fopen(go, "w"));
	FAKE_UNTIL(count_in(told, "\"event\":\"paused\""));
	assert_true(count_in(told, "disk-low") <= QUEUED + 1);
	assert_true(count_in(log_file, "'disk-low' is not reported") > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_full_table_of_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_daemon_events_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
