/* groups_model.h - the model of a report of groups. */
#ifndef DP_REPORTS_MODEL_GROUPS_MODEL_H
#define DP_REPORTS_MODEL_GROUPS_MODEL_H
#include "reports/model/report_model.h"
#include "reports/model/study_groups.h"

/* Two groups whose difference is told. */
struct report_group_pair {
	size_t a, b;
	struct dp_t_test tests[BASIS_COUNT]; /* of hypervolumes, where these are known */
};

/* The numbers behind report.json of groups. */
struct report_groups {
	const struct study_groups *groups;
	struct dp_compare_answer hypervolumes[BASIS_COUNT]; /* of those that are known */
	struct dp_compare_answers level_answers;
	/* Each group against the first one of its model; where no two groups share one,
	 * the first against the others. */
	struct report_group_pair *pairs; /* (npairs) */
	size_t npairs;
	json_t *settings; /* of each study, what its file means: an object by key */
};

/* Fills in groups and json; takes the list of figures. */
DP_MUSTCHECK int report_model_build_groups(struct report_model *report, json_t *figures,
					   struct dp_err *err);
void report_groups_free(struct report_groups *g);
/* The value of a setting in a group; NULL: it has none. *mixed: not in all members. */
const char *report_group_setting(const struct report_groups *g, const struct report_data *r,
				 size_t group, const char *key, bool *mixed);

#endif
