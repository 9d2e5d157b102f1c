/* study.h - a study as the user wrote it: parsed, checked, immutable.
 *
 * study_file.h parses it. dpareto-study(5) and `dparetoctl explain` document keys and defaults. */
#ifndef DP_STUDY_H
#define DP_STUDY_H
#include "privacy/privacy.h"
#include <jansson.h>

enum {
	DP_STUDY_TEXT_MAX = 1 << 20, /* bytes of a study file */
	DP_PARAMS_MAX = 64,
	DP_OBJECTIVES_MAX = 8,
	DP_VALUES_MAX = 256, /* of a categorical parameter */
	DP_CONSTRAINTS_MAX = 16,
	DP_ARGV_MAX = 256,
	DP_RUNS_MAX = 10000,
	DP_PARALLEL_MAX = 4096,
	DP_EVALUATIONS_MAX = 10000000,
	DP_REEVALUATE_RUNS_MAX = 100000, /* of one point */
	DP_GRID_MAX = 1000000,           /* points of a grid */
	DP_CHECKPOINTS_MAX = 64,         /* of one run */
	DP_INITIAL_DEFAULT = 16,         /* default of search.initial */
};

enum dp_param_kind {
	DP_PARAM_FLOAT,
	DP_PARAM_INT,
	DP_PARAM_CATEGORICAL,
	DP_PARAM_FIXED,
	DP_PARAM_CALIBRATED, /* computed by dp_space_solve_calibrated() */
};

enum dp_dist {
	DP_DIST_SCALE,       /* no `sample`: uniform on the parameter's scale */
	DP_DIST_UNIFORM,     /* a = lo, b = hi */
	DP_DIST_NORMAL,      /* a = mean, b = sd */
	DP_DIST_EXPONENTIAL, /* a = rate, b = shift */
};

/* One use of a mechanism: each key is a constant or a parameter. */
struct dp_mechanism_use {
	const struct dp_mechanism *mechanism;
	double constant[DP_PRIVACY_KEYS_MAX]; /* NaN: absent or bound */
	int param[DP_PRIVACY_KEYS_MAX];       /* index of the parameter, or -1 */
	double times;                         /* NaN: bound */
	int times_param;                      /* or -1 */
};

/* A calibrated parameter: the least noise of a mechanism that keeps a target epsilon. */
struct dp_calibration {
	struct dp_mechanism_use use; /* without its noise */
	double epsilon;              /* target; NaN: bound */
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
	DP_ACCOUNTING_MECHANISM, /* one use, once; delta is the mechanism's own key */
	DP_ACCOUNTING_COMPOSED,  /* several uses on the same data */
	DP_ACCOUNTING_EXTERNAL,  /* an external accountant: `argv` */
};

/* The source of a privacy objective's epsilon. */
struct dp_accounting_spec {
	enum dp_accounting_kind kind;
	struct dp_mechanism_use *uses; /* (nuses); none for an external accountant */
	size_t nuses;
	/* of a composition or an external accountant: */
	double delta;
	enum dp_privacy_accountant accountant; /* of a composition */
	char **argv;                           /* as a trainer's command; ends with NULL */
	size_t command_pos;                    /* byte offset in the file */
};

/* Noisy release of a metric. records 0: none. */
struct dp_metric_release {
	double records; /* the metric is a share of these */
	double sigma;   /* standard deviation of the noise */
};

struct dp_objective {
	char *name;
	bool maximize;
	enum dp_transform transform;
	double anti_ideal;
	/* exactly one of the two is set: */
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

/* search.budget: the limit of the study's total privacy loss. */
struct dp_budget {
	double epsilon, delta; /* both 0: unlimited */
};

/* trainer.path: the parameter of the learning curve. */
struct dp_learning_curve {
	int points;   /* approximate number over the whole range; 0: no path */
	size_t param; /* index of the parameter */
	size_t pos;   /* of its name, byte offset in the file */
};

enum dp_executor {
	DP_EXECUTOR_DEFAULT, /* not named: decided at submit */
	DP_EXECUTOR_LOCAL,
	DP_EXECUTOR_SLURM
};

enum {
	DP_SLURM_NAME_SIZE = 128 /* bytes of a partition or account name */
};

/* trainer.slurm: resources of a job. Unset ones are the daemon's. */
struct dp_slurm {
	char partition[DP_SLURM_NAME_SIZE], account[DP_SLURM_NAME_SIZE]; /* "": unset */
	double time_limit;                                               /* seconds; 0: unset */
	char **options; /* of sbatch; ends with NULL; may be NULL */
};

struct dp_trainer {
	/* ends with NULL. argv[0] with '/' is absolute. Words that name files are absolute after
	 * dp_study_resolve_files() or dp_study_restore_files(). */
	char **argv;
	size_t command_pos; /* byte offset in the file */
	int runs;
	bool run_per_process;  /* runs_per_process: 1 */
	double timeout, stall; /* seconds; 0: unlimited */
	double grace;          /* seconds between TERM and KILL */
	char *cwd;             /* absolute; NULL: the attempt's directory */
	char **env;            /* "K=V", ends with NULL; may be NULL */
	int retries;
	int max_failures;
	uint64_t log_limit;    /* bytes each of stdout and stderr */
	uint64_t memory_limit; /* bytes of all processes together; 0: unlimited */
	struct dp_learning_curve learning_curve;
	enum dp_executor executor;
	struct dp_slurm slurm;
	int gpus; /* per process, under Slurm */
};

/* search.rounds: the mean number of trials of method select, by distribution. One is not 0. */
struct dp_rounds {
	double poisson, geometric, logarithmic;
};

struct dp_search {
	enum dp_method method;
	uint32_t evaluations; /* total, initial points included */
	uint32_t initial;
	bool initial_given; /* named in the file */
	uint32_t parallel;
	int grid;
	bool deterministic_order; /* order: deterministic */
	double max_time;          /* seconds; 0: unlimited */
	enum dp_front_kind front;
	uint32_t reevaluate_runs; /* for each point of the final front; 0: none */
	enum dp_cost cost;
	double max_cost;         /* 0: unlimited */
	struct dp_rounds rounds; /* method select only */
	struct dp_budget budget;
	/* method dpareto only */
	enum dp_acquisition acquisition;
	enum dp_privacy_model privacy_model;
	bool sobol_design;    /* design: sobol */
	char *initial_from;   /* study name, or absolute directory with optional #NAME; or NULL */
	bool gain_model;      /* gain: model */
	bool reference_front; /* reference: front */
};

enum dp_seed_mode {
	DP_SEEDS_DEFAULT, /* not named: `data` decides at submit */
	DP_SEEDS_FIXED,   /* the study's seed */
	DP_SEEDS_SECRET   /* the study's seed and its secret */
};

struct dp_study {
	char *name;
	uint64_t seed;
	enum dp_seed_mode seeds;
	/* Not in the file: base/secret.h. The reducer sets it, for secret seeds and for method
	 * select. NULL: the study has none or is not submitted yet. */
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
bool dp_study_has_privacy(const struct dp_study *s);
/* True if the study's front is the smoothed one. Only this function decides it if search.front is
 * absent: smoothed for method dpareto, which has models anyway, else observed. */
bool dp_study_uses_smoothed_front(const struct dp_study *s);
/* True if later settings depend on earlier results. */
bool dp_study_is_adaptive(const struct dp_study *s);
/* Never DP_COST_DEFAULT: without search.cost, the path's value where there is a path. */
enum dp_cost dp_study_cost(const struct dp_study *s);
/* The study file's word for a value. For an unnamed acquisition, that of the default. */
const char *dp_method_text(enum dp_method m);
const char *dp_transform_text(enum dp_transform t);
const char *dp_acquisition_text(enum dp_acquisition a);
const char *dp_executor_text(enum dp_executor e);
const char *dp_study_front_text(const struct dp_study *s); /* by dp_study_uses_smoothed_front() */
const char *dp_study_cost_text(const struct dp_study *s);  /* by dp_study_cost() */

#endif
