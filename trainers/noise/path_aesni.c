/* path_aesni.c - noise by AES-NI and AVX2. */
#include "trainers/noise/noise_internal.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma,aes")))
#define LANES  8
#include "trainers/noise/vectors.h"
#include "trainers/noise/x86.h"
#include "trainers/noise/avx2.h"

enum {
	TOGETHER = 8 /* blocks: the registers hold no more */
};

/* Blocks i, i + 1... of the batch. */
INLINE void cipher_some(const struct noise *n, __m128i first, int i, vi word[TOGETHER / 2])
{
	__m128i key, s[TOGETHER];

	FOR_ALL(k, TOGETHER, s[k] = first ^ _mm_set_epi64x(block_number(i + k), 0));
	UNROLL
	for (int round = 1; round < 10; round++) {
		key = round_key(n, round);
		FOR_ALL(k, TOGETHER, s[k] = _mm_aesenc_si128(s[k], key));
	}
	key = round_key(n, 10);
	FOR_ALL(k, TOGETHER, s[k] = _mm_aesenclast_si128(s[k], key));
	FOR_ALL(k, TOGETHER / 2, word[k] = (vi)_mm256_set_m128i(s[2 * k + 1], s[2 * k]));
}

INLINE void cipher_aesni(const struct noise *n, uint64_t stream, uint64_t counter, vi word[VECTORS])
{
	__m128i first = first_block(stream, counter) ^ round_key(n, 0);

	cipher_some(n, first, 0, word);
	cipher_some(n, first, TOGETHER, word + TOGETHER / 2);
}

#define cipher cipher_aesni
#include "trainers/noise/kernel.h"

static bool aesni_usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("aes");
}

const struct dp__noise_path dp__path_aesni = PATH("aesni", aesni_usable);
#endif
