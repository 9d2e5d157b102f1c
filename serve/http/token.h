/* token.h - the access token of the server: generated at start, or read from a file.
 *
 * A browser that has shown the token gets a cookie with its digest. With a token file the cookie
 * survives a restart, and the browser never stores the token itself. */
#ifndef DP_SERVE_HTTP_TOKEN_H
#define DP_SERVE_HTTP_TOKEN_H
#include "base/base.h"
#include "base/sha256.h"

enum {
	TOKEN_MAX_LEN = 256,
	TOKEN_MIN_SAFE_LEN = 16
};

struct token {
	char text[TOKEN_MAX_LEN + 1];
	char cookie_value[DP_SHA256_HEX_SIZE];
};

/* Generates a token with the system's random generator. */
DP_MUSTCHECK int token_generate(struct token *t, struct dp_err *err);
/* Reads the first line of a file that only its owner and group can read. */
DP_MUSTCHECK int token_read_file(struct token *t, const char *path, struct dp_err *err);
/* Compares in constant time. */
bool token_matches(const struct token *t, const char *text);
bool token_matches_cookie(const struct token *t, const char *header, const char *name);

#endif
