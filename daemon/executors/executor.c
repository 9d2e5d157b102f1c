/* executor.c - the executors there are, and those in use. */
#include "daemon/executors/executor.h"

#include <stdlib.h>
#include <string.h>

const struct executor_ops *const executors[] = { &executor_local, &executor_slurm, NULL };

static unsigned count_executors(const struct executor_ops *const *list)
{
	unsigned n = 0;

	while (list[n])
		n++;
	return n;
}

int executors_open(struct daemon *d, const struct executor_ops *const *list, struct dp_err *err)
{
	unsigned n = count_executors(list);
	int code = DP_OK;

	d->executors = dp_calloc(n + 1, sizeof *d->executors);
	for (unsigned i = 0; i < n && code == DP_OK; i++) {
		d->executors[i] = (struct executor){ .ops = list[i], .daemon = d };
		if (list[i]->open)
			code = list[i]->open(&d->executors[i], err);
	}
	return code;
}

void executors_stop(struct daemon *d)
{
	for (struct executor *b = d->executors; b && b->ops; b++)
		if (b->ops->stop)
			b->ops->stop(b);
}

void executors_close(struct daemon *d)
{
	for (struct executor *b = d->executors; b && b->ops; b++)
		if (b->ops->close)
			b->ops->close(b);
	free(d->executors);
	d->executors = NULL;
}

void executors_tick(struct daemon *d)
{
	for (struct executor *b = d->executors; b && b->ops; b++)
		b->ops->tick(b);
}

unsigned executors_count_jobs(const struct daemon *d)
{
	unsigned n = 0;

	for (const struct executor *b = d->executors; b && b->ops; b++)
		n += b->n_jobs;
	return n;
}

unsigned executor_free_slots(const struct executor *b)
{
	unsigned taken = b->n_jobs + b->n_reserved, places = b->ops->capacity(b);

	return taken < places ? places - taken : 0;
}

struct executor *executor_for_study(const struct daemon *d, const struct dp_study *now)
{
	enum dp_executor e = now->trainer.executor;

	for (struct executor *b = d->executors; e != DP_EXECUTOR_DEFAULT && b->ops; b++)
		if (strcmp(b->ops->name, dp_executor_text(e)) == 0)
			return b;
	return &d->executors[0];
}
