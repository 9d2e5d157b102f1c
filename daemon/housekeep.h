/* housekeep.h - what a clock has to remind us of: progress of running trainers, free
 * disk, retries that are due, time limits of studies, old folders. */
#ifndef DPARETOD_HOUSEKEEP_H
#define DPARETOD_HOUSEKEEP_H
#include "daemon/daemon.h"

void housekeep_start(struct dpd *d);
/* Removes a folder on a worker thread; takes `folder` (NULL: does nothing). */
void remove_later(struct dpd *d, char *folder);

#endif
