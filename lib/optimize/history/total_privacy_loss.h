/* total_privacy_loss.h - the privacy loss of all runs of a study together, and its proof.
 *
 * Parameters of later runs may depend on earlier results. What holds then, and why a sum that is
 * read afterwards does not: privacy/composition/adaptive_composition.h. */
#ifndef DP_OPTIMIZE_HISTORY_TOTAL_PRIVACY_LOSS_H
#define DP_OPTIMIZE_HISTORY_TOTAL_PRIVACY_LOSS_H
#include "state/state.h"

enum dp_total_privacy_proof {
	/* Composition of all runs. Their parameters and number were fixed beforehand (random,
	 * grid), and exactly these runs were made: none more, none repeated. */
	DP_TOTAL_PRIVACY_FIXED,
	/* "With probability 1 - delta the loss is at most epsilon", now and at all earlier times
	 * simultaneously, whatever was chosen because of results. Delta 0 (purely private runs):
	 * always. */
	DP_TOTAL_PRIVACY_ODOMETER,
	/* (epsilon, delta) of search.budget, whatever was chosen and whenever the search stops. */
	DP_TOTAL_PRIVACY_FILTER,
	/* (epsilon, delta) of everything that a private selection publishes (method select). */
	DP_TOTAL_PRIVACY_SELECTION,
	DP_TOTAL_PRIVACY_UNKNOWN, /* no theorem covers its runs */
};
const char *dp_total_privacy_proof_name(enum dp_total_privacy_proof p);

#define DP_TOTAL_PRIVACY_DEFAULT_DELTA 1e-6 /* if parameters set the delta of each run */

struct dp_total_privacy {
	enum dp_total_privacy_proof proof;
	double epsilon, delta; /* proven; epsilon may be +inf, NaN: unknown */
	double order;          /* of the odometer's reading or of the filter; NaN: none */
	/* With search.budget: the Renyi divergence of all runs at that order, including open ones,
	 * and its limit; else NaN. */
	double renyi_spent, renyi_limit;
	/* Epsilon at `delta` had all parameters been fixed beforehand. NaN: unknown. */
	double epsilon_if_fixed;
	uint64_t started_runs; /* including retries; 0: secret */
	/* The orders and weights were journaled before the first run. False: a study of an older
	 * version, read with default orders, which none of its results has influenced either. */
	bool is_accounting_recorded;
	char unknown_reason[300]; /* set with DP_TOTAL_PRIVACY_UNKNOWN */
};

/* A copy of the started runs, for computation on another thread. */
struct dp_started_runs {
	size_t n;
	double *x;        /* (n x nparams) */
	double *stop_at;  /* (n) path value at the end; NaN: as x says */
	uint32_t *counts; /* (n) runs with these parameters */
	uint64_t total;   /* sum of counts */
	bool is_as_planned;
	bool is_accounting_recorded;
	struct dp_accounting accounting;
	double renyi_spent; /* sum of K at the filter's order */
};
struct dp_started_runs dp_started_runs_collect(const struct dp_study_state *s);
void dp_started_runs_free(struct dp_started_runs *t);

/* A pure function; up to some milliseconds per run. `objective` is a privacy objective. */
DP_MUSTCHECK int dp_total_privacy_compute(const struct dp_study *study,
					  const struct dp_started_runs *t, size_t objective,
					  struct dp_total_privacy *out, struct dp_err *err);
DP_MUSTCHECK int dp_total_privacy_of_study(const struct dp_study_state *s, size_t objective,
					   struct dp_total_privacy *out, struct dp_err *err);
/* {"proof":..,"epsilon":..,"delta":..,"order":..,"if_fixed":..,"trainings":..} */
json_t *dp_total_privacy_json(const struct dp_total_privacy *w);

#endif
