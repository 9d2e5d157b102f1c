/* recommend_internal.h - shared by the files that look for a recommendation. */
#ifndef DP_RECOMMEND_INTERNAL_H
#define DP_RECOMMEND_INTERNAL_H
#include "propose/propose_internal.h"
#include "propose/recommend.h"

enum {
	DP__OUTPUTS_MAX = DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX
};

/* What is looked for: the least of the aims within the limits. All in model space, where
 * less is better. A modelled value counts as its mean plus `doubt` standard deviations:
 * where little is known the least mean is the most mistaken one. */
struct dp__question {
	struct dp_proposer *p;
	const atomic_bool *cancel;
	size_t naims, aim[DP_OBJECTIVES_MAX]; /* outputs; several: objectives */
	double gap[DP_OBJECTIVES_MAX];        /* of each aim: what is little, natural units */
	size_t nlimits;
	struct dp__limit {
		size_t output;
		double most;
	} limit[DP__OUTPUTS_MAX];
	double doubt;
	bool exactly;                        /* costly oracles are asked, too */
	size_t held;                         /* the output that was asked for, */
	double most;                         /* and its limit, one of those above */
	bool computed;                       /* it is computed from the point, */
	bool tunes;                          /* and there is noise to reach the limit with */
	double near;                         /* so close is reached */
	size_t ntuned, tuned[DP_PARAMS_MAX]; /* inputs that do it, the best first */
	bool has_low;
	double low[DP_PARAMS_MAX]; /* the point where that value is least; NaN: the input
				    * has no say */
	size_t evaluated;          /* points so far */
};

/* How a point answers it. */
struct dp__standing {
	double u[DP_PARAMS_MAX];
	double score;  /* of the aims: less is better */
	double beyond; /* the limits, in standard deviations of the outputs; 0: within */
	bool reached;  /* what is tuned, where it is */
};
bool dp__stands_before(const struct dp__standing *a, const struct dp__standing *b);

/* A result, and how far it is from something. */
struct dp__away {
	double away;
	size_t result;
};

/* ---- question.c ---- */

/* For qsort(): the nearest first, of equally near ones the oldest. */
int dp__compare_away(const void *a, const void *b);

/* Is the output asked of its oracle rather than of its model? */
bool dp__asks_oracle(const struct dp__question *q, size_t output);
/* Value of one output at u, the mean if it is modelled; +inf where there is none. Needs
 * dp__model_room(). */
double dp__question_value(const struct dp__question *q, size_t output, const double *u);
/* Judges m points u (d x ldu) of the space. */
DP_MUSTCHECK int dp__question_judge(struct dp__question *q, const double *u, size_t ldu, size_t m,
				    struct dp__standing *out);
/* Score and, for each limit, how far it is exceeded (beyond, nlimits) at a point that may
 * lie between whole numbers, with derivatives by u: d and nlimits x d. */
double dp__question_slope(struct dp__question *q, const double *u, double *by_u, double *beyond,
			  double *beyond_by_u);

/* ---- tune.c ---- */

/* Finds the inputs that tune what is held. */
void dp__tune_prepare(struct dp__question *q);
/* Moves u, a point of the space, to where the held output reaches its limit, or as close
 * below it as it can be; pulls it towards where the value is least if noise alone is not
 * enough. Does nothing unless q->computed. */
void dp__tune(struct dp__question *q, double *u);

/* ---- recommend_search.c ---- */

/* The best point; one beyond the limits if none is within. */
DP_MUSTCHECK int dp__question_search(struct dp__question *q, struct dp__standing *best);

/* ---- left_out.c ---- */

/* What the results around u say of the model of trust->output. */
DP_MUSTCHECK int dp__trust_around(struct dp_proposer *p, const double *u, struct dp_trust *trust);

#endif
