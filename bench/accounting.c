/* accounting.c - what an epsilon costs: microseconds and milliseconds of one core. */
#include "privacy/privacy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double *at(const struct dp_mechanism *m, double *values, const char *key)
{
	return &values[dp_privacy_key_index(m, dp_privacy_key_find(m, key))];
}

struct run {
	const char *what;
	double aim; /* microseconds; 0: none */
	double sampling, accountant;
	bool new_sigma, cold; /* cold: nothing prepared */
	int rounds;
};

/* One call each for many (lot, epochs), at one sigma or at a new one every time. */
static int measure(const struct dp_mechanism *m, const struct run *r)
{
	struct dp_mechanism_cache *p = dp_mechanism_cache_new(m);
	double v[DP_PRIVACY_KEYS_MAX], start;
	struct dp_epsilon e;
	struct dp_err err;
	int code = DP_OK;

	if (!p)
		return 1;
	for (size_t i = 0; i < m->nkeys; i++)
		v[i] = NAN;
	*at(m, v, "sampling") = r->sampling;
	*at(m, v, "accountant") = r->accountant;
	*at(m, v, "records") = 40000;
	*at(m, v, "delta") = 1e-5;
	*at(m, v, "noise_multiplier") = 1.5;
	start = cpu_us();
	for (int i = 0; code == DP_OK && i < r->rounds; i++) {
		*at(m, v, "lot") = 128 + i % 64;
		*at(m, v, "epochs") = 30 + i % 7;
		if (r->new_sigma)
			*at(m, v, "noise_multiplier") = 1.5 + 1e-4 * i;
		if (r->cold)
			code = dp_privacy_epsilon(m, v, &e, &err);
		else
			code = dp_mechanism_cache_epsilon(p, v, &e, &err);
	}
	if (code == DP_OK)
		printf("%-58s %10.2f us\n", r->what, (cpu_us() - start) / r->rounds);
	if (code == DP_OK && r->aim > 0)
		printf("%-58s %10.2f us\n", "  aim", r->aim);
	dp_mechanism_cache_free(p);
	return code != DP_OK;
}

int main(void)
{
	static const struct run runs[] = {
		{ "without replacement, rdp, known sigma, new (lot, epochs)", 20, 0, 0, false,
		  false, 20000 },
		{ "without replacement, rdp, new sigma", 500, 0, 0, true, false, 5000 },
		{ "without replacement, rdp, nothing prepared", 500, 0, 0, true, true, 5000 },
		{ "poisson, rdp, real orders", 0, 1, 0, false, false, 2000 },
		{ "without replacement, pld", 10000, 0, 1, false, false, 100 },
		{ "without replacement, pld, nothing prepared", 10000, 0, 1, true, true, 100 },
		{ "poisson, pld", 0, 1, 1, false, false, 100 },
	};
	const struct dp_mechanism *m = dp_mechanism_find("dp-sgd");
	int failed = 0;

	printf("records 40000, lot 128.., epochs 30.., sigma 1.5, delta 1e-5; CPU time a "
	       "call\n");
	for (size_t i = 0; i < DP_COUNT(runs); i++)
		failed |= measure(m, &runs[i]);
	return failed;
}
