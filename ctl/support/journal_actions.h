/* journal_actions.h - the journal commands of dparetoctl and a check of its health.
 *
 * The caller owns the journal directory. */
#ifndef DP_CTL_SUPPORT_JOURNAL_ACTIONS_H
#define DP_CTL_SUPPORT_JOURNAL_ACTIONS_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Sets the path of the journal directory in --state. The caller frees it. */
DP_MUSTCHECK int ctl_journal_dir_path(struct ctl *ctl, char **folder, struct dp_err *err);
/* Verifies a journal: {"records","studies","bytes","faults":[{"study","seq","fault"}]}. A child
 * process reads it, so a damaged file cannot crash us; the child's death counts as a fault. path: a
 * journal directory or a backup file. */
DP_MUSTCHECK int ctl_journal_scan_faults(const char *path, json_t **out, struct dp_err *err);
/* Prints warnings for the {"journal":{...}} of a hello: stale readers that hold back space,
 * unreadable records. */
void ctl_journal_print_warnings(struct ctl *ctl, const json_t *journal);

DP_MUSTCHECK int ctl_journal_dump(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_verify(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_repair(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_backup(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_restore(struct ctl *ctl, const char *folder, struct dp_err *err);
DP_MUSTCHECK int ctl_journal_compact(struct ctl *ctl, const char *folder, struct dp_err *err);

#endif
