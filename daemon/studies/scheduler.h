/* scheduler.h - applies the policy to changed studies and assigns free slots. */
#ifndef DP_DAEMON_STUDIES_SCHEDULER_H
#define DP_DAEMON_STUDIES_SCHEDULER_H
#include "daemon/studies/study_object.h"

/* Runs in each turn of the loop: visits every changed study and assigns free slots. Visited studies
 * are linked by next_visited until scheduler_end_turn(). */
struct study *scheduler_run(struct daemon *d);
/* Frees what is over in these studies, when nothing else is on the stack. */
void scheduler_end_turn(struct study *visited);
/* Marks studies whose next event is due as changed. */
void scheduler_wake_due(struct daemon *d);
/* A sentence on why the study does not run more trials; NULL if it does. */
const char *scheduler_waiting_reason(const struct study *study, char *out, size_t room);

#endif
