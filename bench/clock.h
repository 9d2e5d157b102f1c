/* clock.h - the clocks that benchmarks look at, in seconds. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H
#include <time.h>

static inline double bench_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of all threads of this process. */
static inline double bench_cpu(void)
{
	return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* Of the thread that asks. */
static inline double bench_thread_cpu(void)
{
	return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

static inline double bench_wall(void)
{
	return bench_clock(CLOCK_MONOTONIC);
}

#endif
