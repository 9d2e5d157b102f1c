/* whole.h - what all trainings of a study have cost together, reckoned by worker threads
 * and kept. */
#ifndef DPARETOD_WHOLE_H
#define DPARETOD_WHOLE_H
#include "daemon/daemon.h"

#include <jansson.h>

struct whole;

/* Has it reckoned if something has happened since the last time. */
void whole_reckon(struct study *h);
/* {OBJECTIVE:{"proof",...}} as it was last reckoned, null: not yet, or no objective is of
 * privacy. */
json_t *whole_view(const struct study *h);
/* Is a worker thread at work on it? The study must not be forgotten then. */
bool whole_busy(const struct study *h);
void whole_free(struct whole *w);

#endif
