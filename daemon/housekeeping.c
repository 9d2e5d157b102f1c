/* housekeeping.c - the timer for progress, free disk, retries, time limits and retention. */
#include "daemon/housekeeping.h"

#include "base/fs.h"
#include "base/units.h"
#include "daemon/api/client_connection.h"
#include "daemon/core/background_job.h"
#include "daemon/core/commit_queue.h"
#include "daemon/executors/job.h"
#include "daemon/executors/retention.h"
#include "daemon/notify/hooks.h"
#include "daemon/studies/report_writer.h"
#include "daemon/studies/scheduler.h"
#include "daemon/studies/study_lifecycle.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
	TICK_MS = 500,
	DISK_TICKS = 4,            /* every 2 s */
	RETENTION_TICKS = 2 * 600, /* every 10 min */
	RETENTION_FIRST_TICK = 6,  /* and once soon after the start */
	FILES_PER_ATTEMPT = 10,    /* needed by an attempt and its trainer */
};

static void disk_check_space(struct daemon *d)
{
	char free_text[DP_NUM_LEN], mark[DP_NUM_LEN], slots[DP_PLURAL_LEN], why[500];
	struct disk_space *disk = &d->disk;
	struct statvfs v;
	bool low;

	if (statvfs(d->paths.state_dir, &v) != 0)
		return;
	disk->free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	low = disk->free_bytes < d->config.disk_watermark;
	snprintf(disk->reason, sizeof disk->reason, "%s of disk are free, %s disk_watermark (%s)",
		 dp_size_text(disk->free_bytes, free_text), low ? "below" : "above",
		 dp_size_text(d->config.disk_watermark, mark));
	/* there must be enough free inodes for an attempt in every slot; some file systems do not
	 * count them and report 0 of 0 */
	if (!low && d->config.disk_watermark > 0 && v.f_files > 0 &&
	    v.f_favail < (fsfilcnt_t)FILES_PER_ATTEMPT * (d->config.slots + 1)) {
		low = true;
		snprintf(disk->reason, sizeof disk->reason,
			 "%llu files (inodes) can still be made on the disk, too few for "
			 "%s",
			 (unsigned long long)v.f_favail,
			 dp_plural_text(d->config.slots, "slot", slots));
	}
	if (low != disk->is_low) {
		snprintf(why, sizeof why, "%.300s: %s: %s", d->paths.state_dir, disk->reason,
			 low ? "nothing new starts" : "going on");
		log_line(&d->log, low ? LOG_WARN : LOG_INFO, "", "%s", why);
	}
	if (low && !disk->is_low)
		hooks_on_disk_low(d, why);
	if (disk->is_low && !low)
		daemon_request_turn(d);
	disk->is_low = low;
}

static void on_tick(uv_timer_t *timer)
{
	struct housekeeping *h = timer->data;
	struct daemon *d = h->daemon;

	h->n_ticks++;
	executors_tick(d);
	jobs_retry_unresolved(d);
	if (h->n_ticks % DISK_TICKS == 0)
		disk_check_space(d);
	if (h->n_ticks % RETENTION_TICKS == RETENTION_FIRST_TICK)
		retention_sweep(d);
	scheduler_wake_due(d);
	executors_wake_due(d);
	report_writer_tick(d);
	hooks_tick(d);
	studies_tick(d);
	clients_answer_long_polls(d);
	clients_close_timed_out(d);
	commit_queue_log_stall(d);
}

void housekeeping_start(struct daemon *d)
{
	struct housekeeping *h = d->housekeeping = dp_calloc(1, sizeof *h);

	disk_check_space(d);
	remove_tree_in_background(d, dp_path_join(d->paths.state_dir, "trash"));
	uv_timer_init(&d->loop, &h->timer);
	h->daemon = d;
	h->timer.data = h;
	uv_timer_start(&h->timer, on_tick, TICK_MS, TICK_MS);
}

void housekeeping_free(struct daemon *d)
{
	free(d->housekeeping);
}
