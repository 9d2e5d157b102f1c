/* seeds.c - derives run seeds and random streams from a study's seed and secret. */
#include "study/parse/study_parse_internal.h"
#include "study/seeds.h"

enum dp_seed_mode dp_study_seed_mode(const struct dp_study *s)
{
	if (s->seeds != DP_SEEDS_DEFAULT)
		return s->seeds;
	if (s->search.method == DP_METHOD_SELECT) /* required by its theorems */
		return DP_SEEDS_SECRET;
	return s->public_data ? DP_SEEDS_FIXED : DP_SEEDS_SECRET;
}

bool dp_study_noise_exposed(const struct dp_study *s)
{
	return dp_study_seed_mode(s) == DP_SEEDS_FIXED && !s->public_data;
}

const char *dp_study_seeds_warning(const struct dp_study *s)
{
	return dp_study_noise_exposed(s)
		       ? "Seeds are fixed on private data. A reader who knows or guesses "
			 "the study's seed can compute the noise of every run, and other "
			 "studies with this seed use the same noise: then no epsilon "
			 "holds."
		       : NULL;
}

void dp_study_rng_init(const struct dp_study *s, enum dp_rng_purpose purpose, uint32_t trial,
		       uint32_t run, struct dp_rng *r)
{
	if (s->secret && s->seeds == DP_SEEDS_SECRET)
		dp_rng_init_secret_seed(r, s->secret, s->seed, purpose, trial, run);
	else
		dp_rng_init(r, s->seed, purpose, trial, run);
}

uint64_t dp_study_run_seed(const struct dp_study *s, uint32_t trial, uint32_t run)
{
	struct dp_rng r;

	dp_study_rng_init(s, DP_RNG_RUN_SEED, trial, run, &r);
	return dp_rng_u64(&r) >> 11;
}

void dp__check_seeds(struct dp__study_parser *r, const struct dp__node *top)
{
	const struct dp__node *seeds = dp__map_get(top, "seeds");
	const char *warning = dp_study_seeds_warning(r->study);

	if (seeds && warning && r->study->search.method != DP_METHOD_SELECT)
		dp__report_warning(r, seeds->pos, NULL, "%s", warning);
}
