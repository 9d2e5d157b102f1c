/* pulse.c - progress out, TERM in.
 *
 * TERM is blocked while training and looked for at every beat, so nothing has to be
 * remembered between a handler and the training: the training unwinds, and the signal
 * does its work when it is let in again. To whoever waits the program then ended by
 * TERM, as it did. */
#include "trainers/learn/learn.h"

#include "base/num.h"
#include "trial/trial.h"

enum {
	TELL_EVERY_US = 1000000
};

void pulse_start(struct pulse *p, int fd, uint64_t total)
{
	sigset_t term;

	*p = (struct pulse){ .fd = fd, .total = total, .last_us = dp_mono_us() };
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &p->before);
}

bool pulse_beat(struct pulse *p, uint64_t steps)
{
	int64_t now = dp_mono_us();
	sigset_t waiting;

	p->done += steps;
	if (p->fd >= 0 && now - p->last_us >= TELL_EVERY_US) {
		p->last_us = now;
		/* a disk that is full will be noticed when results are written */
		if (dp_report_progress(p->fd, (double)p->done / (double)p->total, NULL) != DP_OK)
			p->fd = -1;
	}
	return sigpending(&waiting) != 0 || !sigismember(&waiting, SIGTERM);
}

void pulse_end(struct pulse *p)
{
	sigprocmask(SIG_SETMASK, &p->before, NULL);
}
