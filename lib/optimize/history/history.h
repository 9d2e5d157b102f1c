/* history.h - a study's results as a proposer takes them. */
#ifndef DP_OPTIMIZE_HISTORY_HISTORY_H
#define DP_OPTIMIZE_HISTORY_HISTORY_H
#include "state/state.h"
#include "optimize/propose/proposer.h"

/* Everything that is known of the study: what it took over from another one, then its
 * trials by number, of each the waypoints and then its own. `for_proposal`: of a
 * deterministic study, results that its next proposal may not depend on yet count as
 * pending. The caller frees the array. */
struct dp_observation *dp_history_load(const struct dp_study_state *s, bool for_proposal,
				       size_t *n);

enum {
	DP_HISTORY_SUBSET_MAX = 600 /* in models for people: more take longer than they add */
};

/* What models that are for people are fitted to: all results, or of more than
 * DP_HISTORY_SUBSET_MAX those of the observed front and others, at even steps. */
struct dp_history_subset {
	struct dp_observation *known; /* (n) in the order of dp_history_load() */
	struct dp_result_id *ids;     /* (n) which results these are, but for imported ones */
	size_t n, nimported;          /* the first so many are of another study */
	size_t *front, nfront;        /* positions in known of the observed front, in its order;
				       * of one that is too large some */
};
struct dp_history_subset dp_history_subset_load(struct dp_study_state *s);
void dp_history_subset_free(struct dp_history_subset *r);
/* How many results there are in all. */
size_t dp_history_count_results(const struct dp_study_state *s);

#endif
