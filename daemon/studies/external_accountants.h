/* external_accountants.h - the oracle programs of studies: made before a worker thread asks them,
 * ended when nobody needs them. What runs is in lib/oracle. */
#ifndef DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#define DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#include "daemon/studies/study_object.h"
#include "privacy/external/external.h"

enum {
	ACCOUNTANT_USERS_MAX = 8 /* studies whose programs are asked for points at once: a
				  * program that hangs holds a worker thread */
};

/* Has the study an oracle program? */
bool accountants_are_external(const struct dp_study *spec);
/* Makes what a worker thread needs to ask them; starts nothing. */
DP_MUSTCHECK int accountants_prepare(struct study *study, struct dp_err *err);
/* Who asks them, on a worker thread: a turn and its asker, which are the caller's. NULL
 * if the study has none. */
struct accountants_turn {
	struct dp_external_caller turn;
	struct dp_external_callback asker;
};
const struct dp_external_callback *accountants_get_asker(const struct study *study,
							 const atomic_bool *cancel,
							 struct accountants_turn *t);
/* The study was looked at: one that does not run needs no programs, and what waits for
 * its next point is given up. */
void accountants_stop_if_not_running(struct study *study);
/* They were asked for a point: if many run, those of the study go now. */
void accountants_stop_idle(struct study *study);
/* A clock's tick: ends those that have nothing to do, and sooner if there are many. */
void accountants_tick(struct daemon *d);
/* Whoever asks gives up: the study goes, or the daemon does. */
void accountants_close(struct study *study);
/* Nobody asks any more. */
void accountants_free(struct study *study);

#endif
