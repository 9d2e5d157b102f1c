/* study_lifecycle.h - what is begun for a study, and how it ends: work that follows from its next
 * step, the end of a turn, deletion. */
#ifndef DP_DAEMON_STUDIES_STUDY_LIFECYCLE_H
#define DP_DAEMON_STUDIES_STUDY_LIFECYCLE_H
#include "daemon/studies/study_object.h"

/* Begins the work off the loop that the next step is about. */
void study_start_due_work(struct study *study);
/* The end of a turn in which the study was looked at: frees its models if it does not run, and the
 * study itself if it is to go and nothing of it is under way. */
void study_end_turn(struct study *study);
/* Twice a second: ends external accountants that have nothing to do. */
void studies_tick(struct daemon *d);
/* What worker threads do for the study is given up as soon as can be. */
void study_cancel_work(struct study *study);
/* The study goes once its last trainer has ended; then the client gets its reply. */
void study_request_deletion(struct study *study, uint64_t client_id, const char *by);
void studies_free(struct daemon *d);

#endif
