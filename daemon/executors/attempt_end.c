/* attempt_end.c - classifies and records the end of an attempt. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "study/metric_release.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void attempt_fill_runs(const struct job *j, struct attempt_report *t,
			      struct dp_ev_attempt_ended *end)
{
	const struct dp_result_reader *r = j->files.result;
	size_t n = dp_result_reader_count_metrics(r), room = j->runs;

	t->metric_names = dp_calloc(n + 1, sizeof *t->metric_names);
	t->metrics = dp_calloc(room * n + 1, sizeof *t->metrics);
	t->runs = dp_calloc(room, sizeof *t->runs);
	end->nruns = job_list_runs(j, t->runs);
	for (size_t k = 0; k < n; k++)
		t->metric_names[k] = dp_result_reader_metric_name(r, k);
	for (uint32_t i = 0; i < end->nruns; i++)
		for (size_t k = 0; k < n; k++)
			if (!dp_result_reader_run_value(r, i, k, &t->metrics[i * n + k]))
				t->metrics[i * n + k] = NAN;
	end->metric_names = t->metric_names;
	end->nmetrics = (uint32_t)n;
	end->runs = t->runs;
	end->metrics = t->metrics;
}

bool attempt_checkpoints_are_valid(const struct job *j, enum dp_end_class end, bool counted)
{
	const struct job_files *f = &j->files;

	return counted && dp_end_class_keeps_checkpoints(end) &&
	       dp_result_reader_is_usable(f->result) && !f->declared_mismatch[0];
}

static void attempt_fill_checkpoints(const struct job *j, bool counted, struct attempt_report *t,
				     struct dp_ev_attempt_ended *end)
{
	const struct job_files *f = &j->files;
	size_t n = job_list_checkpoints(j, t->checkpoints), at = 0;

	if (n == 0 || end->nmetrics == 0 ||
	    !attempt_checkpoints_are_valid(j, end->end_class, counted))
		return;
	end->ncheckpoint_metrics = (uint32_t)(n * end->nruns * end->nmetrics);
	t->checkpoint_metrics = dp_calloc(end->ncheckpoint_metrics, sizeof *t->checkpoint_metrics);
	for (size_t w = 0; w < n; w++)
		for (uint32_t i = 0; i < end->nruns; i++)
			for (size_t k = 0; k < end->nmetrics; k++, at++)
				if (!dp_result_reader_checkpoint_value(f->result, i, w, k,
								       &t->checkpoint_metrics[at]))
					t->checkpoint_metrics[at] = NAN;
	end->checkpoints = t->checkpoints;
	end->ncheckpoints = (uint32_t)n;
	end->checkpoint_metrics = t->checkpoint_metrics;
	end->checkpoint_epsilons = f->checkpoint_privacy;
	end->ncheckpoint_epsilons = f->n_checkpoint_privacy;
}

static void attempt_fill_report(const struct job *j, bool counted, struct attempt_report *t,
				struct dp_ev_attempt_ended *end)
{
	end->declaration = *dp_result_reader_declaration(j->files.result);
	end->result_sha256 = j->files.sha256[0] ? j->files.sha256 : NULL;
	attempt_fill_runs(j, t, end);
	attempt_fill_checkpoints(j, counted, t, end);
}

void attempt_record_end(struct job *j, enum dp_end_class end, bool counted, const char *why)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt,
			      .reason = why && *why ? why : NULL,
			      .attempt_ended = { .end_class = end,
						 .charged = counted,
						 .never_ran = end == DP_END_LOST && !counted &&
							      !j->has_run,
						 .exit = j->files.exit } };
	struct attempt_report reported = { 0 };
	bool releases = dp_study_has_metric_release(j->spec);

	if (releases)
		noisy_release_fill(j, counted, &reported, &e.attempt_ended);
	else
		attempt_fill_report(j, counted, &reported, &e.attempt_ended);
	study_record_event(j->study, &e);
	if (releases)
		noisy_release_remove_files(j);
	if (end != DP_END_OK)
		job_log(j, LOG_WARN, "attempt %u: %s: %s", j->attempt, dp_end_class_name(end), why);
	job_mark_over(j);
	free(reported.metric_names);
	free(reported.metrics);
	free(reported.runs);
	free(reported.checkpoint_metrics);
}

/* ---- the class ---- */

/* Quotes no output of the trainer, and accepts only values in [0, 1]. */
static enum dp_end_class attempt_classify_released(const struct job *j, enum dp_end_class end,
						   char *why, size_t room)
{
	const char *metric = end == DP_END_OK ? noisy_release_find_bad_metric(j) : NULL;

	if (metric) {
		snprintf(why, room,
			 "metric '%s' is not within 0 and 1: only a share can be "
			 "released (objectives.NAME.release)",
			 metric);
		return DP_END_BAD_OUTPUT;
	}
	if (dp_result_reader_problem(j->files.result) &&
	    (end == DP_END_BAD_OUTPUT || end == DP_END_LOST))
		noisy_release_redact_reason(why, room);
	return end;
}

/* Metrics that objectives use; NULL-terminated. */
static void attempt_required_metrics(const struct dp_study *spec,
				     const char *needed[DP_OBJECTIVES_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			needed[n++] = spec->objectives[i].metric;
	needed[n] = NULL;
}

static enum dp_end_class attempt_classify(const struct job *j, char *why, size_t room)
{
	const struct dp_study *spec = j->spec;
	const struct job_files *f = &j->files;
	const char *needed[DP_OBJECTIVES_MAX + 1];
	struct dp_exit_record exit = f->exit;
	enum dp_end_class end;

	attempt_required_metrics(spec, needed);
	if (dp_study_has_metric_release(spec))
		exit.peak_memory = 0; /* may depend on the data, and is not kept */
	end = dp_trainer_classify_end(&exit, f->result, needed, job_trial(j)->cancel_requested, why,
				      room);
	if (dp_study_has_metric_release(spec))
		end = attempt_classify_released(j, end, why, room);
	if (f->declared_mismatch[0] && (end == DP_END_OK || end == DP_END_DIVERGED)) {
		snprintf(why, room, "what it declares does not fit the study's mechanism: %s",
			 f->declared_mismatch);
		return DP_END_BAD_OUTPUT;
	}
	if (f->directory_removed && end == DP_END_BAD_OUTPUT) {
		snprintf(why, room, "its folder was removed, and its result with it");
		return DP_END_LOST;
	}
	if (!f->result_errno || (end != DP_END_BAD_OUTPUT && end != DP_END_LOST))
		return end;
	snprintf(why, room, "its result file cannot be read: %s",
		 f->result_errno == EINVAL  ? "it is not a plain file"
		 : f->result_errno == ELOOP ? "it is a link"
					    : strerror(f->result_errno));
	return DP_END_BAD_OUTPUT;
}

/* The trainer ended as if it could not write, and its shim could not keep its output either: most
 * likely a full disk, not its fault. */
static bool attempt_is_disk_full(const struct job *j, enum dp_end_class end)
{
	return (end == DP_END_EXIT_CODE || end == DP_END_SIGNAL || end == DP_END_BAD_OUTPUT) &&
	       dp_errno_is_transient(dp_exit_errno_from_name(j->files.exit.output_errno));
}

/* Handles an attempt that ended without disk space. A full disk costs a retry, because the trainer
 * may have filled it; a read-only disk does not. */
static bool attempt_handle_disk_full(struct job *j, char *why, size_t room)
{
	int error = dp_exit_errno_from_name(j->files.exit.output_errno);

	snprintf(why, room, "nothing that it wrote could be kept: %s", strerror(error));
	executor_hold(j->study->executor, "the last trainer had no room for what it wrote",
		      error == EROFS ? strerror(error) : NULL);
	return error != EROFS;
}

/* Handles a machine that lacked the resources to start the trainer: nothing ran. */
static bool attempt_refuse_if_not_started(struct job *j)
{
	int error = j->files.exit.kind == DP_EXIT_EXEC
			    ? dp_exit_errno_from_name(j->files.exit.exec_errno)
			    : 0;
	struct dp_err err;

	if (!dp_errno_is_transient(error))
		return false;
	dp_fail_errno(&err, error, "dpareto-shim could not start %s", j->spec->trainer.argv[0]);
	job_on_refused(j, &err);
	return true;
}

static void attempt_append_stderr_tail(const struct job *j, enum dp_end_class end, char *why,
				       size_t room)
{
	size_t n = strlen(why);

	if (j->files.stderr_tail[0] &&
	    (end == DP_END_EXIT_CODE || end == DP_END_SIGNAL || end == DP_END_BAD_OUTPUT ||
	     end == DP_END_TIMEOUT || end == DP_END_MEMORY))
		snprintf(why + n, room - n, "; its last line on stderr: %s", j->files.stderr_tail);
}

/* Appends where to get the Python package, because Python's own error does not say. */
static void attempt_append_package_hint(const struct job *j, char *why, size_t room)
{
	size_t n = strlen(why);

	if (strstr(j->files.stderr_tail, "No module named 'dpareto'"))
		snprintf(why + n, room - n, "; 'dparetoctl kit' says how a trainer comes to it");
}

static void attempt_append_program_error(const struct job *j, enum dp_end_class end, char *why,
					 size_t room)
{
	size_t n = strlen(why);

	if (j->files.program_error[0] && (end == DP_END_NOT_STARTED || end == DP_END_EXIT_CODE))
		snprintf(why + n, room - n, "; %s", j->files.program_error);
}

static void attempt_append_advice(const struct job *j, enum dp_end_class end, char *why,
				  size_t room)
{
	const char *needed[DP_OBJECTIVES_MAX + 1];
	size_t n = strlen(why);

	if (end != DP_END_BAD_OUTPUT)
		return;
	attempt_required_metrics(j->spec, needed);
	if (j->files.results_on_stdout)
		snprintf(why + n, room - n,
			 "; its standard output has lines like results: append them to "
			 "the file that $DPARETO_RESULT names");
	else if (!dp_result_reader_problem(j->files.result))
		dp_result_reader_suggest_metric(j->files.result, needed, why + n, room - n);
}

/* True if the shim was asked to stop it although the trial was not cancelled: the daemon stops its
 * trainers, or the machine shuts down. The attempt then counts as never run. */
static bool attempt_was_stopped(const struct job *j, enum dp_end_class end)
{
	return j->files.exit.cancelled && !job_trial(j)->cancel_requested && end != DP_END_OK &&
	       end != DP_END_DIVERGED;
}

/* True if the executor knows more than the record. A limit or a cancellation from outside also
 * explains a signal, or the exit code of a trainer that received a warning first. */
static bool attempt_external_end_applies(const struct job *j, enum dp_end_class end)
{
	if (j->external_end == DP_END_NONE || job_trial(j)->cancel_requested)
		return false;
	if (end == DP_END_LOST)
		return true;
	return j->external_end != DP_END_LOST &&
	       (end == DP_END_SIGNAL || end == DP_END_EXIT_CODE || attempt_was_stopped(j, end));
}

static bool attempt_apply_external_end(const struct job *j, enum dp_end_class *end, char *why,
				       size_t room)
{
	if (!attempt_external_end_applies(j, *end))
		return false;
	*end = j->external_end;
	snprintf(why, room, "%s", j->external_end_reason);
	return true;
}

void attempt_finish(struct job *j)
{
	char why[1600] = "";
	enum dp_end_class end;
	bool counted;

	if (attempt_refuse_if_not_started(j))
		return;
	j->has_run = true;
	end = attempt_classify(j, why, sizeof why);
	counted = end != DP_END_NOT_STARTED;
	if (j->files.warning[0])
		job_log(j, LOG_WARN, "%s", j->files.warning);
	if (attempt_apply_external_end(j, &end, why, sizeof why)) {
		counted = end != DP_END_CANCELLED;
	} else if (attempt_was_stopped(j, end)) {
		end = DP_END_CANCELLED;
		counted = false;
		snprintf(why, sizeof why, "it was stopped from outside; the trial starts again");
	}
	if (attempt_is_disk_full(j, end)) {
		end = DP_END_LOST;
		counted = attempt_handle_disk_full(j, why, sizeof why);
	} else if (j->external_end == DP_END_CANCELLED && end == DP_END_CANCELLED) {
		/* the same may happen to the next one at once */
		executor_hold(j->study->executor, "the last trainer was ended from outside", NULL);
	} else {
		executor_release_hold(j->study->executor);
	}
	attempt_append_program_error(j, end, why, sizeof why);
	if (!dp_study_has_metric_release(j->spec)) { /* these quote the trainer */
		attempt_append_advice(j, end, why, sizeof why);
		attempt_append_stderr_tail(j, end, why, sizeof why);
		attempt_append_package_hint(j, why, sizeof why);
	}
	attempt_record_end(j, end, counted, why);
}
