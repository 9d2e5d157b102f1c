/* reporter.h - asks dpareto-report.
 *
 * It reads a journal itself, beside a daemon or without one, and knows the models, which
 * dparetoctl does not: they would make every command slower to start. */
#ifndef DP_CTL_REPORTER_H
#define DP_CTL_REPORTER_H
#include "base/base.h"
#include <jansson.h>

/* Runs it with these arguments (after the program's name; ends with NULL) and reads its
 * answer, one JSON object; its error is ours. */
DP_MUSTCHECK int ctl_reporter(char *const *arguments, json_t **answer, struct dp_err *err);

#endif
