/* hooks.h - runs the programs of the option `hooks`, one at a time, in the order of events. The
 * result of a hook is logged and never affects a study. A hook runs at least once for each record
 * that it wants. HOOK_QUEUE_MAX runs wait in memory; further ones wait in the journal
 * (hook_backlog.h), so that none is lost. STATE/hooks.told has the progress of each study, and the
 * next daemon reports what is missing. Notifications without a record (a start, a low disk) are
 * reported at most once. */
#ifndef DP_DAEMON_NOTIFY_HOOKS_H
#define DP_DAEMON_NOTIFY_HOOKS_H
#include "daemon/core/daemon.h"

/* Registers for records. Call it before the journal is opened. */
void hooks_start(struct daemon *d);
/* Queues unreported records. Call it after replay, before the journal's writer starts. */
void hooks_resume_undelivered(struct daemon *d);
void hooks_on_daemon_started(struct daemon *d);
/* Free disk fell below the watermark; `reason` is a sentence. */
void hooks_on_disk_low(struct daemon *d, const char *reason);
void hooks_on_reload(struct daemon *d);
void hooks_run_due(struct daemon *d);
void hooks_tick(struct daemon *d);
/* The daemon is stopping: waiting hooks get a few seconds; now: none. */
void hooks_begin_stop(struct daemon *d, bool now);
/* True if a stopping daemon must wait for hooks. */
bool hooks_delay_stop(const struct daemon *d);
/* Called after the loop has ended. */
void hooks_stop(struct daemon *d);

#endif
