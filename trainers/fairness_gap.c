/* fairness_gap.c - which feature a gap between accuracies is told of. */
#include "trainers/trainers.h"

#include "base/units.h"

#include <string.h>

int fairness_gap_parse(const char *report, uint32_t nfeatures, struct fairness_gap *out,
		       struct dp_err *err)
{
	static const char kind[] = "gap:";
	int64_t number;

	*out = (struct fairness_gap){ 0 };
	if (!report)
		return DP_OK;
	if (strncmp(report, kind, strlen(kind)) != 0 ||
	    !dp_int_parse(report + strlen(kind), &number) || number < 1)
		return dp_fail(err, DP_E_USAGE,
			       "--report is gap:FEATURE, with the number of a feature "
			       "from 1, not '%s'",
			       report);
	if (number > nfeatures) {
		dp_fail(err, DP_E_USAGE, "--report %s: the data have %u features", report,
			(unsigned)nfeatures);
		return dp_hint(err, "features are numbered from 1, as in LIBSVM files");
	}
	*out = (struct fairness_gap){ .is_requested = true, .feature = (uint32_t)number - 1 };
	snprintf(out->metric_name, sizeof out->metric_name, "gap_%u", (unsigned)number);
	snprintf(out->test_metric_name, sizeof out->test_metric_name, "test_gap_%u",
		 (unsigned)number);
	return DP_OK;
}

int fairness_gap_check(const struct fairness_gap *g, const struct sparse_rows *rows,
		       struct dp_err *err)
{
	uint32_t with = 0;

	if (!g->is_requested)
		return DP_OK;
	for (uint32_t i = 0; i < rows->n; i++)
		with += sparse_rows_has_feature(rows, i, g->feature);
	if (with > 0 && with < rows->n)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"--report gap:%u: %s of the %u records that are scored has feature %u",
		(unsigned)g->feature + 1, with ? "every one" : "none", (unsigned)rows->n,
		(unsigned)g->feature + 1);
	return dp_hint(err, "a gap needs a feature that some of them have and others have "
			    "not");
}
