/* sched.h - a turn of the loop: what follows from what was recorded, and which study
 * gets the next free place. */
#ifndef DPARETOD_SCHED_H
#define DPARETOD_SCHED_H
#include "daemon/study.h"

void sched_init(struct dpd *d);
/* Something changed: a turn, once the callbacks of this round of the loop are done. */
void sched_kick(struct dpd *d);
/* Studies whose time has come are looked at. */
void sched_wake(struct dpd *d);
#define SCHED_NO_START "the machine could not start a trainer"
/* The executor starts nothing for a while, because of what happened, and why it did where
 * that is known (or NULL); longer each time. */
void sched_hold(struct backend *b, const char *what, const char *why);
void sched_release(struct backend *b);
/* Why no more of this study's trials are running, as a sentence; NULL if they are. */
const char *sched_why_not(const struct study *h, char *out, size_t room);

#endif
