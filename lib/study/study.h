/* study.h - a study as the user wrote it: parsed, checked, immutable. study_file.h reads it.
 *
 * Keys and defaults are those of docs: `dparetoctl explain`, dpareto-study(5). */
#ifndef DP_STUDY_H
#define DP_STUDY_H
#include "privacy/privacy.h"
#include <jansson.h>

enum {
	DP_STUDY_TEXT_MAX = 1 << 20, /* bytes of a study file */
	DP_PARAMS_MAX = 64,
	DP_OBJECTIVES_MAX = 8,
	DP_VALUES_MAX = 256, /* of one categorical parameter */
	DP_CONSTRAINTS_MAX = 16,
	DP_ARGV_MAX = 256,
	DP_RUNS_MAX = 10000,
	DP_PARALLEL_MAX = 4096,
	DP_EVALUATIONS_MAX = 10000000,
	DP_REEVALUATE_RUNS_MAX = 100000, /* of one point */
	DP_GRID_MAX = 1000000,           /* points of a whole grid */
	DP_CHECKPOINTS_MAX = 64,         /* of one training */
	DP_INITIAL_DEFAULT = 16,         /* search.initial of a file that does not say */
};

enum dp_param_kind {
	DP_PARAM_FLOAT,
	DP_PARAM_INT,
	DP_PARAM_CATEGORICAL,
	DP_PARAM_FIXED,
	DP_PARAM_CALIBRATED, /* solved for: dp_space_solve_calibrated() */
};

enum dp_dist {
	DP_DIST_SCALE,       /* no `sample`: uniform on the parameter's scale */
	DP_DIST_UNIFORM,     /* a = lo, b = hi */
	DP_DIST_NORMAL,      /* a = mean, b = sd */
	DP_DIST_EXPONENTIAL, /* a = rate, b = shift */
};

/* A mechanism as a file uses it: each of its keys is a constant or a parameter. */
struct dp_mechanism_use {
	const struct dp_mechanism *mechanism;
	double constant[DP_PRIVACY_KEYS_MAX]; /* NaN: absent or bound */
	int param[DP_PRIVACY_KEYS_MAX];       /* index of the parameter, or -1 */
	double times;                         /* NaN: bound */
	int times_param;                      /* or -1 */
};

/* What a calibrated parameter is: the least noise of a mechanism that keeps a target. */
struct dp_calibration {
	struct dp_mechanism_use use; /* without its noise */
	double epsilon;              /* the target; NaN: bound */
	int epsilon_param;           /* or -1 */
};

struct dp_param {
	char *name;
	enum dp_param_kind kind;
	double lo, hi;   /* range */
	bool log_scale;  /* scale */
	int grid_points; /* points per axis; 0: search.grid */
	enum dp_dist dist;
	double dist_a, dist_b; /* of the distribution */
	double accept_lo, accept_hi;
	json_t *values;                   /* categorical: array of scalars; fixed: the one value */
	struct dp_calibration *calibrate; /* calibrated */
};

enum dp_transform {
	DP_TRANSFORM_NONE,
	DP_TRANSFORM_LOG,
	DP_TRANSFORM_LOGIT
};

enum dp_accounting_kind {
	DP_ACCOUNTING_MECHANISM, /* one use, once; its delta is the mechanism's own key */
	DP_ACCOUNTING_COMPOSED,  /* all uses on the same data */
	DP_ACCOUNTING_EXTERNAL,  /* `argv` is asked */
};

/* Where the epsilon of an objective comes from. */
struct dp_accounting_spec {
	enum dp_accounting_kind kind;
	struct dp_mechanism_use *uses; /* (nuses) none of a program */
	size_t nuses;
	/* not of a single mechanism: */
	double delta;
	enum dp_privacy_accountant accountant; /* of a composition */
	char **argv;                           /* ends with NULL; as that of a trainer */
	size_t command_pos;                    /* where it stands in the file's text */
};

/* Noise on a metric before anybody sees it; records 0: none. */
struct dp_metric_release {
	double records; /* that the metric is a share of */
	double sigma;   /* standard deviation of the noise */
};

struct dp_objective {
	char *name;
	bool maximize;
	enum dp_transform transform;
	double anti_ideal;
	/* exactly one of the two: */
	struct dp_accounting_spec *privacy;
	char *metric;
	bool one_minus; /* of: "1 - METRIC" */
	struct dp_metric_release release;
};

struct dp_constraint {
	char *metric;
	bool at_least; /* ">= bound", else "<= bound" */
	double bound;
};

enum dp_method {
	DP_METHOD_RANDOM,
	DP_METHOD_GRID,
	DP_METHOD_DPARETO,
	DP_METHOD_SELECT
};
enum dp_acquisition {
	DP_ACQUISITION_DEFAULT, /* not named in the file */
	DP_ACQUISITION_HVPOI,
	DP_ACQUISITION_EHVI,
	DP_ACQUISITION_POI,
	DP_ACQUISITION_RANDOM
};
enum dp_privacy_model {
	DP_PRIVACY_MODEL_DEFAULT,
	DP_PRIVACY_MODEL_EXACT,
	DP_PRIVACY_MODEL_GP
};
enum dp_front_kind {
	DP_FRONT_DEFAULT, /* not named in the file: see dp_study_uses_smoothed_front() */
	DP_FRONT_OBSERVED,
	DP_FRONT_SMOOTHED
};

enum dp_cost {
	DP_COST_DEFAULT, /* not named in the file: see dp_study_cost() */
	DP_COST_NONE,
	DP_COST_PATH,
	DP_COST_SECONDS,
	DP_COST_PRIVACY
};

/* search.budget: what all trainings of the study may cost together. */
struct dp_budget {
	double epsilon, delta; /* both 0: there is none */
};

/* trainer.path: the parameter that a training walks up. */
struct dp_learning_curve {
	int points;   /* about so many over its whole range; 0: there is no path */
	size_t param; /* index of the parameter */
	size_t pos;   /* of its name in the study file */
};

/* Who runs a study's trainers. */
enum dp_executor {
	DP_EXECUTOR_DEFAULT, /* not named: decided when the study is submitted */
	DP_EXECUTOR_LOCAL,
	DP_EXECUTOR_SLURM
};

enum {
	DP_SLURM_NAME_SIZE = 128 /* bytes of a partition's or an account's name */
};

/* trainer.slurm: what its jobs ask for; where it is silent, the daemon's own. */
struct dp_slurm {
	char partition[DP_SLURM_NAME_SIZE], account[DP_SLURM_NAME_SIZE]; /* "": not said */
	double time_limit;                                               /* seconds; 0: not said */
	char **options; /* of sbatch, ends with NULL; may be NULL */
};

struct dp_trainer {
	/* ends with NULL; argv[0] with '/' is absolute, and so are words that name files,
	 * once dp_study_resolve_files() or dp_study_restore_files() has been called */
	char **argv;
	size_t command_pos; /* where the command stands in the file's text */
	int runs;
	bool run_per_process;  /* runs_per_process: 1 */
	double timeout, stall; /* seconds; 0: none */
	double grace;          /* seconds between TERM and KILL */
	char *cwd;             /* absolute, or NULL: the attempt's folder */
	char **env;            /* "K=V", ends with NULL; may be NULL */
	int retries;
	int max_failures;
	uint64_t log_limit;    /* bytes each of stdout and stderr */
	uint64_t memory_limit; /* bytes of all of its processes together; 0: no limit */
	struct dp_learning_curve learning_curve;
	enum dp_executor executor;
	struct dp_slurm slurm;
	int gpus; /* of each process, under Slurm */
};

/* search.rounds: the law of the secret number of trainings of method select, by its mean;
 * exactly one is not 0. */
struct dp_rounds {
	double poisson, geometric, logarithmic;
};

struct dp_search {
	enum dp_method method;
	uint32_t evaluations; /* total, initial points included */
	uint32_t initial;
	bool initial_given; /* in the file */
	uint32_t parallel;
	int grid;
	bool deterministic_order; /* order: deterministic */
	double max_time;          /* seconds; 0: none */
	enum dp_front_kind front;
	uint32_t reevaluate_runs; /* runs of each of the front's points at the end; 0: none */
	enum dp_cost cost;
	double max_cost;         /* 0: none */
	struct dp_rounds rounds; /* select only */
	struct dp_budget budget;
	/* dpareto only */
	enum dp_acquisition acquisition;
	enum dp_privacy_model privacy_model;
	bool sobol_design;    /* design: sobol */
	char *initial_from;   /* a study's name, or an absolute folder and perhaps #NAME; or
			       * NULL */
	bool gain_model;      /* gain: model */
	bool reference_front; /* reference: front */
};

/* What run seeds and drawn settings follow from. */
enum dp_seed_mode {
	DP_SEEDS_DEFAULT, /* not named: decided by `data` when the study is submitted */
	DP_SEEDS_FIXED,   /* the study's seed */
	DP_SEEDS_SECRET   /* the study's seed and its secret */
};

struct dp_study {
	char *name;
	uint64_t seed;
	enum dp_seed_mode seeds;
	/* Not of the file: base/secret.h, set by the fold, of a study with secret seeds
	 * and of method select. NULL: it has none, or is only a file so far. */
	char *secret;
	int priority;
	bool public_data; /* data: public */
	struct dp_trainer trainer;
	struct dp_param *params;
	size_t nparams;
	struct dp_objective *objectives;
	size_t nobjectives;
	struct dp_constraint *constraints;
	size_t nconstraints;
	struct dp_search search;
};

void dp_study_free(struct dp_study *s);
/* Has the study a privacy objective? */
bool dp_study_has_privacy(const struct dp_study *s);
/* Is the study's front that of the models' values? Here alone it is decided what a file
 * means that does not name search.front: denoised with method dpareto, whose models are
 * there anyhow, observed with the others. */
bool dp_study_uses_smoothed_front(const struct dp_study *s);
/* Do settings of later trainings depend on results of earlier ones? */
bool dp_study_is_adaptive(const struct dp_study *s);
/* What a training of the study costs, never DP_COST_DEFAULT: a file that does not name
 * search.cost means the path's value where there is a path. */
enum dp_cost dp_study_cost(const struct dp_study *s);
/* The word of the study file for a value; of an acquisition that the file does not name
 * the one that is taken then. */
const char *dp_method_text(enum dp_method m);
const char *dp_transform_text(enum dp_transform t);
const char *dp_acquisition_text(enum dp_acquisition a);
const char *dp_executor_text(enum dp_executor e);
const char *dp_study_front_text(const struct dp_study *s); /* by dp_study_uses_smoothed_front() */
const char *dp_study_cost_text(const struct dp_study *s);  /* by dp_study_cost() */

#endif
