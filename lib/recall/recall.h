/* recall.h - a study's results as a proposer takes them. */
#ifndef DP_RECALL_H
#define DP_RECALL_H
#include "journal/state.h"
#include "propose/propose.h"

/* Everything that is known of the study: what it took over from another one, then its
 * trials by number. `for_proposal`: of a deterministic study, results that its next
 * proposal may not depend on yet count as pending. The caller frees the array, which is
 * never NULL but without memory. */
struct dp_known *dp_recall(const struct dp_study_state *s, bool for_proposal, size_t *n);

#endif
