/* options.h - the command line of dpareto-report. What says how a report looks or what
 * is in it goes to the report, the rest to struct options. */
#ifndef DP_REPORT_OPTIONS_H
#define DP_REPORT_OPTIONS_H
#include "reports/report.h"

struct options {
	const char *state, *journal, *dir, *figures;
	bool json, help, version;
	const char *const *studies; /* (nstudies) named without an option */
	size_t nstudies;
};

/* Reads them; texts of `o` are those of argv. */
DP_MUSTCHECK int report_options(struct options *o, struct report *r, int argc, char **argv,
				struct dp_err *err);
void report_help(void);

#endif
