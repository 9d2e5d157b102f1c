/* recommended.h - settings for points of a study's front, beside what was tested. */
#ifndef DP_RECOMMENDED_H
#define DP_RECOMMENDED_H
#include "propose/recommend.h"
#include "recall/recall.h"

enum {
	DP_RECOMMENDED_MAX = 100 /* levels in one question */
};

/* A level that settings are asked for, and the best tested point that has it. */
struct dp_asked_level {
	struct dp_level level;
	bool is_tested; /* there is one: */
	uint32_t trial;
	double at; /* NaN: the trial's own result */
	double y[DP_OBJECTIVES_MAX];
};
struct dp_asked_levels {
	size_t n;
	struct dp_asked_level list[DP_RECOMMENDED_MAX];
};

/* Reads [{"epsilon":1},...]. DP_E_USAGE with the names there are. */
DP_MUSTCHECK int dp_asked_read(const struct dp_study *study, const json_t *levels,
			       struct dp_asked_levels *out, struct dp_err *err);
/* Looks for the best tested point of each, by what was observed. */
DP_MUSTCHECK int dp_asked_look(const struct dp_study_state *s, struct dp_asked_levels *l,
			       struct dp_err *err);
/* [{"at":{...},"parameters":{...},...},...]: docs/protocol.md. One that is impossible has
 * an "error" instead. A pure function of study and results; the proposer may keep models
 * from before, and is then to be fitted or asked anew. On any thread that has the
 * proposer to itself. */
DP_MUSTCHECK int dp_recommended_find(struct dp_proposer *p, const struct dp_study *study,
				     const struct dp_results *r,
				     const struct dp_oracle_asker *programs,
				     const struct dp_asked_levels *l, const atomic_bool *cancel,
				     json_t **out, struct dp_err *err);
/* {"value":0.153,"low":0.15,"high":0.157}: a prediction and its 95 % interval. */
json_t *dp_predicted_json(const struct dp_predicted *q);

#endif
