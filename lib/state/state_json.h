/* state_json.h - the state as JSON, for the control protocol and for reports.
 *
 * All functions return a new reference. */
#ifndef DP_STATE_STATE_JSON_H
#define DP_STATE_STATE_JSON_H
#include "state/public_view.h"
#include "study/private_selection.h"

/* The object of `dparetoctl run -o json` (contract, section 3): no times, no file names. */
json_t *dp_state_result_json(struct dp_public_state v);
/* The same with at most `most` points; "more" lists the others as [trial, at]. */
json_t *dp_state_result_page_json(struct dp_public_state v, uint32_t most);
/* The same with the smoothed front (takes the reference to the array) and its hypervolume. */
json_t *dp_state_smoothed_result_json(struct dp_public_state v, double volume, json_t *front);
/* The cost of a private selection, and the theorem that proves it. */
json_t *dp_selection_cost_json(const struct dp_select_cost *c);
/* A point of the front: trial, at, parameters, objectives, their spread, and its re-evaluation. */
json_t *dp_result_json(struct dp_public_state v, struct dp_result_id p);
/* The same from values: y and var are the objectives' means over the runs and the variances of
 * these means, NaN: unknown. Takes the reference to `reevaluated`. */
json_t *dp_front_row_json(const struct dp_study *spec, uint32_t trial, double at, const double *x,
			  uint32_t runs, const double *y, const double *var, json_t *reevaluated);
/* For each objective of a result that is a metric: the number of runs, their standard deviation,
 * and the 95 % interval of the mean. Null where unknown: with one run, and where only a noisy mean
 * is kept. Null without objectives. */
json_t *dp_result_spread_json(struct dp_public_state v, struct dp_result_id p);
/* The means over the runs of all reported metrics, in natural units. */
json_t *dp_result_metrics_json(struct dp_public_state v, struct dp_result_id p);
/* ---- re-evaluations (reeval_json.c) ---- */

/* {"runs":50,"objectives":{...},"low":{...},"high":{...}} of a result, or null. */
json_t *dp_result_reeval_json(struct dp_public_state v, struct dp_result_id p);
/* Replaces the front of `result` by a list with that object in each row, and adds the hypervolume
 * of the re-evaluated means if there is any. */
void dp_front_json_add_reevals(struct dp_public_state v, json_t *result);
/* Progress of the current batch, {"points":12,"done":3,"runs":600,"runs_done":150}, or null. */
json_t *dp_state_reeval_progress_json(struct dp_public_state v);
/* One re-evaluation; see `measures` in docs/protocol.md. */
json_t *dp_reeval_json(struct dp_public_state v, uint32_t i);

/* The value of a checkpoint; NaN (a final result): null. */
json_t *dp_checkpoint_value_json(double at);
/* The row of a study in lists (SUMMARY in docs/protocol.md) without what only the daemon knows. */
json_t *dp_state_summary_json(struct dp_public_state v);
/* One trial; full: with its attempts and runs. `folder` is the study's directory. */
json_t *dp_trial_json(struct dp_public_state v, const struct dp_trial *t, bool full,
		      const char *folder);
/* The same in full with at most `most` attempts and runs, from position `from` on. "next", if
 * present, is the next position. */
json_t *dp_trial_page_json(struct dp_public_state v, const struct dp_trial *t, const char *folder,
			   uint32_t from, uint32_t most);
/* A checkpoint as a row among the trials; fields of the whole run are null. full: with metric
 * means. */
json_t *dp_checkpoint_json(struct dp_public_state v, struct dp_result_id p, bool full);
/* {"epsilon":0.5,"error":0.2} or null. */
json_t *dp_objectives_json(const struct dp_study *spec, const double *objectives);
/* ISO time, or null for 0. */
json_t *dp_time_json(int64_t us);
/* Text, or null: for NULL, and for text that is not UTF-8, such as some file names. */
json_t *dp_text_json(const char *text);
enum {
	DP_REASON_LEN = 400
};
/* A reason for display: "paused by request" names the user, if known. Returns `reason` or `out`. */
const char *dp_reason_text(const char *reason, const char *by, char out[DP_REASON_LEN]);
json_t *dp_reason_json(const char *reason, const char *by);
/* Below the study's directory, the published attempt of a finished private selection. It is a link,
 * so that its name does not reveal the trial's number. */
#define DP_SELECTED_LINK "selected"
/* trials/7/0 or, with one run per process, trials/7/RUN-ATTEMPT: below the study's directory. */
void dp_attempt_format_dir(uint32_t trial, int32_t run, uint32_t attempt, char out[64]);

#endif
