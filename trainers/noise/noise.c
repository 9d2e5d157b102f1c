/* noise.c - streams: their keys, and words and normals in any number from the whole
 * batches that a path makes. */
#include "trainers/noise/noise_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

static void noise_start(struct noise *n, const uint8_t key[16])
{
	dp__aes_expand(n->round_key, key);
	n->stream = 0;
	n->counter = 0;
}

void noise_seeded(struct noise *n, uint64_t seed, enum noise_use use)
{
	static const uint8_t public_key[16] = "DPareto noise v1";
	uint8_t name[16], key[16];

	dp__aes_block_of(seed, use, name);
	dp__aes_expand(n->round_key, public_key);
	dp__aes_encrypt(n->round_key, name, key);
	for (int i = 0; i < 16; i++)
		key[i] ^= name[i];
	noise_start(n, key);
}

int noise_secure(struct noise *n, struct dp_err *err)
{
	uint8_t key[16];
	ssize_t got;

	do
		got = getrandom(key, sizeof key, 0);
	while (got < 0 && errno == EINTR);
	if (got != sizeof key)
		return dp_fail(err, DP_E_IO, "cannot get a key for the noise from the system: %s",
			       strerror(errno));
	noise_start(n, key);
	explicit_bzero(key, sizeof key);
	return DP_OK;
}

static void noise_advance(struct noise *n, size_t batches)
{
	n->counter += DP__BATCH_BLOCKS * (uint64_t)batches;
}

/* Words or normals: both are four bytes. */
static void noise_fill(struct noise *n, dp__fill_fn *batches_of, void *out, size_t count)
{
	size_t whole = count / DP__BATCH, rest = count % DP__BATCH;
	uint32_t last[DP__BATCH];

	batches_of(n, out, whole);
	noise_advance(n, whole);
	if (rest == 0)
		return;
	batches_of(n, last, 1);
	noise_advance(n, 1);
	memcpy((uint8_t *)out + whole * sizeof last, last, rest * sizeof *last);
}

void noise_words(struct noise *n, uint32_t *out, size_t count)
{
	noise_fill(n, dp__noise_path()->words, out, count);
}

void noise_normals(struct noise *n, float *out, size_t count)
{
	noise_fill(n, dp__noise_path()->normals, out, count);
}

void noise_add(struct noise *n, float scale, float *w, size_t count)
{
	const struct dp__noise_path *path = dp__noise_path();
	size_t whole = count / DP__BATCH, rest = count % DP__BATCH;
	float last[DP__BATCH] = { 0 };

	path->add(n, scale, w, whole);
	noise_advance(n, whole);
	if (rest == 0)
		return;
	w += count - rest;
	memcpy(last, w, rest * sizeof *w);
	path->add(n, scale, last, 1);
	noise_advance(n, 1);
	memcpy(w, last, rest * sizeof *w);
}
