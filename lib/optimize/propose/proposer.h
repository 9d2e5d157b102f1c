/* proposer.h - ask: which point comes next.
 *
 * A proposal is a pure function of what it is given: no clock, no address, no thread count, no I/O.
 * The daemon journals it before anything is done with it. */
#ifndef DP_OPTIMIZE_PROPOSE_PROPOSER_H
#define DP_OPTIMIZE_PROPOSE_PROPOSER_H
#include "base/base.h"
#include "study/accounting.h"
#include "study/study.h"
#include <stdatomic.h>

/* ---- what is known ---- */

enum dp_observation_status {
	DP_OBSERVATION_OK,
	DP_OBSERVATION_DIVERGED, /* a utility was not finite; the privacy objective may be */
	DP_OBSERVATION_FAILED,   /* tells nothing, but is not proposed again */
	DP_OBSERVATION_PENDING,  /* proposed and not ended */
};

/* A trial's own result or pending point, or that of a waypoint of its training. Natural units, NaN
 * where unknown. */
struct dp_observation {
	uint32_t trial;
	enum dp_observation_status status;
	double checkpoint;       /* trainer.path's value there; 0: the trial's own */
	double seconds;          /* that a trial's own took; 0: unknown */
	double x[DP_PARAMS_MAX]; /* see study.h; trainer.path's parameter has its value
				  * here, even if it is fixed */
	double y[DP_OBJECTIVES_MAX];
	double var[DP_OBJECTIVES_MAX];      /* variance of the mean of the runs; NaN: one
					     * run only */
	double metrics[DP_CONSTRAINTS_MAX]; /* mean of each constraint's metric */
};

/* Does a result meet the study's constraints? Not one of which that is unknown. */
bool dp_observation_is_feasible(const struct dp_study *study, const struct dp_observation *k);

/* Trials in an order that a resumed study comes to again: by number, those that were taken over
 * from another study (initial_from) first. */
struct dp_history {
	const struct dp_observation *observations;
	size_t n;
	/* Optional: objectives (bits) whose value is this function of the point instead of a
	 * model's, for benchmarks. Natural units; must be pure. */
	unsigned exact_objectives;
	double (*exact_fn)(void *arg, size_t objective, const double *x);
	void *exact_arg;
	/* search.budget: the filter's order (0: there is none), and the largest K of one training
	 * that still fits. */
	double budget_order, budget_remaining;
	/* Who asks the study's oracle programs; NULL: nobody, or there are none. */
	const struct dp_external_callback *external_accountants;
};

/* ---- asking ---- */

struct dp_prediction {
	double value;      /* median (of what is transformed) or mean */
	double lo, hi;     /* 95 % interval of the noise-free value */
	double model_mean; /* in model space: after the transform, to be minimised */
	double model_sd;   /* likewise; 0: computed exactly */
};

struct dp_proposal {
	/* see study.h; calibrated parameters are NaN if no noise keeps their epsilon, and
	 * dp_space_solve_calibrated() then says so */
	double x[DP_PARAMS_MAX];
	const char *source;  /* how it was found; static text */
	char note[160];      /* what went wrong on the way, or "" */
	bool has_prediction; /* the rest is there: */
	struct dp_prediction predicted[DP_OBJECTIVES_MAX];
	double feasible_probability; /* probability that the constraints hold */
	double acquisition;          /* in the acquisition's own units, by search.cost's unit */
	/* always there: what the training costs in search.cost's unit, and what all pending ones do
	 * together; NaN: that is not counted, or nothing is known of it yet */
	double cost, pending_cost;
};

/* Is there a proposer for the study's method? DP_OK, or a sentence why not. */
DP_MUSTCHECK int dp_propose_check_method(const struct dp_study *study, struct dp_err *err);
/* How many trials the method can offer at most: a grid ends, and so does a space of whole numbers
 * and categories (UINT64_MAX: no end). */
uint64_t dp_propose_max_trials(const struct dp_study *study);
/* Keeps its models from one call to the next and extends them by what is new. Answers are those of
 * a new proposer, bit for bit: hyperparameters are fitted when the number of results reaches the
 * next of a fixed sequence, on that many first results and from the fit before; where the history
 * given differs from the last one, it is fitted again. The study must outlive it; one thread at a
 * time. */
struct dp_proposer;
struct dp_proposer *dp_proposer_new(const struct dp_study *study);
void dp_proposer_free(struct dp_proposer *p);
/* The point of this trial. DP_E_LIMIT with the reason if every point has been proposed,
 * DP_E_INTERRUPTED if *cancel (may be NULL) became true, and the error of an external accountant
 * that failed. */
DP_MUSTCHECK int dp_proposer_propose(struct dp_proposer *p, const struct dp_history *h,
				     uint32_t trial, const atomic_bool *cancel,
				     struct dp_proposal *out, struct dp_err *err);

/* ---- the models, for reports ---- */

/* Fits the models to a history; DP_E_FAILED if there is too little to fit. Valid until the
 * proposer's next use. */
DP_MUSTCHECK int dp_surrogate_fit(struct dp_proposer *p, const struct dp_history *h,
				  const atomic_bool *cancel, struct dp_err *err);
/* After dp_surrogate_fit(): predictions at m points x (m x nparams): `out` (m x nobjectives),
 * probability of meeting the constraints (m) and acquisition (m), each may be NULL. Where the
 * accountant takes milliseconds it is the prediction of its model. */
void dp_surrogate_predict(struct dp_proposer *p, const double *x, size_t m,
			  struct dp_prediction *out, double *feasible, double *acquisition);
/* The front of the posterior means at the feasible ok results. index: positions in h, y: (returned
 * x nobjectives) natural units; both have room for h->n rows. h is the history of the fit, or that
 * with some of its ok results marked diverged: these are left out. */
size_t dp_surrogate_posterior_front(struct dp_proposer *p, const struct dp_history *h,
				    size_t *index, double *y);
/* What the fit chose, as text for a report: length scale and scale of each input. */
struct dp_surrogate_info {
	size_t n_results;            /* known results in the model */
	size_t n_fitted;             /* of which so many chose the hyperparameters */
	const double *length, *warp; /* (inputs) */
	double signal, noise, jitter;
	double prior_sd; /* sd in model space where no result tells anything */
	bool is_exact;
};
DP_MUSTCHECK int dp_surrogate_get_info(const struct dp_proposer *p, size_t objective,
				       struct dp_surrogate_info *out);

#endif
