/* journal.h - the append-only record of everything that happened, in LMDB.
 *
 * The journal is the only truth: state.h folds it into what is known now. Records
 * are keyed (study, sequence number), both counted from 1 and 0 and never reused,
 * so the position in the journal says what was known when something was decided. */
#ifndef DP_JOURNAL_H
#define DP_JOURNAL_H
#include "base/base.h"
#include "base/buf.h"
#include "study/study.h"
#include "protocol/trainer/trainer_protocol.h"
#include <jansson.h>

/* ---- events (event_fields.c, event_encode.c, event_decode.c, event_dump.c) ---- */

/* Every type of record: number as stored, name as dumped. Numbers are never
 * reused. */
#define DP_EVENTS(X)                                                                               \
	X(STUDY_CREATED, 1, "study-created")                                                       \
	X(STUDY_AMENDED, 2, "study-amended")                                                       \
	X(STUDY_MOVED, 3, "study-moved")                                                           \
	X(TRIAL_PROPOSED, 4, "trial-proposed")                                                     \
	X(ATTEMPT_PLANNED, 5, "attempt-planned")                                                   \
	X(ATTEMPT_ADOPTED, 6, "attempt-adopted")                                                   \
	X(ATTEMPT_ENDED, 7, "attempt-ended")                                                       \
	X(TRIAL_ENDED, 8, "trial-ended")                                                           \
	X(TRIAL_CANCEL_ASKED, 9, "trial-cancel-asked")                                             \
	X(TRIAL_RETRY_ASKED, 10, "trial-retry-asked")                                              \
	X(RESULT_IMPORTED, 11, "result-imported")                                                  \
	X(TRIAL_ACCOUNTED, 12, "trial-accounted")                                                  \
	X(TIME_NOTED, 13, "time-noted")                                                            \
	X(ACCOUNTING_FIXED, 14, "accounting-fixed")                                                \
	X(MEASURE_ASKED, 15, "measure-asked")                                                      \
	X(ATTEMPT_PLACED, 16, "attempt-placed")                                                    \
	X(RECORD_LOST, 31, "record-lost")

enum dp_event_type {
#define X(name, number, text) DP_EV_##name = number,
	DP_EVENTS(X)
#undef X
};

enum {
	DP_EVENT_VERSION = 1
}; /* of every record written today */
enum {
	DP_RUN_ALL = -1
}; /* an attempt that makes all runs of its trial */

/* Trials that measure a point again have numbers from here on, so that nothing which
 * walks over the trials of the search meets them. People see m0, m1, ... */
#define DP_REEVAL_TRIAL_FIRST UINT32_C(1000000000)

/* A point to be evaluated. Arrays: see struct dp_event. */
struct dp_event_point {
	const char *source; /* "random", "dpareto", ...; of a measure-asked: "verify", "end", ... */
	const double *params; /* (nparams) one per parameter of the study, see study.h */
	uint32_t nparams;
	/* (nprivacy) epsilons, NaN for objectives that are no epsilons; none if an accountant
	 * refused the point, which `reason` explains */
	const double *privacy;
	uint32_t nprivacy;
	/* with search.budget one number: the Renyi divergence of one run at the filter's order */
	const double *renyi;
	uint32_t nrenyi;
};

struct dp_ev_study_created {
	const char *name, *text, *path, *dir; /* dir: directory of the study file */
	const char *secret;                   /* base/secret.h; NULL: the study needs none */
	const char *seeds;                    /* "fixed", "secret"; NULL: before version 0.3 */
	const char *const *files;             /* (nfiles) as of dp_study_resolve_files() */
	uint32_t nfiles;
	/* Never stored: `text` as parsed already, which the reducer takes over. NULL: it parses
	 * the text itself, as it does in a replay. */
	struct dp_study *parsed_study;
};

struct dp_ev_study_amended {
	double evaluations, parallel, priority; /* NaN: unchanged */
	const char *const *changes;             /* (nchanges) other keys: "trainer.timeout=30s" */
	uint32_t nchanges;
	const char *text, *path, *dir; /* of an edited study file; NULL: unchanged */
};

struct dp_ev_study_moved {
	const char *state;
	bool by_failures;
};

struct dp_ev_trial_proposed {
	struct dp_event_point point;
	uint32_t conditioned_on; /* the proposal knew the study's records before this seq */
	double proposal_seconds; /* finding it took; 0: unknown */
};

/* The trial of the head is the first of the re-evaluation. Without runs: search.remeasure has
 * asked for the whole front, or `reason` says which part it left out. */
struct dp_ev_measure_asked {
	struct dp_event_point point;
	double result_trial, result_checkpoint; /* the result; NaN: none, or the trial's own */
	uint32_t runs;
};

struct dp_ev_attempt_planned {
	uint32_t slot_plus_one; /* of DPARETO_SLOT; 0: it has none */
};

struct dp_ev_attempt_placed {
	const char *job_id; /* of Slurm */
};

struct dp_ev_attempt_ended {
	enum dp_end_class end_class;
	bool charged;   /* false: says nothing about the trial (never started, daemon stopped),
			 * so it costs no retry */
	bool never_ran; /* certainly no trainer ran, so it cost no privacy */
	struct dp_exit_record exit;
	const uint32_t *runs; /* (nruns) run numbers that were asked for */
	uint32_t nruns;
	const char *const *metric_names; /* (nmetrics) */
	uint32_t nmetrics;
	const double *metrics; /* (nruns x nmetrics); NaN also where a run reported none */
	/* the checkpoints that it reached, where they count: their values, the metrics there
	 * (ncheckpoints x nruns x nmetrics; NaN as above), and the epsilons there (ncheckpoints x
	 * privacy objectives; none if another attempt has recorded them) */
	const double *checkpoints, *checkpoint_metrics, *checkpoint_epsilons;
	uint32_t ncheckpoints, ncheckpoint_metrics, ncheckpoint_epsilons;
	struct dp_declaration declaration;
	const char *result_sha256; /* of the result file as it was read, in hexadecimal */
};

struct dp_ev_trial_ended {
	const char *status;       /* "ok", "diverged", "failed", "cancelled" */
	const double *objectives; /* (nobjectives), natural units; NaN: not known */
	uint32_t nobjectives;
};

struct dp_ev_result_imported {
	const char *study_name; /* where it comes from; the trial of the head is its number there */
	const double *params, *objectives;
	uint32_t nparams, nobjectives;
};

struct dp_ev_trial_accounted {
	const double *privacy; /* (nprivacy) as in struct dp_event_point */
	uint32_t nprivacy;
};

struct dp_ev_time_noted {
	bool daemon_ran; /* since the record before */
};

struct dp_ev_accounting_fixed {
	const double *orders, *weights; /* of the odometer */
	uint32_t norders, nweights;
	struct dp_filter filter; /* of search.budget; all 0: none */
};

/* One record in memory: a head, and what its type adds. Strings and arrays belong to the caller
 * when encoding; a decoded event points into its own arena and lives until dp_event_clear(). */
struct dp_event {
	enum dp_event_type type;
	uint32_t study;  /* key, part one; from 1 */
	uint32_t seq;    /* key, part two; from 0 within the study */
	int64_t time_us; /* microseconds since 1970 */

	uint32_t trial;   /* that it is about */
	int32_t run;      /* attempt-*: DP_RUN_ALL or the one run of this process */
	uint32_t attempt; /* attempt-*: its number */
	const char *reason;
	const char
		*requested_by; /* who, and from where; NULL: the daemon decided. For people only */

	union {
		struct dp_ev_attempt_ended attempt_ended; /* first, since it is the largest: an
							   * initialiser without any clears all */
		struct dp_ev_study_created study_created;
		struct dp_ev_study_amended study_amended;
		struct dp_ev_study_moved study_moved;
		struct dp_ev_trial_proposed trial_proposed;
		struct dp_ev_measure_asked measure_asked;
		struct dp_ev_attempt_planned attempt_planned;
		struct dp_ev_attempt_placed attempt_placed;
		struct dp_ev_trial_ended trial_ended;
		struct dp_ev_result_imported result_imported;
		struct dp_ev_trial_accounted trial_accounted;
		struct dp_ev_time_noted time_noted;
		struct dp_ev_accounting_fixed accounting_fixed;
	};

	void *arena; /* of a decoded event */
};

const char *dp_event_type_name(enum dp_event_type t);
/* The stored form: MessagePack [type, version, time, {fields}] and a CRC-32, in place
 * of what `out` held. DP_E_INVALID for a mistake of the program. */
DP_MUSTCHECK int dp_event_encode(const struct dp_event *e, struct dp_buf *out, struct dp_err *err);
/* DP_E_CORRUPT with a reason if the bytes are damaged, cut short, or have a field of the
 * wrong type; DP_E_PROTOCOL if they are sound, but of a type or version from the future.
 * study and seq are the
 * key's business: the caller sets them and they are left alone. `out` must be zeroed
 * or a former result, whose memory is used again; after an error it holds none. */
DP_MUSTCHECK int dp_event_decode(const void *bytes, size_t len, struct dp_event *out,
				 struct dp_err *err);
void dp_event_clear(struct dp_event *e);
/* One JSON object, for dumps. */
json_t *dp_event_to_json(const struct dp_event *e);

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
/* Does a process have the journal in this folder open for writing? *pid is its number, 0
 * where that cannot be told or there is none. Nothing is changed. */
bool dp_journal_has_writer(const char *dir, long *pid);
/* Stops the writer (what was queued is committed first, as far as the disk allows)
 * and closes. */
void dp_journal_close(struct dp_journal *j);

/* Calls fn for every record in key order (study 0: all studies). fn gets the stored
 * bytes; a non-zero return ends the walk and is returned. Records are copied a batch at a
 * time and fn is called with nothing held, so that it may take as long as it likes: a
 * reader that holds on keeps the writer from using free pages again. What is appended
 * meanwhile may or may not be seen. */
typedef int dp_journal_record_fn(void *arg, uint32_t study, uint32_t seq, const void *bytes,
				 size_t len, struct dp_err *err);
DP_MUSTCHECK int dp_journal_for_each(struct dp_journal *j, uint32_t study, dp_journal_record_fn *fn,
				     void *arg, struct dp_err *err);
/* The number the next created study gets; never one that was used before, even if
 * that study was deleted. */
DP_MUSTCHECK int dp_journal_next_study_id(struct dp_journal *j, uint32_t *id, struct dp_err *err);

/* Another program that reads the journal and has not let go of an old state for a while,
 * so that the file grows. */
struct dp_journal_stale_reader {
	int pid;                  /* 0: there is none */
	char program[32];         /* its name, as far as it is known */
	uint64_t txn_id;          /* the state that it holds */
	uint64_t commits_behind;  /* were made since */
	int64_t lagging_since_us; /* dp_monotonic_us() when it was first seen to lag */
};

/* Has it held on for longer than any reader of ours does? */
bool dp_journal_reader_is_stale(const struct dp_journal_stale_reader *r);

/* Sizes for status and bench. */
struct dp_journal_stat {
	uint64_t records, bytes, map_size;
	struct dp_journal_stale_reader stale_reader; /* of a started journal */
};
DP_MUSTCHECK int dp_journal_stat(struct dp_journal *j, struct dp_journal_stat *out,
				 struct dp_err *err);

/* Commits since dp_journal_start_writer(): seconds from the beginning of each write until the
 * disk had it. Quantiles are of the last 1,024, by nearest rank; NaN before the first. */
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
/* 0 without memory (or on a readonly journal), else the ticket. A record must follow
 * the one before it; one that is there already with other bytes is never replaced:
 * both are trouble, DP_E_CORRUPT. */
uint64_t dp_journal_append(struct dp_journal *j, uint32_t study, uint32_t seq, const void *bytes,
			   size_t len);
uint64_t dp_journal_delete_study(struct dp_journal *j, uint32_t study);
/* Between the two, what is queued waits, so that all of it goes into one commit: the
 * end of a trial and the plan of the next are one trip to the disk. */
void dp_journal_begin_batch(struct dp_journal *j);
void dp_journal_end_batch(struct dp_journal *j);
/* Reading beside the writer. The writer's thread copies some records of a study, from
 * `seq` on, between two commits and calls wake(); before dp_journal_start_writer() they are
 * there at once. One request at a time: false while one is open. Only what is durable is
 * seen. */
DP_MUSTCHECK bool dp_journal_request_records(struct dp_journal *j, uint32_t study, uint32_t seq);
/* Gives fn the records of the request, as dp_journal_for_each() does, and closes the request.
 * *code is what fn or the read returned. False while they are not there yet. */
DP_MUSTCHECK bool dp_journal_take_records(struct dp_journal *j, dp_journal_record_fn *fn, void *arg,
					  int *code, struct dp_err *err);
/* Every ticket up to this one is on the disk. */
uint64_t dp_journal_durable_ticket(struct dp_journal *j);
/* Why commits fail at present (they are tried again every second and nothing is
 * dropped); false if they do not. */
bool dp_journal_get_write_error(struct dp_journal *j, struct dp_err *why);

/* ---- checking and dumping (verify.c), used by dparetoctl ---- */

/* Reads everything that a daemon would use: the pages of the file (free ones, too, as
 * far as a writer relies on them), checksums, decoding, sequence numbers without gaps.
 * Calls `bad` for each fault with a sentence; study 0 is the file itself. Counts records
 * and studies. */
struct dp_journal_verify_result {
	uint64_t records, studies, faults, bytes;
};
typedef void dp_journal_fault_fn(void *arg, uint32_t study, uint32_t seq, const char *fault);
DP_MUSTCHECK int dp_journal_verify(struct dp_journal *j, dp_journal_fault_fn *bad, void *arg,
				   struct dp_journal_verify_result *out, struct dp_err *err);
/* The same for a journal that may be too damaged to be opened, and whether the records of
 * each study follow from each other. path: its folder, also beside a running daemon, or
 * the file of a backup. */
DP_MUSTCHECK int dp_journal_verify_path(const char *path, dp_journal_fault_fn *bad, void *arg,
					struct dp_journal_verify_result *out, struct dp_err *err);

/* ---- keeping it (restore.c, repair.c), used by dparetoctl ---- */

/* Copies the journal, as it is now and without its free pages, into a file: whole or not
 * at all. Beside a running daemon, too. */
DP_MUSTCHECK int dp_journal_backup(struct dp_journal *j, const char *to, struct dp_err *err);
/* The others are for a folder that no daemon uses: DP_E_BUSY. Each leaves either the old
 * or the new journal, whenever it is interrupted. */
/* Puts a copy, if it has no faults, in the place of the journal, which is kept in the
 * folder under the name in `kept`. */
DP_MUSTCHECK int dp_journal_restore(const char *dir, const char *file, char kept[64],
				    struct dp_err *err);
DP_MUSTCHECK int dp_journal_compact(const char *dir, struct dp_err *err);
/* Makes a journal without faults of what can be read of it. Records that are damaged or
 * lost their meaning are set aside in a file in the folder, studies that lost some are
 * paused, and the old journal is kept. *report says all that; the caller owns it. */
DP_MUSTCHECK int dp_journal_repair(const char *dir, json_t **report, struct dp_err *err);

#endif
