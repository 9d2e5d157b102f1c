/* realised_volume.c - the volume that a front realises with re-evaluated values. */
#include "optimize/pareto/pareto.h"

#include <math.h>

double dp_pareto_realised_volume(const double *y, size_t n, const double *ref)
{
	double volume = 0;

	for (size_t i = 0; i < n; i++) {
		double x = y[2 * i], height = ref[1] - y[2 * i + 1];
		double next = i + 1 < n ? fmin(y[2 * i + 2], ref[0]) : ref[0];

		if (next > x && height > 0)
			volume += (next - x) * height;
	}
	return volume;
}
