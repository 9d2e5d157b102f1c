/* hook.h - runs the programs that the option `hooks` names: one at a time, in the order
 * of what happened. What becomes of them is logged and never felt by a study.
 *
 * A hook is run at least once for each record that it wants. A thousand wait in memory;
 * further ones wait in the journal (hook_backlog.h), so that none is dropped. How far
 * each study was told is kept in STATE/hooks.told, and the next daemon tells what is
 * missing there. What has no record (a start, a low disk) is told at most once. */
#ifndef DPARETOD_HOOK_H
#define DPARETOD_HOOK_H
#include "daemon/happened.h"

/* Before the journal is opened. False without memory. */
DP_MUSTCHECK bool hooks_start(struct dpd *d);
/* After replay, before the journal's writer starts: what a former daemon recorded and
 * did not tell is told now. */
void hooks_catch_up(struct dpd *d);
/* Is there one for this? */
bool hooks_want(const struct dpd *d, enum happening what);
/* Queues it for each hook that wants it. False without memory. */
DP_MUSTCHECK bool hooks_tell(struct dpd *d, const struct happened *one);
bool hooks_have_room(const struct dpd *d);
/* May a new record be queued, or must it wait in the journal behind others? */
bool hooks_may_queue(const struct dpd *d);
/* The record waits in the journal. */
void hooks_put_off(struct study *h, const struct dp_event *e);
/* The configuration was read again. */
void hooks_reloaded(struct dpd *d);
/* Runs the next one that may run. */
void hooks_poll(struct dpd *d);
/* Twice a second. */
void hooks_tick(struct dpd *d);
/* The daemon is asked to stop: what waits gets a few seconds more, or none. */
void hooks_hurry(struct dpd *d, bool now);
/* Must a daemon that stops still wait? */
bool hooks_hold_stop(const struct dpd *d);
/* The loop has ended. */
void hooks_stop(struct dpd *d);

#endif
