/* front_filter.h - filters a front by limits and chooses one of its points.
 *
 * Uses the value that put a point on the front: the smoothed one where the models chose it. */
#ifndef DP_CTL_SUPPORT_FRONT_FILTER_H
#define DP_CTL_SUPPORT_FRONT_FILTER_H
#include "ctl/ctl_command.h"
#include <jansson.h>

bool ctl_front_filter_requested(const struct ctl *ctl);
/* Keeps only the points of a front object that match the options of the command line. summary: the
 * study's, see SUMMARY in docs/protocol.md. If an option names a metric, fetches the "metrics" that
 * points lack from the daemon. */
DP_MUSTCHECK int ctl_front_filter_apply(struct ctl *ctl, json_t *front, const json_t *summary,
					struct dp_err *err);
/* Recommends one point of a front: {"rule":"one-se","objective":"epsilon","limit":10 or
 * null,"front":[POINT]}. Candidates: points whose epsilon is within the reference point and still
 * meaningful, or all points if there are none. Rule: least epsilon within one standard error of the
 * best; the knee if the noise is unknown; the best if no point is within the reference point. The
 * list is empty if the front is. */
json_t *ctl_front_recommend(const json_t *front, const json_t *summary);
/* Returns a new array of the metric names that the command line uses. */
json_t *ctl_front_filter_metrics(const struct ctl *ctl, const json_t *front);

#endif
