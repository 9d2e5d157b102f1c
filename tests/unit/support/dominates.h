/* dominates.h - dominance by the definition in pareto.h, for tests that count. */
#ifndef DP_TEST_DOMINATES_H
#define DP_TEST_DOMINATES_H
#include <stdbool.h>
#include <stddef.h>

static inline bool dominates(const double *u, const double *v, size_t p)
{
	bool better = false;

	for (size_t j = 0; j < p; j++) {
		if (!(u[j] <= v[j])) /* also when one is NaN */
			return false;
		better |= u[j] < v[j];
	}
	return better;
}

#endif
