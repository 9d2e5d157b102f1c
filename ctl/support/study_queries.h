/* study_queries.h - what there is to show of a study, as JSON: commands print it, and
 * dpareto-serve sends it. */
#ifndef DP_CTL_SUPPORT_STUDY_QUERIES_H
#define DP_CTL_SUPPORT_STUDY_QUERIES_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* The front, with the points that the options of `front` leave. *all, unless NULL, has the
 * points before that. The caller owns both. */
DP_MUSTCHECK int ctl_query_front(struct ctl *ctl, const char *study, json_t **front, json_t **all,
				 struct dp_err *err);

/* The levels of --at options: [{"epsilon":1}, {"epsilon":2}]. */
DP_MUSTCHECK int ctl_parse_levels(const struct ctl *ctl, const char *study, json_t **levels,
				  struct dp_err *err);
/* Settings for these levels, as the daemon has them. */
DP_MUSTCHECK int ctl_query_recommendations(struct ctl *ctl, const char *study, json_t *levels,
					   json_t **answer, struct dp_err *err);
/* The error of the first level for which there are no settings; DP_OK: there is none. */
DP_MUSTCHECK int ctl_recommendations_error(const json_t *answer, struct dp_err *err);
/* The contract's object of an answer: one recommendation, or {"recommendations":[...]}. */
json_t *ctl_recommendations_json(const json_t *answer, const char *study);

/* A trial or checkpoint, by its name ("7", "7@4"), in full. */
DP_MUSTCHECK int ctl_query_trial(struct ctl *ctl, const char *study, const char *name,
				 json_t **trial, struct dp_err *err);

/* A study's summary, and the points of its front if models chose it: the daemon says of
 * trials only whether they are on the observed one. *marks: by ctl_format_result_id(), else
 * NULL. The caller owns both. */
DP_MUSTCHECK int ctl_query_summary(struct ctl *ctl, const char *study, json_t **summary,
				   json_t **marks, struct dp_err *err);
DP_MUSTCHECK int ctl_fetch_smoothed_front(struct ctl *ctl, const json_t *summary, json_t **marks,
					  struct dp_err *err);
/* Corrects the "on_front" of a trial or waypoint and adds "denoised" with its interval,
 * null beside the front. */
void ctl_trial_set_on_front(json_t *trial, const json_t *marks);

#endif
