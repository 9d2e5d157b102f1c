/* wall_clock.c - a preload that shows a program another wall clock: WALL_CLOCK_OFFSET
 * seconds from the machine's. The monotonic clock is left alone, as it is when somebody
 * sets a machine's time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void)
{
	const char *text = getenv("WALL_CLOCK_OFFSET");

	return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	int code = (int)syscall(SYS_clock_gettime, clock, t);

	if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += offset();
	return code;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
