/* report_data.h - from the journal to the studies and groups that a report is about. */
#ifndef DP_REPORTS_MODEL_REPORT_DATA_H
#define DP_REPORTS_MODEL_REPORT_DATA_H
#include "reports/model/study_data.h"

/* Reads the studies (selectors as in dp_state_find_study) from the journal in this folder,
 * beside a running daemon or not. */
DP_MUSTCHECK int report_data_load(struct report_data *r, const char *journal,
				  const char *const *studies, size_t n, struct dp_err *err);
/* The same with the studies of r->group_specs, and makes r->groups of them; each of the n plain
 * studies is a group of its own before these. Refuses what cannot be compared. */
DP_MUSTCHECK int report_data_load_groups(struct report_data *r, const char *journal,
					 const char *const *studies, size_t n, struct dp_err *err);
/* Gives the studies the labels of the report; an error names a study that is not among
 * them. */
DP_MUSTCHECK int report_data_apply_labels(struct report_data *r, struct dp_err *err);
void report_data_free(struct report_data *r);

#endif
