/* report_options.h - parse the command line of dpareto-report.
 *
 * Options about content and style go to struct report_data, the others to struct report_options. */
#ifndef DP_REPORTS_REPORT_OPTIONS_H
#define DP_REPORTS_REPORT_OPTIONS_H
#include "reports/model/study_data.h"

struct report_options {
	const char *state_dir, *journal_path, *output_dir, *figures;
	bool json, help, version;
	const char *const *studies; /* (nstudies) arguments without an option */
	size_t nstudies;
};

/* Parses the command line. Texts in `o` point into argv. */
DP_MUSTCHECK int report_parse_options(struct report_options *o, struct report_data *r, int argc,
				      char **argv, struct dp_err *err);
void report_help(void);

#endif
