/* study_groups.h - groups of studies that differ only by seed, and tests between groups.
 *
 * A member is a study or a part of a long one. lib/compare computes the numbers, as for dparetoctl
 * compare. */
#ifndef DP_REPORTS_MODEL_STUDY_GROUPS_H
#define DP_REPORTS_MODEL_STUDY_GROUPS_H
#include "compare/compare.h"
#include "reports/model/study_data.h"

/* The values that are compared. */
enum comparison_basis {
	BASIS_OBSERVED,
	BASIS_SMOOTHED,    /* smoothed fronts, of whole studies only */
	BASIS_REEVALUATED, /* re-evaluated points of each front */
	BASIS_COUNT
};
/* The name in report.json and of compare --by. */
const char *comparison_basis_name(enum comparison_basis by);

/* Properties of the members. Groups that differ in them are drawn differently. */
struct study_group {
	const struct study_data **studies; /* (as many as members) by member */
	size_t trainer_id;                 /* equal for groups with the same trainer */
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

/* Builds r->groups. Fails if the studies cannot be compared. */
DP_MUSTCHECK int study_groups_build(struct report_data *r, struct dp_err *err);
size_t study_groups_count_ended(const struct study_groups *g, size_t group, size_t member);
const struct dp_compare_study *study_groups_find_results(const struct study_groups *g,
							 const struct dp_study_state *s);
void study_groups_free(struct study_groups *g);

#endif
