/* backend_aesni.c - noise backend with AES-NI and AVX2. */
#include "trainers/noise/noise_internal.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma,aes")))
#define LANES  8
#include "trainers/noise/vector_types.h"
#include "trainers/noise/aes_x86.h"
#include "trainers/noise/vector_avx2.h"

enum {
	PARALLEL_BLOCKS = 8 /* as many as the registers hold */
};

/* Blocks i, i + 1... of the batch. */
INLINE void cipher_aesni_blocks(const struct noise_stream *n, __m128i first, int i,
				vi word[PARALLEL_BLOCKS / 2])
{
	__m128i key, s[PARALLEL_BLOCKS];

	FOR_ALL(k, PARALLEL_BLOCKS, s[k] = first ^ _mm_set_epi64x(block_counter_offset(i + k), 0));
	UNROLL
	for (int round = 1; round < 10; round++) {
		key = load_round_key(n, round);
		FOR_ALL(k, PARALLEL_BLOCKS, s[k] = _mm_aesenc_si128(s[k], key));
	}
	key = load_round_key(n, 10);
	FOR_ALL(k, PARALLEL_BLOCKS, s[k] = _mm_aesenclast_si128(s[k], key));
	FOR_ALL(k, PARALLEL_BLOCKS / 2, word[k] = (vi)_mm256_set_m128i(s[2 * k + 1], s[2 * k]));
}

INLINE void cipher_aesni(const struct noise_stream *n, uint64_t stream, uint64_t counter,
			 vi word[VECTORS])
{
	__m128i first = counter_block(stream, counter) ^ load_round_key(n, 0);

	cipher_aesni_blocks(n, first, 0, word);
	cipher_aesni_blocks(n, first, PARALLEL_BLOCKS, word + PARALLEL_BLOCKS / 2);
}

#define cipher cipher_aesni
#include "trainers/noise/box_muller.h"

static bool aesni_usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("aes");
}

const struct noise_backend dp__path_aesni = NOISE_BACKEND_INIT("aesni", aesni_usable);
#endif
