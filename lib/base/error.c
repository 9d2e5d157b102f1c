/* error.c - error codes and messages, and the nearest word for hints. */
#include "base/base.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
	int exit;
	const char *kind;
	const char *text;
} table[] = { [DP_OK] = { 0, "ok", "ok" },
#define X(name, exit, kind, text) [DP_E_##name] = { exit, kind, text },
	      DP_ERRORS(X)
#undef X
};

static int code_or_failed(int code)
{
	return code >= 0 && (size_t)code < DP_COUNT(table) ? code : DP_E_FAILED;
}

const char *dp_code_kind(int code)
{
	return table[code_or_failed(code)].kind;
}

const char *dp_code_text(int code)
{
	return table[code_or_failed(code)].text;
}

int dp_code_exit(int code)
{
	return table[code_or_failed(code)].exit;
}

int dp_code_from_kind(const char *kind)
{
	for (size_t i = 0; kind && i < DP_COUNT(table); i++)
		if (strcmp(table[i].kind, kind) == 0)
			return (int)i;
	return DP_E_FAILED;
}

int dp_fail(struct dp_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	return code;
}

int dp_hint(struct dp_err *err, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return DP_E_FAILED;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof err->hint, fmt, ap);
	va_end(ap);
	return err->code;
}

int dp_err_prefix(struct dp_err *err, const char *fmt, ...)
{
	char old[sizeof err->msg];
	va_list ap;
	size_t n;

	if (!err)
		return DP_E_FAILED;
	memcpy(old, err->msg, sizeof old);
	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof err->msg, fmt, ap);
	va_end(ap);
	n = strlen(err->msg);
	snprintf(err->msg + n, sizeof err->msg - n, ": %s", old);
	return err->code;
}

bool dp_name_ok(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > DP_NAME_MAX)
		return false;
	if (!isascii((unsigned char)name[0]) ||
	    !(isalnum((unsigned char)name[0]) || name[0] == '_'))
		return false;
	for (size_t i = 1; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (!isascii(c) || !(isalnum(c) || strchr("_.-", c)))
			return false;
	}
	return true;
}

enum {
	EDIT_DISTANCE_LEN_MAX = 32
}; /* no guesses for longer words */

/* Optimal string alignment distance: a swap of neighbours, the most frequent typo, is one edit. */
static int edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	int d[EDIT_DISTANCE_LEN_MAX + 1][EDIT_DISTANCE_LEN_MAX + 1];

	if (na > EDIT_DISTANCE_LEN_MAX || nb > EDIT_DISTANCE_LEN_MAX)
		return EDIT_DISTANCE_LEN_MAX;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = (int)i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = (int)j;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			int ca = tolower((unsigned char)a[i - 1]);
			int cb = tolower((unsigned char)b[j - 1]);
			int best = d[i - 1][j - 1] + (ca != cb);

			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]) && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	}
	return d[na][nb];
}

const char *dp_nearest_word(const char *word, const char *const *list)
{
	const char *best = NULL;
	int allowed = 1 + (int)strlen(word) / 4, least = allowed + 1;

	for (; *list; list++) {
		int d = edit_distance(word, *list);

		if (d < least) {
			least = d;
			best = *list;
		}
	}
	return best;
}
