/* total_privacy_loss.h - the privacy loss of all training runs of a study together, and by
 * which proof.
 *
 * Settings of later trainings may depend on results of earlier ones. What holds then, and
 * why a sum that is read off afterwards does not, is in privacy/composition/adaptive_composition.h.
 */
#ifndef DP_OPTIMIZE_HISTORY_TOTAL_PRIVACY_LOSS_H
#define DP_OPTIMIZE_HISTORY_TOTAL_PRIVACY_LOSS_H
#include "state/state.h"

enum dp_total_privacy_proof {
	/* Composition of all trainings: settings and their number were fixed beforehand
	 * (random, grid), and all were made as planned: none more, none again. */
	DP_TOTAL_PRIVACY_FIXED,
	/* "With probability 1 - delta the loss is at most epsilon", at this time and at
	 * all times before together, whatever was chosen because of results. At delta 0,
	 * where every training is purely private: always. */
	DP_TOTAL_PRIVACY_ODOMETER,
	/* (epsilon, delta) of search.budget, whatever was chosen and whenever it stops.
	 */
	DP_TOTAL_PRIVACY_FILTER,
	/* (epsilon, delta) of all that a private selection publishes: method select. */
	DP_TOTAL_PRIVACY_SELECTION,
	DP_TOTAL_PRIVACY_UNKNOWN, /* it is not known what its trainings add up to */
};
const char *
dp_total_privacy_proof_name(enum dp_total_privacy_proof p); /* "fixed", "odometer", ... */

#define DP_TOTAL_PRIVACY_DEFAULT_DELTA 1e-6 /* where parameters set the delta of each training */

struct dp_total_privacy {
	enum dp_total_privacy_proof proof;
	double epsilon, delta; /* what is proved; epsilon may be +inf, NaN: unknown */
	double order;          /* of the odometer's reading, or the filter's; NaN: none */
	/* with search.budget: the Renyi divergence of all trainings at that order, those
	 * that run included, and what it may reach; else NaN */
	double renyi_spent, renyi_limit;
	/* What composition would give at `delta` had all settings been fixed beforehand:
	 * for comparison. NaN: unknown. */
	double epsilon_if_fixed;
	uint64_t started_runs;       /* that were begun: of all runs and retries; 0: it is a secret
				      */
	bool is_accounting_recorded; /* what must be fixed before the first training was journaled
				      * then; false: an older version's study, which is read with
				      * orders that no result of it has chosen either */
	char unknown_reason[300];    /* DP_TOTAL_PRIVACY_UNKNOWN: why */
};

/* What was trained, copied, so that it can be reckoned on another thread. */
struct dp_started_runs {
	size_t n;
	double *x;          /* (n x nparams) settings */
	double *stop_at;    /* (n) up to where on the path; NaN: as x says */
	uint32_t *counts;   /* (n) how often each was trained */
	uint64_t total;     /* the sum of these */
	bool is_as_planned; /* see DP_TOTAL_PRIVACY_FIXED */
	bool is_accounting_recorded;
	struct dp_accounting accounting;
	double renyi_spent; /* sum of K at the filter's order */
};
struct dp_started_runs dp_started_runs_collect(const struct dp_study_state *s);
void dp_started_runs_free(struct dp_started_runs *t);

/* A pure function of study and trainings, of which each takes up to some milliseconds.
 * `objective` is one of privacy. */
DP_MUSTCHECK int dp_total_privacy_compute(const struct dp_study *study,
					  const struct dp_started_runs *t, size_t objective,
					  struct dp_total_privacy *out, struct dp_err *err);
/* Both at once. */
DP_MUSTCHECK int dp_total_privacy_of_study(const struct dp_study_state *s, size_t objective,
					   struct dp_total_privacy *out, struct dp_err *err);
/* {"proof":..,"epsilon":..,"delta":..,"order":..,"if_fixed":..,"trainings":..} */
json_t *dp_total_privacy_json(const struct dp_total_privacy *w);

#endif
