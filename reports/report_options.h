/* options.h - the command line of dpareto-report. What says how a report looks or what
 * is in it goes to the report, the rest to struct options. */
#ifndef DP_REPORTS_REPORT_OPTIONS_H
#define DP_REPORTS_REPORT_OPTIONS_H
#include "reports/model/study_data.h"

struct report_options {
	const char *state_dir, *journal_path, *output_dir, *figures;
	bool json, help, version;
	const char *const *studies; /* (nstudies) named without an option */
	size_t nstudies;
};

/* Reads them; texts of `o` are those of argv. */
DP_MUSTCHECK int report_parse_options(struct report_options *o, struct report_data *r, int argc,
				      char **argv, struct dp_err *err);
void report_help(void);

#endif
