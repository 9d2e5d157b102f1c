/* vector_types.h - vectors of LANES numbers by the compiler's vector extension.
 *
 * A backend includes it after it has defined LANES and TARGET, the attribute that enables the
 * instructions of the machine. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
/* Executes a statement for all values of a variable from 0 to count - 1, unrolled. */
#define FOR_ALL(variable, count, ...)                                                              \
	do {                                                                                       \
		UNROLL                                                                             \
		for (int variable = 0; variable < (count); variable++)                             \
			__VA_ARGS__;                                                               \
	} while (0)

#define INLINE TARGET __attribute__((always_inline)) static inline

enum {
	VECTORS = NOISE_BATCH_WORDS / LANES,
	RADII = VECTORS / 2
};

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));

INLINE vf vec_broadcast(float x)
{
	return (vf){ 0 } + x;
}
