/* report_model.h - the report model: all content of a report as a JSON tree.
 *
 * Each section is built from the study data. report.json is the tree itself; report.md and
 * report.html are written from the same tree. The same journal gives the same bytes: nothing reads
 * the clock. */
#ifndef DP_REPORTS_MODEL_REPORT_MODEL_H
#define DP_REPORTS_MODEL_REPORT_MODEL_H
#include "reports/figures/figure_render.h"
#include "reports/model/number_format.h"
#include "reports/model/report_fields.h"
#include "reports/model/study_groups.h"
#include "study/accounting.h"
#include "study/private_selection.h"

struct report_choice {
	const char *name;        /* "strict", "enough", "recommended", "loose", "beyond" */
	json_t *point;           /* borrowed from the model's "front" */
	double cost;             /* value of the first objective shown, such as epsilon */
	double value, low, high; /* estimate of the second objective, see struct estimate */
	const char *source;      /* of the interval: "models", "runs", or NULL if there is none */
	double std_error;        /* by the runs; NaN: unknown */
	bool no_better;          /* no better than the majority class */
	bool meaningless;        /* epsilon too large for a meaningful guarantee */
};

/* The gain from one point to a more expensive one, and whether noise can explain it. */
struct report_utility_gain {
	double gain;     /* may be negative */
	double noise;    /* two standard errors of the gain, by the runs; NaN: unknown */
	double sampling; /* two standard errors of a share of the test records; NaN: unknown */
	double records;  /* number of test records */
	bool resolved;   /* the gain exceeds noise and sampling error */
};

/* The recommended points, and the gain from more epsilon. */
struct report_recommendation {
	/* high privacy to best utility; includes "enough" only where it adds a distinct row */
	struct report_choice choices[4];
	size_t nchoices;
	const struct report_choice *recommended, *best_utility; /* in choices; NULL: none */
	bool has_better_utility;
	struct report_utility_gain gain_to_best; /* valid if has_better_utility */
	/* The cheapest point that the runs cannot distinguish from the recommended one, and the
	 * best point above max_cost if it is better. NULL: none. */
	const struct report_choice *cheaper_equivalent, *best_over_limit;
	struct report_utility_gain gain_from_cheaper; /* valid if cheaper_equivalent */
	struct report_choice enough, beyond;          /* storage for the pointers above */
	double max_cost;                              /* cost limit; NaN: no point exceeds it */
	enum dp_point_rule rule;
};

struct report_group_pair {
	size_t a, b;
	struct dp_t_test tests[BASIS_COUNT]; /* of hypervolumes, where known */
};

struct report_groups {
	const struct study_groups *groups;
	struct dp_compare_answer hypervolumes[BASIS_COUNT]; /* where known */
	struct dp_compare_answers level_answers;
	/* Each group against the first one with the same trainer. If no two groups share a trainer:
	 * the first against the others. */
	struct report_group_pair *pairs; /* (npairs) */
	size_t npairs;
	json_t *settings; /* by study: its canonical settings as an object by key */
};

struct report_model {
	const struct report_data *data;
	const struct study_data *study;               /* the first study */
	json_t *json;                                 /* report.json */
	struct report_recommendation *recommendation; /* NULL: the front is empty */
	const struct rendered_figure *figures;        /* (nfigures) */
	size_t nfigures;
	struct report_groups *groups; /* NULL: not a group report */
};

/* Builds the model. The caller keeps data and figures, which must outlive the model. */
DP_MUSTCHECK int report_model_build(const struct report_data *r,
				    const struct rendered_figure *figures, size_t nfigures,
				    struct report_model *out, struct dp_err *err);
void report_model_free(struct report_model *report);
/* Borrowed: the entry of this objective in the model. */
json_t *report_objective(const struct report_model *report, size_t objective);
/* The result id of an object with "trial" and "at": "7", "7@4". */
char *point_name(const json_t *point, char out[RESULT_NAME_LEN]);

/* ---- groups_model.c ---- */

/* Fills in groups and json. Takes the reference to figures. */
DP_MUSTCHECK int report_model_build_groups(struct report_model *report, json_t *figures,
					   struct dp_err *err);
void report_groups_free(struct report_groups *g);
/* The value of a setting in a group, or NULL if unset. *mixed: members differ. */
const char *report_group_setting(const struct report_groups *g, const struct report_data *r,
				 size_t group, const char *key, bool *mixed);

/* ---- sections; each returns a new reference, or NULL for null ---- */

/* front_results.c. `predictions`: by the models along the front, or NULL. */
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
/* recommendation.c. Fills in "recommendation" and "rows"; call it after all other sections. */
void report_model_recommend(struct report_model *report);

/* ---- shared by sections ---- */

/* Sizes and hypervolumes of the observed, smoothed and re-evaluated fronts (front_results.c). */
struct front_variants {
	size_t smoothed_size;           /* 0: no models */
	double smoothed_hypervolume;    /* NaN: too few results for models */
	size_t reevaluated_size;        /* points that were re-evaluated */
	double reevaluated_hypervolume; /* NaN: none */
};
struct front_variants compute_front_variants(const struct study_data *s);
/* The best point of the front for an objective with at most this epsilon (any, if the study has
 * none). Ties: the more private, then the first. The best of all trials is always on the front
 * (front_results.c). */
bool study_data_best_on_front(const struct study_data *s, size_t objective, double max_epsilon,
			      struct dp_result_id *point, double *value);
/* Whether a value beats the majority class by more than its noise (front_results.c). */
bool beats_majority_class(const struct study_data *s, size_t objective, double value,
			  double standard_error, double majority);

/* Epsilon of a result by other accountants, and whether they agree (privacy_mechanisms.c). */
struct accountant_check {
	double pld, rdp_improved, rdp_classic;
	bool recomputed, holds;
};
struct accountant_check check_result_epsilon(const struct study_data *s, struct dp_result_id p,
					     size_t objective);
/* The accountant name for a composition of Gaussian mechanisms alone. */
#define GAUSSIAN_ACCOUNTANT_TEXT                                                                   \
	"the closed form of one Gaussian mechanism, which all parts together are"
/* The mechanisms applied at a result, with defaults filled in. For a trial's own result: its whole
 * training, whatever the outcome. Fails if they are unknown. */
DP_MUSTCHECK int study_data_mechanisms_at(const struct study_data *s, struct dp_result_id p,
					  size_t objective, struct dp_composition_items *out,
					  struct dp_err *err);
/* delta of a privacy objective at a trial; 0 if it has none. */
double study_data_delta_at(const struct study_data *s, uint32_t trial, size_t objective);

/* Appends the privacy statement of one run at this point. False: nothing to state
 * (privacy_statement.c). */
bool append_privacy_statement(const struct study_data *s, struct dp_result_id p, size_t objective,
			      struct dp_buf *out);
/* The same for the result of a private selection. */
bool append_selection_statement(const struct study_data *s, const struct dp_select_cost *c,
				struct dp_buf *out);
/* The privacy unit that epsilon protects. NaN: a parameter sets the value. */
void append_privacy_unit(struct dp_buf *out, const struct dp_mechanism *m, const double *values);

/* Appends the recommendation in sentences (recommendation_sentence.c). */
void append_recommendation_sentence(struct dp_buf *out, const struct report_model *report,
				    const struct report_recommendation *r);
/* The error that decides the digits: the half-width of the interval, else two standard errors. */
double choice_display_error(const struct report_choice *c);
/* The re-evaluation at the point if it has an interval, else NULL. */
const json_t *choice_reevaluation(const struct report_choice *c);

/* ---- retrain_command.c ---- */

/* Appends the command that trains a point again. A public report omits the trainer's command
 * line. */
void append_retrain_command(struct dp_buf *out, const struct report_model *report,
			    const json_t *point);
/* Appends " --state DIR" if the journal is not in a default state directory. Nothing in a public
 * report. */
void command_append_state_dir(struct dp_buf *out, const struct report_data *r);
/* Appends one word, quoted for a shell. */
void command_append_word(struct dp_buf *out, const char *word);

#endif
