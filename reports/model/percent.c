/* percent.c - which objectives are shares, such as an error rate: people read these in
 * percent. */
#include "reports/model/study_data.h"

#include <math.h>
#include <string.h>

/* Does a metric of this name, with values from 0 to 1, count a share of something? */
static bool is_fraction_metric(const char *metric)
{
	static const char *const words[] = { "accuracy",  "f1",     "auc",
					     "precision", "recall", "error_rate" };

	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (strstr(metric, words[i]))
			return true;
	return strcmp(metric, "error") == 0;
}

static bool is_percent_objective(const struct study_data *s, size_t objective)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];

	if (!o->metric || (!o->one_minus && !is_fraction_metric(o->metric)))
		return false;
	for (size_t i = 0; i < s->npoints; i++) {
		double v = dp_result_get_objectives(s->state, s->points[i])[objective];

		if (isfinite(v) && (v < 0 || v > 1))
			return false;
	}
	return true;
}

void study_data_detect_percent(struct study_data *s)
{
	for (size_t i = 0; i < s->state->spec->nobjectives; i++)
		s->is_percent[i] = is_percent_objective(s, i);
}

bool study_data_is_percent(const struct study_data *s, size_t objective)
{
	return s->is_percent[objective];
}
