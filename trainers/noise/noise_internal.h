/* noise_internal.h - what the paths share: the shape of a batch, AES in plain C, and
 * the table of kernels that a path fills. */
#ifndef DP_NOISE_INTERNAL_H
#define DP_NOISE_INTERNAL_H
#include "trainers/noise/noise.h"

/* Everything is made in batches of 16 blocks, so that the counter of a batch's first
 * block is a multiple of 16 and the number of a block in its batch only touches the
 * last byte of the counter block. */
enum {
	DP__BATCH_BLOCKS = 16,
	DP__BATCH = 64, /* words of a batch, and normals from it */
	DP__PAIRS = DP__BATCH / 2,
};

/* The stream that holds the further bits of `stream`, see kernel.h. */
#define DP__FURTHER(stream) ((stream) ^ UINT64_C(1) << 63)

/* Makes whole batches of a stream from its counter on, which it leaves alone. */
typedef void dp__fill_fn(const struct noise *n, void *out, size_t batches);

/* How one kind of machine does it. */
struct dp__noise_path {
	const char *name;
	bool (*usable)(void);
	dp__fill_fn *words;   /* uint32_t */
	dp__fill_fn *normals; /* float */
	void (*add)(const struct noise *n, float scale, float *w, size_t batches);
	/* For tests: the normals of given words and further words. */
	void (*transform)(const uint32_t word[DP__BATCH], const uint32_t further[DP__BATCH],
			  float z[DP__BATCH]);
};

extern const struct dp__noise_path dp__path_portable;
#ifdef __x86_64__
extern const struct dp__noise_path dp__path_aesni;
extern const struct dp__noise_path dp__path_vaes256;
extern const struct dp__noise_path dp__path_vaes512;
bool dp__cpu_has_vaes(void);
#endif

/* The path in use; chosen at the first call. */
const struct dp__noise_path *dp__noise_path(void);
/* The path of that name if this machine can run it, else NULL. */
const struct dp__noise_path *dp__noise_path_named(const char *name);

/* AES-128 (FIPS-197). */
void dp__aes_expand(uint8_t round_key[11][16], const uint8_t key[16]);
void dp__aes_encrypt(const uint8_t round_key[11][16], const uint8_t in[16], uint8_t out[16]);
/* Four bytes, the least significant first. */
uint32_t dp__aes_word(const uint8_t p[4]);
/* The bytes of `high` and `low`, most significant first. */
void dp__aes_block_of(uint64_t high, uint64_t low, uint8_t block[16]);

#endif
