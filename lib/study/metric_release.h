/* metric_release.h - objectives.NAME.release: noise on what a trainer reports. */
#ifndef DP_STUDY_METRIC_RELEASE_H
#define DP_STUDY_METRIC_RELEASE_H
#include "base/base.h"

struct dp_study;
struct dp_metric_release;

/* Is what the trainer reports seen with noise only? Then every metric of an objective and
 * of a constraint is released, each by one objective. */
bool dp_study_has_metric_release(const struct dp_study *s);
/* Does the study need a secret (base/secret.h), whatever its seeds are? */
bool dp_study_needs_secret(const struct dp_study *s);
/* How a metric is released; NULL: it is not. */
const struct dp_metric_release *dp_study_find_metric_release(const struct dp_study *s,
							     const char *metric);
/* How many values a result has of each metric: one of each run, or the one that is
 * released. */
int dp_study_reported_runs(const struct dp_study *s);
/* The mean of a metric over the runs of a result with its noise; NaN for one that is no
 * share. A pure function of its arguments: whoever reads the same result again releases
 * the same value. Values lie on a grid far finer than the noise. `at`: NaN for the
 * trial's own result. */
double dp_metric_release_value(const struct dp_metric_release *r, const char *secret,
			       const char *metric, uint32_t trial, double at, double mean);
/* Of how many records the value is a share for an accountant, which is told that one of
 * them moves it by 1/records: a little fewer, since rounding to the grid may move it
 * further. */
double dp_metric_release_records(const struct dp_metric_release *r);
/* The variance of the noise. */
double dp_metric_release_variance(const struct dp_metric_release *r);

#endif
