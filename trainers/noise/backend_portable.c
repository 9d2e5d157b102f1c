/* backend_portable.c - noise backend in plain C, for any machine. */
#include "trainers/noise/noise_internal.h"

#include <math.h>

#define TARGET
#define LANES 4
#include "trainers/noise/vector_types.h"

static void cipher_portable(const struct noise_stream *n, uint64_t stream, uint64_t counter,
			    vi word[VECTORS])
{
	uint8_t block[16];

	for (unsigned i = 0; i < NOISE_BATCH_BLOCKS; i++) {
		aes128_make_block(stream, counter + i, block);
		aes128_encrypt_block(n->round_key, block, block);
		for (int j = 0; j < 4; j++)
			word[i][j] = (int32_t)aes128_load_word(block + 4 * j);
	}
}

INLINE vf fused_portable(vf a, vf b, vf c)
{
	return a * b + c;
}

INLINE vf root_portable(vf x)
{
	for (int j = 0; j < LANES; j++)
		x[j] = sqrtf(x[j]);
	return x;
}

INLINE vf choose_portable(vi mask, vf a, vf b)
{
	return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

INLINE bool any_portable(vi mask)
{
	return mask[0] | mask[1] | mask[2] | mask[3];
}

#define cipher cipher_portable
#define fused  fused_portable
#define root   root_portable
#define choose choose_portable
#define any    any_portable
#include "trainers/noise/box_muller.h"

static bool portable_usable(void)
{
	return true;
}

const struct noise_backend dp__path_portable = NOISE_BACKEND_INIT("portable", portable_usable);
