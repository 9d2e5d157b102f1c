/* job.c - one attempt under way: its shim's pidfd and the reading of its files. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"
#include "journal/view.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	EXIT_FILE_MAX = 64 << 10,
	READ_CHUNK = 64 << 10
};

char *study_folder(const struct dpd *d, const char *name)
{
	struct dp_buf path = DP_BUF_INIT;

	dp_buf_printf(&path, "%s/studies/%s", d->state_dir, name);
	return dp_buf_detach(&path);
}

uint32_t job_runs(const struct dp_study_state *s, int32_t run, uint32_t *runs)
{
	if (run != DP_RUN_ALL) {
		runs[0] = (uint32_t)run;
		return 1;
	}
	for (uint32_t i = 0; i < (uint32_t)s->spec->trainer.runs; i++)
		runs[i] = i;
	return (uint32_t)s->spec->trainer.runs;
}

struct job *job_new(struct dpd *d, struct dp_study_state *s, uint32_t trial, int32_t run,
		    uint32_t attempt)
{
	struct job *j = calloc(1, sizeof *j);
	char *folder = study_folder(d, s->spec->name), below[64];
	uint32_t *runs = calloc((size_t)s->spec->trainer.runs, sizeof *runs);

	if (!j || !folder || !runs)
		goto failed;
	dp_attempt_folder(trial, run, attempt, below);
	j->folder = dp_path_join(folder, below);
	j->result = dp_result_new(runs, job_runs(s, run, runs));
	if (!j->folder || !j->result)
		goto failed;
	snprintf(j->about, sizeof j->about, "%s/%u", s->spec->name, trial);
	j->d = d;
	j->study = s->id;
	j->trial = trial;
	j->run = run;
	j->attempt = attempt;
	j->spec = s->spec;
	j->x = dp_study_trial(s, trial)->x;
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++)
		j->privacy[i] = NAN;
	j->pidfd = -1;
	j->progress = NAN;
	j->next = d->jobs;
	d->jobs = j;
	d->njobs++;
	free(folder);
	free(runs);
	return j;
failed:
	if (j) {
		free(j->folder);
		dp_result_free(j->result);
	}
	free(j);
	free(folder);
	free(runs);
	return NULL;
}

void job_free(struct job *j)
{
	struct dpd *d = j->d;

	for (struct job **p = &d->jobs; *p; p = &(*p)->next) {
		if (*p == j) {
			*p = j->next;
			d->njobs--;
			break;
		}
	}
	if (j->pidfd >= 0)
		close(j->pidfd);
	dp_result_free(j->result);
	free(j->folder);
	free(j);
}

struct job *job_find(struct dpd *d, uint32_t study, uint32_t trial, int32_t run,
		     uint32_t attempt)
{
	for (struct job *j = d->jobs; j; j = j->next)
		if (j->study == study && j->trial == trial && j->run == run &&
		    j->attempt == attempt)
			return j;
	return NULL;
}

/* ---- reading files, on a worker thread: touches only the job's reading fields ---- */

static void read_exit(struct job *j)
{
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(j->folder, "exit.json");

	j->exit = (struct dp_exit){ .kind = DP_EXIT_MISSING };
	if (path && dp_read_file(path, EXIT_FILE_MAX, &text, NULL) == DP_OK)
		dp_exit_parse(dp_buf_text(&text), text.len, &j->exit);
	dp_buf_free(&text);
	free(path);
}

/* The last line of what the trainer said on stderr: most often it tells why. */
static void read_last_words(struct job *j)
{
	char *path = dp_path_join(j->folder, "stderr"), tail[2048], *line;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)sizeof tail - 1 ? size - (off_t)sizeof tail + 1 : 0;
	ssize_t n = size > 0 ? pread(fd, tail, sizeof tail - 1, from) : 0;

	while (n > 0 && isspace((unsigned char)tail[n - 1]))
		n--;
	tail[n > 0 ? n : 0] = '\0';
	line = strrchr(tail, '\n');
	snprintf(j->last_words, sizeof j->last_words, "%.199s", line ? line + 1 : tail);
	/* it goes into messages and the journal: plain text only */
	for (char *p = j->last_words; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
	if (fd >= 0)
		close(fd);
	free(path);
}

static void read_result(struct job *j)
{
	char *path = dp_path_join(j->folder, "result.jsonl"), *chunk = malloc(READ_CHUNK);
	int fd = path && chunk ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n;

	j->not_read = 0;
	if (fd < 0) {
		/* a trainer that never reported has no file: that is the reader's finding
		 */
		j->not_read = path && chunk && errno != ENOENT ? errno : 0;
		goto out;
	}
	/* one byte beyond the limit is enough for the reader to refuse the file */
	while (j->offset <= DP_RESULT_FILE_MAX) {
		n = pread(fd, chunk, READ_CHUNK, j->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			j->not_read = errno;
		if (n <= 0)
			break;
		dp_result_feed(j->result, chunk, (size_t)n);
		j->offset += n;
	}
	close(fd);
out:
	free(path);
	free(chunk);
}

/* Epsilon of the point, and whether the trainer sampled as the accountant assumes. */
static void ask_accountants(struct job *j)
{
	const struct dp_declared *told = dp_result_declared(j->result);
	struct dp_privacy_declared declared = { told->sampling, told->records, told->lot,
						told->steps, told->noise_over_clip };
	struct dp_epsilon cost;
	struct dp_err err;

	for (size_t i = 0; i < j->spec->nobjectives; i++) {
		char warning[DP_PRIVACY_WARNING_LEN];

		j->privacy[i] = NAN;
		if (!j->spec->objectives[i].mechanism)
			continue;
		if (dp_objective_privacy(j->spec, i, j->x, &cost, NULL) == DP_OK)
			j->privacy[i] = cost.epsilon;
		if (dp_objective_declared(j->spec, i, j->x, &declared, warning, &err) !=
		    DP_OK)
			snprintf(j->mismatch, sizeof j->mismatch, "%.299s", err.msg);
		else if (warning[0])
			snprintf(j->warning, sizeof j->warning, "%.299s", warning);
	}
}

static void read_work(uv_work_t *w)
{
	struct job *j = w->data;

	read_result(j);
	if (j->final) {
		dp_result_end(j->result);
		read_exit(j);
		read_last_words(j);
		ask_accountants(j);
	}
}

static void read_done(uv_work_t *w, int status)
{
	struct job *j = w->data;

	(void)status; /* work is never cancelled */
	j->reading = false;
	if (j->d->closed)
		return;
	j->progress = dp_result_progress(j->result);
	if (j->final)
		attempt_over(j->d, j);
	else if (j->gone)
		job_read(j);
}

void job_read(struct job *j)
{
	if (j->reading)
		return; /* read_done() looks again */
	j->reading = true;
	j->final = j->gone;
	j->work.data = j;
	uv_queue_work(&j->d->loop, &j->work, read_work, read_done);
}

void job_collect(struct job *j)
{
	j->phase = JOB_COLLECTING;
	j->gone = true;
	job_read(j);
}

/* ---- the shim ---- */

static void on_poll_closed(uv_handle_t *h)
{
	struct job *j = h->data;

	if (!j->d->closed)
		job_collect(j);
}

/* The pidfd became readable: the shim has ended. */
static void on_shim_end(uv_poll_t *poll, int status, int events)
{
	struct job *j = poll->data;

	(void)status;
	(void)events;
	if (j->child)
		waitpid(j->pid, NULL, WNOHANG);
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_poll_closed);
}

void job_watch(struct job *j)
{
	j->phase = JOB_RUNNING;
	uv_poll_init(&j->d->loop, &j->poll, j->pidfd);
	j->poll.data = j;
	uv_poll_start(&j->poll, UV_READABLE, on_shim_end);
}
