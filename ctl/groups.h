/* groups.h - what is compared: groups of studies, or of parts of a long one.
 *
 * A struct ctl_groups owns all that it points to. */
#ifndef DP_CTL_GROUPS_H
#define DP_CTL_GROUPS_H
#include "ctl/command.h"
#include "study/study.h"
#include <jansson.h>

/* One member of a group: the results of a study, or of a part of its trials. */
struct ctl_rival {
	char *name;      /* "a", or "a/256#1" for the first 256 trials of it */
	const double *y; /* (n x objectives), all to be minimised */
	size_t n;
};

struct ctl_group {
	char *name;
	struct ctl_rival *rivals;
	size_t n;
};

struct ctl_groups {
	struct ctl_group *group;
	size_t n;
	/* what all studies have in common: */
	size_t nobjectives;
	char *objectives[DP_OBJECTIVES_MAX];
	double sign[DP_OBJECTIVES_MAX];       /* -1: is maximised */
	double anti_ideal[DP_OBJECTIVES_MAX]; /* natural units */
	/* --by remeasured, where the first of two objectives is computed: results are the
	 * points of each front in its order, and none is chosen by its new value */
	bool followed;
	struct ctl_rated *studies; /* (nstudies) each once, see groups.c */
	size_t nstudies;
};

/* The groups of the command line - each plain argument is one, then those of --group -
 * with all results, by --by. Refuses studies whose results cannot be compared. */
DP_MUSTCHECK int ctl_groups_read(struct ctl *ctl, struct ctl_groups *g,
				 struct dp_err *err);
void ctl_groups_clear(struct ctl_groups *g);
/* The place of an objective, or a code with those that there are in the hint. */
DP_MUSTCHECK int ctl_groups_objective(const struct ctl_groups *g, const char *name,
				      size_t *place, struct dp_err *err);
/* Is it a bound on privacy, which is rounded up for people? */
bool ctl_groups_is_privacy(const struct ctl_groups *g, size_t objective);

#endif
