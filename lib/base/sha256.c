/* sha256.c - SHA-256 by nettle. */
#include "base/sha256.h"

#include <nettle/base16.h>

void dp_sha256_init(struct dp_sha256 *s)
{
	sha256_init(&s->state);
}

void dp_sha256_update(struct dp_sha256 *s, const void *bytes, size_t n)
{
	sha256_update(&s->state, n, bytes);
}

void dp_sha256_digest(const struct dp_sha256 *s, unsigned char out[DP_SHA256_SIZE])
{
	struct sha256_ctx copy = s->state; /* nettle's digest resets the state */

	sha256_digest(&copy, DP_SHA256_SIZE, out);
}

void dp_sha256_hex(const struct dp_sha256 *s, char out[DP_SHA256_HEX_SIZE])
{
	unsigned char digest[DP_SHA256_SIZE];

	dp_sha256_digest(s, digest);
	base16_encode_update(out, DP_SHA256_SIZE, digest);
	out[2 * DP_SHA256_SIZE] = '\0';
}
