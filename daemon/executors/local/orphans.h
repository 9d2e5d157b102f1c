/* orphans.h - what an attempt left running when its shim was killed, on this machine. */
#ifndef DP_DAEMON_EXECUTORS_LOCAL_ORPHANS_H
#define DP_DAEMON_EXECUTORS_LOCAL_ORPHANS_H
#include "base/base.h"
#include <sys/types.h>

/* Ends every process of an attempt, whose shim has ended. False if something does not
 * end, or cannot be looked at, and what in `why`, which is "" otherwise: to be asked
 * again. Any thread; it may take half a second. */
bool orphans_kill_all(const char *folder, char *why, size_t room);
/* Is a process stopped by a signal, and when did it start, in seconds since boot? False
 * where that cannot be said: then nothing is changed. */
bool process_get_state(pid_t pid, bool *stopped, double *start);

#endif
