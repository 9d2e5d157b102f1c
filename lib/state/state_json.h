/* state_json.h - the state as JSON, for the control protocol and for reports.
 *
 * All functions return a new reference. */
#ifndef DP_STATE_STATE_JSON_H
#define DP_STATE_STATE_JSON_H
#include "state/public_view.h"
#include "study/private_selection.h"

/* The object of `dparetoctl run -o json` (contract, section 3): no times, no paths. */
json_t *dp_state_result_json(struct dp_public_state v);
/* The same with at most so many points of the front. If it has others, "more" lists them
 * as [trial, at]. */
json_t *dp_state_result_page_json(struct dp_public_state v, uint32_t most);
/* The same with the models' front, an array whose reference is taken, and the hypervolume
 * of their values. */
json_t *dp_state_smoothed_result_json(struct dp_public_state v, double volume, json_t *front);
/* What a private selection costs, and by which theorem. */
json_t *dp_selection_cost_json(const struct dp_select_cost *c);
/* A point of the front: trial, at, parameters, objectives, their spread, and what it was
 * when it was measured again. */
json_t *dp_result_json(struct dp_public_state v, struct dp_result_id p);
/* The same of values: y and var are the objectives' means over the runs and the variances
 * of these, NaN: not known. Takes the reference to `reevaluated`. */
json_t *dp_front_row_json(const struct dp_study *spec, uint32_t trial, double at, const double *x,
			  uint32_t runs, const double *y, const double *var, json_t *reevaluated);
/* Of each objective of a result that is a metric: how many runs its mean is of, how far they
 * lie apart, and where the mean lies with 95 %; null where that is not known: of one run,
 * and where only a noisy mean is kept. Null without objectives. */
json_t *dp_result_spread_json(struct dp_public_state v, struct dp_result_id p);
/* The mean over its runs of whatever the study's trainers report, in natural units. */
json_t *dp_result_metrics_json(struct dp_public_state v, struct dp_result_id p);
/* ---- points that were measured again (reeval_json.c) ---- */

/* {"runs":50,"objectives":{...},"low":{...},"high":{...}} of a result, or null. */
json_t *dp_result_reeval_json(struct dp_public_state v, struct dp_result_id p);
/* Adds that to each row of a result's front, as a new list, and the hypervolume of it all
 * if there is something. */
void dp_front_json_add_reevals(struct dp_public_state v, json_t *result);
/* {"points":12,"done":3,"runs":600,"runs_done":150} of those that were asked for
 * together, while they are not all measured; else null. */
json_t *dp_state_reeval_progress_json(struct dp_public_state v);
/* One of the study's measurements; see `measures` in docs/protocol.md. */
json_t *dp_reeval_json(struct dp_public_state v, uint32_t i);

/* The value of a waypoint; null: NaN, a trial's own result. */
json_t *dp_checkpoint_value_json(double at);
/* What a list of studies shows of one; see SUMMARY in docs/protocol.md. Leaves out
 * what only the daemon knows (eta, waiting, directory). */
json_t *dp_state_summary_json(struct dp_public_state v);
/* One trial; in full with its attempts and runs. `folder` is the study's folder. */
json_t *dp_trial_json(struct dp_public_state v, const struct dp_trial *t, bool full,
		      const char *folder);
/* The same in full with at most so many attempts and runs, those from position `from` on.
 * If there are others, "next" is the position that follows. */
json_t *dp_trial_page_json(struct dp_public_state v, const struct dp_trial *t, const char *folder,
			   uint32_t from, uint32_t most);
/* A waypoint that stands as a row among the trials: what is the training's is null. In
 * full with the means of its metrics. */
json_t *dp_checkpoint_json(struct dp_public_state v, struct dp_result_id p, bool full);
/* {"epsilon":0.5,"error":0.2} or null. */
json_t *dp_objectives_json(const struct dp_study *spec, const double *objectives);
/* An ISO time, or null for 0. */
json_t *dp_time_json(int64_t us);
/* A text, or null: for NULL, and for what is no UTF-8, as a path need not be. */
json_t *dp_text_json(const char *text);
enum {
	DP_REASON_LEN = 400
};
/* A reason for people: "paused by request" says who that was, where it is known. It is
 * `reason`, NULL with it, or in `out`. */
const char *dp_reason_text(const char *reason, const char *by, char out[DP_REASON_LEN]);
json_t *dp_reason_json(const char *reason, const char *by);
/* Below the study's folder, the attempt of a finished private selection that is
 * published: a link, so that its name does not tell which it was. */
#define DP_SELECTED_LINK "selected"
/* trials/7/0 or, one run a process, trials/7/RUN-ATTEMPT: below the study's folder. */
void dp_attempt_format_dir(uint32_t trial, int32_t run, uint32_t attempt, char out[64]);

#endif
