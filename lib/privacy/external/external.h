/* external.h - external accountants: programs that answer parameters with an epsilon, line by line.
 *
 * docs/oracles.md describes the protocol. A query blocks until its answer, so only worker threads
 * may query. A program starts with its first query, restarts if it dies, and answers one query at a
 * time. Answers are cached. */
#ifndef DP_PRIVACY_EXTERNAL_EXTERNAL_H
#define DP_PRIVACY_EXTERNAL_EXTERNAL_H
#include "base/base.h"
#include "study/study.h"
#include <stdatomic.h>

enum {
	DP_EXTERNAL_LINE_MAX = 64 << 10 /* bytes of an answer line */
};

/* ---- the answer line (external_answer.c) ---- */

/* Parses the answer to query `id`. DP_E_INVALID: the program refuses the point, with its own
 * message. DP_E_ORACLE: not a valid answer; the message continues after the program's name. */
DP_MUSTCHECK int dp_external_answer_parse(const char *line, size_t len, uint64_t id,
					  double *epsilon, struct dp_err *err);

/* ---- the programs of a study (external_query.c) ---- */

/* The command of dpareto-shim --oracle and its whole environment. Both end with NULL. */
struct dp_external_command {
	char **argv, **env;
};

struct dp_external_accountants;
/* `command` has one entry per objective, used for external ones. `running` counts the running
 * processes of all studies. The study and both must outlive the result. Starts nothing. */
struct dp_external_accountants *dp_external_new(const struct dp_study *s,
						const struct dp_external_command *command,
						atomic_uint *running);
/* Terminates the processes and waits for them. There must be no query in progress. */
void dp_external_free(struct dp_external_accountants *p);
/* Any thread; does not wait. Terminates the processes and drops cached answers, unless a query is
 * in progress. False if one is, or if a process is not reaped yet. */
bool dp_external_stop(struct dp_external_accountants *p);
/* The same if the last query is older than `seconds`. Keeps cached answers. */
void dp_external_stop_idle(struct dp_external_accountants *p, double seconds);
/* Current and later queries fail with DP_E_INTERRUPTED. Any thread. */
void dp_external_cancel_all(struct dp_external_accountants *p);

/* One caller: the `arg` of a struct dp_external_callback with dp_external_epsilon(). */
struct dp_external_caller {
	struct dp_external_accountants *accountants;
	const atomic_bool *cancel; /* true: give up with DP_E_INTERRUPTED; may be NULL */
	bool no_wait; /* DP_E_BUSY if the answer is not cached and another query is in progress */
};
/* The program's epsilon at a point; see struct dp_external_callback. DP_E_ORACLE: the program does
 * not answer or cannot be trusted; the message says why. */
DP_MUSTCHECK int dp_external_epsilon(void *turn, size_t objective, const double *x, double at,
				     double *epsilon, struct dp_err *err);

#endif
