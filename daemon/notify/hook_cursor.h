/* hook_cursor.h - how far the records of each study have been reported to hooks: STATE/hooks.told.
 * Without the file everything counts as reported, so that a first hook is not flooded with
 * the past. */
#ifndef DP_DAEMON_NOTIFY_HOOK_CURSOR_H
#define DP_DAEMON_NOTIFY_HOOK_CURSOR_H
#include "daemon/core/daemon.h"

struct hook_cursor;
/* Reads the file. */
struct hook_cursor *hook_cursor_open(struct daemon *d);
/* The first record of a study that may not have been reported; UINT32_MAX: all were. */
uint32_t hook_cursor_next_seq(const struct hook_cursor *cursor, uint32_t study_id);
/* Keeps {"STUDY": the first record that was not reported}, whose reference is taken, off the
 * loop; NULL: there are no hooks any more, and the file goes. False while the last one is
 * under way: nothing was done. */
bool hook_cursor_save(struct hook_cursor *cursor, json_t *studies);
/* The loop has ended: keeps this now (NULL: the file stays as it is), and frees. */
void hook_cursor_close(struct hook_cursor *cursor, json_t *studies);

#endif
