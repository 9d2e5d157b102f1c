/* look.h - a daemon that only looks at a state folder (--look): it answers the verbs that
 * look, by the same handlers, to the one who started it, from the journal as it was then.
 * Nothing is recorded, started or written: d->looking says so to whoever would. Oracle
 * programs alone are started, if somebody asks for the next point. */
#ifndef DP_DAEMON_CORE_READ_ONLY_H
#define DP_DAEMON_CORE_READ_ONLY_H
#include "daemon/core/daemon.h"

/* Is there such a folder? */
DP_MUSTCHECK int read_only_check_directory(const char *state, struct dp_err *err);
/* As daemon_open() otherwise does: up to the point where the loop may run. */
DP_MUSTCHECK int read_only_start(struct daemon *d, const struct daemon_options *s,
				 struct dp_err *err);
/* It could not start: whoever asks first at the other end of control_fd is told why. */
void read_only_report_error(const struct daemon_options *s, const struct dp_err *err);

/* The error for a verb that is not for one that only looks. */
int read_only_refuse_verb(const struct daemon *d, const char *verb, struct dp_err *err);
/* The hint for a study that is not there. */
int read_only_hint_studies(const struct daemon *d, struct dp_err *err);
/* Does nobody work on the studies that it looks at? False for one that works itself. */
bool read_only_is_idle(const struct daemon *d);
/* Why a study that runs makes no progress, as far as can be seen; NULL. */
const char *read_only_waiting_reason(const struct daemon *d);
/* {"written":true,"writer":123}: whether a process writes the journal, and which, if that
 * is known. NULL for a daemon that does not look. */
json_t *read_only_json(const struct daemon *d);
/* Adds attempts that are open in the journal: whether they run, it does not tell. */
void read_only_add_running(const struct daemon *d, const struct dp_study_state *s, json_t *list);

#endif
