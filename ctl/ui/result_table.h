/* result_table.h - trials and fronts as tables and CSV.
 *
 * A struct ctl_result_columns owns its arrays. */
#ifndef DP_CTL_UI_RESULT_TABLE_H
#define DP_CTL_UI_RESULT_TABLE_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Column names of a study's trials, each a JSON array of strings. */
struct ctl_result_columns {
	json_t *objectives, *parameters;
	json_t *metric_objectives; /* objectives that are metrics: they have a spread */
	json_t *metrics;           /* requested metrics; NULL: none */
	bool with_smoothed;        /* also smoothed objectives, for points on the smoothed front */
	/* objectives with re-evaluations, an array; NULL: none */
	json_t *reevaluated;
};
void ctl_result_columns_clear(struct ctl_result_columns *cols);
void ctl_result_columns_from_study(const json_t *summary, struct ctl_result_columns *cols);
/* Returns the keys of an object; an empty array for other values. */
json_t *ctl_json_keys(const json_t *object);
bool ctl_json_array_has(const json_t *array, const char *text);
void ctl_trial_csv_header(const struct ctl_result_columns *cols, struct dp_buf *out);
void ctl_trial_csv_row(const json_t *trial, const struct ctl_result_columns *cols,
		       struct dp_buf *out);
/* Returns the objectives that were re-evaluated at any of these points; NULL: none. */
json_t *ctl_reevaluated_objectives(const json_t *points);
size_t ctl_count_reevaluated(const json_t *points);
/* Collects the columns of a front object. points: all its points before a filter. */
void ctl_result_columns_from_front(const json_t *front, const json_t *points,
				   struct ctl_result_columns *cols);
void ctl_front_print_table(struct ctl *ctl, const json_t *front,
			   const struct ctl_result_columns *cols);
void ctl_front_print_csv(struct ctl *ctl, const json_t *front,
			 const struct ctl_result_columns *cols);
const char *ctl_front_empty_reason(const json_t *front);

#endif
