/* simd.h - marks loops for vector code without -ffast-math.
 *
 * DP_SIMD compiles a function for plain x86-64, AVX2 and AVX-512; the loader picks the machine's
 * own. Versions differ by rounding only, and one machine always computes the same bits.
 *
 * Put DP_SIMD_BEGIN and DP_SIMD_END around such functions and what they inline, nothing else. gcc
 * vectorises at -O3, and vectorises sqrt and conditions only if errno and floating-point exceptions
 * do not matter. Here they do not. No value depends on it: sums keep their order. */
#ifndef DP_SIMD_H
#define DP_SIMD_H
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#define DP_SIMD_BEGIN                                                                              \
	_Pragma("GCC push_options") _Pragma("GCC optimize(\"O3,no-math-errno,no-trapping-math\")")
#define DP_SIMD_END _Pragma("GCC pop_options")
#else
#define DP_SIMD_BEGIN
#define DP_SIMD_END
#endif
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define DP_SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DP_SIMD
#endif

DP_SIMD_BEGIN

/* exp(x): x = k log 2 + r, |r| <= log(2)/2, Taylor series to r^13. Adding 1.5 * 2^52 rounds to an
 * integer and leaves it in the low bits. */
static inline double dp__exp(double x)
{
	const double magic = 0x1.8p52;
	double a = x < -700 ? -700 : x;
	double kd = a * 1.4426950408889634 + magic, k = kd - magic, r, p, scale;
	uint64_t bits;

	r = (a - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
	p = 1.0 / 6227020800;
	p = p * r + 1.0 / 479001600;
	p = p * r + 1.0 / 39916800;
	p = p * r + 1.0 / 3628800;
	p = p * r + 1.0 / 362880;
	p = p * r + 1.0 / 40320;
	p = p * r + 1.0 / 5040;
	p = p * r + 1.0 / 720;
	p = p * r + 1.0 / 120;
	p = p * r + 1.0 / 24;
	p = p * r + 1.0 / 6;
	p = p * r + 0.5;
	p = p * r + 1;
	p = p * r + 1;
	memcpy(&bits, &kd, sizeof bits);
	bits = (bits << 52) + ((uint64_t)1023 << 52);
	memcpy(&scale, &bits, sizeof scale);
	return p * scale;
}

DP_SIMD_END

#endif
