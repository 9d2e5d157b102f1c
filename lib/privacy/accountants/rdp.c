/* rdp.c - Renyi accounting: converts a curve of divergences to epsilon at a delta. */
#include "privacy/privacy_internal.h"

#include <math.h>

/* Skips terms this far below the sum (natural log). Even a million of them change no digit. */
#define NEGLIGIBLE 52.0

#define NO_DIGIT 80.0

/* If the peak is further out than half of this, the sum does not start at the first term. */
#define FAR_PEAK 4096.0

/* A running sum of exponentials, scaled by the largest. */
struct log_sum {
	double top, sum;
};

static void log_sum_add(struct log_sum *s, double x)
{
	/* the sum is at least one: smaller terms change no digit, and exp() is slow to underflow */
	if (x <= s->top) {
		if (!(x < s->top - NO_DIGIT))
			s->sum += exp(x - s->top);
	} else {
		s->sum = s->top < x - NO_DIGIT ? 1 : s->sum * exp(s->top - x) + 1;
		s->top = x;
	}
}

static double log_sum_value(const struct log_sum *s)
{
	return s->sum > 0 ? s->top + log(s->sum) : -INFINITY;
}

/* log(n!) minus Stirling's leading terms. */
static double stirling_remainder(double n)
{
	double r = 1 / n, r2 = r * r;

	return r * (1 / 12.0 - r2 * (1 / 360.0 - r2 * (1 / 1260.0 - r2 / 1680.0)));
}

/* log C(n, k) without the cancellation of three log-gammas. */
static double log_choose(double n, double k)
{
	double m = fmin(k, n - k), sum = 0;

	if (m < 32) {
		for (double i = 0; i < m; i++)
			sum += log((n - i) / (i + 1));
		return sum;
	}
	return stirling_remainder(n) - stirling_remainder(m) - stirling_remainder(n - m) -
	       m * log(m / n) - (n - m) * log1p(-m / n) + 0.5 * log(n / (2 * M_PI * m * (n - m)));
}

struct binomial_terms {
	double order, log_rho, slope;
	double (*log_c)(void *ctx, uint32_t j);
	void *ctx;
};

/* log of the ratio of the bounds of terms j + 1 and j. In j it falls, may rise, and falls again. */
static double binomial_term_log_ratio(const struct binomial_terms *t, double j)
{
	return log((t->order - j) / (j + 1)) + t->log_rho + 2 * j * t->slope;
}

/* The j of the bounds' second peak, or 0 if there is none beyond `from`. */
static double binomial_second_peak(const struct binomial_terms *t, double from)
{
	double n = t->order, disc = (n + 1) * (n + 1) - 2 * (n + 1) / t->slope;
	double lo, hi = n;

	if (!(disc >= 0))
		return 0;
	lo = floor(0.5 * (n - 1 + sqrt(disc))); /* the later maximum of the ratio */
	lo = fmin(fmax(lo, from), n - 1);
	if (binomial_term_log_ratio(t, lo) <= 0)
		return 0;
	while (hi - lo > 1) { /* the ratio at lo is above one, at hi below */
		double mid = floor(0.5 * (lo + hi));

		*(binomial_term_log_ratio(t, mid) > 0 ? &lo : &hi) = mid;
	}
	return hi;
}

/* Adds terms from j on in steps of +1 or -1, up to `last`, until they vanish. */
static void binomial_sum_from_peak(const struct binomial_terms *t, struct log_sum *s, double j,
				   double last, double log_choose_j, double step)
{
	double base = log_choose_j + j * t->log_rho;

	for (;; j += step) {
		log_sum_add(s, base + t->log_c(t->ctx, (uint32_t)j));
		if (j == last || base + M_LN2 + j * (j - 1) * t->slope < s->top - NEGLIGIBLE)
			break;
		base += step > 0 ? log((t->order - j) / (j + 1)) + t->log_rho
				 : log(j / (t->order - j + 1)) - t->log_rho;
	}
}

/* The j of the bounds' first peak, or 2 if it is not far. Below it they grow steadily; the ratio
 * falls up to `late`, and then may rise. */
static double binomial_first_peak(const struct binomial_terms *t)
{
	double n = t->order, disc = (n + 1) * (n + 1) - 2 * (n + 1) / t->slope;
	double lo = 2, hi = n - 1;

	if (n < FAR_PEAK || binomial_term_log_ratio(t, FAR_PEAK / 2) <= 0)
		return 2;
	if (disc >= 0)
		hi = fmin(floor(0.5 * (n - 1 - sqrt(disc))), hi);
	if (!(hi > FAR_PEAK / 2) || binomial_term_log_ratio(t, hi) > 0)
		return 2; /* only one peak, the second */
	lo = FAR_PEAK / 2;
	while (hi - lo > 1) {
		double mid = floor(0.5 * (lo + hi));

		*(binomial_term_log_ratio(t, mid) > 0 ? &lo : &hi) = mid;
	}
	return hi;
}

double dp__log_binomial_sum(uint32_t order, double log_rho, double slope,
			    double (*log_c)(void *ctx, uint32_t j), void *ctx)
{
	struct binomial_terms t = { order, log_rho, slope, log_c, ctx };
	struct log_sum s = { -INFINITY, 0 };
	double j = binomial_first_peak(&t), base = log_choose(t.order, j) + j * log_rho, peak, at;

	if (j > 2) /* terms below the peak, as far as they count */
		binomial_sum_from_peak(&t, &s, j - 1, 2, log_choose(t.order, j - 1), -1);
	for (;; j++) {
		double bound = base + M_LN2 + j * (j - 1) * slope, ratio;

		log_sum_add(&s, base + log_c(ctx, (uint32_t)j));
		if (j == t.order)
			return log_sum_value(&s);
		ratio = log((t.order - j) / (j + 1)) + log_rho;
		if (bound < s.top - NEGLIGIBLE && ratio + 2 * j * slope < 0)
			break;
		base += ratio;
	}
	peak = binomial_second_peak(&t, j);
	if (peak == 0)
		return log_sum_value(&s);
	at = log_choose(t.order, peak);
	if (at + peak * log_rho + M_LN2 + peak * (peak - 1) * slope < s.top - NEGLIGIBLE)
		return log_sum_value(&s);
	binomial_sum_from_peak(&t, &s, peak, j + 1, at, -1);
	if (peak < t.order)
		binomial_sum_from_peak(&t, &s, peak + 1, t.order, log_choose(t.order, peak + 1), 1);
	return log_sum_value(&s);
}

double dp__rdp_sampled_cgf(double q, double mu, double order)
{
	double whole = 0.5 * order * (order - 1) * mu * mu;

	return whole < 1 ? log1p(q * expm1(whole)) : dp__log_add(log1p(-q), log(q) + whole);
}

struct order_search {
	const struct dp__rdp_curve *curve;
	enum dp_privacy_conversion conversion;
	double log_delta;
	double higher_order_min; /* lower bound for orders above the last one tried */
};

/* Classic: Mironov 2017, Proposition 3. Improved: Balle et al. 2020, Theorem 21, and
 * Canonne, Kamath and Steinke 2020, Proposition 12. */
static double epsilon_at_order(void *ctx, double order)
{
	struct order_search *s = ctx;
	double gap = order - 1, r = s->curve->cgf(s->curve->ctx, order) / gap;

	if (s->conversion == DP_PRIVACY_CONVERSION_CLASSIC) {
		s->higher_order_min = r;
		return r - s->log_delta / gap;
	}
	/* both added terms and r itself grow with the order */
	s->higher_order_min = r + log(gap / order) - log(order) / gap;
	return s->higher_order_min - s->log_delta / gap;
}

/* On a scale that spreads orders just above one. */
static double epsilon_at_log_order(void *ctx, double log_gap)
{
	return epsilon_at_order(ctx, 1 + exp(log_gap));
}

/* The best integer between lo and hi, neither of which beats *best. */
static void narrow_integer_order(struct order_search *s, uint32_t lo, uint32_t hi, uint32_t *at,
				 double *best)
{
	while (hi - lo > 2) {
		/* probe the wider side, near the best */
		bool up = hi - *at > *at - lo;
		uint32_t wide = up ? hi - *at : *at - lo;
		uint32_t step = wide > 2 ? (uint32_t)(0.382 * wide + 0.5) : 1;
		uint32_t probe = up ? *at + step : *at - step;
		double e = epsilon_at_order(s, probe);

		if (e < *best) {
			*(up ? &lo : &hi) = *at;
			*at = probe;
			*best = e;
		} else {
			*(up ? &hi : &lo) = probe;
		}
	}
}

/* Orders 2, 3, 4, 6, 8, 12, ... until no higher one can win, then between the neighbours of the
 * best: epsilon falls, then rises. */
static uint32_t find_best_integer_order(struct order_search *s, double *best)
{
	uint32_t order = 2, last = 2, before = 2, at = 2, after = 0;

	*best = INFINITY;
	for (;;) {
		double e = epsilon_at_order(s, order);

		if (e < *best) {
			*best = e;
			at = order;
			before = last;
			after = 0;
		} else if (!after) {
			after = order;
		}
		if (!(s->higher_order_min < *best) || *best <= 0 || order >= DP__ORDER_MAX)
			break;
		last = order;
		order = order == 2 ? 3 : (order & (order - 1)) ? order / 3 * 4 : order / 2 * 3;
	}
	if (*best > 0 && isfinite(*best))
		narrow_integer_order(s, before, after ? after : at + 1, &at, best);
	return at;
}

/* A lower bound for orders up to 1 + gap: a divergence is never negative, and the conversion's
 * added term only grows towards order one while delta is below 1 / order. */
static double epsilon_min_below_order(const struct order_search *s, double gap)
{
	if (s->conversion == DP_PRIVACY_CONVERSION_CLASSIC)
		return -s->log_delta / gap;
	if (!(-s->log_delta > log1p(gap)))
		return -INFINITY;
	return log(gap / (1 + gap)) - (log1p(gap) + s->log_delta) / gap;
}

/* Orders between one and two, for low noise. A curve that is the minimum of several bounds has
 * several local minima, so a step without gain does not end the search. */
static void search_orders_below_two(struct order_search *s, double *order, double *best)
{
	for (double lo = -M_LN2; lo > -40 && epsilon_min_below_order(s, exp(lo)) < *best;
	     lo -= M_LN2) {
		double e = epsilon_at_log_order(s, lo);

		if (e < *best) {
			*best = e;
			*order = 1 + exp(lo);
		}
	}
}

static void search_real_orders(struct order_search *s, double *order, double *best)
{
	double lo, hi, at, e;

	search_orders_below_two(s, order, best);
	hi = *order < 2 ? log(*order - 1) + M_LN2 : log(*order);
	lo = *order > 2 ? log(*order - 2) : log(*order - 1) - M_LN2;
	e = dp__minimize(epsilon_at_log_order, s, lo, hi, &at);
	if (e < *best) {
		*best = e;
		*order = 1 + exp(at);
	}
}

double dp__rdp_curve_epsilon(const struct dp__rdp_curve *c, enum dp_privacy_conversion conversion,
			     double log_delta, double *order)
{
	struct order_search s = { c, conversion, log_delta, 0 };
	double best;

	*order = find_best_integer_order(&s, &best);
	if (c->real_orders && best > 0)
		search_real_orders(&s, order, &best);
	return isnan(best) ? INFINITY : fmax(best, 0);
}
