/* mechanism_query.h - questions to the privacy oracles, asked with options.
 *
 * Owns the options that `epsilon` and `noise` share. */
#ifndef DP_CTL_MECHANISM_QUERY_H
#define DP_CTL_MECHANISM_QUERY_H
#include "ctl/ctl_command.h"

struct dp_mechanism;
struct dp_epsilon;
/* The options that a command has beside its own table: where it asks the oracles, one
 * for --mechanism and one for every key of every mechanism, with '-' for '_'. NULL if
 * there are none. Made at the first call; the invocation owns them. */
const struct ctl_option *ctl_mechanism_options(struct ctl *ctl, const struct ctl_command *c);
/* The question that the options ask: the mechanism and its values (room for
 * DP_PRIVACY_KEYS_MAX), NaN where an option is absent. */
DP_MUSTCHECK int ctl_mechanism_query_parse(struct ctl *ctl, const struct dp_mechanism **m,
					   double *values, struct dp_err *err);
/* Refuses every option of a mechanism beside --compose, whose file says it all. */
DP_MUSTCHECK int ctl_mechanism_query_forbid(struct ctl *ctl, struct dp_err *err);
/* Prints what an answer holds for: relation, theorem, every key. */
void ctl_print_assumptions(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			   const struct dp_epsilon *e);

#endif
