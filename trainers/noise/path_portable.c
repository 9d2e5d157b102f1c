/* path_portable.c - noise in plain C, for any machine. */
#include "trainers/noise/noise_internal.h"

#include <math.h>

#define TARGET
#define LANES 4
#include "trainers/noise/vectors.h"

static void cipher(const struct noise *n, uint64_t stream, uint64_t counter,
		   vi word[VECTORS])
{
	uint8_t block[16];

	for (unsigned i = 0; i < DP__BATCH_BLOCKS; i++) {
		dp__aes_block_of(stream, counter + i, block);
		dp__aes_encrypt(n->round_key, block, block);
		for (int j = 0; j < 4; j++)
			word[i][j] = (int32_t)dp__aes_word(block + 4 * j);
	}
}

INLINE vf fused(vf a, vf b, vf c)
{
	return a * b + c;
}

INLINE vf root(vf x)
{
	for (int j = 0; j < LANES; j++)
		x[j] = sqrtf(x[j]);
	return x;
}

INLINE vf choose(vi mask, vf a, vf b)
{
	return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

INLINE bool any(vi mask)
{
	return mask[0] | mask[1] | mask[2] | mask[3];
}

#include "trainers/noise/kernel.h"

static bool usable(void)
{
	return true;
}

const struct dp__noise_path dp__path_portable = PATH("portable", usable);
