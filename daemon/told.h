/* told.h - how far the records of each study have been told to hooks: STATE/hooks.told.
 * Without the file everything counts as told, so that a first hook is not flooded with
 * the past. */
#ifndef DPARETOD_TOLD_H
#define DPARETOD_TOLD_H
#include "daemon/daemon.h"

struct told;
/* Reads the file; NULL without memory. */
struct told *told_open(struct dpd *d);
/* Nothing is left of it: there are no hooks any more. */
void told_remove(struct told *t);
/* The first record of a study that may not have been told; UINT32_MAX: all were. */
uint32_t told_upto(const struct told *t, uint32_t study);
/* Keeps `text`, of told_text(), off the loop. False while that is under way. */
bool told_save(struct told *t, json_t *studies);
/* The loop has ended: keeps it now if there is something to keep (NULL: nothing), and
 * frees. */
void told_close(struct told *t, json_t *studies);

#endif
