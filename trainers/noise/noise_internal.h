/* noise_internal.h - declarations shared by the noise backends. */
#ifndef DP_NOISE_INTERNAL_H
#define DP_NOISE_INTERNAL_H
#include "trainers/noise/noise.h"

/* Noise is generated in batches of 16 blocks: the counter of a batch's first block is a multiple of
 * 16, so that the block index within the batch affects only the last byte of the counter block. */
enum {
	NOISE_BATCH_BLOCKS = 16,
	NOISE_BATCH_WORDS = 64, /* words in a batch, and normals made of them */
	NOISE_BATCH_PAIRS = NOISE_BATCH_WORDS / 2,
};

/* The stream with the extra bits for `stream`: see box_muller.h. */
#define NOISE_EXTRA_STREAM(stream) ((stream) ^ UINT64_C(1) << 63)

/* Generates whole batches from n->counter on. Does not advance the counter. */
typedef void noise_fill_fn(const struct noise_stream *n, void *out, size_t batches);

/* One implementation, chosen by the instructions of the machine. */
struct noise_backend {
	const char *name;
	bool (*is_usable)(void);
	noise_fill_fn *fill_words;   /* uint32_t */
	noise_fill_fn *fill_normals; /* float */
	void (*add_normals)(const struct noise_stream *n, float scale, float *w, size_t batches);
	/* For tests: the normals of given words and extra words. */
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

/* The current backend; chosen on the first call. */
const struct noise_backend *noise_backend_get(void);
/* The backend of that name, or NULL if there is none or this machine cannot run it. */
const struct noise_backend *noise_backend_find(const char *name);

/* AES-128 (FIPS-197). */
void aes128_expand_key(uint8_t round_key[11][16], const uint8_t key[16]);
void aes128_encrypt_block(const uint8_t round_key[11][16], const uint8_t in[16], uint8_t out[16]);
/* Four bytes, least significant first. */
uint32_t aes128_load_word(const uint8_t p[4]);
/* The bytes of `high` and `low`, most significant first. */
void aes128_make_block(uint64_t high, uint64_t low, uint8_t block[16]);

#endif
