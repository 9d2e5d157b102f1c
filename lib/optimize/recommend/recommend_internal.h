/* recommend_internal.h - shared by the files that look for a recommendation. */
#ifndef DP_OPTIMIZE_RECOMMEND_RECOMMEND_INTERNAL_H
#define DP_OPTIMIZE_RECOMMEND_RECOMMEND_INTERNAL_H
#include "optimize/propose/proposer_internal.h"
#include "optimize/recommend/recommend.h"

enum {
	DP__OUTPUTS_MAX = DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX
};

/* What is looked for: the least of the aims within the limits. All in model space, where less is
 * better. A modelled value counts as its mean plus `doubt` standard deviations: where little is
 * known the least mean is the most mistaken one. */
struct dp__query {
	struct dp_proposer *p;
	const atomic_bool *cancel;
	size_t n_aims, aims[DP_OBJECTIVES_MAX];  /* outputs; several: objectives */
	double aim_tolerance[DP_OBJECTIVES_MAX]; /* of each aim: what is little, natural units */
	size_t n_limits;
	struct dp__limit {
		size_t output;
		double max;
	} limits[DP__OUTPUTS_MAX];
	double sd_penalty;
	bool use_exact;         /* costly accountants are asked, too */
	size_t held_output;     /* the output that was asked for, */
	double held_max;        /* and its limit, one of those above */
	bool is_computed;       /* it is computed from the point, */
	bool can_calibrate;     /* and there is noise to reach the limit with */
	double reach_tolerance; /* so close is reached */
	size_t n_calibration_inputs,
		calibration_inputs[DP_PARAMS_MAX]; /* inputs that do it, the best first */
	bool has_min_point;
	double min_point[DP_PARAMS_MAX]; /* the point where that value is least; NaN: the input
					  * has no say */
	size_t n_evaluated;              /* points so far */
};

/* How a point answers it. */
struct dp__scored_point {
	double u[DP_PARAMS_MAX];
	double score;       /* of the aims: less is better */
	double violation;   /* the limits, in standard deviations of the outputs; 0: within */
	bool reaches_level; /* what is tuned, where it is */
};
bool dp__scored_point_is_better(const struct dp__scored_point *a, const struct dp__scored_point *b);

/* A result, and how far it is from something. */
struct dp__result_distance {
	double distance;
	size_t result;
};

/* ---- level_query.c ---- */

/* For qsort(): the nearest first, of equally near ones the oldest. */
int dp__compare_result_distance(const void *a, const void *b);

/* Is the output computed by its accountant rather than predicted by its model? */
bool dp__query_uses_accountant(const struct dp__query *q, size_t output);
/* Value of one output at u, the mean if it is modelled; +inf where there is none. Needs
 * dp__predict_reserve(). */
double dp__query_output_value(const struct dp__query *q, size_t output, const double *u);
/* Scores m points u (d x ldu) of the space. */
void dp__query_score_points(struct dp__query *q, const double *u, size_t ldu, size_t m,
			    struct dp__scored_point *out);
/* Score and, for each limit, how far it is exceeded (beyond, nlimits) at a point that may lie
 * between whole numbers, with derivatives by u: d and nlimits x d. */
double dp__query_gradient(struct dp__query *q, const double *u, double *by_u, double *beyond,
			  double *beyond_by_u);

/* ---- level_calibration.c ---- */

/* Finds the inputs that tune what is held. */
void dp__calibrate_choose_inputs(struct dp__query *q);
/* Moves u, a point of the space, to where the held output reaches its limit, or as close below it
 * as it can be; pulls it towards where the value is least if noise alone is not enough. Does
 * nothing unless q->computed. */
void dp__calibrate_to_level(struct dp__query *q, double *u);

/* ---- recommend_search.c ---- */

/* The best point; one beyond the limits if none is within. */
DP_MUSTCHECK int dp__query_search(struct dp__query *q, struct dp__scored_point *best);

/* ---- loo_diagnostics.c ---- */

/* What the results around u say of the model of trust->output. */
DP_MUSTCHECK int dp__model_trust_at(struct dp_proposer *p, const double *u,
				    struct dp_model_trust *trust);

#endif
