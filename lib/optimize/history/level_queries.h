/* level_queries.h - settings for points of a study's front, beside what was tested. */
#ifndef DP_OPTIMIZE_HISTORY_LEVEL_QUERIES_H
#define DP_OPTIMIZE_HISTORY_LEVEL_QUERIES_H
#include "optimize/recommend/recommend.h"
#include "optimize/history/history.h"
#include "study/accounting.h"

enum {
	DP_LEVEL_QUERIES_MAX = 100 /* levels in one question */
};

/* A level that settings are asked for, and the best tested point that has it. */
struct dp_level_query {
	struct dp_recommend_level level;
	bool has_tested; /* there is one: */
	struct dp_result_id tested;
	double tested_checkpoint; /* its value; NaN: the trial's own result */
	double tested_objectives[DP_OBJECTIVES_MAX];
};
struct dp_level_queries {
	size_t n;
	struct dp_level_query list[DP_LEVEL_QUERIES_MAX];
};

/* Reads [{"epsilon":1},...]. DP_E_USAGE with the names there are. */
DP_MUSTCHECK int dp_level_queries_parse(const struct dp_study *study, const json_t *levels,
					struct dp_level_queries *out, struct dp_err *err);
/* Looks for the best tested point of each, by what was observed. */
void dp_level_queries_find_tested(const struct dp_study_state *s, struct dp_level_queries *l);
/* [{"at":{...},"parameters":{...},...},...]: docs/protocol.md. One that is impossible has
 * an "error" instead. A pure function of study and results; the proposer may keep models
 * from before, and is then to be fitted or asked anew. On any thread that has the
 * proposer to itself. */
DP_MUSTCHECK int dp_level_queries_recommend(struct dp_proposer *p, const struct dp_study *study,
					    const struct dp_history_subset *r,
					    const struct dp_external_callback *programs,
					    const struct dp_level_queries *l,
					    const atomic_bool *cancel, json_t **out,
					    struct dp_err *err);
/* {"value":0.153,"low":0.15,"high":0.157}: a prediction and its 95 % interval. */
json_t *dp_predicted_json(const struct dp_prediction *q);

#endif
