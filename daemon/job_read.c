/* job_read.c - the files of an attempt, read by a worker thread, which has the job's
 * `files` to itself meanwhile. */
#include "daemon/job.h"

#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	EXIT_FILE_MAX = 64 << 10,
	READ_CHUNK = 64 << 10
};

uint32_t job_runs(const struct dp_study *spec, int32_t run, uint32_t *runs)
{
	if (run != DP_RUN_ALL) {
		runs[0] = (uint32_t)run;
		return 1;
	}
	for (uint32_t i = 0; i < (uint32_t)spec->trainer.runs; i++)
		runs[i] = i;
	return (uint32_t)spec->trainer.runs;
}

/* ---- on a worker thread ---- */

static void read_exit(struct job *j)
{
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(j->folder, "exit.json");

	j->files.exit = (struct dp_exit){ .kind = DP_EXIT_MISSING };
	if (path && dp_read_plain(path, EXIT_FILE_MAX, &text, NULL) == DP_OK)
		dp_exit_parse(dp_buf_text(&text), text.len, &j->files.exit);
	dp_buf_free(&text);
	free(path);
}

/* The last line of what the trainer said on stderr: most often it tells why. */
static void read_last_words(struct job *j)
{
	char *path = dp_path_join(j->folder, "stderr"), tail[2048], *line;
	char *words = j->files.last_words;
	int fd = path ? dp_open_plain(path) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = size > (off_t)sizeof tail - 1 ? size - (off_t)sizeof tail + 1 : 0;
	ssize_t n = size > 0 ? pread(fd, tail, sizeof tail - 1, from) : 0;

	while (n > 0 && isspace((unsigned char)tail[n - 1]))
		n--;
	tail[n > 0 ? n : 0] = '\0';
	line = strrchr(tail, '\n');
	snprintf(words, sizeof j->files.last_words, "%.199s", line ? line + 1 : tail);
	/* it goes into messages and the journal: plain text only */
	for (char *p = words; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
	if (fd >= 0)
		close(fd);
	free(path);
}

static void read_result(struct job *j)
{
	struct job_files *f = &j->files;
	char *path = dp_path_join(j->folder, "result.jsonl"), *chunk = malloc(READ_CHUNK);
	int fd = path && chunk ? dp_open_plain(path) : -1;
	ssize_t n;

	f->not_read = 0;
	if (fd < 0) {
		/* a trainer that never reported has no file: that is the reader's finding
		 */
		f->not_read = path && chunk && errno != ENOENT ? errno : 0;
		goto out;
	}
	/* one byte beyond the limit is enough for the reader to refuse the file */
	while (f->offset <= DP_RESULT_FILE_MAX) {
		n = pread(fd, chunk, READ_CHUNK, f->offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			f->not_read = errno;
		if (n <= 0)
			break;
		dp_result_feed(f->result, chunk, (size_t)n);
		f->offset += n;
	}
	close(fd);
out:
	free(path);
	free(chunk);
}

/* Did the trainer sample as the accountant assumes? */
static void check_declared(struct job *j)
{
	const struct dp_declared *told = dp_result_declared(j->files.result);
	struct dp_privacy_declared declared = { told->sampling, told->records, told->lot,
						told->steps, told->noise_over_clip };
	struct dp_err err;

	for (size_t i = 0; i < j->spec->nobjectives; i++) {
		char warning[DP_PRIVACY_WARNING_LEN];

		if (!j->spec->objectives[i].mechanism)
			continue;
		if (dp_objective_declared(j->spec, i, j->x, &declared, warning, &err) !=
		    DP_OK)
			snprintf(j->files.mismatch, sizeof j->files.mismatch, "%.299s",
				 err.msg);
		else if (warning[0])
			snprintf(j->files.warning, sizeof j->files.warning, "%.299s",
				 warning);
	}
}

static void read_work(uv_work_t *w)
{
	struct job *j = w->data;

	read_result(j);
	if (j->final) {
		dp_result_end(j->files.result);
		read_exit(j);
		read_last_words(j);
		check_declared(j);
	}
}

/* ---- on the loop ---- */

static void read_done(uv_work_t *w, int status)
{
	struct job *j = w->data;

	(void)status; /* work is never cancelled */
	j->reading = false;
	if (j->d->closed)
		return;
	j->progress = dp_result_progress(j->files.result);
	if (j->final)
		attempt_over(j);
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
