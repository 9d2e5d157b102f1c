/* fd_limits.h - open files are a limit of the machine: as many as it allows, and enough
 * of them kept for the journal and the trainers, however many clients connect. */
#ifndef DP_DAEMON_CORE_FD_LIMITS_H
#define DP_DAEMON_CORE_FD_LIMITS_H
#include "base/base.h"
#include "daemon/core/config/configuration.h"

#include <sys/types.h>

struct fd_limits {
	uint64_t inherited_limit; /* the soft limit that the daemon was started with; trainers get
				   * it back, because programs with select() break above 1024 */
	uint64_t soft_limit;      /* its own */
	unsigned open_at_start;   /* were open when it was ready to listen */
};

/* Raises the soft limit to the hard one. */
void fd_limits_raise(struct fd_limits *f);
/* A child that was just started gets the limit that the daemon was given. */
void fd_limits_restore_for_child(const struct fd_limits *f, pid_t child);
/* Counts what is open: the journal, the log and the loop are, trainers and clients are
 * not yet. */
void fd_limits_count_open(struct fd_limits *f);
/* So many clients at once: max_clients, or what the trainers and the daemon's own work
 * leave of the limit. */
unsigned fd_limits_max_clients(const struct fd_limits *f, const struct config *config);

#endif
