/* report_model.h - everything that a report says: report.json, as a tree of JSON values.
 *
 * One section after the other is built from the study data; report.json is the tree as it
 * is, and the text of report.md and report.html is written from the same tree. The same
 * journal gives the same bytes: no clock is asked. */
#ifndef DP_REPORTS_MODEL_REPORT_MODEL_H
#define DP_REPORTS_MODEL_REPORT_MODEL_H
#include "reports/figures/figure_render.h"
#include "reports/model/number_format.h"
#include "reports/model/report_fields.h"
#include "reports/model/study_groups.h"
#include "study/accounting.h"
#include "study/private_selection.h"

/* One of the points that a report proposes. */
struct report_choice {
	const char *name;        /* "strict", "enough", "recommended", "loose", "beyond" */
	json_t *point;           /* in the model's "front" */
	double cost;             /* of the first objective shown, such as epsilon */
	double value, low, high; /* of the second: struct estimate */
	const char *source;      /* "models", "runs", or NULL: there is no interval */
	double std_error;        /* the standard error by its runs; NaN: unknown */
	bool no_better;          /* than the majority class */
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
	/* strict to loose; "enough" where these two would be the same without it */
	struct report_choice choices[4];
	size_t nchoices;
	const struct report_choice *recommended, *best_utility; /* of these; NULL: none */
	bool has_better_utility;
	struct report_utility_gain gain_to_best; /* if so */
	/* The least price that cannot be told from the one that is taken, and the best that
	 * costs more than max_cost, if it is better; NULL: none. */
	const struct report_choice *cheaper_equivalent, *best_over_limit;
	struct report_utility_gain gain_from_cheaper; /* if there is one */
	struct report_choice enough, beyond;          /* what the pointers point to */
	double max_cost; /* the highest price that is taken; NaN: no point costs more */
	enum dp_point_rule rule;
};

/* Two groups whose difference is told. */
struct report_group_pair {
	size_t a, b;
	struct dp_t_test tests[BASIS_COUNT]; /* of hypervolumes, where these are known */
};

/* The numbers behind report.json of groups. */
struct report_groups {
	const struct study_groups *groups;
	struct dp_compare_answer hypervolumes[BASIS_COUNT]; /* of those that are known */
	struct dp_compare_answers level_answers;
	/* Each group against the first one of its model; where no two groups share one,
	 * the first against the others. */
	struct report_group_pair *pairs; /* (npairs) */
	size_t npairs;
	json_t *settings; /* of each study, what its file means: an object by key */
};

struct report_model {
	const struct report_data *data;
	const struct study_data *study;               /* its first study */
	json_t *json;                                 /* report.json */
	struct report_recommendation *recommendation; /* NULL: there is no front */
	const struct rendered_figure *figures;        /* (nfigures) */
	size_t nfigures;
	struct report_groups *groups; /* NULL: it is about a study */
};

/* Builds the model; data and figures stay the caller's and must outlive it. */
DP_MUSTCHECK int report_model_build(const struct report_data *r,
				    const struct rendered_figure *figures, size_t nfigures,
				    struct report_model *out, struct dp_err *err);
void report_model_free(struct report_model *report);
/* The part of its objective of this number. */
json_t *report_objective(const struct report_model *report, size_t objective);
/* "7", "7@4": how people are told which result an object with "trial" and "at" is. */
char *point_name(const json_t *point, char out[RESULT_NAME_LEN]);

/* ---- groups_model.c ---- */

/* Fills in groups and json; takes the list of figures. */
DP_MUSTCHECK int report_model_build_groups(struct report_model *report, json_t *figures,
					   struct dp_err *err);
void report_groups_free(struct report_groups *g);
/* The value of a setting in a group; NULL: it has none. *mixed: not in all members. */
const char *report_group_setting(const struct report_groups *g, const struct report_data *r,
				 size_t group, const char *key, bool *mixed);

/* ---- the sections; each returns a new reference, NULL for null ---- */

/* front_results.c. `predictions`: those of the models along the front, or NULL. */
json_t *front_json(const struct study_data *s, const struct dp_prediction *predictions);
json_t *selection_bias_json(const struct study_data *s, const struct dp_prediction *predictions);
json_t *bests_json(const struct study_data *s);
json_t *epsilon_levels_json(const struct study_data *s);
json_t *majority_json(const struct study_data *s);
/* surrogate_fit.c */
json_t *surrogates_json(const struct study_data *s);
json_t *importance_json(const struct study_data *s);
/* privacy_mechanisms.c */
json_t *privacy_json(const struct study_data *s);
/* total_cost.c */
json_t *total_cost_json(const struct study_data *s, size_t objective);
json_t *release_cost_json(const struct study_data *s);
json_t *declarations_json(const struct study_data *s);
/* study_summary.c */
json_t *settings_json(const struct study_data *s);
json_t *failures_json(const struct study_data *s, bool public);
json_t *resources_json(const struct study_data *s, bool times);
json_t *provenance_json(const struct report_data *r);
/* recommendation.c: fills in "recommendation" and "rows", after all others. */
void report_model_recommend(struct report_model *report);

/* ---- what sections are made of ---- */

/* Sizes and hypervolumes of the fronts that are easily taken for each other (front_results.c). */
struct front_variants {
	size_t smoothed_size;           /* by the models; 0: there are none */
	double smoothed_hypervolume;    /* NaN: too little is known for models */
	size_t reevaluated_size;        /* points of the front that were re-evaluated, */
	double reevaluated_hypervolume; /* of which this is the volume; else NaN */
};
struct front_variants compute_front_variants(const struct study_data *s);
/* The point of the front with the best value of an objective among those of at most this
 * epsilon, if the study has one; of equal ones the more private, then the first. What is best
 * of all trials is on the front (front_results.c). */
bool study_data_best_on_front(const struct study_data *s, size_t objective, double max_epsilon,
			      struct dp_result_id *point, double *value);
/* Is a value better than that of the majority class by more than its noise
 * (front_results.c)? */
bool beats_majority_class(const struct study_data *s, size_t objective, double value,
			  double standard_error, double majority);

/* Other accountants' numbers for a result, and do they fit (privacy_mechanisms.c)? */
struct accountant_check {
	double pld, rdp_improved, rdp_classic;
	bool recomputed, holds;
};
struct accountant_check check_result_epsilon(const struct study_data *s, struct dp_result_id p,
					     size_t objective);
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

/* What may be said of one training at this point, to copy; false: nothing
 * (privacy_statement.c). */
bool append_privacy_statement(const struct study_data *s, struct dp_result_id p, size_t objective,
			      struct dp_buf *out);
/* The same of the result of a private selection. */
bool append_selection_statement(const struct study_data *s, const struct dp_select_cost *c,
				struct dp_buf *out);
/* Whom epsilon holds for; NaN values are those that a parameter sets. */
void append_privacy_unit(struct dp_buf *out, const struct dp_mechanism *m, const double *values);

/* The recommendation in sentences (recommendation_sentence.c). */
void append_recommendation_sentence(struct dp_buf *out, const struct report_model *report,
				    const struct report_recommendation *r);
/* The half-width of its interval, which gives the digits; else two standard errors. */
double choice_display_error(const struct report_choice *c);
/* What fresh seeds gave at the point, if they gave an interval; else NULL. */
const json_t *choice_reevaluation(const struct report_choice *c);

/* ---- retrain_command.c ---- */

/* What trains a point again, to paste. In a public report it has no word of the trainer's
 * command. */
void append_retrain_command(struct dp_buf *out, const struct report_model *report,
			    const json_t *point);
/* " --state DIR" where the journal is not where a daemon usually has it, such as that of
 * a study that `run` made; nothing in a public report. */
void command_append_state_dir(struct dp_buf *out, const struct report_data *r);
/* One word more of a command, as a shell takes it. */
void command_append_word(struct dp_buf *out, const char *word);

#endif
