/* trials.h - trials and fronts as tables and CSV.
 *
 * A struct ctl_columns owns its arrays. */
#ifndef DP_CTL_TRIALS_H
#define DP_CTL_TRIALS_H
#include "base/buf.h"
#include "ctl/command.h"
#include <jansson.h>

/* Names of the columns that a study's trials have, each a JSON array of strings. */
struct ctl_columns {
	json_t *objectives, *parameters;
	json_t *measured; /* the objectives that are metrics: they have a spread */
	json_t *metrics;  /* that were asked for; NULL: none */
	bool denoised;    /* the objectives also by the models, of points on their front */
	/* those that were measured again, an array as well; NULL: nothing was */
	json_t *remeasured;
};
void ctl_columns_clear(struct ctl_columns *cols);
/* The objectives of a study by its summary: all of them, and those that are metrics. */
void ctl_study_columns(const json_t *summary, struct ctl_columns *cols);
/* The keys of an object as an array; empty for anything else. */
json_t *ctl_keys(const json_t *object);
/* Is the text one of the array's? */
bool ctl_in_array(const json_t *array, const char *text);
/* Has the trial, or measurement, of this row ended, however that was? */
bool ctl_trial_over(const json_t *row);
/* The first line of a CSV of trials, and one line. */
void ctl_trial_csv_head(const struct ctl_columns *cols, struct dp_buf *out);
void ctl_trial_csv(const json_t *trial, const struct ctl_columns *cols, struct dp_buf *out);
/* The objectives of which one of these points was measured again, as an array; NULL: none
 * was. */
json_t *ctl_remeasured_names(const json_t *points);
/* How many of them were. */
size_t ctl_remeasured_count(const json_t *points);
/* The columns of a front object; before points are taken out of it. */
void ctl_front_columns(const json_t *front, struct ctl_columns *cols);
/* The points of a front object, as a table or CSV. */
void ctl_front_table(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols);
void ctl_front_csv(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols);
/* Why a front object has no points. */
const char *ctl_front_empty(const json_t *front);

/* Which results are on the front is told by the daemon's trials only of observed values.
 * Of a study whose front is the models' (its summary says so) this asks for it: its
 * points by what ctl_point_text() calls them, else NULL. */
DP_MUSTCHECK int ctl_front_marks(struct ctl *ctl, const json_t *summary, json_t **marks,
				 struct dp_err *err);
/* Corrects the "on_front" of a trial or waypoint and adds "denoised" with its interval,
 * null beside the front. */
void ctl_mark_trial(json_t *trial, const json_t *marks);

#endif
