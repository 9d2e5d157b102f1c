/* oracles.h - the oracle programs of studies: made before a worker thread asks them,
 * ended when nobody needs them. What runs is in lib/oracle. */
#ifndef DPARETOD_ORACLES_H
#define DPARETOD_ORACLES_H
#include "daemon/study.h"
#include "oracle/oracle.h"

enum {
	ORACLES_ASKED_MAX = 8 /* studies whose programs are asked for points at once: a
			       * program that hangs holds a worker thread */
};

/* Has the study an oracle program? */
bool oracles_has(const struct dp_study *spec);
/* Makes what a worker thread needs to ask them; starts nothing. */
DP_MUSTCHECK int oracles_prepare(struct study *h, struct dp_err *err);
/* Who asks them, on a worker thread: a turn and its asker, which are the caller's. NULL
 * if the study has none. */
struct oracles_turn {
	struct dp_programs_turn turn;
	struct dp_oracle_asker asker;
};
const struct dp_oracle_asker *oracles_asker(const struct study *h, const atomic_bool *cancel,
					    struct oracles_turn *t);
/* The study was looked at: one that does not run needs no programs, and what waits for
 * its next point is given up. */
void oracles_settle(struct study *h);
/* They were asked for a point: if many run, those of the study go now. */
void oracles_asked(struct study *h);
/* A clock's tick: ends those that have nothing to do, and sooner if there are many. */
void oracles_tick(struct dpd *d);
/* Whoever asks gives up: the study goes, or the daemon does. */
void oracles_close(struct study *h);
/* Nobody asks any more. */
void oracles_free(struct study *h);

#endif
