/* smoothed_hypervolume.h - the hypervolume of a study with the noise taken out, found by worker
 * threads when somebody looks, and kept. */
#ifndef DP_DAEMON_STUDIES_SMOOTHED_HYPERVOLUME_H
#define DP_DAEMON_STUDIES_SMOOTHED_HYPERVOLUME_H
#include "daemon/core/daemon.h"

#include <jansson.h>

struct hypervolume_job;

/* Has it found if enough has happened since the last time. */
void hypervolume_job_start_if_due(struct study *study);
/* Adds to a summary what was last found: "hypervolume_denoised", null: nothing yet, or
 * too little is known for models; "denoised_results", how many results that is of; and
 * "denoised_current", whether these are all. */
void hypervolume_job_add_json(const struct study *study, json_t *summary);
/* A worker thread gives up as soon as it can. */
void hypervolume_job_cancel(struct study *study);
/* Is a worker thread at work on it? The study must not be forgotten then. */
bool hypervolume_job_is_busy(const struct study *study);
void hypervolume_job_free(struct hypervolume_job *v);

#endif
