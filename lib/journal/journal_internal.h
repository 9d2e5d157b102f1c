/* journal_internal.h - what the files of the journal share. */
#ifndef DP_JOURNAL_INTERNAL_H
#define DP_JOURNAL_INTERNAL_H
#include "journal/journal.h"

#include <lmdb.h>
#include <pthread.h>

enum {
	DP__KEY_SIZE = 8, /* study and sequence number, big-endian: sorts as they do */
};

/* One thing to write. */
struct dp__op {
	struct dp__op *next;
	uint64_t ticket;
	uint32_t study, seq;
	bool forget;
	size_t len;
	unsigned char bytes[];
};

struct dp_journal {
	char *dir;
	bool readonly;
	size_t map_size; /* asked for; grows with the map */
	int lock;        /* of the one writer; -1: none */
	MDB_env *env;    /* NULL while it cannot be opened again */
	MDB_dbi events, meta;
	bool walking; /* a reader is at work, so the map must stay */

	/* The writer. Below `mutex`: everything that both threads touch. */
	bool started;
	pthread_t thread;
	dp_journal_wake_fn *wake;
	void *wake_arg;
	pthread_mutex_t mutex;
	pthread_cond_t cond; /* something queued, or stop */
	struct dp__op *first, **last;
	uint64_t ticket, durable;
	bool held; /* more belongs to what is queued: wait for it */
	bool stop, troubled;
	struct dp_err trouble;
	struct dp_journal_stat stat; /* after the last commit */
};

void dp__key_pack(uint32_t study, uint32_t seq, unsigned char key[DP__KEY_SIZE]);
/* False if it is no key of ours. */
DP_MUSTCHECK bool dp__key_read(const MDB_val *key, uint32_t *study, uint32_t *seq);

/* Opens the environment and its two databases, which are made if need be. */
DP_MUSTCHECK int dp__env_open(struct dp_journal *j, struct dp_err *err);
void dp__env_close(struct dp_journal *j);
/* The error for a code of LMDB: looks at the disk where that explains it. */
int dp__fail_mdb(const struct dp_journal *j, struct dp_err *err, int mdb_code,
		 const char *what);
/* A number in the database of facts; 0 if it is not there. */
DP_MUSTCHECK int dp__meta_number(struct dp_journal *j, MDB_txn *txn, const char *name,
				 uint32_t *out, struct dp_err *err);
int dp__meta_put(struct dp_journal *j, MDB_txn *txn, const char *name, const char *value);
/* Sizes at this moment; only for the thread that owns the environment. */
DP_MUSTCHECK int dp__measure(struct dp_journal *j, struct dp_journal_stat *out,
			     struct dp_err *err);
/* Keeps the file longer than what it holds. LMDB does not write pages that it took
 * from the end and gave back at once, so that without this a whole file could look
 * like one that was cut. */
void dp__pad_file(struct dp_journal *j);

/* Ends the writer's thread and frees what it left (writer.c). */
void dp__writer_stop(struct dp_journal *j);

#endif
