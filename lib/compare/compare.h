/* compare.h - groups of studies beside each other: a number of each member, what the
 * groups have of it on average, and how sure a difference is.
 *
 * A member is a study, or one of the consecutive parts of a long one. dparetoctl compare
 * and reports of groups are both made of this, so that they say the same. */
#ifndef DP_COMPARE_H
#define DP_COMPARE_H
#include "base/t_distribution.h"
#include "study/study.h"
#include <jansson.h>

/* ---- which (group_spec.c) ---- */

struct dp_group_entry {
	char *study;        /* as it was named */
	uint32_t part_size; /* of its parts; 0: the whole study */
};
struct dp_group_spec {
	char *name; /* of the group */
	struct dp_group_entry *list;
	size_t n;
};
/* "NAME=a,b/256", or without a name, which is then the whole text. What is read is freed
 * with dp_group_spec_free(), also after a failure. */
DP_MUSTCHECK int dp_group_spec_parse(const char *text, struct dp_group_spec *out,
				     struct dp_err *err);
void dp_group_spec_free(struct dp_group_spec *m);

/* ---- with what ---- */

/* A study and its results in order of trials. */
struct dp_compare_study {
	const char *name;
	const double *y;               /* (n x objectives) to be minimised; feasible ones only */
	const uint32_t *trial_numbers; /* (n) whose they are */
	size_t n;
	uint32_t ntrials; /* that there are */
	uint32_t nended;  /* of these, before the first that has not ended */
};
/* How many trials are not in a full part of this size. */
uint32_t dp_compare_count_leftover_trials(const struct dp_compare_study *r, uint32_t size);

struct dp_compare_member {
	char *name;      /* "a", or "a/256#1" for the first 256 trials of it */
	const double *y; /* (n x objectives) of the study's */
	size_t n;
	uint32_t first_trial, end_trial; /* its trials */
};
struct dp_compare_group { /* a group */
	char *name;
	struct dp_compare_member *members;
	size_t n;
};
/* Owns the names and lists. */
struct dp_comparison {
	struct dp_compare_group *groups;
	size_t n;
	/* what all studies have in common: */
	size_t nobjectives;
	char *objectives[DP_OBJECTIVES_MAX];
	double sign[DP_OBJECTIVES_MAX];            /* -1: is maximised */
	double reference_point[DP_OBJECTIVES_MAX]; /* natural units */
	/* Results are the points of each front in its order, measured again, where the
	 * first of two objectives is computed: none is chosen by its new value. */
	bool is_realised;
};
void dp_comparison_free(struct dp_comparison *c);
/* A new group without members. No two have the same name. */
DP_MUSTCHECK int dp_comparison_add_group(struct dp_comparison *c, const char *name,
					 struct dp_err *err);
/* Adds a study, or with a size all its full parts, to the newest group. None is in it
 * twice. */
DP_MUSTCHECK int dp_comparison_add_study(struct dp_comparison *c, const struct dp_compare_study *of,
					 uint32_t size, struct dp_err *err);
/* The place of an objective, or a code with those that there are in the hint. */
DP_MUSTCHECK int dp_comparison_find_objective(const struct dp_comparison *c, const char *name,
					      size_t *place, struct dp_err *err);

/* ---- what is asked ---- */

/* The hypervolume, or the best value of an objective among results where another is at
 * most (at least, if it is maximised) a number. */
struct dp_compare_query {
	bool is_hypervolume;
	size_t bounded_objective, target_objective;
	double bound;
};
struct dp_compare_answer {
	struct dp_compare_query query;
	size_t ngroups;                  /* groups */
	double *values;                  /* of all members, group by group; NaN: no such result */
	struct dp_sample_stats *samples; /* (n) */
	struct dp_t_test *tests;         /* (n) [0] is none; of the first group against it */
};
struct dp_compare_answer dp_comparison_answer(const struct dp_comparison *c,
					      const struct dp_compare_query *q);
void dp_compare_answer_free(struct dp_compare_answer *a);
/* The values of a group. */
const double *dp_compare_group_values(const struct dp_comparison *c,
				      const struct dp_compare_answer *a, size_t group);
/* Why there is no test between two samples. */
const char *dp_compare_no_test_reason(const struct dp_sample_stats *a,
				      const struct dp_sample_stats *b);

/* Answers to "epsilon=0.1,1,10": at each number all other objectives. */
struct dp_compare_answers {
	struct dp_compare_answer *list;
	size_t n;
};
/* Adds to them. */
DP_MUSTCHECK int dp_comparison_answer_at(const struct dp_comparison *c, const char *text,
					 struct dp_compare_answers *out, struct dp_err *err);
void dp_compare_answers_free(struct dp_compare_answers *a);

/* ---- the answer as the contract has it (compare_json.c): new references ---- */

/* {"version","by","anti_ideal","groups","tests","at"}, of hypervolumes. */
json_t *dp_compare_json(const struct dp_comparison *c, const char *by,
			const struct dp_compare_answer *volumes,
			const struct dp_compare_answers *at);
/* The groups and the tests of an answer alone. */
json_t *dp_compare_groups_json(const struct dp_comparison *c, const struct dp_compare_answer *a);
json_t *dp_compare_tests_json(const struct dp_comparison *c, const struct dp_compare_answer *a);
json_t *dp_test_json(const char *a, const char *b, const struct dp_sample_stats *of_a,
		     const struct dp_sample_stats *of_b);

#endif
