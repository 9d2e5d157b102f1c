/* trial.c - what follows from the end of an attempt: a retry, a result, a pause.
 *
 * Every decision is a function of the journaled state alone, so that a daemon that
 * died between two records comes to the same one. */
#include "daemon/daemon.h"

#include "base/num.h"
#include "propose/propose.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the verdict on a trial ---- */

/* Attempts of this run that failed in a way a retry may mend, and count. */
static int mendable_failures(const struct dp_trial *t, int32_t run)
{
	int n = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		n += t->attempts[i].run == run && t->attempts[i].counted &&
		     dp_end_retryable(t->attempts[i].end);
	return n;
}

static bool ends_trial(const struct dp_study_state *s, const struct dp_trial *t,
		       const struct dp_attempt *a)
{
	if (!a->counted || a->end == DP_END_NONE || a->end == DP_END_OK ||
	    a->end == DP_END_DIVERGED)
		return false;
	return !dp_end_retryable(a->end) ||
	       mendable_failures(t, a->run) > s->spec->trainer.retries;
}

static bool all_runs_known(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (uint32_t i = 0; i < (uint32_t)s->spec->trainer.runs; i++)
		if (!dp_trial_run_known(t, i))
			return false;
	return true;
}

/* How the trial stands: its final state, or DP_TRIAL_WAITING while it needs more
 * attempts. *cause is the attempt that decided, or NULL. */
static enum dp_trial_status verdict(const struct dp_study_state *s,
				    const struct dp_trial *t,
				    const struct dp_attempt **cause)
{
	*cause = NULL;
	if (t->cancel_asked)
		return DP_TRIAL_CANCELLED;
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if (ends_trial(s, t, *cause))
			return DP_TRIAL_FAILED;
	}
	for (uint32_t i = 0; i < t->nattempts; i++) {
		*cause = &t->attempts[i];
		if ((*cause)->end == DP_END_DIVERGED)
			return DP_TRIAL_DIVERGED;
	}
	*cause = NULL;
	return all_runs_known(s, t) ? DP_TRIAL_OK : DP_TRIAL_WAITING;
}

bool trial_next_run(const struct dp_study_state *s, const struct dp_trial *t,
		    int32_t *run)
{
	const struct dp_attempt *cause;
	bool taken;

	if (t->status >= DP_TRIAL_OK || verdict(s, t, &cause) != DP_TRIAL_WAITING)
		return false;
	if (!s->spec->trainer.run_per_process) {
		*run = DP_RUN_ALL;
		return t->open == 0;
	}
	for (int32_t r = 0; r < s->spec->trainer.runs; r++) {
		taken = dp_trial_run_known(t, (uint32_t)r);
		for (uint32_t i = 0; i < t->nattempts && !taken; i++)
			taken = t->attempts[i].run == r &&
				t->attempts[i].end == DP_END_NONE;
		if (!taken) {
			*run = r;
			return true;
		}
	}
	return false;
}

/* ---- ending trials and studies ---- */

/* Natural units; NaN where a diverged trial has no value. `privacy` has what a worker
 * thread computed already (NaN or NULL: it did not). */
static int objectives_of(const struct dp_study_state *s, const struct dp_trial *t,
			 const double *privacy, double *y, struct dp_err *err)
{
	for (size_t i = 0; i < s->spec->nobjectives; i++) {
		const struct dp_objective *o = &s->spec->objectives[i];
		struct dp_epsilon cost;
		int code;

		if (!o->mechanism) {
			y[i] = dp_objective_metric(
				o, dp_trial_mean(s, t, dp_study_metric(s, o->metric)));
			continue;
		}
		if (privacy && !isnan(privacy[i])) {
			y[i] = privacy[i];
			continue;
		}
		code = dp_objective_privacy(s->spec, i, t->x, &cost, err);
		if (code != DP_OK)
			return dp_err_prefix(err, "objective '%s'", o->name);
		y[i] = cost.epsilon;
	}
	return DP_OK;
}

static void end_trial(struct dpd *d, struct dp_study_state *s, struct dp_trial *t,
		      enum dp_trial_status status, const double *privacy,
		      const char *reason)
{
	double y[DP_OBJECTIVES_MAX];
	struct dp_event e = { .type = DP_EV_TRIAL_ENDED, .trial = t->number };
	struct dp_err err;
	char about[DP_NAME_MAX + 16];

	if (status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED) {
		if (objectives_of(s, t, privacy, y, &err) == DP_OK) {
			e.objectives = y;
			e.nobjectives = (uint32_t)s->spec->nobjectives;
		} else {
			status = DP_TRIAL_FAILED;
			reason = err.msg;
		}
	}
	e.state = dp_trial_status_text(status);
	e.reason = reason;
	record(d, s, &e);
	snprintf(about, sizeof about, "%s/%u", s->spec->name, t->number);
	log_line(&d->log, status == DP_TRIAL_OK ? LOG_INFO : LOG_WARN, about, "%s%s%s",
		 e.state, reason ? ": " : "", reason ? reason : "");
}

void trial_settle(struct dpd *d, struct dp_study_state *s, struct dp_trial *t,
		  const double *privacy)
{
	const struct dp_attempt *cause;
	enum dp_trial_status status;
	char why[900];

	if (t->open || t->status >= DP_TRIAL_OK)
		return;
	status = verdict(s, t, &cause);
	if (status == DP_TRIAL_WAITING)
		return;
	if (cause)
		snprintf(why, sizeof why, "%s: %s", dp_end_text(cause->end),
			 cause->message ? cause->message : "no reason is known");
	end_trial(d, s, t, status, privacy,
		  cause                          ? why
		  : status == DP_TRIAL_CANCELLED ? "cancelled"
						 : NULL);
	study_settle(d, s);
}

/* Trials that can still be proposed. */
static uint32_t proposals_left(const struct dp_study_state *s)
{
	uint64_t limit = dp_propose_limit(s->spec);

	if (limit > s->evaluations)
		limit = s->evaluations;
	return s->ntrials < limit ? (uint32_t)(limit - s->ntrials) : 0;
}

bool study_time_over(const struct dp_study_state *s)
{
	double limit = s->spec->search.max_time;

	return limit > 0 && (double)(dp_now_us() - s->created) / 1e6 >= limit;
}

uint32_t study_proposals(const struct dp_study_state *s)
{
	return s->status == DP_STUDY_RUNNING && !study_time_over(s) ? proposals_left(s)
								    : 0;
}

/* The time is over: trials that wait for another attempt do not get it. */
static void end_waiting(struct dpd *d, struct dp_study_state *s)
{
	for (uint32_t i = s->first_live; i < s->ntrials; i++)
		if (s->trials[i]->status == DP_TRIAL_WAITING)
			end_trial(d, s, s->trials[i], DP_TRIAL_CANCELLED, NULL,
				  "search.max_time was over");
}

void study_settle(struct dpd *d, struct dp_study_state *s)
{
	bool late = study_time_over(s);
	char why[200];

	if (s->status != DP_STUDY_RUNNING)
		return;
	if (s->failures_in_row >= (uint32_t)s->spec->trainer.max_failures) {
		snprintf(why, sizeof why,
			 "%u trials failed in a row (trainer.max_failures); the last one "
			 "is "
			 "the newest in 'dparetoctl status %s'",
			 s->failures_in_row, s->spec->name);
		move_study(d, s, DP_STUDY_PAUSED, true, why);
		return;
	}
	if (s->open || (!late && proposals_left(s)))
		return;
	if (late)
		end_waiting(d, s);
	if (s->waiting)
		return;
	if (s->ok + s->diverged == 0)
		move_study(d, s, DP_STUDY_FAILED, true, "not one evaluation succeeded");
	else if (late && proposals_left(s))
		move_study(d, s, DP_STUDY_FINISHED, false, "search.max_time was over");
	else if (dp_propose_limit(s->spec) < s->evaluations) {
		snprintf(why, sizeof why, "%s has only %u points",
			 s->spec->search.method == DP_METHOD_GRID ? "the grid"
								  : "the space",
			 s->ntrials);
		move_study(d, s, DP_STUDY_FINISHED, false, why);
	} else
		move_study(d, s, DP_STUDY_FINISHED, false, NULL);
}

/* ---- the end of an attempt ---- */

static double backoff_seconds(int failures)
{
	return failures <= 0  ? 0
	       : failures > 4 ? 32
			      : 0.5 * (double)(1 << (2 * (failures - 1)));
}

void back_off(struct dpd *d, struct dp_study_state *s, struct dp_trial *t, double seconds)
{
	struct backoff *b = malloc(sizeof *b);

	if (!b)
		return; /* then it is tried at once */
	*b = (struct backoff){ .next = d->backoffs,
			       .study = s->id,
			       .trial = t->number,
			       .until = dp_mono_us() + (int64_t)(seconds * 1e6) };
	d->backoffs = b;
}

/* Everything the attempt told, as one record. */
static void record_end(struct dpd *d, struct dp_study_state *s, struct job *j,
		       enum dp_end end, bool counted, const char *why)
{
	size_t nmetrics = dp_result_nmetrics(j->result);
	uint32_t room = (uint32_t)s->spec->trainer.runs;
	const char **names = calloc(nmetrics + 1, sizeof *names);
	double *metrics = calloc(room * nmetrics + 1, sizeof *metrics);
	uint32_t *runs = calloc(room, sizeof *runs);
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt,
			      .end = end,
			      .counted = counted,
			      .reason = why && *why ? why : NULL,
			      .exit = j->exit,
			      .declared = *dp_result_declared(j->result) };

	if (names && metrics && runs) {
		e.nruns = job_runs(s, j->run, runs);
		for (size_t k = 0; k < nmetrics; k++)
			names[k] = dp_result_metric_name(j->result, k);
		for (uint32_t i = 0; i < e.nruns; i++)
			for (size_t k = 0; k < nmetrics; k++)
				if (!dp_result_value(j->result, i, k,
						     &metrics[i * nmetrics + k]))
					metrics[i * nmetrics + k] = NAN;
		e.metric_names = names;
		e.nmetrics = (uint32_t)nmetrics;
		e.runs = runs;
		e.metrics = metrics;
	}
	record(d, s, &e);
	free(names);
	free(metrics);
	free(runs);
}

static enum dp_end classify(struct job *j, const struct dp_study_state *s,
			    const struct dp_trial *t, char *why, size_t room)
{
	const char *needed[DP_OBJECTIVES_MAX + 1];
	enum dp_end end;
	size_t n = 0;

	for (size_t i = 0; i < s->spec->nobjectives; i++)
		if (s->spec->objectives[i].metric)
			needed[n++] = s->spec->objectives[i].metric;
	needed[n] = NULL;
	end = dp_classify(&j->exit, j->result, needed, t->cancel_asked, why, room);
	if (j->mismatch[0] && (end == DP_END_OK || end == DP_END_DIVERGED)) {
		snprintf(why, room,
			 "what it declares does not fit the study's mechanism: %s",
			 j->mismatch);
		return DP_END_BAD_OUTPUT;
	}
	if (j->warning[0])
		log_line(&j->d->log, LOG_WARN, j->about, "%s", j->warning);
	if (!j->not_read || (end != DP_END_BAD_OUTPUT && end != DP_END_LOST))
		return end;
	snprintf(why, room, "its result file cannot be read: %s", strerror(j->not_read));
	/* the machine's trouble may pass; a folder in the file's place is the trainer's
	 */
	return j->not_read == EIO || j->not_read == ENOMEM || j->not_read == EMFILE ||
			       j->not_read == ENFILE
		       ? DP_END_LOST
		       : DP_END_BAD_OUTPUT;
}

static void pause_for_start(struct dpd *d, struct dp_study_state *s, const char *why)
{
	char reason[700];

	if (s->status != DP_STUDY_RUNNING)
		return;
	snprintf(reason, sizeof reason, "%s; put it right, then 'dparetoctl resume %s'",
		 why, s->spec->name);
	move_study(d, s, DP_STUDY_PAUSED, true, reason);
}

void attempt_close(struct dpd *d, struct job *j, enum dp_end end, bool counted,
		   const char *why)
{
	struct dp_study_state *s = dp_state_by_id(&d->state, j->study);
	struct dp_trial *t = s ? dp_study_trial(s, j->trial) : NULL;
	double privacy[DP_OBJECTIVES_MAX];
	int32_t run = j->run;

	if (!t) { /* the study was deleted meanwhile */
		job_free(j);
		return;
	}
	record_end(d, s, j, end, counted, why);
	if (end != DP_END_OK)
		log_line(&d->log, LOG_WARN, j->about, "attempt %u: %s: %s", j->attempt,
			 dp_end_text(end), why);
	memcpy(privacy, j->privacy, sizeof privacy);
	job_free(j);
	if (end == DP_END_NOT_STARTED)
		pause_for_start(d, s, why);
	else if (counted && dp_end_retryable(end))
		back_off(d, s, t, backoff_seconds(mendable_failures(t, run)));
	trial_settle(d, s, t, privacy);
	study_settle(d, s);
	daemon_stop_check(d);
}

/* Adds what the trainer itself said to the reason of a failure. */
static void quote_last_words(const struct job *j, enum dp_end end, char *why, size_t room)
{
	size_t n = strlen(why);

	if (j->last_words[0] && (end == DP_END_EXIT_CODE || end == DP_END_SIGNAL ||
				 end == DP_END_BAD_OUTPUT || end == DP_END_TIMEOUT))
		snprintf(why + n, room - n, "; its last line on stderr: %s",
			 j->last_words);
}

void attempt_over(struct dpd *d, struct job *j)
{
	struct dp_study_state *s = dp_state_by_id(&d->state, j->study);
	struct dp_trial *t = s ? dp_study_trial(s, j->trial) : NULL;
	char why[800] = "";
	enum dp_end end = t ? classify(j, s, t, why, sizeof why) : DP_END_CANCELLED;
	bool counted = end != DP_END_NOT_STARTED;

	/* The shim was told to end it, but not because the trial was cancelled: a daemon
	 * that stops its trainers, or a machine that shuts down. As if it had never run.
	 */
	if (t && j->exit.cancelled && !t->cancel_asked && end != DP_END_OK &&
	    end != DP_END_DIVERGED) {
		end = DP_END_CANCELLED;
		counted = false;
		snprintf(why, sizeof why,
			 "it was stopped from outside; the trial starts again");
	}
	quote_last_words(j, end, why, sizeof why);
	attempt_close(d, j, end, counted, why);
}

void trial_cancel(struct dpd *d, struct dp_study_state *s, struct dp_trial *t)
{
	struct dp_event e = { .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = t->number };

	record(d, s, &e);
	for (struct job *j = d->jobs; j; j = j->next)
		if (j->study == s->id && j->trial == t->number && j->phase == JOB_RUNNING)
			d->executor->cancel(j);
	trial_settle(d, s, t, NULL);
}
