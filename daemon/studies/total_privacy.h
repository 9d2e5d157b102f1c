/* whole.h - what all trainings of a study have cost together, reckoned by worker threads
 * and kept. */
#ifndef DP_DAEMON_STUDIES_TOTAL_PRIVACY_H
#define DP_DAEMON_STUDIES_TOTAL_PRIVACY_H
#include "daemon/core/daemon.h"

#include <jansson.h>

struct total_privacy;

/* Has it reckoned if something has happened since the last time. */
void total_privacy_start_if_due(struct study *study);
/* {OBJECTIVE:{"proof",...}} as it was last reckoned, null: not yet, or no objective is of
 * privacy. */
json_t *total_privacy_json(const struct study *study);
/* Is a worker thread at work on it? The study must not be forgotten then. */
bool total_privacy_is_busy(const struct study *study);
void total_privacy_free(struct total_privacy *w);

#endif
