/* warm_start.h - a study whose results another one takes over: of this daemon, or in a state
 * folder, which a worker thread reads. */
#ifndef DP_DAEMON_API_WARM_START_H
#define DP_DAEMON_API_WARM_START_H
#include "daemon/api/requests.h"

/* Goes on with a request once what is in the folder is known. */
typedef int warm_start_continuation(struct request *r, const struct dp_state *there, json_t **ok,
				    struct dp_err *err);

/* Reads the folder that an origin names, by which `option`, then `then` answers. */
void warm_start_read_directory(struct request *r, const char *option, const char *origin,
			       warm_start_continuation *then);
/* The study that `origin` names among those that are there; one whose results `spec` can
 * use. */
DP_MUSTCHECK int warm_start_find_study(const struct dp_state *there, const char *origin,
				       const struct dp_study *spec, struct dp_study_state **out,
				       struct dp_err *err);
/* Records all its results in the study h but those that it took over before; how many.
 * by: who asked for that. */
unsigned warm_start_import(struct study *study, const struct dp_study_state *origin,
			   const char *by);

#endif
