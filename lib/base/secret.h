/* secret.h - what only a study's own journal knows: 32 random bytes, in hexadecimal.
 *
 * dp_rng_init_secret() makes streams of it. Whoever has it can take the noise off what
 * was released, so it is shown nowhere. */
#ifndef DP_SECRET_H
#define DP_SECRET_H
#include "base/base.h"

enum {
	DP_SECRET_SIZE = 65 /* room for one */
};

/* A new one, from the system's generator. */
DP_MUSTCHECK int dp_secret_generate(char out[DP_SECRET_SIZE], struct dp_err *err);
/* Can this be one? For what was read. */
bool dp_secret_ok(const char *text);

#endif
