/* recommended.h - settings that clients ask for, by levels of an objective: who asked,
 * and what they are told. ask.c says when, since models are its business. The loop's, but
 * for recommended_find(). */
#ifndef DPARETOD_RECOMMENDED_H
#define DPARETOD_RECOMMENDED_H
#include "daemon/study.h"
#include "recall/recommended.h"

/* Clients with their questions, first come first. */
struct recommended;

/* Adds a question; levels as the protocol has them. */
DP_MUSTCHECK int recommended_add(struct recommended **list, struct study *h, uint64_t client,
				 const json_t *levels, struct dp_err *err);
/* Looks at what is tested now. */
DP_MUSTCHECK int recommended_look(struct recommended *list, const struct dp_study_state *s,
				  struct dp_err *err);
/* On a worker thread: finds all answers. What fails for one fails for that one alone. */
void recommended_find(struct recommended *list, struct dp_proposer *p, const struct dp_study *spec,
		      const struct dp_results *r, const struct dp_oracle_asker *programs,
		      const atomic_bool *cancel);
/* Tells everybody, and forgets them. why: nothing was found, since this went wrong; NULL:
 * each has an answer. */
void recommended_tell(struct recommended **list, struct study *h, const struct dp_err *why);
void recommended_free(struct recommended **list);

#endif
