/* proposer_internal.h - declarations shared by the files of propose and recommend. */
#ifndef DP_OPTIMIZE_PROPOSE_PROPOSER_INTERNAL_H
#define DP_OPTIMIZE_PROPOSE_PROPOSER_INTERNAL_H
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "optimize/gp/gp.h"
#include "optimize/propose/proposer.h"
#include <nlopt.h>

/* ---- encoding.c ---- */

enum dp__input_kind {
	DP__INPUT_FLOAT,
	DP__INPUT_INT,
	DP__INPUT_CATEGORY
};

/* One searched parameter, encoded as u in 0..1. u is logarithmic if the range is positive and wide:
 * warps of the models can then turn it into any power. */
struct dp__input {
	size_t param;
	enum dp__input_kind kind;
	bool is_log;          /* u is logarithmic */
	bool is_log_in_study; /* scale: log in the study file */
	double lo, hi;        /* for categories 0 and count - 1 */
	double log_range;
	double n_values; /* number of values; INFINITY for floats */
	bool is_pinned;  /* fixed parameter of a learning curve; a run ends at `hi` */
};

struct dp__encoding {
	size_t d;
	struct dp__input inputs[DP_PARAMS_MAX];
	double n_points;     /* size of the space; INFINITY with a float */
	size_t n_calibrated; /* calibrated parameters are no inputs */
	size_t calibrated[DP_PARAMS_MAX];
	/* trainer.path: its input, and the checkpoints of the longest run, if any */
	size_t path_input;
	size_t n_checkpoints;
	double checkpoints[DP_CHECKPOINTS_MAX], checkpoints_u[DP_CHECKPOINTS_MAX];
};

void dp__encoding_init(const struct dp_study *study, struct dp__encoding *out);
/* Copies one point from, or to, the column at u of a matrix (d x ldu). */
void dp__encoding_get_column(const struct dp__encoding *s, const double *u, size_t ldu,
			     double *one);
void dp__encoding_set_column(const struct dp__encoding *s, const double *one, double *u,
			     size_t ldu);
/* True if an input of this kind is searched. */
bool dp__encoding_has_kind(const struct dp__encoding *s, enum dp__input_kind kind);
/* x of a proposal has 0 for a fixed parameter of a learning curve (study.h), while models use its
 * real value. pin sets that value, pin_unset only if it is 0, unpin sets 0 again. */
void dp__encoding_pin(const struct dp__encoding *s, double *x);
void dp__encoding_pin_unset(const struct dp__encoding *s, double *x);
void dp__encoding_unpin(const struct dp__encoding *s, double *x);
double dp__input_encode(const struct dp__input *in, double x);
double dp__input_decode(const struct dp__input *in, double u); /* not rounded */
/* Decodes to the nearest point of the space: integers are rounded, ranges kept. x (nparams);
 * calibrated parameters become NaN. */
void dp__encoding_decode(const struct dp__encoding *s, const double *u, double *x);
void dp__encoding_encode(const struct dp__encoding *s, const double *x, double *u);
void dp__encoding_round(const struct dp__encoding *s, double *u);
/* Rounds u; for j > 0, input j - 1 to its second nearest value. False if that is no integer. */
bool dp__encoding_round_variant(const struct dp__encoding *s, const double *u, size_t j,
				double *out);
/* An optimizer on the unit cube. Categories are fixed to those of u, integers too if `held`. */
nlopt_opt dp__encoding_new_climb(const struct dp__encoding *s, nlopt_algorithm algorithm,
				 const double *u, bool held);
typedef double dp__cube_fn(const void *arg, const double *u);
/* Value of input k that minimises fn, with the other inputs as in u: an end of the range, or any
 * category. Returns u[k] if the input has no effect. */
double dp__encoding_min_input(const struct dp__encoding *s, size_t k, dp__cube_fn *fn,
			      const void *arg, double *u, bool *matters);
/* Moves u towards `inside` (NaN: keep that input) until fn is at most `limit`. Categories become
 * those of `inside`. Returns false, with u at `inside`, if fn exceeds the limit even there. */
bool dp__encoding_pull(const struct dp__encoding *s, dp__cube_fn *fn, const void *arg, double limit,
		       int bisections, const double *inside, double *u);
void dp__encoding_to_gp_spec(const struct dp__encoding *s, struct dp_gp_spec *out);
void dp__encoding_nth_point(const struct dp__encoding *s, uint64_t index, double *x);

/* ---- sobol_sequence.c ---- */
/* Coordinate `dim` (0..63) of point `index` of the Sobol' sequence, in (0, 1), Owen-scrambled. */
double dp__sobol_coordinate(uint64_t seed, uint32_t index, unsigned dim);
/* The same, scrambled with the study's random stream. */
double dp__sobol_study_coordinate(const struct dp_study *study, uint32_t index, unsigned dim);

/* ---- objective_transform.c: model space, always to be minimised ---- */

enum dp__distribution {
	DP__DIST_NORMAL,
	DP__DIST_LOGNORMAL,      /* z = log y */
	DP__DIST_LOGNORMAL_MAX,  /* z = -log y, y maximised */
	DP__DIST_LOGITNORMAL,    /* z = logit y */
	DP__DIST_LOGITNORMAL_MAX /* z = -logit y */
};

enum dp__distribution dp__objective_distribution(const struct dp_objective *o);
/* Natural value to model space, clipped where that would be infinite. */
double dp__objective_to_model(const struct dp_objective *o, double y);
double dp__objective_from_model(const struct dp_objective *o, double z); /* natural value */
/* Derivative of dp__objective_to_model() at y, for the delta method. */
double dp__objective_to_model_slope(const struct dp_objective *o, double y);
/* Natural value to a value to minimise: y or -y. */
double dp__objective_to_min(const struct dp_objective *o, double y);
/* Model space to a value to minimise, and the derivative of that. */
double dp__distribution_to_min(enum dp__distribution s, double z);
double dp__distribution_to_min_slope(enum dp__distribution s, double z);
/* Value to minimise to model space. Not clipped: may be infinite. */
double dp__distribution_from_min(enum dp__distribution s, double t);

/* ---- acquisition.c ---- */

/* Predicted distribution of one objective in model space. */
struct dp__normal {
	double mean, sd; /* sd = 0: exact */
};

/* Edges of the boxes in one objective. */
struct dp__box_edges {
	enum dp__distribution distribution;
	size_t n_edges;
	double *values; /* (n_edges) ascending, values to minimise; the last is the reference */
	double *model_values; /* (n_edges) in model space */
};

/* Nodes and weights, normal density included, of integrals over a normal variable. */
enum {
	DP__QUADRATURE_PANELS = 15,
	DP__PANEL_NODES = 6,
	DP__QUADRATURE_POINTS = DP__QUADRATURE_PANELS * DP__PANEL_NODES
};
struct dp__quadrature {
	double x[DP__QUADRATURE_POINTS], w[DP__QUADRATURE_POINTS];
};

struct dp__box_partitioning {
	size_t n_objectives;
	struct dp__box_edges edges[DP_OBJECTIVES_MAX];
	size_t n_boxes;
	int *lower, *upper; /* (n_boxes x p) indexes of edges; lower may be -1: -INFINITY */
	double *work;       /* (3 p x max_edges) */
	size_t max_edges;   /* largest n_edges */
	bool gain_in_model_space;
	struct dp__quadrature quadrature;
};

struct dp__acquisition {
	const char *name;
	bool accounts_for_noise; /* use dp__compute_learnable_sd() for the sd */
	/* Log of the acquisition (-INFINITY for 0) and its derivatives by mean and sd of each
	 * objective (grad: 2 p, may be NULL). */
	double (*log_value)(struct dp__box_partitioning *t, const struct dp__normal *f,
			    double *grad);
};

const struct dp__acquisition *dp__acquisition_get(const struct dp_study *study);
/* Builds the region that the front y (n x p) does not dominate; y and ref are to be minimised. */
void dp__box_partitioning_init(struct dp__box_partitioning *t, size_t p,
			       const enum dp__distribution *shapes, const double *y, size_t n,
			       const double *ref, bool gain_model);
void dp__box_partitioning_free(struct dp__box_partitioning *t);
double dp__std_normal_pdf(double x); /* standard normal */
double dp__std_normal_cdf(double x);

/* ---- the proposer ---- */

enum {
	DP__NOISE_CURVE_POINTS = 33
};

/* Variance of a result's mean in natural units, by the value in model space. */
struct dp__noise_curve {
	bool is_known;
	double lo, step;
	double variance[DP__NOISE_CURVE_POINTS];
};

/* Model of one output: an objective or a constraint's metric. */
struct dp__surrogate_output {
	bool is_exact;  /* computed from the point */
	bool is_costly; /* takes milliseconds: a model replaces it while many points are compared */
	bool is_fitted;
	struct dp_gp gp;
	struct dp_gp_hyper hyper;
	double *y;           /* (n_observed) standardised values */
	double shift, scale; /* model space = shift + scale * standardised */
	double *noise;       /* (n_observed) variances, in units of scale^2 */
	struct dp__noise_curve noise_curve;
	bool is_deterministic;       /* replicates gave identical results */
	struct dp_gp smooth_gp;      /* strongly smoothed values, for the noise model */
	double log_noise_scale_mean; /* mean over the results of the fit */
};

/* A completed fit: the number of its trainings and of their results. */
struct dp__fit_record {
	size_t n_trainings, n_results;
};

/* A point of the smoothed front that a proposal improves on. */
struct dp__front_point {
	double u[DP_PARAMS_MAX];
	size_t observation; /* position in the history */
	size_t model_row;   /* row in the models; SIZE_MAX: none */
	bool is_pending;
};

/* Model of the duration of trainings (search.cost: seconds). */
struct dp__time_model {
	size_t n;
	double *u;         /* (n x d) encoded points */
	double *alpha;     /* (n) weights of their covariances; stored behind u */
	double log_median; /* median of the log seconds */
};

enum {
	DP__CALIBRATION_CACHE_SIZE = 8 /* the finalists of a proposal, and the chosen point */
};

/* Ring of points whose calibrated parameters were computed. */
struct dp__calibration_cache {
	double x[DP__CALIBRATION_CACHE_SIZE][DP_PARAMS_MAX];
	size_t n;
};

struct dp_proposer {
	const struct dp_study *study;
	const struct dp_history *history; /* set during a call */
	struct dp__encoding encoding;
	struct dp_gp_spec spec;
	struct dp_accounting_cache *accountants;
	struct dp_err *accountant_error;                 /* first one in this call; code 0: none */
	struct dp__calibration_cache *calibration_cache; /* NULL: no calibrated parameters */
	struct dp_renyi_cache *renyi_cache;              /* NULL without search.budget */
	size_t n_outputs;                                /* objectives, then constraints */
	struct dp__surrogate_output output[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	uint32_t trial;                   /* of the current proposal */
	struct dp__time_model time_model; /* fitted to the history of this call */

	/* state of the models */
	struct dp_observation *observed; /* (n_observed) results in the order of the history */
	struct dp_gp_noise_group *noise_group; /* (n_observed) */
	size_t n_observed, observed_capacity;
	size_t n_fitted;           /* results that the hyperparameters are fitted to; 0: none */
	size_t n_fitted_trainings; /* trainings of these results */
	/* (n_fits) completed fits, oldest first, and (n_fits x n_outputs) their hyperparameters */
	struct dp__fit_record *fits;
	struct dp_gp_hyper *fit_hypers;
	size_t n_fits, fits_capacity;
	double *u; /* (d x ldu) */
	size_t ldu;

	/* state of one proposal */
	struct dp__box_partitioning partitioning;
	bool has_partitioning;
	struct dp__front_point *posterior_front; /* (n_front) */
	size_t n_front;
	double *work; /* (work_capacity) for predictions */
	size_t work_capacity;
	double *curve_work; /* (curve_work_capacity) for curve gradients */
	size_t curve_work_capacity;
	bool ignores_cost; /* of the current proposal, like `note` */
	char *note;
};

/* ---- exact_objectives.c ---- */

/* dp_space_solve_calibrated() with a cache of the last few points. */
int dp__proposer_calibrate(const struct dp_proposer *p, double *x, struct dp_err *err);
/* True if the output is computed, given the history of this call. */
bool dp__objective_is_exact(const struct dp_proposer *p, size_t output);
/* True if that is too slow for comparing many points. */
bool dp__objective_is_costly(const struct dp_proposer *p, size_t output);
bool dp__proposer_has_costly(const struct dp_proposer *p);
/* Value in model space of an exact objective at x; NaN if its accountant rejects the point or
 * fails. A failure sets p->accountant_error and disables external accountants. */
double dp__exact_objective_value(const struct dp_proposer *p, size_t objective, const double *x);
/* Evaluates a function such as dp__exact_objective_value() at u with its gradient by u. Between
 * whole numbers it is interpolated linearly. */
typedef double dp__point_fn(const struct dp_proposer *p, size_t objective, const double *x);
double dp__point_fn_gradient(const struct dp_proposer *p, dp__point_fn *value, size_t objective,
			     const double *u, double *gradient);

/* ---- noise_model.c ---- */

/* Learns an output's noise from the first n results. fit: the results in the likelihood. around (n)
 * becomes the smoothed value of each result in model space. */
DP_MUSTCHECK int dp__noise_model_fit(struct dp_proposer *p, size_t output,
				     const struct dp_gp_data *fit, size_t n, double *around);
/* Smoothed value for a later result at u with value z (NaN: pending). */
double dp__noise_smoothed_value(const struct dp_proposer *p, size_t output, const double *u,
				double z);
/* Variance of a result with smoothed value `around`, in units of scale^2 (k NULL: of a future
 * result). NaN: not measured by runs, must be learned. */
double dp__noise_measured_variance(const struct dp_proposer *p, size_t output,
				   const struct dp_observation *k, double around);
/* Known variance that a noisy release adds; 0: none. */
double dp__noise_release_variance(const struct dp_proposer *p, size_t output, double around);
/* Log of the factor by which the transform multiplies a variance. */
double dp__noise_log_scale(const struct dp_proposer *p, size_t output, double around);
/* dp__noise_measured_variance(), or the learned noise where that is NaN. */
double dp__noise_variance(const struct dp_proposer *p, size_t output,
			  const struct dp_observation *k, double around);
/* True if the output can be treated as deterministic. */
bool dp__noise_is_negligible(const struct dp_proposer *p, size_t output);

/* ---- surrogate.c ---- */

/* Updates the models to the history. DP_E_FAILED: too few results. */
DP_MUSTCHECK int dp__surrogate_update(struct dp_proposer *p, const struct dp_history *h,
				      const atomic_bool *cancel);
/* True if the output needs a Gaussian process. */
bool dp__output_is_modelled(const struct dp__surrogate_output *out);
/* Posterior mean at result i in model space: the value minus its residual. */
double dp__surrogate_posterior_mean(const struct dp_proposer *p, size_t output, size_t i);
size_t
dp__surrogate_count_trainings(const struct dp_proposer *p); /* number with results in the models */
bool dp__observation_is_informative(const struct dp_observation *k); /* ok or diverged */
/* True if the models use it, as a result or pending. They skip checkpoints of later trainings. */
bool dp__observation_is_modelled(const struct dp_proposer *p, const struct dp_observation *k);
/* Bound of a constraint, or an objective's reference value, in model space. */
double dp__output_bound(const struct dp_study *s, size_t output);

/* ---- surrogate_predict.c ---- */

/* Log acquisition minus log cost at m points u (d x ldu, of the space). f (m x nobjectives) and
 * feas (m) may be NULL. exactly: evaluate expensive accountants, too. */
void dp__acquisition_eval(struct dp_proposer *p, const double *u, size_t ldu, size_t m,
			  bool exactly, double *logacq, struct dp__normal *f, double *feas);
/* The same at one point, not necessarily rounded, with the gradient. Needs
 * dp__predict_reserve(). */
double dp__acquisition_gradient(struct dp_proposer *p, const double *u, double *gradient);
/* Mean and sd of one modelled output at u, with gradients (d each). */
struct dp__normal dp__output_predict_gradient(struct dp_proposer *p, size_t output, const double *u,
					      double *dm, double *ds);
void dp__predict_reserve(struct dp_proposer *p, size_t m);
/* Mean and (with_sd) sd of every output in model space at m points: f (m x n_outputs). next (same
 * size, or NULL): covariance with the following point. */
void dp__predict_outputs(struct dp_proposer *p, const double *u, size_t ldu, size_t m, bool with_sd,
			 bool exactly, struct dp__normal *f, double *next);
/* Converts a prediction to natural units, with its 95 % interval. */
struct dp_prediction dp__predict_to_natural(const struct dp_study *s, size_t output,
					    const struct dp__normal *f);
/* Mean of one modelled output in model space at one point. Needs dp__predict_reserve(). */
double dp__predict_mean(struct dp_proposer *p, size_t output, const double *u);
/* Log probability that the constraints hold, and its derivatives by mean and sd of their outputs
 * (may be NULL; other entries are not set). */
double dp__log_feasibility(const struct dp_proposer *p, const struct dp__normal *f, double *by_m,
			   double *by_s);
/* The part of an objective's sd that one more noisy result would resolve, with derivatives. */
struct dp__learnable_sd {
	double sd, by_mean, by_sd;
};
struct dp__learnable_sd dp__compute_learnable_sd(const struct dp_proposer *p, size_t objective,
						 const struct dp__normal *f);

/* ---- curve_acquisition.c ---- */

bool dp__has_learning_curve(const struct dp_proposer *p);
/* Log acquisition minus log cost of m training runs u (d x ldu, of the space) with all their
 * checkpoints: score (m). choose: stop each run where the score is best and set u's path row to
 * that. f (m x nobjectives, may be NULL): predictions at the stops. */
void dp__curve_acq_eval(struct dp_proposer *p, double *u, size_t ldu, size_t m, bool exactly,
			bool choose, double *score, struct dp__normal *f);
/* The same for one run, as dp__acquisition_gradient(). Needs dp__curve_acq_reserve(). */
double dp__curve_acq_gradient(struct dp_proposer *p, const double *u, double *gradient);
void dp__curve_acq_reserve(struct dp_proposer *p);
/* The maximum of two normal variables with correlation rho, approximated by a normal variable with
 * the same moments; derivatives by both means, both sds, and rho. */
struct dp__normal_max {
	struct dp__normal normal;
	double mean_by[5], sd_by[5];
};
struct dp__normal_max dp__normal_max_moments(const struct dp__normal *a, const struct dp__normal *b,
					     double rho);

/* ---- cost_model.c ---- */

/* Learns the cost of training runs from the history where it must be learned. */
void dp__cost_model_fit(struct dp_proposer *p, const struct dp_history *h);
/* Log cost of a training run at u, not necessarily rounded; 0 without search.cost. Subtracts its
 * gradient from gradient (d, may be NULL), as a score is a log acquisition minus this. */
double dp__cost_log_at(struct dp_proposer *p, const double *u, double *gradient);
/* True if the next trial is chosen regardless of cost. Gain per cost alone postpones an expensive
 * run as long as a cheap one promises a little, and would never see where long runs lead. So half
 * of the total cost may go to runs that cost at least half as much as the most expensive one. */
bool dp__cost_is_ignored_next(struct dp_proposer *p, const struct dp_history *h);
/* Sets the cost of the proposal and of all pending runs. */
void dp__cost_fill_proposal(struct dp_proposer *p, const struct dp_history *h,
			    struct dp_proposal *out);

/* ---- proposal_budget.c ---- */

/* True if search.budget applies to this call. */
bool dp__budget_is_set(const struct dp_proposer *p);
/* Log Renyi cost of a training run at u, and its gradient (unless NULL). */
double dp__budget_log_cost(const struct dp_proposer *p, const double *u, double *gradient);
/* Renyi cost of one training run at x; INFINITY: no bound. Requires a budget. */
double dp__budget_renyi_cost(const struct dp_proposer *p, const double *x);
/* True if a training run at x fits the remaining budget, or without a budget. */
bool dp__budget_can_afford(const struct dp_proposer *p, const double *x);
/* Moves u towards the cheapest point until a training run costs at most `most`. Returns false if
 * even the cheapest point costs more. */
bool dp__budget_move_to_affordable(const struct dp_proposer *p, double most, double *u);
/* Share of the remaining budget for a training run of the initial design. */
double dp__budget_initial_share(const struct dp_proposer *p, uint32_t trial);

/* ---- posterior_front.c ---- */

/* Computes the smoothed front and the region beyond it. */
void dp__posterior_region_update(struct dp_proposer *p);

/* ---- replicate.c ---- */
/* True if a front point should be replicated: x (nparams). Needs dp__posterior_region_update(). */
bool dp__propose_replicate(const struct dp_proposer *p, double *x);

/* ---- acquisition_optimizer.c ---- */
/* Finds the unproposed point with the largest acquisition. */
DP_MUSTCHECK int dp__acquisition_maximize(struct dp_proposer *p, uint32_t trial,
					  const atomic_bool *cancel, struct dp_proposal *out);
bool dp__point_is_proposed(const struct dp_proposer *p, const double *x);
/* True if two points agree in every searched parameter. */
bool dp__points_are_equal(const struct dp_proposer *p, const double *a, const double *b);

#endif
