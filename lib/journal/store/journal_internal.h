/* journal_internal.h - declarations shared by the files of the journal. */
#ifndef DP_JOURNAL_STORE_JOURNAL_INTERNAL_H
#define DP_JOURNAL_STORE_JOURNAL_INTERNAL_H
#include "journal/journal.h"

#include <lmdb.h>
#include <pthread.h>

#define DP__REPAIR_HINT                                                                            \
	"'dparetoctl journal verify' says what is wrong, 'dparetoctl journal repair' "             \
	"saves what can be read, 'dparetoctl journal restore' puts a backup in place"

enum {
	/* Retries for a snapshot that the writer replaced meanwhile. If it is still missing after
	 * these, the headers are damaged, and the last try reports them. */
	DP__SNAPSHOT_TRIES = 100,
	DP__KEY_SIZE = 8, /* study and sequence number, big-endian, so that keys sort like them */
};

struct dp__write_op {
	struct dp__write_op *next;
	uint64_t ticket;
	uint32_t study, seq;
	bool deletes_study;
	size_t len;
	unsigned char bytes[];
};

enum {
	DP__COMMIT_SAMPLES = 1024 /* commits that quantiles are computed from */
};

struct dp__commit_times {
	uint64_t count;
	double total_seconds;
	double samples[DP__COMMIT_SAMPLES]; /* ring buffer */
};

struct dp__read_request {
	bool is_open;  /* requested and not yet taken */
	bool is_ready; /* true: the requester owns the rest, else the writer */
	uint32_t study, seq;
	struct dp_buf batch;
	int code;
	struct dp_err err;
};

struct dp_journal {
	char *dir;
	bool readonly, no_lock_file;
	bool is_unlocked;             /* unknown to the writer: see dp__snapshot_is_stale() */
	size_t opened_txn_id;         /* newest transaction when it was opened */
	size_t map_size;              /* requested, then the current size */
	struct dp__writer_lock *lock; /* NULL: read-only */
	MDB_env *env;                 /* NULL while it cannot be reopened */
	MDB_dbi events, meta;
	bool is_reading; /* fn of dp_journal_for_each() runs: no nested reads */

	/* The writer. `mutex` guards everything below it that both threads use. */
	bool writer_started;
	pthread_t thread;
	dp_journal_wake_fn *wake;
	void *wake_arg;
	pthread_mutex_t mutex;
	pthread_cond_t cond; /* signals new work, or stop */
	struct dp__write_op *queue_head, **queue_tail;
	uint64_t last_ticket, durable_ticket;
	bool batch_is_open; /* more records of a batch follow: do not commit yet */
	bool stop_requested, has_write_error;
	struct dp_err write_error;
	struct dp__read_request read_request;
	struct dp_journal_stat stat; /* after the last commit */
	struct dp__commit_times commit_times;
	int64_t readers_checked_us; /* when the writer last checked the readers */
	int64_t last_commit_us;     /* of the last commit; writer thread only */
};

void dp__key_pack(uint32_t study, uint32_t seq, unsigned char key[DP__KEY_SIZE]);
/* False if it is not a key of a journal. */
DP_MUSTCHECK bool dp__key_read(const MDB_val *key, uint32_t *study, uint32_t *seq);

/* Opens the environment and its two databases, and creates them if necessary. */
DP_MUSTCHECK int dp__store_open(struct dp_journal *j, struct dp_err *err);
void dp__env_close(struct dp_journal *j);
/* Begins a transaction. Adopts the larger map if another process has grown it. */
DP_MUSTCHECK int dp__txn_begin(struct dp_journal *j, unsigned flags, MDB_txn **txn);
/* True if a write since the journal was opened may have overwritten pages that were read. Readers
 * that the writer knows of are safe from that. */
bool dp__snapshot_is_stale(const struct dp_journal *j);
/* The error for an LMDB code; checks for a full disk, which explains some codes. */
int dp__fail_mdb(const struct dp_journal *j, struct dp_err *err, int mdb_code, const char *what);
/* A number in the "meta" database; 0 if absent. */
DP_MUSTCHECK int dp__meta_get_number(struct dp_journal *j, MDB_txn *txn, const char *name,
				     uint32_t *out, struct dp_err *err);
int dp__meta_put(struct dp_journal *j, MDB_txn *txn, const char *name, const char *value);
/* Current sizes. Only for the thread that owns the environment. */
DP_MUSTCHECK int dp__journal_read_stat(struct dp_journal *j, struct dp_journal_stat *out,
				       struct dp_err *err);
/* Keeps the file longer than its contents. LMDB does not write pages that it allocated at the end
 * and freed in the same transaction, so that an intact file could look truncated. */
void dp__pad_file(struct dp_journal *j);

/* Serves a read request (batch_read.c). Only for the thread that owns the environment. */
void dp__read_request_serve(struct dp_journal *j, struct dp__read_request *f);

/* ---- other processes that read (stale_readers.c) ---- */

/* Frees the reader slots of dead processes, and stores the reader that lags most, if any, in *now.
 * `was`: the result of the last check. Only for the thread that owns the environment. */
void dp__stale_readers_check(struct dp_journal *j, const struct dp_journal_stale_reader *was,
			     struct dp_journal_stale_reader *now);

/* ---- the writer's lock (writer_lock.c) ---- */

struct dp__writer_lock;
/* Only one process writes to the directory. DP_E_BUSY names the one that does. */
DP_MUSTCHECK int dp__writer_lock_acquire(const char *dir, struct dp__writer_lock **out,
					 struct dp_err *err);
void dp__writer_lock_release(struct dp__writer_lock *l); /* NULL is allowed */

/* ---- the mark of an orderly shutdown (clean_mark.c) ---- */

/* True if a writer closed the journal in order at this transaction, and the file is unchanged
 * since. */
bool dp__clean_mark_is_valid(const char *path, size_t txn_id);
void dp__clean_mark_write(const char *path, size_t txn_id);
/* Call before the first write. */
DP_MUSTCHECK int dp__clean_mark_remove(const char *path, struct dp_err *err);

/* ---- leftovers of interrupted maintenance (leftover_files.c) ---- */

#define DP__NEW_JOURNAL_FILE "data.mdb.new" /* renamed to data.mdb */
#define DP__REPAIR_DIR       "repair.tmp"   /* directory of a repair's new journal */
/* Removes what a killed compaction, restore or repair left: only files of this user or of root, and
 * none of a live process. The caller holds the directory's lock. Failures are left to the next
 * call. */
void dp__remove_leftover_files(const char *dir);

/* Records the duration of a commit; `mutex` is held. */
void dp__commit_times_add(struct dp_journal *j, double seconds);
void dp__writer_stop(struct dp_journal *j);

#endif
