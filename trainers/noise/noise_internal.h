/* noise_internal.h - what the paths share: the shape of a batch, AES in plain C, and the table of
 * kernels that a path fills. */
#ifndef DP_NOISE_INTERNAL_H
#define DP_NOISE_INTERNAL_H
#include "trainers/noise/noise.h"

/* Everything is made in batches of 16 blocks, so that the counter of a batch's first block is a
 * multiple of 16 and the number of a block in its batch only touches the last byte of the counter
 * block. */
enum {
	NOISE_BATCH_BLOCKS = 16,
	NOISE_BATCH_WORDS = 64, /* words of a batch, and normals from it */
	NOISE_BATCH_PAIRS = NOISE_BATCH_WORDS / 2,
};

/* The stream that holds the further bits of `stream`, see box_muller.h. */
#define NOISE_EXTRA_STREAM(stream) ((stream) ^ UINT64_C(1) << 63)

/* Makes whole batches of a stream from its counter on, which it leaves alone. */
typedef void noise_fill_fn(const struct noise_stream *n, void *out, size_t batches);

/* How one kind of machine does it. */
struct noise_backend {
	const char *name;
	bool (*is_usable)(void);
	noise_fill_fn *fill_words;   /* uint32_t */
	noise_fill_fn *fill_normals; /* float */
	void (*add_normals)(const struct noise_stream *n, float scale, float *w, size_t batches);
	/* For tests: the normals of given words and further words. */
	void (*transform)(const uint32_t word[NOISE_BATCH_WORDS],
			  const uint32_t further[NOISE_BATCH_WORDS], float z[NOISE_BATCH_WORDS]);
};

extern const struct noise_backend dp__path_portable;
#ifdef __x86_64__
extern const struct noise_backend dp__path_aesni;
extern const struct noise_backend dp__path_vaes256;
extern const struct noise_backend dp__path_vaes512;
bool cpu_has_vaes(void);
#endif

/* The path in use; chosen at the first call. */
const struct noise_backend *noise_backend_get(void);
/* The path of that name if this machine can run it, else NULL. */
const struct noise_backend *noise_backend_find(const char *name);

/* AES-128 (FIPS-197). */
void aes128_expand_key(uint8_t round_key[11][16], const uint8_t key[16]);
void aes128_encrypt_block(const uint8_t round_key[11][16], const uint8_t in[16], uint8_t out[16]);
/* Four bytes, the least significant first. */
uint32_t aes128_load_word(const uint8_t p[4]);
/* The bytes of `high` and `low`, most significant first. */
void aes128_make_block(uint64_t high, uint64_t low, uint8_t block[16]);

#endif
