/* objective.c - objective values from metrics, and their scale. */
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

bool dp_accounting_depends_on(const struct dp_accounting_spec *o, size_t param)
{
	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		return true;
	for (size_t i = 0; i < o->nuses; i++) {
		const struct dp_mechanism_use *u = &o->uses[i];

		if (u->times_param == (int)param)
			return true;
		for (size_t k = 0; k < u->mechanism->nkeys; k++)
			if (u->param[k] == (int)param)
				return true;
	}
	return false;
}
