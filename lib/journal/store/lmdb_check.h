/* lmdb_check.h - the pages of an LMDB file, read without trusting one of them.
 *
 * LMDB follows whatever its pages say, into addresses that are none. Here every page is
 * read from the file, and every number in it is checked before it is used; so that what
 * is found sound can be given to LMDB, for reading and for writing, and of the rest can
 * be said what is wrong with it. The layout is that of LMDB 0.9 on 64 bit machines. */
#ifndef DP_JOURNAL_STORE_LMDB_CHECK_H
#define DP_JOURNAL_STORE_LMDB_CHECK_H
#include "base/base.h"

#include <sys/types.h>

struct dp__lmdb_visitor {
	void *arg;
	/* A record as it lies there, nothing checked; a non-zero return ends the walk.
	 * NULL: the bytes are not even read. */
	int (*on_record)(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len);
	/* An entry of the database of facts; may be NULL. */
	int (*on_meta)(void *arg, const void *name, size_t name_len, const void *value, size_t len);
	/* Something that LMDB could not live with, as a sentence. */
	void (*on_fault)(void *arg, const char *text);
};

struct dp__lmdb_file {
	int fd;
	const struct dp__lmdb_visitor *visitor;
	size_t page_size;         /* of a page */
	uint64_t page_count;      /* whole pages of the file */
	uint64_t last_page;       /* the last page that is in use or free */
	uint64_t fault_count;     /* in all */
	uint64_t txn_id;          /* the state of the file that is looked at */
	unsigned char *page_uses; /* a byte for each page up to `last`: what it is for */
	int stop_code;            /* the code with which the walk ended early */
};

/* Do the headers say what LMDB believes without asking: what it is, how large a page is?
 * With others it crashes at once. */
bool dp__lmdb_has_headers(int fd);
/* False if the file says that its format is another one than that of LMDB 0.9. */
bool dp__lmdb_format_is_known(int fd);
/* Walks over everything that LMDB would use: headers, the lists of free pages, the
 * trees of facts and of records. txn: that state, which a reader holds; 0: the newest.
 * DP_OK also with faults; DP_E_IO; or what the visitor returned. */
DP_MUSTCHECK int dp__lmdb_check_pages(struct dp__lmdb_file *p, int fd, uint64_t txn,
				      const struct dp__lmdb_visitor *visitor, struct dp_err *err);
/* After a walk: gives the visitor everything on any page that has the shape of a record.
 * `free_too`: also from pages that are free, where older copies lie. */
DP_MUSTCHECK int dp__lmdb_scan_records(struct dp__lmdb_file *p, bool free_too);
void dp__lmdb_file_clear(struct dp__lmdb_file *p);

#endif
