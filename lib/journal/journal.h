/* journal.h - the append-only record of everything that happened, in LMDB.
 *
 * The journal is the only truth: state.h reduces it to the current state. Records are keyed (study,
 * sequence number), counted from 1 and 0 and never reused, so that the position in the journal says
 * what was known when something was decided. */
#ifndef DP_JOURNAL_H
#define DP_JOURNAL_H
#include "journal/codec/event.h"

/* ---- the store (store.c; writing: writer.c) ---- */

struct dp_journal;

struct dp_journal_options {
	bool readonly;     /* beside a running daemon, too */
	bool no_lock_file; /* readonly: not even LMDB's own file of locks is made or
			    * changed, unless a daemon runs. For dp_state_open_readonly() */
	size_t map_size;   /* bytes to start with; 0: the default. It grows by itself */
};

enum {
	DP_JOURNAL_FORMAT = 1
};

/* Opens (and, unless readonly, creates) the journal in the folder `dir`. Readers and
 * one writer can share it; a second writer in another process gets DP_E_BUSY.
 * DP_E_CORRUPT if the format is from the future or the file is no journal. */
DP_MUSTCHECK int dp_journal_open(const char *dir, const struct dp_journal_options *opt,
				 struct dp_journal **out, struct dp_err *err);
/* Does a process have the journal in this directory open for writing? *pid is its number, 0 if that
 * is unknown or there is none. Changes nothing. */
bool dp_journal_has_writer(const char *dir, long *pid);
/* Stops the writer (what was queued is committed first, as far as the disk allows)
 * and closes. */
void dp_journal_close(struct dp_journal *j);

/* Calls fn for every record in key order (study 0: all studies). fn gets the stored bytes; a
 * non-zero return ends the walk and is returned. Records are copied in batches and fn is called
 * without a transaction, so that it may take long: a transaction would keep the writer from reusing
 * free pages. What is appended meanwhile may or may not be seen. */
typedef int dp_journal_record_fn(void *arg, uint32_t study, uint32_t seq, const void *bytes,
				 size_t len, struct dp_err *err);
DP_MUSTCHECK int dp_journal_for_each(struct dp_journal *j, uint32_t study, dp_journal_record_fn *fn,
				     void *arg, struct dp_err *err);
/* The number of the next created study; never one that was used before, even if that study was
 * deleted. */
DP_MUSTCHECK int dp_journal_next_study_id(struct dp_journal *j, uint32_t *id, struct dp_err *err);

/* Another program that has held an old snapshot of the journal for a while, so that the file grows.
 */
struct dp_journal_stale_reader {
	int pid;                  /* 0: there is none */
	char program[32];         /* its name, as far as it is known */
	uint64_t txn_id;          /* the state that it holds */
	uint64_t commits_behind;  /* were made since */
	int64_t lagging_since_us; /* dp_monotonic_us() when it was first seen to lag */
};

/* Has it held the snapshot for longer than any reader of ours does? */
bool dp_journal_reader_is_stale(const struct dp_journal_stale_reader *r);

/* Sizes for status and bench. */
struct dp_journal_stat {
	uint64_t records, bytes, map_size;
	struct dp_journal_stale_reader stale_reader; /* of a started journal */
};
DP_MUSTCHECK int dp_journal_stat(struct dp_journal *j, struct dp_journal_stat *out,
				 struct dp_err *err);

/* Durations of commits since dp_journal_start_writer(), in seconds. Quantiles are of the last
 * 1,024, by nearest rank; NaN before the first. */
struct dp_journal_commit_stats {
	uint64_t count;
	double total_seconds; /* the sum */
	double median, p90, p99;
};
void dp_journal_get_commit_stats(struct dp_journal *j, struct dp_journal_commit_stats *out);

/* Writing: one thread of its own owns the environment from dp_journal_start_writer() on;
 * dp_journal_for_each() is then for readonly journals of other processes (LMDB cannot
 * open a file twice in one).
 * dp_journal_append() queues one encoded record; dp_journal_delete_study() queues the
 * removal of a whole study. Both copy what they are given, never wait, and return a
 * ticket that only rises. Everything queued while a commit is on its way goes into
 * the next commit. Whenever tickets became durable or the disk began or ceased to
 * refuse, wake(arg) is called from the writer's thread (uv_async_send fits). */
typedef void dp_journal_wake_fn(void *arg);
DP_MUSTCHECK int dp_journal_start_writer(struct dp_journal *j, dp_journal_wake_fn *wake, void *arg,
					 struct dp_err *err);
/* The ticket; 0 for a readonly journal. A record must follow the one before it, and never replaces
 * one with other bytes: both are write errors, DP_E_CORRUPT. */
uint64_t dp_journal_append(struct dp_journal *j, uint32_t study, uint32_t seq, const void *bytes,
			   size_t len);
uint64_t dp_journal_delete_study(struct dp_journal *j, uint32_t study);
/* What is queued between the two goes into one commit: the end of a trial and the plan of the next
 * are one trip to the disk. */
void dp_journal_begin_batch(struct dp_journal *j);
void dp_journal_end_batch(struct dp_journal *j);
/* Reading beside the writer. The writer's thread copies some records of a study, from `seq` on,
 * between two commits and calls wake(); before dp_journal_start_writer() they are there at once.
 * One request at a time: false while one is open. Only durable records are seen. */
DP_MUSTCHECK bool dp_journal_request_records(struct dp_journal *j, uint32_t study, uint32_t seq);
/* Gives fn the records of the request, as dp_journal_for_each() does, and closes the request.
 * *code is what fn or the read returned. False while they are not there yet. */
DP_MUSTCHECK bool dp_journal_take_records(struct dp_journal *j, dp_journal_record_fn *fn, void *arg,
					  int *code, struct dp_err *err);
/* Every ticket up to this one is on the disk. */
uint64_t dp_journal_durable_ticket(struct dp_journal *j);
/* Why commits fail at present (they are tried again every second, nothing is dropped); false if
 * they do not. */
bool dp_journal_get_write_error(struct dp_journal *j, struct dp_err *why);

#endif
