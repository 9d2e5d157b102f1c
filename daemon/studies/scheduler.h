/* scheduler.h - a turn of the loop: what follows from what was recorded, and which study
 * gets the next free place. */
#ifndef DP_DAEMON_STUDIES_SCHEDULER_H
#define DP_DAEMON_STUDIES_SCHEDULER_H
#include "daemon/studies/study_object.h"

void scheduler_init(struct daemon *d);
/* Something changed: a turn, once the callbacks of this round of the loop are done. */
void scheduler_request_turn(struct daemon *d);
/* Studies whose time has come are looked at. */
void scheduler_wake_due(struct daemon *d);
#define HOLD_REASON_NO_START "the machine could not start a trainer"
/* The executor starts nothing for a while, because of what happened, and why it did where
 * that is known (or NULL); longer each time. */
void scheduler_hold_executor(struct executor *b, const char *what, const char *why);
void scheduler_release_executor(struct executor *b);
/* Why no more of this study's trials are running, as a sentence; NULL if they are. */
const char *scheduler_waiting_reason(const struct study *study, char *out, size_t room);

#endif
