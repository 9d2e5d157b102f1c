/* history.h - a study's results in the form that proposers take. */
#ifndef DP_OPTIMIZE_HISTORY_HISTORY_H
#define DP_OPTIMIZE_HISTORY_HISTORY_H
#include "state/state.h"
#include "optimize/propose/proposer.h"

/* All observations of a study: imported results, then trials by number, each with its checkpoints
 * before its final result. for_proposal: with `order: deterministic`, results that the next
 * proposal must not depend on yet count as pending. The caller frees the array. */
struct dp_observation *dp_history_load(const struct dp_study_state *s, bool for_proposal,
				       size_t *n);

enum {
	DP_HISTORY_SUBSET_MAX = 600 /* more slow the models down without a visible gain */
};

/* Results for models that are displayed: all of them, or from more than DP_HISTORY_SUBSET_MAX those
 * of the observed front and an even sample of the others. */
struct dp_history_subset {
	struct dp_observation *known; /* (n) in the order of dp_history_load() */
	struct dp_result_id *ids;     /* (n) unset for imported results */
	size_t n, nimported;          /* the first nimported are of another study */
	/* Positions in `known` of the observed front, in its order; a sample if it is too large. */
	size_t *front, nfront;
};
struct dp_history_subset dp_history_subset_load(struct dp_study_state *s);
void dp_history_subset_free(struct dp_history_subset *r);
size_t dp_history_count_results(const struct dp_study_state *s);

#endif
