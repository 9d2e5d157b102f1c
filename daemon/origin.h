/* origin.h - a study whose results another one takes over: of this daemon, or in a state
 * folder, which a worker thread reads. */
#ifndef DPARETOD_ORIGIN_H
#define DPARETOD_ORIGIN_H
#include "daemon/requests.h"

/* Goes on with a request once what is in the folder is known. */
typedef int origin_then(struct request *r, const struct dp_state *there, json_t **ok,
			struct dp_err *err);

/* Reads the folder that an origin names, by which `option`, then `then` answers. */
DP_MUSTCHECK int origin_read(struct request *r, const char *option, const char *origin,
			     origin_then *then, struct dp_err *err);
/* The study that `origin` names among those that are there; one whose results `spec` can
 * use. */
DP_MUSTCHECK int origin_find(const struct dp_state *there, const char *origin,
			     const struct dp_study *spec, struct dp_study_state **out,
			     struct dp_err *err);
/* Records all its results in the study h but those that it took over before; how many.
 * by: who asked for that. */
unsigned origin_import(struct study *h, const struct dp_study_state *origin, const char *by);

#endif
