/* comparison_groups.h - groups of studies, or of parts of long studies, for `compare`.
 *
 * A struct ctl_groups owns what it points to. */
#ifndef DP_CTL_SUPPORT_COMPARISON_GROUPS_H
#define DP_CTL_SUPPORT_COMPARISON_GROUPS_H
#include "compare/compare.h"
#include "ctl/ctl_command.h"

struct ctl_groups {
	struct dp_comparison contest;
	struct ctl_study_results *studies; /* (n_studies), each study once */
	size_t n_studies;
};

/* Reads the groups of the command line and all their results, chosen by --by. Each plain argument
 * is one group, then each --group. Refuses studies that are not comparable. */
DP_MUSTCHECK int ctl_groups_read(struct ctl *ctl, struct ctl_groups *g, struct dp_err *err);
void ctl_groups_clear(struct ctl_groups *g);
/* Is this objective an epsilon, which is rounded up for display? */
bool ctl_groups_objective_is_privacy(const struct ctl_groups *g, size_t objective);

#endif
