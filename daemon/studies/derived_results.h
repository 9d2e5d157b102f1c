/* derived_results.h - computes the total privacy loss and the smoothed hypervolume of a study off
 * the loop. They are computed when a client asks for the study, and cached. */
#ifndef DP_DAEMON_STUDIES_DERIVED_RESULTS_H
#define DP_DAEMON_STUDIES_DERIVED_RESULTS_H
#include "daemon/studies/pending_replies.h"

void derived_results_start_due(struct study *study);
/* Starts stale jobs and queues the client for the reply. False: everything is current, and the
 * client was not queued. */
bool derived_results_wait(struct study *study, uint64_t client_id, reply_builder *answer);
/* Adds to a summary: "whole", {OBJECTIVE:{"proof",...}}, null if not known yet or if no objective
 * is an epsilon; "hypervolume_denoised", null if not known yet or if there are too few results for
 * models; "denoised_results", how many results it covers; and "denoised_current", whether these are
 * all. */
void derived_results_add_json(const struct study *study, json_t *summary);
/* Changes whenever the numbers change. */
uint32_t derived_results_version(const struct study *study);
void derived_results_cancel(struct study *study);
/* True while a worker thread uses the study, which must not be freed then. */
bool derived_results_are_busy(const struct study *study);
void derived_results_free(struct study *study);

#endif
