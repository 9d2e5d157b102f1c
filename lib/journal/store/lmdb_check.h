/* lmdb_check.h - checks the pages of an LMDB file without trusting any of them.
 *
 * LMDB follows the numbers in its pages, even to invalid addresses. This code reads every page from
 * the file and checks every number before use. A file without faults is safe for LMDB to read and
 * write; for others, the faults are reported. Layout: LMDB 0.9 on 64-bit machines. */
#ifndef DP_JOURNAL_STORE_LMDB_CHECK_H
#define DP_JOURNAL_STORE_LMDB_CHECK_H
#include "base/base.h"

#include <sys/types.h>

struct dp__lmdb_visitor {
	void *arg;
	/* A record as stored, not checked; non-zero ends the walk. NULL: bytes are not read. */
	int (*on_record)(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len);
	/* An entry of the "meta" database; may be NULL. */
	int (*on_meta)(void *arg, const void *name, size_t name_len, const void *value, size_t len);
	/* A fault that LMDB could not handle, as a sentence. */
	void (*on_fault)(void *arg, const char *text);
};

struct dp__lmdb_file {
	int fd;
	const struct dp__lmdb_visitor *visitor;
	size_t page_size;    /* bytes */
	uint64_t page_count; /* whole pages in the file */
	uint64_t last_page;  /* the last page that is used or free */
	uint64_t fault_count;
	uint64_t txn_id;          /* of the checked snapshot */
	unsigned char *page_uses; /* PAGE_USE_* of each page up to last_page */
	int stop_code;            /* the code that ended the walk early */
};

/* True if the header fields that LMDB does not check (format, page size) are valid. Invalid ones
 * crash it at once. */
bool dp__lmdb_has_headers(int fd);
/* False if the header names a format other than that of LMDB 0.9. */
bool dp__lmdb_format_is_known(int fd);
/* Walks everything that LMDB would use: the headers, the free lists, and the trees of "meta" and
 * "events". txn: a snapshot that a reader holds; 0: the newest. Returns DP_OK even with faults,
 * DP_E_BUSY if the snapshot is gone, an I/O error, or the code of the visitor. */
DP_MUSTCHECK int dp__lmdb_check_pages(struct dp__lmdb_file *p, int fd, uint64_t txn,
				      const struct dp__lmdb_visitor *visitor, struct dp_err *err);
/* After a walk: passes everything that looks like a record, on any page, to the visitor.
 * `free_too`: also from free pages, which hold older copies. */
DP_MUSTCHECK int dp__lmdb_scan_records(struct dp__lmdb_file *p, bool free_too);
void dp__lmdb_file_clear(struct dp__lmdb_file *p);

#endif
