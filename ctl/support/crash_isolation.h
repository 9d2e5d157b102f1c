/* crash_isolation.h - runs work that may crash or hang in a child process.
 *
 * The child returns JSON. Its death becomes an error with a sentence. */
#ifndef DP_CTL_SUPPORT_CRASH_ISOLATION_H
#define DP_CTL_SUPPORT_CRASH_ISOLATION_H
#include "base/base.h"
#include <jansson.h>

/* Runs in the child. Returns DP_OK and *out, or a code and a sentence. */
typedef int ctl_isolated_fn(const void *arg, json_t **out, struct dp_err *err);
/* Runs fn in a child. DP_E_CORRUPT: a signal killed it or it took longer than `seconds`, so the
 * file it read is at fault. */
DP_MUSTCHECK int ctl_run_isolated(ctl_isolated_fn *fn, const void *arg, double seconds,
				  json_t **out, struct dp_err *err);

#endif
