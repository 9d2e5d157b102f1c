/* synthetic_census.c - generates synthetic data like Adult.
 *
 * It lets trainers run without a download. A record has 123 binary features in 14 groups, one 1 per
 * group as in Adult, and a label that a linear model can learn. It uses integers only, so that the
 * records are the same on all machines. */
#include "base/rng.h"
#include "trainers/data/dataset_internal.h"

#include <stdlib.h>

enum {
	GROUP_MAX = 41,
	TRAITS = 2,   /* hidden properties of a record that several groups reflect */
	NO_TRAIT = 0, /* of a group that reflects no trait */
	DRAW_BITS = 12,
	DRAW_MASK = (1 << DRAW_BITS) - 1,
};
/* The records depend on both: never change them. */
static const uint64_t seed = 0x43454e535553;
static const int32_t cutoff = -2310; /* labels above it are 1: 24 % of them */

/* Frequencies of categories fall by a factor of ratio/256 from one to the next. A record's category
 * follows its trait with probability follows/16. A category's effect on the score rises by `slope`
 * from one to the next, from -slope * size / 2, plus at most +-spread. */
static const struct census_group {
	uint16_t size, ratio;
	uint8_t trait, follows;
	int16_t slope, spread;
} groups[CENSUS_GROUPS] = {
	{ 5, 230, 0, 8, 330, 60 },      { 8, 100, NO_TRAIT, 0, 0, 260 },
	{ 5, 250, NO_TRAIT, 0, 0, 20 }, { 16, 190, 1, 9, 70, 120 },
	{ 5, 225, 1, 12, 260, 60 },     { 7, 150, 0, 11, 180, 120 },
	{ 14, 220, 1, 7, 60, 220 },     { 6, 165, 0, 12, 200, 100 },
	{ 5, 45, NO_TRAIT, 0, 0, 140 }, { 2, 130, 0, 6, 120, 0 },
	{ 2, 24, 1, 4, 900, 0 },        { 2, 13, 1, 3, 500, 0 },
	{ 5, 180, 0, 6, 150, 80 },      { 41, 120, NO_TRAIT, 0, 0, 160 },
};

/* Tables computed from `groups` and the first numbers of the stream. */
struct census_model {
	uint8_t category[CENSUS_GROUPS][1 << DRAW_BITS]; /* by draw */
	int32_t effect[CENSUS_GROUPS][GROUP_MAX];
};

/* Computes categories and effects of a group. */
static void census_init_group(const struct census_group *g, struct dp_rng *rng, uint8_t *category,
			      int32_t *effect)
{
	uint64_t sums[GROUP_MAX], total = 0, weight = 1 << 16;
	uint8_t c = 0;

	for (int i = 0; i < g->size; i++) {
		total += weight + 64; /* so that the rarest still occurs */
		sums[i] = total;
		weight = weight * g->ratio >> 8;
		effect[i] = g->slope * (2 * i - g->size) / 2 - g->spread +
			    (int32_t)dp_rng_below(rng, 2 * (uint64_t)g->spread + 1);
	}
	for (uint64_t draw = 0; draw < 1 << DRAW_BITS; draw++) {
		while (draw * total >= sums[c] << DRAW_BITS)
			c++;
		category[draw] = c;
	}
}

static void census_add_record(const struct census_model *m, struct dp_rng *rng,
			      struct dataset_builder *b)
{
	uint32_t bits = dp_rng_u32(rng), first = 0, noise = 0;
	uint32_t trait[TRAITS] = { bits >> DRAW_BITS & DRAW_MASK, bits & DRAW_MASK };
	int32_t score = 0;

	for (int g = 0; g < CENSUS_GROUPS; g++) {
		uint32_t draw;
		uint8_t c;

		/* 16 bits per group: 12 for the category, 4 to decide if it follows the trait */
		bits = g % 2 ? bits >> 16 : dp_rng_u32(rng);
		draw = bits & DRAW_MASK;
		if ((bits >> DRAW_BITS & 15) < groups[g].follows)
			draw = trait[groups[g].trait];
		c = m->category[g][draw];
		dataset_builder_add_entry(b, first + c, 1);
		score += m->effect[g][c];
		first += groups[g].size;
	}
	/* the sum of four is nearly normal */
	for (int i = 0; i < 2; i++) {
		bits = dp_rng_u32(rng);
		noise += (bits >> 16) + (bits & 0xffff);
	}
	score += (int32_t)(noise * 3 >> 7) - 3072;
	dataset_builder_end_row(b, score > cutoff);
}

static int census_build_dataset(const struct census_model *m, struct dp_rng *rng, uint32_t n,
				struct dataset *s, struct dp_err *err)
{
	static const char *const names[] = { "0", "1" };
	struct dataset_builder b = { 0 };
	uint8_t number;
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(names); i++)
		code = class_labels_intern(&s->classes, names[i], 1, &number, err);
	for (uint32_t i = 0; i < n; i++)
		census_add_record(m, rng, &b);
	if (code == DP_OK)
		code = dataset_builder_finish(&b, CENSUS_FEATURES, s, err);
	dataset_builder_free(&b);
	return code;
}

int census_generate(struct dataset *train, struct dataset *test, struct dp_err *err)
{
	struct census_model m;
	struct dp_rng rng;
	int code;

	dp_rng_init(&rng, seed, DP_RNG_TRAIN, 0, 0);
	for (int g = 0; g < CENSUS_GROUPS; g++)
		census_init_group(&groups[g], &rng, m.category[g], m.effect[g]);
	code = census_build_dataset(&m, &rng, CENSUS_TRAIN_RECORDS, train, err);
	return code == DP_OK ? census_build_dataset(&m, &rng, CENSUS_TEST_RECORDS, test, err)
			     : code;
}
