/* groups_model.h - what a report of groups says: groups_report.c puts it into sentences,
 * groups_json.c into report.json. */
#ifndef DP_REPORTS_MODEL_GROUPS_MODEL_H
#define DP_REPORTS_MODEL_GROUPS_MODEL_H
#include "reports/model/report_model.h"
#include "reports/model/study_groups.h"

/* Two groups whose difference is told. */
struct report_group_pair {
	size_t a, b;
	struct dp_t_test tests[BASIS_COUNT]; /* of hypervolumes, where these are known */
};

/* A member, and the study behind it. */
struct report_group_member {
	const char *group, *name, *study, *state;
	int64_t evaluations;             /* of this member that ended, */
	int64_t planned;                 /* of so many */
	double hypervolume[BASIS_COUNT]; /* NaN: unknown */
};

/* A setting that is not the same in all groups. */
struct report_group_setting {
	const char *key;
	const char **values;  /* (groups) its value there; NULL: it has none */
	const bool *is_mixed; /* (groups) not in all members */
};

struct report_groups {
	const struct study_groups *groups;
	struct dp_compare_answer hypervolumes[BASIS_COUNT]; /* of those that are known */
	struct dp_compare_answers level_answers;
	const char *at_option; /* as --at has it; NULL: nowhere */
	/* Each group against the first one of its model; where no two groups share one,
	 * the first against the others. */
	struct report_group_pair *pairs; /* (npairs) */
	size_t npairs;
	struct report_group_member *members; /* (nmembers) */
	size_t nmembers;
	struct report_group_setting *settings; /* (nsettings) */
	size_t nsettings;
	const char **warnings; /* (nwarnings) whole sentences */
	size_t nwarnings;
	const char *command;   /* that gives the same numbers */
	int64_t updated;       /* when the last of the studies changed */
	bool has_private_data; /* the data of one of them is */
};

/* Finds them; facts own the rest. */
DP_MUSTCHECK int report_model_build_groups(const struct report_data *r, struct report_model *report,
					   struct dp_err *err);
void report_groups_free_answers(struct report_groups *f);
/* report.json; NULL without memory (groups_json.c). */
json_t *groups_report_build_json(const struct report_model *report);

#endif
