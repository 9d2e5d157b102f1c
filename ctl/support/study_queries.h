/* study_queries.h - queries about a study as JSON, for commands and dpareto-serve. */
#ifndef DP_CTL_SUPPORT_STUDY_QUERIES_H
#define DP_CTL_SUPPORT_STUDY_QUERIES_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Returns the front, filtered by the options of `front`. *all, unless NULL, gets the points before
 * the filter. The caller owns both. */
DP_MUSTCHECK int ctl_query_front(struct ctl *ctl, const char *study, json_t **front, json_t **all,
				 struct dp_err *err);

/* Parses the --at options: [{"epsilon":1}, {"epsilon":2}]. */
DP_MUSTCHECK int ctl_parse_levels(const struct ctl *ctl, const char *study, json_t **levels,
				  struct dp_err *err);
/* Asks the daemon for recommended settings at these levels. */
DP_MUSTCHECK int ctl_query_recommendations(struct ctl *ctl, const char *study, json_t *levels,
					   json_t **answer, struct dp_err *err);
/* Returns the error of the first level without settings; DP_OK: none. */
DP_MUSTCHECK int ctl_recommendations_error(const json_t *answer, struct dp_err *err);
/* Builds the documented JSON object: one recommendation or {"recommendations":[...]}. */
json_t *ctl_recommendations_json(const json_t *answer, const char *study);

/* Returns a trial or checkpoint in full by its result id ("7", "7@4"). */
DP_MUSTCHECK int ctl_query_trial(struct ctl *ctl, const char *study, const char *name,
				 json_t **trial, struct dp_err *err);

/* Returns a study's summary and, if models chose the front, its points in *marks, by
 * ctl_format_result_id(); else *marks is NULL. The daemon's trials only say whether they are on the
 * observed front. The caller owns both. */
DP_MUSTCHECK int ctl_query_summary(struct ctl *ctl, const char *study, json_t **summary,
				   json_t **marks, struct dp_err *err);
DP_MUSTCHECK int ctl_fetch_smoothed_front(struct ctl *ctl, const json_t *summary, json_t **marks,
					  struct dp_err *err);
/* Corrects "on_front" of a trial or checkpoint and adds "denoised" with its interval, null if it is
 * not on the front. */
void ctl_trial_set_on_front(json_t *trial, const json_t *marks);

#endif
