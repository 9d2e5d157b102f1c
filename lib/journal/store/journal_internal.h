/* journal_internal.h - what the files of the journal share. */
#ifndef DP_JOURNAL_STORE_JOURNAL_INTERNAL_H
#define DP_JOURNAL_STORE_JOURNAL_INTERNAL_H
#include "journal/journal.h"

#include <lmdb.h>
#include <pthread.h>

#define DP__REPAIR_HINT                                                                            \
	"'dparetoctl journal verify' says what is wrong, 'dparetoctl journal repair' "             \
	"saves what can be read, 'dparetoctl journal restore' puts a backup in place"

enum {
	/* A state that a writer takes away meanwhile is asked for again; one that is
	 * still not there then has damaged headers, which the last look tells. */
	DP__SNAPSHOT_TRIES = 100,
	DP__KEY_SIZE = 8, /* study and sequence number, big-endian: sorts as they do */
};

/* One thing to write. */
struct dp__write_op {
	struct dp__write_op *next;
	uint64_t ticket;
	uint32_t study, seq;
	bool deletes_study;
	size_t len;
	unsigned char bytes[];
};

enum {
	DP__COMMIT_SAMPLES = 1024 /* the last so many are remembered one by one */
};

/* How long commits took, in seconds. */
struct dp__commit_times {
	uint64_t count;
	double total_seconds;               /* all together */
	double samples[DP__COMMIT_SAMPLES]; /* a ring */
};

/* A request of dp_journal_request_records(). */
struct dp__read_request {
	bool is_open;  /* asked for, and not taken yet */
	bool is_ready; /* the rest is the asker's; until then it is the writer's */
	uint32_t study, seq;
	struct dp_buf batch;
	int code;
	struct dp_err err;
};

struct dp_journal {
	char *dir;
	bool readonly, no_lock_file;
	bool is_unlocked;     /* no writer knows that we read: see dp__snapshot_is_stale() */
	size_t opened_txn_id; /* the newest state when it was opened */
	size_t map_size;      /* asked for; grows with the map */
	struct dp__writer_lock *lock; /* of the one writer; NULL: none */
	MDB_env *env;                 /* NULL while it cannot be opened again */
	MDB_dbi events, meta;
	bool is_reading; /* a reader is at work, so the map must stay */

	/* The writer. Below `mutex`: everything that both threads touch. */
	bool writer_started;
	pthread_t thread;
	dp_journal_wake_fn *wake;
	void *wake_arg;
	pthread_mutex_t mutex;
	pthread_cond_t cond; /* something queued, or stop */
	struct dp__write_op *queue_head, **queue_tail;
	uint64_t last_ticket, durable_ticket;
	bool batch_is_open; /* more belongs to what is queued: wait for it */
	bool stop_requested, has_write_error;
	struct dp_err write_error;
	struct dp__read_request read_request;
	struct dp_journal_stat stat; /* after the last commit */
	struct dp__commit_times commit_times;
	int64_t readers_checked_us; /* when the writer last looked at the readers */
	int64_t last_commit_us;     /* microseconds of its last commit; the writer's alone */
};

void dp__key_pack(uint32_t study, uint32_t seq, unsigned char key[DP__KEY_SIZE]);
/* False if it is no key of ours. */
DP_MUSTCHECK bool dp__key_read(const MDB_val *key, uint32_t *study, uint32_t *seq);

/* Opens the environment and its two databases, which are made if need be. */
DP_MUSTCHECK int dp__env_open(struct dp_journal *j, struct dp_err *err);
void dp__env_close(struct dp_journal *j);
/* Begins a transaction; a map that another process made larger is followed. */
DP_MUSTCHECK int dp__txn_begin(struct dp_journal *j, unsigned flags, MDB_txn **txn);
/* Was something written since it was opened that may have overwritten what was read? A
 * journal that readers share with its writer is safe from that. */
bool dp__snapshot_is_stale(const struct dp_journal *j);
/* The error for a code of LMDB: looks at the disk where that explains it. */
int dp__fail_mdb(const struct dp_journal *j, struct dp_err *err, int mdb_code, const char *what);
/* A number in the database of facts; 0 if it is not there. */
DP_MUSTCHECK int dp__meta_get_number(struct dp_journal *j, MDB_txn *txn, const char *name,
				     uint32_t *out, struct dp_err *err);
int dp__meta_put(struct dp_journal *j, MDB_txn *txn, const char *name, const char *value);
/* Sizes at this moment; only for the thread that owns the environment. */
DP_MUSTCHECK int dp__journal_read_stat(struct dp_journal *j, struct dp_journal_stat *out,
				       struct dp_err *err);
/* Keeps the file longer than what it holds. LMDB does not write pages that it took
 * from the end and gave back at once, so that without this a whole file could look
 * like one that was cut. */
void dp__pad_file(struct dp_journal *j);

/* Reads what was asked for (batch_read.c); only for the thread that owns the environment. */
void dp__read_request_serve(struct dp_journal *j, struct dp__read_request *f);

/* ---- other programs that read (stale_readers.c) ---- */

/* Frees the places of readers that died, and notes the one that lags most, if one does.
 * `was` is what was noted before. Only for the thread that owns the environment. */
void dp__stale_readers_check(struct dp_journal *j, const struct dp_journal_stale_reader *was,
			     struct dp_journal_stale_reader *now);

/* ---- the writer's lock (writer_lock.c) ---- */

struct dp__writer_lock;
/* Only one process writes to the folder: DP_E_BUSY tells which one does. */
DP_MUSTCHECK int dp__writer_lock_acquire(const char *dir, struct dp__writer_lock **out,
					 struct dp_err *err);
void dp__writer_lock_release(struct dp__writer_lock *l); /* NULL is fine */

/* ---- the mark of an orderly end (clean_mark.c) ---- */

/* Did a writer close the journal in this directory in order, at this transaction, and is its file
 * unchanged since? */
bool dp__clean_mark_is_valid(const char *path, size_t txn_id);
void dp__clean_mark_write(const char *path, size_t txn_id);
/* Before anything is written. */
DP_MUSTCHECK int dp__clean_mark_remove(const char *path, struct dp_err *err);

/* ---- unfinished work of maintenance (leftover_files.c) ---- */

#define DP__NEW_JOURNAL_FILE "data.mdb.new" /* becomes data.mdb */
#define DP__REPAIR_DIR       "repair.tmp"   /* a repair makes its new journal in it */
/* Removes what a killed compaction, restore or repair left: files of ours or of root, and none of a
 * process that lives. The caller holds the lock of the directory. What cannot be removed stays for
 * the next time. */
void dp__remove_leftover_files(const char *dir);

/* Notes how long a commit took; `mutex` is held. */
void dp__commit_times_add(struct dp_journal *j, double seconds);
/* Ends the writer's thread and frees what it left (writer.c). */
void dp__writer_stop(struct dp_journal *j);

#endif
