/* report_data.h - load studies and groups from the journal. */
#ifndef DP_REPORTS_MODEL_REPORT_DATA_H
#define DP_REPORTS_MODEL_REPORT_DATA_H
#include "reports/model/study_data.h"

/* Reads the studies from the journal in this directory. Works with and without a running daemon.
 * Selectors are those of dp_state_find_study(). */
DP_MUSTCHECK int report_data_load(struct report_data *r, const char *journal,
				  const char *const *studies, size_t n, struct dp_err *err);
/* The same, and builds r->groups from r->group_specs. Each of the n plain studies becomes a group,
 * before the requested ones. Fails if the studies cannot be compared. */
DP_MUSTCHECK int report_data_load_groups(struct report_data *r, const char *journal,
					 const char *const *studies, size_t n, struct dp_err *err);
/* Sets the labels of studies. Fails if a label names a study that is not in the report. */
DP_MUSTCHECK int report_data_apply_labels(struct report_data *r, struct dp_err *err);
void report_data_free(struct report_data *r);

#endif
