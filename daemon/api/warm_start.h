/* warm_start.h - finds a study to start from, in this daemon or in another state directory, and
 * imports its results. A worker thread reads other state directories. */
#ifndef DP_DAEMON_API_WARM_START_H
#define DP_DAEMON_API_WARM_START_H
#include "daemon/api/requests.h"

/* Continues a request after the directory was read. */
typedef int warm_start_continuation(struct request *r, const struct dp_state *there, json_t **ok,
				    struct dp_err *err);

/* Reads the state directory in `origin`, the value of `option`, then calls `then` to answer. */
void warm_start_read_directory(struct request *r, const char *option, const char *origin,
			       warm_start_continuation *then);
/* Finds the study that `origin` names in `there`. Fails if `spec` cannot use its results. */
DP_MUSTCHECK int warm_start_find_study(const struct dp_state *there, const char *origin,
				       const struct dp_study *spec, struct dp_study_state **out,
				       struct dp_err *err);
/* Records all new results of `origin`. Returns their number. by: the requester. */
unsigned warm_start_import(struct study *study, const struct dp_study_state *origin,
			   const char *by);

#endif
