/* report_model.h - everything a report says, as numbers and words of fixed names. text.c puts
 * it into sentences, report_json.c into report.json; neither can ask for what is not
 * here.
 *
 * The same journal gives the same facts, byte for byte: no clock is asked. An unknown
 * number is NaN, an unknown count negative, an unknown text NULL; in report.json these
 * are null. Texts are UTF-8. Facts point into the report and own the rest. */
#ifndef DP_REPORTS_MODEL_REPORT_MODEL_H
#define DP_REPORTS_MODEL_REPORT_MODEL_H
#include "base/units.h"
#include "optimize/history/total_privacy_loss.h"
#include "reports/figures/figure_render.h"
#include <jansson.h>

/* An epsilon above this bounds nothing that matters: whoever looks at the result may be
 * e^20, some 500 million, times as sure that a record was among the others. */
#define REPORT_MAX_MEANINGFUL_EPSILON 20.0

/* ---- points ---- */

/* A result is named by `trial` and `at`, the value of its waypoint (negative: none). */

/* Of an objective's values over the runs of a result; least and most of those at a
 * waypoint are not kept. */
struct report_spread {
	double least, mean, most, sd, standard_error;
	int64_t runs;
};

/* The best utility with epsilon at most this, by the values that the front goes by; the
 * rest is unknown where there is none. */
struct report_epsilon_level {
	double epsilon;
	int64_t trial, at;
	double spent, value;
	struct report_spread *runs;
	bool no_better; /* than the commonest class, see report_majority_class */
};
struct report_epsilon_levels {
	struct report_epsilon_level *list; /* (n) */
	size_t n;
};

/* What always answering the commonest class gives, and how many points of the front are
 * not better by more than two standard errors of their runs. */
struct report_majority_class {
	double value;
	int64_t no_better;
};

/* The best result of an objective. */
struct report_best {
	const char *objective;
	bool is_privacy; /* it is an epsilon */
	double value;
	int64_t trial, at;
	const struct dp_study_state *state;
	struct dp_result_id point;
};

/* Other accountants' numbers for a result, and do they fit? */
struct report_accountant_check {
	double pld, rdp_improved, rdp_classic;
	bool recomputed, holds;
};

struct report_interval { /* 95 %, of the value without the noise */
	double low, high;
};

/* One objective at a point of the front. */
struct report_point_objective {
	const char *name;
	double value;    /* as observed */
	double smoothed; /* what models leave of it; of what is computed, that */
	/* of one that is measured, else NULL: */
	struct report_spread *runs;
	struct report_interval *interval; /* NULL also where no model looked at it */
	/* of a privacy mechanism: */
	struct report_accountant_check *check; /* else NULL */
	const char *statement;                 /* to copy; or NULL */
};

/* A point of the front. */
struct report_point {
	const struct study_data *study;
	struct dp_result_id point;
	int64_t trial, at;
	json_t *parameters;
	bool has_smoothed; /* it has values without the noise, */
	bool has_interval; /* which are those of models and not what was observed */
	struct dp_reeval_stats *reevaluated; /* NULL: it was not measured again */
	/* One for each objective of the study, in its order. */
	struct report_point_objective *objectives;
};

struct report_objective {
	const char *name;
	const char *label;
	bool share; /* it is read in percent */
	const char *goal;
	const char *kind;   /* "metric" or "privacy" */
	const char *metric; /* or NULL */
	double anti_ideal;
};

/* ---- which to take ---- */

/* One of the points that a report proposes. */
struct report_choice {
	const char *name;                 /* "strict", "enough", "recommended", "loose", "beyond" */
	const struct report_point *point; /* of the front */
	int64_t trial, at;
	double cost;             /* of the first objective shown, such as epsilon */
	double value, low, high; /* of the second: struct estimate */
	const char *source;      /* "models", "runs", or NULL: there is no interval */
	double std_error;        /* the standard error by its runs; NaN: unknown */
	const char *command;     /* that trains it again */
	bool no_better;          /* than the commonest class */
	bool meaningless;        /* its epsilon guarantees nothing */
};

/* From one of them to another that costs more, and what of the gain can be seen. */
struct report_utility_gain {
	double gain;     /* may be negative */
	double noise;    /* two standard errors of that by the runs; NaN: unknown */
	double sampling; /* two of a share of the test records; NaN: unknown */
	double records;  /* these */
	bool resolved;   /* the gain is more than both */
};

/* What a report recommends, and what more epsilon would buy. */
struct report_recommendation {
	size_t x_obj, y_obj;           /* the objectives that are weighed */
	struct report_choice *choices; /* (nrows) strict to loose; "enough" where these two
					* would be the same without it */
	size_t nchoices;
	const struct report_choice *recommended, *best_utility; /* of these; NULL: none */
	struct report_utility_gain
		*gain_to_best; /* from the one that is taken; NULL: it is that one */
	/* The least price that cannot be told from the one that is taken; NULL: there is
	 * no less. */
	struct report_choice *cheaper_equivalent;
	struct report_utility_gain *gain_from_cheaper;
	double max_cost; /* the highest price that is taken; NaN: no point costs more */
	struct report_choice *best_over_limit; /* the best that costs more, if it is better */
	const char *rule;                      /* "one-se", "knee", "best" */
	const char *query_command;             /* the command that answers the same; or NULL */
	const char *sentence;                  /* all of it in words */
};

/* ---- how far to trust them ---- */

struct report_shrinkage { /* how much worse the models think the front is */
	double mean, most;
};
struct report_reevaluation { /* how much worse points are when they are measured again, on average
			      */
	int64_t points;      /* of the front, that were */
	double than_observed, than_denoised; /* NaN: nothing is denoised */
};
struct report_holdout { /* a metric on a holdout less the one that the search looked at */
	const char *metric, *of;
	double difference;
};
struct report_sampling_error { /* the error of a share of n test records */
	double share, records, error, error_at_1000, error_at_10000;
};

/* How far the values of a measured objective can be trusted. */
struct report_utility_trust {
	const char *objective;
	double standard_error;
	struct report_shrinkage *too_good_by; /* each NULL: unknown */
	struct report_reevaluation *again;
	struct report_holdout *holdout;
	struct report_sampling_error *sampling;
};

/* By how much the best of noisy observations may look too good. */
struct report_selection_bias {
	int64_t chosen_from; /* results, those of waypoints too, */
	int64_t trials;      /* of so many */
	int64_t runs;
	const char *no_models;                   /* why; NULL: there are models */
	struct report_utility_trust *objectives; /* (nobjectives) those that are measured */
	size_t nobjectives;
};

/* ---- models ---- */

/* How well the model of an objective foretells what it does not know: struct surrogate_fit.
 */
struct report_surrogate {
	const char *objective;
	int64_t results;
	double coverage, explained, error;
	bool trusted;
	const char *why; /* not, or NULL */
};

/* A parameter's share of what varies in an objective: struct dp_importance. */
struct report_sobol_indices {
	const char *parameter;
	double first, total;
};
struct report_objective_importance {
	const char *objective;
	const char *source;                      /* "oracle": computed; "model" */
	struct report_sobol_indices *parameters; /* (nparameters) in the order of the ranking */
	size_t nparameters;
};
struct report_importance {
	const char *const *ranking; /* parameters; those that matter most first */
	struct report_objective_importance *objectives; /* (nobjectives) of which it is known */
	size_t nobjectives;
};

/* ---- what is behind an epsilon ---- */

/* What all trainings of a study cost together, and by which proof. */
struct report_total_cost {
	bool has_reevaluations; /* some of them measured points again */
	int64_t evaluations, trainings, attempts, not_started, imported;
	enum dp_total_privacy_proof proof_kind;
	const char *proof;
	double epsilon, delta; /* NaN: unknown, `why` */
	double order;
	double spent, limit;    /* of a budget; else NaN */
	double if_fixed;        /* had all settings been fixed beforehand; no guarantee */
	const char *why;        /* or NULL */
	bool odometer_recorded; /* the odometer was journaled before the first training */
};

/* A key of a mechanism: set by a parameter, a word, or a number. */
struct report_mechanism_key {
	const char *name;
	const char *parameter, *word; /* or NULL */
	double number;
};

/* One mechanism of a composition. */
struct report_component {
	const char *mechanism, *summary;
	double times;                /* NaN: set by */
	const char *times_parameter; /* this one; else NULL */
	const char *relation;
	const char *sampling;              /* or NULL */
	struct report_mechanism_key *keys; /* (nkeys) */
	size_t nkeys;
	double records;
	const char *theorem, *source, *noise;
};

/* A privacy objective with its mechanism, its assumptions and the study's cost. */
struct report_mechanism {
	size_t objective_index; /* of its objective among those of the study */
	const char *objective;
	const char *mechanism; /* or "composition" or "program", which have fewer facts */
	const char *summary;
	const char *const *command;     /* of a program; else NULL */
	struct report_component *parts; /* (nparts) of a composition */
	size_t nparts;
	const char *unit;
	const char *relation;
	const char *sampling;              /* or NULL */
	struct report_mechanism_key *keys; /* (nkeys) */
	size_t nkeys;
	double records, delta, delta_times_records;
	const char *accountant, *accountant_text;
	const char *theorem;
	const char *source;
	const char *noise;
	const char *warning; /* or NULL */
	struct report_total_cost composed;
};

/* How many of the attempts that gave a result declared what. What contradicts the
 * mechanism gives none, so that whatever was declared agrees. */
struct report_declarations {
	bool compared; /* a mechanism of the study can be contradicted by it */
	bool kept;     /* false: it is not known any more (objectives.NAME.release) */
	int64_t attempts;
	int64_t sampling, records, lot, steps, noise_over_clip;
	int64_t shuffled; /* in the number of `sampling` */
};

/* ---- noise on utilities ---- */

struct report_release_metric {
	const char *objective, *metric;
	double records, sigma;
};
/* What the records cost that utilities were measured on. */
struct report_release_cost {
	int64_t points;
	double most; /* NaN: no limit was set beforehand */
	double delta, epsilon;
	const char *proof;                     /* "composition" or "odometer" */
	struct report_release_metric *metrics; /* (nmetrics) */
	size_t nmetrics;
};

/* ---- the study around its points ---- */

/* What every study of a report says of itself. */
struct report_study {
	struct dp_public_state view;
	const char *study, *state;
	const char *name;   /* what people call it: --label, else as `study` */
	const char *reason; /* "": none */
	int64_t evaluations, failed, diverged;
	size_t front_size; /* points */
	double hypervolume;
	bool uses_smoothed_front;       /* the models chose the front */
	double smoothed_hypervolume;    /* of the front that they choose or would; NaN: too
					 * little is known for models */
	size_t reevaluated_size;        /* points of the front that were measured again, */
	double reevaluated_hypervolume; /* of which this is the volume; else NaN */
	size_t observed_size;           /* points on the front of observed means */
	size_t smoothed_size;           /* on that of the models; 0: there are none */
	struct report_epsilon_levels epsilon_levels;
};

struct report_calibration {
	const char *mechanism, *key; /* whose noise it is, and under which name */
	double epsilon;              /* the target, */
	const char *epsilon_of;      /* or the parameter that sets it */
};
struct report_parameter {
	const char *name, *type;
	double low, high; /* these three, */
	const char *scale;
	json_t *values;                        /* or this, */
	struct report_calibration *calibrated; /* or this */
};
struct report_constraint {
	const char *metric;
	const char *is; /* ">=" or "<=" */
	double bound;
};
struct report_path { /* trainer.path */
	const char *parameter;
	int64_t points;
};
struct report_settings {
	const char *method;
	const char *acquisition; /* or NULL */
	const char *front;       /* "observed" or "denoised" */
	int64_t evaluations, parallel;
	const char *cost; /* what gains are divided by: "none", "path" or "seconds" */
	double max_cost;
	const char *order;
	int64_t runs;
	bool one_run_per_process;
	int64_t initial;
	const char *initial_from; /* or NULL */
	double max_time, timeout; /* seconds */
	int64_t memory;           /* bytes of a trainer; -1: no limit */
	int64_t retries;
	struct report_path *path;            /* NULL: none */
	struct report_parameter *parameters; /* (nparameters) */
	size_t nparameters;
	struct report_constraint *constraints; /* (nconstraints) */
	size_t nconstraints;
};

struct report_failure_message {
	int64_t trial, at;
	const char *message;
};
/* Attempts that ended in one way. */
struct report_failure_class {
	const char *end;
	int64_t attempts, trials;
	struct report_failure_message *messages; /* (nmessages) a few that differ */
	size_t nmessages;
};

/* Attempts that did not end well, by the class of their end. */
struct report_failures {
	int64_t failed, diverged; /* trials */
	int64_t attempts;
	int64_t waypoints_kept; /* results of trainings that gave no other */
	bool messages_left_out;
	struct report_failure_class *groups; /* (ngroups) */
	size_t ngroups;
};

struct report_resources {
	int64_t evaluations, attempts, trainings;
	double walked; /* the sum over evaluations of what trainings walk up, each counted
			* in full; NaN: they have no path */
	double elapsed_seconds, training_seconds, cpu_seconds;
	int64_t peak_memory;
};

struct report_versions {
	const char *dpareto;
	int64_t journal_format;
	const char *compiler;
};
struct report_host {
	const char *name, *system, *release, *machine;
};
struct report_provenance {
	const char *study_file; /* NULL: the seed could not be taken out of it */
	struct report_versions versions;
	const char *created, *updated; /* times */
	/* NULL in a public report: */
	const char *const *command; /* ends with NULL */
	const uint64_t *seed;
	struct report_host *host;
	const char *path, *journal;
};

/* ---- a private selection (selection.c) ---- */

struct report_selection {
	struct dp_select_cost cost;
	const char *statement; /* to copy; NULL: nothing was selected */
};

/* ---- all of it ---- */

/* A line to compare with. */
struct report_baseline {
	const char *label;
	double value;
};

struct report_model {
	struct report_study study; /* what the report is about */
	bool public;               /* the seed and what may hold it is left out */
	const char *data;          /* "private" or "public" */
	const char *seeds;         /* "fixed" or "secret" */
	const char *seeds_warning; /* or NULL: of fixed ones on private data */
	int64_t budget;            /* evaluations */
	const char *privacy_objective, *utility_objective; /* or NULL */
	struct report_objective *objectives;               /* (nobjectives) */
	size_t nobjectives;
	struct report_best *bests; /* (nbests) */
	size_t nbests;
	struct report_point *front; /* (nfront) */
	size_t nfront;
	struct report_mechanism *privacy; /* (nprivacy) */
	size_t nprivacy;
	struct report_declarations declared;
	struct report_release_cost *released; /* NULL: utilities are exact */
	struct report_selection_bias optimism;
	struct report_surrogate *models; /* (nmodels) of what is not computed */
	size_t nmodels;
	struct report_importance importance;
	struct report_study *compared; /* (ncompared) the other studies */
	size_t ncompared;
	struct report_baseline *baselines; /* (nbaselines) */
	size_t nbaselines;
	struct report_majority_class *majority;       /* NULL: unknown */
	struct report_recommendation *recommendation; /* NULL: there is no front */
	const struct rendered_figure *figures;        /* (npictures) */
	size_t nfigures;
	struct report_settings settings;
	struct report_failures failures;
	struct report_resources spent;
	struct report_provenance reproduce;
	const struct report_selection *selection; /* NULL: it is none; else of all this only
						   * what selection.c tells is told */
	struct report_groups *groups; /* NULL: it is about a study; else of all this only
				       * what groups_model.h has is told */
	struct report_arena {
		void **blocks; /* (n) */
		size_t n;
		bool failed; /* some of it could not be had */
	} arena;
};

/* Finds everything; the pictures stay the caller's and must outlive the facts. */
DP_MUSTCHECK int report_model_build(const struct report_data *r,
				    const struct rendered_figure *pictures, size_t npictures,
				    struct report_model *out, struct dp_err *err);
void report_model_free(struct report_model *report);
/* report.json: a new reference, NULL without memory (report_json.c). */
json_t *report_json_build(const struct report_model *report);
/* The list of its figures: of struct report_model. */
json_t *report_json_figures(const void *facts);
/* The same of a private selection: selection.c, as the next. */
json_t *selection_report_build_json(const struct report_model *report);
DP_MUSTCHECK int report_model_selection(const struct study_data *s, struct report_arena *arena,
					const struct report_selection **out, struct dp_err *err);

/* ---- memory of facts: freed with them; NULL when there is none, which also
 * report_model_build() will tell ---- */

/* Room for n, all zero. */
void *report_arena_alloc(struct report_arena *arena, size_t n, size_t size);
/* A copy of a part. */
void *report_arena_dup(struct report_arena *arena, const void *part, size_t size);
/* A copy of a text, a sentence where that is no UTF-8, NULL of NULL. */
const char *report_arena_strdup(struct report_arena *arena, const char *text);

/* ---- points.c: results, their spread, how far to trust them ---- */

/* What was measured again of the front, as a whole. */
void report_model_reevaluations(const struct study_data *s, struct report_arena *arena,
				struct report_study *out);
void report_model_epsilon_levels(const struct study_data *s, struct report_arena *arena,
				 struct report_epsilon_levels *out);
/* After the headline. */
void report_model_add_majority(const struct study_data *s, struct report_model *report);
void report_model_add_bests(const struct study_data *s, struct report_model *report);
void report_model_add_front(const struct study_data *s, struct report_model *report);
void report_model_selection_bias(const struct study_data *s, struct report_arena *arena,
				 struct report_selection_bias *out);

/* ---- recommendation.c ---- */

/* After the front, the majority and what is known of the noise. */
DP_MUSTCHECK int report_model_add_recommendation(const struct study_data *s,
						 struct report_model *report, struct dp_err *err);

/* ---- command.c ---- */

/* What trains a point again, to paste. In a public report it has no word of the trainer's
 * command. */
const char *format_retrain_command(const struct study_data *s, struct report_model *report,
				   const struct report_point *p);
/* " --state DIR" where the journal is not where a daemon usually has it, such as that of
 * a study that `run` made. */
void command_append_state_dir(struct dp_buf *out, const char *journal);
/* One word more of a command, as a shell takes it. */
void command_append_word(struct dp_buf *out, const char *word);

/* ---- summary.c ---- */

/* The recommendation in sentences. */
void summary_write_recommendation(const struct report_model *report, struct dp_buf *out);

/* ---- surrogate_summary.c ---- */

void report_model_add_surrogates(const struct study_data *s, struct report_model *report);

/* ---- privacy_mechanisms.c: what is behind each epsilon ---- */

void report_model_add_privacy(const struct study_data *s, struct report_model *report);
struct report_accountant_check check_result_epsilon(const struct study_data *s,
						    struct dp_result_id p, size_t objective);
/* The accountant of a composition of Gaussian mechanisms alone. */
#define GAUSSIAN_ACCOUNTANT_TEXT                                                                   \
	"the closed form of one Gaussian mechanism, which all parts together are"
/* What was done to the data at a result's point, defaults filled in; at a trial's own it
 * is its whole training, whatever became of it. Refused where nobody knows. */
DP_MUSTCHECK int study_data_mechanisms_at(const struct study_data *s, struct dp_result_id p,
					  size_t objective, struct dp_composition_items *out,
					  struct dp_err *err);
/* delta of a privacy objective at a trial; 0 where there is none. */
double study_data_delta_at(const struct study_data *s, uint32_t trial, size_t objective);

/* ---- declarations.c ---- */

void report_model_declarations(const struct study_data *s, struct report_declarations *out);

/* ---- total_cost.c: what all trainings of a study cost together ---- */

void report_model_total_cost(const struct study_data *s, size_t objective,
			     struct report_arena *arena, struct report_total_cost *out);

/* ---- privacy_statement.c: a paragraph to copy ---- */

/* What may be said of one training at this point; or NULL. */
const char *format_privacy_statement(const struct study_data *s, struct dp_result_id p,
				     size_t objective, struct report_arena *arena);
/* Whom epsilon holds for; NaN values are those that a parameter sets. */
const char *privacy_unit_text(const struct dp_mechanism *m, const double *values,
			      struct report_arena *arena);
/* The relation of a composition is that of the part that has one of its own. */
const char *neighbouring_relation_text(const struct dp_composition_items *uses);
/* `digits` significant digits, rounded up: epsilon is never shown below what it is. */
char *number_format_rounded_up(double x, int digits, char out[DP_NUM_LEN]);
void number_append_rounded_up(double x, int digits, struct dp_buf *out);

/* ---- release.c ---- */

void report_model_release_cost(const struct study_data *s, struct report_arena *arena,
			       struct report_release_cost **out);

/* ---- study.c: settings, failures, costs, how to do it again ---- */

void report_model_settings(const struct study_data *s, struct report_arena *arena,
			   struct report_settings *out);
void report_model_failures(const struct study_data *s, bool public, struct report_arena *arena,
			   struct report_failures *out);
void report_model_resources(const struct study_data *s, bool times, struct report_resources *out);
void report_model_provenance(const struct report_data *r, struct report_arena *arena,
			     struct report_provenance *out);

#endif
