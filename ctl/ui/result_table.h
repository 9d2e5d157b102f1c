/* result_table.h - trials and fronts as tables and CSV.
 *
 * A struct ctl_result_columns owns its arrays. */
#ifndef DP_CTL_UI_RESULT_TABLE_H
#define DP_CTL_UI_RESULT_TABLE_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Names of the columns that a study's trials have, each a JSON array of strings. */
struct ctl_result_columns {
	json_t *objectives, *parameters;
	json_t *metric_objectives; /* the objectives that are metrics: they have a spread */
	json_t *metrics;           /* that were asked for; NULL: none */
	bool with_smoothed;        /* the objectives also by the models, of points on their front */
	/* those that were measured again, an array as well; NULL: nothing was */
	json_t *reevaluated;
};
void ctl_result_columns_clear(struct ctl_result_columns *cols);
/* The objectives of a study by its summary: all of them, and those that are metrics. */
void ctl_result_columns_from_study(const json_t *summary, struct ctl_result_columns *cols);
/* The keys of an object as an array; empty for anything else. */
json_t *ctl_json_keys(const json_t *object);
/* Is the text one of the array's? */
bool ctl_json_array_has(const json_t *array, const char *text);
/* The first line of a CSV of trials, and one line. */
void ctl_trial_csv_header(const struct ctl_result_columns *cols, struct dp_buf *out);
void ctl_trial_csv_row(const json_t *trial, const struct ctl_result_columns *cols,
		       struct dp_buf *out);
/* The objectives of which one of these points was measured again, as an array; NULL: none was. */
json_t *ctl_reevaluated_objectives(const json_t *points);
/* How many of them were. */
size_t ctl_count_reevaluated(const json_t *points);
/* The columns of a front object that has, or had, these points. */
void ctl_result_columns_from_front(const json_t *front, const json_t *points,
				   struct ctl_result_columns *cols);
/* The points of a front object, as a table or CSV. */
void ctl_front_print_table(struct ctl *ctl, const json_t *front,
			   const struct ctl_result_columns *cols);
void ctl_front_print_csv(struct ctl *ctl, const json_t *front,
			 const struct ctl_result_columns *cols);
/* Why a front object has no points. */
const char *ctl_front_empty_reason(const json_t *front);

#endif
