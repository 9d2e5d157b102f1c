/* secret.h - the secret of a study: 32 random bytes in hexadecimal, stored only in its journal.
 *
 * dp_rng_init_secret() derives streams from it. It would allow removing noise from released values,
 * so no output shows it. */
#ifndef DP_SECRET_H
#define DP_SECRET_H
#include "base/base.h"

enum {
	DP_SECRET_SIZE = 65 /* with the NUL */
};

DP_MUSTCHECK int dp_secret_generate(char out[DP_SECRET_SIZE], struct dp_err *err);
/* Checks the format of a secret that was read. */
bool dp_secret_ok(const char *text);

#endif
