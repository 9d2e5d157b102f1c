/* gaussian_release.c - epsilon of noisy releases; theorems in adaptive_composition.h. */
#include "privacy/privacy_internal.h"
#include "privacy/composition/adaptive_composition.h"

#include <float.h>
#include <math.h>

/* The rounding error of a short formula. */
#define RELEASE_ROUNDINGS (8 * DBL_EPSILON)

double dp_noisy_release_mu(double records, double sigma, double n)
{
	if (!(records >= 1 && sigma > 0 && n >= 0))
		return INFINITY;
	return sqrt(n) / (sigma * records) * (1 + RELEASE_ROUNDINGS);
}

void dp_noisy_release_renyi(double records, double sigma, const double *orders, size_t n, double *k)
{
	double mu = dp_noisy_release_mu(records, sigma, 1);

	for (size_t i = 0; i < n; i++) {
		double a = orders[i];

		k[i] = a > 1 ? 0.5 * a * (a - 1) * mu * mu * (1 + RELEASE_ROUNDINGS) : INFINITY;
	}
}

double dp_noisy_release_epsilon(double records, double sigma, double n, double delta)
{
	double mu = dp_noisy_release_mu(records, sigma, n);

	if (!(delta > 0 && delta < 1 && mu < INFINITY))
		return INFINITY;
	return mu > 0 ? dp__gaussian_epsilon(mu, log(delta)) : 0;
}
