/* rng.c - counter-based random streams from a seed or a secret. */
#include "base/rng.h"

#include "base/secret.h"
#include "base/sha256.h"

#include <Random123/philox.h>
#include <math.h>
#include <string.h>

/* The key is the seed or secret. Purpose, trial and run fill three counter words, the fourth counts
 * blocks. So different streams never overlap before 2^32 blocks (2^34 words). */
static void rng_set_counter(struct dp_rng *r, enum dp_rng_purpose purpose, uint32_t trial,
			    uint32_t run)
{
	r->counter[0] = 0;
	r->counter[1] = run;
	r->counter[2] = trial;
	r->counter[3] = (uint32_t)purpose;
	r->used = 4;
}

void dp_rng_init(struct dp_rng *r, uint64_t seed, enum dp_rng_purpose purpose, uint32_t trial,
		 uint32_t run)
{
	r->secret = false;
	r->key[0] = (uint32_t)seed;
	r->key[1] = (uint32_t)(seed >> 32);
	rng_set_counter(r, purpose, trial, run);
}

/* SHA-256 of n words in little-endian order on every machine. */
static void rng_digest(const uint32_t *words, size_t n, uint32_t out[8])
{
	unsigned char bytes[DP_SHA256_SIZE];
	struct dp_sha256 sha;

	dp_sha256_init(&sha);
	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < 4; k++)
			bytes[k] = (unsigned char)(words[i] >> (8 * k));
		dp_sha256_update(&sha, bytes, 4);
	}
	dp_sha256_digest(&sha, bytes);
	for (int i = 0; i < 8; i++)
		out[i] = bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 |
			 (uint32_t)bytes[4 * i + 2] << 16 | (uint32_t)bytes[4 * i + 3] << 24;
}

/* The characters of a secret as words. Returns their number. */
static size_t rng_secret_words(const char *secret, uint32_t words[DP_SECRET_SIZE])
{
	size_t n = 0;

	for (; n < DP_SECRET_SIZE && secret[n]; n++)
		words[n] = (unsigned char)secret[n];
	return n;
}

void dp_rng_init_secret(struct dp_rng *r, const char *secret, enum dp_rng_purpose purpose,
			uint32_t trial, uint32_t run)
{
	uint32_t words[DP_SECRET_SIZE];

	r->secret = true;
	rng_digest(words, rng_secret_words(secret, words), r->key);
	rng_set_counter(r, purpose, trial, run);
	explicit_bzero(words, sizeof words);
}

/* Two words longer than a secret alone, so the two kinds of keys never coincide. */
void dp_rng_init_secret_seed(struct dp_rng *r, const char *secret, uint64_t seed,
			     enum dp_rng_purpose purpose, uint32_t trial, uint32_t run)
{
	uint32_t words[DP_SECRET_SIZE + 2];
	size_t n = rng_secret_words(secret, words);

	words[n++] = (uint32_t)seed;
	words[n++] = (uint32_t)(seed >> 32);
	r->secret = true;
	rng_digest(words, n, r->key);
	rng_set_counter(r, purpose, trial, run);
	explicit_bzero(words, sizeof words);
}

/* Key and counter have a fixed length. So no digest's input is a prefix of another's, and a plain
 * digest of both is a pseudorandom function. Half of it is output. */
static void rng_fill_secret(struct dp_rng *r)
{
	uint32_t input[12], digest[8];

	memcpy(input, r->key, sizeof r->key);
	memcpy(input + 8, r->counter, sizeof r->counter);
	rng_digest(input, DP_COUNT(input), digest);
	memcpy(r->block, digest, sizeof r->block);
}

static void rng_fill_philox(struct dp_rng *r)
{
	philox4x32_ctr_t c = { { r->counter[0], r->counter[1], r->counter[2], r->counter[3] } };
	philox4x32_key_t k = { { r->key[0], r->key[1] } };

	c = philox4x32(c, k);
	for (int i = 0; i < 4; i++)
		r->block[i] = c.v[i];
}

uint32_t dp_rng_u32(struct dp_rng *r)
{
	if (r->used == 4) {
		if (r->secret)
			rng_fill_secret(r);
		else
			rng_fill_philox(r);
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
	uint64_t reject = -n % n, x; /* 2^64 mod n: values below it would bias the result */

	do
		x = dp_rng_u64(r);
	while (x < reject);
	return x % n;
}

double dp_rng_normal(struct dp_rng *r)
{
	/* Box-Muller. Drops the second value: the position depends only on the number of calls. */
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
