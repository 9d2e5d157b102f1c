/* t_distribution.c - Student's t distribution, confidence intervals and Welch's test. */
#include "base/t_distribution.h"

#include <float.h>
#include <math.h>

/* ---- the distribution ---- */

/* Gamma(a + 1/2) / Gamma(a). By its series for large a, where logarithms would lose digits. */
static double gamma_half_step_ratio(double a)
{
	double r = 1 / a;

	if (a < 50)
		return tgamma(a + 0.5) / tgamma(a);
	return sqrt(a) *
	       (1 + r * (-1 / 8.0 + r * (1 / 128.0 + r * (5 / 1024.0 + r * (-21 / 32768.0 -
									    r * 399 / 262144.0)))));
}

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method. Takes
 * about sqrt(max(a, b)) steps for x < (a + 1) / (a + b + 2). */
static double beta_continued_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), f = d, step = 0;

	for (double m = 1; m < 1e7 && fabs(step - 1) > DBL_EPSILON; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		f *= d * c;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = d * c;
		f *= step;
	}
	return f;
}

/* log(1 + t^2 / freedom), also where t^2 overflows. */
static double log1p_t_squared(double t, double freedom)
{
	double s = fabs(t) / sqrt(freedom);

	return s > 1e100 ? 2 * log(s) : log1p(t * t / freedom);
}

double dp_t_two_sided_p(double t, double freedom)
{
	double a = freedom / 2, square = t * t, front, x, y;

	if (!(freedom > 0) || isnan(t))
		return NAN;
	if (isinf(freedom))
		return erfc(fabs(t) / sqrt(2));
	y = isinf(square) ? 1 : square / (freedom + square);
	x = freedom / (freedom + square);
	/* x^a (1 - x)^(1/2) / B(a, 1/2) */
	front = exp(-a * log1p_t_squared(t, freedom)) * sqrt(y) * gamma_half_step_ratio(a) /
		sqrt(M_PI);
	if (x < (a + 1) / (a + 2.5))
		return front * beta_continued_fraction(a, 0.5, x) / a;
	return 1 - 2 * front * beta_continued_fraction(0.5, a, y);
}

static double t_density(double t, double freedom)
{
	if (isinf(freedom))
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	return exp(-(freedom + 1) / 2 * log1p_t_squared(t, freedom)) *
	       gamma_half_step_ratio(freedom / 2) / sqrt(M_PI * freedom);
}

/* Newton's method on the logarithms of both. The curve there has no inflection, so the iteration
 * approaches the root from above and never passes it. */
double dp_t_critical_value(double p, double freedom)
{
	double u = 0, step = 1;

	if (!(freedom > 0) || !(p > 0 && p < 1))
		return NAN;
	for (int i = 0; i < 200 && fabs(step) > 4 * DBL_EPSILON; i++) {
		double t = exp(u), now = dp_t_two_sided_p(t, freedom);

		step = (log(now) - log(p)) * now / (2 * t * t_density(t, freedom));
		u += step;
	}
	return exp(u);
}

double dp_t_critical_95(double freedom)
{
	/* dp_t_critical_value() at 1, 2, 3, ... degrees: a long table needs one in every row */
	static const double known[] = {
		12.706204736174703, 4.3026527297494637, 3.1824463052837109, 2.7764451051977939,
		2.5705818356363159, 2.4469118511449701, 2.3646242515927853, 2.3060041352041667,
		2.2621571627982058, 2.2281388519862748, 2.2009851600916392, 2.1788128296672289,
		2.1603686564627926, 2.144786687917803,  2.1314495455597751, 2.119905299221255,
		2.1098155778333165, 2.1009220402410382, 2.0930240544083105, 2.0859634472658648,
		2.0796138447276808, 2.0738730679040263, 2.0686576104190482, 2.0638985616280259,
		2.0595385527532977, 2.0555294386428731, 2.0518305164802864, 2.0484071417952467,
		2.0452296421327048, 2.0422724563012382, 2.0395134463964073, 2.0369333434601007
	};

	if (freedom >= 1 && freedom <= (double)DP_COUNT(known) && freedom == floor(freedom))
		return known[(size_t)freedom - 1];
	return dp_t_critical_value(0.05, freedom);
}

/* ---- samples and tests ---- */

struct dp_sample_stats dp_sample_stats_compute(const double *values, size_t n)
{
	struct dp_sample_stats s = { n, NAN, NAN, NAN, NAN };
	double sum = 0, squares = 0, half;
	bool differ = false;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	if (n > 0)
		s.mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		squares += (values[i] - s.mean) * (values[i] - s.mean);
		differ |= values[i] != *values;
	}
	if (n < 2)
		return s;
	/* rounding: the mean of 0.1, 0.1, 0.1 is not 0.1 */
	s.sd = differ || isnan(squares) ? sqrt(squares / (double)(n - 1)) : 0;
	half = dp_t_critical_95((double)(n - 1)) * s.sd / sqrt((double)n);
	s.ci_low = s.mean - half;
	s.ci_high = s.mean + half;
	return s;
}

/* The variance of a sample's mean. A single value counts as exact: 0. */
static double mean_variance(const struct dp_sample_stats *s)
{
	return s->n < 2 ? 0 : s->sd * s->sd / (double)s->n;
}

/* Welch-Satterthwaite degrees of freedom. With one sample, those of the sample. */
static double welch_df(const struct dp_sample_stats *a, const struct dp_sample_stats *b)
{
	double u = mean_variance(a), v = mean_variance(b), sum = u + v;
	double of_a = u > 0 ? u / sum * (u / sum) / (double)(a->n - 1) : 0;
	double of_b = v > 0 ? v / sum * (v / sum) / (double)(b->n - 1) : 0;

	return 1 / (of_a + of_b);
}

struct dp_t_test dp_t_test_means(const struct dp_sample_stats *a, const struct dp_sample_stats *b)
{
	double error = sqrt(mean_variance(a) + mean_variance(b)), half;
	struct dp_t_test test = { DP_T_TEST_NONE, a->mean - b->mean, NAN, NAN, NAN, NAN, NAN };

	if (!(error > 0 && isfinite(error)) || !isfinite(test.difference))
		return test;
	test.kind = a->n < 2 || b->n < 2 ? DP_T_TEST_ONE_SAMPLE : DP_T_TEST_WELCH;
	test.t = test.difference / error;
	test.df = welch_df(a, b);
	test.p = dp_t_two_sided_p(test.t, test.df);
	half = dp_t_critical_95(test.df) * error;
	test.ci_low = test.difference - half;
	test.ci_high = test.difference + half;
	return test;
}
