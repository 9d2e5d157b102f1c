/* salvage.h - everything that can be read of a damaged journal, and what makes a study of
 * it again. */
#ifndef DP_JOURNAL_MAINTENANCE_SALVAGE_H
#define DP_JOURNAL_MAINTENANCE_SALVAGE_H
#include "base/buf.h"
#include "journal/journal.h"

#include <jansson.h>

/* A record that was found. */
struct dp__salvaged_record {
	uint32_t study, seq;
	unsigned char *bytes;
	size_t len;
	bool is_valid;         /* it can be decoded */
	bool is_newer_version; /* it could be, by a newer version */
	bool is_orphaned;      /* not where it belongs: from a page that nothing leads to */
	char fault[96];        /* why it is not sound */
};

struct dp__salvage {
	struct dp__salvaged_record *records; /* (n), by study and number, each once */
	size_t n, capacity;
	uint64_t page_faults;
	char first_fault[256]; /* of the pages */
	json_t *meta;          /* texts of the database of facts */
};

/* Reads the file, in which nobody writes. What cannot be had by its trees is looked for
 * on every page. */
DP_MUSTCHECK int dp__salvage_read(struct dp__salvage *s, int fd, struct dp_err *err);
void dp__salvage_clear(struct dp__salvage *s);

/* ---- one study made whole (reconcile.c) ---- */

/* One record of a study as it shall be. */
struct dp__reconciled_record {
	const struct dp__salvaged_record *salvaged; /* as it was; NULL: missing or made */
	struct dp_buf synthesized;                  /* made in place of one that was lost */
	uint32_t needed_by;       /* the record that could not be used without it */
	bool is_lost;             /* what was here is set aside, or was never found */
	char lost_reason[128];    /* it was lost */
	int64_t previous_time_us; /* of the record before it */
};

struct dp__reconciled_study {
	uint32_t study;
	char name[DP_NAME_MAX + 1];
	struct dp__reconciled_record *records; /* (n) */
	uint32_t n;
	uint32_t lost_count, synthesized_count; /* of them */
	bool is_unrecoverable;                  /* not even its first record is there */
};

/* Makes of the finds of one study the longest history that follows from itself. Records
 * that others need are made anew where that invents nothing: points from the
 * request.json of their attempts, below `folder` (STATE/studies). */
DP_MUSTCHECK int dp__reconcile_study(const struct dp__salvaged_record *finds, size_t n,
				     const char *folder, struct dp__reconciled_study *out,
				     struct dp_err *err);
void dp__reconciled_study_clear(struct dp__reconciled_study *m);

#endif
