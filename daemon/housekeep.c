/* housekeep.c - what a clock has to remind us of: progress of running trainers, free
 * disk, retries that are due, time limits of studies, old folders. */
#include "daemon/housekeep.h"

#include "base/fs.h"
#include "base/num.h"
#include "daemon/executor.h"
#include "daemon/hook.h"
#include "daemon/oracles.h"
#include "daemon/record.h"
#include "daemon/retention.h"
#include "daemon/sched.h"
#include "daemon/server.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	TICK_MS = 500,
	DISK_TICKS = 4,        /* every 2 s */
	SWEEP_TICKS = 2 * 600, /* every 10 min */
	SWEEP_FIRST = 6,       /* and soon after the start */
	ATTEMPT_FILES = 10,    /* that an attempt needs, its trainer's own included */
};

/* Too few files can be made for every place to get an attempt. Some file systems do not
 * count them, and say 0 of 0. */
static bool files_low(const struct dpd *d, const struct statvfs *v)
{
	return d->config.disk_watermark > 0 && v->f_files > 0 &&
	       v->f_favail < (fsfilcnt_t)ATTEMPT_FILES * (d->config.slots + 1);
}

static void look_at_disk(struct dpd *d)
{
	char free_text[DP_NUM_LEN], mark[DP_NUM_LEN], slots[DP_COUNT_LEN], why[500];
	struct statvfs v;
	bool low;

	if (statvfs(d->at.state_dir, &v) != 0)
		return;
	d->disk_free = (uint64_t)v.f_bavail * v.f_frsize;
	low = d->disk_free < d->config.disk_watermark;
	snprintf(d->disk_why, sizeof d->disk_why, "%s of disk are free, %s disk_watermark (%s)",
		 dp_size_text(d->disk_free, free_text), low ? "below" : "above",
		 dp_size_text(d->config.disk_watermark, mark));
	if (!low && files_low(d, &v)) {
		low = true;
		snprintf(d->disk_why, sizeof d->disk_why,
			 "%llu files (inodes) can still be made on the disk, too few for "
			 "%s",
			 (unsigned long long)v.f_favail,
			 dp_count_text(d->config.slots, "slot", slots));
	}
	if (low != d->disk_low) {
		snprintf(why, sizeof why, "%.300s: %s: %s", d->at.state_dir, d->disk_why,
			 low ? "nothing new starts" : "going on");
		log_line(&d->log, low ? LOG_WARN : LOG_INFO, "", "%s", why);
	}
	if (low && !d->disk_low)
		happened_disk_low(d, why);
	if (d->disk_low && !low)
		sched_kick(d);
	d->disk_low = low;
}

/* ---- removal, off the loop: a study may have 100,000 folders ---- */

struct removal {
	uv_work_t work;
	char *folder;
};

static void removal_work(uv_work_t *w)
{
	struct removal *r = w->data;

	if (dp_remove_tree(r->folder, NULL) != DP_OK) {
		/* it lies in the trash; the next start tries again */
	}
}

static void removal_done(uv_work_t *w, int status)
{
	struct removal *r = w->data;

	(void)status;
	free(r->folder);
	free(r);
}

void remove_later(struct dpd *d, char *folder)
{
	struct removal *r = folder ? calloc(1, sizeof *r) : NULL;

	if (!r) {
		free(folder);
		return;
	}
	r->folder = folder;
	r->work.data = r;
	uv_queue_work(&d->loop, &r->work, removal_work, removal_done);
}

/* ---- the clock ---- */

static void on_tick(uv_timer_t *timer)
{
	struct dpd *d = timer->data;

	d->ticks++;
	executors_tick(d);
	jobs_ask_again(d);
	if (d->ticks % DISK_TICKS == 0)
		look_at_disk(d);
	if (d->ticks % SWEEP_TICKS == SWEEP_FIRST)
		retention_sweep(d);
	sched_wake(d);
	report_tick(d);
	hooks_tick(d);
	oracles_tick(d);
	client_poll_changes(d);
	clients_drop_overdue(d);
	record_watch(d);
}

void housekeep_start(struct dpd *d)
{
	look_at_disk(d);
	remove_later(d, dp_path_join(d->at.state_dir, "trash"));
	uv_timer_init(&d->loop, &d->tick);
	d->tick.data = d;
	uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
}
