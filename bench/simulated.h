/* simulated.h - a cluster that there is not: nodes, a queue, failures and lost answers
 * drawn from a seed, in virtual time, behind the executor of the daemon.
 *
 * What an attempt meets (its wait in the queue, how long it takes to start and to run,
 * whether its node dies under it, which answers are lost) is drawn from the seed, its
 * study, trial and attempt alone: the same seed gives the same cluster, whoever comes
 * first. */
#ifndef DP_BENCH_SIMULATED_H
#define DP_BENCH_SIMULATED_H
#include "bench/problems.h"
#include "daemon/executors/job.h"

struct simulated_options {
	uint64_t seed;
	unsigned nodes;  /* each has room for one attempt */
	unsigned queue;  /* attempts that it takes beyond these */
	double failures; /* share of attempts whose node dies */
	double lost;     /* share of answers that do not arrive */
};

/* What came of it, in virtual seconds of nodes. */
struct simulated_counts {
	uint64_t attempts, deaths, lost, twice; /* twice: two of one trial at once */
	double used;                            /* by attempts that ended well */
	double wasted; /* by attempts that died, and until the daemon heard of it */
	double waited; /* in the queue, over all attempts */
	unsigned most; /* attempts at once that the daemon gave to it */
};

/* The only one, since an executor's table has no place for more. */
extern const struct executor_ops *const simulated_executors[];

/* Begins at `now` (microseconds). False without memory. */
bool simulated_open(const struct simulated_options *o, const struct bench_problem *p, int64_t now);
void simulated_close(void);
/* Virtual time: what clock_now() is for the daemon. */
extern int64_t simulated_now;
/* When something happens next; INT64_MAX: nothing will. */
int64_t simulated_next(void);
/* Time goes on until then, and it happens; the daemon hears of it from within the call.
 */
void simulated_step(void);
/* Attempts that the daemon asked about and was told nothing of yet. */
unsigned simulated_unknown(void);
/* The most attempts of a study (by its number) at once. */
unsigned simulated_most_of(uint32_t study);
const struct simulated_counts *simulated_counts(void);
/* CPU seconds of this thread that the cluster took and not the daemon. */
double simulated_cpu(void);

#endif
