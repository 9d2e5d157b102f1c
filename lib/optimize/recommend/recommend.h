/* recommend.h - settings for a point of the front, whether it was tested or not.
 *
 * Asked for: the best predicted other objective where one output is at most (or, if it is to be
 * large, at least) a value. Like a proposal a pure function of what it is given. */
#ifndef DP_OPTIMIZE_RECOMMEND_RECOMMEND_H
#define DP_OPTIMIZE_RECOMMEND_RECOMMEND_H
#include "optimize/propose/proposer.h"

/* The output, an objective or nobjectives + a constraint, that is held, and where; natural units.
 * Large is good of what is maximised and of a metric that is constrained by >=. */
struct dp_recommend_level {
	size_t output;
	double value;
};
const char *dp_output_name(const struct dp_study *study, size_t output);
bool dp_output_is_maximized(const struct dp_study *study, size_t output);
/* Is it computed from the point, whatever models say? */
bool dp_output_is_computed(const struct dp_study *study, size_t output);

/* What the other objectives y (natural units) are worth to who asks for the level: less is better.
 * Of several others it is the hypervolume that counts, between y and the anti-ideal point. */
double dp_recommend_level_cost(const struct dp_study *study, const struct dp_recommend_level *level,
			       const double *y);

/* How good the model is around a point, by the results nearest to it, each predicted without
 * itself. */
struct dp_model_trust {
	size_t output;       /* whose model it is */
	size_t n_neighbours; /* results that were asked; 0: nothing is modelled */
	double rms_error;    /* how far predictions were off: root mean square, natural
			      * units; noise of the results included */
	double coverage;     /* share of results within their 95 % interval */
	bool is_trusted;
	char reason[160]; /* not, or "" */
};

enum {
	DP_PREDICTED_RUNS = 200 /* the mean of so many is predicted */
};

struct dp_recommendation {
	double x[DP_PARAMS_MAX];           /* as in a proposal, calibrated ones solved */
	double privacy[DP_OBJECTIVES_MAX]; /* computed; NaN: a metric */
	/* Intervals are those of the mean of DP_PREDICTED_RUNS fresh runs. */
	struct dp_prediction predicted[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];
	double feasible_probability; /* probability that the constraints hold */
	size_t nearest_observation;  /* position in the history of the nearest result, */
	double distance;    /* and how far it is: 1 is from corner to corner of the space */
	size_t n_evaluated; /* points that were compared */
	struct dp_model_trust trust;
};

/* After dp_surrogate_fit() with a history whose results before position `own` are another study's.
 * DP_E_LIMIT with the nearest possible value if nothing has the level, DP_E_INTERRUPTED, or what an
 * oracle program said that could not be asked. */
DP_MUSTCHECK int dp_recommend(struct dp_proposer *p, const struct dp_recommend_level *level,
			      size_t own, const atomic_bool *cancel, struct dp_recommendation *out,
			      struct dp_err *err);
/* The predicted mean of DP_PREDICTED_RUNS fresh runs at a point of the history, by the same models:
 * out has one for every objective and constraint. */
void dp_recommend_predict_at(struct dp_proposer *p, const double *x, struct dp_prediction *out);

/* A result beside what the model would have said of it without it. */
struct dp_loo_prediction {
	size_t observation;             /* its position in the history */
	double observed;                /* natural units */
	double observed_in_model;       /* the same in model space */
	struct dp_prediction predicted; /* of a result: its noise is in the interval */
};
/* Of every ok result that the models have seen; out has room for the results of
 * dp_surrogate_get_info(). DP_E_FAILED of an output that is not modelled. */
DP_MUSTCHECK int dp_surrogate_leave_one_out(struct dp_proposer *p, size_t output,
					    struct dp_loo_prediction *out, size_t *count,
					    struct dp_err *err);

#endif
