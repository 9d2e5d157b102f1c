/* gp.h - Gaussian process regression with a length scale per input.
 *
 * Model: y(u) = mean + f(u) + noise, f with covariance
 *   signal * ((1 - additive) k(r) + additive / d * sum_k k(r_k)), where
 *   r_k = (w_k(u_k) - w_k(u'_k)) / length_k, r^2 = sum_k r_k^2,
 * w_k is a warp of input k and k() the Matern 5/2 correlation (kernel.c). Inputs lie in the unit
 * cube; input k of point i is u[k * ldu + i] ("one row an input"), so that loops over points are
 * contiguous. Outputs should be standardised by the caller.
 *
 * Warp: w(u) = (exp(c u) - 1) / (exp(c) - 1), the identity for c = 0. Where u is the logarithm of a
 * positive parameter scaled to 0..1, c = 0 is the log scale and c = log(hi/lo) the linear one, so
 * the likelihood chooses between the two and all powers in between. A categorical input counts 1
 * where two values differ.
 *
 * Rasmussen & Williams, "Gaussian Processes for Machine Learning" (2006), ch. 2, 5. */
#ifndef DP_OPTIMIZE_GP_GP_H
#define DP_OPTIMIZE_GP_GP_H
#include "base/base.h"
#include <stdatomic.h>

enum {
	DP_GP_INPUTS_MAX = 64
};

struct dp_gp_input {
	bool categorical;
	double warp_prior_mean;  /* prior mean of c */
	double warp_alternative; /* where one of the starts puts it */
	double warp_sd;          /* 0: c is fixed at `warp` */
	double warp_lo, warp_hi; /* bounds of c */
};

struct dp_gp_spec {
	size_t d;
	struct dp_gp_input input[DP_GP_INPUTS_MAX];
};

/* What the likelihood is maximised over. */
struct dp_gp_hyper {
	double length[DP_GP_INPUTS_MAX];
	double warp[DP_GP_INPUTS_MAX];
	double signal;         /* variance of f */
	double noise;          /* variance for points without one of their own, */
	double noise_exponent; /* times exp(lean * how far the point's noise leans) */
	double additive_share; /* share of the signal that is a sum over inputs, 0 to 1 */
};

/* Whose noise a point has: that of one training is shared along its path. */
struct dp_gp_noise_group {
	uint32_t training;
	double position; /* the place on its path, above 0 */
};

/* Training data of a fit. noise[i]: the variance of y[i], NaN: learned; lean[i], with mean 0: in
 * what proportion the learned one may vary (NULL: it does not). run[i]: whose noise it is (NULL:
 * all are independent). known[i]: the part of a learned variance that is known beforehand (NULL:
 * none). */
struct dp_gp_data {
	const double *u; /* (d x ldu) */
	size_t ldu, n;
	const double *y, *noise, *log_noise_scale;
	const struct dp_gp_noise_group *noise_group;
	const double *known_noise;
};

/* Where a fit without history starts. */
enum dp_gp_fit_start {
	DP_GP_START_PRIOR_MEAN,    /* of the prior */
	DP_GP_START_ALT_WARPS,     /* the inputs' other scales */
	DP_GP_START_SHORT_LENGTHS, /* short lengths and some noise */
	DP_GP_START_ADDITIVE       /* a sum over inputs that changes rapidly with each */
};
void dp_gp_init_hyper(const struct dp_gp_spec *spec, enum dp_gp_fit_start from,
		      struct dp_gp_hyper *h);

/* How long a fit searches. */
struct dp_gp_fit_options {
	int max_evaluations;       /* of the posterior, at most */
	const atomic_bool *cancel; /* NULL: nobody will */
	bool has_rival;            /* another start has reached `rival`: this one is */
	double rival_value;        /* dropped once it is clear that it stays behind */
};

/* Maximum a posteriori from *h as the start. *value is what was reached. DP_E_FAILED if no finite
 * posterior was met (*h is untouched), DP_E_INTERRUPTED if *cancel became true. */
DP_MUSTCHECK int dp_gp_fit(const struct dp_gp_spec *spec, const struct dp_gp_data *data,
			   const struct dp_gp_fit_options *effort, struct dp_gp_hyper *h,
			   double *value);

/* A model conditioned on points. Grows by a point in O(n^2). */
struct dp_gp {
	struct dp_gp_spec spec;
	struct dp_gp_hyper hyper;
	size_t n, capacity;                    /* points, and rows allocated */
	double *z;                             /* (3 d x room) the points as the kernel sees them */
	double *chol;                          /* (room x room) Cholesky factor */
	double *alpha;                         /* (room) */
	double *l_inv_ones;                    /* (room) L^-1 1 */
	double *work;                          /* (4 room) */
	double *noise;                         /* (room) variances */
	struct dp_gp_noise_group *noise_group; /* (room) */
	bool has_correlated_noise;             /* noise is, by run */
	double mean;
	double jitter; /* added to the diagonal by the factorisation */
};

/* Conditions on the data's inputs (outputs come with dp_gp_set_outputs()); room for `room`
 * points. */
DP_MUSTCHECK int dp_gp_build(struct dp_gp *gp, const struct dp_gp_spec *spec,
			     const struct dp_gp_hyper *h, const struct dp_gp_data *data,
			     size_t room);
void dp_gp_free(struct dp_gp *gp);
/* Adds one input point u (d); noise as in dp_gp_data, and so is run if the data of the build had
 * one (else it is ignored). */
void dp_gp_append_point(struct dp_gp *gp, const double *u, double noise,
			const struct dp_gp_noise_group *run);
/* Forgets all points but the first n. */
void dp_gp_truncate(struct dp_gp *gp, size_t n);
/* Sets the outputs of the first n points. Later points keep the value the model predicts for them:
 * they lower the variance and leave the mean ("Kriging believer"). */
void dp_gp_set_outputs(struct dp_gp *gp, const double *y, size_t n);
/* How far the output of point i is from the posterior mean there: what noise took. */
double dp_gp_residual(const struct dp_gp *gp, size_t i);
/* Of each point, all of which were observed (two at least): its output less what the model would
 * predict for it had it not seen it, with the same hyperparameters; and the variance of that, the
 * output's own noise included. missed, variance: (n). */
DP_MUSTCHECK int dp_gp_leave_one_out(const struct dp_gp *gp, double *missed, double *variance);

/* Mean and variance (unless NULL: much cheaper) of f at m points u (d x ldu). work:
 * dp_gp_predict_workspace(gp, m). */
size_t dp_gp_predict_workspace(const struct dp_gp *gp, size_t m);
void dp_gp_predict(const struct dp_gp *gp, const double *u, size_t ldu, size_t m, double *mean,
		   double *var, double *work);
/* The same of m points in a row, each with its covariance with the next: next (m), of the last
 * 0. */
void dp_gp_predict_sequence(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			    double *mean, double *var, double *next, double *work);
/* At one point, with derivatives by u (0 for categorical inputs). */
void dp_gp_predict_gradient(const struct dp_gp *gp, const double *u, double *mean, double *var,
			    double *dmean, double *dvar, double *work);

/* What a model says of m points in a row that differ in one input only, with derivatives. By that
 * input, `along`, they are those of a move of the last point alone, by all others of a move of the
 * whole row. */
struct dp_gp_sequence {
	double *mean, *var, *cov_next;    /* (m) as dp_gp_predict_sequence() */
	double *dmean, *dvar, *dcov_next; /* (m x d) */
};
/* work: dp_gp_sequence_workspace(gp, m) */
size_t dp_gp_sequence_workspace(const struct dp_gp *gp, size_t m);
void dp_gp_sequence_gradient(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			     size_t along, const struct dp_gp_sequence *out, double *work);

#endif
