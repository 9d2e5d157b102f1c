/* slurm_files.c - decides from an attempt's files and Slurm's state what became of its job. */
#include "daemon/executors/slurm/slurm_internal.h"

#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END_RECORD_WAIT_SECONDS 10.0 /* for the record, after Slurm says that a job has ended */
#define COMPLETING_SECONDS      60.0 /* for Slurm's reason, while the job completes */
#define FILES_CHECK_SECONDS     1.0  /* between two checks of an ended job */
#define FILES_SEARCH_SECONDS    5.0  /* between two checks of a job that Slurm does not list */

enum {
	MISSED_POLLS_NEVER_STARTED = 2, /* answers without a job that made no claim */
	MISSED_POLLS_LOST = 3,          /* answers without a job that made one */
	WATCH_MIN_MS = 100,             /* between two looks for records */
	WATCH_MAX_MS = 500,             /* the same, while nothing happens */
	WATCHED_JOBS_MAX = 256          /* attempts in one look */
};

/* ---- checking ---- */

/* Reads if the end is recorded, and if a request to stop may have caused it. */
static enum slurm_file_state slurm_files_read_end(const char *folder)
{
	char *path = dp_path_join(folder, "exit.json");
	struct dp_buf text = DP_BUF_INIT;
	int e = path ? lease_read_end_record(folder, path, &text) : ENOMEM;
	enum slurm_file_state look = SLURM_FILES_NO_END;

	if (e == 0 && text.len)
		look = strstr(dp_buf_text(&text), "\"cancelled\":true") ||
				       !strstr(dp_buf_text(&text), "\"code\":0")
			       ? SLURM_FILES_MAYBE_STOPPED
			       : SLURM_FILES_END_RECORDED;
	else if (e != 0 && path && access(path, F_OK) == 0)
		look = SLURM_FILES_END_RECORDED; /* the final read reports the problem */
	dp_buf_free(&text);
	free(path);
	return look;
}

/* Makes and removes a file, so that a network file system refreshes its view of the directory,
 * which may otherwise be a minute old. */
static void slurm_files_refresh_cache(const char *folder)
{
	char *path = dp_path_join(folder, ".look");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
}

/* Takes the claim if it is free, so that no late shim can start. Makes missing directories, since a
 * daemon may have died before it made them. */
static void slurm_files_acquire_lease(struct slurm_job *k)
{
	const char *folder = k->job->directory;
	struct dp_err err;
	long holder;

	if (!lease_exists(folder) && (dp_mkdirs(folder, 0755, &err) != DP_OK ||
				      lease_make_directory(folder, &err) != DP_OK)) {
		k->file_state = SLURM_FILES_UNKNOWN;
		k->check_errno = errno;
		return;
	}
	switch (lease_acquire(folder, &holder)) {
	case LEASE_ACQUIRED:
		k->file_state = SLURM_FILES_NEVER_STARTED;
		break;
	case LEASE_UNKNOWN: /* the file system may have no locks */
		k->check_errno = errno;
		k->file_state = lease_exists(folder) ? SLURM_FILES_NO_END : SLURM_FILES_UNKNOWN;
		break;
	case LEASE_HELD:
	case LEASE_RELEASED:
		k->file_state = SLURM_FILES_NO_END;
		break;
	}
}

static void slurm_files_worker(void *arg)
{
	struct slurm_job *k = arg;

	if (k->takes_lease)
		slurm_files_refresh_cache(k->job->directory);
	k->file_state = slurm_files_read_end(k->job->directory);
	if (k->takes_lease && k->file_state == SLURM_FILES_NO_END)
		slurm_files_acquire_lease(k);
}

static void on_slurm_files_checked(void *arg);

void slurm_files_check(struct slurm_job *k, bool take)
{
	if (k->files_job.is_running || k->job->reader.is_running)
		return; /* the check may have ended and freed the job */
	k->takes_lease = take;
	k->next_check_us = slurm_time_after(slurm_now(k->slurm), FILES_CHECK_SECONDS);
	background_job_start(k->slurm->executor->daemon, &k->files_job, slurm_files_worker,
			     on_slurm_files_checked, k);
}

/* Logs the last line that the job itself printed; most likely the shim could not be started. */
static void slurm_job_log_last_line(const struct slurm_job *k, char *out, size_t room)
{
	char text[512] = "", *path = dp_path_join(k->job->directory, SLURM_LOG_NAME), *line;
	int fd = path ? dp_open_untrusted(path) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strrchr(text, '\n');
	snprintf(out, room, "%.199s", line ? line + 1 : text);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = ' ';
	if (fd >= 0)
		close(fd);
	free(path);
}

static void slurm_job_on_never_ran(struct slurm_job *k)
{
	struct slurm_executor *s = k->slurm;
	char said[200];
	struct dp_err err;

	slurm_job_log_last_line(k, said, sizeof said);
	if (k->cancelling || k->requeued || k->state == SLURM_NODE_FAIL ||
	    k->state == SLURM_PREEMPTED || !k->id[0]) {
		job_on_never_started(slurm_job_detach(k));
		return;
	}
	if (k->state == SLURM_CANCELLED)
		dp_fail(&err, DP_E_IO, "Slurm job %s was cancelled from outside before it began",
			k->id);
	else if (k->unknown_to_squeue && !said[0])
		dp_fail(&err, DP_E_IO, "Slurm does not know job %s any more, and it never began",
			k->id);
	else
		dp_fail(&err, DP_E_INVALID,
			"Slurm job %s ended (%s) before dpareto-shim could claim the "
			"attempt%s%s; the node must see %s under the same path, and the "
			"daemon's user must be able to write there",
			k->id, k->state_word[0] ? k->state_word : "it is not known how",
			said[0] ? "; it said: " : "", said, s->executor->daemon->paths.state_dir);
	s->shim_path[0] = '\0'; /* the copy may be missing */
	job_on_refused(slurm_job_detach(k), &err);
}

/* Reports Slurm's reason of an end that the shim may not have recorded. */
static void slurm_job_report_external_end(const struct slurm_job *k)
{
	static const struct {
		enum dp_end_class end;
		const char *why;
	} fates[] = {
		[SLURM_TIMEOUT] = { DP_END_TIMEOUT, "Slurm's time limit for the job was "
						    "over; give it more "
						    "(trainer.slurm.time)" },
		[SLURM_OUT_OF_MEMORY] = { DP_END_MEMORY,
					  "Slurm ended the job because it took more memory "
					  "than it had; give it more (trainer.memory)" },
		[SLURM_NODE_FAIL] = { DP_END_LOST, "its node failed" },
		[SLURM_ENDED] = { DP_END_LOST, "the job ended without a record of how" },
		[SLURM_CANCELLED] = { DP_END_CANCELLED, "it was cancelled from outside; "
							"the trial starts again" },
		[SLURM_PREEMPTED] = { DP_END_CANCELLED, "it had to make room for another "
							"job; the trial starts again" },
	};
	char why[300];

	if (k->unknown_to_squeue) {
		snprintf(why, sizeof why,
			 "Slurm does not know job %s any more, and no end was recorded", k->id);
		job_set_external_end(k->job, DP_END_LOST, why);
		return;
	}
	if ((size_t)k->state >= DP_COUNT(fates) || !fates[k->state].end)
		return;
	snprintf(why, sizeof why, "%s (Slurm job %s: %s)", fates[k->state].why, k->id,
		 k->state_word);
	job_set_external_end(k->job, fates[k->state].end, why);
}

static void slurm_job_finish(struct slurm_job *k)
{
	if (k->phase == SLURM_PHASE_ENDED)
		slurm_job_report_external_end(k);
	job_on_ended(slurm_job_detach(k));
}

static bool slurm_job_has_waited(const struct slurm_job *k, int64_t since, double seconds)
{
	return (double)(slurm_now(k->slurm) - since) / 1e6 >= seconds;
}

/* True if a shim made the claim, no end is recorded, and none can be expected any more. */
static bool slurm_job_is_lost(const struct slurm_job *k)
{
	if (k->phase != SLURM_PHASE_ENDED)
		return false;
	if (!k->unknown_to_squeue)
		return slurm_job_has_waited(k, k->phase_since_us, END_RECORD_WAIT_SECONDS);
	return k->sacct_asked && k->n_missed_polls >= MISSED_POLLS_LOST &&
	       slurm_job_has_waited(k, k->phase_since_us, SLURM_LOST_SECONDS);
}

/* Seconds to wait for Slurm's reason when the end is already recorded. */
static double slurm_job_final_state_seconds(const struct slurm_job *k)
{
	return strcmp(k->state_word, "COMPLETING") == 0 ? COMPLETING_SECONDS
							: END_RECORD_WAIT_SECONDS;
}

/* The job was stopped, but not by this daemon. Slurm knows if it was cancelled from outside or
 * reached its time limit. */
static void slurm_job_on_stopped(struct slurm_job *k)
{
	struct slurm_executor *s = k->slurm;

	if (!k->stopped_since_us)
		k->stopped_since_us = slurm_now(s);
	if (k->cancelling ||
	    (k->phase == SLURM_PHASE_ENDED && (!k->unknown_to_squeue || k->sacct_asked)) ||
	    (!s->unreachable_since_us &&
	     slurm_job_has_waited(k, k->stopped_since_us, slurm_job_final_state_seconds(k))))
		slurm_job_finish(k);
	else
		slurm_poll_soon(s);
}

static void on_slurm_files_checked(void *arg)
{
	struct slurm_job *k = arg;

	if (k->slurm->executor->daemon->loop_ended)
		return;
	switch (k->file_state) {
	case SLURM_FILES_END_RECORDED:
		slurm_job_finish(k);
		break;
	case SLURM_FILES_MAYBE_STOPPED:
		slurm_job_on_stopped(k);
		break;
	case SLURM_FILES_NEVER_STARTED:
		slurm_job_on_never_ran(k);
		break;
	case SLURM_FILES_UNKNOWN:
		job_on_unknown(k->job, strerror(k->check_errno));
		break;
	case SLURM_FILES_NO_END:
		if (k->takes_lease && slurm_job_is_lost(k))
			slurm_job_finish(k);
		break;
	}
}

void slurm_on_end_recorded(struct executor *b, struct job *j)
{
	struct slurm_job *k = j->executor_data;

	(void)b;
	if (k && k->phase >= SLURM_PHASE_SEARCHING)
		slurm_files_check(k, false);
}

/* Checks the files of jobs that have ended or that Slurm does not list. The end of an unlisted job
 * may still be recorded. */
void slurm_files_check_due(struct slurm_executor *s)
{
	int64_t now = slurm_now(s);

	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		if (now < k->next_check_us || k->files_job.is_running)
			continue;
		if (k->phase == SLURM_PHASE_ENDED)
			slurm_files_check(
				k, !k->unknown_to_squeue ||
					   (k->sacct_asked &&
					    k->n_missed_polls >= MISSED_POLLS_NEVER_STARTED));
		else if (k->phase == SLURM_PHASE_SEARCHING || k->stopped_since_us)
			slurm_files_check(k, false);
		if (k->phase == SLURM_PHASE_SEARCHING)
			k->next_check_us = slurm_time_after(now, FILES_SEARCH_SECONDS);
	}
}

/* ---- watching for end records ---- */

/* Attempts whose records one worker thread looks for, many times a second. Jobs are known by serial
 * here, because they may be freed meanwhile. */
struct slurm_watch {
	struct background_job job;
	struct slurm_executor *slurm;
	size_t n;
	struct watched_job {
		uint64_t serial;
		char *directory;
		enum slurm_file_state file_state;
	} list[WATCHED_JOBS_MAX];
};

static void slurm_watch_free(struct slurm_watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->list[i].directory);
	free(w);
}

static void slurm_watch_worker(void *arg)
{
	struct slurm_watch *w = arg;

	for (size_t i = 0; i < w->n; i++)
		w->list[i].file_state = slurm_files_read_end(w->list[i].directory);
}

static void slurm_watch_apply(struct slurm_executor *s, const struct watched_job *found)
{
	struct slurm_job *k = s->jobs;

	while (k && k->serial != found->serial)
		k = k->next;
	if (!k || k->files_job.is_running)
		return;
	if (found->file_state == SLURM_FILES_MAYBE_STOPPED)
		slurm_job_on_stopped(k);
	else
		slurm_job_finish(k);
}

static void on_slurm_watch_done(void *arg)
{
	struct slurm_watch *w = arg;

	w->slurm->watch_running = false;
	for (size_t i = 0; i < w->n && !w->slurm->executor->daemon->loop_ended; i++)
		if (w->list[i].file_state != SLURM_FILES_NO_END)
			slurm_watch_apply(w->slurm, &w->list[i]);
	slurm_watch_free(w);
}

/* Selects jobs that may have ended, without pending ones if there are many. The ticks check jobs
 * beyond WATCHED_JOBS_MAX. */
static void slurm_watch_select_jobs(struct slurm_watch *w)
{
	bool many = w->slurm->executor->n_jobs > WATCHED_JOBS_MAX;

	for (const struct slurm_job *k = w->slurm->jobs; k && w->n < WATCHED_JOBS_MAX;
	     k = k->next) {
		if (k->phase != SLURM_PHASE_ACTIVE || k->stopped_since_us ||
		    (many && k->state == SLURM_PENDING))
			continue;
		w->list[w->n].directory = dp_strdup(k->job->directory);
		w->list[w->n].serial = k->serial;
		w->n += w->list[w->n].directory != NULL;
	}
}

static void slurm_watch_start(struct slurm_executor *s)
{
	struct slurm_watch *w = s->watch_running ? NULL : dp_calloc(1, sizeof *w);

	if (!w)
		return; /* at the next look */
	w->slurm = s;
	slurm_watch_select_jobs(w);
	if (w->n == 0) {
		slurm_watch_free(w);
		return;
	}
	s->watch_running = true;
	background_job_start(s->executor->daemon, &w->job, slurm_watch_worker, on_slurm_watch_done,
			     w);
}

static void on_slurm_watch_timer(uv_timer_t *timer)
{
	struct slurm_executor *s = timer->data;

	if (!s->jobs)
		return;
	slurm_watch_start(s);
	s->watch_interval_ms = s->watch_interval_ms + s->watch_interval_ms / 8;
	if (s->watch_interval_ms > WATCH_MAX_MS)
		s->watch_interval_ms = WATCH_MAX_MS;
	uv_timer_start(timer, on_slurm_watch_timer, s->watch_interval_ms, 0);
}

void slurm_watch_soon(struct slurm_executor *s)
{
	s->watch_interval_ms = WATCH_MIN_MS;
	if (!uv_is_active((uv_handle_t *)&s->watch_timer))
		uv_timer_start(&s->watch_timer, on_slurm_watch_timer, WATCH_MIN_MS, 0);
}
