/* sha256.h - incremental SHA-256 (FIPS 180-4); users can check a digest with sha256sum(1). */
#ifndef DP_SHA256_H
#define DP_SHA256_H
#include "base/base.h"
#include <nettle/sha2.h>

enum {
	DP_SHA256_SIZE = 32,
	DP_SHA256_HEX_SIZE = 65 /* with the NUL */
};

/* Needs dp_sha256_init(); all zero is not a valid state. Copies are independent. */
struct dp_sha256 {
	struct sha256_ctx state;
};

void dp_sha256_init(struct dp_sha256 *s);
void dp_sha256_update(struct dp_sha256 *s, const void *bytes, size_t n);
/* The digest of the bytes so far. More can be added afterwards. */
void dp_sha256_digest(const struct dp_sha256 *s, unsigned char out[DP_SHA256_SIZE]);
void dp_sha256_hex(const struct dp_sha256 *s, char out[DP_SHA256_HEX_SIZE]);

#endif
