/* housekeep.c - what a clock has to remind us of: progress of running trainers, free
 * disk, retries that are due, time limits of studies, old folders. */
#include "daemon/housekeep.h"

#include "base/fs.h"
#include "base/num.h"
#include "daemon/executor.h"
#include "daemon/sched.h"
#include "daemon/server.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
	TICK_MS = 500,
	DISK_TICKS = 4,        /* every 2 s */
	SWEEP_TICKS = 2 * 600, /* every 10 min */
	SWEEP_FIRST = 6,       /* and soon after the start */
};

static void look_at_disk(struct dpd *d)
{
	char free_text[DP_NUM_LEN], mark[DP_NUM_LEN];
	struct statvfs v;
	bool low;

	if (statvfs(d->at.state_dir, &v) != 0)
		return;
	d->disk_free = (uint64_t)v.f_bavail * v.f_frsize;
	low = d->disk_free < d->config.disk_watermark;
	if (low != d->disk_low)
		log_line(&d->log, low ? LOG_WARN : LOG_INFO, "",
			 "%s of disk are free below %s, %s disk_watermark (%s): %s",
			 dp_size_text(d->disk_free, free_text), d->at.state_dir,
			 low ? "less than" : "more than",
			 dp_size_text(d->config.disk_watermark, mark),
			 low ? "nothing new starts" : "going on");
	if (d->disk_low && !low)
		sched_kick(d);
	d->disk_low = low;
}

/* ---- retention: folders of attempts whose exit.json is old enough ---- */

struct sweep {
	uv_work_t work;
	struct dpd *d;
	char *root; /* STATE/studies */
	time_t before;
	unsigned removed;
};

/* Calls fn for each entry of a folder that is not hidden. */
static void each_entry(const char *folder, struct sweep *sw,
		       void (*fn)(const char *path, struct sweep *sw))
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	char *path;

	while (dir && (e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.' || !(path = dp_path_join(folder, e->d_name)))
			continue;
		fn(path, sw);
		free(path);
	}
	if (dir)
		closedir(dir);
}

/* An attempt without exit.json may be alive: it stays. */
static void sweep_attempt(const char *path, struct sweep *sw)
{
	char *exit_file = dp_path_join(path, "exit.json");
	struct stat st;

	if (exit_file && stat(exit_file, &st) == 0 && st.st_mtime < sw->before &&
	    dp_remove_tree(path, NULL) == DP_OK)
		sw->removed++;
	free(exit_file);
}

static void sweep_trial(const char *path, struct sweep *sw)
{
	each_entry(path, sw, sweep_attempt);
}

static void sweep_study(const char *path, struct sweep *sw)
{
	char *trials = dp_path_join(path, "trials");

	if (trials)
		each_entry(trials, sw, sweep_trial);
	free(trials);
}

static void sweep_work(uv_work_t *w)
{
	struct sweep *sw = w->data;

	each_entry(sw->root, sw, sweep_study);
}

static void sweep_done(uv_work_t *w, int status)
{
	struct sweep *sw = w->data;
	struct dpd *d = sw->d;

	(void)status;
	if (sw->removed)
		log_line(&d->log, LOG_INFO, "", "removed %u attempt folders by retention",
			 sw->removed);
	d->sweeping = false;
	free(sw->root);
	free(sw);
}

static void start_sweep(struct dpd *d)
{
	struct sweep *sw;

	if (d->sweeping || !isfinite(d->config.retention))
		return;
	if (!dp_state_whole(&d->state))
		return; /* a repair may need the folders */
	/* an attempt that ended long ago may only now be on its way into the journal */
	for (struct job *j = d->jobs; j; j = j->next)
		if (j->phase == JOB_COLLECTING || j->phase == JOB_UNKNOWN ||
		    j->phase == JOB_ADOPTING)
			return;
	sw = calloc(1, sizeof *sw);
	if (sw)
		sw->root = dp_path_join(d->at.state_dir, "studies");
	if (!sw || !sw->root) {
		free(sw);
		return;
	}
	sw->before = (time_t)((double)clock_now(d) / 1e6 - d->config.retention);
	d->sweeping = true;
	sw->d = d;
	sw->work.data = sw;
	uv_queue_work(&d->loop, &sw->work, sweep_work, sweep_done);
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
		start_sweep(d);
	sched_wake(d);
	report_poll(d);
	client_poll_changes(d);
}

void housekeep_start(struct dpd *d)
{
	look_at_disk(d);
	remove_later(d, dp_path_join(d->at.state_dir, "trash"));
	uv_timer_init(&d->loop, &d->tick);
	d->tick.data = d;
	uv_timer_start(&d->tick, on_tick, TICK_MS, TICK_MS);
}
