/* proposer.h - the interface of the search: proposes the next point and reports its models.
 *
 * A proposal is a pure function of its arguments: no clock, no addresses, no thread count, no I/O.
 * The daemon journals a proposal before it acts on it. */
#ifndef DP_OPTIMIZE_PROPOSE_PROPOSER_H
#define DP_OPTIMIZE_PROPOSE_PROPOSER_H
#include "base/base.h"
#include "study/accounting.h"
#include "study/study.h"
#include <stdatomic.h>

/* ---- observations ---- */

enum dp_observation_status {
	DP_OBSERVATION_OK,
	DP_OBSERVATION_DIVERGED, /* a utility was not finite; epsilon may still be known */
	DP_OBSERVATION_FAILED,   /* carries no information, but is not proposed again */
	DP_OBSERVATION_PENDING,  /* proposed, not yet finished */
};

/* A trial's own result or pending point, or a checkpoint of it. Natural units; NaN if unknown. */
struct dp_observation {
	uint32_t trial;
	enum dp_observation_status status;
	double checkpoint;       /* value of trainer.path's parameter; 0: the trial's own result */
	double seconds;          /* duration of the trial; 0: unknown */
	double x[DP_PARAMS_MAX]; /* see study.h; trainer.path's parameter is always set */
	double y[DP_OBJECTIVES_MAX];
	double var[DP_OBJECTIVES_MAX];      /* variance of the mean of the runs; NaN with one run */
	double metrics[DP_CONSTRAINTS_MAX]; /* mean of each constraint's metric */
};

/* True if a result meets the study's constraints. An unknown metric does not. */
bool dp_observation_is_feasible(const struct dp_study *study, const struct dp_observation *k);

/* Observations in an order that a resumed study reproduces: another study's, then by trial
 * number. */
struct dp_history {
	const struct dp_observation *observations;
	size_t n;
	/* Optional, for benchmarks: objectives (as bits) that this pure function computes in
	 * natural units instead of a model. */
	unsigned exact_objectives;
	double (*exact_fn)(void *arg, size_t objective, const double *x);
	void *exact_arg;
	/* search.budget: the order of the privacy filter (0: no budget), and the largest Renyi cost
	 * of one training run that still fits. */
	double budget_order, budget_remaining;
	/* evaluates external accountants; NULL if there are none */
	const struct dp_external_callback *external_accountants;
};

/* ---- proposals ---- */

struct dp_prediction {
	double value;      /* median (of a transformed objective) or mean */
	double lo, hi;     /* 95 % interval of the smoothed value */
	double model_mean; /* in model space: transformed, to be minimised */
	double model_sd;   /* in model space; 0: computed exactly */
};

struct dp_proposal {
	/* See study.h. Calibrated parameters are NaN if no noise keeps their epsilon;
	 * dp_space_solve_calibrated() then reports why. */
	double x[DP_PARAMS_MAX];
	const char *source;  /* method that found it; static text */
	char note[160];      /* problem on the way, or "" */
	bool has_prediction; /* the fields from here to `acquisition` are set */
	struct dp_prediction predicted[DP_OBJECTIVES_MAX];
	double feasible_probability; /* probability that the constraints hold */
	double acquisition;          /* per unit of search.cost */
	/* Always set: cost of the training run in units of search.cost, and of all pending runs.
	 * NaN: cost is not used or not yet known. */
	double cost, pending_cost;
};

/* DP_OK if there is a proposer for the study's method, otherwise an error that says why not. */
DP_MUSTCHECK int dp_propose_check_method(const struct dp_study *study, struct dp_err *err);
/* Maximum number of trials that the method can propose. A grid is finite, and so is a space of
 * integers and categories; UINT64_MAX: unlimited. */
uint64_t dp_propose_max_trials(const struct dp_study *study);
/* A proposer keeps its models between calls and extends them by new results. Proposals equal those
 * of a new proposer bit for bit: hyperparameters are fitted at a fixed sequence of result counts,
 * each time on that many first results and from the previous fit, and are fitted again if the
 * history has changed. The study must outlive the proposer. Not thread-safe. */
struct dp_proposer;
struct dp_proposer *dp_proposer_new(const struct dp_study *study);
void dp_proposer_free(struct dp_proposer *p);
/* Proposes the point of a trial. DP_E_LIMIT with the reason if every point has been proposed,
 * DP_E_INTERRUPTED if *cancel (may be NULL) became true, or the error of an external accountant. */
DP_MUSTCHECK int dp_proposer_propose(struct dp_proposer *p, const struct dp_history *h,
				     uint32_t trial, const atomic_bool *cancel,
				     struct dp_proposal *out, struct dp_err *err);

/* ---- models, for reports ---- */

/* Fits the models, valid until the next use of the proposer. DP_E_FAILED: too few results. */
DP_MUSTCHECK int dp_surrogate_fit(struct dp_proposer *p, const struct dp_history *h,
				  const atomic_bool *cancel, struct dp_err *err);
/* Predictions at m points x (m x nparams): out (m x nobjectives), probability of meeting the
 * constraints (m), acquisition (m); each may be NULL. An expensive accountant is modelled. */
void dp_surrogate_predict(struct dp_proposer *p, const double *x, size_t m,
			  struct dp_prediction *out, double *feasible, double *acquisition);
/* Smoothed front: the front of the posterior means at the feasible ok results. index: positions in
 * h, y: (returned count x nobjectives) in natural units; both have room for h->n rows. h is the
 * history of the fit; results that the caller marked as diverged since are left out. */
size_t dp_surrogate_posterior_front(struct dp_proposer *p, const struct dp_history *h,
				    size_t *index, double *y);
/* Hyperparameters of an objective's model, for reports. */
struct dp_surrogate_info {
	size_t n_results;            /* results in the model */
	size_t n_fitted;             /* results that chose the hyperparameters */
	const double *length, *warp; /* (inputs) */
	double signal, noise, jitter;
	double prior_sd; /* sd in model space far from all results */
	bool is_exact;
};
DP_MUSTCHECK int dp_surrogate_get_info(const struct dp_proposer *p, size_t objective,
				       struct dp_surrogate_info *out);

#endif
