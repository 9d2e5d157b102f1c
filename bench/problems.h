/* problems.h - known problems for bench/optimizer: what the search is judged on. */
#ifndef DP_BENCH_PROBLEMS_H
#define DP_BENCH_PROBLEMS_H
#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	BENCH_OBJECTIVES = 4,
	BENCH_CONSTRAINTS = 2
};

/* One problem, all objectives minimised. */
struct bench_problem {
	const char *name;
	const char *params, *objectives, *anti_ideal; /* as in a study file */
	const char *constraints;                      /* likewise, or NULL */
	size_t p;
	double ref[BENCH_OBJECTIVES];
	double best; /* the best known hypervolume */
	void (*eval)(const double *x, double *y, double *metric);
	/* drawn anew at each evaluation instead, the mean of so many runs */
	void (*draw)(const double *x, struct dp_rng *rng, int runs, double *y);
	bool exact; /* the first objective is known exactly to the search */
	bool apart; /* not one of the standard rows: run when named */
};

extern const struct bench_problem bench_problems[];
extern const size_t bench_nproblems;

/* Is `name` one of the comma-separated `list`? */
bool bench_is_listed(const char *list, const char *name);

/* How the last objective of a problem is measured: the mean of `runs`, each with an
 * error of sd `size`, or `size` times the value itself (growing). */
struct bench_noise {
	int runs; /* 0: without noise */
	double size;
	bool growing;
};

/* What a study sees of y at a point: the mean, and the variance of that mean (NaN if
 * one run cannot tell). */
void bench_measure(const struct bench_noise *noise, double y, struct dp_rng *rng, double *mean,
		   double *variance);

#endif
