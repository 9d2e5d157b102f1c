/* job_read.c - the files of an attempt, read by a worker thread, which has the job's
 * `files` to itself meanwhile. */
#include "daemon/job.h"

#include "base/fs.h"
#include "base/num.h"
#include "base/program.h"
#include "daemon/ask.h"
#include "daemon/executor.h"
#include "daemon/oracles.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Seconds until what could not be read is read again. */
#define AGAIN_FIRST 0.5
#define AGAIN_MOST  32.0

enum {
	READ_CHUNK = 64 << 10
};

uint32_t job_runs(const struct job *j, uint32_t *runs)
{
	if (j->run != DP_RUN_ALL) {
		runs[0] = (uint32_t)j->run;
		return 1;
	}
	for (uint32_t i = 0; i < j->runs; i++)
		runs[i] = i;
	return j->runs;
}

size_t job_waypoints(const struct job *j, double values[DP_WAYPOINTS_MAX])
{
	return dp_is_measuring(j->trial) ? 0 : dp_path_values(j->spec, j->x, values);
}

struct dp_result *job_result(const struct job *j)
{
	uint32_t *runs = calloc(j->runs, sizeof *runs);
	double waypoints[DP_WAYPOINTS_MAX];
	struct dp_result *r = NULL;

	if (runs)
		r = dp_result_new(runs, job_runs(j, runs));
	free(runs);
	if (r && !dp_result_walk(r, waypoints, (uint32_t)job_waypoints(j, waypoints))) {
		dp_result_free(r);
		r = NULL;
	}
	return r;
}

/* ---- on a worker thread ---- */

/* The machine keeps us from reading it: not the trainer's doing, and it may pass. */
static bool read_trouble(struct job *j, const char *what, int error)
{
	snprintf(j->files.trouble, sizeof j->files.trouble, "%s cannot be read: %s", what,
		 strerror(error));
	return false;
}

/* A record of the end, parsed; frees its path. 0 or an errno. */
static int read_exit_file(struct job *j, char *path)
{
	struct dp_buf text = DP_BUF_INIT;
	int e = path ? claim_read_record(j->folder, path, &text) : ENOMEM;

	if (e == 0)
		dp_exit_parse(dp_buf_text(&text), text.len, &j->files.exit);
	dp_buf_free(&text);
	free(path);
	return e;
}

/* How it ended. A trainer that removed its folder has left the record beside it; a shim
 * that the daemon killed may have left none, and then the daemon's own counts. False: the
 * machine is in trouble. */
static bool read_exit(struct job *j)
{
	char *paths[] = { dp_path_join(j->folder, "exit.json"), claim_beside(j->folder, ".exit"),
			  claim_beside(j->folder, ".killed") };
	int e = 0;

	j->files.exit = (struct dp_exit){ .kind = DP_EXIT_MISSING };
	for (size_t i = 0; i < DP_COUNT(paths); i++) {
		if (j->files.exit.kind == DP_EXIT_MISSING && !dp_errno_passes(e))
			e = read_exit_file(j, paths[i]);
		else
			free(paths[i]);
	}
	return !dp_errno_passes(e) || read_trouble(j, "the record of its end", e);
}

/* Nobody saw everything end: what is left of it goes first. */
static bool read_leftovers(struct job *j)
{
	const struct backend *b = j->home->backend;

	if ((j->files.exit.kind != DP_EXIT_MISSING && !j->files.exit.left_behind) ||
	    !b->table->end_leftovers)
		return true;
	return b->table->end_leftovers(b, j->folder, j->files.trouble, sizeof j->files.trouble);
}

/* The first or, with `tail`, the last `room` bytes of what the trainer printed, and how
 * many there are. */
static size_t read_printed(const struct job *j, const char *name, bool tail, char *out, size_t room)
{
	char *path = dp_path_join(j->folder, name);
	int fd = path ? dp_open_plain(path) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = tail && size > (off_t)room ? size - (off_t)room : 0;
	ssize_t n = size > 0 ? pread(fd, out, room, from) : 0;

	if (fd >= 0)
		close(fd);
	free(path);
	return n > 0 ? (size_t)n : 0;
}

/* The last line of what the trainer said on stderr: most often it tells why. */
static void read_last_words(struct job *j)
{
	char tail[2048], *line, *words = j->files.last_words;
	size_t n = read_printed(j, "stderr", true, tail, sizeof tail - 1);

	while (n > 0 && isspace((unsigned char)tail[n - 1]))
		n--;
	tail[n] = '\0';
	line = strrchr(tail, '\n');
	snprintf(words, sizeof j->files.last_words, "%.199s", line ? line + 1 : tail);
	/* it goes into messages and the journal: plain text only */
	for (char *p = words; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
}

/* A shell's exit codes for what it cannot execute or find; env(1) has them, too. */
static bool could_not_execute(const struct dp_exit *e)
{
	return e->kind == DP_EXIT_CODE && (e->value == 126 || e->value == 127);
}

/* Why the program did not start, or was not what was meant. */
static void read_program(struct job *j)
{
	const struct dp_trainer *t = &j->spec->trainer;
	struct dp_program_places places = { j->d->at.bin_dir, dp_program_path(t->env) };
	const struct dp_exit *e = &j->files.exit;
	struct dp_err why;

	j->files.cannot_start[0] = '\0';
	if (e->kind != DP_EXIT_EXEC && (e->kind != DP_EXIT_CODE || e->value == 0))
		return;
	if (e->kind == DP_EXIT_EXEC && t->cwd && access(t->cwd, X_OK) != 0)
		dp_fail_errno(&why, errno, "its working folder (trainer.cwd) is %s", t->cwd);
	else if (dp_program_check(t->argv[0], &places, &why) == DP_OK)
		return;
	/* of a script without #! line that ran, any code may be the shell's */
	if (e->kind == DP_EXIT_CODE && !could_not_execute(e) && why.code != DP_E_INVALID)
		return;
	snprintf(j->files.cannot_start, sizeof j->files.cannot_start, "%s%s%s", why.msg,
		 why.hint[0] ? "; " : "", why.hint);
}

/* A first trainer often prints its results instead of appending them to the file. */
static void read_misplaced(struct job *j)
{
	char printed[8192];

	j->files.misplaced = false;
	if (dp_result_nmetrics(j->files.result) > 0)
		return;
	for (int tail = 0; tail < 2 && !j->files.misplaced; tail++) {
		size_t n = read_printed(j, "stdout", tail == 1, printed, sizeof printed);

		j->files.misplaced = dp_result_resembles(printed, n);
	}
}

/* Gives the reader what stands in the file from `*seen` on, and adds it to the digest,
 * if there is one. 0 or an errno; a trainer that never reported has no file, which is the
 * reader's finding. */
static int read_more(int fd, struct dp_result *r, uint64_t *seen, struct dp_sha256 *digest)
{
	/* one byte beyond the limit is enough for the reader to refuse the file */
	const uint64_t until = DP_RESULT_FILE_MAX + 1;
	char *chunk = malloc(READ_CHUNK);
	ssize_t n = chunk ? 1 : -1;
	int e = chunk ? 0 : ENOMEM;

	while (n > 0 && *seen < until) {
		uint64_t most = until - *seen;

		n = pread(fd, chunk, most < READ_CHUNK ? most : READ_CHUNK, (off_t)*seen);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			e = errno;
		if (n <= 0)
			break;
		dp_result_feed(r, chunk, (size_t)n);
		*seen += (uint64_t)n;
		if (digest)
			dp_sha256_add(digest, chunk, (size_t)n);
	}
	free(chunk);
	return e;
}

/* -1 with errno. */
static int read_open(const struct job *j)
{
	char *path = dp_path_join(j->folder, "result.jsonl");
	int fd = path ? dp_open_plain(path) : -1, e = path ? errno : ENOMEM;

	free(path);
	errno = e;
	return fd;
}

/* While it runs: what is new. It is shown and decides nothing. What cannot be read now is
 * read later. */
static void read_progress_lines(struct job *j)
{
	int fd = read_open(j);
	struct dp_result *anew = NULL;

	if (fd < 0)
		return;
	if (lseek(fd, 0, SEEK_END) < (off_t)j->files.seen)
		anew = job_result(j); /* the trainer has begun it again */
	if (anew) {
		dp_result_free(j->files.result);
		j->files.result = anew;
		j->files.seen = 0;
	}
	read_more(fd, j->files.result, &j->files.seen, NULL);
	close(fd);
}

/* All of the file, whatever was read before: the result is what the file holds when the
 * attempt has ended, so that it does not depend on which daemon ran meanwhile. 0 or an
 * errno. */
static int read_all_anew(struct job *j, int fd, struct dp_result *r)
{
	struct dp_sha256 all;
	uint64_t seen = 0;
	int e;

	dp_sha256_init(&all);
	e = read_more(fd, r, &seen, &all);
	if (e == 0)
		dp_sha256_text(&all, j->files.sha256);
	return e;
}

/* The end of the result file. False: the machine is in trouble. */
static bool read_result(struct job *j)
{
	struct job_files *f = &j->files;
	struct dp_result *r = job_result(j);
	int fd = r ? read_open(j) : -1, e = r ? errno : ENOMEM;

	f->sha256[0] = '\0';
	f->removed = fd < 0 && e == ENOENT && access(j->folder, F_OK) != 0;
	if (fd >= 0) {
		e = read_all_anew(j, fd, r);
		close(fd);
		dp_result_end(r);
		if (e == 0 && dp_result_no_memory(r))
			e = ENOMEM;
	}
	if (dp_errno_passes(e)) {
		dp_result_free(r);
		return read_trouble(j, "its result file", e);
	}
	f->not_read = e == ENOENT ? 0 : e;
	dp_result_free(f->result);
	f->result = r;
	return true;
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

		if (!j->spec->objectives[i].privacy)
			continue;
		if (dp_objective_declared(j->spec, i, j->x, j->at, &declared, warning, &err) !=
		    DP_OK)
			snprintf(j->files.mismatch, sizeof j->files.mismatch, "%.299s", err.msg);
		else if (warning[0])
			snprintf(j->files.warning, sizeof j->files.warning, "%.299s", warning);
	}
	if (!dp_study_releases(j->spec))
		return;
	if (j->files.mismatch[0]) /* these quote what it declared */
		released_why(j->files.mismatch, sizeof j->files.mismatch);
	if (j->files.warning[0])
		snprintf(j->files.warning, sizeof j->files.warning,
			 "what the trainer declares of its sampler is not what the "
			 "accountant's number is proven for");
}

/* A program that cannot be asked keeps it from being read, as a disk would. */
static bool oracle_trouble(struct job *j, int code, const struct dp_err *err)
{
	j->files.oracle = *err;
	j->files.oracle.code = code;
	snprintf(j->files.trouble, sizeof j->files.trouble,
		 "its waypoints have no epsilon yet: %.250s", err->msg);
	return false;
}

/* The epsilons of one waypoint at `out`, which moves on. False: a program cannot be
 * asked.
 */
static bool account_waypoint(struct job *j, const struct dp_oracle_asker *asker, double at,
			     bool reached, double **out)
{
	double y[DP_OBJECTIVES_MAX];
	struct dp_err err;
	int code = reached ? dp_objectives_privacy_at(j->spec, asker, j->x, at, y, &err) : DP_OK;

	if (asker && code != DP_OK && code != DP_E_INVALID && !j->given_up)
		return oracle_trouble(j, code, &err);
	if (code != DP_OK) {
		reached = false;
		snprintf(j->files.warning, sizeof j->files.warning, "no epsilon at %.0f: %.250s",
			 at, err.msg);
	}
	for (size_t i = 0; i < j->spec->nobjectives; i++)
		if (j->spec->objectives[i].privacy)
			*(*out)++ = reached ? y[i] : NAN;
	return true;
}

/* What each waypoint costs: here, since oracles take their time. False: no memory, or a
 * program that cannot be asked. */
static bool account_way(struct job *j)
{
	struct job_files *f = &j->files;
	static const atomic_bool nobody_waits = true;
	struct oracles_turn turn;
	const struct dp_oracle_asker *asker =
		oracles_asker(j->home, j->given_up ? &nobody_waits : NULL, &turn);
	double waypoints[DP_WAYPOINTS_MAX], *out;
	size_t n = j->way_known ? 0 : job_waypoints(j, waypoints);

	free(f->way_privacy);
	f->nway_privacy = 0;
	f->way_privacy = out = calloc(n * DP_OBJECTIVES_MAX + 1, sizeof *out);
	if (!out)
		return read_trouble(j, "its result file", ENOMEM);
	turn.turn.at_once = true; /* one that hangs holds a single thread of those who
				   * read the study's attempts */
	for (size_t w = 0; w < n; w++)
		if (!account_waypoint(j, asker, waypoints[w], dp_result_reached(f->result, w),
				      &out))
			return false;
	f->nway_privacy = (uint32_t)(out - f->way_privacy);
	return true;
}

/* Has the shim recorded the end? Only for those who do not see it end. */
static bool read_recorded(const struct job *j)
{
	char *path =
		j->home->backend->table->recorded ? dp_path_join(j->folder, "exit.json") : NULL;
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

static void read_work(uv_work_t *w)
{
	struct job *j = w->data;

	j->files.trouble[0] = '\0';
	j->files.oracle.code = DP_OK;
	if (!j->final) {
		read_progress_lines(j);
		j->files.recorded = read_recorded(j);
	} else if (read_exit(j) && read_leftovers(j) && read_result(j) && account_way(j)) {
		read_last_words(j);
		read_misplaced(j);
		read_program(j);
		check_declared(j);
	}
}

/* ---- on the loop ---- */

/* Somebody else asks the oracle program just now, or it has to be mended: the study waits
 * for that, and the attempt with it. */
static void read_again_oracle(struct job *j)
{
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
	j->again = 0; /* at the next tick, once the study runs */
	if (j->files.oracle.code == DP_E_ORACLE)
		ask_no_point(j->home, &j->files.oracle);
	study_changed(j->home);
}

/* The machine's trouble: told, and tried again, later each time. */
static void read_again(struct job *j)
{
	j->again_seconds = dp_next_wait(j->again_seconds, AGAIN_FIRST, AGAIN_MOST);
	j->again = clock_now(j->d) + (int64_t)(j->again_seconds * 1e6);
	if (!j->trouble[0])
		job_log(j, LOG_WARN, "attempt %u: %s; trying again", j->attempt, j->files.trouble);
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
}

static void read_done(uv_work_t *w, int status)
{
	struct job *j = w->data;

	(void)status; /* work is never cancelled */
	j->reading = false;
	if (j->d->closed)
		return;
	j->progress = dp_result_progress(j->files.result);
	if (j->final && j->files.oracle.code)
		read_again_oracle(j);
	else if (j->final && j->files.trouble[0])
		read_again(j);
	else if (j->final)
		attempt_over(j);
	else if (j->gone)
		job_read(j);
	else if (j->files.recorded && j->phase == JOB_STARTED)
		j->home->backend->table->recorded(j->home->backend, j);
}

void job_read(struct job *j)
{
	struct dp_err err;

	if (j->reading)
		return; /* read_done() looks again */
	if (j->gone && oracles_prepare(j->home, &err) != DP_OK) {
		snprintf(j->trouble, sizeof j->trouble, "%.299s", err.msg);
		return; /* at the next tick */
	}
	j->reading = true;
	j->given_up = job_trial(j)->cancel_asked;
	j->final = j->gone;
	j->way_known = j->run != DP_RUN_ALL && job_trial(j)->way &&
		       dp_way_accounted(j->home->state, job_trial(j)->way);
	j->work.data = j;
	uv_queue_work(&j->d->loop, &j->work, read_work, read_done);
}
