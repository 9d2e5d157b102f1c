/* cgroup.h - the daemon's own place among the control groups. */
#ifndef DPARETOD_CGROUP_H
#define DPARETOD_CGROUP_H
#include "base/base.h"

/* The folder of this process's cgroup, if its manager says that groups may be made below
 * it (systemd: Delegate=yes), or of the service's that it is a part of
 * (DelegateSubgroup=); the caller frees it. NULL: there is none, or it is not ours. */
char *cgroup_delegated(void);
/* Has the groups below the folder have limits of memory. False: they go without. The
 * kernel does not allow that to a group with processes of its own, so those that are
 * there, this one and shims of a daemon before, move to a group below first. */
bool cgroup_limit_memory(const char *folder);
/* Ends everything in a cgroup and removes it. 0: it is gone; EBUSY: something in it does
 * not end yet; another errno. Any thread. */
int cgroup_end(const char *folder);

#endif
