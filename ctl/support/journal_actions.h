/* journal_actions.h - the journal as dparetoctl looks at it and keeps it.
 *
 * Owns nothing; the folder of the journal belongs to the caller. */
#ifndef DP_CTL_SUPPORT_JOURNAL_ACTIONS_H
#define DP_CTL_SUPPORT_JOURNAL_ACTIONS_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* The journal's folder below --state; the caller frees it. */
DP_MUSTCHECK int ctl_journal_dir_path(struct ctl *ctl, char **folder, struct dp_err *err);
/* {"records","studies","bytes","faults":[{"study","seq","fault"}]}, read by a child
 * process, so that nothing in the file can harm us: what kills the child is a fault.
 * path: a journal's folder, or a file of a backup. */
DP_MUSTCHECK int ctl_journal_scan_faults(const char *path, json_t **out, struct dp_err *err);
/* What status has to say of {"journal":{...}} in a hello beside its size: who holds back
 * space, what cannot be read. */
void ctl_journal_print_warnings(struct ctl *ctl, const json_t *journal);

/* The commands. */
DP_MUSTCHECK int ctl_journal_dump(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_verify(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_repair(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_backup(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_restore(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_compact(struct ctl *ctl, const char *folder, struct dp_err *err);

#endif
