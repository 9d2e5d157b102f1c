/* state_dir.h - opens the state directory and checks that no other user can write to it. A user
 * with write access could run programs as the daemon's user. */
#ifndef DP_DAEMON_CORE_STATE_DIR_H
#define DP_DAEMON_CORE_STATE_DIR_H
#include "daemon/core/daemon.h"

/* Creates the directory if needed and sets d->paths.state_dir to its real path. Call it before
 * opening the journal.
 *
 * DP_E_DENIED if another user owns it, or `journal` or `studies` in it; if one of them is
 * world-writable; or if the path has a symbolic link that another user owns, in a directory that
 * others can write to. Group-writable directories and those with the sticky bit give a warning in
 * the log. */
DP_MUSTCHECK int state_dir_prepare(struct daemon *d, const char *path, struct dp_err *err);

#endif
