/* external.h - oracle programs: accountants in any language that stay alive and answer
 * lines (docs/oracles.md).
 *
 * A question blocks until it is answered, so only worker threads ask. A program is
 * started when it is first asked, started again when it dies, and answers one question at
 * a time; what it has answered is kept. */
#ifndef DP_PRIVACY_EXTERNAL_EXTERNAL_H
#define DP_PRIVACY_EXTERNAL_EXTERNAL_H
#include "base/base.h"
#include "study/study.h"
#include <stdatomic.h>

enum {
	DP_EXTERNAL_LINE_MAX = 64 << 10 /* bytes of a line that a program may answer with */
};

/* ---- what a line says (external_answer.c) ---- */

/* Reads the answer to question `id`. DP_E_INVALID: the program refuses the point, and the
 * sentence is its own; DP_E_ORACLE: it is no answer, and the sentence, which goes on from
 * the program's name, says why. */
DP_MUSTCHECK int dp_external_answer_parse(const char *line, size_t len, uint64_t id,
					  double *epsilon, struct dp_err *err);

/* ---- the programs of a study (external_query.c) ---- */

/* How a program is started: the command of dpareto-shim --oracle, and all of its
 * environment; both end with NULL. */
struct dp_external_command {
	char **argv, **env;
};

struct dp_external_accountants;
/* `command` has an entry for each objective, used where that is a program's; `running`
 * counts the processes that run, of whatever study. Both must outlive the programs as the
 * study must. Starts nothing. */
struct dp_external_accountants *dp_external_new(const struct dp_study *s,
						const struct dp_external_command *command,
						atomic_uint *running);
/* Ends what runs, at once, and waits for that. Nobody may be asking. */
void dp_external_free(struct dp_external_accountants *p);
/* Any thread, without waiting: ends what runs unless somebody asks just now, and forgets
 * all answers. False: somebody asks, or what was ended is not quite gone. */
bool dp_external_stop(struct dp_external_accountants *p);
/* The same for those that nobody has asked for so many seconds; answers are kept. */
void dp_external_stop_idle(struct dp_external_accountants *p, double seconds);
/* Whoever asks, now or later, gets DP_E_INTERRUPTED. Any thread. */
void dp_external_cancel_all(struct dp_external_accountants *p);

/* One who asks: the `arg` of a struct dp_external_callback with dp_external_epsilon(). */
struct dp_external_caller {
	struct dp_external_accountants *accountants;
	const atomic_bool *cancel; /* true: give up, with DP_E_INTERRUPTED; may be NULL */
	bool no_wait;              /* DP_E_BUSY, if it is not known and another is asking already */
};
/* The program's epsilon at a point; see struct dp_external_callback. DP_E_ORACLE: the program
 * cannot be asked or is not to be trusted, and why. */
DP_MUSTCHECK int dp_external_epsilon(void *turn, size_t objective, const double *x, double at,
				     double *epsilon, struct dp_err *err);

#endif
