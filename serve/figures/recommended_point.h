/* recommended_point.h - the point of a front to take, as the report recommends it. */
#ifndef DP_SERVE_FIGURES_RECOMMENDED_POINT_H
#define DP_SERVE_FIGURES_RECOMMENDED_POINT_H
#include "base/base.h"
#include <jansson.h>

/* {"rule":"one-se","objective":"epsilon","limit":10 or null,"front":[POINT]}: what
 * 'dparetoctl front --one-se' leaves of the points whose epsilon is not beyond the
 * anti-ideal's, nor beyond all meaning; of all points where none is within. Without
 * anything known of the noise the rule is "knee". The list is empty if the front is.
 * summary, front: of the study, as the protocol has them. */
json_t *recommended_point_find(const json_t *summary, const json_t *front);

#endif
