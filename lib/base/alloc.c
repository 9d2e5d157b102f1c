/* alloc.c - memory allocation that cannot fail. */
#include "base/alloc.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void dp_out_of_memory(void)
{
	char line[128];
	int n = snprintf(line, sizeof line, "%s: out of memory\n", program_invocation_short_name);

	/* write() and _exit(), because stdio and exit handlers may allocate */
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		_exit(1);
	_exit(1);
}

static void *alloc_checked(void *p)
{
	if (!p)
		dp_out_of_memory();
	return p;
}

void *dp_malloc(size_t size)
{
	return alloc_checked(malloc(size ? size : 1));
}

void *dp_calloc(size_t count, size_t size)
{
	return alloc_checked(calloc(count ? count : 1, size ? size : 1));
}

void *dp_realloc(void *p, size_t size)
{
	return alloc_checked(realloc(p, size ? size : 1));
}

void *dp_reallocarray(void *p, size_t count, size_t size)
{
	return alloc_checked(reallocarray(p, count ? count : 1, size ? size : 1));
}

void *dp_aligned_alloc(size_t size)
{
	enum {
		ALIGN = 64
	};

	if (size > SIZE_MAX - ALIGN)
		dp_out_of_memory();
	return alloc_checked(
		aligned_alloc(ALIGN, (size ? size + ALIGN - 1 : ALIGN) / ALIGN * ALIGN));
}

char *dp_strdup(const char *s)
{
	return alloc_checked(strdup(s));
}

char *dp_strdup_null(const char *s)
{
	return s ? dp_strdup(s) : NULL;
}

char *dp_strndup(const char *s, size_t max)
{
	return alloc_checked(strndup(s, max));
}

void *dp_memdup(const void *p, size_t size)
{
	void *copy = dp_malloc(size);

	return size ? memcpy(copy, p, size) : copy;
}

char *dp_vasprintf(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		dp_out_of_memory();
	return text;
}

char *dp_asprintf(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = dp_vasprintf(fmt, ap);
	va_end(ap);
	return text;
}

void dp_alloc_init(void)
{
	json_set_alloc_funcs(dp_malloc, free);
}
