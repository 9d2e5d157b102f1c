/* hooks.h - runs the programs that the option `hooks` names: one at a time, in the order of what
 * happened. What becomes of them is logged and never felt by a study.
 *
 * A hook is run at least once for each record that it wants. A thousand wait in memory; further
 * ones wait in the journal (hook_backlog.h), so that none is dropped. How far each study was
 * reported is kept in STATE/hooks.told, and the next daemon reports what is missing there. What has
 * no record (a start, a low disk) is reported at most once. */
#ifndef DP_DAEMON_NOTIFY_HOOKS_H
#define DP_DAEMON_NOTIFY_HOOKS_H
#include "daemon/core/daemon.h"

/* Before the journal is opened. From here on records are listened to. */
void hooks_start(struct daemon *d);
/* After replay, before the journal's writer starts: what a former daemon recorded and did not
 * report is reported now. */
void hooks_resume_undelivered(struct daemon *d);
/* The daemon is ready. */
void hooks_on_daemon_started(struct daemon *d);
/* The disk fell below its watermark; `reason` is a sentence. */
void hooks_on_disk_low(struct daemon *d, const char *reason);
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
