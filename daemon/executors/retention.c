/* retention.c - removes directories of ended attempts after the retention time. */
#include "daemon/executors/retention.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/units.h"
#include "daemon/core/background_job.h"
#include "daemon/executors/executor.h"
#include "state/state_json.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

struct expired_attempt {
	uint32_t study_index; /* index in study_dirs */
	uint32_t trial, attempt;
	int32_t run;
};

struct retention_sweep {
	struct background_job job;
	struct daemon *daemon;
	struct clock_file *clock_file;
	char **study_dirs;
	uint32_t n_study_dirs;
	struct expired_attempt *expired;
	size_t n_expired, capacity;
	unsigned n_kept, n_removed;
};

static void sweep_free(struct retention_sweep *sw)
{
	clock_file_free(sw->clock_file);
	for (uint32_t i = 0; i < sw->n_study_dirs; i++)
		free(sw->study_dirs[i]);
	free(sw->study_dirs);
	free(sw->expired);
	free(sw);
}

/* ---- on the loop: selection ---- */

static void sweep_add(struct retention_sweep *sw, uint32_t study_index, uint32_t trial,
		      const struct dp_attempt *a)
{
	if (sw->n_expired == sw->capacity) {
		sw->capacity = sw->capacity ? 2 * sw->capacity : 64;
		sw->expired = dp_reallocarray(sw->expired, sw->capacity, sizeof *sw->expired);
	}
	sw->expired[sw->n_expired++] = (struct expired_attempt){
		.study_index = study_index, .trial = trial, .attempt = a->number, .run = a->run
	};
}

static void sweep_trial(struct retention_sweep *sw, uint32_t study_index, const struct dp_trial *t)
{
	double limit = sw->daemon->config.retention;

	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		if (a->end_class == DP_END_NONE)
			continue;
		if ((double)clock_running_time_since(sw->daemon, a->recorded_us) / 1e6 < limit)
			sw->n_kept +=
				(double)(clock_now(sw->daemon) - a->recorded_us) / 1e6 >= limit;
		else
			sweep_add(sw, study_index, t->number, a);
	}
}

static void sweep_gather(struct retention_sweep *sw)
{
	const struct studies *all = sw->daemon->studies;

	sw->study_dirs = dp_calloc(all->n + 1, sizeof *sw->study_dirs);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct dp_study_state *s = all->list[i]->state;

		sw->study_dirs[sw->n_study_dirs++] = study_folder(all->list[i]);
		for (uint32_t k = 0; k < s->ntrials; k++)
			sweep_trial(sw, i, s->trials[k]);
		for (uint32_t k = 0; k < s->reevals.ntrials; k++)
			sweep_trial(sw, i, s->reevals.trials[k]);
	}
}

/* ---- on a worker thread ---- */

static void sweep_remove(struct retention_sweep *sw, const struct expired_attempt *x)
{
	char folder[64], *path, *claim;

	dp_attempt_format_dir(x->trial, x->run, x->attempt, folder);
	path = dp_path_join(sw->study_dirs[x->study_index], folder);
	claim = lease_file_path(path, ".claim");
	if (access(path, F_OK) == 0) {
		unlink(claim);
		sw->n_removed += dp_remove_tree(path, NULL) == DP_OK;
	}
	free(claim);
	free(path);
}

static void sweep_work(void *arg)
{
	struct retention_sweep *sw = arg;

	clock_file_write(sw->clock_file);
	for (size_t i = 0; i < sw->n_expired; i++)
		sweep_remove(sw, &sw->expired[i]);
}

/* ---- on the loop again ---- */

static void sweep_done(void *arg)
{
	struct retention_sweep *sw = arg;
	struct daemon *d = sw->daemon;
	char count[DP_PLURAL_LEN];

	if (sw->n_removed)
		log_line(&d->log, LOG_INFO, "", "removed %s by retention",
			 dp_plural_text(sw->n_removed, "attempt folder", count));
	if (sw->n_kept && !d->executors->retention_kept_logged)
		log_line(&d->log, LOG_WARN, "",
			 "%s %s older than retention by the calendar, but %s: it counts "
			 "only time that a daemon ran",
			 dp_plural_text(sw->n_kept, "attempt folder", count),
			 sw->n_kept == 1 ? "is" : "are", sw->n_kept == 1 ? "stays" : "stay");
	d->executors->retention_kept_logged |= sw->n_kept > 0;
	d->executors->retention_running = false;
	sweep_free(sw);
}

/* The ends are durable: their files can go. */
static void sweep_start(struct daemon *d, void *arg)
{
	struct retention_sweep *sw = arg;

	if (d->loop_ended)
		sweep_free(sw);
	else
		background_job_start(d, &sw->job, sweep_work, sweep_done, sw);
}

void retention_sweep(struct daemon *d)
{
	struct retention_sweep *sw;

	if (d->executors->retention_running)
		return;
	sw = dp_calloc(1, sizeof *sw);
	sw->daemon = d;
	sw->clock_file = clock_file_new(d);
	/* a repair may need the directories of studies that cannot be read now */
	if (isfinite(d->config.retention) && dp_state_is_intact(&d->state))
		sweep_gather(sw);
	d->executors->retention_running = true;
	after_commit(d, sweep_start, sw);
}
