/* executor.c - the table of executors, and those in use. */
#include "daemon/executors/executor.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>

#define HOLD_MIN_SECONDS 1.0 /* after a refused start; doubles each time */
#define HOLD_MAX_SECONDS 32.0

const struct executor_ops *const executors[] = { &executor_local, &executor_slurm, NULL };

int executors_open(struct daemon *d, const struct executor_ops *const *list, struct dp_err *err)
{
	unsigned n = 0;
	int code = DP_OK;

	while (list[n])
		n++;
	d->attempts = &executors_runner;
	d->executors = dp_calloc(1, sizeof *d->executors);
	d->executors->list = dp_calloc(n + 1, sizeof *d->executors->list);
	for (unsigned i = 0; i < n && code == DP_OK; i++) {
		struct executor *b = &d->executors->list[i];

		*b = (struct executor){ .ops = list[i], .daemon = d };
		if (b->ops->open)
			code = b->ops->open(b, err);
	}
	return code;
}

void executors_stop(struct daemon *d)
{
	for (struct executor *b = d->executors ? d->executors->list : NULL; b && b->ops; b++)
		if (b->ops->stop)
			b->ops->stop(b);
}

void executors_close(struct daemon *d)
{
	if (!d->executors)
		return;
	for (struct executor *b = d->executors->list; b->ops; b++)
		if (b->ops->close)
			b->ops->close(b);
	free(d->executors->list);
	free(d->executors);
	d->executors = NULL;
}

void executors_tick(struct daemon *d)
{
	for (struct executor *b = d->executors->list; b->ops; b++)
		b->ops->tick(b);
}

void executors_wake_due(struct daemon *d)
{
	for (const struct executor *b = d->executors->list; b->ops; b++)
		if (b->hold.until_us && !executor_is_held(b))
			daemon_request_turn(d);
}

unsigned executor_free_slots(const struct executor *b)
{
	unsigned taken = b->n_jobs + b->n_reserved, places = b->ops->capacity(b);

	return taken < places ? places - taken : 0;
}

/* ---- holds ---- */

bool executor_is_held(const struct executor *b)
{
	return clock_now(b->daemon) < b->hold.until_us;
}

void executor_hold(struct executor *b, const char *what, const char *why)
{
	struct launch_hold *hold = &b->hold;

	if (executor_is_held(b))
		return; /* planned together with the one that was refused first */
	hold->seconds = dp_backoff_next(hold->seconds, HOLD_MIN_SECONDS, HOLD_MAX_SECONDS);
	hold->until_us = clock_now(b->daemon) + (int64_t)(hold->seconds * 1e6);
	snprintf(hold->reason, sizeof hold->reason, "%.90s%s%.300s%s", what, why ? " (" : "",
		 why ? why : "", why ? ")" : "");
	log_line(&b->daemon->log, LOG_WARN, "", "%s; nothing starts for %g s", hold->reason,
		 hold->seconds);
}

void executor_release_hold(struct executor *b)
{
	if (!executor_is_held(b))
		b->hold = (struct launch_hold){ 0 };
}
