/* restore.h - one journal put in the place of another. */
#ifndef DP_JOURNAL_MAINTENANCE_RESTORE_H
#define DP_JOURNAL_MAINTENANCE_RESTORE_H
#include "base/base.h"

/* A name for what is kept, with the time in it: "data-20261117T001122Z.mdb". */
void dp__format_kept_name(const char *before, const char *after, char out[64]);
/* Puts the file `new`, which is on the disk, in the place of the journal's file; `keep`
 * is the name under which the old one stays in the folder, NULL if it goes. At every
 * moment the journal is either the old or the new one. */
DP_MUSTCHECK int dp__replace_journal_file(const char *dir, const char *new, const char *keep,
					  struct dp_err *err);

#endif
