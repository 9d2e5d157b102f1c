/* recommend.h - recommends settings for a point of the front, tested or not.
 *
 * A query fixes a limit for one output: at most a value, or at least a value if large is good. The
 * answer is the point with the best predicted other objectives within that limit. Like a proposal,
 * it is a pure function of its arguments. */
#ifndef DP_OPTIMIZE_RECOMMEND_RECOMMEND_H
#define DP_OPTIMIZE_RECOMMEND_RECOMMEND_H
#include "optimize/propose/proposer.h"

/* The output that the query limits (an objective, or nobjectives + a constraint) and the limit in
 * natural units. Large is good for a maximised objective and for a metric constrained by >=. */
struct dp_recommend_level {
	size_t output;
	double value;
};
const char *dp_output_name(const struct dp_study *study, size_t output);
bool dp_output_is_maximized(const struct dp_study *study, size_t output);
/* True if an accountant computes the output, even if a model stands in for it elsewhere. */
bool dp_output_is_computed(const struct dp_study *study, size_t output);

/* Cost of the other objectives y (natural units) of a point that meets the level: less is better.
 * For several, minus the log hypervolume between y and the reference point (`anti_ideal`). */
double dp_recommend_level_cost(const struct dp_study *study, const struct dp_recommend_level *level,
			       const double *y);

/* Quality of a model around a point, by leave-one-out predictions of the nearest results. */
struct dp_model_trust {
	size_t output;       /* the model that is judged */
	size_t n_neighbours; /* results used; 0: no model is involved */
	double rms_error;    /* root mean square error, natural units, with noise */
	double coverage;     /* share of results within their 95 % interval */
	bool is_trusted;
	char reason[160]; /* why not; "" if trusted */
};

enum {
	DP_PREDICTED_RUNS = 200 /* predictions are for the mean of this many runs */
};

struct dp_recommendation {
	double x[DP_PARAMS_MAX];           /* as in a proposal, with calibrated parameters set */
	double privacy[DP_OBJECTIVES_MAX]; /* exact epsilon; NaN for a metric */
	/* Intervals are for the mean of DP_PREDICTED_RUNS fresh runs. */
	struct dp_prediction predicted[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double feasible_probability; /* probability that the constraints hold */
	size_t nearest_observation;  /* position in the history of the nearest result */
	double distance;             /* its distance: 1 is from corner to corner of the space */
	size_t n_evaluated;          /* points compared */
	struct dp_model_trust trust;
};

/* Answers a query. Needs dp_surrogate_fit(); results before position `own` of its history belong to
 * other studies. Fails with DP_E_LIMIT and the nearest possible value if no point meets the level,
 * with DP_E_INTERRUPTED, or with the error of an external accountant. */
DP_MUSTCHECK int dp_recommend(struct dp_proposer *p, const struct dp_recommend_level *level,
			      size_t own, const atomic_bool *cancel, struct dp_recommendation *out,
			      struct dp_err *err);
/* Predicts the mean of DP_PREDICTED_RUNS fresh runs at a point of the history with the same models.
 * out has one entry per objective and constraint. */
void dp_recommend_predict_at(struct dp_proposer *p, const double *x, struct dp_prediction *out);

/* A result and its leave-one-out prediction. */
struct dp_loo_prediction {
	size_t observation;             /* position in the history */
	double observed;                /* natural units */
	double observed_in_model;       /* the same in model space */
	struct dp_prediction predicted; /* of a single result, noise included */
};
/* Leave-one-out predictions of every ok result in the fit. `out` has room for the results of
 * dp_surrogate_get_info(). DP_E_FAILED if the output has no model. */
DP_MUSTCHECK int dp_surrogate_leave_one_out(struct dp_proposer *p, size_t output,
					    struct dp_loo_prediction *out, size_t *count,
					    struct dp_err *err);

#endif
