/* failing_malloc.c - allocators that fail when they are told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_malloc.h"

#include <errno.h>
#include <fts.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of one thread: those that a library keeps have memory. */
static _Thread_local struct {
	bool on, for_good;
	size_t left; /* allocations before the one that fails */
	size_t failed;
	unsigned breaks;
} shortage;

static bool fails(void)
{
	if (!shortage.on || shortage.breaks > 0)
		return false;
	if (shortage.left > 0) {
		shortage.left--;
		return false;
	}
	if (shortage.failed > 0 && !shortage.for_good)
		return false;
	shortage.failed++;
	errno = ENOMEM;
	return true;
}

int plenty_of_memory(void **state)
{
	(void)state;
	memset(&shortage, 0, sizeof shortage);
	return 0;
}

void memory_is_fine(void)
{
	shortage.breaks++;
}

void memory_is_short_again(void)
{
	shortage.breaks--;
}

/* ---- in the place of the C library's and others' ---- */

/* Weak: a program need not have all of them. */
#define WRAP(type, name, parameters, arguments, failure)                                           \
	__attribute__((weak)) type __real_##name parameters;                                       \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		return fails() ? (failure) : __real_##name arguments;                              \
	}

WRAP(void *, malloc, (size_t n), (n), NULL)
WRAP(void *, calloc, (size_t n, size_t size), (n, size), NULL)
WRAP(void *, realloc, (void *p, size_t n), (p, n), NULL)
WRAP(void *, aligned_alloc, (size_t to, size_t n), (to, n), NULL)
WRAP(char *, strdup, (const char *s), (s), NULL)
WRAP(char *, strndup, (const char *s, size_t n), (s, n), NULL)
WRAP(char *, realpath, (const char *path, char *room), (path, room), NULL)
WRAP(FTS *, fts_open,
     (char *const *path, int flags, int (*order)(const FTSENT **, const FTSENT **)),
     (path, flags, order), NULL)
WRAP(int, vasprintf, (char **out, const char *format, va_list args), (out, format, args), -1)
WRAP(int, __vasprintf_chk, (char **out, int flag, const char *format, va_list args),
     (out, flag, format, args), -1)
WRAP(void *, fftw_malloc, (size_t n), (n), NULL)
WRAP(void *, nlopt_create, (int algorithm, unsigned n), (algorithm, n), NULL)

int __wrap_asprintf(char **out, const char *format, ...) DP_PRINTF(2, 3);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = __wrap_vasprintf(out, format, args);
	va_end(args);
	return n;
}

int __wrap___asprintf_chk(char **out, int flag, const char *format, ...) DP_PRINTF(3, 4);
int __wrap___asprintf_chk(char **out, int flag, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = __wrap___vasprintf_chk(out, flag, format, args);
	va_end(args);
	return n;
}

/* ---- jansson's: each as a whole ---- */

WRAP(json_t *, json_object, (void), (), NULL)
WRAP(json_t *, json_array, (void), (), NULL)
WRAP(json_t *, json_string, (const char *s), (s), NULL)
WRAP(json_t *, json_stringn, (const char *s, size_t n), (s, n), NULL)
WRAP(json_t *, json_integer, (json_int_t x), (x), NULL)
WRAP(json_t *, json_real, (double x), (x), NULL)
WRAP(int, json_object_update, (json_t * to, json_t *from), (to, from), -1)
WRAP(int, json_object_update_missing, (json_t * to, json_t *from), (to, from), -1)

/* Takes over the value, also when it fails. */
static int drop(json_t *value)
{
	json_decref(value);
	return -1;
}

WRAP(int, json_object_set_new, (json_t * to, const char *key, json_t *value), (to, key, value),
     drop(value))
WRAP(int, json_array_append_new, (json_t * to, json_t *value), (to, value), drop(value))

json_t *__wrap_json_pack(const char *format, ...);
json_t *__wrap_json_pack(const char *format, ...)
{
	bool none = fails();
	json_t *made;
	va_list args;

	/* also to fail: values that it would take over are its own to drop */
	va_start(args, format);
	made = json_vpack_ex(NULL, 0, format, args);
	va_end(args);
	if (none) {
		json_decref(made);
		made = NULL;
	}
	return made;
}

json_t *__real_json_loadb(const char *p, size_t n, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *p, size_t n, size_t flags, json_error_t *error);
json_t *__wrap_json_loadb(const char *p, size_t n, size_t flags, json_error_t *error)
{
	if (!fails())
		return __real_json_loadb(p, n, flags, error);
	memset(error, 0, sizeof *error); /* it has no words for this */
	return NULL;
}

/* ---- doing it ---- */

enum {
	EACH = 150 /* then some: loops allocate the same again and again */
};

static void try_with(operation *op, void *arg, bool for_good)
{
	size_t n = 0, tries = 0, failed;

	do {
		int code;

		memset(&shortage, 0, sizeof shortage);
		shortage.left = n;
		shortage.for_good = for_good;
		shortage.on = true;
		code = op(arg);
		shortage.on = false;
		failed = shortage.failed;
		if (code != DP_OK && (failed == 0 || code != DP_E_NOMEM))
			fail_msg("allocation %zu%s: the answer is '%s'", n + 1,
				 for_good ? " and all later ones" : "", dp_code_kind(code));
		tries++;
		n += n < EACH ? 1 : n / 8;
	} while (failed > 0);
	assert_true(tries > 1); /* it does allocate */
}

void with_little_memory(operation *op, void *arg)
{
	try_with(op, arg, false);
	try_with(op, arg, true);
}
