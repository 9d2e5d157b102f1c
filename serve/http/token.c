/* token.c - generates and checks tokens and their cookies. */
#include "serve/http/token.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void token_digest(const char *what, const char *text, char out[DP_SHA256_HEX_SIZE])
{
	struct dp_sha256 sha;

	dp_sha256_init(&sha);
	dp_sha256_update(&sha, what, strlen(what) + 1);
	dp_sha256_update(&sha, text, strlen(text));
	dp_sha256_hex(&sha, out);
}

static void token_set(struct token *t, const char *text)
{
	snprintf(t->text, sizeof t->text, "%s", text);
	token_digest("cookie", t->text, t->cookie_value);
}

int token_generate(struct token *t, struct dp_err *err)
{
	char secret[DP_SECRET_SIZE];
	int code = dp_secret_generate(secret, err);

	if (code != DP_OK)
		return code;
	secret[32] = '\0'; /* 128 bits, short enough to copy by hand */
	token_set(t, secret);
	return DP_OK;
}

static int token_check_mode(const char *path, struct dp_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return dp_fail_errno(err, errno, "cannot read the token file %s", path);
	if ((st.st_mode & 07) == 0)
		return DP_OK;
	dp_fail(err, DP_E_DENIED, "everybody on this machine can read the token file %s", path);
	return dp_hint(err, "chmod o= %s, and put a new token in it", path);
}

int token_read_file(struct token *t, const char *path, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	int code = token_check_mode(path, err);
	size_t n;

	if (code == DP_OK)
		code = dp_read_file(path, 4096, &text, err);
	if (code != DP_OK) {
		dp_buf_free(&text);
		return code;
	}
	n = strcspn(dp_buf_text(&text), "\r\n");
	for (size_t i = 0; i < n; i++)
		if (text.data[i] <= ' ' || text.data[i] > '~')
			code = DP_E_INVALID; /* not valid in a header */
	if (n == 0 || n > TOKEN_MAX_LEN || code != DP_OK) {
		code = dp_fail(err, DP_E_INVALID,
			       "the first line of %s is not a token: 1 to %d letters, "
			       "digits or signs",
			       path, TOKEN_MAX_LEN);
		dp_hint(err, "make one: head -c 18 /dev/urandom | base64 > %s", path);
	} else {
		text.data[n] = '\0';
		token_set(t, text.data);
	}
	dp_buf_free(&text);
	return code;
}

/* Compares digests, so that timing does not reveal the token. */
bool token_matches(const struct token *t, const char *text)
{
	char own[DP_SHA256_HEX_SIZE], other[DP_SHA256_HEX_SIZE];

	token_digest("token", t->text, own);
	token_digest("token", text, other);
	return *t->text && strcmp(own, other) == 0;
}

bool token_matches_cookie(const struct token *t, const char *header, const char *name)
{
	size_t n = strlen(name);

	while (header && *t->text) {
		char value[DP_SHA256_HEX_SIZE], own[DP_SHA256_HEX_SIZE], other[DP_SHA256_HEX_SIZE];

		header += strspn(header, "; ");
		if (strncmp(header, name, n) == 0 && header[n] == '=') {
			snprintf(value, sizeof value, "%.*s", (int)strcspn(header + n + 1, "; "),
				 header + n + 1);
			token_digest("compare", t->cookie_value, own);
			token_digest("compare", value, other);
			if (strcmp(own, other) == 0)
				return true;
		}
		header = strchr(header, ';');
	}
	return false;
}
