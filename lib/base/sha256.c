/* sha256.c - SHA-256, written down from FIPS 180-4. */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

enum {
	BLOCK = 64,
	LENGTH_OFFSET = BLOCK - 8 /* the last block ends with the number of bits */
};

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_rotate_right(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* The message schedule: sixteen words of the block, the others made from them. */
static void sha256_schedule(const unsigned char *p, uint32_t w[64])
{
	for (int t = 0; t < 16; t++, p += 4)
		w[t] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (int t = 16; t < 64; t++) {
		uint32_t a = w[t - 15], b = w[t - 2];

		w[t] = w[t - 16] +
		       (sha256_rotate_right(a, 7) ^ sha256_rotate_right(a, 18) ^ a >> 3) +
		       w[t - 7] +
		       (sha256_rotate_right(b, 17) ^ sha256_rotate_right(b, 19) ^ b >> 10);
	}
}

static void sha256_compress(struct dp_sha256 *s, const unsigned char *p)
{
	uint32_t w[64], v[8];

	sha256_schedule(p, w);
	memcpy(v, s->h, sizeof v);
	for (int t = 0; t < 64; t++) {
		uint32_t a = v[0], e = v[4];
		uint32_t one = v[7] +
			       (sha256_rotate_right(e, 6) ^ sha256_rotate_right(e, 11) ^
				sha256_rotate_right(e, 25)) +
			       ((e & v[5]) ^ (~e & v[6])) + sha256_k[t] + w[t];
		uint32_t two = (sha256_rotate_right(a, 2) ^ sha256_rotate_right(a, 13) ^
				sha256_rotate_right(a, 22)) +
			       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof v[0]);
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void dp_sha256_init(struct dp_sha256 *s)
{
	*s = (struct dp_sha256){ .h = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void dp_sha256_update(struct dp_sha256 *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n > 0) {
		size_t filled = s->bytes % BLOCK, take = BLOCK - filled;

		if (take > n)
			take = n;
		memcpy(s->block + filled, p, take);
		s->bytes += take;
		p += take;
		n -= take;
		if (s->bytes % BLOCK == 0)
			sha256_compress(s, s->block);
	}
}

void dp_sha256_digest(const struct dp_sha256 *s, unsigned char out[DP_SHA256_SIZE])
{
	struct dp_sha256 end = *s;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(s->bytes * 8 >> (56 - 8 * i));
	dp_sha256_update(&end, "\x80", 1);
	while (end.bytes % BLOCK != LENGTH_OFFSET)
		dp_sha256_update(&end, "", 1);
	dp_sha256_update(&end, length, sizeof length);
	for (int i = 0; i < DP_SHA256_SIZE; i++)
		out[i] = (unsigned char)(end.h[i / 4] >> (24 - 8 * (i % 4)));
}

void dp_sha256_hex(const struct dp_sha256 *s, char out[DP_SHA256_HEX_SIZE])
{
	unsigned char digest[DP_SHA256_SIZE];

	dp_sha256_digest(s, digest);
	for (int i = 0; i < DP_SHA256_SIZE; i++)
		snprintf(out + 2 * (size_t)i, 3, "%02x", digest[i]);
}
