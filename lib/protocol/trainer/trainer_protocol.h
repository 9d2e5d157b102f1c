/* trainer_protocol.h - the trainer protocol: what is asked of a trainer and what comes back.
 *
 * Both sides use this: the daemon writes requests and reads results, the built-in
 * trainers the other way round. docs/trainer-protocol.md is its description. */
#ifndef DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_H
#define DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_H
#include "base/base.h"
#include "base/buf.h"
#include "privacy/declaration.h"
#include <jansson.h>

enum {
	DP_RESULT_LINE_MAX = 64 << 10,
	DP_RESULT_FILE_MAX = 16 << 20,
	DP_METRICS_MAX = 256, /* different names in one attempt */
};

/* ---- the request (request_json.c) ---- */

struct dp_trainer_request {
	char *study;
	uint32_t trial, attempt;
	json_t *parameters;
	json_t *privacy; /* what is accounted for, by objective; NULL: nothing is */
	uint32_t nruns;
	uint32_t *runs; /* numbers of the runs asked of this process */
	uint64_t *seeds;
	/* the parameter of trainer.path, or NULL, and the values below its own at which metrics are
	 * asked for, too: whole numbers, ascending */
	char *path_parameter;
	double *checkpoints;
	uint32_t ncheckpoints;
};

/* request.json as text. */
void dp_trainer_request_format(const struct dp_trainer_request *r, struct dp_buf *out);
/* Reads it back, strictly. On success the caller calls dp_trainer_request_clear(). */
DP_MUSTCHECK int dp_trainer_request_parse(const char *text, size_t len,
					  struct dp_trainer_request *out, struct dp_err *err);
void dp_trainer_request_clear(struct dp_trainer_request *r);

/* ---- the end of an attempt ---- */

/* Classes of ends, in the contract's order: the first that fits. The names are
 * journaled: never change one. */
#define DP_END_CLASSES(X)                                                                          \
	X(CANCELLED, "cancelled")                                                                  \
	X(TIMEOUT, "timeout")                                                                      \
	X(MEMORY, "memory")                                                                        \
	X(STALLED, "stalled")                                                                      \
	X(NOT_STARTED, "not-started")                                                              \
	X(SIGNAL, "signal")                                                                        \
	X(EXIT_CODE, "exit-code")                                                                  \
	X(BAD_OUTPUT, "bad-output")                                                                \
	X(DIVERGED, "diverged")                                                                    \
	X(OK, "ok")                                                                                \
	X(LOST, "lost")

enum dp_end_class {
	DP_END_NONE, /* has not ended */
#define X(name, text) DP_END_##name,
	DP_END_CLASSES(X)
#undef X
};
const char *dp_end_class_name(enum dp_end_class e);

/* exit.json as the shim wrote it (exit_record.c). */
enum dp_exit_kind {
	DP_EXIT_MISSING,
	DP_EXIT_CODE,
	DP_EXIT_SIGNAL,
	DP_EXIT_TIMEOUT,
	DP_EXIT_MEMORY,
	DP_EXIT_STALLED,
	DP_EXIT_EXEC, /* the trainer could not be started */
};
struct dp_exit_record {
	enum dp_exit_kind kind;
	int value;             /* exit code or signal */
	char exec_errno[32];   /* errno name, with DP_EXIT_EXEC */
	bool cancelled;        /* somebody told the shim to end it; not journaled */
	bool has_leftovers;    /* something that it started would not end; not journaled */
	char output_errno[32]; /* errno name: why its output could not be kept; not
				 journaled */
	double start_seconds, end_seconds; /* seconds since 1970 */
	double cpu_seconds;                /* seconds, user + system, of the whole tree */
	uint64_t peak_memory;              /* bytes; 0: unknown */
	/* bytes that the whole tree was allowed; 0: no limit, or none known. Not
	 * journaled */
	uint64_t memory_limit;
	uint64_t stdout_bytes, stderr_bytes; /* written by the trainer, kept or not */
};
/* The number of an error that is recorded by name; 0 for one that this machine has not.
 */
int dp_exit_errno_from_name(const char *name);
/* Reads it; a file that is not whole counts as missing. */
void dp_exit_record_parse(const char *text, size_t len, struct dp_exit_record *out);

/* ---- the result file (result_reader.c) ---- */

/* Reader of a result file: give it the bytes as they come. Opaque. */
struct dp_result_reader;
/* A reader for these runs. */
struct dp_result_reader *dp_result_reader_new(const uint32_t *runs, uint32_t nruns);
/* Before anything is read, at most once: the values of the path that were asked for, ascending. */
void dp_result_reader_set_checkpoints(struct dp_result_reader *r, const double *checkpoints,
				      uint32_t ncheckpoints);
void dp_result_reader_free(struct dp_result_reader *r);
/* More bytes; whole lines are read at once. After the first problem the rest is
 * ignored. */
void dp_result_reader_feed(struct dp_result_reader *r, const void *bytes, size_t n);
/* The process has ended: an unterminated last line counts as a line. */
void dp_result_reader_finish(struct dp_result_reader *r);

double dp_result_reader_progress(const struct dp_result_reader *r); /* 0..1; NaN if none was told */
bool dp_result_reader_is_done(const struct dp_result_reader *r);    /* {"done":true} was seen */
bool dp_result_reader_is_complete(
	const struct dp_result_reader *r); /* every run asked was reported */
/* The first mistake in the file as a sentence with its line number, or NULL. */
const char *dp_result_reader_problem(const struct dp_result_reader *r);
const struct dp_declaration *dp_result_reader_declaration(const struct dp_result_reader *r);
size_t dp_result_reader_count_metrics(const struct dp_result_reader *r);
const char *dp_result_reader_metric_name(const struct dp_result_reader *r, size_t metric);
/* The value of a metric in the i-th run asked; false if that run did not report
 * it. Non-finite values are possible. */
bool dp_result_reader_run_value(const struct dp_result_reader *r, size_t i, size_t metric,
				double *value);
/* Likewise at the w-th checkpoint. */
bool dp_result_reader_checkpoint_value(const struct dp_result_reader *r, size_t i, size_t w,
				       size_t metric, double *value);
/* Has every run reported the w-th checkpoint? */
bool dp_result_reader_has_checkpoint(const struct dp_result_reader *r, size_t w);
/* Can what was read of a trainer that was ended early be relied on? Half a line at the end of the
 * file is no mistake then. */
bool dp_result_reader_is_usable(const struct dp_result_reader *r);
/* Index of a metric by name, or -1. */
int dp_result_reader_find_metric(const struct dp_result_reader *r, const char *name);

/* ---- classification (classify_end.c) ---- */

/* The class of an attempt that has ended, and one sentence for people in
 * why (what happened and what to look at; "" for ok). `needed` are the metrics
 * that objectives use, ended by NULL. */
enum dp_end_class dp_trainer_classify_end(const struct dp_exit_record *exit,
					  const struct dp_result_reader *result,
					  const char *const *needed, bool cancelled, char *why,
					  size_t room);
/* If a needed metric is missing in a run that was reported, what that run has instead: "; reported
 * were: acc, loss; did you mean 'acc'?". "" where none is missing. */
void dp_result_reader_suggest_metric(const struct dp_result_reader *result,
				     const char *const *needed, char *out, size_t room);
/* Is one of the lines of a text what would be the result of a run in a result file? */
bool dp_text_has_result_line(const char *text, size_t n);
/* Do the checkpoints of a run that ended so count (ok, diverged, and what was cut short: cancelled,
 * timeout, memory, stalled)? */
bool dp_end_class_keeps_checkpoints(enum dp_end_class e);
/* May a retry succeed after this class (signal, lost)? */
bool dp_end_class_is_retryable(enum dp_end_class e);

/* ---- the trainer's side (trainer_report.c) ---- */

/* Appends one line to the result file and returns DP_OK or DP_E_IO. */
DP_MUSTCHECK int dp_trainer_report_progress(int fd, double progress, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_run(int fd, uint32_t run, const json_t *metrics,
				       struct dp_err *err);
/* The metrics of a run at a checkpoint. */
DP_MUSTCHECK int dp_trainer_report_checkpoint(int fd, uint32_t run, uint32_t at,
					      const json_t *metrics, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_declaration(int fd, const json_t *declared, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_done(int fd, struct dp_err *err);
/* Opens what DPARETO_REQUEST and DPARETO_RESULT name. The error tells a person who
 * started a trainer by hand how trainers are started. */
DP_MUSTCHECK int dp_trainer_open(struct dp_trainer_request *request, int *result_fd,
				 struct dp_err *err);

#endif
