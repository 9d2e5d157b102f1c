/* objective.c - the values of objectives: of what a trainer reports, and on their scale.
 */
#include "study/objective.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

double dp_objective_from_metric(const struct dp_objective *o, double mean)
{
	return o->one_minus ? 1 - mean : mean;
}

double dp_objective_transform(const char *transform, bool maximize, double y)
{
	if (strcmp(transform, dp_transform_text(DP_TRANSFORM_LOG)) == 0)
		y = log(y);
	else if (strcmp(transform, dp_transform_text(DP_TRANSFORM_LOGIT)) == 0)
		y = log(y / (1 - y));
	return maximize ? -y : y;
}
