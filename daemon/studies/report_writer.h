/* report_writer.h - has dpareto-report write the reports of studies: at their end, and now and
 * then while they run. */
#ifndef DP_DAEMON_STUDIES_REPORT_WRITER_H
#define DP_DAEMON_STUDIES_REPORT_WRITER_H
#include "daemon/studies/study_object.h"

/* What is known of a study's report. */
struct report_status {
	uint32_t shown_seq;  /* the seq that the report shows; UINT32_MAX: none */
	int64_t last_try_us; /* dp_monotonic_us() of the last try */
	char error[300];     /* why there is none; "" */
};

void report_writer_open(struct daemon *d);
/* Ends what is being written; the loop has ended. */
void report_writer_close(struct daemon *d);
/* Starts the next report that is due, unless one is being written. */
void report_writer_start_due(struct daemon *d);
/* The same twice a second, when one that hangs is ended, too. */
void report_writer_tick(struct daemon *d);
/* Has the study ended and will its report be written soon? */
bool report_writer_will_write(struct study *study);
/* The path of its report, if there is one; the caller frees it. */
char *report_writer_find_report(struct study *study);
/* Is the study's report being written? Its folder must not go then. */
bool report_writer_is_writing(const struct study *study);
void report_writer_cancel(struct study *study);
/* The study goes. */
void report_writer_forget(struct study *study);
/* Adds "report", the path of one that shows the study as it is now, and
 * "report_error". */
void report_writer_add_json(struct study *study, json_t *summary);

#endif
