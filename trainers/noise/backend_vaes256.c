/* backend_vaes256.c - noise backend with VAES, two blocks per register, and AVX2. */
#include "trainers/noise/noise_internal.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx2,fma,vaes")))
#define LANES  8
#include "trainers/noise/vector_types.h"
#include "trainers/noise/aes_x86.h"
#include "trainers/noise/vector_avx2.h"

typedef __m256i wide;
#define spread       _mm256_broadcastsi128_si256
#define encrypt      _mm256_aesenc_epi128
#define numbers      numbers_256
#define encrypt_last _mm256_aesenclast_epi128

INLINE wide numbers_256(int i)
{
	return _mm256_set_epi64x(block_counter_offset(i + 1), 0, block_counter_offset(i), 0);
}

#include "trainers/noise/keystream_vaes.h"
#include "trainers/noise/box_muller.h"

static bool vaes256_usable(void)
{
	return dp__path_aesni.is_usable() && cpu_has_vaes();
}

const struct noise_backend dp__path_vaes256 = NOISE_BACKEND_INIT("vaes256", vaes256_usable);
#endif
