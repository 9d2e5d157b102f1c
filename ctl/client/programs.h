/* programs.h - finds and runs the other programs of the project. */
#ifndef DP_CTL_CLIENT_PROGRAMS_H
#define DP_CTL_CLIENT_PROGRAMS_H
#include "base/base.h"
#include <jansson.h>

/* Looks in the directory of this program, then in PATH. The caller frees the result; NULL: not
 * found. */
char *ctl_find_program(const char *name);
/* The same for a program in libexec. In a build tree it is in the directory of this program. */
char *ctl_find_libexec_program(const char *name);
/* Runs dpareto-report with these arguments (after the program name, NULL-terminated) and reads its
 * answer, one JSON object. Returns its error. The surrogates are in that program because they would
 * slow the start of every dparetoctl command. */
DP_MUSTCHECK int ctl_run_report_program(char *const *arguments, json_t **answer,
					struct dp_err *err);

#endif
