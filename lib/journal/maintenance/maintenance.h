/* maintenance.h - verification, backup, restore, compaction and repair of a journal. */
#ifndef DP_JOURNAL_MAINTENANCE_MAINTENANCE_H
#define DP_JOURNAL_MAINTENANCE_MAINTENANCE_H
#include "journal/journal.h"

#include <jansson.h>

/* ---- verification (verify.c) ---- */

struct dp_journal_verify_result {
	uint64_t records, studies, faults, bytes;
};
/* Reports one fault as a sentence; study 0: the file itself. */
typedef void dp_journal_fault_fn(void *arg, uint32_t study, uint32_t seq, const char *fault);
/* Verifies everything that a daemon would use of a journal that may be too damaged to open: the
 * pages of the file (including free pages that a writer relies on), checksums, encoding, gaps in
 * sequence numbers, and whether the records of each study follow from each other. path: the
 * directory of a journal, also while a daemon runs, or the file of a backup. */
DP_MUSTCHECK int dp_journal_verify_path(const char *path, dp_journal_fault_fn *bad, void *arg,
					struct dp_journal_verify_result *out, struct dp_err *err);

/* ---- copies and repair (restore.c, repair.c) ---- */

/* Copies the current journal without free pages into a file: completely or not at all. Works while
 * a daemon runs. */
DP_MUSTCHECK int dp_journal_backup(struct dp_journal *j, const char *to, struct dp_err *err);
/* The functions below need a directory that no daemon uses, else DP_E_BUSY. If interrupted at any
 * time, each leaves either the old or the new journal. */
/* Replaces the journal by a copy without faults. The old journal is kept in `dir` as `kept`. */
DP_MUSTCHECK int dp_journal_restore(const char *dir, const char *file, char kept[64],
				    struct dp_err *err);
DP_MUSTCHECK int dp_journal_compact(const char *dir, struct dp_err *err);
/* Builds a journal without faults from what can be read. Damaged or unusable records go to a file
 * in the directory, studies that lost records are paused, and the old journal is kept. The caller
 * owns *report. */
DP_MUSTCHECK int dp_journal_repair(const char *dir, json_t **report, struct dp_err *err);

#endif
