/* hooks.h - runs the programs that the option `hooks` names: one at a time, in the order
 * of what happened. What becomes of them is logged and never felt by a study.
 *
 * A hook is run at least once for each record that it wants. A thousand wait in memory;
 * further ones wait in the journal (hook_backlog.h), so that none is dropped. How far
 * each study was told is kept in STATE/hooks.told, and the next daemon tells what is
 * missing there. What has no record (a start, a low disk) is told at most once. */
#ifndef DP_DAEMON_NOTIFY_HOOKS_H
#define DP_DAEMON_NOTIFY_HOOKS_H
#include "daemon/notify/notification.h"

/* Before the journal is opened. False without memory. */
DP_MUSTCHECK bool hooks_start(struct daemon *d);
/* After replay, before the journal's writer starts: what a former daemon recorded and
 * did not tell is told now. */
void hooks_resume_undelivered(struct daemon *d);
/* Is there one for this? */
bool hooks_want_event(const struct daemon *d, enum hook_event what);
/* Queues it for each hook that wants it. False without memory. */
DP_MUSTCHECK bool hooks_enqueue(struct daemon *d, const struct notification *one);
bool hooks_queue_has_room(const struct daemon *d);
/* May a new record be queued, or must it wait in the journal behind others? */
bool hooks_can_enqueue(const struct daemon *d);
/* The record waits in the journal. */
void hooks_defer_to_backlog(struct study *study, const struct dp_event *e);
/* The configuration was read again. */
void hooks_on_reload(struct daemon *d);
/* Runs the next one that may run. */
void hooks_run_due(struct daemon *d);
/* Twice a second. */
void hooks_tick(struct daemon *d);
/* The daemon is asked to stop: what waits gets a few seconds more, or none. */
void hooks_begin_stop(struct daemon *d, bool now);
/* Must a daemon that stops still wait? */
bool hooks_delay_stop(const struct daemon *d);
/* The loop has ended. */
void hooks_stop(struct daemon *d);

#endif
