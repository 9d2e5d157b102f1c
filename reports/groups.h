/* groups.h - groups of seeds: studies, or parts of long ones, that differ by chance only,
 * and how sure a difference between groups is. The numbers are those of dparetoctl
 * compare: both are made by lib/compare. */
#ifndef DP_GROUPS_H
#define DP_GROUPS_H
#include "compare/compare.h"
#include "reports/report.h"

/* Which values are compared. */
enum groups_by {
	GROUPS_OBSERVED,
	GROUPS_DENOISED,   /* by the models, of whole studies */
	GROUPS_REMEASURED, /* what was measured again of each front */
	GROUPS_BY
};
/* As report.json and compare --by call them. */
const char *groups_by_name(enum groups_by by);

/* What members of a group share. Those that differ have a look of their own. */
struct group {
	const struct subject **of; /* (as many as members) each one's study */
	size_t model;              /* the same number: the same trainer */
	int method;                /* enum dp_method; -1: members differ */
};
struct group_rows; /* the results of a study */

struct groups {
	struct group *list;                 /* (as many as the contests have) */
	struct dp_contest by[GROUPS_BY];    /* the same groups and members in each */
	bool known[GROUPS_BY];              /* every member has such values */
	struct group_rows *rows[GROUPS_BY]; /* (nstudies) */
	size_t nstudies, nmodels;
};

/* Reads the studies of r->asked and makes r->groups of them; each of the n plain studies
 * is a group of its own before these. Refuses what cannot be compared. */
DP_MUSTCHECK int report_load_groups(struct report *r, const char *journal,
				    const char *const *studies, size_t n, struct dp_err *err);
/* The same of subjects that are there already. */
DP_MUSTCHECK int groups_make(struct report *r, struct dp_err *err);
/* How many trials of a member have ended. */
size_t groups_ended(const struct groups *g, size_t group, size_t member);
/* The observed results of a study that is in a group. */
const struct dp_rated *groups_rated(const struct groups *g, const struct dp_study_state *s);
void report_groups_free(struct groups *g);

#endif
