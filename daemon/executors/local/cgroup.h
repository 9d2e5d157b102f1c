/* cgroup.h - the daemon's own place among the control groups. */
#ifndef DP_DAEMON_EXECUTORS_LOCAL_CGROUP_H
#define DP_DAEMON_EXECUTORS_LOCAL_CGROUP_H
#include "base/base.h"

/* The folder of this process's cgroup, if its manager says that groups may be made below
 * it (systemd: Delegate=yes), or of the service's that it is a part of
 * (DelegateSubgroup=); the caller frees it. NULL: there is none, or it is not ours. */
char *cgroup_find_delegated(void);
/* Has the groups below the folder have limits of memory. False: they go without, as where
 * this process is in the folder itself: a group with limits for those below has no
 * processes of its own. It does not move out of the way. Its manager puts the next daemon
 * where it put this one, and could not as long as a trainer of this one runs; only with
 * DelegateSubgroup= it knows another place. */
bool cgroup_enable_memory(const char *folder);
/* Ends everything in a cgroup and removes it. 0: it is gone; EBUSY: something in it does
 * not end yet; another errno. Any thread. */
int cgroup_kill_and_remove(const char *folder);

#endif
