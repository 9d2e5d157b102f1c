/* attempt.c - the end of an attempt: what class it was, and its record. What follows
 * from it is the course's business. */
#include "daemon/executor.h"

#include "base/fs.h"
#include "daemon/job.h"
#include "daemon/record.h"
#include "daemon/sched.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reported_runs(const struct job *j, struct reported *t, struct dp_event *e)
{
	const struct dp_result *r = j->files.result;
	size_t n = dp_result_nmetrics(r), room = j->runs;

	t->names = calloc(n + 1, sizeof *t->names);
	t->metrics = calloc(room * n + 1, sizeof *t->metrics);
	t->runs = calloc(room, sizeof *t->runs);
	if (!t->names || !t->metrics || !t->runs)
		return false;
	e->nruns = job_runs(j, t->runs);
	for (size_t k = 0; k < n; k++)
		t->names[k] = dp_result_metric_name(r, k);
	for (uint32_t i = 0; i < e->nruns; i++)
		for (size_t k = 0; k < n; k++)
			if (!dp_result_value(r, i, k, &t->metrics[i * n + k]))
				t->metrics[i * n + k] = NAN;
	e->metric_names = t->names;
	e->nmetrics = (uint32_t)n;
	e->runs = t->runs;
	e->metrics = t->metrics;
	return true;
}

bool attempt_way_counts(const struct job *j, enum dp_end end, bool counted)
{
	const struct job_files *f = &j->files;

	return counted && dp_end_keeps_way(end) && dp_result_sound(f->result) && !f->mismatch[0];
}

/* What it reached of its path. */
static bool reported_way(const struct job *j, bool counted, struct reported *t, struct dp_event *e)
{
	const struct job_files *f = &j->files;
	size_t n = job_waypoints(j, t->waypoints), at = 0;

	if (n == 0 || e->nmetrics == 0 || !attempt_way_counts(j, e->end, counted))
		return true;
	e->nways = (uint32_t)(n * e->nruns * e->nmetrics);
	t->ways = calloc(e->nways, sizeof *t->ways);
	if (!t->ways)
		return false;
	for (size_t w = 0; w < n; w++)
		for (uint32_t i = 0; i < e->nruns; i++)
			for (size_t k = 0; k < e->nmetrics; k++, at++)
				if (!dp_result_value_at(f->result, i, w, k, &t->ways[at]))
					t->ways[at] = NAN;
	e->waypoints = t->waypoints;
	e->nwaypoints = (uint32_t)n;
	e->ways = t->ways;
	e->way_privacy = f->way_privacy;
	e->nway_privacy = f->nway_privacy;
	return true;
}

/* All that it reported; false without memory. */
static bool reported_fill(const struct job *j, bool counted, struct reported *t, struct dp_event *e)
{
	e->declared = *dp_result_declared(j->files.result);
	e->sha256 = j->files.sha256[0] ? j->files.sha256 : NULL;
	return reported_runs(j, t, e) && reported_way(j, counted, t, e);
}

void attempt_close(struct job *j, enum dp_end end, bool counted, const char *why)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt,
			      .end = end,
			      .counted = counted,
			      /* what says nothing of a trial that is lost never ran */
			      .unbegun = end == DP_END_LOST && !counted && !j->ran,
			      .reason = why && *why ? why : NULL,
			      .exit = j->files.exit };
	struct reported reported = { 0 };
	bool releases = dp_study_releases(j->spec);

	if (!(releases ? released_fill(j, counted, &reported, &e)
		       : reported_fill(j, counted, &reported, &e)))
		/* its files stay: the next daemon reads them */
		record_give_up(j->d, "for the result of an attempt");
	record(j->home, &e);
	if (releases)
		released_forget(j);
	if (end != DP_END_OK)
		job_log(j, LOG_WARN, "attempt %u: %s: %s", j->attempt, dp_end_text(end), why);
	job_over(j);
	free(reported.names);
	free(reported.metrics);
	free(reported.runs);
	free(reported.ways);
}

/* ---- the class ---- */

/* Nothing that the trainer said may be quoted, and only a share can be released. */
static enum dp_end attempt_class_released(const struct job *j, enum dp_end end, char *why,
					  size_t room)
{
	const char *metric = end == DP_END_OK ? released_no_share(j) : NULL;

	if (metric) {
		snprintf(why, room,
			 "metric '%s' is not within 0 and 1: only a share can be "
			 "released (objectives.NAME.release)",
			 metric);
		return DP_END_BAD_OUTPUT;
	}
	if (dp_result_problem(j->files.result) && (end == DP_END_BAD_OUTPUT || end == DP_END_LOST))
		released_why(why, room);
	return end;
}

/* The metrics that objectives use; ends with NULL. */
static void attempt_needed(const struct dp_study *spec, const char *needed[DP_OBJECTIVES_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			needed[n++] = spec->objectives[i].metric;
	needed[n] = NULL;
}

static enum dp_end attempt_class(const struct job *j, char *why, size_t room)
{
	const struct dp_study *spec = j->spec;
	const struct job_files *f = &j->files;
	const char *needed[DP_OBJECTIVES_MAX + 1];
	struct dp_exit exit = f->exit;
	enum dp_end end;

	attempt_needed(spec, needed);
	if (dp_study_releases(spec))
		exit.peak_memory = 0; /* it may tell of the data, and is not kept */
	end = dp_classify(&exit, f->result, needed, job_trial(j)->cancel_asked, why, room);
	if (dp_study_releases(spec))
		end = attempt_class_released(j, end, why, room);
	if (f->mismatch[0] && (end == DP_END_OK || end == DP_END_DIVERGED)) {
		snprintf(why, room, "what it declares does not fit the study's mechanism: %s",
			 f->mismatch);
		return DP_END_BAD_OUTPUT;
	}
	if (f->removed && end == DP_END_BAD_OUTPUT) {
		snprintf(why, room, "its folder was removed, and its result with it");
		return DP_END_LOST;
	}
	if (!f->not_read || (end != DP_END_BAD_OUTPUT && end != DP_END_LOST))
		return end;
	snprintf(why, room, "its result file cannot be read: %s",
		 f->not_read == EINVAL  ? "it is not a plain file"
		 : f->not_read == ELOOP ? "it is a link"
					: strerror(f->not_read));
	return DP_END_BAD_OUTPUT;
}

/* It ended as a trainer does that cannot write, and its shim could not keep what it said
 * either: a full disk, most likely not its own fault. */
static bool attempt_without_room(const struct job *j, enum dp_end end)
{
	return (end == DP_END_EXIT_CODE || end == DP_END_SIGNAL || end == DP_END_BAD_OUTPUT) &&
	       dp_errno_passes(dp_exit_errno(j->files.exit.output_lost));
}

/* The attempt ended without room for what its trainer wrote. A full disk counts: the
 * trainer may be the one that filled it. No trainer makes a disk read-only. */
static bool attempt_lost_output(struct job *j, char *why, size_t room)
{
	int error = dp_exit_errno(j->files.exit.output_lost);

	snprintf(why, room, "nothing that it wrote could be kept: %s", strerror(error));
	sched_hold(j->home->backend, "the last trainer had no room for what it wrote",
		   error == EROFS ? strerror(error) : NULL);
	return error != EROFS;
}

/* The machine had nothing to start the trainer with: nothing ran. */
static bool attempt_not_begun(struct job *j)
{
	int error = j->files.exit.kind == DP_EXIT_EXEC ? dp_exit_errno(j->files.exit.exec) : 0;
	struct dp_err err;

	if (!dp_errno_passes(error))
		return false;
	dp_fail_errno(&err, error, "dpareto-shim could not start %s", j->spec->trainer.argv[0]);
	job_refused(j, &err);
	return true;
}

/* Adds what the trainer itself said to the reason of a failure. */
static void quote_last_words(const struct job *j, enum dp_end end, char *why, size_t room)
{
	size_t n = strlen(why);

	if (j->files.last_words[0] &&
	    (end == DP_END_EXIT_CODE || end == DP_END_SIGNAL || end == DP_END_BAD_OUTPUT ||
	     end == DP_END_TIMEOUT || end == DP_END_MEMORY))
		snprintf(why + n, room - n, "; its last line on stderr: %s", j->files.last_words);
}

/* Python's own words for a kit that it does not find do not say where to get it. */
static void attempt_kit(const struct job *j, char *why, size_t room)
{
	size_t n = strlen(why);

	if (strstr(j->files.last_words, "No module named 'dpareto'"))
		snprintf(why + n, room - n, "; 'dparetoctl kit' says how a trainer comes to it");
}

/* Adds what is wrong with the program itself. */
static void attempt_program(const struct job *j, enum dp_end end, char *why, size_t room)
{
	size_t n = strlen(why);

	if (j->files.cannot_start[0] && (end == DP_END_NOT_STARTED || end == DP_END_EXIT_CODE))
		snprintf(why + n, room - n, "; %s", j->files.cannot_start);
}

/* Adds what people who write their first trainer should know. */
static void attempt_advise(const struct job *j, enum dp_end end, char *why, size_t room)
{
	const char *needed[DP_OBJECTIVES_MAX + 1];
	size_t n = strlen(why);

	if (end != DP_END_BAD_OUTPUT)
		return;
	attempt_needed(j->spec, needed);
	if (j->files.misplaced)
		snprintf(why + n, room - n,
			 "; its standard output has lines like results: append them to "
			 "the file that $DPARETO_RESULT names");
	else if (!dp_result_problem(j->files.result))
		dp_result_instead(j->files.result, needed, why + n, room - n);
}

/* The shim was told to end it, but not because the trial was cancelled: a daemon that
 * stops its trainers, or a machine that shuts down. As if it had never run. */
static bool attempt_stopped(const struct job *j, enum dp_end end)
{
	return j->files.exit.cancelled && !job_trial(j)->cancel_asked && end != DP_END_OK &&
	       end != DP_END_DIVERGED;
}

/* Is what the executor knows more than the record says? A limit or a hand from outside
 * also explains a signal, or the exit code of a trainer that heard of it first. */
static bool attempt_fate_tells(const struct job *j, enum dp_end end)
{
	if (j->fate == DP_END_NONE || job_trial(j)->cancel_asked)
		return false;
	if (end == DP_END_LOST)
		return true;
	return j->fate != DP_END_LOST &&
	       (end == DP_END_SIGNAL || end == DP_END_EXIT_CODE || attempt_stopped(j, end));
}

/* True: it decides. */
static bool attempt_fate(const struct job *j, enum dp_end *end, char *why, size_t room)
{
	if (!attempt_fate_tells(j, *end))
		return false;
	*end = j->fate;
	snprintf(why, room, "%s", j->fate_why);
	return true;
}

void attempt_over(struct job *j)
{
	char why[1600] = "";
	enum dp_end end;
	bool counted;

	if (attempt_not_begun(j))
		return;
	j->ran = true;
	end = attempt_class(j, why, sizeof why);
	counted = end != DP_END_NOT_STARTED;
	if (j->files.warning[0])
		job_log(j, LOG_WARN, "%s", j->files.warning);
	if (attempt_fate(j, &end, why, sizeof why)) {
		counted = end != DP_END_CANCELLED;
	} else if (attempt_stopped(j, end)) {
		end = DP_END_CANCELLED;
		counted = false;
		snprintf(why, sizeof why, "it was stopped from outside; the trial starts again");
	}
	if (attempt_without_room(j, end)) {
		end = DP_END_LOST;
		counted = attempt_lost_output(j, why, sizeof why);
	} else if (j->fate == DP_END_CANCELLED && end == DP_END_CANCELLED) {
		/* whoever did that may do it again as soon as it starts */
		sched_hold(j->home->backend, "the last trainer was ended from outside", NULL);
	} else {
		sched_release(j->home->backend);
	}
	attempt_program(j, end, why, sizeof why);
	if (!dp_study_releases(j->spec)) { /* these quote the trainer */
		attempt_advise(j, end, why, sizeof why);
		quote_last_words(j, end, why, sizeof why);
		attempt_kit(j, why, sizeof why);
	}
	attempt_close(j, end, counted, why);
}
