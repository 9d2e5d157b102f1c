/* vector_avx2.h - the vector operations that box_muller.h needs, with AVX2 and FMA. */
INLINE vf fused_avx2(vf a, vf b, vf c)
{
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

INLINE vf root_avx2(vf x)
{
	return (vf)_mm256_sqrt_ps((__m256)x);
}

INLINE vf choose_avx2(vi mask, vf a, vf b)
{
	return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
}

INLINE bool any_avx2(vi mask)
{
	return _mm256_movemask_ps((__m256)mask) != 0;
}

#define fused  fused_avx2
#define root   root_avx2
#define choose choose_avx2
#define any    any_avx2
