/* scheduler.h - what follows from what was recorded, and which study gets the next free slot. */
#ifndef DP_DAEMON_STUDIES_SCHEDULER_H
#define DP_DAEMON_STUDIES_SCHEDULER_H
#include "daemon/studies/study_object.h"

/* In a turn of the loop: looks at every study that changed, and gives out free slots. Those that
 * were looked at are linked by next_visited until scheduler_end_turn(). */
struct study *scheduler_run(struct daemon *d);
/* When nothing else is on the stack: what is over of these studies is freed. */
void scheduler_end_turn(struct study *visited);
/* Studies whose time has come are looked at. */
void scheduler_wake_due(struct daemon *d);
/* Why no more of this study's trials are running, as a sentence; NULL if they are. */
const char *scheduler_waiting_reason(const struct study *study, char *out, size_t room);

#endif
