/* study_data.h - a study as a report sees it, and the figures.
 *
 * One way through: journal -> struct study_data (study_data.c) -> figures/ (figure_render.c) and
 * the tree of report.json (report_model.c) -> report.md and report.html (text/). */
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
	RESULT_NAME_LEN = 32,  /* bytes of the name of a result */
	RESULT_ROW_ID_LEN = 48 /* and of that of its row */
};

/* How well the model of an objective foretells results that it does not know: each left
 * out once. */
struct surrogate_fit {
	bool has_model;            /* false: it is computed, or there is no model; all else is 0 */
	size_t n_left_out;         /* that were left out */
	double coverage;           /* share of these within their 95 % interval */
	double variance_explained; /* share of their variance, on the model's scale; may be < 0 */
	double rmse;               /* root mean square, natural units */
	double min_observed, max_observed; /* of what was observed */
	bool trusted;
	char reason[200]; /* not; or "" */
};

/* One study, folded from the journal, with what several parts of a report need. */
struct study_data {
	struct dp_public_state view;
	struct dp_study_state *state; /* view.state; front and hypervolume are up to date */
	const char *label;            /* what people call it (--label), or NULL */
	int privacy_obj;              /* the first objective that is a privacy mechanism, or -1 */
	int utility_obj;              /* the first that is a metric, or -1 */
	/* The two objectives that pictures show: privacy and utility, else the first
	 * two. */
	size_t x_obj, y_obj;
	struct dp_result_id *points; /* (npoints) all results, those of waypoints too */
	size_t npoints;
	bool is_percent[DP_OBJECTIVES_MAX]; /* by objective, see study_data_is_percent() */
	/* Models fitted to `history` (of thousands of results only some, the front among
	 * them), or NULL: see no_models. Only the study that a report is about has them.
	 */
	struct dp_proposer *surrogates;
	struct dp_history_subset results; /* what the history points to */
	struct dp_history history;
	char no_surrogates_reason[256];
	/* The front by the models; all studies have it, if there are not too many. It is
	 * the study's where `denoises`; pictures of several studies show what was
	 * observed.
	 */
	struct dp_smoothed_front smoothed;
	bool uses_smoothed_front;
	/* By objective. What matters to one is unknown where its model is not trusted. */
	struct surrogate_fit fit[DP_OBJECTIVES_MAX];
	struct dp_importance importance[DP_OBJECTIVES_MAX];
	/* The parameters that are searched, those first that have most to do with the
	 * objectives: by the mean of the total orders that are known. */
	size_t ranking[DP_PARAMS_MAX], nranked;
};

struct baseline { /* a line to compare with: "non-private" at error 0.16 */
	char *label;
	double value; /* of the utility objective, natural units */
};

/* How figures look on paper and screen. */
enum figure_file_format {
	FIGURE_PNG = 1,
	FIGURE_SVG = 2,
	FIGURE_PDF = 4
};
struct figure_output {
	unsigned formats; /* files of each figure, the bits above */
	double width_mm;  /* 0: each figure has its own */
	bool no_title;
};

struct study_label { /* what people call a study */
	char *study, *label;
};

struct report_data {
	struct dp_state state;      /* owns what subjects point to */
	struct study_data *studies; /* the first is what the report is about; others are
				     * compared with it */
	size_t nstudies;
	struct baseline *baselines;
	size_t nbaselines;
	struct study_label *labels;
	size_t nlabels;
	struct figure_output figure_output;
	/* Groups of seeds, see groups.h: as they were asked for, and made. */
	struct dp_group_spec *group_specs;
	size_t ngroup_specs;
	const char *at_option; /* "epsilon=0.1,1,10": compared there, too; NULL: as is usual */
	struct study_groups *groups; /* NULL: the report is about its first study */
	/* A study whose front stands for the true one, drawn under the others. */
	const char *reference_name;
	struct study_data *reference; /* or NULL */
	bool is_public;               /* leave out what voids the guarantee: the seed */
	const char *journal_path;     /* the folder it was read from */
};

/* ---- study_data.c ---- */

/* How much a report asks of a study's models. */
enum surrogate_detail {
	SURROGATES_NONE,
	SURROGATES_FRONT_ONLY, /* the front that they choose */
	SURROGATES_ALL
};
DP_MUSTCHECK int study_data_init(struct study_data *s, struct dp_public_state view,
				 enum surrogate_detail detail, struct dp_err *err);
void study_data_free(struct study_data *s);
/* What it is called where people read it: its label, else the study's name. */
const char *study_data_name(const struct study_data *s);
/* Lists its results, and finds which objectives are shares. */
void study_data_load_results(struct study_data *s);
/* The study's front, as search.front says, in the contract's order: how many points, the
 * result that one is, and the value of an objective that put it there. */
size_t study_data_front_size(const struct study_data *s);
struct dp_result_id study_data_front_point(const struct study_data *s, size_t i);
double study_data_front_value(const struct study_data *s, size_t i, size_t objective);
/* The result that the models know as the i-th. */
struct dp_result_id study_data_model_result(const struct study_data *s, size_t i);
/* How many trials gave them. */
size_t study_data_count_trials(const struct study_data *s);
/* Do trainings have waypoints here? */
bool study_data_has_checkpoints(const struct study_data *s);
/* The value of its waypoint; negative: it is a trial's own. */
int64_t study_data_checkpoint_of(const struct study_data *s, struct dp_result_id p);
/* "7", "7@4": how people are told which result it is; of the values above. */
char *result_format_name(int64_t trial, int64_t at, char out[RESULT_NAME_LEN]);
/* "trial-7", "trial-7-4": the row of a page's table that has it, which pictures link to.
 */
char *result_format_row_id(int64_t trial, int64_t at, char out[RESULT_ROW_ID_LEN]);
/* The label of an objective for an axis: "epsilon (δ = 1e-5)" for a privacy one,
 * "error (1 - accuracy)" for a metric. */
void study_data_objective_label(const struct study_data *s, size_t objective, struct dp_buf *out);
/* The least and the largest value of an objective over the runs of a result; both its
 * value where it is no metric. False: unknown, as of the runs at a waypoint. */
bool study_data_run_range(const struct study_data *s, struct dp_result_id p, size_t objective,
			  double *lo, double *hi);
/* The standard deviation of the runs; NaN: unknown, or it is no metric. */
double study_data_run_sd(const struct study_data *s, struct dp_result_id p, size_t objective);
/* The value of an objective when always the commonest class is answered; NaN if no
 * trainer told (majority_accuracy), or it is nothing that this says something of. */
double study_data_majority_value(const struct study_data *s, size_t objective);

/* Is the objective a share, to be read in percent? */
bool study_data_is_percent(const struct study_data *s, size_t objective);

/* ---- front_estimates.c ---- */

/* What is known of a value at a point of the front. */
struct estimate {
	double value, low, high; /* where it lies with 95 %; NaN: unknown */
	enum estimate_source {
		ESTIMATE_OBSERVED, /* of its noise nothing is known */
		ESTIMATE_RUNS,     /* the mean of its runs, and their spread */
		ESTIMATE_SMOOTHED, /* what models of all results say without the noise */
	} source;
};
/* The best that is known of an objective at each point of the front, into `out`, which
 * has room for these: what models say, where they are to be trusted. */
void study_data_estimate_front(const struct study_data *s, size_t objective, struct estimate *out);
/* How many records the trainer tests on; NaN: it does not say. */
double study_data_test_records(const struct study_data *s);
/* The standard error of an objective at the i-th point of the front, as `dparetoctl
 * front --one-se` takes it: that of the mean of the runs; of one run that of the models
 * where these chose the front; NaN: unknown. What is computed is what it is. */
double study_data_front_std_error(const struct study_data *s, size_t i, size_t objective);
/* What the models say at the points of the front, (points x objectives) for the caller to
 * free; NULL without models. */
struct dp_prediction *study_data_predict_front(const struct study_data *s);

/* ---- choices.c ---- */

/* Places in the front; SIZE_MAX: there is none. */
struct choices {
	size_t high_privacy, recommended, best_utility;
	/* The price up to which these are taken, where the front has points on both
	 * sides of it (else NaN), and the best of those that cost more. */
	double max_cost;
	size_t best_over_limit;
	enum dp_point_rule rule; /* that recommends */
};
void choices_find(const struct study_data *s, struct choices *out);

/* ---- surrogate_fit.c ---- */

/* Finds fit, importance and rank, once there are models or it is known that there are
 * none. */
DP_MUSTCHECK int study_data_assess_surrogates(struct study_data *s, struct dp_err *err);
/* Is there a model of the objective that can be shown? One that is computed needs none.
 */
bool study_data_trusts_surrogate(const struct study_data *s, size_t objective);
/* Of the two objectives that pictures show the first of which what models say is not to
 * be shown; NULL: there is none. */
const struct surrogate_fit *study_data_find_untrusted(const struct study_data *s);

/* ---- redaction.c ---- */

/* Refuses a public report in which something exact would leak, and names it all: what is
 * said of a study whose data is public harms nobody. */
DP_MUSTCHECK int redaction_check_leaks(const struct report_data *r, struct dp_err *err);
/* Forgets times, use of the machine and messages of what was trained on private data. */
void redaction_strip_private(struct report_data *r);
/* Does it say how long something took? */
bool redaction_shows_times(const struct report_data *r);

/* ---- figures/: one file each ---- */

enum {
	FIGURE_FILENAME_LEN = 64 /* bytes of the name of a figure's file */
};

/* The questions that figures answer, in the order of a report. */
enum figure_chapter {
	FIGURE_CHAPTER_FRONT,      /* what can be reached? */
	FIGURE_CHAPTER_PARAMETERS, /* which of them matter? */
	FIGURE_CHAPTER_SURROGATES, /* how far are the models to be trusted? */
	FIGURE_CHAPTER_SEARCH,     /* how did the search go? */
	FIGURE_CHAPTER_COUNT
};

/* A figure that is being made. */
struct figure_draft {
	struct arena mem; /* of all numbers that are drawn or described; freed once it is drawn */
	struct plot *plot;
	struct dp_buf caption; /* one or two sentences below it: what it shows */
};

struct figure {
	const char *name;  /* "front": its files are called after it */
	const char *title; /* "Pareto front" */
	enum figure_chapter chapter;
	bool on_first_screen; /* it stands on the first screen, before all chapters */
	bool only_on_request; /* drawn only if it is asked for by name */
	bool for_groups;      /* it is one of a report of groups */
	/* Draws what the report has and describes it. DP_E_NOT_FOUND: there is nothing to show, and
	 * the message says why, as the end of a sentence: "the report has one study only". */
	int (*make)(const struct report_data *r, struct figure_draft *f, struct dp_err *err);
};

/* Refuses a true front of other objectives than those shown (figures/truth.c). */
DP_MUSTCHECK int report_check_reference_front(const struct report_data *r, struct dp_err *err);
/* All figures in the order of a report; ends with NULL. */
extern const struct figure *const report_figures[];
/* The figure of this name (n bytes), or NULL (figures.c). */
const struct figure *figure_find(const char *name, size_t n);
/* The name of its file of this kind: "front.png" (figures.c). */
char *figure_format_filename(const struct figure *f, const char *kind,
			     char out[FIGURE_FILENAME_LEN]);

#endif
