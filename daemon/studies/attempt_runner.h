/* attempt_runner.h - what studies need of those who run their attempts. daemon/executors has the
 * table (d->attempts), so that studies need not know them. */
#ifndef DP_DAEMON_STUDIES_ATTEMPT_RUNNER_H
#define DP_DAEMON_STUDIES_ATTEMPT_RUNNER_H
#include "base/base.h"
#include "study/study.h"

#include <jansson.h>

struct daemon;
struct dp_trial;
struct study;

struct attempt_runner {
	/* Chooses who runs the study's attempts, by what it says now. */
	void (*assign_executor)(struct study *study);
	/* How many attempts its executor runs at once, how many more it takes now, and whether it
	 * starts none for a while because of the machine's trouble. */
	unsigned (*capacity)(const struct study *study);
	unsigned (*free_slots)(const struct study *study);
	bool (*is_held)(const struct study *study);
	/* Slots for points that are being proposed: no other study gets them. -n gives them back.
	 */
	void (*reserve_slots)(struct study *study, int n);
	/* Plans the attempt that study->next_step is about, and starts it once that is durable. */
	void (*launch)(struct study *study);
	/* Ends the trainers of a trial; NULL: of all of the study's. */
	void (*cancel)(struct study *study, const struct dp_trial *t);
	/* Why attempts that it has make no progress, or why it takes no more, as a sentence; false:
	 * there is nothing to say. */
	bool (*explain_trouble)(const struct study *study, char *out, size_t room);
	bool (*explain_held)(const struct study *study, char *out, size_t room);
	void (*explain_full)(const struct study *study, char *out, size_t room);
	/* For people: the attempts that run, oldest first; a digest of what that shows, begun with
	 * `digest`; and how many there are of all studies. */
	json_t *(*running_json)(const struct study *study);
	uint64_t (*running_digest)(const struct study *study, uint64_t digest);
	unsigned (*count)(const struct daemon *d);
	/* How an external accountant of the study is started: argv_free_list() frees both lists. */
	void (*accountant_command)(const struct study *study, char *const *program, char ***argv,
				   char ***env);
};

#endif
