/* executor.c - the executors there are, and those in use. */
#include "daemon/executor.h"

#include <stdlib.h>
#include <string.h>

const struct executor *const executors[] = { &executor_local, &executor_slurm, NULL };

static unsigned count_executors(const struct executor *const *list)
{
	unsigned n = 0;

	while (list[n])
		n++;
	return n;
}

int executors_open(struct dpd *d, const struct executor *const *list, struct dp_err *err)
{
	unsigned n = count_executors(list);
	int code = DP_OK;

	d->backends = calloc(n + 1, sizeof *d->backends);
	if (!d->backends)
		return dp_fail(err, DP_E_NOMEM, "no memory for executors");
	for (unsigned i = 0; i < n && code == DP_OK; i++) {
		d->backends[i] = (struct backend){ .table = list[i], .d = d };
		if (list[i]->open)
			code = list[i]->open(&d->backends[i], err);
	}
	return code;
}

void executors_stop(struct dpd *d)
{
	for (struct backend *b = d->backends; b && b->table; b++)
		if (b->table->stop)
			b->table->stop(b);
}

void executors_close(struct dpd *d)
{
	for (struct backend *b = d->backends; b && b->table; b++)
		if (b->table->close)
			b->table->close(b);
	free(d->backends);
	d->backends = NULL;
}

void executors_tick(struct dpd *d)
{
	for (struct backend *b = d->backends; b && b->table; b++)
		b->table->tick(b);
}

unsigned executors_jobs(const struct dpd *d)
{
	unsigned n = 0;

	for (const struct backend *b = d->backends; b && b->table; b++)
		n += b->jobs;
	return n;
}

unsigned executor_room(const struct backend *b)
{
	unsigned taken = b->jobs + b->asking, places = b->table->places(b);

	return taken < places ? places - taken : 0;
}

struct backend *executor_for(const struct dpd *d, const struct dp_study *now)
{
	enum dp_executor e = now->trainer.executor;

	for (struct backend *b = d->backends; e != DP_EXECUTOR_DEFAULT && b->table; b++)
		if (strcmp(b->table->name, dp_executor_text(e)) == 0)
			return b;
	return &d->backends[0];
}
