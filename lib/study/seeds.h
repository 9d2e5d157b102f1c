/* seeds.h - what run seeds and drawn settings of a study follow from. */
#ifndef DP_STUDY_SEEDS_H
#define DP_STUDY_SEEDS_H
#include "base/rng.h"
#include "study/study.h"

/* A stream of the study: of its seed and, where its seeds are secret, of its secret. */
void dp_study_rng_init(const struct dp_study *s, enum dp_rng_purpose purpose, uint32_t trial,
		       uint32_t run, struct dp_rng *r);
/* The seed that the trainer gets for one run, in 0..2^53-1: the same in every retry. */
uint64_t dp_study_run_seed(const struct dp_study *s, uint32_t trial, uint32_t run);
/* The mode that the study has, or gets when it is submitted: never DP_SEEDS_DEFAULT. */
enum dp_seed_mode dp_study_seed_mode(const struct dp_study *s);
const char *dp_seed_mode_text(enum dp_seed_mode seeds); /* of the mode; not of the default */
/* Are the seeds fixed and the data private? A reader who knows the seed can then compute
 * the noise of every run. */
bool dp_study_noise_exposed(const struct dp_study *s);
/* The sentences that status, reports and statements then have; else NULL. */
const char *dp_study_seeds_warning(const struct dp_study *s);

#endif
