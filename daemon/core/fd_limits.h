/* fd_limits.h - raises the limit of open files and reserves descriptors for the journal and
 * trainers, however many clients connect. */
#ifndef DP_DAEMON_CORE_FD_LIMITS_H
#define DP_DAEMON_CORE_FD_LIMITS_H
#include "base/base.h"
#include "daemon/core/config/configuration.h"

#include <sys/types.h>

struct fd_limits {
	uint64_t inherited_limit; /* the soft limit at start; trainers get it back, because programs
				     with select() break above 1024 */
	uint64_t soft_limit;
	unsigned open_at_start; /* open when the daemon was ready to listen */
};

void fd_limits_raise(struct fd_limits *f);
/* Gives a new child the limit that the daemon inherited. */
void fd_limits_restore_for_child(const struct fd_limits *f, pid_t child);
/* Counts open descriptors: the journal, the log and the loop, but no trainers or clients yet. */
void fd_limits_count_open(struct fd_limits *f);
/* The limit on clients: max_clients, or what trainers and the daemon leave of the descriptors. */
unsigned fd_limits_max_clients(const struct fd_limits *f, const struct config *config);

#endif
