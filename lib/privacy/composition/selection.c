/* selection.c - private selection: the best of a secret number of independent runs.
 *
 * Papernot and Steinke 2022, Theorems 2 and 6; adaptive_composition.h has their setting. The
 * truncated negative binomial distribution is handled by L = ln(1/gamma): its mean is E[K] = eta
 * (exp(L) - 1) / (1 - exp(-eta L)), and (exp(L) - 1) / L for eta = 0. */
#include "privacy/privacy_internal.h"
#include "privacy/composition/adaptive_composition.h"

#include <float.h>
#include <math.h>

/* The rounding error of a short formula. */
#define SELECTION_ROUNDINGS (16 * DBL_EPSILON)
/* The number of runs goes up to about 40 / gamma. */
#define SELECTION_GAMMA_MIN 1e-7
/* exp(-m) would lose digits for larger m. */
#define SELECTION_POISSON_PIECE 500.0

/* (1 - exp(-eta L)) / eta, which is L at eta = 0. */
static double selection_scale(double eta, double l)
{
	return fabs(eta * l) < 1e-8 ? l * (1 - 0.5 * eta * l) : -expm1(-eta * l) / eta;
}

struct selection_target {
	double eta, log_mean;
};

static double selection_mean_error(void *ctx, double log_l)
{
	const struct selection_target *w = ctx;
	double l = exp(log_l);

	return log(expm1(l)) - log(selection_scale(w->eta, l)) - w->log_mean;
}

int dp_selection_init_neg_binomial(double eta, double mean, struct dp_selection *out,
				   struct dp_err *err)
{
	const double lo = log(1e-30), hi = log(-log(SELECTION_GAMMA_MIN));
	struct selection_target w = { eta, log(mean) };
	double l;

	if (!(eta > -1 && eta <= 100))
		return dp_fail(err, DP_E_INVALID, "'eta' lies above -1 and up to 100; %g does not",
			       eta);
	if (!(mean > 1 && mean <= DP_SELECTION_MEAN_MAX))
		return dp_fail(err, DP_E_INVALID,
			       "the mean number of trainings lies above 1 and up to "
			       "%g; %g does not",
			       DP_SELECTION_MEAN_MAX, mean);
	if (!(selection_mean_error(&w, hi) > 0))
		return dp_fail(err, DP_E_INVALID,
			       "with 'eta' %g a mean of %g trainings now and then "
			       "takes more than anyone can do",
			       eta, mean);
	l = eta == 1 ? w.log_mean : exp(dp__find_root(selection_mean_error, &w, lo, hi));
	*out = (struct dp_selection){ DP_SELECTION_NEGATIVE_BINOMIAL, mean, eta, -l };
	return DP_OK;
}

int dp_selection_init_poisson(double mean, struct dp_selection *out, struct dp_err *err)
{
	if (!(mean > 0 && mean <= DP_SELECTION_MEAN_MAX))
		return dp_fail(err, DP_E_INVALID,
			       "the mean number of trainings lies above 0 and up to "
			       "%g; %g does not",
			       DP_SELECTION_MEAN_MAX, mean);
	*out = (struct dp_selection){ DP_SELECTION_POISSON, mean, NAN, NAN };
	return DP_OK;
}

/* ---- the number of runs ---- */

/* Inverts a distribution function: `first` is the probability of `from`, next() that of k + 1 over
 * that of k. Past the mean it stops where probabilities vanish, as rounding may leave a rest of
 * u. */
static uint64_t selection_invert_cdf(const struct dp_selection *s, double u, uint64_t from,
				     double first,
				     double (*next)(const struct dp_selection *s, double k))
{
	uint64_t k = from;
	double p = first;

	for (u -= p; u >= 0 && (p > 1e-25 || (double)k < s->mean); u -= p) {
		p *= next(s, (double)k);
		k++;
	}
	return k;
}

static double selection_neg_binomial_ratio(const struct dp_selection *s, double k)
{
	return -expm1(s->log_gamma) * (k + s->eta) / (k + 1);
}

static double selection_poisson_ratio(const struct dp_selection *s, double k)
{
	return s->mean / (k + 1);
}

/* A sum of independent Poisson numbers is Poisson. */
static uint64_t selection_draw_poisson(double mean, struct dp_rng *r)
{
	uint64_t sum = 0;

	while (mean > 0) {
		struct dp_selection piece = { .mean = fmin(mean, SELECTION_POISSON_PIECE) };

		sum += selection_invert_cdf(&piece, dp_rng_uniform(r), 0, exp(-piece.mean),
					    selection_poisson_ratio);
		mean -= piece.mean;
	}
	return sum;
}

uint64_t dp_selection_draw(const struct dp_selection *s, struct dp_rng *r)
{
	double first;

	if (s->law == DP_SELECTION_POISSON)
		return selection_draw_poisson(s->mean, r);
	/* (1 - gamma) eta / (gamma^-eta - 1), and (1 - gamma) / L at eta = 0 */
	first = -expm1(s->log_gamma) / selection_scale(-s->eta, -s->log_gamma);
	return selection_invert_cdf(s, dp_rng_uniform(r), 1, first, selection_neg_binomial_ratio);
}

/* ---- its cost ---- */

/* (1 + eta) min over b >= 1 of [(1 - 1/b) e(b) + ln(1/gamma) / b]; (1 - 1/b) e(b) = K(b) / b. */
static double selection_surcharge(const struct dp_selection *s, const double *orders,
				  const double *k, size_t n)
{
	double least = -s->log_gamma;

	for (size_t i = 0; i < n; i++)
		if (k[i] >= 0 && orders[i] > 1)
			least = fmin(least, (k[i] - s->log_gamma) / orders[i]);
	return (1 + s->eta) * least;
}

/* Theorem 6 covers the output of a run. No run at all is an outcome as well, equally likely on both
 * data sets, and adds its probability exp(-m) to exp(K). */
static double selection_poisson_renyi(double mean, double order, double k, double delta)
{
	double d = delta >= 0 ? delta : 1;

	return dp__log_add(-mean, log(mean) + k + (order - 1) * mean * d);
}

void dp_selection_renyi(const struct dp_selection *s, const double *orders, const double *k,
			const double *delta, size_t n, double *out)
{
	bool poisson = s->law == DP_SELECTION_POISSON;
	double toll = poisson ? 0 : selection_surcharge(s, orders, k, n);

	for (size_t i = 0; i < n; i++) {
		double a = orders[i], value, d;

		if (poisson) {
			d = delta ? delta[i] : dp_renyi_delta(orders, k, n, -log1p(-1 / a));
			value = selection_poisson_renyi(s->mean, a, k[i], d);
		} else {
			value = k[i] + (a - 1) * toll + log(s->mean);
		}
		value += SELECTION_ROUNDINGS * (value + fabs(log(s->mean)) + 1);
		out[i] = k[i] >= 0 && a > 1 && value >= 0 ? value : INFINITY;
	}
}
