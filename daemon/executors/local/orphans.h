/* orphans.h - kills the processes that an attempt left on this machine when its shim was killed. */
#ifndef DP_DAEMON_EXECUTORS_LOCAL_ORPHANS_H
#define DP_DAEMON_EXECUTORS_LOCAL_ORPHANS_H
#include "base/base.h"
#include <sys/types.h>

/* Kills every process of an attempt whose shim has ended. False, with a reason in `why` (""
 * otherwise), if one survives or cannot be checked: call it again. Any thread; takes up to half a
 * second. */
bool orphans_kill_all(const char *folder, char *why, size_t room);
/* Reports if a process is stopped by a signal, and its start time in seconds since boot. False,
 * with no output, if that is unknown. */
bool process_get_state(pid_t pid, bool *stopped, double *start);

#endif
