/* objective.h - the value of an objective from its metric, and its scale. */
#ifndef DP_STUDY_OBJECTIVE_H
#define DP_STUDY_OBJECTIVE_H
#include "base/base.h"

struct dp_objective;
struct dp_accounting_spec;

/* The value of a metric objective given the mean of its metric over the runs. */
double dp_objective_from_metric(const struct dp_objective *o, double mean);
/* A value on the scale of the word of dp_transform_text(), to be minimised: where a step
 * means as much at one end as at the other. Infinite or NaN where the scale has no
 * number. */
double dp_objective_transform(const char *transform, bool maximize, double y);

/* Does epsilon depend on this parameter? On every one, if a program is asked. */
bool dp_accounting_depends_on(const struct dp_accounting_spec *o, size_t param);

#endif
