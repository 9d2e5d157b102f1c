/* group_facts.h - what a report of groups says: text_groups.c puts it into sentences,
 * group_json.c into report.json. */
#ifndef DP_GROUP_FACTS_H
#define DP_GROUP_FACTS_H
#include "reports/facts.h"
#include "reports/groups.h"

/* Two groups whose difference is told. */
struct fact_pair {
	size_t a, b;
	struct dp_test test[GROUPS_BY]; /* of hypervolumes, where these are known */
};

/* A member, and the study behind it. */
struct fact_member {
	const char *group, *name, *study, *state;
	int64_t evaluations;      /* of this member that ended, */
	int64_t asked;            /* of so many */
	double volume[GROUPS_BY]; /* NaN: unknown */
};

/* A setting that is not the same in all groups. */
struct fact_setting {
	const char *key;
	const char **of;   /* (groups) its value there; NULL: it has none */
	const bool *mixed; /* (groups) not in all members */
};

struct fact_groups {
	const struct groups *g;
	struct dp_answer volumes[GROUPS_BY]; /* of those that are known */
	struct dp_answers at;
	const char *at_text; /* as --at has it; NULL: nowhere */
	/* Each group against the first one of its model; where no two groups share one,
	 * the first against the others. */
	struct fact_pair *pairs; /* (npairs) */
	size_t npairs;
	struct fact_member *members; /* (nmembers) */
	size_t nmembers;
	struct fact_setting *settings; /* (nsettings) */
	size_t nsettings;
	const char **warnings; /* (nwarnings) whole sentences */
	size_t nwarnings;
	const char *command; /* that gives the same numbers */
	int64_t updated;     /* when the last of the studies changed */
	bool private;        /* the data of one of them is */
};

/* Finds them; facts own the rest. */
DP_MUSTCHECK int facts_groups(const struct report *r, struct facts *f, struct dp_err *err);
void group_facts_free(struct fact_groups *f);
/* report.json; NULL without memory (group_json.c). */
json_t *groups_report_json(const struct facts *f);

#endif
