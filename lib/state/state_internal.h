/* state_internal.h - functions shared by the reducer and the state it builds. */
#ifndef DP_STATE_STATE_INTERNAL_H
#define DP_STATE_STATE_INTERNAL_H
#include "state/state.h"

/* Parses the text of a status; -1 if unknown. */
int dp__study_status_parse(const char *text);
int dp__trial_status_parse(const char *text);
/* Position of the first study with an id not below `id`. */
uint32_t dp__state_study_index(const struct dp_state *s, uint32_t id);
/* Creates a waiting trial at the point of a trial-proposed or measure-asked record. */
DP_MUSTCHECK int dp__trial_new(const struct dp_study_state *st, const struct dp_event_point *point,
			       const struct dp_event *e, uint32_t number, struct dp_trial **out,
			       struct dp_err *err);
void dp__trial_free(struct dp_trial *t);
/* Replaces *slot by a copy of text, or by NULL. */
DP_MUSTCHECK int dp__replace_string(char **slot, const char *text);
/* True if the values are valid parameters of the study, in its order, so that they can be shown. */
bool dp__params_are_valid(const struct dp_study *spec, const double *params, uint32_t n);
void dp__study_state_free(struct dp_study_state *s);
/* The results of the study have changed (reducer.c). */
void dp__results_invalidate(struct dp_study_state *st);
/* The same if only the results of one trial were added. */
void dp__results_add_trial(struct dp_study_state *st, uint32_t trial);
/* trial-proposed and the later events of a trial (reducer_trial.c). */
DP_MUSTCHECK int dp__reduce_trial_proposed(struct dp_study_state *st, const struct dp_event *e,
					   struct dp_err *err);
DP_MUSTCHECK int dp__reduce_trial_event(struct dp_study_state *st, const struct dp_event *e,
					struct dp_err *err);
/* study-amended (reducer_amend.c). */
DP_MUSTCHECK int dp__reduce_study_amended(struct dp_study_state *st, const struct dp_event *e,
					  struct dp_err *err);
/* One version of an amended study. Earlier versions stay allocated: background jobs that were
 * started with them may still read them. */
struct dp__spec_version {
	struct dp_study spec; /* all pointers belong to the first version */
	struct dp__spec_version *previous;
};
/* Creates the public view of a private selection (public_view.c). */
DP_MUSTCHECK int dp__public_view_new(struct dp_study_state *s, struct dp_err *err);
void dp__public_view_free(struct dp__public_view *view);

/* Re-evaluations (reducer_reeval.c). */
DP_MUSTCHECK int dp__reduce_measure_asked(struct dp_study_state *st, const struct dp_event *e,
					  struct dp_err *err);
/* A re-evaluation trial is requested: saves the status of a study that has ended. */
DP_MUSTCHECK int dp__reevals_save_resume_state(struct dp_study_state *st, struct dp_err *err);
/* Call before the status of the study changes. */
void dp__reevals_on_study_moved(struct dp_study_state *st, enum dp_study_status to);
/* The search continues, so there is no status to return to. */
void dp__reevals_clear_resume_state(struct dp_study_state *st);
/* An event of a re-evaluation trial. */
void dp__reevals_on_trial_event(struct dp_study_state *st, const struct dp_trial *t);
/* A re-evaluation trial has ended, or is retried. */
void dp__reevals_on_trial_ended(struct dp_study_state *st, const struct dp_trial *t);
void dp__reevals_on_trial_retried(struct dp_study_state *st, const struct dp_trial *t);
void dp__reevals_free(struct dp_reevals *m);

/* Column of a metric in the study's table, which grows if the metric is new; -1 without memory. */
int dp__metric_find_or_add(struct dp_study_state *st, const char *name);
/* Widens a table of `rows` rows to `to` columns, new ones NaN; *table may be NULL. */
int dp__table_widen(double **table, size_t rows, uint32_t *wide, uint32_t to);

/* Mean over the runs of a column (one value every `stride`) and its variance (trial_stats.c). */
double dp__runs_mean(const double *first, size_t stride, int runs);
double dp__runs_mean_variance(const double *first, size_t stride, int runs);

/* Checkpoints (checkpoints.c): add those of an ended attempt; compute the results of an ended trial
 * (for_good: it cannot be retried); clear the results when it is retried. */
DP_MUSTCHECK int dp__checkpoints_add_attempt(struct dp_study_state *st, struct dp_trial *t,
					     const struct dp_event *e, struct dp_err *err);
DP_MUSTCHECK int dp__checkpoints_compute_results(const struct dp_study_state *st,
						 struct dp_trial *t, bool for_good,
						 struct dp_err *err);
void dp__checkpoints_clear_results(struct dp_checkpoints *checkpoints);
void dp__checkpoints_free(struct dp_checkpoints *checkpoints);

#endif
