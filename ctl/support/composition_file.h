/* composition_file.h - `epsilon --compose FILE`: several mechanisms on the same data. */
#ifndef DP_CTL_SUPPORT_COMPOSITION_FILE_H
#define DP_CTL_SUPPORT_COMPOSITION_FILE_H
#include "ctl/ctl_command.h"

/* Reads the file (YAML or JSON: compose, delta, accountant) and prints its epsilon, or its delta at
 * `at_epsilon` unless that is NaN. */
DP_MUSTCHECK int ctl_print_composition_file(struct ctl *ctl, const char *path, double at_epsilon,
					    struct dp_err *err);

#endif
