/* rng.h - counter-based random streams: Philox4x32-10 from Random123, keyed by a seed
 * that anybody may know, or SHA-256 in counter mode, keyed by a secret.
 *
 * A stream is a pure function of (seed or secret, purpose, trial, run): it has no state
 * that could be lost, so an interrupted study draws what an undisturbed one would. */
#ifndef DP_RNG_H
#define DP_RNG_H
#include "base/base.h"

/* What a stream is for. The numbers are part of what makes a study repeat: never
 * change or reuse one. */
enum dp_rng_purpose {
	DP_RNG_RUN_SEED = 1, /* the seed handed to a trainer for one run */
	DP_RNG_SAMPLE = 2,   /* random search and initial designs: parameters */
	DP_RNG_PROPOSE = 3,  /* the proposer's own choices */
	DP_RNG_TRAIN = 4,    /* a built-in trainer: its data order and noise */
	DP_RNG_RELEASE = 5,  /* secret: the noise on what a study releases */
	DP_RNG_SELECT = 6,   /* secret: how many trainings a private selection makes */
	DP_RNG_TEST = 100,
};

struct dp_rng {
	uint32_t key[8]; /* of a seed: the first two */
	uint32_t counter[4], block[4];
	unsigned used; /* words of block already handed out */
	bool secret;
};

void dp_rng_init(struct dp_rng *r, uint64_t seed, enum dp_rng_purpose purpose, uint32_t trial,
		 uint32_t run);
/* The same from a secret of base/secret.h: nobody who lacks it can tell the stream from
 * chance, however much else of it, or of other streams, is known. Slower. */
void dp_rng_init_secret(struct dp_rng *r, const char *secret, enum dp_rng_purpose purpose,
			uint32_t trial, uint32_t run);
/* The same from a secret and a seed together. */
void dp_rng_init_secret_seed(struct dp_rng *r, const char *secret, uint64_t seed,
			     enum dp_rng_purpose purpose, uint32_t trial, uint32_t run);
uint32_t dp_rng_u32(struct dp_rng *r);
uint64_t dp_rng_u64(struct dp_rng *r);
/* Uniform on the open interval (0, 1), 53 bits; never 0 and never 1, so that a
 * logarithm of it or of one minus it is finite. */
double dp_rng_uniform(struct dp_rng *r);
/* Uniform on 0..n-1, exactly; n > 0. */
uint64_t dp_rng_below(struct dp_rng *r, uint64_t n);
double dp_rng_normal(struct dp_rng *r);      /* mean 0, sd 1 */
double dp_rng_exponential(struct dp_rng *r); /* rate 1 */
double dp_rng_laplace(struct dp_rng *r);     /* scale 1 */

/* The seed of one run of one trial, in 0..2^53-1 (contract: the same in every
 * retry and in both runs_per_process modes), where the study's seed is all there is:
 * dp_study_run_seed() is for studies. */
uint64_t dp_run_seed(uint64_t study_seed, uint32_t trial, uint32_t run);

#endif
