/* recall.h - a study's results as a proposer takes them. */
#ifndef DP_RECALL_H
#define DP_RECALL_H
#include "journal/state.h"
#include "propose/propose.h"

/* Everything that is known of the study: what it took over from another one, then its
 * trials by number, of each the waypoints and then its own. `for_proposal`: of a
 * deterministic study, results that its next proposal may not depend on yet count as
 * pending. The caller frees the array, which is never NULL but without memory. */
struct dp_known *dp_recall(const struct dp_study_state *s, bool for_proposal, size_t *n);

enum {
	DP_RESULTS_MAX = 600 /* in models for people: more take longer than they add */
};

/* What models that are for people are fitted to: all results, or of more than
 * DP_RESULTS_MAX those of the observed front and others, at even steps. */
struct dp_results {
	struct dp_known *known; /* (n) in the order of dp_recall() */
	size_t n, imported;     /* the first so many are of another study */
	size_t *front, nfront;  /* positions in known of the observed front, in its order;
				 * of one that is too large some */
};
DP_MUSTCHECK int dp_results_recall(struct dp_study_state *s, struct dp_results *out,
				   struct dp_err *err);
void dp_results_free(struct dp_results *r);
/* How many results there are in all. */
size_t dp_results_count(const struct dp_study_state *s);

#endif
