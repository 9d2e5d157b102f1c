/* state_internal.h - what the fold and the state it makes share. */
#ifndef DP_STATE_INTERNAL_H
#define DP_STATE_INTERNAL_H
#include "journal/state.h"

/* The state of this name; -1 if there is none. */
int dp__study_status_from(const char *text);
int dp__trial_status_from(const char *text);
/* Position of the first study with an id not below `id`. */
uint32_t dp__state_position(const struct dp_state *s, uint32_t id);
/* A trial at the point of a trial-proposed or measure-asked, which waits. */
DP_MUSTCHECK int dp__trial_new(const struct dp_study_state *st, const struct dp_event *e,
			       uint32_t number, struct dp_trial **out, struct dp_err *err);
void dp__trial_free(struct dp_trial *t);
/* Replaces *slot by a copy of text, or by NULL. */
DP_MUSTCHECK int dp__fold_text(char **slot, const char *text);
/* Are these parameters of the study, in its order, which whoever shows them may trust? */
bool dp__fold_point_ok(const struct dp_study *spec, const struct dp_event *e);
void dp__study_state_free(struct dp_study_state *s);
/* The study has other results than before: fold.c */
void dp__results_change(struct dp_study_state *st);
/* The same, where all that is new are the results of one trial. */
void dp__results_add(struct dp_study_state *st, uint32_t trial);
/* trial-proposed, and what happens to a trial then: fold_trial.c */
DP_MUSTCHECK int dp__fold_proposed(struct dp_study_state *st, const struct dp_event *e,
				   struct dp_err *err);
DP_MUSTCHECK int dp__fold_of_trial(struct dp_study_state *st, const struct dp_event *e,
				   struct dp_err *err);
/* study-amended: fold_amended.c */
DP_MUSTCHECK int dp__fold_amended(struct dp_study_state *st, const struct dp_event *e,
				  struct dp_err *err);
/* One version of a study that was amended. Those before it may still be read by what was
 * begun with them. */
struct dp__amended {
	struct dp_study study; /* all it points to is the first version's */
	struct dp__amended *before;
};
/* Makes what dp_study_shown() shows of a private selection: shown.c */
DP_MUSTCHECK int dp__shown_new(struct dp_study_state *s, struct dp_err *err);
void dp__shown_free(struct dp__shown *shown);

/* What is measured again: fold_measure.c */
DP_MUSTCHECK int dp__fold_measure(struct dp_study_state *st, const struct dp_event *e,
				  struct dp_err *err);
/* A trial that measures is wanted of a study that may have come to its end. */
DP_MUSTCHECK int dp__measure_wake(struct dp_study_state *st, struct dp_err *err);
/* The study is moved, before its status is. */
void dp__measure_moved(struct dp_study_state *st, enum dp_study_status to);
/* There is something to search for again. */
void dp__measure_searches(struct dp_study_state *st);
/* Something happens to a trial that measures. */
void dp__measure_reached(struct dp_study_state *st, const struct dp_trial *t);
/* A trial that measures has ended, or is tried again. */
void dp__measure_ended(struct dp_study_state *st, const struct dp_trial *t);
void dp__measure_retried(struct dp_study_state *st, const struct dp_trial *t);
void dp__measures_free(struct dp_measures *m);

/* Column of a metric in the study's table, which grows if it is new; -1 without memory.
 */
int dp__metric_column(struct dp_study_state *st, const char *name);
/* Makes a table of so many rows wider, with NaN in what is new; *table may be NULL. */
int dp__widen(double **table, size_t rows, uint32_t *wide, uint32_t to);

/* The mean over the runs of a column (one value every `stride`), and its variance:
 * standing.c */
double dp__runs_mean(const double *first, size_t stride, int runs);
double dp__runs_mean_variance(const double *first, size_t stride, int runs);

/* The waypoints of an attempt that has ended; what they come to, once the trial has (for
 * good: it cannot be retried); and that they come to nothing while it is retried: way.c
 */
DP_MUSTCHECK int dp__way_add(struct dp_study_state *st, struct dp_trial *t,
			     const struct dp_event *e, struct dp_err *err);
DP_MUSTCHECK int dp__way_settle(const struct dp_study_state *st, struct dp_trial *t, bool for_good,
				struct dp_err *err);
void dp__way_reopen(struct dp_way *way);
void dp__way_free(struct dp_way *way);

#endif
