/* life.c - what changes a running daemon as a whole: another configuration, its end. */
#include "daemon/daemon.h"

/* ---- reload ---- */

int daemon_reload(struct dpd *d, json_t *changed, struct dp_err *err)
{
	struct config new, *old = &d->config;
	int code = config_load(&new, d->config_source, err);

	if (code != DP_OK) {
		log_line(&d->log, LOG_ERROR, "", "configuration not reloaded: %s",
			 err->msg);
		config_clear(&new);
		return code;
	}
	config_changed(old, &new, changed);
	config_clear(old);
	*old = new;
	d->log.level = new.log_level;
	server_set_group(d);
	log_line(&d->log, LOG_INFO, "", "configuration reloaded, %zu options changed",
		 json_array_size(changed));
	sched_kick(d);
	return DP_OK;
}

/* ---- stopping ---- */

void daemon_stop_check(struct dpd *d)
{
	if (!d->stopping)
		return;
	if (d->stop_policy != STOP_LEAVE)
		for (struct job *j = d->jobs; j; j = j->next)
			if (j->phase != JOB_PLANNED)
				return;
	if (!d->trouble && dp_journal_durable(d->journal) < d->last_ticket)
		return;
	uv_stop(&d->loop);
}

void daemon_stop(struct dpd *d, enum stop_policy policy, const char *why)
{
	if (d->stopping) { /* asked twice: no more waiting */
		d->stop_policy = STOP_LEAVE;
		daemon_stop_check(d);
		return;
	}
	d->stopping = true;
	d->stop_policy = policy;
	log_line(&d->log, LOG_INFO, "", "stopping (%s), policy %s, %u trainers running",
		 why, stop_policy_text(policy), d->njobs);
	notify_state("STOPPING=1");
	server_stop(d);
	for (uint32_t i = 0; i < d->state.nstudies; i++)
		ask_cancel(d, d->state.studies[i]->id);
	for (struct job *j = d->jobs; j && policy == STOP_KILL; j = j->next)
		if (j->phase == JOB_RUNNING)
			d->executor->cancel(j);
	daemon_stop_check(d);
}
