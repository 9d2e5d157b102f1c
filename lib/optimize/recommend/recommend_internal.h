/* recommend_internal.h - declarations shared by the files that search for a recommendation. */
#ifndef DP_OPTIMIZE_RECOMMEND_RECOMMEND_INTERNAL_H
#define DP_OPTIMIZE_RECOMMEND_RECOMMEND_INTERNAL_H
#include "optimize/propose/proposer_internal.h"
#include "optimize/recommend/recommend.h"

enum {
	DP__OUTPUTS_MAX = DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX
};

/* A query: minimise the aims within the limits. All values are in model space, where less is
 * better. A modelled value counts as its mean plus sd_penalty standard deviations: where little is
 * known, the least mean tends to be the most wrong. */
struct dp__query {
	struct dp_proposer *p;
	const atomic_bool *cancel;
	size_t n_aims, aims[DP_OBJECTIVES_MAX];  /* outputs; if several, all are objectives */
	double aim_tolerance[DP_OBJECTIVES_MAX]; /* per aim, natural units */
	size_t n_limits;
	struct dp__limit {
		size_t output;
		double max;
	} limits[DP__OUTPUTS_MAX];
	double sd_penalty;
	bool use_exact;         /* evaluate expensive accountants, too */
	size_t held_output;     /* the output of the query */
	double held_max;        /* its limit, also in limits[] */
	bool is_computed;       /* the held output is computed from the point */
	bool can_calibrate;     /* and there are inputs to calibrate it with */
	double reach_tolerance; /* closer than this counts as reached */
	size_t n_calibration_inputs,
		calibration_inputs[DP_PARAMS_MAX]; /* inputs to calibrate, best first */
	bool has_min_point;
	double min_point[DP_PARAMS_MAX]; /* of the held output; NaN: no effect */
	size_t n_evaluated;              /* points */
};

struct dp__scored_point {
	double u[DP_PARAMS_MAX];
	double score;     /* combined cost of the aims: less is better */
	double violation; /* excess over limits, in standard deviations of the outputs; 0: within */
	bool reaches_level; /* of the held output; true if nothing can be calibrated */
};
bool dp__scored_point_is_better(const struct dp__scored_point *a, const struct dp__scored_point *b);

struct dp__result_distance {
	double distance;
	size_t result;
};

/* ---- level_query.c ---- */

/* For qsort(): nearest first, ties oldest first. */
int dp__compare_result_distance(const void *a, const void *b);

/* True if the output comes from its accountant rather than its model. */
bool dp__query_uses_accountant(const struct dp__query *q, size_t output);
/* Value of an output at u, the mean if modelled; INFINITY if none. Needs dp__predict_reserve(). */
double dp__query_output_value(const struct dp__query *q, size_t output, const double *u);
/* Scores m points u (d x ldu). */
void dp__query_score_points(struct dp__query *q, const double *u, size_t ldu, size_t m,
			    struct dp__scored_point *out);
/* Score at u, which may lie between whole numbers, with its gradient by_u (d); beyond (nlimits):
 * excess over each limit, with gradients beyond_by_u (nlimits x d). */
double dp__query_gradient(struct dp__query *q, const double *u, double *by_u, double *beyond,
			  double *beyond_by_u);

/* ---- level_calibration.c ---- */

/* Chooses the inputs that calibrate the held output. */
void dp__calibrate_choose_inputs(struct dp__query *q);
/* Moves u to where the held output reaches its limit, or as close below it as possible; towards its
 * least value if noise alone is not enough. Does nothing unless q->is_computed. */
void dp__calibrate_to_level(struct dp__query *q, double *u);

/* ---- recommend_search.c ---- */

/* Finds the best point, or the one that exceeds the limits least if none is within. */
DP_MUSTCHECK int dp__query_search(struct dp__query *q, struct dp__scored_point *best);

/* ---- loo_diagnostics.c ---- */

/* Judges the model of trust->output by the results around u. */
DP_MUSTCHECK int dp__model_trust_at(struct dp_proposer *p, const double *u,
				    struct dp_model_trust *trust);

#endif
