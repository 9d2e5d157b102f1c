/* rng.h - counter-based random streams from a seed or a secret.
 *
 * Philox4x32-10 (Random123) is keyed by a public seed, SHA-256 in counter mode by a secret. A
 * stream is a pure function of (seed or secret, purpose, trial, run). It has no state to lose, so
 * an interrupted study draws the same numbers as an undisturbed one. */
#ifndef DP_RNG_H
#define DP_RNG_H
#include "base/base.h"

/* Studies reproduce only if these numbers stay: never change or reuse one. */
enum dp_rng_purpose {
	DP_RNG_RUN_SEED = 1, /* the trainer's seed of one run */
	DP_RNG_SAMPLE = 2,   /* parameters: random search and initial designs */
	DP_RNG_PROPOSE = 3,  /* the proposer's own choices */
	DP_RNG_TRAIN = 4,    /* a built-in trainer: its data order and noise */
	DP_RNG_RELEASE = 5,  /* secret: noise of a noisy release */
	DP_RNG_SELECT = 6,   /* secret: number of runs of a private selection */
	DP_RNG_TEST = 100,
};

struct dp_rng {
	uint32_t key[8]; /* of a seed: the first two */
	uint32_t counter[4], block[4];
	unsigned used; /* words of block already output */
	bool secret;
};

void dp_rng_init(struct dp_rng *r, uint64_t seed, enum dp_rng_purpose purpose, uint32_t trial,
		 uint32_t run);
/* The same from a secret (base/secret.h). Without it, the stream cannot be distinguished from
 * random bits, even if other streams are known. Slower. */
void dp_rng_init_secret(struct dp_rng *r, const char *secret, enum dp_rng_purpose purpose,
			uint32_t trial, uint32_t run);
/* The same from a secret and a seed. */
void dp_rng_init_secret_seed(struct dp_rng *r, const char *secret, uint64_t seed,
			     enum dp_rng_purpose purpose, uint32_t trial, uint32_t run);
uint32_t dp_rng_u32(struct dp_rng *r);
uint64_t dp_rng_u64(struct dp_rng *r);
/* Uniform on the open interval (0, 1) with 53 bits: log(x) and log(1 - x) are finite. */
double dp_rng_uniform(struct dp_rng *r);
/* Uniform on 0..n-1, exactly; n > 0. */
uint64_t dp_rng_below(struct dp_rng *r, uint64_t n);
double dp_rng_normal(struct dp_rng *r);      /* mean 0, sd 1 */
double dp_rng_exponential(struct dp_rng *r); /* rate 1 */
double dp_rng_laplace(struct dp_rng *r);     /* scale 1 */

/* The seed of one run of one trial, in 0..2^53-1: the same in every retry and in both
 * runs_per_process modes. Studies use dp_study_run_seed(), which may add a secret. */
uint64_t dp_run_seed(uint64_t study_seed, uint32_t trial, uint32_t run);

#endif
