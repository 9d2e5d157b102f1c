/* noise.h - random streams from AES-128 in counter mode, and normals made of them.
 *
 * A stream is a pure function of its key and number, so that the key reveals the noise. Keys come
 * from a run's seed, for reproducible studies, or from the operating system. All backends (VAES,
 * AES-NI, portable C) give the same words. Normals agree to rounding between backends and to the
 * bit on one backend.
 *
 * Key of a seed and purpose: let the block B be seed and purpose, 8 bytes each, most significant
 * byte first. The key is B xor AES(B) under the public key "DPareto noise v1". The counter block is
 * stream and counter, 8 bytes each, most significant byte first; the counter grows by one per
 * block. An encrypted block is four words, least significant byte first. So `openssl enc
 * -aes-128-ctr` on zeros gives the words.
 *
 * Every call uses whole batches of 16 blocks (64 words, or 64 normals) and discards the rest of the
 * last one: no block is used twice. box_muller.h describes how words become normals. */
#ifndef DP_NOISE_H
#define DP_NOISE_H
#include "base/base.h"

/* Purpose of a stream within a run. The numbers must not change: studies must reproduce. */
enum noise_purpose {
	NOISE_LOTS = 1,         /* sampling of lots */
	NOISE_GRADIENT = 2,     /* the noise of DP-SGD and output perturbation */
	NOISE_INIT_WEIGHTS = 3, /* random initial weights */
	NOISE_SPLIT = 4,        /* records of a holdout */
};

struct noise_stream {
	uint8_t round_key[11][16];
	uint64_t stream_id; /* high half of the counter block, below 2^63 */
	uint64_t counter;   /* low half: the next block, a multiple of 16 */
};

/* The stream of a seed for one purpose. Different arguments give unrelated numbers. */
void noise_stream_init_seeded(struct noise_stream *n, uint64_t seed, enum noise_purpose use);
/* A stream that cannot be reproduced, with a key from the operating system. */
DP_MUSTCHECK int noise_stream_init_secure(struct noise_stream *n, struct dp_err *err);

void noise_fill_words(struct noise_stream *n, uint32_t *out, size_t count);
/* Standard normals, within 1e-6 of the exact transform of their words, to beyond 8 sd in the
 * tails. */
void noise_fill_normals(struct noise_stream *n, float *out, size_t count);
/* w[i] += scale * z[i], with the normals z of noise_fill_normals(). */
void noise_add_normals(struct noise_stream *n, float scale, float *w, size_t count);

/* The current backend: "vaes512", "vaes256", "aesni" or "portable". */
const char *noise_backend_name(void);
/* For tests and benchmarks: selects a backend. False if the machine cannot run it. */
bool noise_backend_use(const char *path);

#endif
