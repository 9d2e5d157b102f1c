/* whole.h - what a whole study has cost, all its trainings together, and by which proof.
 *
 * Settings of later trainings may depend on results of earlier ones. What holds then, and
 * why a sum that is read off afterwards does not, is in privacy/whole.h. */
#ifndef DP_RECALL_WHOLE_H
#define DP_RECALL_WHOLE_H
#include "journal/state.h"

enum dp_whole_proof {
	/* Composition of all trainings: settings and their number were fixed beforehand
	 * (random, grid), and all were made as planned: none more, none again. */
	DP_WHOLE_FIXED,
	/* "With probability 1 - delta the loss is at most epsilon", at this time and at
	 * all times before together, whatever was chosen because of results. At delta 0,
	 * where every training is purely private: always. */
	DP_WHOLE_ODOMETER,
	/* (epsilon, delta) of search.budget, whatever was chosen and whenever it stops.
	 */
	DP_WHOLE_FILTER,
	/* (epsilon, delta) of all that a private selection publishes: method select. */
	DP_WHOLE_SELECTION,
	DP_WHOLE_UNKNOWN, /* it is not known what its trainings add up to */
};
const char *dp_whole_text(enum dp_whole_proof p); /* "fixed", "odometer", ... */

#define DP_WHOLE_DELTA 1e-6 /* where parameters set the delta of each training */

struct dp_whole {
	enum dp_whole_proof proof;
	double epsilon, delta; /* what is proved; epsilon may be +inf, NaN: unknown */
	double order;          /* of the odometer's reading, or the filter's; NaN: none */
	/* with search.budget: the Renyi divergence of all trainings at that order, those
	 * that run included, and what it may reach; else NaN */
	double spent, limit;
	/* What composition would give at `delta` had all settings been fixed beforehand:
	 * for comparison. NaN: unknown. */
	double if_fixed;
	uint64_t trainings; /* that were begun: of all runs and retries; 0: it is a secret
			     */
	bool recorded;      /* what must be fixed before the first training was journaled
			     * then; false: an older version's study, which is read with
			     * orders that no result of it has chosen either */
	char why[300];      /* DP_WHOLE_UNKNOWN: why */
};

/* What was trained, copied, so that it can be reckoned on another thread. */
struct dp_trainings {
	size_t n;
	double *x;       /* (n x nparams) settings */
	double *at;      /* (n) up to where on the path; NaN: as x says */
	uint32_t *times; /* (n) how often each was trained */
	uint64_t all;    /* the sum of these */
	bool as_planned; /* see DP_WHOLE_FIXED */
	bool recorded;
	struct dp_accounting accounting;
	double spent; /* sum of K at the filter's order */
};
DP_MUSTCHECK int dp_trainings_take(const struct dp_study_state *s, struct dp_trainings *out,
				   struct dp_err *err);
void dp_trainings_free(struct dp_trainings *t);

/* A pure function of study and trainings, of which each takes up to some milliseconds.
 * `objective` is one of privacy. */
DP_MUSTCHECK int dp_whole_reckon(const struct dp_study *study, const struct dp_trainings *t,
				 size_t objective, struct dp_whole *out, struct dp_err *err);
/* Both at once. */
DP_MUSTCHECK int dp_whole_find(const struct dp_study_state *s, size_t objective,
			       struct dp_whole *out, struct dp_err *err);
/* {"proof":..,"epsilon":..,"delta":..,"order":..,"if_fixed":..,"trainings":..}; NULL
 * without memory. */
json_t *dp_whole_json(const struct dp_whole *w);

#endif
