/* cgroup.h - version 2 control groups: finds the delegated one and removes those of trainers. */
#ifndef DP_DAEMON_EXECUTORS_LOCAL_CGROUP_H
#define DP_DAEMON_EXECUTORS_LOCAL_CGROUP_H
#include "base/base.h"

/* The directory of this process's cgroup if its manager delegates it (systemd: Delegate=yes), or of
 * the service's with DelegateSubgroup=. The caller frees it. NULL: no cgroup is delegated. */
char *cgroup_find_delegated(void);
/* Enables memory limits in the cgroups below the directory. False: not possible, as where this
 * process is in the directory itself, because a cgroup that sets limits for its children can have
 * no processes. The daemon does not move to another one: its manager would start the next daemon in
 * the old place, and that fails while a trainer runs, unless DelegateSubgroup= is set. */
bool cgroup_enable_memory(const char *folder);
/* Kills all processes in a cgroup and removes it. Returns 0, EBUSY if a process has not ended yet,
 * or another errno. Any thread. */
int cgroup_kill_and_remove(const char *folder);

#endif
