/* commit_stats.c - how long commits take: the writer notes each, others ask. */
#include "journal/store/journal_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__commit_times_add(struct dp_journal *j, double seconds)
{
	struct dp__commit_times *c = &j->commit_times;

	c->samples[c->count++ % DP__COMMIT_SAMPLES] = seconds;
	c->total_seconds += seconds;
}

static int compare_commit_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest value that at least this share of n sorted ones does not exceed. */
static double commit_quantile(const double *sorted, size_t n, double share)
{
	return n ? sorted[(size_t)ceil(share * (double)n) - 1] : NAN;
}

void dp_journal_get_commit_stats(struct dp_journal *j, struct dp_journal_commit_stats *out)
{
	struct dp__commit_times c;
	size_t n;

	pthread_mutex_lock(&j->mutex);
	c = j->commit_times;
	pthread_mutex_unlock(&j->mutex);
	n = c.count < DP__COMMIT_SAMPLES ? (size_t)c.count : DP__COMMIT_SAMPLES;
	qsort(c.samples, n, sizeof *c.samples, compare_commit_times);
	*out = (struct dp_journal_commit_stats){ .count = c.count,
						 .total_seconds = c.total_seconds,
						 .median = commit_quantile(c.samples, n, 0.5),
						 .p90 = commit_quantile(c.samples, n, 0.9),
						 .p99 = commit_quantile(c.samples, n, 0.99) };
}
