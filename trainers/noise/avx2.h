/* avx2.h - what kernel.h asks of a path, by AVX2 and FMA. */
INLINE vf fused(vf a, vf b, vf c)
{
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

INLINE vf root(vf x)
{
	return (vf)_mm256_sqrt_ps((__m256)x);
}

INLINE vf choose(vi mask, vf a, vf b)
{
	return (vf)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
}

INLINE bool any(vi mask)
{
	return _mm256_movemask_ps((__m256)mask) != 0;
}
