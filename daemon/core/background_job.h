/* background_job.h - runs work on libuv's threads and completes it on the loop. All work that the
 * daemon does off the loop starts here. */
#ifndef DP_DAEMON_CORE_BACKGROUND_JOB_H
#define DP_DAEMON_CORE_BACKGROUND_JOB_H
#include "daemon/core/daemon.h"

#include <stdatomic.h>

/* Part of its owner's struct; zero before first use. One run at a time. */
struct background_job {
	uv_work_t work;
	struct daemon *daemon;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
	bool is_running;
	atomic_bool cancel; /* run() should return soon once this is set */
};

/* Calls run(arg) on a worker thread, then done(arg) on the loop, even after it has ended
 * (d->loop_ended): then done() must only free. It may free or restart the job. */
void background_job_start(struct daemon *d, struct background_job *job, void (*run)(void *arg),
			  void (*done)(void *arg), void *arg);
void background_job_cancel(struct background_job *job);
/* Removes a directory tree on a worker thread. Takes ownership of the path. Ignores failures. */
void remove_tree_in_background(struct daemon *d, char *directory);

#endif
