/* noise.h - random streams from AES-128 in counter mode, and normals from them.
 *
 * A stream is a pure function of its key and number: whoever knows the key knows the noise. Keys
 * come from a run's seed, so that a study repeats, or from the operating system. Every path (VAES,
 * AES-NI, portable C) gives the same words; normals agree to rounding between paths and to the bit
 * on one path.
 *
 * The key of a seed and use: with the block B = seed and use, 8 bytes each, most significant byte
 * first, it is B xor AES(B) under the public key "DPareto noise v1". The counter block is stream
 * and counter, again 8 bytes each, most significant first; block after block the counter grows by
 * one. An encrypted block is four words, least significant byte first. So `openssl enc
 * -aes-128-ctr` on zeros gives the words.
 *
 * Every call takes whole batches of 16 blocks (64 words, or 64 normals) and throws away what is
 * left of the last: no block is ever used twice. box_muller.h says how normals are made of
 * words. */
#ifndef DP_NOISE_H
#define DP_NOISE_H
#include "base/base.h"

/* What a stream of one run is for; part of what makes a study repeat. */
enum noise_purpose {
	NOISE_LOTS = 1,         /* which records make a lot */
	NOISE_GRADIENT = 2,     /* the noise that gives privacy */
	NOISE_INIT_WEIGHTS = 3, /* random initial weights */
	NOISE_SPLIT = 4,        /* which records are held out */
};

struct noise_stream {
	uint8_t round_key[11][16];
	uint64_t stream_id; /* high half of the counter block; below 2^63 */
	uint64_t counter;   /* low half: the next block, a multiple of 16 */
};

/* The stream of a run's seed for one use: the same seed and use give the same numbers, different
 * ones unrelated numbers. */
void noise_stream_init_seeded(struct noise_stream *n, uint64_t seed, enum noise_purpose use);
/* A stream that nobody can repeat, keyed by the operating system. */
DP_MUSTCHECK int noise_stream_init_secure(struct noise_stream *n, struct dp_err *err);

/* The next words. */
void noise_fill_words(struct noise_stream *n, uint32_t *out, size_t count);
/* The next standard normals, each within 1e-6 of the exact transform of its words; tails reach
 * beyond 8 standard deviations. */
void noise_fill_normals(struct noise_stream *n, float *out, size_t count);
/* w[i] += scale * z[i] with the normals that noise_fill_normals() would give. */
void noise_add_normals(struct noise_stream *n, float scale, float *w, size_t count);

/* How the blocks are made here: "vaes512", "vaes256", "aesni" or "portable". */
const char *noise_backend_name(void);
/* For tests and benchmarks: use this path from now on; false if the machine cannot. */
bool noise_backend_use(const char *path);

#endif
