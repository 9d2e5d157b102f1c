/* journal_internal.h - what the files of the journal share. */
#ifndef DP_JOURNAL_INTERNAL_H
#define DP_JOURNAL_INTERNAL_H
#include "journal/journal.h"

#include <lmdb.h>
#include <pthread.h>

#define DP__REPAIR_HINT                                                                            \
	"'dparetoctl journal verify' says what is wrong, 'dparetoctl journal repair' "             \
	"saves what can be read, 'dparetoctl journal restore' puts a backup in place"

enum {
	/* A state that a writer takes away meanwhile is asked for again; one that is
	 * still not there then has damaged headers, which the last look tells. */
	DP__TRIES = 100,
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

enum {
	DP__COMMITS = 1024 /* the last so many are remembered one by one */
};

/* How long commits took, in seconds. */
struct dp__commits {
	uint64_t count;
	double seconds;           /* all together */
	double last[DP__COMMITS]; /* a ring */
};

/* A request of dp_journal_fetch(). */
struct dp__fetch {
	bool open;  /* asked for, and not taken yet */
	bool ready; /* the rest is the asker's; until then it is the writer's */
	uint32_t study, seq;
	struct dp_buf batch;
	int code;
	struct dp_err err;
};

struct dp_journal {
	char *dir;
	bool readonly, untouched;
	bool unlocked;         /* no writer knows that we read: see dp__moved() */
	size_t txn;            /* the newest state when it was opened */
	size_t map_size;       /* asked for; grows with the map */
	struct dp__lock *lock; /* of the one writer; NULL: none */
	MDB_env *env;          /* NULL while it cannot be opened again */
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
	struct dp__fetch fetch;
	struct dp_journal_stat stat; /* after the last commit */
	struct dp__commits commits;
	int64_t looked;      /* when the writer last looked at the readers */
	int64_t commit_took; /* microseconds of its last commit; the writer's alone */
};

void dp__key_pack(uint32_t study, uint32_t seq, unsigned char key[DP__KEY_SIZE]);
/* False if it is no key of ours. */
DP_MUSTCHECK bool dp__key_read(const MDB_val *key, uint32_t *study, uint32_t *seq);

/* Opens the environment and its two databases, which are made if need be. */
DP_MUSTCHECK int dp__env_open(struct dp_journal *j, struct dp_err *err);
void dp__env_close(struct dp_journal *j);
/* Begins a transaction; a map that another process made larger is followed. */
DP_MUSTCHECK int dp__begin(struct dp_journal *j, unsigned flags, MDB_txn **txn);
/* Was something written since it was opened that may have overwritten what was read? A
 * journal that readers share with its writer is safe from that. */
bool dp__moved(const struct dp_journal *j);
/* The error for a code of LMDB: looks at the disk where that explains it. */
int dp__fail_mdb(const struct dp_journal *j, struct dp_err *err, int mdb_code, const char *what);
/* A number in the database of facts; 0 if it is not there. */
DP_MUSTCHECK int dp__meta_number(struct dp_journal *j, MDB_txn *txn, const char *name,
				 uint32_t *out, struct dp_err *err);
int dp__meta_put(struct dp_journal *j, MDB_txn *txn, const char *name, const char *value);
/* Sizes at this moment; only for the thread that owns the environment. */
DP_MUSTCHECK int dp__measure(struct dp_journal *j, struct dp_journal_stat *out, struct dp_err *err);
/* Keeps the file longer than what it holds. LMDB does not write pages that it took
 * from the end and gave back at once, so that without this a whole file could look
 * like one that was cut. */
void dp__pad_file(struct dp_journal *j);

/* Reads what was asked for (read.c); only for the thread that owns the environment. */
void dp__fetch_read(struct dp_journal *j, struct dp__fetch *f);

/* ---- how long commits take (commits.c) ---- */

/* One more; `mutex` is held. */
void dp__commit_took(struct dp_journal *j, double seconds);

/* ---- other programs that read (readers.c) ---- */

/* Frees the places of readers that died, and notes the one that lags most, if one does.
 * `was` is what was noted before. Only for the thread that owns the environment. */
void dp__readers_look(struct dp_journal *j, const struct dp_journal_reader *was,
		      struct dp_journal_reader *now);

/* ---- the writer's lock (lock.c) ---- */

struct dp__lock;
/* Only one process writes to the folder: DP_E_BUSY tells which one does. */
DP_MUSTCHECK int dp__lock_take(const char *dir, struct dp__lock **out, struct dp_err *err);
void dp__lock_drop(struct dp__lock *l); /* NULL is fine */

/* Ends the writer's thread and frees what it left (writer.c). */
void dp__writer_stop(struct dp_journal *j);

#endif
