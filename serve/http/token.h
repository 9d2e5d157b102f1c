/* token.h - the word that lets somebody in: made at start, or kept in a file.
 *
 * A browser that has shown it once is known by a cookie, which is the token's digest: so
 * it outlives a restart, and the token itself stays out of the browser's store. */
#ifndef DP_SERVE_HTTP_TOKEN_H
#define DP_SERVE_HTTP_TOKEN_H
#include "base/base.h"
#include "base/sha256.h"

enum {
	TOKEN_MAX_LEN = 256,
	TOKEN_MIN_SAFE_LEN = 16 /* shorter ones can be guessed */
};

struct token {
	char text[TOKEN_MAX_LEN + 1];
	char cookie_value[DP_SHA256_HEX_SIZE]; /* what stands for it in a cookie */
};

/* A new one, from the system's generator. */
DP_MUSTCHECK int token_generate(struct token *t, struct dp_err *err);
/* The first line of a file that only its owner and group can read. */
DP_MUSTCHECK int token_read_file(struct token *t, const char *path, struct dp_err *err);
/* Is it this one? Takes as long for any other. */
bool token_matches(const struct token *t, const char *text);
/* Does a Cookie header have the cookie of this name, with the token's digest? */
bool token_matches_cookie(const struct token *t, const char *header, const char *name);

#endif
