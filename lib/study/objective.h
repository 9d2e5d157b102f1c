/* objective.h - objective values from metrics, and their scale. */
#ifndef DP_STUDY_OBJECTIVE_H
#define DP_STUDY_OBJECTIVE_H
#include "base/base.h"

struct dp_objective;
struct dp_accounting_spec;

/* The value of a metric objective from the mean of its metric over the runs. */
double dp_objective_from_metric(const struct dp_objective *o, double mean);
/* A value on a scale (dp_transform_text()), to be minimised. A step on the scale matters equally at
 * both ends. Infinite or NaN outside the scale's domain. */
double dp_objective_transform(const char *transform, bool maximize, double y);

/* True if epsilon depends on this parameter. For an external accountant, it may on any. */
bool dp_accounting_depends_on(const struct dp_accounting_spec *o, size_t param);

#endif
