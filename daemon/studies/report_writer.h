/* report_writer.h - runs dpareto-report when a study ends, and periodically while it runs. */
#ifndef DP_DAEMON_STUDIES_REPORT_WRITER_H
#define DP_DAEMON_STUDIES_REPORT_WRITER_H
#include "daemon/studies/study_object.h"

struct report_status {
	uint32_t shown_seq;  /* seq of the study that the report shows; UINT32_MAX: no report */
	int64_t last_try_us; /* dp_monotonic_us() */
	char error[300];     /* why there is no report; "" */
};

void report_writer_open(struct daemon *d);
/* Called after the loop has ended: kills the running program. */
void report_writer_close(struct daemon *d);
/* Starts the next due report, unless one is being written. */
void report_writer_start_due(struct daemon *d);
/* Called twice a second: also ends a program that hangs. */
void report_writer_tick(struct daemon *d);
/* True if the study has ended and its report is still due. */
bool report_writer_will_write(struct study *study);
/* The path of the report, or NULL. The caller frees it. */
char *report_writer_find_report(struct study *study);
/* True while its report is being written; the study's directory must stay then. */
bool report_writer_is_writing(const struct study *study);
void report_writer_cancel(struct study *study);
void report_writer_forget(struct study *study);
/* Adds "report", the path of a report that shows the current state, and "report_error". */
void report_writer_add_json(struct study *study, json_t *summary);

#endif
