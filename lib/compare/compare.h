/* compare.h - comparison of groups of studies: a value for each member, statistics of each group,
 * and tests of the differences.
 *
 * A member is a study, or one of the consecutive parts of a long one. dparetoctl compare and group
 * reports both use this code, so their numbers agree. */
#ifndef DP_COMPARE_H
#define DP_COMPARE_H
#include "base/t_distribution.h"
#include "study/study.h"
#include <jansson.h>

/* ---- group specifications (group_spec.c) ---- */

struct dp_group_entry {
	char *study;        /* name or number, as given */
	uint32_t part_size; /* trials in each part; 0: the whole study */
};
struct dp_group_spec {
	char *name;
	struct dp_group_entry *list;
	size_t n;
};
/* Parses "NAME=a,b/256", or a text without "=", which is then also the name. Free *out with
 * dp_group_spec_free(), also after a failure. */
DP_MUSTCHECK int dp_group_spec_parse(const char *text, struct dp_group_spec *out,
				     struct dp_err *err);
void dp_group_spec_free(struct dp_group_spec *m);

/* ---- groups ---- */

/* A study and its results in the order of trials. */
struct dp_compare_study {
	const char *name;
	const double *y;               /* (n x objectives) to be minimised; feasible results only */
	const uint32_t *trial_numbers; /* (n) the trial of each result */
	size_t n;
	uint32_t ntrials;
	uint32_t nended; /* trials before the first that has not ended */
};
/* Trials that are not in a full part of this size. */
uint32_t dp_compare_count_leftover_trials(const struct dp_compare_study *r, uint32_t size);

struct dp_compare_member {
	char *name;      /* "a", or "a/256#1" for its first 256 trials */
	const double *y; /* (n x objectives), in the study's memory */
	size_t n;
	uint32_t first_trial, end_trial; /* half-open range of trials */
};
struct dp_compare_group {
	char *name;
	struct dp_compare_member *members;
	size_t n;
};
/* Owns names and lists. */
struct dp_comparison {
	struct dp_compare_group *groups;
	size_t n;
	/* Common to all studies. */
	size_t nobjectives;
	char *objectives[DP_OBJECTIVES_MAX];
	double sign[DP_OBJECTIVES_MAX];            /* -1: maximised */
	double reference_point[DP_OBJECTIVES_MAX]; /* natural units */
	/* Results are re-evaluated points of each front, in its order, and the first of two
	 * objectives is computed. No point is chosen by its new value, which would add selection
	 * bias. */
	bool is_realised;
};
void dp_comparison_free(struct dp_comparison *c);
/* Adds an empty group. Names must be unique. */
DP_MUSTCHECK int dp_comparison_add_group(struct dp_comparison *c, const char *name,
					 struct dp_err *err);
/* Adds a study, or with a size all its full parts, to the newest group. Each only once. */
DP_MUSTCHECK int dp_comparison_add_study(struct dp_comparison *c, const struct dp_compare_study *of,
					 uint32_t size, struct dp_err *err);
/* Position of an objective, or an error whose hint lists the objectives. */
DP_MUSTCHECK int dp_comparison_find_objective(const struct dp_comparison *c, const char *name,
					      size_t *place, struct dp_err *err);

/* ---- queries ---- */

/* The hypervolume, or the best target among results with a bounded objective of at most (if
 * maximised: at least) the bound. */
struct dp_compare_query {
	bool is_hypervolume;
	size_t bounded_objective, target_objective;
	double bound;
};
struct dp_compare_answer {
	struct dp_compare_query query;
	size_t ngroups;
	double *values;                  /* of all members, group by group; NaN: no such result */
	struct dp_sample_stats *samples; /* (ngroups) */
	struct dp_t_test *tests;         /* (ngroups) first group against this one; [0] unused */
};
struct dp_compare_answer dp_comparison_answer(const struct dp_comparison *c,
					      const struct dp_compare_query *q);
void dp_compare_answer_free(struct dp_compare_answer *a);
const double *dp_compare_group_values(const struct dp_comparison *c,
				      const struct dp_compare_answer *a, size_t group);
const char *dp_compare_no_test_reason(const struct dp_sample_stats *a,
				      const struct dp_sample_stats *b);

/* Answers to "epsilon=0.1,1,10": all other objectives at each number. */
struct dp_compare_answers {
	struct dp_compare_answer *list;
	size_t n;
};
/* Parses such a text and appends its answers to *out. */
DP_MUSTCHECK int dp_comparison_answer_at(const struct dp_comparison *c, const char *text,
					 struct dp_compare_answers *out, struct dp_err *err);
void dp_compare_answers_free(struct dp_compare_answers *a);

/* ---- JSON output of the contract (compare_json.c); all return new references ---- */

/* {"version","by","anti_ideal","groups","tests","at"}; groups and tests are of hypervolumes. */
json_t *dp_compare_json(const struct dp_comparison *c, const char *by,
			const struct dp_compare_answer *volumes,
			const struct dp_compare_answers *at);
/* Only the groups, or the tests, of an answer. */
json_t *dp_compare_groups_json(const struct dp_comparison *c, const struct dp_compare_answer *a);
json_t *dp_compare_tests_json(const struct dp_comparison *c, const struct dp_compare_answer *a);
json_t *dp_test_json(const char *a, const char *b, const struct dp_sample_stats *of_a,
		     const struct dp_sample_stats *of_b);

#endif
