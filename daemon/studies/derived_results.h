/* derived_results.h - numbers about a study that take a worker thread to find: the total privacy
 * loss of its search and the smoothed hypervolume. Found when a client looks, and kept. */
#ifndef DP_DAEMON_STUDIES_DERIVED_RESULTS_H
#define DP_DAEMON_STUDIES_DERIVED_RESULTS_H
#include "daemon/studies/pending_replies.h"

/* Starts what is due. */
void derived_results_start_due(struct study *study);
/* The same; the client gets the answer once all is found. False: there is nothing to wait for, and
 * the client was not queued. */
bool derived_results_wait(struct study *study, uint64_t client_id, reply_builder *answer);
/* Adds to a summary "whole", {OBJECTIVE:{"proof",...}} as it was last found, null: not yet, or no
 * objective is of privacy; "hypervolume_denoised", null: not yet, or too few results for models;
 * "denoised_results", how many results that is of; and "denoised_current", whether these are all.
 */
void derived_results_add_json(const struct study *study, json_t *summary);
/* Another number whenever they are others. */
uint32_t derived_results_version(const struct study *study);
/* Worker threads give up as soon as they can. */
void derived_results_cancel(struct study *study);
/* Is a worker thread at work? The study must not be forgotten then. */
bool derived_results_are_busy(const struct study *study);
void derived_results_free(struct study *study);

#endif
