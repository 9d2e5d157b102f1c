/* report_program.h - asks dpareto-report.
 *
 * It reads a journal itself, beside a daemon or without one, and knows the models, which
 * dparetoctl does not: they would make every command slower to start. */
#ifndef DP_CTL_CLIENT_REPORT_PROGRAM_H
#define DP_CTL_CLIENT_REPORT_PROGRAM_H
#include "base/base.h"
#include <jansson.h>

/* Runs it with these arguments (after the program's name; ends with NULL) and reads its
 * answer, one JSON object; its error is ours. */
DP_MUSTCHECK int ctl_run_report_program(char *const *arguments, json_t **answer,
					struct dp_err *err);

#endif
