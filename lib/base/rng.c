/* rng.c - counter-based random streams (Philox4x32-10 from Random123). */
#include "base/rng.h"

#include <Random123/philox.h>
#include <math.h>

/* The seed is the key; purpose, trial and run fill three counter words, and the
 * fourth counts blocks. Different streams therefore never overlap before 2^32
 * blocks, which is 2^34 words. */
void dp_rng_init(struct dp_rng *r, uint64_t seed, enum dp_purpose purpose, uint32_t trial,
		 uint32_t run)
{
	r->key[0] = (uint32_t)seed;
	r->key[1] = (uint32_t)(seed >> 32);
	r->counter[0] = 0;
	r->counter[1] = run;
	r->counter[2] = trial;
	r->counter[3] = (uint32_t)purpose;
	r->used = 4;
}

uint32_t dp_rng_u32(struct dp_rng *r)
{
	if (r->used == 4) {
		philox4x32_ctr_t c = { { r->counter[0], r->counter[1], r->counter[2],
					 r->counter[3] } };
		philox4x32_key_t k = { { r->key[0], r->key[1] } };

		c = philox4x32(c, k);
		for (int i = 0; i < 4; i++)
			r->block[i] = c.v[i];
		r->counter[0]++;
		r->used = 0;
	}
	return r->block[r->used++];
}

uint64_t dp_rng_u64(struct dp_rng *r)
{
	uint64_t high = dp_rng_u32(r);

	return high << 32 | dp_rng_u32(r);
}

double dp_rng_uniform(struct dp_rng *r)
{
	/* the middle of one of 2^52 equal cells */
	return ((double)(dp_rng_u64(r) >> 12) + 0.5) * 0x1p-52;
}

uint64_t dp_rng_below(struct dp_rng *r, uint64_t n)
{
	uint64_t reject = -n % n, x; /* 2^64 mod n: values below it would favour some */

	do
		x = dp_rng_u64(r);
	while (x < reject);
	return x % n;
}

double dp_rng_normal(struct dp_rng *r)
{
	/* Box and Muller; the second output is given up so that a stream's position
	 * depends on nothing but the number of calls. */
	double radius = sqrt(-2.0 * log(dp_rng_uniform(r)));

	return radius * cos(2.0 * M_PI * dp_rng_uniform(r));
}

double dp_rng_exponential(struct dp_rng *r)
{
	return -log(dp_rng_uniform(r));
}

double dp_rng_laplace(struct dp_rng *r)
{
	double u = dp_rng_uniform(r) - 0.5;

	return u < 0 ? log1p(2.0 * u) : -log1p(-2.0 * u);
}

uint64_t dp_run_seed(uint64_t study_seed, uint32_t trial, uint32_t run)
{
	struct dp_rng r;

	dp_rng_init(&r, study_seed, DP_RNG_RUN_SEED, trial, run);
	return dp_rng_u64(&r) >> 11;
}
