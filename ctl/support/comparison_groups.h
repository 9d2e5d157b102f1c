/* comparison_groups.h - what is compared: groups of studies, or of parts of a long one.
 *
 * A struct ctl_groups owns all that it points to. */
#ifndef DP_CTL_SUPPORT_COMPARISON_GROUPS_H
#define DP_CTL_SUPPORT_COMPARISON_GROUPS_H
#include "compare/compare.h"
#include "ctl/ctl_command.h"

struct ctl_groups {
	struct dp_comparison contest;
	struct ctl_study_results *studies; /* (nstudies) each once, see groups.c */
	size_t n_studies;
};

/* The groups of the command line - each plain argument is one, then those of --group -
 * with all results, by --by. Refuses studies whose results cannot be compared. */
DP_MUSTCHECK int ctl_groups_read(struct ctl *ctl, struct ctl_groups *g, struct dp_err *err);
void ctl_groups_clear(struct ctl_groups *g);
/* Is it a bound on privacy, which is rounded up for people? */
bool ctl_groups_objective_is_privacy(const struct ctl_groups *g, size_t objective);

#endif
