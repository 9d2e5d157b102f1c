/* seeds.h - derives run seeds and random streams from a study's seed and secret. */
#ifndef DP_STUDY_SEEDS_H
#define DP_STUDY_SEEDS_H
#include "base/rng.h"
#include "study/study.h"

/* A random stream of the study, from its seed and, with secret seeds, its secret. */
void dp_study_rng_init(const struct dp_study *s, enum dp_rng_purpose purpose, uint32_t trial,
		       uint32_t run, struct dp_rng *r);
/* The trainer's seed for one run, in 0..2^53-1. The same in every retry. */
uint64_t dp_study_run_seed(const struct dp_study *s, uint32_t trial, uint32_t run);
/* The study's mode, or the one it gets at submit: never DP_SEEDS_DEFAULT. */
enum dp_seed_mode dp_study_seed_mode(const struct dp_study *s);
const char *dp_seed_mode_text(enum dp_seed_mode seeds); /* not for the default */
/* True if seeds are fixed and data is private: the seed then reveals the noise of every run. */
bool dp_study_noise_exposed(const struct dp_study *s);
/* The warning in status, reports and statements for that case, else NULL. */
const char *dp_study_seeds_warning(const struct dp_study *s);

#endif
