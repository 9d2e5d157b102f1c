/* external_accountants.h - owns the external accountants of studies: registers them for worker
 * threads and stops idle ones. lib/privacy/external runs the programs. */
#ifndef DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#define DP_DAEMON_STUDIES_EXTERNAL_ACCOUNTANTS_H
#include "daemon/studies/study_object.h"
#include "privacy/external/external.h"
#include "study/accounting.h"

enum {
	ACCOUNTANT_USERS_MAX = 8 /* concurrent studies: a program that hangs blocks a thread */
};

bool accountants_are_external(const struct dp_study *spec);
/* Prepares queries from worker threads. Starts no program. */
void accountants_prepare(struct study *study);
/* Fills *t, which the caller owns, for queries on a worker thread. NULL if the study has no
 * external accountant. */
struct accountants_turn {
	struct dp_external_caller turn;
	struct dp_external_callback asker;
};
const struct dp_external_callback *accountants_get_asker(const struct study *study,
							 const atomic_bool *cancel,
							 struct accountants_turn *t);
/* Stops the programs of a study that is not running; later if one is in use. */
void accountants_stop_if_not_running(struct study *study);
/* Stops idle programs, sooner if many run. */
void accountants_stop_idle(struct study *study);
/* Makes queries give up, because the study is deleted or the daemon stops. */
void accountants_close(struct study *study);
void accountants_free(struct study *study);

#endif
