/* objective.c - the value of an objective that a trainer reports. */
#include "study/study.h"

double dp_objective_metric(const struct dp_objective *o, double mean)
{
	return o->one_minus ? 1 - mean : mean;
}
