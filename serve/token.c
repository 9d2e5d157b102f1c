/* token.c - tokens and their cookies. */
#include "serve/token.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void digest(const char *what, const char *text, char out[DP_SHA256_TEXT])
{
	struct dp_sha256 sha;

	dp_sha256_init(&sha);
	dp_sha256_add(&sha, what, strlen(what) + 1);
	dp_sha256_add(&sha, text, strlen(text));
	dp_sha256_text(&sha, out);
}

static void token_set(struct token *t, const char *text)
{
	snprintf(t->text, sizeof t->text, "%s", text);
	digest("cookie", t->text, t->cookie);
}

int token_draw(struct token *t, struct dp_err *err)
{
	char secret[DP_SECRET_TEXT];
	int code = dp_secret_draw(secret, err);

	if (code != DP_OK)
		return code;
	secret[32] = '\0'; /* 128 bits, which a person can still copy */
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

int token_read(struct token *t, const char *path, struct dp_err *err)
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
			code = DP_E_INVALID; /* no header could carry it */
	if (n == 0 || n > TOKEN_MAX || code != DP_OK) {
		code = dp_fail(err, DP_E_INVALID,
			       "the first line of %s is not a token: 1 to %d letters, "
			       "digits or signs",
			       path, TOKEN_MAX);
		dp_hint(err, "make one: head -c 18 /dev/urandom | base64 > %s", path);
	} else {
		text.data[n] = '\0';
		token_set(t, text.data);
	}
	dp_buf_free(&text);
	return code;
}

/* Digests are compared, so that the time it takes tells nothing of the token. */
bool token_is(const struct token *t, const char *text)
{
	char own[DP_SHA256_TEXT], other[DP_SHA256_TEXT];

	digest("token", t->text, own);
	digest("token", text, other);
	return *t->text && strcmp(own, other) == 0;
}

bool token_in_cookie(const struct token *t, const char *header, const char *name)
{
	size_t n = strlen(name);

	while (header && *t->text) {
		char value[DP_SHA256_TEXT], own[DP_SHA256_TEXT], other[DP_SHA256_TEXT];

		header += strspn(header, "; ");
		if (strncmp(header, name, n) == 0 && header[n] == '=') {
			snprintf(value, sizeof value, "%.*s", (int)strcspn(header + n + 1, "; "),
				 header + n + 1);
			digest("compare", t->cookie, own);
			digest("compare", value, other);
			if (strcmp(own, other) == 0)
				return true;
		}
		header = strchr(header, ';');
	}
	return false;
}
