/* fake_daemon.h - a whole daemon in the test's own process, with an executor that starts
 * nothing: the test says what becomes of each attempt. Journal, loop, scheduler, files
 * and the control protocol are the real ones. */
#ifndef DP_TEST_FAKE_DAEMON_H
#define DP_TEST_FAKE_DAEMON_H
#include "base/fs.h"
#include "base/json.h"
#include "daemon/api/client_connection.h"
#include "daemon/api/server.h"
#include "daemon/executors/job.h"
#include "daemon/housekeeping.h"
#include "daemon/lifecycle.h"
#include "daemon/studies/study_object.h"
#include "protocol/control/control_protocol.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	FAKE_JOBS = 64,
	FAKE_LIMIT_S = 60 /* no test waits longer for anything */
};

/* What the executor has, over all daemons of a test: it outlives them, as a cluster
 * does. An attempt is known by its folder. */
static struct fake_job {
	char folder[300];
	uint32_t trial, attempt;
	int32_t slot;
	bool running, cancelled;
	struct job *job; /* of the daemon that lives now; NULL: it has not asked */
} fake_jobs[FAKE_JOBS];
static unsigned fake_njobs, fake_most;
static struct dp_err fake_refusal;  /* code 0: starts succeed */
static bool fake_cannot_tell;       /* adopt() answers "unknown" */
static bool fake_silent;            /* adopt() answers nothing yet */
static unsigned fake_asked_unknown; /* how often it did */

static struct fake_job *fake_find(const char *folder)
{
	for (unsigned i = 0; i < fake_njobs; i++)
		if (strcmp(fake_jobs[i].folder, folder) == 0)
			return &fake_jobs[i];
	return NULL;
}

static unsigned fake_running(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fake_njobs; i++)
		n += fake_jobs[i].running;
	return n;
}

/* No two that run share one, and none is beyond those that there are. */
static void fake_check_slot(const struct executor *b, const struct job *j)
{
	assert_true(j->slot >= 0 && (unsigned)j->slot < b->daemon->config.slots);
	for (unsigned i = 0; i < fake_njobs; i++)
		assert_false(fake_jobs[i].running && fake_jobs[i].slot == j->slot);
}

static int fake_start(struct executor *b, struct job *j, struct dp_err *err)
{
	struct fake_job *f = &fake_jobs[fake_njobs];

	fake_check_slot(b, j);
	if (fake_refusal.code) {
		*err = fake_refusal;
		return err->code;
	}
	assert_true(fake_njobs < FAKE_JOBS);
	assert_null(fake_find(j->directory)); /* nothing is ever started twice */
	if (launch_prepare(j, err) != DP_OK)
		return err->code;
	*f = (struct fake_job){
		.trial = j->trial, .attempt = j->attempt, .slot = j->slot, .running = true, .job = j
	};
	snprintf(f->folder, sizeof f->folder, "%s", j->directory);
	fake_njobs++;
	fake_most = fake_running() > fake_most ? fake_running() : fake_most;
	job_on_started(j, "nowhere");
	return DP_OK;
}

static void fake_adopt(struct executor *b, struct job *j)
{
	struct fake_job *f = fake_find(j->directory);

	(void)b;
	if (fake_silent)
		return;
	if (fake_cannot_tell) {
		fake_asked_unknown++;
		job_on_unknown(j, "the test says so");
		return;
	}
	if (!f) {
		job_on_never_started(j);
		return;
	}
	f->job = j;
	assert_int_equal(j->slot, f->slot); /* adopted with the one it was given */
	if (f->running)
		job_on_started(j, "nowhere");
	else
		job_on_ended(j);
}

static unsigned fake_places(const struct executor *b)
{
	return b->daemon->config.slots;
}

static void fake_why_full(const struct executor *b, char *out, size_t room)
{
	(void)b;
	snprintf(out, room, "the fake cluster is full");
}

static void fake_write(const struct fake_job *f, const char *name, const char *text)
{
	char *path = dp_path_join(f->folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

/* The attempt ends: its files first, as a shim would leave them. result, exit: NULL for
 * no file. */
static void fake_end(struct fake_job *f, const char *result, const char *exit)
{
	struct job *j = f->job;

	if (result)
		fake_write(f, "result.jsonl", result);
	if (exit)
		fake_write(f, "exit.json", exit);
	f->running = false;
	f->job = NULL;
	if (j)
		job_on_ended(j);
}

static inline void fake_end_ok(struct fake_job *f, double f1)
{
	char line[100];

	snprintf(line, sizeof line, "{\"run\":0,\"metrics\":{\"f1\":%.17g}}\n", f1);
	fake_end(f, line, "{\"code\":0}");
}

static void fake_cancel(struct executor *b, struct job *j)
{
	struct fake_job *f = fake_find(j->directory);

	(void)b;
	if (!f || f->cancelled)
		return;
	f->cancelled = true;
	fake_end(f, NULL, "{\"signal\":15,\"cancelled\":true}");
}

static void fake_tick(struct executor *b)
{
	for (struct job *j = b->daemon->executors->jobs; j; j = j->next)
		job_on_progress(j);
}

static void fake_release(struct executor *b, struct job *j)
{
	(void)b;
	(void)j;
}

static const struct executor_ops fake_executor = {
	.name = "fake",
	.uses_slots = true,
	.capacity = fake_places,
	.explain_full = fake_why_full,
	.start = fake_start,
	.adopt = fake_adopt,
	.cancel = fake_cancel,
	.tick = fake_tick,
	.release_handle = fake_release,
};
static const struct executor_ops *const fake_executors[] = { &fake_executor, NULL };

/* ---- the daemon ---- */

static struct daemon fake_d;
static struct daemon_options fake_settings;
static char *fake_dir;
static int fake_fd = -1; /* our end of a connection to it */

static void fake_start_daemon(void)
{
	struct dp_err err;
	int pair[2];

	if (daemon_open(&fake_d, &fake_settings, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	fake_fd = pair[0];
	assert_int_equal(server_add_fd(&fake_d, pair[1], false, &err), DP_OK);
}

/* As if it were killed: nothing is finished, nobody is told. What is queued for the
 * journal is written, or not; both happen in life. */
static void fake_stop_daemon(void)
{
	close(fake_fd);
	fake_fd = -1;
	daemon_close(&fake_d);
	for (unsigned i = 0; i < fake_njobs; i++)
		fake_jobs[i].job = NULL;
}

static int fake_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	fake_njobs = fake_most = fake_asked_unknown = 0;
	fake_refusal = (struct dp_err){ 0 };
	fake_cannot_tell = fake_silent = false;
	fake_dir = dp_path_join(tmp ? tmp : "/tmp", "dparetod-testXXXXXX");
	if (!mkdtemp(fake_dir))
		return -1;
	fake_settings = (struct daemon_options){ .state_dir = fake_dir,
						 .socket_path = "none",
						 .log_file = "/dev/null",
						 .control_fd = -1,
						 .executors = fake_executors };
	fake_settings.config_source.names[0] = "slots";
	fake_settings.config_source.values[0] = "4";
	fake_settings.config_source.names[1] = "disk_watermark";
	fake_settings.config_source.values[1] = "0";
	fake_settings.config_source.count = 2;
	fake_start_daemon();
	return 0;
}

static int fake_teardown(void **state)
{
	(void)state;
	if (fake_fd >= 0)
		fake_stop_daemon();
	if (dp_remove_tree(fake_dir, NULL) != DP_OK)
		return -1;
	free(fake_dir);
	return 0;
}

/* One round of the loop. */
static void fake_turn(void)
{
	struct timespec moment = { 0, 200000 };

	uv_run(&fake_d.loop, UV_RUN_NOWAIT);
	nanosleep(&moment, NULL); /* worker threads and the journal's want the machine */
}

/* Turns until the condition holds. */
#define FAKE_UNTIL(condition)                                                                      \
	do {                                                                                       \
		time_t fake_limit_ = time(NULL) + FAKE_LIMIT_S;                                    \
		while (!(condition)) {                                                             \
			if (time(NULL) > fake_limit_)                                              \
				fail_msg("never: %s", #condition);                                 \
			fake_turn();                                                               \
		}                                                                                  \
	} while (0)

/* ---- requests ---- */

static bool fake_readable(void)
{
	struct pollfd p = { .fd = fake_fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* Sends a request; takes the reference. */
static void fake_send(const char *verb, json_t *fields)
{
	struct dp_buf line = DP_BUF_INIT;

	dp_control_format_request(&line, verb, fields);
	assert_int_equal(dp_write_all(fake_fd, line.data, line.len), 0);
	dp_buf_free(&line);
}

/* Its reply. The caller frees *ok, which is NULL after an error. */
static int fake_reply(json_t **ok, struct dp_err *err)
{
	struct dp_buf line = DP_BUF_INIT;
	char c = 0;
	int code;

	while (c != '\n') {
		FAKE_UNTIL(fake_readable());
		assert_int_equal(read(fake_fd, &c, 1), 1);
		if (c != '\n')
			dp_buf_add(&line, &c, 1);
	}
	*ok = NULL;
	code = dp_control_parse_reply(line.data, line.len, ok, err);
	dp_buf_free(&line);
	return code;
}

static int fake_ask(const char *verb, json_t *fields, json_t **ok, struct dp_err *err)
{
	fake_send(verb, fields);
	return fake_reply(ok, err);
}

/* A request that succeeds and whose answer does not matter. */
static void fake_do(const char *verb, json_t *fields)
{
	struct dp_err err;
	json_t *ok;

	if (fake_ask(verb, fields, &ok, &err) != DP_OK)
		fail_msg("%s: %s", verb, err.msg);
	json_decref(ok);
}

/* A study of the sparse vector technique; `search` is the inside of its braces. */
static struct study *fake_submit(const char *name, const char *trainer, const char *search)
{
	char text[1000];
	struct study *study;

	snprintf(text, sizeof text,
		 "study: %s\nseed: 1\ntrainer: {command: [x]%s}\n"
		 "parameters: {C: {type: int, range: [1, 30]}, b: {type: float, range: "
		 "[1, 9]}}\n"
		 "objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: "
		 "b}},\n"
		 "  error: {metric: f1}}\n"
		 "anti_ideal: {epsilon: 10, error: 1}\nsearch: {%s}\n",
		 name, trainer, search);
	fake_do("submit", json_pack("{s:s, s:s, s:s}", "text", text, "path", "f.yaml", "dir", "/"));
	assert_int_equal(study_find(&fake_d, name, &study, NULL), DP_OK);
	return study;
}

#endif
