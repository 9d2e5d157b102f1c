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

static int key(const struct dp_mechanism *m, const char *name)
{
	for (size_t i = 0; i < m->nkeys; i++)
		if (strcmp(m->keys[i].name, name) == 0)
			return (int)i;
	return 0;
}

struct run {
	const char *what;
	double aim; /* microseconds; 0: none */
	double sampling, accountant;
	bool quick, new_sigma, cold; /* cold: nothing prepared */
	int rounds;
};

/* One call each for many (lot, epochs), at one sigma or at a new one every time. */
static int measure(const struct dp_mechanism *m, const struct run *r)
{
	struct dp_privacy_prepared *p = dp_privacy_prepare(m);
	double v[DP_PRIVACY_KEYS_MAX], start;
	struct dp_epsilon e;
	struct dp_err err;
	int rc = DP_OK;

	if (!p)
		return 1;
	for (size_t i = 0; i < m->nkeys; i++)
		v[i] = NAN;
	v[key(m, "sampling")] = r->sampling;
	v[key(m, "accountant")] = r->accountant;
	v[key(m, "records")] = 40000;
	v[key(m, "delta")] = 1e-5;
	v[key(m, "noise_multiplier")] = 1.5;
	start = cpu_us();
	for (int i = 0; rc == DP_OK && i < r->rounds; i++) {
		v[key(m, "lot")] = 128 + i % 64;
		v[key(m, "epochs")] = 30 + i % 7;
		if (r->new_sigma)
			v[key(m, "noise_multiplier")] = 1.5 + 1e-4 * i;
		if (r->cold)
			rc = dp_privacy_epsilon(m, v, &e, &err);
		else if (r->quick)
			rc = dp_privacy_quick(p, v, &e, &err);
		else
			rc = dp_privacy_eval(p, v, &e, &err);
	}
	if (rc == DP_OK)
		printf("%-58s %10.2f us\n", r->what, (cpu_us() - start) / r->rounds);
	if (rc == DP_OK && r->aim > 0)
		printf("%-58s %10.2f us\n", "  aim", r->aim);
	dp_privacy_prepared_free(p);
	return rc != DP_OK;
}

int main(void)
{
	static const struct run runs[] = {
		{ "without replacement, rdp, known sigma, new (lot, epochs)", 20, 0, 0,
		  false, false, false, 20000 },
		{ "without replacement, rdp, new sigma", 500, 0, 0, false, true, false,
		  5000 },
		{ "without replacement, rdp, nothing prepared", 500, 0, 0, false, true,
		  true, 5000 },
		{ "poisson, rdp, real orders", 0, 1, 0, false, false, false, 2000 },
		{ "without replacement, pld", 10000, 0, 1, false, false, false, 100 },
		{ "without replacement, pld, nothing prepared", 10000, 0, 1, false, true,
		  true, 100 },
		{ "poisson, pld", 0, 1, 1, false, false, false, 100 },
		{ "without replacement, pld, stand-in", 0, 0, 1, true, true, false,
		  1000 },
		{ "poisson, pld, stand-in", 0, 1, 1, true, true, false, 1000 },
	};
	const struct dp_mechanism *m = dp_mechanism_find("dp-sgd");
	int failed = 0;

	printf("records 40000, lot 128.., epochs 30.., sigma 1.5, delta 1e-5; CPU time a "
	       "call\n");
	for (size_t i = 0; i < DP_COUNT(runs); i++)
		failed |= measure(m, &runs[i]);
	return failed;
}
