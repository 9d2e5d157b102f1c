/* hook_cursor.h - how far the records of each study were reported to hooks, kept in
 * STATE/hooks.told. Without the file everything counts as reported, so that a new hook does not get
 * the past. */
#ifndef DP_DAEMON_NOTIFY_HOOK_CURSOR_H
#define DP_DAEMON_NOTIFY_HOOK_CURSOR_H
#include "daemon/core/daemon.h"

struct hook_cursor;
struct hook_cursor *hook_cursor_open(struct daemon *d);
/* The study's first record that may not be reported; UINT32_MAX: all are. */
uint32_t hook_cursor_next_seq(const struct hook_cursor *cursor, uint32_t study_id);
/* Saves {"STUDY": first unreported record} off the loop and takes the reference. NULL: no hooks are
 * configured, and the file is removed. False: a save is in progress, and nothing was done. */
bool hook_cursor_save(struct hook_cursor *cursor, json_t *studies);
/* Called after the loop has ended: saves (NULL: keeps the file) and frees. */
void hook_cursor_close(struct hook_cursor *cursor, json_t *studies);

#endif
