/* study_lifecycle.h - starts background work of a study, ends its turn and deletes it. */
#ifndef DP_DAEMON_STUDIES_STUDY_LIFECYCLE_H
#define DP_DAEMON_STUDIES_STUDY_LIFECYCLE_H
#include "daemon/studies/study_object.h"

/* Starts the background work that next_step needs. */
void study_start_due_work(struct study *study);
/* Called at the end of a turn that visited the study: frees the models of a study that is not
 * running, and a deleted study once nothing uses it. */
void study_end_turn(struct study *study);
/* Called twice a second: stops idle external accountants. */
void studies_tick(struct daemon *d);
void study_cancel_work(struct study *study);
/* Deletes the study once its last trainer has ended, then replies to the client. */
void study_request_deletion(struct study *study, uint64_t client_id, const char *by);
void studies_free(struct daemon *d);

#endif
