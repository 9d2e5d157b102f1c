/* level_queries.h - recommended settings for levels of an objective or constraint. */
#ifndef DP_OPTIMIZE_HISTORY_LEVEL_QUERIES_H
#define DP_OPTIMIZE_HISTORY_LEVEL_QUERIES_H
#include "optimize/recommend/recommend.h"
#include "optimize/history/history.h"
#include "study/accounting.h"

enum {
	DP_LEVEL_QUERIES_MAX = 100 /* per request */
};

/* A requested level, and the best tested point that meets it. */
struct dp_level_query {
	struct dp_recommend_level level;
	bool has_tested; /* the fields below are set */
	struct dp_result_id tested;
	double tested_checkpoint; /* path value; NaN: a final result */
	double tested_objectives[DP_OBJECTIVES_MAX];
};
struct dp_level_queries {
	size_t n;
	struct dp_level_query list[DP_LEVEL_QUERIES_MAX];
};

/* Parses [{"epsilon":1},...]. DP_E_USAGE lists the valid names. */
DP_MUSTCHECK int dp_level_queries_parse(const struct dp_study *study, const json_t *levels,
					struct dp_level_queries *out, struct dp_err *err);
/* Finds the best tested point for each level, by observed values. */
void dp_level_queries_find_tested(const struct dp_study_state *s, struct dp_level_queries *l);
/* [{"at":{...},"parameters":{...},...},...], see docs/protocol.md. An impossible level has an
 * "error" instead. A pure function of study and results. Replaces the proposer's models, so fit it
 * again before other use. Runs on any thread with exclusive use of the proposer. */
DP_MUSTCHECK int dp_level_queries_recommend(struct dp_proposer *p, const struct dp_study *study,
					    const struct dp_history_subset *r,
					    const struct dp_external_callback *programs,
					    const struct dp_level_queries *l,
					    const atomic_bool *cancel, json_t **out,
					    struct dp_err *err);
/* {"value":0.153,"low":0.15,"high":0.157}: a prediction and its 95 % interval. */
json_t *dp_predicted_json(const struct dp_prediction *q);

#endif
