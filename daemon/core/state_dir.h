/* state_dir.h - who else may write to the state directory. It holds what the daemon runs:
 * another user who can change it can run programs as the daemon's user. */
#ifndef DP_DAEMON_CORE_STATE_DIR_H
#define DP_DAEMON_CORE_STATE_DIR_H
#include "daemon/core/daemon.h"

/* Creates the directory if it is missing, and sets d->at.state_dir to its path without
 * links. DP_E_DENIED if another user owns it, or `journal` or `studies` in it, or if
 * every user may write to one of them; one that only its group may write to, or that has
 * the sticky bit, is a warning in the log. DP_E_DENIED also if a symbolic link on the way
 * belongs to another user, in a directory that others may write to. Before the journal is
 * opened. */
DP_MUSTCHECK int state_dir_open(struct daemon *d, const char *path, struct dp_err *err);

#endif
