/* attempt_files.c - reads an attempt's files on a worker thread, which owns j->files. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "base/units.h"
#include "base/program.h"
#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/external_accountants.h"
#include "study/accounting.h"
#include "study/learning_curve.h"
#include "study/metric_release.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REREAD_MIN_SECONDS 0.5
#define REREAD_MAX_SECONDS 32.0

enum {
	READ_CHUNK = 64 << 10
};

uint32_t job_list_runs(const struct job *j, uint32_t *runs)
{
	if (j->run != DP_RUN_ALL) {
		runs[0] = (uint32_t)j->run;
		return 1;
	}
	for (uint32_t i = 0; i < j->runs; i++)
		runs[i] = i;
	return j->runs;
}

size_t job_list_checkpoints(const struct job *j, double values[DP_CHECKPOINTS_MAX])
{
	return j->kind == DP_TRIAL_REEVAL ? 0
					  : dp_learning_curve_checkpoints(j->spec, j->x, values);
}

struct dp_result_reader *job_new_result(const struct job *j)
{
	uint32_t *runs = dp_calloc(j->runs, sizeof *runs);
	double waypoints[DP_CHECKPOINTS_MAX];
	struct dp_result_reader *r = dp_result_reader_new(runs, job_list_runs(j, runs));

	free(runs);
	dp_result_reader_set_checkpoints(r, waypoints,
					 (uint32_t)job_list_checkpoints(j, waypoints));
	return r;
}

/* ---- on a worker thread ---- */

/* Notes that the machine prevents the read. It is not the trainer's fault and may pass. */
static bool job_set_read_trouble(struct job *j, const char *what, int error)
{
	snprintf(j->files.trouble, sizeof j->files.trouble, "%s cannot be read: %s", what,
		 strerror(error));
	return false;
}

/* Reads and parses a record of the end, and frees the path. Returns 0 or an errno. */
static int read_exit_file(struct job *j, char *path)
{
	struct dp_buf text = DP_BUF_INIT;
	int e = path ? lease_read_end_record(j->directory, path, &text) : ENOMEM;

	if (e == 0)
		dp_exit_record_parse(dp_buf_text(&text), text.len, &j->files.exit);
	dp_buf_free(&text);
	free(path);
	return e;
}

/* Reads how the attempt ended. If the trainer removed its directory, the record is in the directory
 * of claims. A shim that the daemon killed may have left none; then the daemon's own record counts.
 * False: the machine prevents it. */
static bool read_exit(struct job *j)
{
	char *paths[] = { dp_path_join(j->directory, "exit.json"),
			  lease_file_path(j->directory, ".exit"),
			  lease_file_path(j->directory, ".killed") };
	int e = 0;

	j->files.exit = (struct dp_exit_record){ .kind = DP_EXIT_MISSING };
	for (size_t i = 0; i < DP_COUNT(paths); i++) {
		if (j->files.exit.kind == DP_EXIT_MISSING && !dp_errno_is_transient(e))
			e = read_exit_file(j, paths[i]);
		else
			free(paths[i]);
	}
	return !dp_errno_is_transient(e) || job_set_read_trouble(j, "the record of its end", e);
}

/* No shim saw the whole process tree end: kills what is left first. */
static bool job_kill_orphans(struct job *j)
{
	const struct executor *b = j->study->executor;

	if ((j->files.exit.kind != DP_EXIT_MISSING && !j->files.exit.has_leftovers) ||
	    !b->ops->kill_orphans)
		return true;
	return b->ops->kill_orphans(b, j->directory, j->files.trouble, sizeof j->files.trouble);
}

/* Reads the first or, with `tail`, the last `room` bytes of an output. Returns their number. */
static size_t job_read_output(const struct job *j, const char *name, bool tail, char *out,
			      size_t room)
{
	char *path = dp_path_join(j->directory, name);
	int fd = path ? dp_open_untrusted(path) : -1;
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t from = tail && size > (off_t)room ? size - (off_t)room : 0;
	ssize_t n = size > 0 ? pread(fd, out, room, from) : 0;

	if (fd >= 0)
		close(fd);
	free(path);
	return n > 0 ? (size_t)n : 0;
}

/* Reads the last line of stderr, which usually names the cause. */
static void job_read_stderr_tail(struct job *j)
{
	char tail[2048], *line, *words = j->files.stderr_tail;
	size_t n = job_read_output(j, "stderr", true, tail, sizeof tail - 1);

	while (n > 0 && isspace((unsigned char)tail[n - 1]))
		n--;
	tail[n] = '\0';
	line = strrchr(tail, '\n');
	snprintf(words, sizeof j->files.stderr_tail, "%.199s", line ? line + 1 : tail);
	/* printable text only, for messages and the journal */
	for (char *p = words; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = '?';
}

/* Exit codes of shells and env(1) for a program that cannot be executed or found. */
static bool exit_is_exec_failure(const struct dp_exit_record *e)
{
	return e->kind == DP_EXIT_CODE && (e->value == 126 || e->value == 127);
}

/* Finds out why the program did not start, or was the wrong one. */
static void job_check_program(struct job *j)
{
	const struct dp_trainer *t = &j->spec->trainer;
	struct dp_program_search places = { j->daemon->paths.bin_dir, dp_program_path_env(t->env) };
	const struct dp_exit_record *e = &j->files.exit;
	struct dp_err why;

	j->files.program_error[0] = '\0';
	if (e->kind != DP_EXIT_EXEC && (e->kind != DP_EXIT_CODE || e->value == 0))
		return;
	if (e->kind == DP_EXIT_EXEC && t->cwd && access(t->cwd, X_OK) != 0)
		dp_fail_errno(&why, errno, "its working folder (trainer.cwd) is %s", t->cwd);
	else if (dp_program_check(t->argv[0], &places, &why) == DP_OK)
		return;
	/* a script without #! line ran in a shell, which may exit with any code */
	if (e->kind == DP_EXIT_CODE && !exit_is_exec_failure(e) && why.code != DP_E_INVALID)
		return;
	snprintf(j->files.program_error, sizeof j->files.program_error, "%s%s%s", why.msg,
		 why.hint[0] ? "; " : "", why.hint);
}

/* Detects results on stdout instead of in the file, a mistake of first trainers. */
static void job_check_stdout_results(struct job *j)
{
	char printed[8192];

	j->files.results_on_stdout = false;
	if (dp_result_reader_count_metrics(j->files.result) > 0)
		return;
	for (int tail = 0; tail < 2 && !j->files.results_on_stdout; tail++) {
		size_t n = job_read_output(j, "stdout", tail == 1, printed, sizeof printed);

		j->files.results_on_stdout = dp_text_has_result_line(printed, n);
	}
}

/* Feeds the reader from offset `*seen` on, and the digest if it is not NULL. Returns 0 or an errno.
 * A missing file is left to the reader. */
static int result_file_feed(int fd, struct dp_result_reader *r, uint64_t *seen,
			    struct dp_sha256 *digest)
{
	/* with one byte beyond the limit the reader refuses the file */
	const uint64_t until = DP_RESULT_FILE_MAX + 1;
	char *chunk = dp_malloc(READ_CHUNK);
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
		dp_result_reader_feed(r, chunk, (size_t)n);
		*seen += (uint64_t)n;
		if (digest)
			dp_sha256_update(digest, chunk, (size_t)n);
	}
	free(chunk);
	return e;
}

/* -1 with errno. */
static int job_open_result_file(const struct job *j)
{
	char *path = dp_path_join(j->directory, "result.jsonl");
	int fd = path ? dp_open_untrusted(path) : -1, e = path ? errno : ENOMEM;

	free(path);
	errno = e;
	return fd;
}

/* While it runs: reads new data for display only. Errors are ignored; a later read catches up. */
static void job_read_new_results(struct job *j)
{
	int fd = job_open_result_file(j);
	struct dp_result_reader *anew = NULL;

	if (fd < 0)
		return;
	if (lseek(fd, 0, SEEK_END) < (off_t)j->files.bytes_read)
		anew = job_new_result(j); /* the trainer has rewritten the file */
	if (anew) {
		dp_result_reader_free(j->files.result);
		j->files.result = anew;
		j->files.bytes_read = 0;
	}
	result_file_feed(fd, j->files.result, &j->files.bytes_read, NULL);
	close(fd);
}

/* Reads the whole file again: the result is the content at the end of the attempt, and must not
 * depend on which daemon ran meanwhile. Returns 0 or an errno. */
static int job_read_whole_file(struct job *j, int fd, struct dp_result_reader *r)
{
	struct dp_sha256 all;
	uint64_t seen = 0;
	int e;

	dp_sha256_init(&all);
	e = result_file_feed(fd, r, &seen, &all);
	if (e == 0)
		dp_sha256_hex(&all, j->files.sha256);
	return e;
}

static bool read_result(struct job *j)
{
	struct job_files *f = &j->files;
	struct dp_result_reader *r = job_new_result(j);
	int fd = job_open_result_file(j), e = errno;

	f->sha256[0] = '\0';
	f->directory_removed = fd < 0 && e == ENOENT && access(j->directory, F_OK) != 0;
	if (fd >= 0) {
		e = job_read_whole_file(j, fd, r);
		close(fd);
		dp_result_reader_finish(r);
	}
	if (dp_errno_is_transient(e)) {
		dp_result_reader_free(r);
		return job_set_read_trouble(j, "its result file", e);
	}
	f->result_errno = e == ENOENT ? 0 : e;
	dp_result_reader_free(f->result);
	f->result = r;
	return true;
}

/* Compares the trainer's sampling with the accountant's assumptions. */
static void check_declared(struct job *j)
{
	const struct dp_declaration *declared = dp_result_reader_declaration(j->files.result);
	struct dp_err err;

	for (size_t i = 0; i < j->spec->nobjectives; i++) {
		char warning[DP_PRIVACY_WARNING_LEN];

		if (!j->spec->objectives[i].privacy)
			continue;
		if (dp_objective_check_declaration(j->spec, i, j->x, j->at, declared, warning,
						   &err) != DP_OK)
			snprintf(j->files.declared_mismatch, sizeof j->files.declared_mismatch,
				 "%.299s", err.msg);
		else if (warning[0])
			snprintf(j->files.warning, sizeof j->files.warning, "%.299s", warning);
	}
	if (!dp_study_has_metric_release(j->spec))
		return;
	if (j->files.declared_mismatch[0]) /* these quote its declaration */
		noisy_release_redact_reason(j->files.declared_mismatch,
					    sizeof j->files.declared_mismatch);
	if (j->files.warning[0])
		snprintf(j->files.warning, sizeof j->files.warning,
			 "what the trainer declares of its sampler is not what the "
			 "accountant's number is proven for");
}

/* An external accountant that does not answer delays the read, as a failing disk would. */
static bool job_set_accountant_trouble(struct job *j, int code, const struct dp_err *err)
{
	j->files.accountant_err = *err;
	j->files.accountant_err.code = code;
	snprintf(j->files.trouble, sizeof j->files.trouble,
		 "its waypoints have no epsilon yet: %.250s", err->msg);
	return false;
}

/* Appends the epsilons of one checkpoint at `*out`. False: an accountant does not answer. */
static bool job_account_checkpoint(struct job *j, const struct dp_external_callback *asker,
				   double at, bool reached, double **out)
{
	double y[DP_OBJECTIVES_MAX];
	struct dp_err err;
	int code = reached ? dp_objectives_epsilon_at(j->spec, asker, j->x, at, y, &err) : DP_OK;

	if (asker && code != DP_OK && code != DP_E_INVALID && !j->trial_cancelled)
		return job_set_accountant_trouble(j, code, &err);
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

/* Computes the epsilons of each checkpoint, on this thread because accountants may be slow. False:
 * an external accountant does not answer. */
static bool job_account_checkpoints(struct job *j)
{
	struct job_files *f = &j->files;
	static const atomic_bool nobody_waits = true;
	struct accountants_turn turn;
	const struct dp_external_callback *asker =
		accountants_get_asker(j->study, j->trial_cancelled ? &nobody_waits : NULL, &turn);
	double waypoints[DP_CHECKPOINTS_MAX], *out;
	size_t n = j->checkpoint_privacy_known ? 0 : job_list_checkpoints(j, waypoints);

	free(f->checkpoint_privacy);
	f->n_checkpoint_privacy = 0;
	f->checkpoint_privacy = out = dp_calloc(n * DP_OBJECTIVES_MAX + 1, sizeof *out);
	if (!out)
		return job_set_read_trouble(j, "its result file", ENOMEM);
	turn.turn.no_wait = true; /* a program that hangs may block only one thread that reads
				     attempts of the study */
	for (size_t w = 0; w < n; w++)
		if (!job_account_checkpoint(j, asker, waypoints[w],
					    dp_result_reader_has_checkpoint(f->result, w), &out))
			return false;
	f->n_checkpoint_privacy = (uint32_t)(out - f->checkpoint_privacy);
	return true;
}

/* True if the shim has recorded the end. Only for executors that do not see it. */
static bool job_end_is_recorded(const struct job *j)
{
	char *path = j->study->executor->ops->on_end_recorded
			     ? dp_path_join(j->directory, "exit.json")
			     : NULL;
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

static void job_read_worker(void *arg)
{
	struct job *j = arg;

	j->files.trouble[0] = '\0';
	j->files.accountant_err.code = DP_OK;
	if (!j->is_final_read) {
		job_read_new_results(j);
		j->files.end_recorded = job_end_is_recorded(j);
	} else if (read_exit(j) && job_kill_orphans(j) && read_result(j) &&
		   job_account_checkpoints(j)) {
		job_read_stderr_tail(j);
		job_check_stdout_results(j);
		job_check_program(j);
		check_declared(j);
	}
}

/* ---- on the loop ---- */

/* The external accountant is busy or broken: the attempt waits until the study runs again. */
static void job_retry_after_accountant(struct job *j)
{
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
	j->retry_at_us = 0; /* at the next tick in which the study runs */
	if (j->files.accountant_err.code == DP_E_ORACLE)
		proposal_handle_no_point(j->study, &j->files.accountant_err);
	study_mark_changed(j->study);
}

/* Logs the machine's problem and retries with growing delays. */
static void job_schedule_reread(struct job *j)
{
	j->retry_seconds =
		dp_backoff_next(j->retry_seconds, REREAD_MIN_SECONDS, REREAD_MAX_SECONDS);
	j->retry_at_us = clock_now(j->daemon) + (int64_t)(j->retry_seconds * 1e6);
	if (!j->trouble[0])
		job_log(j, LOG_WARN, "attempt %u: %s; trying again", j->attempt, j->files.trouble);
	snprintf(j->trouble, sizeof j->trouble, "%s", j->files.trouble);
}

static void on_job_read_done(void *arg)
{
	struct job *j = arg;

	if (j->daemon->loop_ended)
		return;
	j->progress = dp_result_reader_progress(j->files.result);
	if (j->is_final_read && j->files.accountant_err.code)
		job_retry_after_accountant(j);
	else if (j->is_final_read && j->files.trouble[0])
		job_schedule_reread(j);
	else if (j->is_final_read)
		attempt_finish(j);
	else if (j->has_ended)
		job_read_files(j);
	else if (j->files.end_recorded && j->phase == JOB_STARTED)
		j->study->executor->ops->on_end_recorded(j->study->executor, j);
}

void job_read_files(struct job *j)
{
	if (j->reader.is_running)
		return; /* on_job_read_done() checks again */
	if (j->has_ended)
		accountants_prepare(j->study);
	j->trial_cancelled = job_trial(j)->cancel_requested;
	j->is_final_read = j->has_ended;
	j->checkpoint_privacy_known =
		j->run != DP_RUN_ALL && job_trial(j)->checkpoints &&
		dp_checkpoints_have_epsilons(j->study->state, job_trial(j)->checkpoints);
	background_job_start(j->daemon, &j->reader, job_read_worker, on_job_read_done, j);
}
