/* training_progress.c - reports progress and stops training on TERM.
 *
 * TERM is blocked while training, and every tick checks if it is pending. So no state is shared
 * between a handler and the training: the training unwinds, and the signal takes effect when it is
 * unblocked. The parent process sees that the program was ended by TERM. */
#include "trainers/learn/learn.h"

#include "base/units.h"
#include "protocol/trainer/trainer_protocol.h"

enum {
	REPORT_INTERVAL_US = 1000000
};

void training_progress_start(struct training_progress *p, int fd, uint64_t total)
{
	sigset_t term;

	*p = (struct training_progress){ .fd = fd,
					 .steps_total = total,
					 .last_report_us = dp_monotonic_us() };
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &p->saved_signals);
}

bool training_progress_tick(struct training_progress *p, uint64_t steps)
{
	int64_t now = dp_monotonic_us();
	sigset_t waiting;

	p->steps_done += steps;
	if (p->fd >= 0 && now - p->last_report_us >= REPORT_INTERVAL_US) {
		p->last_report_us = now;
		/* a full disk is reported when results are written */
		if (dp_trainer_report_progress(
			    p->fd, (double)p->steps_done / (double)p->steps_total, NULL) != DP_OK)
			p->fd = -1;
	}
	return sigpending(&waiting) != 0 || !sigismember(&waiting, SIGTERM);
}

void training_progress_end(struct training_progress *p)
{
	sigprocmask(SIG_SETMASK, &p->saved_signals, NULL);
}
