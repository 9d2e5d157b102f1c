/* secret.c - creates and checks the secrets of studies. */
#include "base/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
	SECRET_BYTES = 32 /* getrandom() returns up to 256 bytes whole or not at all */
};

int dp_secret_generate(char out[DP_SECRET_SIZE], struct dp_err *err)
{
	unsigned char bytes[SECRET_BYTES];
	ssize_t n;

	do
		n = getrandom(bytes, sizeof bytes, 0);
	while (n < 0 && errno == EINTR);
	if (n != SECRET_BYTES)
		return dp_fail(err, DP_E_IO,
			       "the system gives no random numbers for the secret of the "
			       "study: %s",
			       n < 0 ? strerror(errno) : "too few came");
	for (int i = 0; i < SECRET_BYTES; i++)
		snprintf(out + 2 * (size_t)i, 3, "%02x", bytes[i]);
	explicit_bzero(bytes, sizeof bytes);
	return DP_OK;
}

bool dp_secret_ok(const char *text)
{
	return strlen(text) == DP_SECRET_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == DP_SECRET_SIZE - 1;
}
