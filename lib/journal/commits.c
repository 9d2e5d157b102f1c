/* commits.c - how long commits take: the writer notes each, others ask. */
#include "journal/journal_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__commit_took(struct dp_journal *j, double seconds)
{
	struct dp__commits *c = &j->commits;

	c->last[c->count++ % DP__COMMITS] = seconds;
	c->seconds += seconds;
}

static int commit_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest value that at least this share of n sorted ones does not exceed. */
static double commit_quantile(const double *sorted, size_t n, double share)
{
	return n ? sorted[(size_t)ceil(share * (double)n) - 1] : NAN;
}

void dp_journal_commits(struct dp_journal *j, struct dp_journal_commits *out)
{
	struct dp__commits c;
	size_t n;

	pthread_mutex_lock(&j->mutex);
	c = j->commits;
	pthread_mutex_unlock(&j->mutex);
	n = c.count < DP__COMMITS ? (size_t)c.count : DP__COMMITS;
	qsort(c.last, n, sizeof *c.last, commit_order);
	*out = (struct dp_journal_commits){ .count = c.count,
					    .seconds = c.seconds,
					    .median = commit_quantile(c.last, n, 0.5),
					    .p90 = commit_quantile(c.last, n, 0.9),
					    .p99 = commit_quantile(c.last, n, 0.99) };
}
