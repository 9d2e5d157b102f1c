/* t_distribution.h - Student's t: how far a mean lies from another, and how sure that is.
 *
 * Degrees of freedom are any number above 0, as Welch's test needs. Two-sided throughout.
 */
#ifndef DP_BASE_T_DISTRIBUTION_H
#define DP_BASE_T_DISTRIBUTION_H
#include "base/base.h"

/* The probability that |T| is at least |t|; NaN without degrees of freedom. Relative
 * error below 1e-10 as long as it is a normal number, up to a million degrees. */
double dp_t_two_sided_p(double t, double freedom);
/* The t > 0 that has this probability, in (0, 1). */
double dp_t_critical_value(double p, double freedom);
/* How many standard errors to each side of a mean hold 95 %. */
double dp_t_critical_95(double freedom);
/* The same where the error is known, as models say theirs. */
#define DP_NORMAL_CRITICAL_95 1.959964

/* What is known of a sample. What needs a spread is NaN where n < 2, what needs a mean
 * where n = 0. */
struct dp_sample_stats {
	size_t n;
	double mean, sd;
	double ci_low, ci_high; /* the mean lies here with 95 % */
};
struct dp_sample_stats dp_sample_stats_compute(const double *values, size_t n);

enum dp_t_test_kind {
	DP_T_TEST_NONE,       /* nothing has a spread to go by */
	DP_T_TEST_ONE_SAMPLE, /* one of the two is a single value, taken as fixed */
	DP_T_TEST_WELCH       /* two samples whose variances need not be equal */
};
/* Is the mean of one sample that of the other? */
struct dp_t_test {
	enum dp_t_test_kind kind;
	double difference;      /* a's mean less b's */
	double ci_low, ci_high; /* it lies here with 95 % */
	double t, df, p;        /* all of these NaN with DP_T_TEST_NONE */
};
struct dp_t_test dp_t_test_means(const struct dp_sample_stats *a, const struct dp_sample_stats *b);

#endif
