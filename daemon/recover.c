/* recover.c - after replay: what became of the attempts that were under way.
 *
 * Their shims did not need us: each is found alive (adopted), ended (collected), or
 * never begun (its claim is taken, so that it never can). */
#include "daemon/daemon.h"

#include <stdlib.h>

static void adopted(struct dpd *d, struct dp_study_state *s, struct job *j)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ADOPTED,
			      .trial = j->trial,
			      .run = j->run,
			      .attempt = j->attempt };

	record(d, s, &e);
	log_line(&d->log, LOG_INFO, j->about,
		 "attempt %u still runs (process %d): adopted", j->attempt, (int)j->pid);
	if (dp_study_trial(s, j->trial)->cancel_asked)
		d->executor->cancel(j);
}

static void recover_attempt(struct dpd *d, struct dp_study_state *s, struct dp_trial *t,
			    const struct dp_attempt *a)
{
	struct job *j = job_new(d, s, t->number, a->run, a->number);
	bool never_started = false;
	struct dp_err err;

	if (!j) {
		log_line(&d->log, LOG_ERROR, s->spec->name,
			 "no memory to recover trial %u", t->number);
		exit(1);
	}
	j->started = a->planned;
	if (d->executor->adopt(j, &never_started, &err) != DP_OK)
		attempt_close(d, j, DP_END_LOST, true, err.msg);
	else if (never_started)
		attempt_close(d, j, DP_END_LOST, false,
			      "it had not started when the daemon ended");
	else if (j->phase == JOB_RUNNING)
		adopted(d, s, j);
	else
		log_line(&d->log, LOG_INFO, j->about,
			 "attempt %u ended while no daemon ran: collecting", j->attempt);
}

static void recover_trial(struct dpd *d, struct dp_study_state *s, struct dp_trial *t)
{
	/* attempts do not move while we look: only recover_attempt() changes them,
	 * and it adds none */
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end == DP_END_NONE)
			recover_attempt(d, s, t, &t->attempts[i]);
	/* the record of its last attempt's end may have been the last one written */
	trial_settle(d, s, t, NULL);
}

void recover(struct dpd *d)
{
	for (uint32_t i = 0; i < d->state.nstudies; i++) {
		struct dp_study_state *s = d->state.studies[i];

		for (uint32_t k = s->first_live; k < s->ntrials; k++)
			if (s->trials[k]->status < DP_TRIAL_OK)
				recover_trial(d, s, s->trials[k]);
		study_settle(d, s);
	}
}
