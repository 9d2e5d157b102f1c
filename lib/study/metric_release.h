/* metric_release.h - objectives.NAME.release: noisy release of metrics. */
#ifndef DP_STUDY_METRIC_RELEASE_H
#define DP_STUDY_METRIC_RELEASE_H
#include "base/base.h"

struct dp_study;
struct dp_metric_release;

/* True if metrics are released with noise only. Then one objective each releases every metric that
 * an objective or a constraint uses. */
bool dp_study_has_metric_release(const struct dp_study *s);
/* True if the study needs a secret (base/secret.h), whatever its seeds are. */
bool dp_study_needs_secret(const struct dp_study *s);
/* The release of a metric. NULL if it has none. */
const struct dp_metric_release *dp_study_find_metric_release(const struct dp_study *s,
							     const char *metric);
/* The values of each metric in a result: one per run, or the one released value. */
int dp_study_reported_runs(const struct dp_study *s);
/* The mean of a metric over the runs of a result, with its noise. NaN if the mean is not in [0, 1].
 * A pure function of its arguments: reading a result again releases the same value. Values lie on a
 * grid far finer than the noise. `at`: NaN for the trial's own result. */
double dp_metric_release_value(const struct dp_metric_release *r, const char *secret,
			       const char *metric, uint32_t trial, double at, double mean);
/* The number of records for the accountant, where one record moves the value by 1/records: slightly
 * below the true number, because rounding to the grid adds to the sensitivity. */
double dp_metric_release_records(const struct dp_metric_release *r);
double dp_metric_release_variance(const struct dp_metric_release *r);

#endif
