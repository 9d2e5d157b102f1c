/* base.h - error codes, name rules and macros that every directory uses. */
#ifndef DP_BASE_H
#define DP_BASE_H
#include "base/alloc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DP_MUSTCHECK         __attribute__((warn_unused_result))
#define DP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define DP_COUNT(a)          (sizeof(a) / sizeof((a)[0]))

/* Every error: name, exit code of the process, kind in JSON, default text. */
#define DP_ERRORS(X)                                                                               \
	X(FAILED, 1, "failed", "the operation failed")                                             \
	X(INVALID, 1, "invalid", "invalid value")                                                  \
	X(EXISTS, 1, "exists", "it exists already")                                                \
	X(LIMIT, 1, "limit", "a limit was exceeded")                                               \
	X(IO, 1, "io", "input/output error")                                                       \
	X(CORRUPT, 1, "corrupt", "the data is damaged")                                            \
	X(NOMEM, 1, "no-memory", "out of memory")                                                  \
	X(PROTOCOL, 1, "protocol", "the other side does not speak our protocol")                   \
	X(BUSY, 1, "busy", "somebody else is using it")                                            \
	X(ORACLE, 1, "oracle", "the oracle program cannot be asked")                               \
	X(USAGE, 2, "usage", "wrong usage")                                                        \
	X(NO_DAEMON, 3, "no-daemon", "no daemon is running")                                       \
	X(DENIED, 4, "not-permitted", "not permitted")                                             \
	X(NOT_FOUND, 5, "not-found", "not found")                                                  \
	X(STUDY, 6, "study-failed", "the study failed or was paused by failures")                  \
	X(TIMEOUT, 7, "timed-out", "timed out")                                                    \
	X(INTERRUPTED, 130, "interrupted", "interrupted")

enum dp_code {
	DP_OK = 0,
#define X(name, exit, kind, text) DP_E_##name,
	DP_ERRORS(X)
#undef X
};

/* An error for a person: `msg` says what failed and why, `hint` (may be empty) what to do next.
 * Every fallible function takes one, which may be NULL, and returns DP_OK or one of DP_E_*. */
struct dp_err {
	int code;
	char msg[512];
	char hint[256];
};

/* Fills *err (unless NULL), clears the hint and returns `code`, for `return dp_fail(err, ...)`. */
int dp_fail(struct dp_err *err, int code, const char *fmt, ...) DP_PRINTF(3, 4);
/* Adds a hint to an error that dp_fail() filled. Returns its code. */
int dp_hint(struct dp_err *err, const char *fmt, ...) DP_PRINTF(2, 3);
/* Puts "prefix: " before the message. Returns its code. */
int dp_err_prefix(struct dp_err *err, const char *fmt, ...) DP_PRINTF(2, 3);

const char *dp_code_kind(int code); /* "not-found" */
const char *dp_code_text(int code);
int dp_code_exit(int code);              /* exit code of the process */
int dp_code_from_kind(const char *kind); /* DP_E_FAILED if unknown */

/* A valid name of a study, parameter, metric or objective: [A-Za-z0-9_][A-Za-z0-9_.-]{0,63}. */
bool dp_name_ok(const char *name);
#define DP_NAME_RULE                                                                               \
	"names start with a letter, digit or '_' and go on with letters, digits, "                 \
	"'_', '.' or '-', at most 64 characters"
#define DP_NAME_MAX 64

/* The candidate nearest to `word` by edit distance; NULL if none is near. `list` ends with NULL. */
const char *dp_nearest_word(const char *word, const char *const *list);

#endif
