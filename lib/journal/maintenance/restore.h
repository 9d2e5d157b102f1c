/* restore.h - replaces the data file of a journal. */
#ifndef DP_JOURNAL_MAINTENANCE_RESTORE_H
#define DP_JOURNAL_MAINTENANCE_RESTORE_H
#include "base/base.h"

/* A name with the current UTC time: "data-20261117T001122.123456Z.mdb". */
void dp__format_kept_name(const char *before, const char *after, char out[64]);
/* Replaces the journal's data file by the file `new`, which must be durable. The old file is kept
 * in the directory as `keep` (NULL: removed). At every moment the journal is the old or the new
 * one. */
DP_MUSTCHECK int dp__replace_journal_file(const char *dir, const char *new, const char *keep,
					  struct dp_err *err);

#endif
