/* salvage.h - what can be read of a damaged journal, and the rebuilding of its studies. */
#ifndef DP_JOURNAL_MAINTENANCE_SALVAGE_H
#define DP_JOURNAL_MAINTENANCE_SALVAGE_H
#include "base/buf.h"
#include "journal/journal.h"

#include <jansson.h>

struct dp__salvaged_record {
	uint32_t study, seq;
	unsigned char *bytes;
	size_t len;
	bool is_valid;         /* it can be decoded */
	bool is_newer_version; /* only a newer version can decode it */
	bool is_orphaned;      /* from a page that no tree refers to */
	char fault[96];
};

struct dp__salvage {
	struct dp__salvaged_record *records; /* (n), by study and number, one per key */
	size_t n, capacity;
	uint64_t page_faults;
	char first_fault[256];
	json_t *meta; /* entries of the "meta" database */
};

/* Reads a file without a writer. Every page is searched for records that the trees do not
 * contain. */
DP_MUSTCHECK int dp__salvage_read(struct dp__salvage *s, int fd, struct dp_err *err);
void dp__salvage_clear(struct dp__salvage *s);

/* ---- reconciliation of one study (reconcile.c) ---- */

struct dp__reconciled_record {
	const struct dp__salvaged_record *salvaged; /* NULL: missing */
	struct dp_buf synthesized;                  /* replaces a lost record */
	uint32_t needed_by;                         /* the record that is unusable without it */
	bool is_lost; /* the record is set aside, or was never found */
	char lost_reason[128];
	int64_t previous_time_us; /* of the preceding record */
};

struct dp__reconciled_study {
	uint32_t study;
	char name[DP_NAME_MAX + 1];
	struct dp__reconciled_record *records;
	uint32_t n;
	uint32_t lost_count, synthesized_count;
	bool is_unrecoverable; /* the first record is lost */
};

/* Builds the longest consistent history from the records of one study. Missing records that others
 * need are synthesized if that invents nothing; points come from request.json files in `folder`
 * (STATE/studies). */
DP_MUSTCHECK int dp__reconcile_study(const struct dp__salvaged_record *finds, size_t n,
				     const char *folder, struct dp__reconciled_study *out,
				     struct dp_err *err);
void dp__reconciled_study_clear(struct dp__reconciled_study *m);

#endif
