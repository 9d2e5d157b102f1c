/* volume.h - the hypervolume of a study with the noise taken out, found by worker threads
 * when somebody looks, and kept. */
#ifndef DPARETOD_VOLUME_H
#define DPARETOD_VOLUME_H
#include "daemon/daemon.h"

#include <jansson.h>

struct volume;

/* Has it found if enough has happened since the last time. */
void volume_reckon(struct study *h);
/* Adds to a summary what was last found: "hypervolume_denoised", null: nothing yet, or
 * too little is known for models; "denoised_results", how many results that is of; and
 * "denoised_current", whether these are all. */
void volume_view(const struct study *h, json_t *summary);
/* A worker thread gives up as soon as it can. */
void volume_cancel(struct study *h);
/* Is a worker thread at work on it? The study must not be forgotten then. */
bool volume_busy(const struct study *h);
void volume_free(struct volume *v);

#endif
