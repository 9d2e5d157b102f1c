/* linear_bitmask.c - linear kernel for short binary rows, by bit masks.
 *
 * With 128 weights, as for Adult, a row including its bias is 128 bits, and the weights fill eight
 * AVX-512 registers: a row selects among them by eight masks of 16 bits. That takes 8 masked
 * additions instead of some 15 look-ups. */
#include "trainers/learn/linear_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
	LANES = 16,
	REGISTERS = 8,
	WEIGHTS = LANES * REGISTERS
};

struct linear_bitmask {
	_Alignas(16) uint16_t mask[REGISTERS];
};

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

static void bitmask_prefetch(const struct linear_kernel_rows *r, const uint32_t *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch(&r->bitmask[ids[i]]);
}

AVX512 static void bitmask_margins(const struct linear_kernel_rows *r, const float *w,
				   const uint32_t *ids, uint32_t n, float *margin)
{
	__m512 weight[REGISTERS];

	UNROLL
	for (int k = 0; k < REGISTERS; k++)
		weight[k] = _mm512_loadu_ps(w + k * LANES);
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *mask = r->bitmask[ids[i]].mask;
		__m512 even = _mm512_maskz_mov_ps(mask[0], weight[0]);
		__m512 odd = _mm512_maskz_mov_ps(mask[1], weight[1]);

		UNROLL
		for (int k = 2; k < REGISTERS; k += 2) {
			even = _mm512_mask_add_ps(even, mask[k], even, weight[k]);
			odd = _mm512_mask_add_ps(odd, mask[k + 1], odd, weight[k + 1]);
		}
		margin[i] = _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
	}
}

AVX512 static void bitmask_add_gradient(const struct linear_kernel_rows *r, const float *slope,
					const uint32_t *ids, uint32_t n, float *g)
{
	__m512 sum[REGISTERS];

	UNROLL
	for (int k = 0; k < REGISTERS; k++)
		sum[k] = _mm512_loadu_ps(g + k * LANES);
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t *mask = r->bitmask[ids[i]].mask;
		__m512 s = _mm512_set1_ps(slope[i]);

		UNROLL
		for (int k = 0; k < REGISTERS; k++)
			sum[k] = _mm512_mask_add_ps(sum[k], mask[k], sum[k], s);
	}
	UNROLL
	for (int k = 0; k < REGISTERS; k++)
		_mm512_storeu_ps(g + k * LANES, sum[k]);
}

struct linear_bitmask *linear_bitmask_new(const struct sparse_rows *rows)
{
	struct linear_bitmask *bits;

	if (rows->value || linear_count_weights(rows->nfeatures) != WEIGHTS ||
	    !__builtin_cpu_supports("avx512f"))
		return NULL;
	bits = dp_malloc(rows->n * sizeof *bits);
	for (uint32_t i = 0; i < rows->n; i++) {
		uint64_t end = rows->start[i + 1], half[2] = { 0, 0 };
		unsigned index = rows->nfeatures;

		/* without branches or stores per entry, since every run does this */
		for (uint64_t k = rows->start[i];; k++) {
			half[0] |= (uint64_t)(index < 64) << index % 64;
			half[1] |= (uint64_t)(index >= 64) << index % 64;
			if (k == end)
				break;
			index = rows->index[k];
		}
		memcpy(bits[i].mask, half, sizeof half); /* little-endian */
	}
	return bits;
}

const struct linear_kernel linear_kernel_bitmask = { "bits", bitmask_prefetch, bitmask_margins,
						     bitmask_add_gradient };
#else
struct linear_bitmask *linear_bitmask_new(const struct sparse_rows *rows)
{
	(void)rows;
	return NULL;
}

const struct linear_kernel linear_kernel_bitmask = { "bits", NULL, NULL, NULL };
#endif
