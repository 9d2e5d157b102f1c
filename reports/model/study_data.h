/* study_data.h - study data and figure declarations for the report.
 *
 * Data flow: journal -> struct study_data (study_data.c) -> figures/ (figure_render.c) and the
 * report.json tree (report_model.c) -> report.md and report.html (text/). */
#ifndef DP_REPORTS_MODEL_STUDY_DATA_H
#define DP_REPORTS_MODEL_STUDY_DATA_H
#include "base/base.h"
#include "base/buf.h"
#include "compare/compare.h"
#include "state/public_view.h"
#include "optimize/recommend/importance.h"
#include "optimize/history/smoothed_front.h"
#include "optimize/pareto/pareto.h"
#include "reports/plot/arena.h"
#include "reports/plot/plot.h"

enum {
	RESULT_NAME_LEN = 32,  /* bytes of a result id */
	RESULT_ROW_ID_LEN = 48 /* bytes of the id of its table row */
};

/* Leave-one-out quality of the model of an objective. */
struct surrogate_fit {
	bool has_model;            /* false: computed objective or no model; all else is 0 */
	size_t n_left_out;         /* number of results left out */
	double coverage;           /* share of them within their 95% interval */
	double variance_explained; /* share of their variance, on the model's scale; may be < 0 */
	double rmse;               /* in natural units */
	double min_observed, max_observed; /* range of the observed values */
	bool trusted;
	char reason[200]; /* why the model is not trusted; or "" */
};

/* One study, replayed from the journal, with data that several parts of a report need. */
struct study_data {
	struct dp_public_state view;
	struct dp_study_state *state; /* view.state; front and hypervolume are up to date */
	const char *label;            /* --label, or NULL */
	int privacy_obj;              /* first objective with a privacy mechanism, or -1 */
	int utility_obj;              /* first metric objective, or -1 */
	/* The two objectives in figures: privacy and utility, else the first two. */
	size_t x_obj, y_obj;
	struct dp_result_id *points; /* (npoints) all results, checkpoints included */
	size_t npoints;
	bool is_percent[DP_OBJECTIVES_MAX]; /* by objective, see study_data_is_percent() */
	/* Models fitted to `history`, which samples thousands of results but keeps the front. NULL:
	 * none, see the reason below. Only the main study of a report has models. */
	struct dp_proposer *surrogates;
	struct dp_history_subset results; /* storage for `history` */
	struct dp_history history;
	char no_surrogates_reason[256];
	/* The smoothed front. All studies have it, unless there are too many. It is the study's
	 * front only if search.front says so; figures of several studies show observed values. */
	struct dp_smoothed_front smoothed;
	bool uses_smoothed_front;
	/* By objective. Parameter importance is unknown if the model is not trusted. */
	struct surrogate_fit fit[DP_OBJECTIVES_MAX];
	struct dp_importance importance[DP_OBJECTIVES_MAX];
	/* The searched parameters, most important first: by the mean of the known total Sobol
	 * indices. */
	size_t ranking[DP_PARAMS_MAX], nranked;
};

struct baseline { /* a reference line: "non-private" at error 0.16 */
	char *label;
	double value; /* of the utility objective, natural units */
};

/* Figure output formats and style. */
enum figure_file_format {
	FIGURE_PNG = 1,
	FIGURE_SVG = 2,
	FIGURE_PDF = 4
};
struct figure_output {
	unsigned formats; /* bit set of the formats above */
	double width_mm;  /* 0: the default of each figure */
	bool no_title;
};

struct study_label { /* --label of a study */
	char *study, *label;
};

struct report_data {
	struct dp_state state; /* owns what studies point to */
	struct study_data
		*studies; /* the report is about the first; the others are compared with it */
	size_t nstudies;
	struct baseline *baselines;
	size_t nbaselines;
	struct study_label *labels;
	size_t nlabels;
	struct figure_output figure_output;
	/* Groups of seeds as requested and as built, see study_groups.h. */
	struct dp_group_spec *group_specs;
	size_t ngroup_specs;
	const char *at_option; /* --at "epsilon=0.1,1,10": more levels to compare at; NULL: the
				  default levels */
	struct study_groups *groups; /* NULL: not a group report */
	/* A study whose front stands for the true one, drawn under the others. */
	const char *reference_name;
	struct study_data *reference; /* or NULL */
	bool is_public;               /* omit what would void the guarantee, such as the seed */
	const char *journal_path;     /* its directory */
};

/* ---- study_data.c ---- */

/* How much work the report does on a study's models. */
enum surrogate_detail {
	SURROGATES_NONE,
	SURROGATES_FRONT_ONLY, /* the smoothed front only */
	SURROGATES_ALL
};
DP_MUSTCHECK int study_data_init(struct study_data *s, struct dp_public_state view,
				 enum surrogate_detail detail, struct dp_err *err);
void study_data_free(struct study_data *s);
/* The label of the study, else its name. */
const char *study_data_name(const struct study_data *s);
/* Lists the results and finds which objectives are shares. */
void study_data_load_results(struct study_data *s);
/* The study's front as search.front defines it, in the published order: its size, the i-th result,
 * and the value of an objective that the front used. */
size_t study_data_front_size(const struct study_data *s);
struct dp_result_id study_data_front_point(const struct study_data *s, size_t i);
double study_data_front_value(const struct study_data *s, size_t i, size_t objective);
/* The i-th result in the history of the models. */
struct dp_result_id study_data_model_result(const struct study_data *s, size_t i);
/* The number of trials with results. */
size_t study_data_count_trials(const struct study_data *s);
bool study_data_has_checkpoints(const struct study_data *s);
/* The path value of a checkpoint; negative for a trial's own result. */
int64_t study_data_checkpoint_of(const struct study_data *s, struct dp_result_id p);
/* The result id of these values: "7", "7@4". */
char *result_format_name(int64_t trial, int64_t at, char out[RESULT_NAME_LEN]);
/* The id of the table row that figures link to: "trial-7", "trial-7-4". */
char *result_format_row_id(int64_t trial, int64_t at, char out[RESULT_ROW_ID_LEN]);
/* The axis label of an objective: "epsilon (δ = 1e-5)", "error (1 - accuracy)". */
void study_data_objective_label(const struct study_data *s, size_t objective, struct dp_buf *out);
/* The range of an objective over the runs of a result; its value twice if it is not a metric.
 * False: unknown, for example at a checkpoint. */
bool study_data_run_range(const struct study_data *s, struct dp_result_id p, size_t objective,
			  double *lo, double *hi);
/* The standard deviation over the runs; NaN: unknown or not a metric. */
double study_data_run_sd(const struct study_data *s, struct dp_result_id p, size_t objective);
/* The value of an objective for the majority class. NaN if no trainer reported majority_accuracy or
 * the objective has no such value. */
double study_data_majority_value(const struct study_data *s, size_t objective);

bool study_data_is_percent(const struct study_data *s, size_t objective);

/* ---- front_estimates.c ---- */

/* Estimate of a value at a point of the front. */
struct estimate {
	double value, low, high; /* 95% interval; NaN: unknown */
	enum estimate_source {
		ESTIMATE_OBSERVED, /* a single value of unknown noise */
		ESTIMATE_RUNS,     /* mean of its runs, interval from their spread */
		ESTIMATE_SMOOTHED, /* posterior mean of the models */
	} source;
};
/* Best estimate of an objective at each point of the front: smoothed where the models are trusted.
 * `out` has room for the front. */
void study_data_estimate_front(const struct study_data *s, size_t objective, struct estimate *out);
/* The number of test records; NaN: not reported. */
double study_data_test_records(const struct study_data *s);
/* The standard error of an objective at the i-th point of the front, as in `dparetoctl front
 * --one-se`: of the mean of the runs; of one run that of the models if they chose the front; NaN:
 * unknown. 0 for a computed objective. */
double study_data_front_std_error(const struct study_data *s, size_t i, size_t objective);
/* Predictions at the points of the front, (points x objectives). The caller frees them. NULL
 * without models. */
struct dp_prediction *study_data_predict_front(const struct study_data *s);

/* ---- choices.c ---- */

/* Indices into the front; SIZE_MAX: none. */
struct choices {
	size_t high_privacy, recommended, best_utility;
	/* The cost limit if the front has points on both sides of it, else NaN. best_over_limit:
	 * the best point above it. */
	double max_cost;
	size_t best_over_limit;
	enum dp_point_rule rule; /* the rule that chose `recommended` */
};
void choices_find(const struct study_data *s, struct choices *out);

/* ---- surrogate_fit.c ---- */

/* Computes fit, importance and ranking, after the models are fitted or found impossible. */
DP_MUSTCHECK int study_data_assess_surrogates(struct study_data *s, struct dp_err *err);
/* Whether values of the objective by model can be shown. A computed objective needs no model. */
bool study_data_trusts_surrogate(const struct study_data *s, size_t objective);
/* The fit of the first shown objective whose model is not trusted, or NULL. */
const struct surrogate_fit *study_data_find_untrusted(const struct study_data *s);

/* ---- redaction.c ---- */

/* Fails if a public report would leak exact values, and names them all. A study of public data
 * cannot leak. */
DP_MUSTCHECK int redaction_check_leaks(const struct report_data *r, struct dp_err *err);
/* Removes times, resource usage and messages of runs on private data. */
void redaction_strip_private(struct report_data *r);
/* Whether the report contains durations. */
bool redaction_shows_times(const struct report_data *r);

/* ---- figures/: one file each ---- */

enum {
	FIGURE_FILENAME_LEN = 64 /* bytes of a figure's file name */
};

/* The questions that figures answer, in report order. */
enum figure_chapter {
	FIGURE_CHAPTER_FRONT,      /* what can be reached? */
	FIGURE_CHAPTER_PARAMETERS, /* which of them matter? */
	FIGURE_CHAPTER_SURROGATES, /* how far are the models trusted? */
	FIGURE_CHAPTER_SEARCH,     /* how did the search go? */
	FIGURE_CHAPTER_COUNT
};

struct figure_draft {
	struct arena mem; /* of all values drawn or described; freed after drawing */
	struct plot *plot;
	struct dp_buf caption; /* one or two sentences: what it shows */
};

struct figure {
	const char *name;  /* "front": also the base of its file names */
	const char *title; /* "Pareto front" */
	enum figure_chapter chapter;
	bool on_first_screen; /* on the first screen, before all chapters */
	bool only_on_request; /* drawn only if requested by name */
	bool for_groups;      /* part of a group report */
	/* Describes the figure. DP_E_NOT_FOUND: nothing to show; the message gives the reason as
	 * the end of a sentence: "the report has one study only". */
	int (*make)(const struct report_data *r, struct figure_draft *f, struct dp_err *err);
};

/* Fails if the reference study has other objectives than those shown
 * (figures/common/reference_front.c). */
DP_MUSTCHECK int report_check_reference_front(const struct report_data *r, struct dp_err *err);
/* All figures in report order; ends with NULL. */
extern const struct figure *const report_figures[];
/* The figure with this name (n bytes), or NULL (figure_render.c). */
const struct figure *figure_find(const char *name, size_t n);
/* The file name for this format: "front.png" (figure_render.c). */
char *figure_format_filename(const struct figure *f, const char *kind,
			     char out[FIGURE_FILENAME_LEN]);

#endif
