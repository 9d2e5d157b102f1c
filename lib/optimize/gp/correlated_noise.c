/* correlated_noise.c - noise that the points of one training share.
 *
 * A run that was lucky after 4 epochs is likely to be so after 5, and less so after 40:
 * what two places on its path share falls with the ratio of what was trained until
 * there. A little is each point's own. */
#include "optimize/gp/gp_internal.h"

#include <math.h>

static const double max_correlation = 0.9;

double dp__gp_noise_covariance(const struct dp_gp_noise_group *run, const double *noise, size_t i,
			       size_t j)
{
	double a = run[i].position, b = run[j].position;

	if (run[i].training != run[j].training)
		return 0;
	return max_correlation * fmin(a, b) / fmax(a, b) * sqrt(noise[i] * noise[j]);
}

void dp__gp_add_noise_covariances(const struct dp_gp_noise_group *run, const double *noise,
				  size_t i, double *row)
{
	for (size_t j = 0; j < i; j++)
		row[j] += dp__gp_noise_covariance(run, noise, i, j);
}
