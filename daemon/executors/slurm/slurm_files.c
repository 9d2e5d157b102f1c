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

#define END_RECORD_WAIT_SECONDS 10.0 /* after Slurm says that a job has ended: for the record */
#define COMPLETING_SECONDS      60.0 /* for its word of how, while it cleans up */
#define FILES_CHECK_SECONDS     1.0  /* between two looks at the files of one that has ended */
#define FILES_SEARCH_SECONDS    5.0  /* the same, of one that Slurm does not tell about */

enum {
	MISSED_POLLS_NEVER_STARTED = 2, /* answers that do not name a job which claimed nothing */
	MISSED_POLLS_LOST = 3,          /* the same, of one that did */
	WATCH_MIN_MS = 100,             /* milliseconds between two looks for records */
	WATCH_MAX_MS = 500,             /* the same, while nothing happens */
	WATCHED_JOBS_MAX = 256          /* attempts of one of them */
};

/* ---- looking ---- */

/* Is the end recorded, and as that of a trainer which somebody may have ended? */
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
		look = SLURM_FILES_END_RECORDED; /* the final read reports why */
	dp_buf_free(&text);
	free(path);
	return look;
}

/* Making and removing a name has a network's file system look at the folder anew, which
 * it otherwise does up to a minute late. */
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

/* Makes the claim if nobody has: then no shim that comes late can. A daemon that died may
 * have ended before it could make a folder for either. */
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
	case LEASE_UNKNOWN: /* a disk may know no locks */
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
		return; /* what is found may be the end of the job, and of what is read */
	k->takes_lease = take;
	k->next_check_us = slurm_time_after(slurm_now(k->slurm), FILES_CHECK_SECONDS);
	background_job_start(k->slurm->executor->daemon, &k->files_job, slurm_files_worker,
			     on_slurm_files_checked, k);
}

/* The last line of what the job itself said: the shim could not be started, most likely.
 */
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

/* Nothing ran of it, and nothing will. */
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
	s->shim_path[0] = '\0'; /* the copy may be what is missing */
	job_on_refused(slurm_job_detach(k), &err);
}

/* What Slurm says of an end that the shim may not have been able to record. */
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

/* Its files are all there is to know. */
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

/* A shim has it and no end is recorded: is there no more hope for one? */
static bool slurm_job_is_lost(const struct slurm_job *k)
{
	if (k->phase != SLURM_PHASE_ENDED)
		return false;
	if (!k->unknown_to_squeue)
		return slurm_job_has_waited(k, k->phase_since_us, END_RECORD_WAIT_SECONDS);
	return k->sacct_asked && k->n_missed_polls >= MISSED_POLLS_LOST &&
	       slurm_job_has_waited(k, k->phase_since_us, SLURM_LOST_SECONDS);
}

/* How long Slurm may take to say how a job ended whose record is there. */
static double slurm_job_final_state_seconds(const struct slurm_job *k)
{
	return strcmp(k->state_word, "COMPLETING") == 0 ? COMPLETING_SECONDS
							: END_RECORD_WAIT_SECONDS;
}

/* Somebody may have ended it, and it was not us: Slurm knows whether that was asked for
 * from outside, or its time was over. */
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

/* Those that Slurm says have ended, or does not know: what do their files say? Of those
 * that it does not tell about the end may be recorded all the same. */
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

/* ---- watching for records ---- */

/* The attempts whose records a worker thread looks for, all at once and many times a
 * second: jobs are known by their numbers here, since any of them may go meanwhile. */
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

/* Those that may have ended since. If there are many, what waits in the queue has not;
 * with very many the ticks tell. */
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
		return; /* the next time */
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
