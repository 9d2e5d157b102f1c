/* housekeeping.c - what a clock has to remind us of: progress of running trainers, free
 * disk, retries that are due, time limits of studies, old folders. */
#include "daemon/housekeeping.h"

#include "base/fs.h"
#include "base/units.h"
#include "daemon/executors/executor.h"
#include "daemon/notify/hooks.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/core/commit_queue.h"
#include "daemon/executors/retention.h"
#include "daemon/studies/scheduler.h"
#include "daemon/api/server.h"

#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	TICK_MS = 500,
	DISK_TICKS = 4,            /* every 2 s */
	RETENTION_TICKS = 2 * 600, /* every 10 min */
	RETENTION_FIRST_TICK = 6,  /* and soon after the start */
	FILES_PER_ATTEMPT = 10,    /* that an attempt needs, its trainer's own included */
};

/* Too few files can be made for every place to get an attempt. Some file systems do not
 * count them, and say 0 of 0. */
static bool disk_inodes_are_low(const struct daemon *d, const struct statvfs *v)
{
	return d->config.disk_watermark > 0 && v->f_files > 0 &&
	       v->f_favail < (fsfilcnt_t)FILES_PER_ATTEMPT * (d->config.slots + 1);
}

static void disk_check_space(struct daemon *d)
{
	char free_text[DP_NUM_LEN], mark[DP_NUM_LEN], slots[DP_PLURAL_LEN], why[500];
	struct statvfs v;
	bool low;

	if (statvfs(d->paths.state_dir, &v) != 0)
		return;
	d->disk_free = (uint64_t)v.f_bavail * v.f_frsize;
	low = d->disk_free < d->config.disk_watermark;
	snprintf(d->disk_reason, sizeof d->disk_reason,
		 "%s of disk are free, %s disk_watermark (%s)",
		 dp_size_text(d->disk_free, free_text), low ? "below" : "above",
		 dp_size_text(d->config.disk_watermark, mark));
	if (!low && disk_inodes_are_low(d, &v)) {
		low = true;
		snprintf(d->disk_reason, sizeof d->disk_reason,
			 "%llu files (inodes) can still be made on the disk, too few for "
			 "%s",
			 (unsigned long long)v.f_favail,
			 dp_plural_text(d->config.slots, "slot", slots));
	}
	if (low != d->disk_low) {
		snprintf(why, sizeof why, "%.300s: %s: %s", d->paths.state_dir, d->disk_reason,
			 low ? "nothing new starts" : "going on");
		log_line(&d->log, low ? LOG_WARN : LOG_INFO, "", "%s", why);
	}
	if (low && !d->disk_low)
		notification_disk_low(d, why);
	if (d->disk_low && !low)
		scheduler_request_turn(d);
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

void remove_tree_in_background(struct daemon *d, char *folder)
{
	struct removal *r = folder ? dp_calloc(1, sizeof *r) : NULL;

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
	struct daemon *d = timer->data;

	d->n_ticks++;
	executors_tick(d);
	jobs_retry_unresolved(d);
	if (d->n_ticks % DISK_TICKS == 0)
		disk_check_space(d);
	if (d->n_ticks % RETENTION_TICKS == RETENTION_FIRST_TICK)
		retention_sweep(d);
	scheduler_wake_due(d);
	report_writer_tick(d);
	hooks_tick(d);
	accountants_tick(d);
	clients_answer_long_polls(d);
	clients_close_timed_out(d);
	commit_queue_log_stall(d);
}

void housekeeping_start(struct daemon *d)
{
	disk_check_space(d);
	remove_tree_in_background(d, dp_path_join(d->paths.state_dir, "trash"));
	uv_timer_init(&d->loop, &d->tick_timer);
	d->tick_timer.data = d;
	uv_timer_start(&d->tick_timer, on_tick, TICK_MS, TICK_MS);
}
