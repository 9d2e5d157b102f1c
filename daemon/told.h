/* told.h - how far the records of each study have been told to hooks: STATE/hooks.told.
 * Without the file everything counts as told, so that a first hook is not flooded with
 * the past. */
#ifndef DPARETOD_TOLD_H
#define DPARETOD_TOLD_H
#include "daemon/daemon.h"

struct told;
/* Reads the file; NULL without memory. */
struct told *told_open(struct dpd *d);
/* The first record of a study that may not have been told; UINT32_MAX: all were. */
uint32_t told_upto(const struct told *t, uint32_t study);
/* Keeps {"STUDY": the first record that was not told}, whose reference is taken, off the
 * loop; NULL: there are no hooks any more, and the file goes. False while the last one is
 * under way: nothing was done. */
bool told_save(struct told *t, json_t *studies);
/* The loop has ended: keeps this now (NULL: the file stays as it is), and frees. */
void told_close(struct told *t, json_t *studies);

#endif
