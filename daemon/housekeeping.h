/* housekeeping.h - what a clock has to remind us of: progress of running trainers, free
 * disk, retries that are due, time limits of studies, old folders. */
#ifndef DP_DAEMON_HOUSEKEEPING_H
#define DP_DAEMON_HOUSEKEEPING_H
#include "daemon/core/daemon.h"

void housekeeping_start(struct daemon *d);
/* Removes a folder on a worker thread; takes `folder` (NULL: does nothing). */
void remove_tree_in_background(struct daemon *d, char *folder);

#endif
