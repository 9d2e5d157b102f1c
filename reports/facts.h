/* facts.h - everything a report says, as numbers and words of fixed names. text.c puts
 * it into sentences, facts_json.c into report.json; neither can ask for what is not
 * here.
 *
 * The same journal gives the same facts, byte for byte: no clock is asked. An unknown
 * number is NaN, an unknown count negative, an unknown text NULL; in report.json these
 * are null. Texts are UTF-8. Facts point into the report and own the rest. */
#ifndef DP_FACTS_H
#define DP_FACTS_H
#include "base/num.h"
#include "recall/whole.h"
#include "reports/pictures.h"
#include <jansson.h>

/* An epsilon above this bounds nothing that matters: whoever looks at the result may be
 * e^20, some 500 million, times as sure that a record was among the others. */
#define FACTS_MEANINGLESS 20.0

/* ---- points ---- */

/* A result is named by `trial` and `at`, the value of its waypoint (negative: none). */

/* Of an objective's values over the runs of a result; least and most of those at a
 * waypoint are not kept. */
struct fact_spread {
	double least, mean, most, sd, standard_error;
	int64_t runs;
};

/* The best utility with epsilon at most this, by the values that the front goes by; the
 * rest is unknown where there is none. */
struct fact_headline {
	double epsilon;
	int64_t trial, at;
	double spent, value;
	struct fact_spread *runs;
	bool no_better; /* than the commonest class, see fact_majority */
};
struct fact_headlines {
	struct fact_headline *list; /* (n) */
	size_t n;
};

/* What always answering the commonest class gives, and how many points of the front are
 * not better by more than two standard errors of their runs. */
struct fact_majority {
	double value;
	int64_t no_better;
};

/* The best result of an objective. */
struct fact_best {
	const char *objective;
	bool privacy; /* it is an epsilon */
	double value;
	int64_t trial, at;
	const struct dp_study_state *s;
	struct dp_point point;
};

/* Other accountants' numbers for a result, and do they fit? */
struct fact_check {
	double pld, rdp_improved, rdp_classic;
	bool recomputed, holds;
};

struct fact_interval { /* 95 %, of the value without the noise */
	double low, high;
};

/* One objective at a point of the front. */
struct fact_point_objective {
	const char *name;
	double value;    /* as observed */
	double denoised; /* what models leave of it; of what is computed, that */
	/* of one that is measured, else NULL: */
	struct fact_spread *runs;
	struct fact_interval *interval; /* NULL also where no model looked at it */
	/* of a privacy mechanism: */
	struct fact_check *check; /* else NULL */
	const char *statement;    /* to copy; or NULL */
};

/* A point of the front. */
struct fact_point {
	const struct subject *s;
	struct dp_point point;
	int64_t trial, at;
	json_t *parameters;
	bool denoised;                  /* it has values without the noise, */
	bool modelled;                  /* which are those of models and not what was observed */
	struct dp_measured *remeasured; /* NULL: it was not measured again */
	/* One for each objective of the study, in its order. */
	struct fact_point_objective *of;
};

struct fact_objective {
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
struct fact_choice {
	const char *name;               /* "strict", "enough", "recommended", "loose", "beyond" */
	const struct fact_point *point; /* of the front */
	int64_t trial, at;
	double price;            /* of the first objective shown, such as epsilon */
	double value, low, high; /* of the second: struct estimate */
	const char *source;      /* "models", "runs", or NULL: there is no interval */
	double error;            /* the standard error by its runs; NaN: unknown */
	const char *command;     /* that trains it again */
	bool no_better;          /* than the commonest class */
	bool meaningless;        /* its epsilon guarantees nothing */
};

/* From one of them to another that costs more, and what of the gain can be seen. */
struct fact_step {
	double gain;     /* may be negative */
	double noise;    /* two standard errors of that by the runs; NaN: unknown */
	double sampling; /* two of a share of the test records; NaN: unknown */
	double records;  /* these */
	bool resolved;   /* the gain is more than both */
};

/* What a report recommends, and what more epsilon would buy. */
struct fact_recommendation {
	size_t x, y;              /* the objectives that are weighed */
	struct fact_choice *rows; /* (nrows) strict to loose; "enough" where these two
				   * would be the same without it */
	size_t nrows;
	const struct fact_choice *taken, *loose; /* of these; NULL: none */
	struct fact_step *to_loose; /* from the one that is taken; NULL: it is that one */
	/* The least price that cannot be told from the one that is taken; NULL: there is
	 * no less. */
	struct fact_choice *enough;
	struct fact_step *from_enough;
	double limit;               /* the highest price that is taken; NaN: no point costs more */
	struct fact_choice *beyond; /* the best that costs more, if it is better */
	const char *rule;           /* "one-se", "knee", "best" */
	const char *ask;            /* the command that answers the same; or NULL */
	const char *sentence;       /* all of it in words */
};

/* ---- how far to trust them ---- */

struct fact_shrinkage { /* how much worse the models think the front is */
	double mean, most;
};
struct fact_again {     /* how much worse points are when they are measured again, on average
			 */
	int64_t points; /* of the front, that were */
	double than_observed, than_denoised; /* NaN: nothing is denoised */
};
struct fact_holdout { /* a metric on a holdout less the one that the search looked at */
	const char *metric, *of;
	double difference;
};
struct fact_sampling { /* the error of a share of n test records */
	double share, records, error, error_at_1000, error_at_10000;
};

/* How far the values of a measured objective can be trusted. */
struct fact_trust {
	const char *objective;
	double standard_error;
	struct fact_shrinkage *too_good_by; /* each NULL: unknown */
	struct fact_again *again;
	struct fact_holdout *holdout;
	struct fact_sampling *sampling;
};

/* By how much the best of noisy observations may look too good. */
struct fact_optimism {
	int64_t chosen_from; /* results, those of waypoints too, */
	int64_t trials;      /* of so many */
	int64_t runs;
	const char *no_models;         /* why; NULL: there are models */
	struct fact_trust *objectives; /* (nobjectives) those that are measured */
	size_t nobjectives;
};

/* ---- models ---- */

/* How well the model of an objective foretells what it does not know: struct model_fit.
 */
struct fact_model {
	const char *objective;
	int64_t results;
	double coverage, explained, error;
	bool trusted;
	const char *why; /* not, or NULL */
};

/* A parameter's share of what varies in an objective: struct dp_importance. */
struct fact_share {
	const char *parameter;
	double first, total;
};
struct fact_objective_shares {
	const char *objective;
	const char *source;            /* "oracle": computed; "model" */
	struct fact_share *parameters; /* (nparameters) in the order of the ranking */
	size_t nparameters;
};
struct fact_importance {
	const char *const *ranking;               /* parameters; those that matter most first */
	struct fact_objective_shares *objectives; /* (nobjectives) of which it is known */
	size_t nobjectives;
};

/* ---- what is behind an epsilon ---- */

/* What all trainings of a study cost together, and by which proof. */
struct fact_composed {
	bool measured_again; /* some of them measured points again */
	int64_t evaluations, trainings, attempts, not_started, imported;
	enum dp_whole_proof kind;
	const char *proof;
	double epsilon, delta; /* NaN: unknown, `why` */
	double order;
	double spent, limit; /* of a budget; else NaN */
	double if_fixed;     /* had all settings been fixed beforehand; no guarantee */
	const char *why;     /* or NULL */
	bool recorded;       /* the odometer was journaled before the first training */
};

/* A key of a mechanism: set by a parameter, a word, or a number. */
struct fact_key {
	const char *name;
	const char *parameter, *word; /* or NULL */
	double number;
};

/* One mechanism of a composition. */
struct fact_part {
	const char *mechanism, *summary;
	double times;                /* NaN: set by */
	const char *times_parameter; /* this one; else NULL */
	const char *relation;
	const char *sampling;  /* or NULL */
	struct fact_key *keys; /* (nkeys) */
	size_t nkeys;
	double records;
	const char *theorem, *source, *noise;
};

/* A privacy objective with its mechanism, its assumptions and the study's cost. */
struct fact_mechanism {
	size_t index; /* of its objective among those of the study */
	const char *objective;
	const char *mechanism; /* or "composition" or "program", which have fewer facts */
	const char *summary;
	const char *const *command; /* of a program; else NULL */
	struct fact_part *parts;    /* (nparts) of a composition */
	size_t nparts;
	const char *unit;
	const char *relation;
	const char *sampling;  /* or NULL */
	struct fact_key *keys; /* (nkeys) */
	size_t nkeys;
	double records, delta, delta_times_records;
	const char *accountant, *accountant_text;
	const char *theorem;
	const char *source;
	const char *noise;
	const char *warning; /* or NULL */
	struct fact_composed composed;
};

/* How many of the attempts that gave a result declared what. What contradicts the
 * mechanism gives none, so that whatever was declared agrees. */
struct fact_declared {
	bool compared; /* a mechanism of the study can be contradicted by it */
	bool kept;     /* false: it is not known any more (objectives.NAME.release) */
	int64_t attempts;
	int64_t sampling, records, lot, steps, noise_over_clip;
	int64_t shuffled; /* in the number of `sampling` */
};

/* ---- noise on utilities ---- */

struct fact_release {
	const char *objective, *metric;
	double records, sigma;
};
/* What the records cost that utilities were measured on. */
struct fact_released {
	int64_t points;
	double most; /* NaN: no limit was set beforehand */
	double delta, epsilon;
	const char *proof;            /* "composition" or "odometer" */
	struct fact_release *metrics; /* (nmetrics) */
	size_t nmetrics;
};

/* ---- the study around its points ---- */

/* What every study of a report says of itself. */
struct fact_study {
	struct dp_study_state *s;
	const char *study, *state;
	const char *name;   /* what people call it: --label, else as `study` */
	const char *reason; /* "": none */
	int64_t evaluations, failed, diverged;
	size_t front; /* points */
	double hypervolume;
	bool denoises;                 /* the models chose the front */
	double hypervolume_denoised;   /* of the front that they choose or would; NaN: too
					* little is known for models */
	size_t remeasured;             /* points of the front that were measured again, */
	double hypervolume_remeasured; /* of which this is the volume; else NaN */
	size_t searched;               /* points on the front of observed means */
	size_t modelled;               /* on that of the models; 0: there are none */
	struct fact_headlines headline;
};

struct fact_calibrated {
	const char *mechanism, *key; /* whose noise it is, and under which name */
	double epsilon;              /* the target, */
	const char *epsilon_of;      /* or the parameter that sets it */
};
struct fact_parameter {
	const char *name, *type;
	double low, high; /* these three, */
	const char *scale;
	json_t *values;                     /* or this, */
	struct fact_calibrated *calibrated; /* or this */
};
struct fact_constraint {
	const char *metric;
	const char *is; /* ">=" or "<=" */
	double bound;
};
struct fact_path { /* trainer.path */
	const char *parameter;
	int64_t points;
};
struct fact_settings {
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
	struct fact_path *path;            /* NULL: none */
	struct fact_parameter *parameters; /* (nparameters) */
	size_t nparameters;
	struct fact_constraint *constraints; /* (nconstraints) */
	size_t nconstraints;
};

struct fact_message {
	int64_t trial, at;
	const char *message;
};
/* Attempts that ended in one way. */
struct fact_failure {
	const char *end;
	int64_t attempts, trials;
	struct fact_message *messages; /* (nmessages) a few that differ */
	size_t nmessages;
};

/* Attempts that did not end well, by the class of their end. */
struct fact_failures {
	int64_t failed, diverged; /* trials */
	int64_t attempts;
	int64_t waypoints_kept; /* results of trainings that gave no other */
	bool messages_left_out;
	struct fact_failure *groups; /* (ngroups) */
	size_t ngroups;
};

struct fact_spent {
	int64_t evaluations, attempts, trainings;
	double walked; /* the sum over evaluations of what trainings walk up, each counted
			* in full; NaN: they have no path */
	double elapsed_seconds, training_seconds, cpu_seconds;
	int64_t peak_memory;
};

struct fact_versions {
	const char *dpareto;
	int64_t journal_format;
	const char *compiler;
};
struct fact_host {
	const char *name, *system, *release, *machine;
};
struct fact_reproduce {
	const char *study_file; /* NULL: the seed could not be taken out of it */
	struct fact_versions versions;
	const char *created, *updated; /* times */
	/* NULL in a public report: */
	const char *const *command; /* ends with NULL */
	const uint64_t *seed;
	struct fact_host *host;
	const char *path, *journal;
};

/* ---- a private selection (selection.c) ---- */

struct fact_selection {
	struct dp_select_cost cost;
	const char *statement; /* to copy; NULL: nothing was selected */
};

/* ---- all of it ---- */

/* A line to compare with. */
struct fact_baseline {
	const char *label;
	double value;
};

struct facts {
	struct fact_study study;   /* what the report is about */
	bool public;               /* the seed and what may hold it is left out */
	const char *data;          /* "private" or "public" */
	const char *seeds;         /* "fixed" or "secret" */
	const char *seeds_warning; /* or NULL: of fixed ones on private data */
	int64_t budget;            /* evaluations */
	const char *privacy_objective, *utility_objective; /* or NULL */
	struct fact_objective *objectives;                 /* (nobjectives) */
	size_t nobjectives;
	struct fact_best *bests; /* (nbests) */
	size_t nbests;
	struct fact_point *front; /* (nfront) */
	size_t nfront;
	struct fact_mechanism *privacy; /* (nprivacy) */
	size_t nprivacy;
	struct fact_declared declared;
	struct fact_released *released; /* NULL: utilities are exact */
	struct fact_optimism optimism;
	struct fact_model *models; /* (nmodels) of what is not computed */
	size_t nmodels;
	struct fact_importance importance;
	struct fact_study *compared; /* (ncompared) the other studies */
	size_t ncompared;
	struct fact_baseline *baselines; /* (nbaselines) */
	size_t nbaselines;
	struct fact_majority *majority;             /* NULL: unknown */
	struct fact_recommendation *recommendation; /* NULL: there is no front */
	const struct picture *pictures;             /* (npictures) */
	size_t npictures;
	struct fact_settings settings;
	struct fact_failures failures;
	struct fact_spent spent;
	struct fact_reproduce reproduce;
	const struct fact_selection *selection; /* NULL: it is none; else of all this only
						 * what selection.c tells is told */
	struct fact_groups *groups;             /* NULL: it is about a study; else of all this only
						 * what group_facts.h has is told */
	struct facts_memory {
		void **owned; /* (n) */
		size_t n;
		bool failed; /* some of it could not be had */
	} memory;
};

/* Finds everything; the pictures stay the caller's and must outlive the facts. */
DP_MUSTCHECK int report_facts(const struct report *r, const struct picture *pictures,
			      size_t npictures, struct facts *out, struct dp_err *err);
void facts_free(struct facts *f);
/* report.json: a new reference, NULL without memory (facts_json.c). */
json_t *facts_json(const struct facts *f);
/* The list of its figures: of struct facts. */
json_t *facts_figures_json(const void *facts);
/* The same of a private selection: selection.c, as the next. */
json_t *selection_report_json(const struct facts *f);
DP_MUSTCHECK int facts_selection(const struct subject *s, struct facts_memory *m,
				 const struct fact_selection **out, struct dp_err *err);

/* ---- memory of facts: freed with them; NULL when there is none, which also
 * report_facts() will tell ---- */

/* Room for n, all zero. */
void *facts_room(struct facts_memory *m, size_t n, size_t size);
/* A copy of a part. */
void *facts_keep(struct facts_memory *m, const void *part, size_t size);
/* A copy of a text, a sentence where that is no UTF-8, NULL of NULL. */
const char *facts_text(struct facts_memory *m, const char *text);

/* ---- points.c: results, their spread, how far to trust them ---- */

/* What was measured again of the front, as a whole. */
void facts_remeasured(const struct subject *s, struct facts_memory *m, struct fact_study *out);
void facts_headline(const struct subject *s, struct facts_memory *m, struct fact_headlines *out);
/* After the headline. */
void facts_majority(const struct subject *s, struct facts *f);
void facts_bests(const struct subject *s, struct facts *f);
void facts_front(const struct subject *s, struct facts *f);
void facts_optimism(const struct subject *s, struct facts_memory *m, struct fact_optimism *out);

/* ---- choice_facts.c ---- */

/* After the front, the majority and what is known of the noise. */
DP_MUSTCHECK int facts_choices(const struct subject *s, struct facts *f, struct dp_err *err);

/* ---- command.c ---- */

/* What trains a point again, to paste. In a public report it has no word of the trainer's
 * command. */
const char *facts_command(const struct subject *s, struct facts *f, const struct fact_point *p);
/* " --state DIR" where the journal is not where a daemon usually has it, such as that of
 * a study that `run` made. */
void facts_command_state(struct dp_buf *out, const char *journal);
/* One word more of a command, as a shell takes it. */
void facts_command_word(struct dp_buf *out, const char *word);

/* ---- text_first.c ---- */

/* The recommendation in sentences. */
void say_recommendation(const struct facts *f, struct dp_buf *out);

/* ---- model_facts.c ---- */

void facts_models(const struct subject *s, struct facts *f);

/* ---- privacy.c: what is behind each epsilon ---- */

void facts_privacy(const struct subject *s, struct facts *f);
struct fact_check facts_check(const struct subject *s, struct dp_point p, size_t objective);
/* The accountant of a composition of Gaussian mechanisms alone. */
#define FACTS_GAUSSIAN "the closed form of one Gaussian mechanism, which all parts together are"
/* What was done to the data at a result's point, defaults filled in; at a trial's own it
 * is its whole training, whatever became of it. Refused where nobody knows. */
DP_MUSTCHECK int facts_uses(const struct subject *s, struct dp_point p, size_t objective,
			    struct dp_uses *out, struct dp_err *err);
/* delta of a privacy objective at a trial; 0 where there is none. */
double facts_delta(const struct subject *s, uint32_t trial, size_t objective);

/* ---- declared.c ---- */

void facts_declared(const struct subject *s, struct fact_declared *out);

/* ---- composed.c: what all trainings of a study cost together ---- */

void facts_composed(const struct subject *s, size_t objective, struct facts_memory *m,
		    struct fact_composed *out);

/* ---- statement.c: a paragraph to copy ---- */

/* What may be said of one training at this point; or NULL. */
const char *facts_statement(const struct subject *s, struct dp_point p, size_t objective,
			    struct facts_memory *m);
/* Whom epsilon holds for; NaN values are those that a parameter sets. */
const char *facts_unit(const struct dp_mechanism *m, const double *values,
		       struct facts_memory *memory);
/* The relation of a composition is that of the part that has one of its own. */
const char *facts_relation(const struct dp_uses *uses);
/* `digits` significant digits, rounded up: epsilon is never shown below what it is. */
char *facts_rounded_up(double x, int digits, char out[DP_NUM_LEN]);
void facts_round_up(double x, int digits, struct dp_buf *out);

/* ---- release.c ---- */

void facts_released(const struct subject *s, struct facts_memory *m, struct fact_released **out);

/* ---- study.c: settings, failures, costs, how to do it again ---- */

void facts_settings(const struct subject *s, struct facts_memory *m, struct fact_settings *out);
void facts_failures(const struct subject *s, bool public, struct facts_memory *m,
		    struct fact_failures *out);
void facts_spent(const struct subject *s, bool times, struct fact_spent *out);
void facts_reproduce(const struct report *r, struct facts_memory *m, struct fact_reproduce *out);

#endif
