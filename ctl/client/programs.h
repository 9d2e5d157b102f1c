/* programs.h - the project's other programs. */
#ifndef DP_CTL_CLIENT_PROGRAMS_H
#define DP_CTL_CLIENT_PROGRAMS_H
#include "base/base.h"
#include <jansson.h>

/* A program of the project: beside this one, else in PATH. The caller frees it; NULL
 * if it is nowhere. */
char *ctl_find_program(const char *name);
/* One that only programs start, in libexec or, in a build, beside this one. */
char *ctl_find_libexec_program(const char *name);
/* Runs dpareto-report with these arguments (after the program's name; ends with NULL) and reads
 * its answer, one JSON object; its error is ours. It has the models, which would make every
 * command of dparetoctl slower to start. */
DP_MUSTCHECK int ctl_run_report_program(char *const *arguments, json_t **answer,
					struct dp_err *err);

#endif
