/* proposer_internal.h - shared by the files of lib/optimize/propose and recommend. */
#ifndef DP_OPTIMIZE_PROPOSE_PROPOSER_INTERNAL_H
#define DP_OPTIMIZE_PROPOSE_PROPOSER_INTERNAL_H
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "optimize/gp/gp.h"
#include "optimize/propose/proposer.h"
#include <nlopt.h>

/* ---- encoding.c: points of the study as points of the unit cube ---- */

enum dp__input_kind {
	DP__INPUT_FLOAT,
	DP__INPUT_INT,
	DP__INPUT_CATEGORY
};

/* One free parameter. Its place u in 0..1 is on the logarithm where the range is positive and wide:
 * the models' warps can then turn it into any power. */
struct dp__input {
	size_t param;
	enum dp__input_kind kind;
	bool is_log;          /* place on the logarithm */
	bool is_log_in_study; /* scale: log in the file */
	double lo, hi;        /* for categories 0 and count - 1 */
	double log_range;
	double n_values; /* number of different values that are searched; inf for floats */
	bool is_pinned;  /* a fixed parameter that trainings walk up: always hi in the end */
};

struct dp__encoding {
	size_t d;
	struct dp__input inputs[DP_PARAMS_MAX];
	double n_points;     /* in the whole space; inf with a float */
	size_t n_calibrated; /* calibrated parameters, which are no inputs */
	size_t calibrated[DP_PARAMS_MAX];
	/* trainer.path: the input that a training walks up and its waypoints on the way to the
	 * largest value; no waypoints: there is no path */
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
/* Is there an input of this kind to be searched? */
bool dp__encoding_has_kind(const struct dp__encoding *s, enum dp__input_kind kind);
/* Gives a fixed parameter that trainings walk up the value that models know it by (x of a proposal,
 * study.h, has 0 there), and takes it away again. */
void dp__encoding_pin(const struct dp__encoding *s, double *x);
void dp__encoding_pin_unset(const struct dp__encoding *s, double *x); /* unless it has one */
void dp__encoding_unpin(const struct dp__encoding *s, double *x);
double dp__input_encode(const struct dp__input *in, double x);
double dp__input_decode(const struct dp__input *in, double u); /* not rounded */
/* The nearest point of the space: whole numbers rounded, ranges kept. x (nparams); calibrated
 * parameters are NaN. */
void dp__encoding_decode(const struct dp__encoding *s, const double *u, double *x);
void dp__encoding_encode(const struct dp__encoding *s, const double *x, double *u);
/* Puts u on a point of the space. */
void dp__encoding_round(const struct dp__encoding *s, double *u);
/* u rounded to a point of the space, and for j > 0 input j - 1 to its second nearest value. False
 * where that input is no integer. */
bool dp__encoding_round_variant(const struct dp__encoding *s, const double *u, size_t j,
				double *out);
/* An optimizer on the unit cube; categories stay as in u, and (held) integers, too. */
nlopt_opt dp__encoding_new_climb(const struct dp__encoding *s, nlopt_algorithm algorithm,
				 const double *u, bool held);
/* A function of a point of the cube. */
typedef double dp__cube_fn(const void *arg, const double *u);
/* Where input k, with the others as in u, makes fn least: an end, or any of the categories; u[k]
 * where it does not matter. */
double dp__encoding_min_input(const struct dp__encoding *s, size_t k, dp__cube_fn *fn,
			      const void *arg, double *u, bool *matters);
/* Pulls u towards `inside` (NaN: that input stays) until fn is at most `limit`, and no further.
 * False, with u at `inside`, if fn is more even there. Categories are those of `inside`. */
bool dp__encoding_pull(const struct dp__encoding *s, dp__cube_fn *fn, const void *arg, double limit,
		       int bisections, const double *inside, double *u);
void dp__encoding_to_gp_spec(const struct dp__encoding *s, struct dp_gp_spec *out);
/* The index-th point of a finite space. */
void dp__encoding_nth_point(const struct dp__encoding *s, uint64_t index, double *x);

/* ---- sobol_sequence.c ---- */
/* Coordinate `dim` (0..63) of point `index` of the Sobol sequence, scrambled by Owen's method with
 * a hash keyed by the seed; in (0, 1). */
double dp__sobol_coordinate(uint64_t seed, uint32_t index, unsigned dim);
/* The same, scrambled as the study's other draws are. */
double dp__sobol_study_coordinate(const struct dp_study *study, uint32_t index, unsigned dim);

/* ---- objective_transform.c: objectives as the models see them, always to be minimised ---- */

enum dp__distribution {
	DP__DIST_NORMAL,
	DP__DIST_LOGNORMAL,      /* z = log y */
	DP__DIST_LOGNORMAL_MAX,  /* z = -log y, y maximised */
	DP__DIST_LOGITNORMAL,    /* z = logit y */
	DP__DIST_LOGITNORMAL_MAX /* z = -logit y */
};

enum dp__distribution dp__objective_distribution(const struct dp_objective *o);
/* Model space of a natural value, clipped where it would be infinite. */
double dp__objective_to_model(const struct dp_objective *o, double y);
double dp__objective_from_model(const struct dp_objective *o, double z); /* natural value */
/* d forward / d y at y, for the delta method */
double dp__objective_to_model_slope(const struct dp_objective *o, double y);
/* Natural value as something to minimise: y or -y. */
double dp__objective_to_min(const struct dp_objective *o, double y);
/* From model space to that, and its slope. */
double dp__distribution_to_min(enum dp__distribution s, double z);
double dp__distribution_to_min_slope(enum dp__distribution s, double z);
/* The place in model space of a value to minimise, not clipped: may be infinite. */
double dp__distribution_from_min(enum dp__distribution s, double t);

/* ---- acquisition.c ---- */

/* Predicted distribution of one objective in model space. */
struct dp__normal {
	double mean, sd; /* s = 0: exact */
};

/* One objective's sides of the cells. */
struct dp__box_edges {
	enum dp__distribution distribution;
	size_t n_edges;
	double *values;       /* (n) ascending; values to minimise; the last is the reference */
	double *model_values; /* (n) in model space */
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

struct dp__acq_region {
	size_t n_objectives;
	struct dp__box_edges edges[DP_OBJECTIVES_MAX];
	size_t n_boxes;
	int *lower, *upper; /* (ncells x p) indexes in side.t; lower may be -1: -inf */
	double *work;       /* workspace */
	size_t max_edges;   /* largest side.n */
	bool gain_in_model_space;
	struct dp__quadrature quadrature;
};

struct dp__acquisition {
	const char *name;
	bool accounts_for_noise; /* an sd is what one noisy result could tell (else all of it) */
	/* Log of the acquisition and its derivatives by mean and sd of each objective (grad: 2 p,
	 * may be NULL). -inf where it is 0. */
	double (*log_value)(struct dp__acq_region *t, const struct dp__normal *f, double *grad);
};

const struct dp__acquisition *dp__acquisition_get(const struct dp_study *study);
/* Front y (n x p) and reference, values to minimise. */
void dp__acq_region_init(struct dp__acq_region *t, size_t p, const enum dp__distribution *shapes,
			 const double *y, size_t n, const double *ref, bool gain_model);
void dp__acq_region_free(struct dp__acq_region *t);
double dp__std_normal_pdf(double x); /* standard normal density and distribution */
double dp__std_normal_cdf(double x);

/* ---- what a proposer keeps ---- */

enum {
	DP__NOISE_CURVE_POINTS = 33
};

/* Variance of a result's mean in natural units as a function of the value. */
struct dp__noise_curve {
	bool is_known;
	double lo, step; /* model space */
	double variance[DP__NOISE_CURVE_POINTS];
};

/* One modelled quantity: an objective or a constraint's metric. */
struct dp__surrogate_output {
	bool is_exact;  /* a function of the point, known without an error */
	bool is_costly; /* that function takes milliseconds: a model stands in for it
			 * while many points are compared */
	bool is_fitted;
	struct dp_gp gp;
	struct dp_gp_hyper hyper;
	double *y;           /* (nseen) standardised values */
	double shift, scale; /* model space = shift + scale * standardised */
	double *noise;       /* (nseen) variance of each, in units of scale^2 */
	struct dp__noise_curve noise_curve;
	bool is_deterministic;       /* a point measured again gave the same bits */
	struct dp_gp smooth_gp;      /* what the values are around, as far as the fit goes */
	double log_noise_scale_mean; /* of dp__noise_log_scale() over the results of the fit */
};

/* A fit that was made: of the first so many trainings, which are so many results. */
struct dp__fit_record {
	size_t n_trainings, n_results;
};

/* A point of the front that a proposal improves on. */
struct dp__front_point {
	double u[DP_PARAMS_MAX];
	size_t observation; /* its position in the history */
	size_t model_row;   /* and among what models have seen; SIZE_MAX: it is not there */
	bool is_pending;
};

/* What is known of the time that trainings take. */
struct dp__time_model {
	size_t n;
	double *u;         /* (n x d) where they were */
	double *alpha;     /* (n) weights of the covariances with them; behind u */
	double log_median; /* the median of log seconds */
};

enum {
	DP__CALIBRATION_CACHE_SIZE =
		8 /* of one proposal: the finalists, and the one that was chosen */
};

/* Points whose calibrated parameters were solved for, the newest in place of the oldest. */
struct dp__calibration_cache {
	double x[DP__CALIBRATION_CACHE_SIZE][DP_PARAMS_MAX];
	size_t n;
};

struct dp_proposer {
	const struct dp_study *study;
	const struct dp_history *history; /* during a call */
	struct dp__encoding encoding;
	struct dp_gp_spec spec;
	struct dp_accounting_cache *accountants;
	struct dp_err *accountant_error; /* during a proposal: why a program could not be
					  * asked; code 0: it could */
	struct dp__calibration_cache
		*calibration_cache; /* by dp__proposer_calibrate(); NULL: nothing is calibrated */
	struct dp_renyi_cache *renyi_cache; /* NULL without search.budget */
	size_t n_outputs;                   /* objectives, then constraints */
	struct dp__surrogate_output output[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	uint32_t trial;                   /* that a point is wanted for */
	struct dp__time_model time_model; /* by dp__cost_model_fit(), of the history of this call */

	/* what the models hold */
	struct dp_observation *observed; /* (nseen) results in the order of the history, those of
					  * dp__observation_is_modelled() */
	struct dp_gp_noise_group *noise_group; /* (nseen) whose noise each has */
	size_t n_observed, observed_capacity;
	size_t n_fitted;           /* hyperparameters belong to the first so many; 0: none */
	size_t n_fitted_trainings; /* which are of so many trainings */
	/* (nfits) fits before this one, and itself, oldest first; (nfits x noutputs) their
	 * hyperparameters */
	struct dp__fit_record *fits;
	struct dp_gp_hyper *fit_hypers;
	size_t n_fits, fits_capacity;
	double *u; /* (d x ldu) */
	size_t ldu;

	/* made for one proposal */
	struct dp__acq_region acq_region;
	bool has_acq_region;
	struct dp__front_point *posterior_front; /* (nfront) */
	size_t n_front;
	double *work; /* (work_room) for predictions */
	size_t work_capacity;
	double *curve_work; /* (curve_workspace_size) for those of a path with slopes */
	size_t curve_work_capacity;
	bool ignores_cost; /* of the proposal being made, and its note: */
	char *note;
};

/* ---- exact_objectives.c: objectives that are computed from the point ---- */

/* As dp_space_solve_calibrated(), with a cache of the last few points. */
int dp__proposer_calibrate(const struct dp_proposer *p, double *x, struct dp_err *err);
/* Is the objective (or other output) computed, given the history of this call? */
bool dp__objective_is_exact(const struct dp_proposer *p, size_t output);
/* Does it take so long that a model stands in while many points are compared? */
bool dp__objective_is_costly(const struct dp_proposer *p, size_t output);
bool dp__proposer_has_costly(const struct dp_proposer *p); /* any of them? */
/* Value in model space of an exact objective at x; NaN if its accountant refuses the point or
 * fails: then p->accountant_error says so, and no external one is asked any more. */
double dp__exact_objective_value(const struct dp_proposer *p, size_t objective, const double *x);
/* A function of the point and an objective, such as that, at u, with the gradient by u. It may know
 * whole numbers only: between them it is taken as linear, with the slope from one whole number to
 * the next. */
typedef double dp__point_fn(const struct dp_proposer *p, size_t objective, const double *x);
double dp__point_fn_gradient(const struct dp_proposer *p, dp__point_fn *value, size_t objective,
			     const double *u, double *gradient);

/* ---- noise_model.c ---- */

/* Learns from the first n results what is known of an output's noise; fit: those that the
 * likelihood sees. around (n) gets where each value is, in model space. */
DP_MUSTCHECK int dp__noise_model_fit(struct dp_proposer *p, size_t output,
				     const struct dp_gp_data *fit, size_t n, double *around);
/* The same place for a later result at u with value z (NaN: not there yet). */
double dp__noise_smoothed_value(const struct dp_proposer *p, size_t output, const double *u,
				double z);
/* Variance of a result around a place, in units of scale^2 (k NULL: of one that is expected there);
 * NaN: runs do not tell, to be learned. */
double dp__noise_measured_variance(const struct dp_proposer *p, size_t output,
				   const struct dp_observation *k, double around);
/* The part of it that was added to a released metric, and is known; 0: none. */
double dp__noise_release_variance(const struct dp_proposer *p, size_t output, double around);
/* Log of how a transform multiplies a variance at a place. */
double dp__noise_log_scale(const struct dp_proposer *p, size_t output, double around);
/* As dp__noise_measured_variance(), with the fit's noise where runs do not tell. */
double dp__noise_variance(const struct dp_proposer *p, size_t output,
			  const struct dp_observation *k, double around);
/* Is the output as good as without noise? */
bool dp__noise_is_negligible(const struct dp_proposer *p, size_t output);

/* ---- surrogate.c ---- */

/* Brings the models up to the history. DP_E_FAILED: too little is known. */
DP_MUSTCHECK int dp__surrogate_update(struct dp_proposer *p, const struct dp_history *h,
				      const atomic_bool *cancel);
/* Does the output need a Gaussian process? */
bool dp__output_is_modelled(const struct dp__surrogate_output *out);
/* The posterior mean at result i: what the noise took away is N alpha. */
double dp__surrogate_posterior_mean(const struct dp_proposer *p, size_t output, size_t i);
size_t dp__surrogate_count_trainings(const struct dp_proposer *p); /* whose results models have */
bool dp__observation_has_result(
	const struct dp_observation *k); /* is there something to learn from? */
/* Do models take it, as a result or as pending? Of the paths of later trainings they take some
 * waypoints only. */
bool dp__observation_is_modelled(const struct dp_proposer *p, const struct dp_observation *k);
/* The bound of a constraint, or an objective's anti-ideal, in model space. */
double dp__output_bound(const struct dp_study *s, size_t output);

/* ---- surrogate_predict.c ---- */

/* Log acquisition, for what a training costs, at m points u (d x ldu, on the space's grid); f: (m x
 * p), feas (m), may be NULL. exactly: costly oracles are asked too. */
void dp__acquisition_eval(struct dp_proposer *p, const double *u, size_t ldu, size_t m,
			  bool exactly, double *logacq, struct dp__normal *f, double *feas);
/* At one point that may lie between whole numbers, with the gradient by u. Needs the workspace of
 * dp__predict_reserve(). */
double dp__acquisition_gradient(struct dp_proposer *p, const double *u, double *gradient);
/* Mean and sd of one modelled output there, with derivatives (d each). */
struct dp__normal dp__output_predict_gradient(struct dp_proposer *p, size_t output, const double *u,
					      double *dm, double *ds);
void dp__predict_reserve(struct dp_proposer *p, size_t m);
/* Mean and (with_sd) sd in model space of every output at m points: f (m x noutputs); next
 * (likewise, or NULL): the covariance with the point that comes next. */
void dp__predict_outputs(struct dp_proposer *p, const double *u, size_t ldu, size_t m, bool with_sd,
			 bool exactly, struct dp__normal *f, double *next);
/* A prediction of an output in natural units, with its 95 % interval. */
struct dp_prediction dp__predict_to_natural(const struct dp_study *s, size_t output,
					    const struct dp__normal *f);
/* Mean of one modelled output in model space at one point. Needs dp__predict_reserve(). */
double dp__predict_mean(struct dp_proposer *p, size_t output, const double *u);
/* Log probability that the constraints hold, and (unless NULL) its derivatives by mean and sd of
 * their outputs, which are set. */
double dp__log_feasibility(const struct dp_proposer *p, const struct dp__normal *f, double *by_m,
			   double *by_s);
/* What is left of an objective's sd when noise is reckoned with, and its derivatives. */
struct dp__learnable_sd {
	double sd, by_mean, by_sd;
};
struct dp__learnable_sd dp__compute_learnable_sd(const struct dp_proposer *p, size_t objective,
						 const struct dp__normal *f);

/* ---- curve_acquisition.c ---- */

/* Is a training of the study a path? */
bool dp__has_learning_curve(const struct dp_proposer *p);
/* Log acquisition of m trainings u (d x ldu, on the space's grid) with all checkpoints, over their
 * cost: score (m). choose: each stops where that is best, and u's path row gets that place. f (m x
 * p, may be NULL): predictions at the stops. */
void dp__curve_acq_eval(struct dp_proposer *p, double *u, size_t ldu, size_t m, bool exactly,
			bool choose, double *score, struct dp__normal *f);
/* At one training, as dp__acquisition_gradient(). Needs the workspace of
 * dp__curve_acq_reserve(). */
double dp__curve_acq_gradient(struct dp_proposer *p, const double *u, double *gradient);
void dp__curve_acq_reserve(struct dp_proposer *p);
/* The larger of two normal variables with correlation rho as a normal variable with its moments,
 * and their derivatives by both means, both sds, and rho. */
struct dp__normal_max {
	struct dp__normal normal;
	double mean_by[5], sd_by[5];
};
struct dp__normal_max dp__normal_max_moments(const struct dp__normal *a, const struct dp__normal *b,
					     double rho);

/* ---- cost_model.c ---- */

/* Learns what trainings cost from the history, as far as it is to be learned. */
void dp__cost_model_fit(struct dp_proposer *p, const struct dp_history *h);
/* Log of what a training at u costs, 0 if nothing counts; u may lie between whole numbers. Adds
 * minus its derivatives by u to gradient (d), which may be NULL: a gain for what it costs is a log
 * acquisition minus this. */
double dp__cost_log_at(struct dp_proposer *p, const double *u, double *gradient);
/* Is the next trial chosen by its gain, whatever it costs? By gain over cost alone an expensive
 * training is put off as long as a cheap one promises a little, so that a search would never see
 * where long trainings lead: half of what is spent may go to trainings that cost at least half as
 * much as the most expensive one. */
bool dp__cost_is_ignored_next(struct dp_proposer *p, const struct dp_history *h);
/* Sets what the proposal and all that is pending cost. */
void dp__cost_fill_proposal(struct dp_proposer *p, const struct dp_history *h,
			    struct dp_proposal *out);

/* ---- proposal_budget.c: search.budget ---- */

/* Is there a budget to be kept in this call? */
bool dp__budget_is_set(const struct dp_proposer *p);
/* Log of K of a training at u, and (unless NULL) its derivatives by u, which are set. */
double dp__budget_log_cost(const struct dp_proposer *p, const double *u, double *gradient);
/* K of one training at x; +inf if there is no bound. Only with a budget. */
double dp__budget_renyi_cost(const struct dp_proposer *p, const double *x);
/* Does a training at x fit what is left? Always without a budget. */
bool dp__budget_can_afford(const struct dp_proposer *p, const double *x);
/* Moves u, a point of the space, towards the cheapest one until a training there costs at most
 * `most`; false: not even that one does. */
bool dp__budget_move_to_affordable(const struct dp_proposer *p, double most, double *u);
/* What a training of the initial design may take of what is left. */
double dp__budget_initial_share(const struct dp_proposer *p, uint32_t trial);

/* ---- posterior_front.c ---- */

/* Front and cells from the models. */
void dp__posterior_region_update(struct dp_proposer *p);

/* ---- replicate.c ---- */
/* Is a point of the front to be measured once more? x (nparams) gets it. Needs
 * dp__posterior_region_update(). */
bool dp__propose_replicate(const struct dp_proposer *p, double *x);

/* ---- acquisition_optimizer.c ---- */
/* The best point that is not taken yet, by acquisition. */
DP_MUSTCHECK int dp__acquisition_maximize(struct dp_proposer *p, uint32_t trial,
					  const atomic_bool *cancel, struct dp_proposal *out);
bool dp__point_is_proposed(const struct dp_proposer *p, const double *x);
/* Are two points of the study the same in every parameter that is searched? */
bool dp__points_are_equal(const struct dp_proposer *p, const double *a, const double *b);

#endif
