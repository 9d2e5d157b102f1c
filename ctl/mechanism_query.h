/* mechanism_query.h - the mechanism options of `epsilon` and `noise`. */
#ifndef DP_CTL_MECHANISM_QUERY_H
#define DP_CTL_MECHANISM_QUERY_H
#include "ctl/ctl_command.h"

struct dp_mechanism;
struct dp_epsilon;
/* The extra options of a command: accountant selection, --mechanism, and one for each key of each
 * mechanism, with '-' for '_'. NULL if it has none. Built at the first call; ctl owns them. */
const struct ctl_option *ctl_mechanism_options(struct ctl *ctl, const struct ctl_command *c);
/* Reads the mechanism and its values from the options. values: DP_PRIVACY_KEYS_MAX elements, NaN
 * where an option is absent. */
DP_MUSTCHECK int ctl_mechanism_query_parse(struct ctl *ctl, const struct dp_mechanism **m,
					   double *values, struct dp_err *err);
/* Refuses all mechanism options with --compose, whose file has the parameters. */
DP_MUSTCHECK int ctl_mechanism_query_forbid(struct ctl *ctl, struct dp_err *err);
/* Prints the assumptions of an answer: neighbouring relation, theorem, every key. */
void ctl_print_assumptions(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			   const struct dp_epsilon *e);

#endif
