/* state_internal.h - what the fold and the state it makes share. */
#ifndef DP_STATE_STATE_INTERNAL_H
#define DP_STATE_STATE_INTERNAL_H
#include "state/state.h"

/* The state of this name; -1 if there is none. */
int dp__study_status_parse(const char *text);
int dp__trial_status_parse(const char *text);
/* Position of the first study with an id not below `id`. */
uint32_t dp__state_study_index(const struct dp_state *s, uint32_t id);
/* A trial at the point of a trial-proposed or measure-asked, which waits. */
DP_MUSTCHECK int dp__trial_new(const struct dp_study_state *st, const struct dp_event_point *point,
			       const struct dp_event *e, uint32_t number, struct dp_trial **out,
			       struct dp_err *err);
void dp__trial_free(struct dp_trial *t);
/* Replaces *slot by a copy of text, or by NULL. */
DP_MUSTCHECK int dp__replace_string(char **slot, const char *text);
/* Are these parameters of the study, in its order, which whoever shows them may trust? */
bool dp__params_are_valid(const struct dp_study *spec, const double *params, uint32_t n);
void dp__study_state_free(struct dp_study_state *s);
/* The study has other results than before: reducer.c */
void dp__results_invalidate(struct dp_study_state *st);
/* The same, where all that is new are the results of one trial. */
void dp__results_add_trial(struct dp_study_state *st, uint32_t trial);
/* trial-proposed, and what happens to a trial then: reducer_trial.c */
DP_MUSTCHECK int dp__reduce_trial_proposed(struct dp_study_state *st, const struct dp_event *e,
					   struct dp_err *err);
DP_MUSTCHECK int dp__reduce_trial_event(struct dp_study_state *st, const struct dp_event *e,
					struct dp_err *err);
/* study-amended: reducer_amend.c */
DP_MUSTCHECK int dp__reduce_study_amended(struct dp_study_state *st, const struct dp_event *e,
					  struct dp_err *err);
/* One version of a study that was amended. Those before it may still be read by what was
 * begun with them. */
struct dp__spec_version {
	struct dp_study spec; /* all it points to is the first version's */
	struct dp__spec_version *previous;
};
/* Makes what dp_state_public_view() shows of a private selection: public_view.c */
DP_MUSTCHECK int dp__public_view_new(struct dp_study_state *s, struct dp_err *err);
void dp__public_view_free(struct dp__public_view *view);

/* What is measured again: reducer_reeval.c */
DP_MUSTCHECK int dp__reduce_measure_asked(struct dp_study_state *st, const struct dp_event *e,
					  struct dp_err *err);
/* A trial that measures is wanted of a study that may have come to its end. */
DP_MUSTCHECK int dp__reevals_save_resume_state(struct dp_study_state *st, struct dp_err *err);
/* The study is moved, before its status is. */
void dp__reevals_on_study_moved(struct dp_study_state *st, enum dp_study_status to);
/* There is something to search for again. */
void dp__reevals_clear_resume_state(struct dp_study_state *st);
/* Something happens to a trial that measures. */
void dp__reevals_on_trial_event(struct dp_study_state *st, const struct dp_trial *t);
/* A trial that measures has ended, or is tried again. */
void dp__reevals_on_trial_ended(struct dp_study_state *st, const struct dp_trial *t);
void dp__reevals_on_trial_retried(struct dp_study_state *st, const struct dp_trial *t);
void dp__reevals_free(struct dp_reevals *m);

/* Column of a metric in the study's table, which grows if it is new; -1 without memory.
 */
int dp__metric_find_or_add(struct dp_study_state *st, const char *name);
/* Makes a table of so many rows wider, with NaN in what is new; *table may be NULL. */
int dp__table_widen(double **table, size_t rows, uint32_t *wide, uint32_t to);

/* The mean over the runs of a column (one value every `stride`), and its variance:
 * trial_stats.c */
double dp__runs_mean(const double *first, size_t stride, int runs);
double dp__runs_mean_variance(const double *first, size_t stride, int runs);

/* The waypoints of an attempt that has ended; what they come to, once the trial has (for
 * good: it cannot be retried); and that they come to nothing while it is retried: checkpoints.c
 */
DP_MUSTCHECK int dp__checkpoints_add_attempt(struct dp_study_state *st, struct dp_trial *t,
					     const struct dp_event *e, struct dp_err *err);
DP_MUSTCHECK int dp__checkpoints_compute_results(const struct dp_study_state *st,
						 struct dp_trial *t, bool for_good,
						 struct dp_err *err);
void dp__checkpoints_clear_results(struct dp_checkpoints *checkpoints);
void dp__checkpoints_free(struct dp_checkpoints *checkpoints);

#endif
