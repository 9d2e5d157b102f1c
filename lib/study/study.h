/* study.h - a study as the user wrote it: parsed, checked, immutable.
 *
 * Keys and defaults are those of docs: `dparetoctl explain`, dpareto-study(5). */
#ifndef DP_STUDY_H
#define DP_STUDY_H
#include "base/base.h"
#include "base/buf.h"
#include "base/rng.h"
#include "privacy/composition/adaptive_composition.h"
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

/* ---- reading a study file (yaml_tree.c, read_search.c) ---- */

/* One mistake in a file. */
struct dp_diagnostic {
	int line, column; /* from 1; 0: the file as a whole */
	bool is_warning;  /* worth a word, but the study runs */
	char *message;    /* what is wrong */
	char *allowed;    /* what would be right; may be NULL */
};

struct dp_diagnostics {
	struct dp_diagnostic *list;
	size_t count, error_count;
};

void dp_diagnostics_free(struct dp_diagnostics *p);
/* Appends every problem as people read it, with the line and a caret:
 *   study.yaml:7:3: error: unknown key 'evalutions'; did you mean 'evaluations'?
 *      7 |   evalutions: 80
 *        |   ^
 * and a last line that counts them. */
void dp_diagnostics_format(const struct dp_diagnostics *p, const char *path, const char *text,
			   size_t len, struct dp_buf *out);
/* [{"line":7,"column":3,"severity":"error","message":...,"allowed":...,
 *   "source":"  evalutions: 80"}] */
json_t *dp_diagnostics_to_json(const struct dp_diagnostics *p, const char *text, size_t len);

/* Reads and checks a study file's text. `path` names it in messages; `dir` is the
 * absolute folder that relative paths start from. All mistakes are collected in
 * *problems (the caller frees them in every case). DP_OK with *out owned by the
 * caller, or DP_E_INVALID with a summary sentence in *err. */
DP_MUSTCHECK int dp_study_parse(const char *text, size_t len, const char *path, const char *dir,
				struct dp_study **out, struct dp_diagnostics *diagnostics,
				struct dp_err *err);
void dp_study_free(struct dp_study *s);

/* Words of a command after its program that name files beside the study file. */
struct dp_command_files {
	const char **list; /* (n) absolute paths, in the study; the caller frees the list */
	uint32_t n;
};
/* When a study is submitted: makes such words of its commands absolute, those of files
 * that are there now (plain files, and links to them), and tells which they are. */
void dp_study_resolve_files(struct dp_study *s, const char *dir, struct dp_command_files *found);
/* The same without a look at any file: `known` was found when it was submitted. */
void dp_study_restore_files(struct dp_study *s, const char *dir,
			    const struct dp_command_files *known);

/* Adds warnings where the programs of a study that was parsed from `text` could not be
 * started here: they, their interpreters and scripts are looked for. `beside`: the folder
 * that programs without a path are looked for in before PATH, dparetod's. */
void dp_study_preflight(const struct dp_study *s, const char *dir, const char *beside,
			const char *text, size_t len, struct dp_diagnostics *diagnostics);
/* Appends the text of the same study with a single random point and a single run, of a
 * text that is valid. */
DP_MUSTCHECK int dp_study_smoke_variant(const char *text, size_t len, struct dp_buf *out,
					struct dp_err *err);

/* The same reader for files of `option: value`, such as a daemon's configuration: calls
 * set() for each; what it refuses becomes a problem at that place. A list or a map goes
 * to set_tree() as JSON, every scalar in it a text; a refusal whose sentence begins with
 * a path ("hooks[1].on ...") becomes a problem at that part of the value. */
typedef int dp_config_set_fn(void *arg, const char *name, const char *value, struct dp_err *err);
DP_MUSTCHECK int dp_config_parse(const char *text, size_t len, const char *path,
				 dp_config_set_fn *set, dp_config_set_fn *set_tree, void *arg,
				 struct dp_diagnostics *diagnostics, struct dp_err *err);

/* ---- what may change while a study goes on (amend.c), and what makes it another one
 * (canonical.c) ---- */

/* The key of the file that may change: by its path or the end of that, "trainer.timeout"
 * or "timeout". NULL with DP_E_USAGE: there is no such key, or it would be another study.
 */
const struct dp_key_doc *dp_study_find_live_key(const char *name, struct dp_err *err);
/* Gives a key that may change (or is decided at submit) another value, as a file has it;
 * "none" takes a limit away. `s` may be a copy by value: only numbers and words in the
 * structs themselves are written. On error it is unchanged. */
DP_MUSTCHECK int dp_study_set_key(struct dp_study *s, const char *path, const char *value,
				  struct dp_err *err);
/* The same, written as "trainer.timeout=30s". */
DP_MUSTCHECK int dp_study_apply_change(struct dp_study *s, const char *change, struct dp_err *err);
/* All that the file means, defaults filled in, as texts by path: {"study":"s",
 * "trainer.timeout":"30s","parameters":"[a, b]","parameters.a.range":"[0, 1]",...}. What
 * may change reads back by dp_study_set_key(). */
json_t *dp_study_canonical_json(const struct dp_study *s);
/* Where two of them differ: [{"key":...,"from":...,"to":...,"live":...}], from or to null
 * where it is not there. */
json_t *dp_study_diff(const struct dp_study *from, const struct dp_study *to);

/* Is the study's front that of the models' values? Here alone it is decided what a file
 * means that does not name search.front: denoised with method dpareto, whose models are
 * there anyhow, observed with the others. */
bool dp_study_uses_smoothed_front(const struct dp_study *s);

/* What search.initial_from names (origin.c): so many bytes of the text are a state
 * folder, 0: none. *name is the study's; NULL: the only one there. */
size_t dp_warm_start_parse(const char *text, const char **name);
/* The study in words that tell of no folder; NULL for NULL. */
const char *dp_warm_start_display_name(const char *text);

/* ---- documentation of the keys, from the table that parses them (keys.c) ---- */

enum dp_key_mutability {
	DP_KEY_IMMUTABLE,     /* with another value it is another study */
	DP_KEY_LIVE,          /* may change while the study goes on */
	DP_KEY_SET_AT_SUBMIT, /* is decided when the study is submitted, if not in its file */
};

struct dp_key_doc {
	const char *path;         /* "trainer.timeout", "parameters.NAME.range" */
	const char *type;         /* "duration", "int >= 1", "random | grid | dpareto" */
	const char *default_text; /* default as written, or "needed", or "none" */
	const char *help;         /* a sentence or two */
	const char *example;      /* a line of YAML */
	enum dp_key_mutability mutability;
};
const struct dp_key_doc *dp_study_keys(size_t *count);
/* The word of the study file for a value; of an acquisition that the file does not name
 * the one that is taken then. */
const char *dp_method_text(enum dp_method m);
const char *dp_transform_text(enum dp_transform t);
const char *dp_acquisition_text(enum dp_acquisition a);
const char *dp_executor_text(enum dp_executor e);
/* Can it be the name of a partition or an account? */
bool dp_slurm_name_ok(const char *word);
/* Why sbatch must not be given this word, behind that one (NULL: none); NULL: it may. */
const char *dp_slurm_option_error(const char *word, const char *before);
const char *dp_study_front_text(const struct dp_study *s); /* by dp_study_uses_smoothed_front() */
const char *dp_study_cost_text(const struct dp_study *s);  /* by dp_study_cost() */

/* ---- points (space.c): x has one double per parameter, in the order of the file;
 * a categorical's is the index of its value, a fixed one's is 0, a calibrated one's is
 * NaN until dp_space_solve_calibrated() has solved for it ---- */

/* A stream of the study: of its seed and, where its seeds are secret, of its secret. */
void dp_study_rng_init(const struct dp_study *s, enum dp_rng_purpose purpose, uint32_t trial,
		       uint32_t run, struct dp_rng *r);
/* The seed that the trainer gets for one run, in 0..2^53-1: the same in every retry. */
uint64_t dp_study_run_seed(const struct dp_study *s, uint32_t trial, uint32_t run);
/* The mode that the study has, or gets when it is submitted: never DP_SEEDS_DEFAULT. */
enum dp_seed_mode dp_study_seed_mode(const struct dp_study *s);
const char *dp_seed_mode_text(enum dp_seed_mode seeds); /* of the mode; not of the default */
/* Are the seeds fixed and the data private? A reader who knows the seed can then compute
 * the noise of every run. */
bool dp_study_noise_exposed(const struct dp_study *s);
/* The sentences that status, reports and statements then have; else NULL. */
const char *dp_study_seeds_warning(const struct dp_study *s);

/* The point that random search evaluates as this trial: each parameter drawn from
 * its distribution by rejection into `accept` (with_range: into accept and range
 * together, for initial designs), integers rounded. A pure function of the study's
 * seed, or of its secret, and the trial. */
void dp_space_sample(const struct dp_study *s, uint32_t trial, bool with_range, double *x);
/* The value of a parameter that the share t (0 to 1) of these draws, with_range, is
 * below: evenly spread t give its distribution. */
double dp_space_quantile(const struct dp_study *s, size_t param, double t);
/* Number of points of the study's grid (DP_GRID_MAX + 1 if more). */
uint64_t dp_space_grid_size(const struct dp_study *s);
/* The index-th point, the last parameter running fastest. */
void dp_space_grid_point(const struct dp_study *s, uint64_t index, double *x);
/* {"lot_size":64,...} in native units, fixed parameters too. */
json_t *dp_space_to_json(const struct dp_study *s, const double *x);
/* The same at the waypoint `at` of x's training; NaN: of x itself. */
json_t *dp_space_to_json_at(const struct dp_study *s, const double *x, double at);
/* The point that such an object names: every parameter that is searched, each with a
 * value that it can take. A fixed one may be there with its value, a calibrated one with
 * any: whether it keeps its epsilon is not looked at. The sentence names what is wrong.
 */
DP_MUSTCHECK int dp_space_from_json(const struct dp_study *s, const json_t *values, double *x,
				    struct dp_err *err);
/* The value of one parameter at x as a short text for tables. */
void dp_space_format_value(const struct dp_study *s, size_t param, double v, struct dp_buf *out);
/* The value of one parameter that is a number, also of a fixed one. */
double dp_space_value(const struct dp_study *s, size_t param, const double *x);

/* ---- calibrated parameters (calibrated_params.c) ---- */

/* Solves for the calibrated parameters of x that are NaN: a pure function of the others.
 * At the very number that is put in their place the mechanism's epsilon is at most the
 * target, and nearly that. It takes some thirty evaluations of an accountant, 0.1 s with
 * loss distributions. DP_E_INVALID with a sentence if no noise is enough; they are NaN
 * then. */
DP_MUSTCHECK int dp_space_solve_calibrated(const struct dp_study *s, double *x, struct dp_err *err);
/* Makes them NaN again. */
void dp_space_clear_calibrated(const struct dp_study *s, double *x);
/* Does epsilon of a privacy objective depend on one that must be solved for first? Not
 * where it is known without: dp_calibration_target_epsilon(). */
bool dp_objective_needs_calibration(const struct dp_study *s, size_t objective);
/* The epsilon of a privacy objective that is the very mechanism that a parameter is
 * calibrated by: the target at x, which it comes up to within 1e-5 of it. NaN: of another
 * one. */
double dp_calibration_target_epsilon(const struct dp_study *s, size_t objective, const double *x);
/* The parameters that tune a privacy objective: its mechanisms' noise or, where that is
 * calibrated, the epsilon it is calibrated to. Those of a program are not known: none.
 * Returns their number; fixed ones are among them. */
size_t dp_objective_noise_params(const struct dp_study *s, size_t objective,
				 size_t params[DP_PRIVACY_ITEMS_MAX]);
/* What one evaluation of a privacy objective takes, with what is solved for before. */
enum dp_privacy_cost dp_objective_accounting_cost(const struct dp_study *s, size_t objective);
/* Are both studies' parameters of this number, if they are calibrated, so by the same
 * mechanism with the same keys, to the same epsilon? */
bool dp_calibration_equal(const struct dp_study *a, const struct dp_study *b, size_t param);

/* ---- paths (path.c) ---- */

/* The values of trainer.path's parameter at which the training of x is looked at on its
 * way, and their number: whole numbers below x's own value, ascending, without repeats,
 * about path.points of them evenly on the log scale of all values that the search gives
 * the parameter (a fixed one: from 1 on). None without a path. */
size_t dp_learning_curve_checkpoints(const struct dp_study *s, const double *x,
				     double values[DP_CHECKPOINTS_MAX]);
/* Checkpoints of the run of x that may cost more than where it ends, which is `at` (NaN:
 * x's own value): those before it, unless epsilon never falls as the parameter grows
 * (dp_privacy_key.worse). Of an external accountant that is not known. The cost of a run
 * is the maximum over these and its end. */
size_t dp_learning_curve_costlier(const struct dp_study *s, size_t objective, const double *x,
				  double at, double values[DP_CHECKPOINTS_MAX]);
/* Of these and the end, where epsilon is the largest; `at` where that is the end. */
double dp_learning_curve_costliest(const struct dp_study *s, size_t objective, const double *x,
				   double at);
/* When a study is submitted: is trainer.path a learning curve? DP_E_INVALID, and the
 * mistake among the problems, where epsilon may fall as its parameter grows. Studies that
 * older versions accepted are not asked. */
DP_MUSTCHECK int dp_study_check_learning_curve(const struct dp_study *s, const char *text,
					       size_t len, struct dp_diagnostics *diagnostics,
					       struct dp_err *err);
/* Where the training of x ends: its own value of that parameter, fixed or not. Only with
 * a path. */
double dp_learning_curve_end(const struct dp_study *s, const double *x);

/* ---- cost (cost.c) ---- */

/* What a training of the study costs, never DP_COST_DEFAULT: a file that does not name
 * search.cost means the path's value where there is a path. */
enum dp_cost dp_study_cost(const struct dp_study *s);

/* ---- private selection: method select (selection_method.c, count_worst_case_runs.c) ----
 *
 * A number of trainings that nobody knows, with settings drawn independently from the
 * parameters' distributions, and only the best is published.
 * privacy/composition/adaptive_composition.h has the theorems, docs/privacy.md what is enforced of
 * their conditions. */

/* The law of search.rounds. */
DP_MUSTCHECK int dp_select_rounds_law(const struct dp_study *s, struct dp_selection *out,
				      struct dp_err *err);
/* The one objective that is an epsilon, and the one that is a metric and chooses. */
size_t dp_select_privacy_objective(const struct dp_study *s);
size_t dp_select_utility_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one training with all its runs, the largest over all settings
 * that can be drawn: those that matter are tried one by one, but for parameters of which
 * it is known which end is worse. It may take seconds. DP_E_INVALID if the largest is not
 * known. *settings (may be NULL): how many were tried. */
DP_MUSTCHECK int dp_select_worst_case_renyi(const struct dp_study *s, const double *orders,
					    size_t n, double *k, size_t *settings,
					    struct dp_err *err);
/* The same without the curve, at once: DP_OK, or why there is no way to find it. */
DP_MUSTCHECK int dp_select_check_worst_case(const struct dp_study *s, struct dp_err *err);

/* What a private selection costs: of the published setting, its utility and its model
 * together. */
struct dp_select_cost {
	double delta;
	double training_epsilon;   /* epsilon of one training, the worst that can be drawn */
	double train_data_epsilon; /* of the selection, for the records that are trained on */
	double order;              /* that proves it */
	double eval_data_epsilon;  /* of the selection, for those that the utility is measured on */
	double epsilon;            /* the larger: with a fixed split a record is on one side */
	double composed_epsilon;   /* what publishing as many as drawn on average would cost */
	double mean_trainings;     /* of the number of trainings */
	const char *law;           /* "poisson" */
	const char *theorem;       /* as a source: paper and number */
	size_t n_settings;         /* tried for the worst */
};
DP_MUSTCHECK int dp_select_compute_cost(const struct dp_study *s, struct dp_select_cost *out,
					struct dp_err *err);

/* ---- the whole search (budget.c) ---- */

/* Do settings of later trainings depend on results of earlier ones? */
bool dp_study_is_adaptive(const struct dp_study *s);
/* Is it known what the trainings of a privacy objective add up to? Not of a program, nor
 * of a mechanism that does not say how it composes. */
DP_MUSTCHECK int dp_study_check_composable(const struct dp_study *s, size_t objective,
					   struct dp_err *err);
/* The privacy objective that search.budget counts. */
size_t dp_budget_objective(const struct dp_study *s);
/* k[i] = K(orders[i]) of one training at x, which covers all of its waypoints; see
 * whole.h. `at`: of one that ends there; NaN: at x itself. On error +inf. */
DP_MUSTCHECK int dp_study_training_renyi(const struct dp_study *s, struct dp_renyi_cache *m,
					 size_t objective, const double *x, double at,
					 const double *orders, size_t n, double *k,
					 struct dp_err *err);
/* The filter of search.budget. Its order is one of the odometer's, the best by
 * dp_filter_choose_order() for the first 64 points of random search with all their runs: a
 * pure function of the study file. DP_E_LIMIT if the budget pays for none of them. */
DP_MUSTCHECK int dp_budget_filter(const struct dp_study *s, const struct dp_odometer *o,
				  struct dp_filter *out, struct dp_err *err);

/* ---- privacy oracles (oracle.c) ---- */

/* Who asks oracle programs: this library starts no process. The answer must be a pure
 * function of the point. DP_E_INVALID: the program refuses the point, and the sentence
 * is its own; any other code: it could not be asked, which says nothing of the point. */
struct dp_external_callback {
	int (*epsilon)(void *arg, size_t objective, const double *x, double at, double *epsilon,
		       struct dp_err *err);
	void *arg;
};

/* The values of a use's keys at x; NaN where absent. `at`: at a waypoint of x's training,
 * with this value of trainer.path's parameter, fixed or not, in place of x's own; NaN: at
 * x itself. So everywhere below. */
void dp_mechanism_use_values(const struct dp_study *s, const struct dp_mechanism_use *u,
			     const double *x, double at, double values[DP_PRIVACY_KEYS_MAX]);
/* What is done to the data at a point: the uses with their values, of which delta is that
 * of the whole composition. */
struct dp_composition_items {
	size_t n;
	struct dp_composition_item items[DP_PRIVACY_ITEMS_MAX];
	double values[DP_PRIVACY_ITEMS_MAX][DP_PRIVACY_KEYS_MAX];
};
/* DP_E_INVALID with a sentence for an objective of which that is not known: a metric, or
 * the answer of a program. */
DP_MUSTCHECK int dp_accounting_items(const struct dp_study *s, size_t objective, const double *x,
				     double at, struct dp_composition_items *out,
				     struct dp_err *err);
/* delta of a privacy objective: NaN where a parameter sets it, 0 where there is none. */
double dp_accounting_delta(const struct dp_accounting_spec *o);
/* Does epsilon depend on this parameter? On every one, if a program is asked. */
bool dp_accounting_depends_on(const struct dp_accounting_spec *o, size_t param);
/* What one evaluation takes. */
enum dp_privacy_cost dp_accounting_cost(const struct dp_accounting_spec *o);

/* The oracles of a study prepared for many evaluations; one thread at a time. The study
 * must outlive them. */
struct dp_accounting_cache;
struct dp_accounting_cache *dp_accounting_cache_open(const struct dp_study *s);
void dp_accounting_cache_close(struct dp_accounting_cache *o);
/* Epsilon of a privacy objective, with the bits of dp_objective_epsilon_at(). */
DP_MUSTCHECK int dp_accounting_cache_epsilon(struct dp_accounting_cache *o,
					     const struct dp_external_callback *external,
					     size_t objective, const double *x, double at,
					     struct dp_epsilon *out, struct dp_err *err);

/* The value, in natural units, of a privacy objective at a point: of a run up to there,
 * so the maximum over its checkpoints (dp_learning_curve_costlier()) and its end. Without an asker
 * a program's is not known: DP_E_FAILED. */
DP_MUSTCHECK int dp_objective_epsilon_at(const struct dp_study *s,
					 const struct dp_external_callback *external,
					 size_t objective, const double *x, double at,
					 struct dp_epsilon *out, struct dp_err *err);
/* The same at x itself, of a study without programs. */
DP_MUSTCHECK int dp_objective_epsilon(const struct dp_study *s, size_t objective, const double *x,
				      struct dp_epsilon *out, struct dp_err *err);
/* All of them: y (nobjectives) gets epsilon for a privacy objective and NaN for a metric.
 * On error the sentence begins with the objective's name, and y is not to be used. */
DP_MUSTCHECK int dp_objectives_epsilon_at(const struct dp_study *s,
					  const struct dp_external_callback *external,
					  const double *x, double at, double *y,
					  struct dp_err *err);
DP_MUSTCHECK int dp_objectives_epsilon(const struct dp_study *s, const double *x, double *y,
				       struct dp_err *err);
/* What is accounted for at x, by privacy objective, so that a trainer does just that:
 * {"epsilon":{"mechanism":"dp-sgd",...,"epsilon":0.42}}; of a composition
 * {"compose":[...], "delta":...}, of a program {"command":[...],"delta":...}. `epsilon`
 * (nobjectives) is what the oracles said there; NaN or NULL: left out. */
json_t *dp_objectives_accounting_json(const struct dp_study *s, const double *x, double at,
				      const double *epsilon);
/* Does what a trainer declared of its sampler fit a privacy objective at x? Of several
 * mechanisms one must fit. DP_E_INVALID with the contradiction; `warning` is "" or a
 * sentence. */
DP_MUSTCHECK int dp_objective_check_declaration(const struct dp_study *s, size_t objective,
						const double *x, double at,
						const struct dp_declaration *declared,
						char warning[DP_PRIVACY_WARNING_LEN],
						struct dp_err *err);
/* Has the study a privacy objective? */
bool dp_study_has_privacy(const struct dp_study *s);

/* ---- objectives (objective.c) ---- */

/* The value of a metric objective given the mean of its metric over the runs. */
double dp_objective_from_metric(const struct dp_objective *o, double mean);
/* A value on the scale of the word of dp_transform_text(), to be minimised: where a step
 * means as much at one end as at the other. Infinite or NaN where the scale has no
 * number. */
double dp_objective_transform(const char *transform, bool maximize, double y);

/* ---- noise on utilities (release.c) ---- */

/* Is what the trainer reports seen with noise only? Then every metric of an objective and
 * of a constraint is released, each by one objective. */
bool dp_study_has_metric_release(const struct dp_study *s);
/* Does the study need a secret (base/secret.h), whatever its seeds are? */
bool dp_study_needs_secret(const struct dp_study *s);
/* How a metric is released; NULL: it is not. */
const struct dp_metric_release *dp_study_find_metric_release(const struct dp_study *s,
							     const char *metric);
/* How many values a result has of each metric: one of each run, or the one that is
 * released. */
int dp_study_reported_runs(const struct dp_study *s);

/* The mean of a metric over the runs of a result with its noise; NaN for one that is no
 * share. A pure function of its arguments: whoever reads the same result again releases
 * the same value. Values lie on a grid far finer than the noise. `at`: NaN for the
 * trial's own result. */
double dp_metric_release_value(const struct dp_metric_release *r, const char *secret,
			       const char *metric, uint32_t trial, double at, double mean);
/* Of how many records the value is a share for an accountant, which is told that one of
 * them moves it by 1/records: a little fewer, since rounding to the grid may move it
 * further. */
double dp_metric_release_records(const struct dp_metric_release *r);
/* The variance of the noise. */
double dp_metric_release_variance(const struct dp_metric_release *r);

#endif
