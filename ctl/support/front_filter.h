/* front_filter.h - questions to a front: which of its points are within limits, and which one to
 * take.
 *
 * Points are chosen by the value that put them on the front: the models', where they did. */
#ifndef DP_CTL_SUPPORT_FRONT_FILTER_H
#define DP_CTL_SUPPORT_FRONT_FILTER_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Does the command line ask anything, by --max, --min, --best, --knee or --one-se? */
bool ctl_front_filter_requested(const struct ctl *ctl);
/* Leaves of a front object the points that the options of the command line ask for.
 * summary: the study's, see SUMMARY in docs/protocol.md. If a metric is asked for, the
 * points get "metrics" from the daemon, unless they have them. */
DP_MUSTCHECK int ctl_front_filter_apply(struct ctl *ctl, json_t *front, const json_t *summary,
					struct dp_err *err);
/* The point of a front to take: {"rule":"one-se","objective":"epsilon","limit":10 or
 * null,"front":[POINT]}. Of the points whose epsilon is not beyond the reference point's, nor
 * beyond all meaning (of all points where none is within), the least epsilon within one
 * standard error of the best; the knee where nothing is known of the noise; the best where
 * nothing is within the reference point. The list is empty if the front is. */
json_t *ctl_front_recommend(const json_t *front, const json_t *summary);
/* The metrics that the command line asks for: their names, a new array. */
json_t *ctl_front_filter_metrics(const struct ctl *ctl, const json_t *front);

#endif
