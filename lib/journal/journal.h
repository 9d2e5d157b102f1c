/* journal.h - the append-only record of all events, in LMDB.
 *
 * The journal is the only truth: state.h reduces it to the current state. The key of a record is
 * (study, sequence number), counted from 1 and 0 and never reused, so a sequence number also says
 * what was known when a decision was made. */
#ifndef DP_JOURNAL_H
#define DP_JOURNAL_H
#include "journal/codec/event.h"

/* ---- the store (store.c; writing: writer.c) ---- */

struct dp_journal;

struct dp_journal_options {
	bool readonly; /* also while a daemon runs */
	/* readonly: never touches LMDB's lock file, unless a daemon runs
	 * (dp_state_open_readonly()). */
	bool no_lock_file;
	size_t map_size; /* initial size in bytes, 0: the default; grows by itself */
};

enum {
	DP_JOURNAL_FORMAT = 1
};

/* Opens the journal in the directory `dir`; creates it unless readonly. Readers and one writer can
 * share it. DP_E_BUSY: another process writes it. DP_E_CORRUPT: newer format, or not a journal. */
DP_MUSTCHECK int dp_journal_open(const char *dir, const struct dp_journal_options *opt,
				 struct dp_journal **out, struct dp_err *err);
/* True if a process has this journal open for writing. *pid is its process id; 0: unknown or
 * none. */
bool dp_journal_has_writer(const char *dir, long *pid);
/* Commits queued records, unless the disk refuses, stops the writer thread and closes. */
void dp_journal_close(struct dp_journal *j);

/* Calls fn for every record in key order (study 0: all studies). fn gets the stored bytes; a
 * non-zero return ends the iteration and is returned. Records are copied in batches and fn runs
 * outside of a transaction, so fn may be slow: an open transaction would keep the writer from
 * reusing free pages. Records that are appended meanwhile may or may not be seen. */
typedef int dp_journal_record_fn(void *arg, uint32_t study, uint32_t seq, const void *bytes,
				 size_t len, struct dp_err *err);
DP_MUSTCHECK int dp_journal_for_each(struct dp_journal *j, uint32_t study, dp_journal_record_fn *fn,
				     void *arg, struct dp_err *err);
/* The number of the next study. Numbers of deleted studies are not reused. */
DP_MUSTCHECK int dp_journal_next_study_id(struct dp_journal *j, uint32_t *id, struct dp_err *err);

/* Another process that holds an old snapshot of the journal, so that the file grows. */
struct dp_journal_stale_reader {
	int pid;                  /* 0: none */
	char program[32];         /* its name, if known */
	uint64_t txn_id;          /* of the snapshot */
	uint64_t commits_behind;  /* since that snapshot */
	int64_t lagging_since_us; /* dp_monotonic_us() of the first check that found it lagging */
};

/* True if it holds the snapshot for longer than any reader of DPareto does. */
bool dp_journal_reader_is_stale(const struct dp_journal_stale_reader *r);

struct dp_journal_stat {
	uint64_t records, bytes, map_size;
	struct dp_journal_stale_reader stale_reader; /* only with the writer running */
};
DP_MUSTCHECK int dp_journal_stat(struct dp_journal *j, struct dp_journal_stat *out,
				 struct dp_err *err);

/* Durations of commits since dp_journal_start_writer(), in seconds. Quantiles are of the last 1,024
 * commits, by nearest rank; NaN before the first. */
struct dp_journal_commit_stats {
	uint64_t count;
	double total_seconds; /* sum of all */
	double median, p90, p99;
};
void dp_journal_get_commit_stats(struct dp_journal *j, struct dp_journal_commit_stats *out);

/* Writing. After dp_journal_start_writer() one thread owns the environment, and
 * dp_journal_for_each() works only on other, read-only journals (LMDB cannot open a file twice in
 * one process).
 *
 * dp_journal_append() queues one encoded record, dp_journal_delete_study() the removal of a study.
 * Both copy their input, never block, and return a ticket; tickets ascend. All that is queued
 * during a commit goes into the next one. The writer thread calls wake(arg) when tickets became
 * durable, and when the disk began or ceased to refuse writes; uv_async_send() is safe there. */
typedef void dp_journal_wake_fn(void *arg);
DP_MUSTCHECK int dp_journal_start_writer(struct dp_journal *j, dp_journal_wake_fn *wake, void *arg,
					 struct dp_err *err);
/* Returns the ticket; 0 for a read-only journal. A record must follow its predecessor and must not
 * differ from a stored record with its key. Violations are write errors, DP_E_CORRUPT. */
uint64_t dp_journal_append(struct dp_journal *j, uint32_t study, uint32_t seq, const void *bytes,
			   size_t len);
uint64_t dp_journal_delete_study(struct dp_journal *j, uint32_t study);
/* All that is queued between the two goes into one commit, so that the end of a trial and the next
 * plan need only one sync. */
void dp_journal_begin_batch(struct dp_journal *j);
void dp_journal_end_batch(struct dp_journal *j);
/* Reading while the writer runs. The writer thread copies some records of a study, from `seq` on,
 * between two commits and calls wake(). Before dp_journal_start_writer() they are available at
 * once. Returns false while another request is open. Only durable records are seen. */
DP_MUSTCHECK bool dp_journal_request_records(struct dp_journal *j, uint32_t study, uint32_t seq);
/* Passes the requested records to fn, as dp_journal_for_each() does, and closes the request. *code
 * is the result of fn or of the read. Returns false while they are not available. */
DP_MUSTCHECK bool dp_journal_take_records(struct dp_journal *j, dp_journal_record_fn *fn, void *arg,
					  int *code, struct dp_err *err);
/* All tickets up to this one are durable. */
uint64_t dp_journal_durable_ticket(struct dp_journal *j);
/* True while commits fail, with the reason. The writer retries every second; nothing is dropped. */
bool dp_journal_get_write_error(struct dp_journal *j, struct dp_err *why);

#endif
