/* report.h - has dpareto-report write the reports of studies: at their end, and now and
 * then while they run. */
#ifndef DPARETOD_REPORT_H
#define DPARETOD_REPORT_H
#include "daemon/daemon.h"

/* What is known of a study's report. Part of its home. */
struct report_note {
	bool looked;    /* at the file, which a former daemon may have had written */
	uint32_t shows; /* the seq that the report shows; UINT32_MAX: none */
	int64_t begun;  /* dp_mono_us() of the last try */
	char why[300];  /* why there is none; "" */
};

/* False without memory. */
DP_MUSTCHECK bool report_start(struct dpd *d);
/* Ends what is being written; the loop has ended. */
void report_stop(struct dpd *d);
/* Starts the next report that is due, unless one is being written. */
void report_poll(struct dpd *d);
/* The same twice a second, when one that hangs is ended, too. */
void report_tick(struct dpd *d);
/* Has the study ended and will its report be written soon? */
bool report_is_coming(struct study *h);
/* The path of its report, if there is one; the caller frees it. */
char *report_path(struct study *h);
/* Is the study's report being written? Its folder must not go then. */
bool report_busy(const struct study *h);
void report_cancel(struct study *h);
/* Adds "report", the path of one that shows the study as it is now, and
 * "report_error". */
void report_view(struct study *h, json_t *summary);

#endif
