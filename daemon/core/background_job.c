/* background_job.c - runs work on libuv's threads and completes it on the loop. */
#include "daemon/core/background_job.h"

#include "base/fs.h"

#include <stdlib.h>

static void background_job_worker(uv_work_t *work)
{
	struct background_job *job = work->data;

	job->run(job->arg);
}

static void on_background_job_done(uv_work_t *work, int status)
{
	struct background_job *job = work->data;

	(void)status; /* work is never cancelled with uv_cancel() */
	job->is_running = false;
	job->daemon->n_background_jobs--;
	job->done(job->arg);
}

void background_job_start(struct daemon *d, struct background_job *job, void (*run)(void *arg),
			  void (*done)(void *arg), void *arg)
{
	job->daemon = d;
	job->run = run;
	job->done = done;
	job->arg = arg;
	job->is_running = true;
	job->work.data = job;
	atomic_store(&job->cancel, false);
	d->n_background_jobs++;
	uv_queue_work(&d->loop, &job->work, background_job_worker, on_background_job_done);
}

void background_job_cancel(struct background_job *job)
{
	atomic_store(&job->cancel, true);
}

/* ---- removal of a directory tree: a study may have 100,000 directories ---- */

struct tree_removal {
	struct background_job job;
	char *directory;
};

static void tree_removal_worker(void *arg)
{
	struct tree_removal *r = arg;

	if (dp_remove_tree(r->directory, NULL) != DP_OK) {
		/* the directory is in the trash: the next start retries */
	}
}

static void on_tree_removed(void *arg)
{
	struct tree_removal *r = arg;

	free(r->directory);
	free(r);
}

void remove_tree_in_background(struct daemon *d, char *directory)
{
	struct tree_removal *r = dp_calloc(1, sizeof *r);

	r->directory = directory;
	background_job_start(d, &r->job, tree_removal_worker, on_tree_removed, r);
}
