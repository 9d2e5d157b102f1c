/* sobol_sequence.c - generates scrambled Sobol' points for initial designs and quasi-random sums.
 *
 * Sobol' (1967) with the direction numbers of Joe & Kuo (2008) for the first 21 coordinates and odd
 * numbers drawn once for the rest. The scrambling is a hash in which each bit depends on higher
 * bits only (Laine & Karras 2011), which is Owen's nested scrambling: every prefix of 2^k points
 * stays evenly spread. */
#include "optimize/propose/proposer_internal.h"
#include "study/seeds.h"

enum {
	DEGREE_MAX = 9,
	BITS = 32
};

/* Coordinates 1 to 63: degree of a primitive polynomial, its inner coefficients, and the first
 * direction numbers. Coordinate 0 is the radical inverse. */
static const struct {
	unsigned char degree;
	unsigned short inner;
	unsigned short m[DEGREE_MAX];
} directions[] = {
	/* clang-format off */
	{ 1, 0, { 1 } },
	{ 2, 1, { 1, 3 } },
	{ 3, 1, { 1, 3, 1 } },
	{ 3, 2, { 1, 1, 1 } },
	{ 4, 1, { 1, 1, 3, 3 } },
	{ 4, 4, { 1, 3, 5, 13 } },
	{ 5, 2, { 1, 1, 5, 5, 17 } },
	{ 5, 4, { 1, 1, 5, 5, 5 } },
	{ 5, 7, { 1, 1, 7, 11, 19 } },
	{ 5, 11, { 1, 1, 5, 1, 1 } },
	{ 5, 13, { 1, 1, 1, 3, 11 } },
	{ 5, 14, { 1, 3, 5, 5, 31 } },
	{ 6, 1, { 1, 3, 3, 9, 7, 49 } },
	{ 6, 13, { 1, 1, 1, 15, 21, 21 } },
	{ 6, 16, { 1, 3, 1, 13, 27, 49 } },
	{ 6, 19, { 1, 1, 1, 15, 7, 5 } },
	{ 6, 22, { 1, 3, 1, 15, 13, 25 } },
	{ 6, 25, { 1, 1, 5, 5, 19, 61 } },
	{ 7, 1, { 1, 3, 7, 11, 23, 15, 103 } },
	{ 7, 4, { 1, 3, 7, 13, 13, 15, 69 } },
	{ 7, 7, { 1, 3, 7, 15, 23, 53, 41 } },
	{ 7, 8, { 1, 3, 3, 7, 27, 27, 39 } },
	{ 7, 14, { 1, 3, 1, 5, 31, 61, 11 } },
	{ 7, 19, { 1, 1, 5, 7, 7, 11, 67 } },
	{ 7, 21, { 1, 1, 5, 15, 15, 39, 117 } },
	{ 7, 28, { 1, 1, 3, 7, 19, 37, 33 } },
	{ 7, 31, { 1, 3, 5, 5, 29, 45, 25 } },
	{ 7, 32, { 1, 1, 3, 1, 7, 17, 15 } },
	{ 7, 37, { 1, 1, 7, 3, 27, 29, 125 } },
	{ 7, 41, { 1, 3, 1, 7, 21, 45, 7 } },
	{ 7, 42, { 1, 3, 7, 9, 5, 41, 29 } },
	{ 7, 50, { 1, 3, 5, 7, 1, 51, 31 } },
	{ 7, 55, { 1, 3, 7, 11, 5, 17, 105 } },
	{ 7, 56, { 1, 1, 7, 5, 25, 3, 17 } },
	{ 7, 59, { 1, 1, 5, 15, 17, 21, 109 } },
	{ 7, 62, { 1, 1, 7, 11, 5, 31, 113 } },
	{ 8, 14, { 1, 3, 3, 13, 25, 61, 57, 71 } },
	{ 8, 21, { 1, 1, 7, 13, 31, 51, 77, 37 } },
	{ 8, 22, { 1, 3, 5, 11, 13, 19, 113, 227 } },
	{ 8, 38, { 1, 3, 5, 11, 31, 37, 117, 187 } },
	{ 8, 47, { 1, 3, 7, 13, 5, 31, 83, 193 } },
	{ 8, 49, { 1, 3, 5, 15, 21, 3, 35, 29 } },
	{ 8, 50, { 1, 1, 7, 5, 15, 43, 115, 71 } },
	{ 8, 52, { 1, 3, 7, 7, 21, 33, 9, 223 } },
	{ 8, 56, { 1, 3, 1, 7, 27, 23, 123, 209 } },
	{ 8, 67, { 1, 1, 5, 5, 7, 35, 5, 233 } },
	{ 8, 70, { 1, 3, 1, 5, 1, 29, 35, 129 } },
	{ 8, 84, { 1, 3, 5, 3, 27, 27, 61, 233 } },
	{ 8, 97, { 1, 3, 7, 15, 17, 21, 13, 159 } },
	{ 8, 103, { 1, 3, 1, 9, 25, 51, 5, 231 } },
	{ 8, 115, { 1, 3, 7, 3, 11, 45, 109, 147 } },
	{ 8, 122, { 1, 3, 5, 1, 5, 35, 99, 171 } },
	{ 9, 8, { 1, 3, 3, 1, 7, 37, 107, 1, 229 } },
	{ 9, 13, { 1, 3, 5, 1, 11, 49, 23, 21, 185 } },
	{ 9, 16, { 1, 1, 5, 1, 3, 25, 87, 171, 431 } },
	{ 9, 22, { 1, 3, 3, 11, 17, 49, 121, 41, 201 } },
	{ 9, 25, { 1, 1, 1, 1, 15, 57, 111, 243, 469 } },
	{ 9, 44, { 1, 3, 1, 13, 5, 47, 25, 131, 239 } },
	{ 9, 47, { 1, 1, 5, 11, 15, 63, 17, 185, 505 } },
	{ 9, 52, { 1, 3, 1, 7, 21, 57, 107, 203, 407 } },
	{ 9, 55, { 1, 1, 1, 13, 27, 23, 51, 165, 331 } },
	{ 9, 59, { 1, 1, 3, 1, 7, 21, 113, 61, 7 } },
	{ 9, 62, { 1, 3, 7, 15, 1, 55, 33, 199, 395 } },
	/* clang-format on */
};

static uint32_t sobol_bits(uint32_t index, unsigned dim)
{
	uint32_t v[BITS], x = 0;
	unsigned s = dim ? directions[dim - 1].degree : 0;

	for (unsigned i = 0; i < BITS; i++) {
		if (dim == 0) {
			v[i] = (uint32_t)1 << (BITS - 1 - i);
		} else if (i < s) {
			v[i] = (uint32_t)directions[dim - 1].m[i] << (BITS - 1 - i);
		} else {
			v[i] = v[i - s] ^ (v[i - s] >> s);
			for (unsigned k = 1; k < s; k++)
				if (directions[dim - 1].inner >> (s - 1 - k) & 1)
					v[i] ^= v[i - k];
		}
		if (index >> i & 1)
			x ^= v[i];
	}
	return x;
}

static uint32_t reverse_bits(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}

static double sobol_draw_scrambled(struct dp_rng *r, uint32_t index, unsigned dim)
{
	uint32_t x = reverse_bits(sobol_bits(index, dim));

	/* with the bits reversed, each step lets a bit depend only on those below it */
	x += dp_rng_u32(r);
	x ^= x * 0x6c50b47cu;
	x ^= x * 0xb82f1e52u;
	x ^= x * 0xc7afe638u;
	x ^= x * 0x8d22f6e6u;
	return (reverse_bits(x) + 0.5) * 0x1p-32;
}

double dp__sobol_coordinate(uint64_t seed, uint32_t index, unsigned dim)
{
	struct dp_rng r;

	dp_rng_init(&r, seed, DP_RNG_SAMPLE, UINT32_MAX, dim);
	return sobol_draw_scrambled(&r, index, dim);
}

double dp__sobol_study_coordinate(const struct dp_study *study, uint32_t index, unsigned dim)
{
	struct dp_rng r;

	dp_study_rng_init(study, DP_RNG_SAMPLE, UINT32_MAX, dim, &r);
	return sobol_draw_scrambled(&r, index, dim);
}
