/* t_distribution.h - Student's t distribution, confidence intervals and Welch's test.
 *
 * Degrees of freedom may be any number above 0, as Welch's test needs. All tests are two-sided. */
#ifndef DP_BASE_T_DISTRIBUTION_H
#define DP_BASE_T_DISTRIBUTION_H
#include "base/base.h"

/* The probability that |T| is at least |t|. NaN for invalid degrees of freedom. Relative error
 * below 1e-10 for normal results up to a million degrees. */
double dp_t_two_sided_p(double t, double freedom);
/* The t > 0 with this two-sided probability, in (0, 1). */
double dp_t_critical_value(double p, double freedom);
/* The half-width of a 95 % interval of a mean, in standard errors. */
double dp_t_critical_95(double freedom);
/* The same for a known standard error, such as a model's. */
#define DP_NORMAL_CRITICAL_95 1.959964

/* Statistics of a sample. NaN where n is too small: n < 2 for the spread, n = 0 for the mean. */
struct dp_sample_stats {
	size_t n;
	double mean, sd;
	double ci_low, ci_high; /* 95 % interval of the mean */
};
struct dp_sample_stats dp_sample_stats_compute(const double *values, size_t n);

enum dp_t_test_kind {
	DP_T_TEST_NONE,       /* neither sample has a spread */
	DP_T_TEST_ONE_SAMPLE, /* one sample is a single value, taken as exact */
	DP_T_TEST_WELCH       /* two samples, variances may differ */
};
/* A test of whether two samples have the same mean. */
struct dp_t_test {
	enum dp_t_test_kind kind;
	double difference;      /* mean of a - mean of b */
	double ci_low, ci_high; /* its 95 % interval */
	double t, df, p;        /* all NaN with DP_T_TEST_NONE */
};
struct dp_t_test dp_t_test_means(const struct dp_sample_stats *a, const struct dp_sample_stats *b);

#endif
