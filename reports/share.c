/* share.c - which objectives are shares, such as an error rate: people read these in
 * percent. */
#include "reports/report.h"

#include <math.h>
#include <string.h>

/* Does a metric of this name, with values from 0 to 1, count a share of something? */
static bool names_a_share(const char *metric)
{
	static const char *const words[] = { "accuracy",  "f1",     "auc",
					     "precision", "recall", "error_rate" };

	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (strstr(metric, words[i]))
			return true;
	return strcmp(metric, "error") == 0;
}

static bool is_share(const struct subject *s, size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];

	if (!o->metric || (!o->one_minus && !names_a_share(o->metric)))
		return false;
	for (size_t i = 0; i < s->npoints; i++) {
		double v = dp_point_objectives(s->s, s->points[i])[objective];

		if (isfinite(v) && (v < 0 || v > 1))
			return false;
	}
	return true;
}

void subject_find_shares(struct subject *s)
{
	for (size_t i = 0; i < s->s->spec->nobjectives; i++)
		s->share[i] = is_share(s, i);
}

bool subject_shares(const struct subject *s, size_t objective)
{
	return s->share[objective];
}
