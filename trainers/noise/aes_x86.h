/* aes_x86.h - helpers shared by the backends with AES instructions. */
#include <immintrin.h>

/* The counter block of the first block of a batch. */
INLINE __m128i counter_block(uint64_t stream, uint64_t counter)
{
	return _mm_set_epi64x((long long)__builtin_bswap64(counter),
			      (long long)__builtin_bswap64(stream));
}

/* Added to the upper word of the first counter block to get that of block i. */
INLINE long long block_counter_offset(int i)
{
	return (long long)i << 56;
}

INLINE __m128i load_round_key(const struct noise_stream *n, int round)
{
	return _mm_loadu_si128((const __m128i *)n->round_key[round]);
}
