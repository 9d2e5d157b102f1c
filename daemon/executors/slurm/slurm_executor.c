/* slurm_executor.c - the Slurm executor: a trainer is a job of a cluster, under the same shim.
 *
 * Slurm's own commands run on worker threads: sbatch to submit, one squeue for all open jobs, sacct
 * for jobs that squeue does not list, scancel to cancel. Their answers are trusted only so far:
 *
 * - A missing or failed answer says nothing.
 * - An id from sbatch may be unknown after a restart of the controller, or belong to another job.
 *   Jobs are known by their name, which is unique to an attempt.
 * - A job that Slurm gave up may still run on a node that Slurm cannot reach. It can only write to
 *   the directory of its own attempt, which is read once.
 * - Of a job that was submitted twice, only the one that makes the claim starts.
 *
 * The end is the shim's record in the attempt's directory, as with the local executor. */
#include "daemon/executors/slurm/slurm_internal.h"

#include "base/fs.h"
#include "base/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_MIN_SECONDS             1.0 /* between two polls while something happens */
#define CANCEL_KILL_SECONDS          5.0 /* beyond the grace time, until the whole job is killed */
#define CANCEL_RETRY_SECONDS         5.0
#define CANCEL_PENDING_RETRY_SECONDS 2.0  /* for a pending job, or after a failure */
#define ID_VALID_SECONDS             5.0  /* Slurm may reuse an id after that */
#define SBATCH_SLOW_SECONDS          5.0  /* of sbatch, before users see it as slow */
#define STOP_UNREACHABLE_SECONDS     20.0 /* a stopping daemon waits for Slurm */

enum {
	PROGRESS_READS_PER_TICK = 128, /* attempts */
	CANCELS_PER_COMMAND_MAX = 100, /* jobs */
	ORPHAN_QUERIES_MAX = 3,        /* worker threads that may wait for squeue */
};

int64_t slurm_now(const struct slurm_executor *s)
{
	return clock_now(s->executor->daemon);
}

int64_t slurm_time_after(int64_t from, double seconds)
{
	return from + (int64_t)(seconds * 1e6);
}

struct slurm_config slurm_get_config(const struct executor *b)
{
	return slurm_config_read(b->daemon->config.slurm);
}

/* ---- commands on worker threads ---- */

static void slurm_task_worker(void *arg)
{
	struct slurm_task *t = arg;

	slurm_command_run(&t->output, t->argv.list, t->env, t->input, SLURM_COMMAND_SECONDS,
			  &t->slurm->stop_requested);
	if (t->parse_rows && slurm_output_ok(&t->output))
		t->output.error = slurm_rows_parse(&t->output.out, &t->rows);
}

void slurm_task_clear(struct slurm_task *t)
{
	argv_free_list(t->argv.list);
	argv_free_list(t->env);
	free(t->input);
	slurm_output_free(&t->output);
	slurm_rows_free(&t->rows);
	*t = (struct slurm_task){ .slurm = t->slurm };
}

static void on_slurm_task_done(void *arg)
{
	struct slurm_task *t = arg, ended = *t;

	/* the callback may start the next task at once */
	*t = (struct slurm_task){ .slurm = t->slurm };
	if (!t->slurm->executor->daemon->loop_ended)
		ended.on_done(&ended);
	slurm_task_clear(&ended);
}

bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *), bool parses)
{
	if (!t->argv.list) {
		slurm_task_clear(t);
		return false;
	}
	t->on_done = done;
	t->parse_rows = parses;
	t->started_us = slurm_now(t->slurm);
	background_job_start(t->slurm->executor->daemon, &t->job, slurm_task_worker,
			     on_slurm_task_done, t);
	return true;
}

/* ---- jobs ---- */

void slurm_poll_soon(struct slurm_executor *s)
{
	int64_t soon = slurm_time_after(slurm_now(s), POLL_MIN_SECONDS);

	s->poll_seconds = POLL_MIN_SECONDS;
	if (s->next_poll_us > soon)
		s->next_poll_us = soon;
	slurm_watch_soon(s);
}

/* Eight digits that distinguish a study even from a deleted one of the same name. */
static void slurm_study_token(const struct study *study, char out[9])
{
	char text[DP_SHA256_HEX_SIZE], created[40];
	struct dp_sha256 sum;

	snprintf(created, sizeof created, "\n%lld", (long long)study->state->created_us);
	dp_sha256_init(&sum);
	dp_sha256_update(&sum, study->daemon->paths.state_dir,
			 strlen(study->daemon->paths.state_dir));
	dp_sha256_update(&sum, created, strlen(created));
	dp_sha256_hex(&sum, text);
	snprintf(out, 9, "%.8s", text);
}

/* Attempts of a quarantined study cannot be assigned yet. */
bool slurm_name_is_ours(const struct slurm_executor *s, const char *name)
{
	const struct daemon *d = s->executor->daemon;
	char token[9];

	if (strncmp(name, "dp-", 3) != 0 || strlen(name) < 3 + sizeof token)
		return false;
	for (uint32_t i = 0; i < d->studies->n; i++) {
		slurm_study_token(d->studies->list[i], token);
		if (strncmp(name + 3, token, sizeof token - 1) == 0)
			return !d->studies->list[i]->state->quarantined;
	}
	return false;
}

struct slurm_job *slurm_job_new(struct executor *b, struct job *j)
{
	struct slurm_executor *s = b->data;
	struct slurm_job *k = dp_calloc(1, sizeof *k);
	char token[9];

	slurm_study_token(j->study, token);
	snprintf(k->name, sizeof k->name, "dp-%s-%s-%u-%u", token, j->spec->name, j->trial,
		 j->attempt);
	k->task = j->run == DP_RUN_ALL ? -1 : j->run;
	k->slurm = s;
	k->job = j;
	k->phase_since_us = slurm_now(s);
	k->serial = ++s->serial;
	k->next = s->jobs;
	s->jobs = k;
	slurm_poll_soon(s);
	j->executor_data = k;
	return k;
}

static void slurm_job_unlink(struct slurm_job *k)
{
	struct slurm_executor *s = k->slurm;
	struct slurm_job **p = &s->jobs;

	while (*p && *p != k)
		p = &(*p)->next;
	if (*p)
		*p = k->next;
	for (p = &s->queue; *p; p = &(*p)->next_queued)
		if (*p == k) {
			*p = k->next_queued;
			break;
		}
	s->queue_tail = &s->queue;
	while (*s->queue_tail)
		s->queue_tail = &(*s->queue_tail)->next_queued;
}

static void slurm_release_handle(struct executor *b, struct job *j)
{
	struct slurm_job *k = j->executor_data;

	(void)b;
	slurm_job_unlink(k);
	j->executor_data = NULL;
	free(k);
}

struct job *slurm_job_detach(struct slurm_job *k)
{
	struct job *j = k->job;

	slurm_release_handle(k->slurm->executor, j);
	return j;
}

void slurm_job_set_phase(struct slurm_job *k, enum slurm_job_phase phase)
{
	if (k->phase == phase)
		return;
	k->phase = phase;
	k->phase_since_us = slurm_now(k->slurm);
	slurm_poll_soon(k->slurm);
}

void slurm_job_update_location(struct slurm_job *k, const char *nodes)
{
	char where[120];

	if (k->state == SLURM_PENDING)
		snprintf(where, sizeof where, "Slurm job %s, waiting%s%.50s%s", k->id,
			 k->reason[0] ? " (" : "", k->reason, k->reason[0] ? ")" : "");
	else if (*nodes)
		snprintf(where, sizeof where, "Slurm job %s on %.60s", k->id, nodes);
	else
		snprintf(where, sizeof where, "Slurm job %s", k->id);
	job_set_location(k->job, where);
}

/* ---- cancelling ---- */

void slurm_job_cancel(struct slurm_job *k)
{
	if (k->cancelling)
		return;
	k->cancelling = true;
	k->next_cancel_us = slurm_now(k->slurm);
	slurm_poll_soon(k->slurm);
}

enum slurm_cancel_mode {
	SLURM_CANCEL_PENDING, /* pending jobs only */
	SLURM_CANCEL_TERM,    /* a signal for the shim alone, which knows the grace time */
	SLURM_CANCEL_KILL     /* by Slurm's rules */
};

static enum slurm_cancel_mode slurm_cancel_choose_mode(const struct slurm_job *k)
{
	if (k->state == SLURM_PENDING)
		return SLURM_CANCEL_PENDING;
	return k->term_sent_us ? SLURM_CANCEL_KILL : SLURM_CANCEL_TERM;
}

/* Requires that a recent poll listed the job under this id: after a controller has lost its state,
 * the id may be another job's. */
static bool slurm_cancel_is_due(const struct slurm_job *k, int64_t now)
{
	return k->cancelling && k->phase == SLURM_PHASE_ACTIVE && now >= k->next_cancel_us &&
	       k->last_seen_us == k->slurm->poll_asked_us &&
	       now < slurm_time_after(k->slurm->poll_answered_us, ID_VALID_SECONDS);
}

static void slurm_cancel_build_argv(struct argv_list *argv, enum slurm_cancel_mode way)
{
	argv_add(argv, "scancel");
	argv_add(argv, "--quiet");
	argv_add(argv, "--user=%u", (unsigned)getuid());
	if (way == SLURM_CANCEL_PENDING)
		argv_add(argv, "--state=PENDING");
	if (way == SLURM_CANCEL_TERM) {
		argv_add(argv, "--batch");
		argv_add(argv, "--signal=TERM");
	}
}

/* A signal that was not delivered is sent again before SIGKILL. */
static void on_slurm_cancel_done(struct slurm_task *t)
{
	struct slurm_executor *s = t->slurm;

	if (slurm_output_ok(&t->output))
		return;
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->cancelling && k->term_sent_us == t->started_us) {
			k->term_sent_us = 0;
			k->next_cancel_us =
				slurm_time_after(slurm_now(s), CANCEL_PENDING_RETRY_SECONDS);
		}
}

static double slurm_cancel_retry_seconds(const struct slurm_job *k, enum slurm_cancel_mode way)
{
	switch (way) {
	case SLURM_CANCEL_PENDING:
		return CANCEL_PENDING_RETRY_SECONDS;
	case SLURM_CANCEL_TERM:
		return k->job->spec->trainer.grace + CANCEL_KILL_SECONDS;
	case SLURM_CANCEL_KILL:
		break;
	}
	return CANCEL_RETRY_SECONDS;
}

/* Cancels due jobs of one kind, as many as a command takes. */
static void slurm_cancel_due_jobs(struct slurm_executor *s)
{
	struct argv_list *argv = &s->cancel_task.argv;
	int64_t now = slurm_now(s);
	struct slurm_job *gently[CANCELS_PER_COMMAND_MAX];
	enum slurm_cancel_mode way = SLURM_CANCEL_PENDING;
	unsigned n = 0, signalled = 0;

	for (struct slurm_job *k = s->jobs; k && n < CANCELS_PER_COMMAND_MAX; k = k->next) {
		if (k->cancelling)
			slurm_poll_soon(s); /* poll often for the outcome */
		if (!slurm_cancel_is_due(k, now) || (n > 0 && slurm_cancel_choose_mode(k) != way))
			continue;
		if (n++ == 0) {
			way = slurm_cancel_choose_mode(k);
			slurm_cancel_build_argv(argv, way);
		}
		argv_add(argv, "%s", k->id);
		k->next_cancel_us = slurm_time_after(now, slurm_cancel_retry_seconds(k, way));
		if (way == SLURM_CANCEL_TERM)
			gently[signalled++] = k;
	}
	if (n == 0 || !slurm_task_start(&s->cancel_task, on_slurm_cancel_done, false))
		return;
	while (signalled > 0)
		gently[--signalled]->term_sent_us = s->cancel_task.started_us;
}

void slurm_cancel_strays(struct slurm_executor *s, struct argv_list *ids)
{
	if (!s->cancel_task.job.is_running) {
		slurm_cancel_build_argv(&s->cancel_task.argv, SLURM_CANCEL_PENDING);
		for (size_t i = 0; i < ids->n && i < CANCELS_PER_COMMAND_MAX; i++)
			argv_add(&s->cancel_task.argv, "%s", ids->list[i]);
		log_line(&s->executor->daemon->log, LOG_INFO, "",
			 "cancelling %zu Slurm job%s that nobody needs any more (%s%s)", ids->n,
			 ids->n == 1 ? "" : "s", ids->list[0], ids->n == 1 ? "" : ", ...");
		slurm_task_start(&s->cancel_task, on_slurm_cancel_done, false);
	}
	argv_free_list(ids->list);
}

static void slurm_cancel(struct executor *b, struct job *j)
{
	struct slurm_job *k = j->executor_data;

	(void)b;
	if (!k)
		return;
	if (k->phase == SLURM_PHASE_QUEUED)
		job_on_never_started(slurm_job_detach(k));
	else
		slurm_job_cancel(k);
}

/* ---- after a restart, and orphans ---- */

static void slurm_adopt(struct executor *b, struct job *j)
{
	const struct dp_trial *t = job_trial(j);
	struct slurm_job *k = j->executor_data;

	if (k)
		return; /* already searching */
	k = slurm_job_new(b, j);
	if (!k) {
		job_on_unknown(j, "there is no memory to ask Slurm for it");
		return;
	}
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].run == j->run && t->attempts[i].number == j->attempt &&
		    t->attempts[i].job_id)
			snprintf(k->id, sizeof k->id, "%s", t->attempts[i].job_id);
	k->phase = SLURM_PHASE_SEARCHING;
	k->slurm->next_poll_us = 0;
	k->slurm->poll_until_us = slurm_time_after(slurm_now(k->slurm), SLURM_STRAY_WATCH_SECONDS);
	slurm_files_check(k, false); /* its end may be recorded */
}

static bool slurm_orphan_read_name(const char *folder, char name[SLURM_NAME_LEN], long *task)
{
	char *path = lease_file_path(folder, ".job"), text[SLURM_NAME_LEN + 40] = "";
	int fd = path ? dp_open_untrusted(path) : -1;
	bool known = fd >= 0 && read(fd, text, sizeof text - 1) > 0 &&
		     sscanf(text, "%199s %ld", name, task) == 2;

	if (fd >= 0)
		close(fd);
	free(path);
	return known;
}

static void slurm_orphan_cancel(struct slurm_executor *s, const char *id)
{
	struct argv_list argv = { 0 };
	struct slurm_output run;

	slurm_cancel_build_argv(&argv, SLURM_CANCEL_KILL);
	argv_add(&argv, "%s", id);
	slurm_command_run(&run, argv.list, NULL, NULL, SLURM_COMMAND_SECONDS, &s->stop_requested);
	slurm_output_free(&run);
	argv_free_list(argv.list);
}

/* Cancels living jobs of this name and task. True: none lives. */
static bool slurm_orphan_cancel_rows(struct slurm_executor *s, const struct slurm_rows *rows,
				     const char *name, long task, char *why, size_t room)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct slurm_row *r = &rows->list[i];

		if (strcmp(r->name, name) != 0 || r->task != task || slurm_state_is_final(r->state))
			continue;
		slurm_orphan_cancel(s, r->id);
		snprintf(why, room, "Slurm job %s is being cancelled", r->id);
		return false;
	}
	return true;
}

static bool slurm_orphan_query(struct slurm_executor *s, const char *name, long task, char *why,
			       size_t room)
{
	struct argv_list argv = { 0 };
	struct slurm_rows rows = { 0 };
	struct slurm_output run;
	bool gone = false;

	argv_add(&argv, "squeue");
	argv_add(&argv, "--noheader");
	argv_add(&argv, "--array");
	argv_add(&argv, "--states=all");
	argv_add(&argv, "--user=%u", (unsigned)getuid());
	argv_add(&argv, "--name=%s", name);
	argv_add(&argv, "--format=%s", SLURM_ROW_FORMAT);
	slurm_command_run(&run, argv.list, NULL, NULL, SLURM_COMMAND_SECONDS, &s->stop_requested);
	if (slurm_output_ok(&run))
		run.error = slurm_rows_parse(&run.out, &rows);
	if (slurm_output_ok(&run))
		gone = slurm_orphan_cancel_rows(s, &rows, name, task, why, room);
	else
		slurm_output_describe_error(&run, "squeue", why, room);
	slurm_rows_free(&rows);
	slurm_output_free(&run);
	argv_free_list(argv.list);
	return gone;
}

/* Asks Slurm if a job of the attempt lives; without an answer it may. A node that Slurm cannot
 * reach only writes to a directory that is not read again. A Slurm that hangs must not block all
 * worker threads. */
static bool slurm_kill_orphans(const struct executor *b, const char *folder, char *why, size_t room)
{
	struct slurm_executor *s = b->data;
	char name[SLURM_NAME_LEN];
	bool gone = false;
	long task;

	why[0] = '\0';
	if (!slurm_orphan_read_name(folder, name, &task))
		return true; /* never submitted */
	if (atomic_fetch_add(&s->n_orphan_queries, 1) < ORPHAN_QUERIES_MAX)
		gone = slurm_orphan_query(s, name, task, why, room);
	else
		snprintf(why, room, "Slurm is being asked about others");
	atomic_fetch_sub(&s->n_orphan_queries, 1);
	return gone;
}

/* ---- the rest of the table ---- */

static int slurm_open(struct executor *b, struct dp_err *err)
{
	struct slurm_executor *s = dp_calloc(1, sizeof *s);

	(void)err;
	s->executor = b;
	s->queue_tail = &s->queue;
	s->poll_seconds = POLL_MIN_SECONDS;
	s->submit_task.slurm = s->poll_task.slurm = s->sacct_task.slurm = s->cancel_task.slurm = s;
	uv_timer_init(&b->daemon->loop, &s->gather_timer);
	uv_timer_init(&b->daemon->loop, &s->watch_timer);
	s->gather_timer.data = s->watch_timer.data = s;
	b->data = s;
	return DP_OK;
}

static void slurm_stop(struct executor *b)
{
	struct slurm_executor *s = b->data;

	if (s)
		atomic_store(&s->stop_requested, true);
}

static void slurm_close(struct executor *b)
{
	free(b->data);
}

static unsigned slurm_capacity(const struct executor *b)
{
	return slurm_get_config(b).max_jobs;
}

static void slurm_explain_full(const struct executor *b, char *out, size_t room)
{
	snprintf(out, room, "%u jobs are in Slurm's queue, as many as may be (slurm.jobs)",
		 slurm_capacity(b));
}

/* JobHeldUser, JobHeldAdmin, launch_failed_requeued_held ... */
static bool slurm_job_is_held(const struct slurm_job *k)
{
	return k->phase == SLURM_PHASE_ACTIVE && k->state == SLURM_PENDING &&
	       strcasestr(k->reason, "held") != NULL;
}

static bool slurm_explain_unreachable(const struct slurm_executor *s, char *out, size_t room)
{
	double seconds = s->submit_task.job.is_running
				 ? (double)(slurm_now(s) - s->submit_task.started_us) / 1e6
				 : 0;

	if (s->unreachable_since_us)
		snprintf(out, room, "Slurm does not answer (%s); asking again", s->trouble);
	else if (seconds >= SBATCH_SLOW_SECONDS)
		snprintf(out, room, "sbatch has not answered for %.0f s", seconds);
	else
		return false;
	return true;
}

static bool slurm_explain_waiting(const struct executor *b, const struct study *study, char *out,
				  size_t room)
{
	const struct slurm_executor *s = b->data;
	const struct slurm_job *waits = NULL;
	unsigned waiting = 0, others = 0;

	for (const struct slurm_job *k = s->jobs; k; k = k->next) {
		if (k->job->study != study)
			continue;
		if (slurm_job_is_held(k)) {
			snprintf(out, room,
				 "Slurm job %s is held (%s); 'scontrol release %s' lets "
				 "it go",
				 k->id, k->reason, k->id);
			return true;
		}
		if (k->phase == SLURM_PHASE_ACTIVE && k->state == SLURM_PENDING) {
			waiting++;
			waits = k;
		} else {
			others++;
		}
	}
	if (waiting + others > 0 && slurm_explain_unreachable(s, out, room))
		return true;
	if (waiting == 0 || others > 0)
		return false;
	snprintf(out, room, "%u job%s in Slurm's queue%s%s", waiting,
		 waiting == 1 ? " waits" : "s wait", waits->reason[0] ? ": " : "", waits->reason);
	return true;
}

/* Reads progress. If there are many jobs, skips pending ones and reads a part per tick. */
static void slurm_read_progress(struct slurm_executor *s)
{
	unsigned n = 0, from = s->progress_offset;
	bool many = s->executor->n_jobs > PROGRESS_READS_PER_TICK;

	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		if (k->phase < SLURM_PHASE_ACTIVE || k->files_job.is_running ||
		    (many && k->state == SLURM_PENDING))
			continue;
		if (n >= from && n < from + PROGRESS_READS_PER_TICK)
			job_on_progress(k->job);
		n++;
	}
	s->progress_offset =
		n > from + PROGRESS_READS_PER_TICK ? from + PROGRESS_READS_PER_TICK : 0;
}

/* A daemon that should end its trainers cannot while Slurm does not answer. It waits for a while,
 * then leaves them to the next daemon. */
static void slurm_abandon_on_stop(struct slurm_executor *s)
{
	struct daemon *d = s->executor->daemon;
	int64_t now = slurm_now(s);

	if (!d->stopping || d->stop_policy != STOP_KILL)
		return;
	if (!s->stopping_since_us)
		s->stopping_since_us = now;
	if (!s->unreachable_since_us || s->executor->n_jobs < d->attempts->count(d) ||
	    now < slurm_time_after(s->unreachable_since_us, STOP_UNREACHABLE_SECONDS) ||
	    now < slurm_time_after(s->stopping_since_us, STOP_UNREACHABLE_SECONDS))
		return;
	log_line(&d->log, LOG_WARN, "",
		 "Slurm does not answer (%s): %u of its jobs could not be ended and are "
		 "left to the next daemon",
		 s->trouble, s->executor->n_jobs);
	d->stop_policy = STOP_LEAVE;
	daemon_request_turn(d);
}

static void slurm_tick(struct executor *b)
{
	struct slurm_executor *s = b->data;

	slurm_submit_next(s);
	if (!s->cancel_task.job.is_running)
		slurm_cancel_due_jobs(s);
	slurm_poll_if_due(s);
	slurm_files_check_due(s);
	slurm_read_progress(s);
	slurm_abandon_on_stop(s);
}

const struct executor_ops executor_slurm = {
	.name = "slurm",
	.open = slurm_open,
	.stop = slurm_stop,
	.close = slurm_close,
	.capacity = slurm_capacity,
	.explain_full = slurm_explain_full,
	.start = slurm_start,
	.adopt = slurm_adopt,
	.cancel = slurm_cancel,
	.kill_orphans = slurm_kill_orphans,
	.on_end_recorded = slurm_on_end_recorded,
	.explain_waiting = slurm_explain_waiting,
	.tick = slurm_tick,
	.release_handle = slurm_release_handle,
};
