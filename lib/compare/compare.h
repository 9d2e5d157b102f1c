/* compare.h - groups of studies beside each other: a number of each member, what the
 * groups have of it on average, and how sure a difference is.
 *
 * A member is a study, or one of the consecutive parts of a long one. dparetoctl compare
 * and reports of groups are both made of this, so that they say the same. */
#ifndef DP_COMPARE_H
#define DP_COMPARE_H
#include "base/student.h"
#include "study/study.h"
#include <jansson.h>

/* ---- which (members.c) ---- */

struct dp_member {
	char *study;   /* as it was named */
	uint32_t size; /* of its parts; 0: the whole study */
};
struct dp_members {
	char *name; /* of the group */
	struct dp_member *list;
	size_t n;
};
/* "NAME=a,b/256", or without a name, which is then the whole text. What is read is freed
 * with dp_members_free(), also after a failure. */
DP_MUSTCHECK int dp_members_read(const char *text, struct dp_members *out, struct dp_err *err);
void dp_members_free(struct dp_members *m);

/* ---- with what ---- */

/* A study and its results in order of trials. */
struct dp_rated {
	const char *name;
	const double *y;       /* (n x objectives) to be minimised; feasible ones only */
	const uint32_t *trial; /* (n) whose they are */
	size_t n;
	uint32_t trials; /* that there are */
	uint32_t ended;  /* of these, before the first that has not ended */
};
/* How many trials are not in a full part of this size. */
uint32_t dp_rated_left(const struct dp_rated *r, uint32_t size);

struct dp_rival {
	char *name;      /* "a", or "a/256#1" for the first 256 trials of it */
	const double *y; /* (n x objectives) of the study's */
	size_t n;
	uint32_t from, end; /* its trials */
};
struct dp_rivals { /* a group */
	char *name;
	struct dp_rival *list;
	size_t n;
};
/* Owns the names and lists. */
struct dp_contest {
	struct dp_rivals *group;
	size_t n;
	/* what all studies have in common: */
	size_t nobjectives;
	char *objectives[DP_OBJECTIVES_MAX];
	double sign[DP_OBJECTIVES_MAX];       /* -1: is maximised */
	double anti_ideal[DP_OBJECTIVES_MAX]; /* natural units */
	/* Results are the points of each front in its order, measured again, where the
	 * first of two objectives is computed: none is chosen by its new value. */
	bool followed;
};
void dp_contest_free(struct dp_contest *c);
/* A new group without members. No two have the same name. */
DP_MUSTCHECK int dp_contest_group(struct dp_contest *c, const char *name, struct dp_err *err);
/* Adds a study, or with a size all its full parts, to the newest group. None is in it
 * twice. */
DP_MUSTCHECK int dp_contest_add(struct dp_contest *c, const struct dp_rated *of, uint32_t size,
				struct dp_err *err);
/* The place of an objective, or a code with those that there are in the hint. */
DP_MUSTCHECK int dp_contest_objective(const struct dp_contest *c, const char *name, size_t *place,
				      struct dp_err *err);

/* ---- what is asked ---- */

/* The hypervolume, or the best value of an objective among results where another is at
 * most (at least, if it is maximised) a number. */
struct dp_question {
	bool volume;
	size_t at, of;
	double bound;
};
struct dp_answer {
	struct dp_question asked;
	size_t n;                  /* groups */
	double *values;            /* of all members, group by group; NaN: no such result */
	struct dp_sample *samples; /* (n) */
	struct dp_test *tests;     /* (n) [0] is none; of the first group against it */
};
DP_MUSTCHECK int dp_contest_ask(const struct dp_contest *c, const struct dp_question *q,
				struct dp_answer *out, struct dp_err *err);
void dp_answer_free(struct dp_answer *a);
/* The values of a group. */
const double *dp_answer_values(const struct dp_contest *c, const struct dp_answer *a, size_t group);
/* Why there is no test between two samples. */
const char *dp_no_test(const struct dp_sample *a, const struct dp_sample *b);

/* Answers to "epsilon=0.1,1,10": at each number all other objectives. */
struct dp_answers {
	struct dp_answer *list;
	size_t n;
};
/* Adds to them. */
DP_MUSTCHECK int dp_contest_ask_at(const struct dp_contest *c, const char *text,
				   struct dp_answers *out, struct dp_err *err);
void dp_answers_free(struct dp_answers *a);

/* ---- the answer as the contract has it (answer_json.c) ----
 * New references; NULL without memory. */

/* {"version","by","anti_ideal","groups","tests","at"}, of hypervolumes. */
json_t *dp_compare_json(const struct dp_contest *c, const char *by, const struct dp_answer *volumes,
			const struct dp_answers *at);
/* The groups and the tests of an answer alone. */
json_t *dp_answer_groups_json(const struct dp_contest *c, const struct dp_answer *a);
json_t *dp_answer_tests_json(const struct dp_contest *c, const struct dp_answer *a);
json_t *dp_test_json(const char *a, const char *b, const struct dp_sample *of_a,
		     const struct dp_sample *of_b);

#endif
