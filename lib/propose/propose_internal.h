/* propose_internal.h - shared by the files of lib/propose. */
#ifndef DP_PROPOSE_INTERNAL_H
#define DP_PROPOSE_INTERNAL_H
#include "base/rng.h"
#include "front/front.h"
#include "gp/gp.h"
#include "propose/propose.h"

/* ---- inputs.c: points of the study as points of the unit cube ---- */

enum dp__input_kind {
	DP__FLOAT,
	DP__INT,
	DP__CATEGORY
};

/* One free parameter. Its place u in 0..1 is on the logarithm where the range is
 * positive and wide: the models' warps can then turn it into any power. */
struct dp__input {
	size_t param;
	enum dp__input_kind kind;
	bool log;      /* place on the logarithm */
	bool file_log; /* scale: log in the file */
	double lo, hi; /* for categories 0 and count - 1 */
	double ln_ratio;
	double values; /* number of different values that are searched; inf for floats */
	bool pinned;   /* a fixed parameter that trainings walk up: always hi in the end */
};

struct dp__inputs {
	size_t d;
	struct dp__input in[DP_PARAMS_MAX];
	double points;   /* in the whole space; inf with a float */
	size_t nderived; /* calibrated parameters, which are no inputs */
	size_t derived[DP_PARAMS_MAX];
	/* trainer.path: the input that a training walks up and its waypoints on the way
	 * to the largest value; no waypoints: there is no path */
	size_t path;
	size_t nwaypoints;
	double waypoint[DP_WAYPOINTS_MAX], waypoint_u[DP_WAYPOINTS_MAX];
};

void dp__inputs(const struct dp_study *study, struct dp__inputs *out);
/* Is there an input of this kind to be searched? */
bool dp__inputs_have(const struct dp__inputs *s, enum dp__input_kind kind);
/* Gives a fixed parameter that trainings walk up the value that models know it by (x of a
 * proposal, study.h, has 0 there), and takes it away again. */
void dp__pin(const struct dp__inputs *s, double *x);
void dp__pin_unset(const struct dp__inputs *s, double *x); /* unless it has one */
void dp__unpin(const struct dp__inputs *s, double *x);
double dp__place_of(const struct dp__input *in, double x);
double dp__native(const struct dp__input *in, double u); /* not rounded */
/* The nearest point of the space: whole numbers rounded, ranges kept. x (nparams);
 * calibrated parameters are NaN. */
void dp__to_x(const struct dp__inputs *s, const double *u, double *x);
void dp__to_u(const struct dp__inputs *s, const double *x, double *u);
/* Puts u on a point of the space. */
void dp__snap(const struct dp__inputs *s, double *u);
void dp__gp_spec(const struct dp__inputs *s, struct dp_gp_spec *out);
/* The index-th point of a finite space. */
void dp__nth_point(const struct dp__inputs *s, uint64_t index, double *x);

/* ---- sobol.c ---- */
/* Coordinate `dim` (0..63) of point `index` of the Sobol sequence, scrambled by Owen's
 * method with a hash keyed by the seed; in (0, 1). */
double dp__sobol(uint64_t seed, uint32_t index, unsigned dim);
/* The same, scrambled as the study's other draws are. */
double dp__sobol_of(const struct dp_study *study, uint32_t index, unsigned dim);

/* ---- transform.c: objectives as the models see them, always to be minimised ---- */

enum dp__shape {
	DP__NORMAL,
	DP__LOG,      /* z = log y */
	DP__LOG_MAX,  /* z = -log y, y maximised */
	DP__LOGIT,    /* z = logit y */
	DP__LOGIT_MAX /* z = -logit y */
};

enum dp__shape dp__shape_of(const struct dp_objective *o);
/* Model space of a natural value, clipped where it would be infinite. */
double dp__forward(const struct dp_objective *o, double y);
double dp__backward(const struct dp_objective *o, double z); /* natural value */
/* d forward / d y at y, for the delta method */
double dp__forward_slope(const struct dp_objective *o, double y);
/* Natural value as something to minimise: y or -y. */
double dp__natural_min(const struct dp_objective *o, double y);
/* From model space to that, and its slope. */
double dp__shape_value(enum dp__shape s, double z);
double dp__shape_slope(enum dp__shape s, double z);
/* The place in model space of a value to minimise, not clipped: may be infinite. */
double dp__shape_inverse(enum dp__shape s, double t);

/* ---- acquisition.c ---- */

/* Predicted distribution of one objective in model space. */
struct dp__normal {
	double m, s; /* s = 0: exact */
};

/* One objective's sides of the cells. */
struct dp__side {
	enum dp__shape shape;
	size_t n;
	double *t;  /* (n) ascending; values to minimise; the last is the reference */
	double *zt; /* (n) in model space */
};

struct dp__quadrature;

struct dp__target {
	size_t p;
	struct dp__side side[DP_OBJECTIVES_MAX];
	size_t ncells;
	int *lower, *upper; /* (ncells x p) indexes in side.t; lower may be -1: -inf */
	double *table;      /* workspace */
	size_t most;        /* largest side.n */
	bool gain_model;
	struct dp__quadrature *quad;
};

struct dp__acquisition {
	const char *name;
	bool noise; /* an sd is what one noisy result could tell (else all of it) */
	/* Log of the acquisition and its derivatives by mean and sd of each objective
	 * (grad: 2 p, may be NULL). -inf where it is 0. */
	double (*value)(struct dp__target *t, const struct dp__normal *f, double *grad);
};

const struct dp__acquisition *dp__acquisition(const struct dp_study *study);
/* Front y (n x p) and reference, values to minimise. */
DP_MUSTCHECK int dp__target_new(struct dp__target *t, size_t p, const enum dp__shape *shapes,
				const double *y, size_t n, const double *ref, bool gain_model);
void dp__target_free(struct dp__target *t);
double dp__phi(double x); /* standard normal density and distribution */
double dp__Phi(double x);

/* ---- what a proposer keeps ---- */

enum {
	DP__CURVE = 33
};

/* Variance of a result's mean in natural units as a function of the value. */
struct dp__noise_curve {
	bool known;
	double lo, step; /* model space */
	double variance[DP__CURVE];
};

/* One modelled quantity: an objective or a constraint's metric. */
struct dp__output {
	bool exact;  /* a function of the point, known without an error */
	bool costly; /* that function takes milliseconds: a model stands in for it
		      * while many points are compared */
	bool fitted;
	struct dp_gp gp;
	struct dp_gp_hyper hyper;
	double *y;           /* (nseen) standardised values */
	double shift, scale; /* model space = shift + scale * standardised */
	double *noise;       /* (nseen) variance of each, in units of scale^2 */
	struct dp__noise_curve curve;
	bool repeats;        /* a point measured again gave the same bits */
	struct dp_gp smooth; /* what the values are around, as far as the fit goes */
	double lean_mean;    /* of dp__noise_lean() over the results of the fit */
};

/* A fit that was made: of the first so many trainings, which are so many results. */
struct dp__fit {
	size_t trainings, results;
};

/* A point of the front that a proposal improves on. */
struct dp__front_point {
	double u[DP_PARAMS_MAX];
	size_t known;  /* its position in the history */
	size_t result; /* and among what models have seen; SIZE_MAX: it is not there */
	bool pending;
};

/* What is known of the time that trainings take. */
struct dp__times {
	size_t n;
	double *u;     /* (n x d) where they were */
	double *alpha; /* (n) weights of the covariances with them; behind u */
	double shift;  /* the median of log seconds */
};

enum {
	DP__SOLVED = 8 /* of one proposal: the finalists, and the one that was chosen */
};

/* Points whose calibrated parameters were solved for, the newest in place of the oldest.
 */
struct dp__solved {
	double x[DP__SOLVED][DP_PARAMS_MAX];
	size_t n;
};

struct dp_proposer {
	const struct dp_study *study;
	const struct dp_history *history; /* during a call */
	struct dp__inputs inputs;
	struct dp_gp_spec spec;
	struct dp_oracles *oracles;
	struct dp_err *trouble;        /* during a proposal: why a program could not be
					* asked; code 0: it could */
	struct dp__solved *solved;     /* by dp__derive(); NULL: nothing is calibrated */
	struct dp_renyi_memory *renyi; /* NULL without search.budget */
	size_t noutputs;               /* objectives, then constraints */
	struct dp__output output[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	uint32_t trial;         /* that a point is wanted for */
	struct dp__times times; /* by dp__cost_learn(), of the history of this call */

	/* what the models hold */
	struct dp_known *seen; /* (nseen) results in the order of the history, those of
				* dp__is_seen() */
	struct dp_gp_run *run; /* (nseen) whose noise each has */
	size_t nseen, seen_room;
	size_t fit_n;         /* hyperparameters belong to the first so many; 0: none */
	size_t fit_trainings; /* which are of so many trainings */
	/* (nfits) fits before this one, and itself, oldest first; (nfits x noutputs)
	 * their hyperparameters */
	struct dp__fit *fits;
	struct dp_gp_hyper *fit_hypers;
	size_t nfits, fits_room;
	double *u; /* (d x ldu) */
	size_t ldu;

	/* made for one proposal */
	struct dp__target target;
	bool have_target;
	struct dp__front_point *front; /* (nfront) */
	size_t nfront;
	double *work; /* (work_room) for predictions */
	size_t work_room;
	double *walk; /* (walk_room) for those of a path with slopes */
	size_t walk_room;
	bool regardless; /* of the proposal being made, and its note: */
	char *note;
};

/* ---- oracle.c: objectives that are computed from the point ---- */

/* As dp_space_derive(), but remembers the last few points. */
DP_MUSTCHECK int dp__derive(const struct dp_proposer *p, double *x, struct dp_err *err);
/* Is the objective (or other output) computed, given the history of this call? */
bool dp__oracle_exact(const struct dp_proposer *p, size_t output);
/* Does it take so long that a model stands in while many points are compared? */
bool dp__oracle_costly(const struct dp_proposer *p, size_t output);
bool dp__oracles_costly(const struct dp_proposer *p); /* any of them? */
/* Value in model space of an exact objective at x; NaN if the oracle refuses, or cannot
 * be asked: then p->trouble says so, and no program is asked any more. */
double dp__oracle_value(const struct dp_proposer *p, size_t objective, const double *x);
/* The same at u, with the gradient by u. An oracle may know whole numbers only: between
 * them it is taken as linear, with the slope from one whole number to the next. */
double dp__oracle_slope(const struct dp_proposer *p, size_t objective, const double *u,
			double *gradient);
/* The same of any function of the point and an objective. */
typedef double dp__exact_fn(const struct dp_proposer *p, size_t objective, const double *x);
double dp__exact_slope(const struct dp_proposer *p, dp__exact_fn *value, size_t objective,
		       const double *u, double *gradient);

/* ---- noise.c ---- */

/* Learns from the first n results what is known of an output's noise; fit: those that
 * the likelihood sees. around (n) gets where each value is, in model space. */
DP_MUSTCHECK int dp__noise_learn(struct dp_proposer *p, size_t output, const struct dp_gp_data *fit,
				 size_t n, double *around);
/* The same place for a later result at u with value z (NaN: not there yet). */
DP_MUSTCHECK int dp__noise_around(const struct dp_proposer *p, size_t output, const double *u,
				  double z, double *around);
/* Variance of a result around a place, in units of scale^2 (k NULL: of one that is
 * expected there); NaN: runs do not tell, to be learned. */
double dp__noise_of(const struct dp_proposer *p, size_t output, const struct dp_known *k,
		    double around);
/* The part of it that was added to a released metric, and is known; 0: none. */
double dp__noise_released(const struct dp_proposer *p, size_t output, double around);
/* Log of how a transform multiplies a variance at a place. */
double dp__noise_lean(const struct dp_proposer *p, size_t output, double around);
/* As dp__noise_of(), with the fit's noise where runs do not tell. */
double dp__noise_at(const struct dp_proposer *p, size_t output, const struct dp_known *k,
		    double around);
/* Is the output as good as without noise? */
bool dp__noise_none(const struct dp_proposer *p, size_t output);

/* ---- model.c ---- */

/* Brings the models up to the history. DP_E_FAILED: too little is known. */
DP_MUSTCHECK int dp__model_update(struct dp_proposer *p, const struct dp_history *h,
				  const atomic_bool *cancel);
/* Does the output need a Gaussian process? */
bool dp__is_modelled(const struct dp__output *out);
/* The posterior mean at result i: what the noise took away is N alpha. */
double dp__model_posterior(const struct dp_proposer *p, size_t output, size_t i);
size_t dp__trainings(const struct dp_proposer *p); /* whose results models have */
bool dp__is_result(const struct dp_known *k);      /* is there something to learn from? */
/* Do models take it, as a result or as pending? Of the paths of later trainings they take
 * some waypoints only. */
bool dp__is_seen(const struct dp_proposer *p, const struct dp_known *k);
/* The bound of a constraint, or an objective's anti-ideal, in model space. */
double dp__output_limit(const struct dp_study *s, size_t output);

/* ---- predict.c ---- */

/* Log acquisition, for what a training costs, at m points u (d x ldu, on the space's
 * grid); f: (m x p), feas (m), may be NULL. exactly: costly oracles are asked too. */
DP_MUSTCHECK int dp__model_eval(struct dp_proposer *p, const double *u, size_t ldu, size_t m,
				bool exactly, double *logacq, struct dp__normal *f, double *feas);
/* At one point that may lie between whole numbers, with the gradient by u. Needs the
 * workspace of dp__model_room(). */
double dp__model_slope(struct dp_proposer *p, const double *u, double *gradient);
/* Mean and sd of one modelled output there, with derivatives (d each). */
struct dp__normal dp__output_slope(struct dp_proposer *p, size_t output, const double *u,
				   double *dm, double *ds);
DP_MUSTCHECK int dp__model_room(struct dp_proposer *p, size_t m);
/* Mean and (with_sd) sd in model space of every output at m points: f (m x noutputs);
 * next (likewise, or NULL): the covariance with the point that comes next. */
DP_MUSTCHECK int dp__model_predict(struct dp_proposer *p, const double *u, size_t ldu, size_t m,
				   bool with_sd, bool exactly, struct dp__normal *f, double *next);
/* A prediction of an output in natural units, with its 95 % interval. */
struct dp_predicted dp__natural_prediction(const struct dp_study *s, size_t output,
					   const struct dp__normal *f);
/* Mean of one modelled output in model space at one point. Needs dp__model_room(). */
double dp__model_mean(struct dp_proposer *p, size_t output, const double *u);
/* Log probability that the constraints hold, and (unless NULL) its derivatives by mean
 * and sd of their outputs, which are set. */
double dp__log_feasible(const struct dp_proposer *p, const struct dp__normal *f, double *by_m,
			double *by_s);
/* What is left of an objective's sd when noise is reckoned with, and its derivatives. */
struct dp__learnable {
	double s, by_m, by_s;
};
struct dp__learnable dp__learnable(const struct dp_proposer *p, size_t objective,
				   const struct dp__normal *f);

/* ---- union.c ---- */

/* Is a training of the study a path? */
bool dp__walks(const struct dp_proposer *p);
/* Log of what m trainings u (d x ldu, on the space's grid) are worth with all points of
 * their paths, for what they cost: score (m). choose: each stops where that is best, and
 * u's path row gets that place. f (m x p, may be NULL): predictions at the stops. */
DP_MUSTCHECK int dp__union_eval(struct dp_proposer *p, double *u, size_t ldu, size_t m,
				bool exactly, bool choose, double *score, struct dp__normal *f);
/* At one training, as dp__model_slope(). Needs the workspace of dp__union_room(). */
double dp__union_slope(struct dp_proposer *p, const double *u, double *gradient);
DP_MUSTCHECK int dp__union_room(struct dp_proposer *p);
/* The larger of two normal variables with correlation rho as a normal variable with its
 * moments, and their derivatives by both means, both sds, and rho. */
struct dp__worse {
	struct dp__normal f;
	double m_by[5], s_by[5];
};
struct dp__worse dp__worse(const struct dp__normal *a, const struct dp__normal *b, double rho);

/* ---- cost.c ---- */

/* Learns what trainings cost from the history, as far as it is to be learned. */
DP_MUSTCHECK int dp__cost_learn(struct dp_proposer *p, const struct dp_history *h);
/* Log of what a training at u costs, 0 if nothing counts; u may lie between whole
 * numbers. Adds minus its derivatives by u to gradient (d), which may be NULL: a gain for
 * what it costs is a log acquisition minus this. */
double dp__cost_log(struct dp_proposer *p, const double *u, double *gradient);
/* Is the next trial chosen by its gain, whatever it costs (p->regardless)? By gain for
 * cost alone a dear training is put off as long as a cheap one promises a little, so that
 * a search would never see where long trainings lead: half of what is spent may go to
 * trainings at least half as dear as the dearest. */
bool dp__cost_regardless(struct dp_proposer *p, const struct dp_history *h);
/* Sets what the proposal and all that is pending cost. */
void dp__cost_tell(struct dp_proposer *p, const struct dp_history *h, struct dp_proposal *out);

/* ---- budget.c: search.budget ---- */

/* Is there a budget to be kept in this call? */
bool dp__budgeted(const struct dp_proposer *p);
/* Log of K of a training at u, and (unless NULL) its derivatives by u, which are set. */
double dp__budget_log(const struct dp_proposer *p, const double *u, double *gradient);
/* K of one training at x; +inf if there is no bound. Only with a budget. */
double dp__budget_k(const struct dp_proposer *p, const double *x);
/* Does a training at x fit what is left? Always without a budget. */
bool dp__budget_fits(const struct dp_proposer *p, const double *x);
/* Moves u, a point of the space, towards the cheapest one until a training there fits
 * `most`; false: not even that does. */
bool dp__budget_pull(const struct dp_proposer *p, double most, double *u);
/* What a training of the initial design may take of what is left. */
double dp__budget_design(const struct dp_proposer *p, uint32_t trial);

/* ---- believed.c ---- */

/* Front and cells from the models. */
DP_MUSTCHECK int dp__model_target(struct dp_proposer *p);
/* See dp_surrogate_front(). */
DP_MUSTCHECK int dp__model_front(struct dp_proposer *p, const struct dp_history *h, size_t *index,
				 double *y, size_t *count);

/* ---- rerun.c ---- */
/* Is a point of the front to be measured once more? x (nparams) gets it. Needs
 * dp__model_target(). */
bool dp__rerun(const struct dp_proposer *p, double *x);

/* ---- search.c ---- */
/* The best point that is not taken yet, by acquisition. */
DP_MUSTCHECK int dp__search(struct dp_proposer *p, uint32_t trial, const atomic_bool *cancel,
			    struct dp_proposal *out);
bool dp__taken(const struct dp_proposer *p, const double *x);
/* Are two points of the study the same in every parameter that is searched? */
bool dp__same_point(const struct dp_proposer *p, const double *a, const double *b);

#endif
