/* look.h - a daemon that only looks at a state folder (--look): it answers the verbs that
 * look, by the same handlers, to the one who started it, from the journal as it was then.
 * Nothing is recorded, started or written: d->looking says so to whoever would. Oracle
 * programs alone are started, if somebody asks for the next point. */
#ifndef DPARETOD_LOOK_H
#define DPARETOD_LOOK_H
#include "daemon/daemon.h"

/* Is there such a folder? */
DP_MUSTCHECK int look_folder(const char *state, struct dp_err *err);
/* As daemon_open() otherwise does: up to the point where the loop may run. */
DP_MUSTCHECK int look_start(struct dpd *d, const struct settings *s, struct dp_err *err);
/* It could not start: whoever asks first at the other end of control_fd is told why. */
void look_refuse(const struct settings *s, const struct dp_err *err);

/* The error for a verb that is not for one that only looks. */
int look_only(const struct dpd *d, const char *verb, struct dp_err *err);
/* The hint for a study that is not there. */
int look_unknown(const struct dpd *d, struct dp_err *err);
/* Does nobody work on the studies that it looks at? False for one that works itself. */
bool look_is_still(const struct dpd *d);
/* Why a study that runs makes no progress, as far as can be seen; NULL. */
const char *look_why_not(const struct dpd *d);
/* {"written":true,"writer":123}: whether a process writes the journal, and which, if that
 * is known. NULL for a daemon that does not look. */
json_t *look_json(const struct dpd *d);
/* Adds attempts that are open in the journal: whether they run, it does not tell. */
void look_running(const struct dpd *d, const struct dp_study_state *s, json_t *list);

#endif
