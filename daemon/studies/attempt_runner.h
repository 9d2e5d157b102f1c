/* attempt_runner.h - the interface through which studies run attempts. daemon/executors implements
 * the table (d->attempts), so that studies do not depend on executors. */
#ifndef DP_DAEMON_STUDIES_ATTEMPT_RUNNER_H
#define DP_DAEMON_STUDIES_ATTEMPT_RUNNER_H
#include "base/base.h"
#include "study/study.h"

#include <jansson.h>

struct daemon;
struct dp_trial;
struct study;

struct attempt_runner {
	/* Chooses the study's executor from its current keys. */
	void (*assign_executor)(struct study *study);
	/* Attempts that the executor runs at once, how many more it takes now, and whether it is
	 * held because of a problem of the machine. */
	unsigned (*capacity)(const struct study *study);
	unsigned (*free_slots)(const struct study *study);
	bool (*is_held)(const struct study *study);
	/* Reserves n slots for points that are being proposed. -n releases them. */
	void (*reserve_slots)(struct study *study, int n);
	/* Plans the attempt of study->next_step and starts it once that is durable. */
	void (*launch)(struct study *study);
	void (*cancel)(struct study *study, const struct dp_trial *t);
	/* Why its attempts make no progress, why its executor is held, or why it is full, as a
	 * sentence. False: no reason to give. */
	bool (*explain_trouble)(const struct study *study, char *out, size_t room);
	bool (*explain_held)(const struct study *study, char *out, size_t room);
	void (*explain_full)(const struct study *study, char *out, size_t room);
	/* The running attempts as JSON, oldest first; a digest of what that shows, continued from
	 * `digest`; and the number of attempts of all studies. */
	json_t *(*running_json)(const struct study *study);
	uint64_t (*running_digest)(const struct study *study, uint64_t digest);
	unsigned (*count)(const struct daemon *d);
	/* The command that starts an external accountant. Free both lists with argv_free_list(). */
	void (*accountant_command)(const struct study *study, char *const *program, char ***argv,
				   char ***env);
};

#endif
