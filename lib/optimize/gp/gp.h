/* gp.h - Gaussian process regression with one length scale per input.
 *
 * Model: y(u) = mean + f(u) + noise. The covariance of f is
 *   signal * ((1 - additive) k(r) + additive / d * sum_k k(r_k)), where
 *   r_k = (w_k(u_k) - w_k(u'_k)) / length_k, r^2 = sum_k r_k^2.
 * w_k is the warp of input k, k() the Matern 5/2 correlation (kernel.c). Inputs lie in the unit
 * cube. Input k of point i is u[k * ldu + i] (one row per input), so that loops over points are
 * contiguous. The caller should standardise the outputs.
 *
 * Warp: w(u) = (exp(c u) - 1) / (exp(c) - 1), the identity for c = 0. If u is the logarithm of a
 * positive parameter scaled to 0..1, c = 0 is the log scale and c = log(hi/lo) the linear scale:
 * the likelihood chooses between the two and all powers in between. Two different values of a
 * categorical input are at distance 1 before division by the length.
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
	double warp_alternative; /* c of DP_GP_START_ALT_WARPS */
	double warp_sd;          /* 0: c is fixed at `warp` */
	double warp_lo, warp_hi; /* bounds of c */
};

struct dp_gp_spec {
	size_t d;
	struct dp_gp_input input[DP_GP_INPUTS_MAX];
};

/* Hyperparameters: the variables of the maximum a posteriori fit. */
struct dp_gp_hyper {
	double length[DP_GP_INPUTS_MAX];
	double warp[DP_GP_INPUTS_MAX];
	double signal;         /* variance of f */
	double noise;          /* variance of points without a known one, times */
	double noise_exponent; /* exp(noise_exponent * log_noise_scale[i]) */
	double additive_share; /* share of the additive part in the signal, 0 to 1 */
};

/* Points of one training run have correlated noise (see max_correlation in kernel.c). */
struct dp_gp_noise_group {
	uint32_t training;
	double position; /* position on the learning curve, above 0 */
};

/* Training data of a fit. All but u and y belong to the noise:
 *   noise[i]            variance of y[i]; NaN: learned
 *   log_noise_scale[i]  scales a learned variance, with mean 0; NULL: constant
 *   noise_group[i]      training run of point i; NULL: all noise is independent
 *   known_noise[i]      known part of a learned variance; NULL: 0 */
struct dp_gp_data {
	const double *u; /* (d x ldu) */
	size_t ldu, n;
	const double *y, *noise, *log_noise_scale;
	const struct dp_gp_noise_group *noise_group;
	const double *known_noise;
};

/* Start of a fit that has no earlier hyperparameters. */
enum dp_gp_fit_start {
	DP_GP_START_PRIOR_MEAN,    /* prior means */
	DP_GP_START_ALT_WARPS,     /* alternative warps of the inputs */
	DP_GP_START_SHORT_LENGTHS, /* short lengths, more noise */
	DP_GP_START_ADDITIVE       /* mostly additive, short lengths */
};
void dp_gp_init_hyper(const struct dp_gp_spec *spec, enum dp_gp_fit_start from,
		      struct dp_gp_hyper *h);

/* Limits of a fit. */
struct dp_gp_fit_options {
	int max_evaluations;       /* evaluations of the log posterior */
	const atomic_bool *cancel; /* NULL: cannot be cancelled */
	bool has_rival;            /* another start reached `rival_value`: stop once this */
	double rival_value;        /* one is clearly worse */
};

/* Maximum a posteriori fit from the start *h; *value is the log posterior reached. DP_E_FAILED if
 * no finite posterior was met (*h is unchanged), DP_E_INTERRUPTED if *cancel became true. */
DP_MUSTCHECK int dp_gp_fit(const struct dp_gp_spec *spec, const struct dp_gp_data *data,
			   const struct dp_gp_fit_options *effort, struct dp_gp_hyper *h,
			   double *value);

/* A model conditioned on points. Appending a point takes O(n^2). */
struct dp_gp {
	struct dp_gp_spec spec;
	struct dp_gp_hyper hyper;
	size_t n, capacity; /* points, and rows allocated */
	double *z;          /* (3 d x capacity) encoded points: dp__gp_encode_point() */
	double *chol;       /* (capacity x capacity) Cholesky factor L */
	double *alpha;      /* (capacity) K^-1 (y - mean) */
	double *l_inv_ones; /* (capacity) L^-1 1 */
	double *work;       /* (4 capacity) */
	double *noise;      /* (capacity) variances */
	struct dp_gp_noise_group *noise_group; /* (capacity) */
	bool has_correlated_noise;             /* noise is correlated within a group */
	double mean;
	double jitter; /* added to the diagonal by the factorisation */
};

/* Conditions on the inputs of `data`, with room for `room` points. dp_gp_set_outputs() must
 * follow. */
DP_MUSTCHECK int dp_gp_build(struct dp_gp *gp, const struct dp_gp_spec *spec,
			     const struct dp_gp_hyper *h, const struct dp_gp_data *data,
			     size_t room);
void dp_gp_free(struct dp_gp *gp);
/* Appends the input point u (d). noise as in dp_gp_data; run is ignored without noise groups. */
void dp_gp_append_point(struct dp_gp *gp, const double *u, double noise,
			const struct dp_gp_noise_group *run);
/* Drops all points but the first n. */
void dp_gp_truncate(struct dp_gp *gp, size_t n);
/* Sets the outputs of the first n points. Later points take the model's prediction as output: they
 * lower the variance and leave the mean unchanged ("Kriging believer"). */
void dp_gp_set_outputs(struct dp_gp *gp, const double *y, size_t n);
/* Output of point i minus the posterior mean there: the estimated noise. */
double dp_gp_residual(const struct dp_gp *gp, size_t i);
/* Leave-one-out residuals with the same hyperparameters: missed[i] is output i minus its prediction
 * without point i, variance[i] its variance, output noise included. At least two observed
 * points. */
DP_MUSTCHECK int dp_gp_leave_one_out(const struct dp_gp *gp, double *missed, double *variance);

/* Posterior mean and variance of f at m points u (d x ldu). var may be NULL, which is much cheaper.
 * work: dp_gp_predict_workspace(gp, m) doubles. */
size_t dp_gp_predict_workspace(const struct dp_gp *gp, size_t m);
void dp_gp_predict(const struct dp_gp *gp, const double *u, size_t ldu, size_t m, double *mean,
		   double *var, double *work);
/* dp_gp_predict() for a sequence; next[i] is the posterior covariance of points i and i + 1, or
 * 0. */
void dp_gp_predict_sequence(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			    double *mean, double *var, double *next, double *work);
/* Prediction at one point with its gradient by u (0 for categorical inputs). */
void dp_gp_predict_gradient(const struct dp_gp *gp, const double *u, double *mean, double *var,
			    double *dmean, double *dvar, double *work);

/* Predictions with gradients at m points that differ in one input only. Derivatives by that input,
 * `along`, are for a move of the last point alone; by other inputs, for a move of all points. */
struct dp_gp_sequence {
	double *mean, *var, *cov_next;    /* (m) as in dp_gp_predict_sequence() */
	double *dmean, *dvar, *dcov_next; /* (m x d) */
};
/* work: dp_gp_sequence_workspace(gp, m) doubles. */
size_t dp_gp_sequence_workspace(const struct dp_gp *gp, size_t m);
void dp_gp_sequence_gradient(const struct dp_gp *gp, const double *u, size_t ldu, size_t m,
			     size_t along, const struct dp_gp_sequence *out, double *work);

#endif
