/* state_dir.h - who else may write to the state directory. It holds what the daemon runs:
 * another user who can change it can run programs as the daemon's user. */
#ifndef DPARETOD_STATE_DIR_H
#define DPARETOD_STATE_DIR_H
#include "daemon/daemon.h"

/* The path as it was named: DP_E_DENIED if a symbolic link of it, in a directory that
 * others may write to, belongs to neither root nor the daemon's user. */
DP_MUSTCHECK int state_dir_check_links(const char *path, struct dp_err *err);

/* Checks the directory, and `journal` and `studies` in it where they exist. DP_E_DENIED
 * if another user owns one, or if every user may write to it; one that only its group may
 * write to, or that has the sticky bit, is a warning in the log. Before the journal is
 * opened. */
DP_MUSTCHECK int state_dir_check(struct dpd *d, struct dp_err *err);

#endif
