/* crash_isolation.h - work that may crash or hang, done by a child process.
 *
 * Owns nothing. What the child finds comes back as JSON; its death is an error with a
 * sentence, never ours. */
#ifndef DP_CTL_SUPPORT_CRASH_ISOLATION_H
#define DP_CTL_SUPPORT_CRASH_ISOLATION_H
#include "base/base.h"
#include <jansson.h>

/* DP_OK and *out, or a code and a sentence. Runs in the child. */
typedef int ctl_isolated_fn(const void *arg, json_t **out, struct dp_err *err);
/* Has a child do it. DP_E_CORRUPT if it died by a signal or took longer than `seconds`:
 * what it read did that. */
DP_MUSTCHECK int ctl_run_isolated(ctl_isolated_fn *fn, const void *arg, double seconds,
				  json_t **out, struct dp_err *err);

#endif
