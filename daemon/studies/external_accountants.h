/* external_accountants.h - the external accountants of studies: programs that are made known before
 * a worker thread asks them, and ended when they are not needed. lib/privacy/external runs them. */
#ifndef DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#define DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#include "daemon/studies/study_object.h"
#include "privacy/external/external.h"
#include "study/accounting.h"

enum {
	ACCOUNTANT_USERS_MAX = 8 /* studies whose programs are asked for points at once: a
				  * program that hangs holds a worker thread */
};

/* Has the study an external accountant? */
bool accountants_are_external(const struct dp_study *spec);
/* Makes what a worker thread needs to ask them; starts nothing. */
void accountants_prepare(struct study *study);
/* Who asks them, on a worker thread: a turn and its asker, which are the caller's. NULL if the
 * study has none. */
struct accountants_turn {
	struct dp_external_caller turn;
	struct dp_external_callback asker;
};
const struct dp_external_callback *accountants_get_asker(const struct study *study,
							 const atomic_bool *cancel,
							 struct accountants_turn *t);
/* Ends those of a study that does not run, unless they are being asked: then later. */
void accountants_stop_if_not_running(struct study *study);
/* Ends those that have nothing to do, and sooner if many run. */
void accountants_stop_idle(struct study *study);
/* Whoever asks gives up: the study goes, or the daemon does. */
void accountants_close(struct study *study);
void accountants_free(struct study *study);

#endif
