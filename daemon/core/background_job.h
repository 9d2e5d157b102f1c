/* background_job.h - work on libuv's threads, with its completion on the loop. All of the daemon's
 * work off the loop starts here. */
#ifndef DP_DAEMON_CORE_BACKGROUND_JOB_H
#define DP_DAEMON_CORE_BACKGROUND_JOB_H
#include "daemon/core/daemon.h"

#include <stdatomic.h>

/* Part of the struct of its owner, which begins as zeros. One run at a time. */
struct background_job {
	uv_work_t work;
	struct daemon *daemon;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void *arg;
	bool is_running;
	atomic_bool cancel; /* run() gives up as soon as it can, if it reads this */
};

/* Has run(arg) called on a worker thread, then done(arg) on the loop. done() is called in any case,
 * also when the loop has ended (d->loop_ended): then it only frees. It may free or restart the job.
 */
void background_job_start(struct daemon *d, struct background_job *job, void (*run)(void *arg),
			  void (*done)(void *arg), void *arg);
void background_job_cancel(struct background_job *job);
/* Removes a directory and all below it, which may take long. Takes the path over; what cannot be
 * removed stays. */
void remove_tree_in_background(struct daemon *d, char *directory);

#endif
