/* hook.h - runs the programs that the option `hooks` names: one at a time, in the order
 * of what happened. What becomes of them is logged and never felt by a study.
 *
 * A hook is run at least once for each record that it wants, unless a thousand wait: then
 * the oldest are dropped, and the log says so. How far each study was told is kept in
 * STATE/hooks.told, and the next daemon tells what is missing there. What has no record
 * (a start, a low disk) is told at most once. */
#ifndef DPARETOD_HOOK_H
#define DPARETOD_HOOK_H
#include "daemon/happened.h"

/* Before the journal is opened. False without memory. */
DP_MUSTCHECK bool hooks_start(struct dpd *d);
/* After replay, before the journal's writer starts: what a former daemon recorded and
 * did not tell is told now. */
DP_MUSTCHECK int hooks_catch_up(struct dpd *d, struct dp_err *err);
/* Is there one for this? */
bool hooks_want(const struct dpd *d, enum happening what);
void hooks_tell(struct dpd *d, const struct happened *one);
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
