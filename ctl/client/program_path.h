/* program.h - where the project's other programs are. */
#ifndef DP_CTL_CLIENT_PROGRAM_PATH_H
#define DP_CTL_CLIENT_PROGRAM_PATH_H
#include "base/base.h"

/* A program of the project: beside this one, else in PATH. The caller frees it; NULL
 * if it is nowhere. */
char *ctl_find_program(const char *name);
/* One that only programs start, in libexec or, in a build, beside this one. */
char *ctl_find_libexec_program(const char *name);

#endif
