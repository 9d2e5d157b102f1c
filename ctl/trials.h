/* trials.h - trials and fronts as tables and CSV.
 *
 * A struct ctl_columns owns its two arrays. */
#ifndef DP_CTL_TRIALS_H
#define DP_CTL_TRIALS_H
#include "base/buf.h"
#include "ctl/command.h"
#include <jansson.h>

/* Names of the columns that a study's trials have: objectives and parameters, each
 * a JSON array of strings. */
struct ctl_columns {
	json_t *objectives, *parameters;
	bool denoised; /* the objectives also by the models, of points on their front */
	/* those that were measured again, an array as well; NULL: nothing was */
	json_t *remeasured;
};
void ctl_columns_clear(struct ctl_columns *cols);
/* The keys of an object as an array; empty for anything else. */
json_t *ctl_keys(const json_t *object);
/* The first line of a CSV of trials, and one line. */
void ctl_trial_csv_head(const struct ctl_columns *cols, struct dp_buf *out);
void ctl_trial_csv(const json_t *trial, const struct ctl_columns *cols,
		   struct dp_buf *out);
/* The objectives of which one of these points was measured again, as an array; NULL: none
 * was. */
json_t *ctl_remeasured_names(const json_t *points);
/* The columns of a front object; before points are taken out of it. */
void ctl_front_columns(const json_t *front, struct ctl_columns *cols);
/* The points of a front object, as a table or CSV. */
void ctl_front_table(struct ctl *ctl, const json_t *front,
		     const struct ctl_columns *cols);
void ctl_front_csv(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols);
/* Why a front object has no points. */
const char *ctl_front_empty(const json_t *front);
/* "hypervolume 8.1 as observed, 8.05 denoised, 8.0 measured again (anti-ideal: epsilon
 * 10, error 1)" */
void ctl_front_volume(const json_t *front, struct dp_buf *out);

/* Which results are on the front is told by the daemon's trials only of observed values.
 * Of a study whose front is the models' (its summary says so) this asks for it: the
 * models' values by what ctl_point_text() calls the result, else NULL. */
DP_MUSTCHECK int ctl_front_marks(struct ctl *ctl, const json_t *summary, json_t **marks,
				 struct dp_err *err);
/* Corrects the "on_front" of a trial or waypoint and adds "denoised", null beside the
 * front. */
void ctl_mark_trial(json_t *trial, const json_t *marks);

#endif
