/* study_groups.h - groups of seeds: studies, or parts of long ones, that differ by chance only,
 * and how sure a difference between groups is. The numbers are those of dparetoctl
 * compare: both are made by lib/compare. */
#ifndef DP_REPORTS_MODEL_STUDY_GROUPS_H
#define DP_REPORTS_MODEL_STUDY_GROUPS_H
#include "compare/compare.h"
#include "reports/model/study_data.h"

/* Which values are compared. */
enum comparison_basis {
	BASIS_OBSERVED,
	BASIS_SMOOTHED,    /* by the models, of whole studies */
	BASIS_REEVALUATED, /* what was measured again of each front */
	BASIS_COUNT
};
/* As report.json and compare --by call them. */
const char *comparison_basis_name(enum comparison_basis by);

/* What members of a group share. Those that differ have a look of their own. */
struct study_group {
	const struct study_data **studies; /* (as many as members) each one's study */
	size_t trainer_id;                 /* the same number: the same trainer */
	int method;                        /* enum dp_method; -1: members differ */
};
struct group_results; /* the results of a study */

struct study_groups {
	struct study_group *list;                   /* (as many as the contests have) */
	struct dp_comparison contests[BASIS_COUNT]; /* the same groups and members in each */
	bool has_basis[BASIS_COUNT];                /* every member has such values */
	struct group_results *results[BASIS_COUNT]; /* (nstudies) */
	size_t nstudies, ntrainers;
};

/* Makes r->groups of the studies; refuses what cannot be compared. */
DP_MUSTCHECK int study_groups_build(struct report_data *r, struct dp_err *err);
/* How many trials of a member have ended. */
size_t study_groups_count_ended(const struct study_groups *g, size_t group, size_t member);
/* The observed results of a study that is in a group. */
const struct dp_compare_study *study_groups_find_results(const struct study_groups *g,
							 const struct dp_study_state *s);
void study_groups_free(struct study_groups *g);

#endif
