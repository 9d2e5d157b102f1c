/* trainer_protocol.h - the trainer protocol: requests to trainers and their results.
 *
 * Both sides use it: the daemon writes requests and reads results, the built-in trainers read
 * requests and write results. docs/trainer-protocol.md specifies it. */
#ifndef DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_H
#define DP_PROTOCOL_TRAINER_TRAINER_PROTOCOL_H
#include "base/base.h"
#include "base/buf.h"
#include "privacy/declaration.h"
#include <jansson.h>

enum {
	DP_RESULT_LINE_MAX = 64 << 10,
	DP_RESULT_FILE_MAX = 16 << 20,
	DP_METRICS_MAX = 256, /* different names per attempt */
};

/* ---- the request (request_json.c) ---- */

struct dp_trainer_request {
	char *study;
	uint32_t trial, attempt;
	json_t *parameters;
	json_t *privacy; /* accounted mechanisms, by objective; NULL: none */
	uint32_t nruns;
	uint32_t *runs; /* numbers of the runs for this process */
	uint64_t *seeds;
	/* The path parameter of trainer.path, or NULL, and the values below its own at which
	 * metrics are requested, too: whole numbers, ascending. */
	char *path_parameter;
	double *checkpoints;
	uint32_t ncheckpoints;
};

/* Formats request.json. */
void dp_trainer_request_format(const struct dp_trainer_request *r, struct dp_buf *out);
/* Parses it strictly. After success the caller calls dp_trainer_request_clear(). */
DP_MUSTCHECK int dp_trainer_request_parse(const char *text, size_t len,
					  struct dp_trainer_request *out, struct dp_err *err);
void dp_trainer_request_clear(struct dp_trainer_request *r);

/* ---- the end of an attempt ---- */

/* Classes of ends, in order: the first that fits applies. Names are journaled: never change one. */
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

/* exit.json as written by dpareto-shim (exit_record.c). */
enum dp_exit_kind {
	DP_EXIT_MISSING,
	DP_EXIT_CODE,
	DP_EXIT_SIGNAL,
	DP_EXIT_TIMEOUT,
	DP_EXIT_MEMORY,
	DP_EXIT_STALLED,
	DP_EXIT_EXEC, /* could not be started */
};
struct dp_exit_record {
	enum dp_exit_kind kind;
	int value;                         /* exit code or signal */
	char exec_errno[32];               /* errno name, with DP_EXIT_EXEC */
	bool cancelled;                    /* the shim was told to end it; not journaled */
	bool has_leftovers;                /* a child process could not be ended; not journaled */
	char output_errno[32];             /* errno name: why output was lost; not journaled */
	double start_seconds, end_seconds; /* seconds since 1970 */
	double cpu_seconds;                /* user + system, of the whole process tree */
	uint64_t peak_memory;              /* bytes; 0: unknown */
	/* bytes allowed for the whole process tree; 0: no limit, or unknown. Not journaled. */
	uint64_t memory_limit;
	uint64_t stdout_bytes, stderr_bytes; /* as written by the trainer, kept or not */
};
/* The errno number of a recorded name; 0 if unknown on this machine. */
int dp_exit_errno_from_name(const char *name);
/* Parses exit.json; an incomplete file counts as missing. */
void dp_exit_record_parse(const char *text, size_t len, struct dp_exit_record *out);

/* ---- the result file (result_reader.c) ---- */

struct dp_result_reader;
struct dp_result_reader *dp_result_reader_new(const uint32_t *runs, uint32_t nruns);
/* Sets the requested path values, ascending. Call at most once, before any input. */
void dp_result_reader_set_checkpoints(struct dp_result_reader *r, const double *checkpoints,
				      uint32_t ncheckpoints);
void dp_result_reader_free(struct dp_result_reader *r);
/* Adds input. Complete lines are parsed at once; after the first problem input is ignored. */
void dp_result_reader_feed(struct dp_result_reader *r, const void *bytes, size_t n);
/* The process has ended: an unterminated last line is parsed, too. */
void dp_result_reader_finish(struct dp_result_reader *r);

/* 0..1; NaN: not reported. */
double dp_result_reader_progress(const struct dp_result_reader *r);
bool dp_result_reader_is_done(const struct dp_result_reader *r); /* {"done":true} was read */
/* True if every requested run was reported. */
bool dp_result_reader_is_complete(const struct dp_result_reader *r);
/* The first mistake in the file, with its line number, or NULL. */
const char *dp_result_reader_problem(const struct dp_result_reader *r);
const struct dp_declaration *dp_result_reader_declaration(const struct dp_result_reader *r);
size_t dp_result_reader_count_metrics(const struct dp_result_reader *r);
const char *dp_result_reader_metric_name(const struct dp_result_reader *r, size_t metric);
/* The value of a metric in the i-th requested run, maybe not finite; false: not reported. */
bool dp_result_reader_run_value(const struct dp_result_reader *r, size_t i, size_t metric,
				double *value);
/* The same at checkpoint w. */
bool dp_result_reader_checkpoint_value(const struct dp_result_reader *r, size_t i, size_t w,
				       size_t metric, double *value);
bool dp_result_reader_has_checkpoint(const struct dp_result_reader *r, size_t w);
/* True if the input of a trainer that was ended early is usable; its last line may be truncated. */
bool dp_result_reader_is_usable(const struct dp_result_reader *r);
int dp_result_reader_find_metric(const struct dp_result_reader *r, const char *name);

/* ---- classification (classify_end.c) ---- */

/* The class of an ended attempt. `why` receives one sentence for display: what happened and where
 * to look, "" for ok. `needed`: the metrics that objectives use, terminated by NULL. */
enum dp_end_class dp_trainer_classify_end(const struct dp_exit_record *exit,
					  const struct dp_result_reader *result,
					  const char *const *needed, bool cancelled, char *why,
					  size_t room);
/* If a reported run lacks a needed metric, lists its other metrics: "; reported were: acc, loss;
 * did you mean 'acc'?". Otherwise "". */
void dp_result_reader_suggest_metric(const struct dp_result_reader *result,
				     const char *const *needed, char *out, size_t room);
/* True if a line of the text looks like the result of a run. */
bool dp_text_has_result_line(const char *text, size_t n);
/* True if the checkpoints of a run with this end count: ok, diverged, and runs that were cut short
 * (cancelled, timeout, memory, stalled). */
bool dp_end_class_keeps_checkpoints(enum dp_end_class e);
/* True if a retry may succeed after this class: signal, lost. */
bool dp_end_class_is_retryable(enum dp_end_class e);

/* ---- trainer side (trainer_report.c) ---- */

/* These append one line to the result file. DP_OK or DP_E_IO. */
DP_MUSTCHECK int dp_trainer_report_progress(int fd, double progress, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_run(int fd, uint32_t run, const json_t *metrics,
				       struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_checkpoint(int fd, uint32_t run, uint32_t at,
					      const json_t *metrics, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_declaration(int fd, const json_t *declared, struct dp_err *err);
DP_MUSTCHECK int dp_trainer_report_done(int fd, struct dp_err *err);
/* Opens the files in DPARETO_REQUEST and DPARETO_RESULT; the error explains how trainers start. */
DP_MUSTCHECK int dp_trainer_open(struct dp_trainer_request *request, int *result_fd,
				 struct dp_err *err);

#endif
