/* noise_stream.c - keys random streams and reads any number of words or normals from them. */
#include "trainers/noise/noise_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static void noise_stream_set_key(struct noise_stream *n, const uint8_t key[16])
{
	aes128_expand_key(n->round_key, key);
	n->stream_id = 0;
	n->counter = 0;
}

void noise_stream_init_seeded(struct noise_stream *n, uint64_t seed, enum noise_purpose use)
{
	static const uint8_t public_key[16] = "DPareto noise v1";
	uint8_t name[16], key[16];

	aes128_make_block(seed, use, name);
	aes128_expand_key(n->round_key, public_key);
	aes128_encrypt_block(n->round_key, name, key);
	for (int i = 0; i < 16; i++)
		key[i] ^= name[i];
	noise_stream_set_key(n, key);
}

int noise_stream_init_secure(struct noise_stream *n, struct dp_err *err)
{
	uint8_t key[16];
	ssize_t got;

	do
		got = getrandom(key, sizeof key, 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof key)
		return dp_fail(err, DP_E_IO, "cannot get a key for the noise from the system: %s",
			       strerror(errno));
	noise_stream_set_key(n, key);
	explicit_bzero(key, sizeof key);
	return DP_OK;
}

static void noise_advance(struct noise_stream *n, size_t batches)
{
	n->counter += NOISE_BATCH_BLOCKS * (uint64_t)batches;
}

/* For words and normals: both take four bytes. */
static void noise_fill_batches(struct noise_stream *n, noise_fill_fn *batches_of, void *out,
			       size_t count)
{
	size_t whole = count / NOISE_BATCH_WORDS, rest = count % NOISE_BATCH_WORDS;
	uint32_t last[NOISE_BATCH_WORDS];

	batches_of(n, out, whole);
	noise_advance(n, whole);
	if (rest == 0)
		return;
	batches_of(n, last, 1);
	noise_advance(n, 1);
	memcpy((uint8_t *)out + whole * sizeof last, last, rest * sizeof *last);
}

void noise_fill_words(struct noise_stream *n, uint32_t *out, size_t count)
{
	noise_fill_batches(n, noise_backend_get()->fill_words, out, count);
}

void noise_fill_normals(struct noise_stream *n, float *out, size_t count)
{
	noise_fill_batches(n, noise_backend_get()->fill_normals, out, count);
}

void noise_add_normals(struct noise_stream *n, float scale, float *w, size_t count)
{
	const struct noise_backend *path = noise_backend_get();
	size_t whole = count / NOISE_BATCH_WORDS, rest = count % NOISE_BATCH_WORDS;
	float last[NOISE_BATCH_WORDS] = { 0 };

	path->add_normals(n, scale, w, whole);
	noise_advance(n, whole);
	if (rest == 0)
		return;
	w += count - rest;
	memcpy(last, w, rest * sizeof *w);
	path->add_normals(n, scale, last, 1);
	noise_advance(n, 1);
	memcpy(w, last, rest * sizeof *w);
}
