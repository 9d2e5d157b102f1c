/* backend_vaes512.c - noise backend with VAES, four blocks per register, and AVX-512. */
#include "trainers/noise/noise_internal.h"

#ifdef __x86_64__
#define TARGET __attribute__((target("avx512f,vaes")))
#define LANES  16
#include "trainers/noise/vector_types.h"
#include "trainers/noise/aes_x86.h"

INLINE vf fused_avx512(vf a, vf b, vf c)
{
	return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

INLINE vf root_avx512(vf x)
{
	return (vf)_mm512_sqrt_ps((__m512)x);
}

INLINE vf choose_avx512(vi mask, vf a, vf b)
{
	return (vf)_mm512_ternarylogic_epi32((__m512i)mask, (__m512i)a, (__m512i)b, 0xca);
}

INLINE bool any_avx512(vi mask)
{
	return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
}

#define fused  fused_avx512
#define root   root_avx512
#define choose choose_avx512
#define any    any_avx512

typedef __m512i wide;
#define spread       _mm512_broadcast_i32x4
#define encrypt      _mm512_aesenc_epi128
#define numbers      numbers_512
#define encrypt_last _mm512_aesenclast_epi128

INLINE wide numbers_512(int i)
{
	return _mm512_set_epi64(block_counter_offset(i + 3), 0, block_counter_offset(i + 2), 0,
				block_counter_offset(i + 1), 0, block_counter_offset(i), 0);
}

#include "trainers/noise/keystream_vaes.h"
#include "trainers/noise/box_muller.h"

static bool vaes512_usable(void)
{
	return __builtin_cpu_supports("avx512f") && cpu_has_vaes();
}

const struct noise_backend dp__path_vaes512 = NOISE_BACKEND_INIT("vaes512", vaes512_usable);
#endif
