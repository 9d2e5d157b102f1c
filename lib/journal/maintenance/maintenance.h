/* maintenance.h - what dparetoctl does with a whole journal: checks it, copies it, puts another in
 * its place, repairs it. */
#ifndef DP_JOURNAL_MAINTENANCE_MAINTENANCE_H
#define DP_JOURNAL_MAINTENANCE_MAINTENANCE_H
#include "journal/journal.h"

#include <jansson.h>

/* ---- checking (verify.c) ---- */

/* Counts of what was found. */
struct dp_journal_verify_result {
	uint64_t records, studies, faults, bytes;
};
/* One fault, as a sentence; study 0 is the file itself. */
typedef void dp_journal_fault_fn(void *arg, uint32_t study, uint32_t seq, const char *fault);
/* Reads everything that a daemon would use of a journal that may be too damaged to be opened: the
 * pages of the file (free ones, too, as far as a writer relies on them), checksums, decoding,
 * sequence numbers without gaps, and whether the records of each study follow from each other.
 * path: its directory, also beside a running daemon, or the file of a backup. */
DP_MUSTCHECK int dp_journal_verify_path(const char *path, dp_journal_fault_fn *bad, void *arg,
					struct dp_journal_verify_result *out, struct dp_err *err);

/* ---- copies and repairs (restore.c, repair.c) ---- */

/* Copies the journal, as it is now and without its free pages, into a file: whole or not
 * at all. Beside a running daemon, too. */
DP_MUSTCHECK int dp_journal_backup(struct dp_journal *j, const char *to, struct dp_err *err);
/* The others are for a folder that no daemon uses: DP_E_BUSY. Each leaves either the old
 * or the new journal, whenever it is interrupted. */
/* Puts a copy, if it has no faults, in the place of the journal, which is kept in the
 * folder under the name in `kept`. */
DP_MUSTCHECK int dp_journal_restore(const char *dir, const char *file, char kept[64],
				    struct dp_err *err);
DP_MUSTCHECK int dp_journal_compact(const char *dir, struct dp_err *err);
/* Makes a journal without faults of what can be read of it. Records that are damaged or
 * lost their meaning are set aside in a file in the folder, studies that lost some are
 * paused, and the old journal is kept. *report says all that; the caller owns it. */
DP_MUSTCHECK int dp_journal_repair(const char *dir, json_t **report, struct dp_err *err);

#endif
