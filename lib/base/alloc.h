/* alloc.h - memory allocation that cannot fail.
 *
 * A process that cannot allocate writes one line to standard error and ends with exit
 * code 1. kill -9 is a normal event for every program of this project: the journal is
 * durable, and the next start resumes. So no caller checks for NULL, and no function has
 * "out of memory" among its errors. Sizes that come from outside (files, requests, study
 * keys) are bounded before they reach these functions. */
#ifndef DP_ALLOC_H
#define DP_ALLOC_H
#include <stdarg.h>
#include <stddef.h>

#define DP_ALLOCATES __attribute__((malloc, returns_nonnull, warn_unused_result))

DP_ALLOCATES void *dp_malloc(size_t size);
/* Zeroed memory for `count` items; the product is checked for overflow. */
DP_ALLOCATES void *dp_calloc(size_t count, size_t size);
#define DP_REALLOCATES __attribute__((returns_nonnull, warn_unused_result))
DP_REALLOCATES void *dp_realloc(void *p, size_t size);
DP_REALLOCATES void *dp_reallocarray(void *p, size_t count, size_t size);
/* For vector instructions: aligned to 64 bytes; free() releases it. */
DP_ALLOCATES void *dp_aligned_alloc(size_t size);
DP_ALLOCATES char *dp_strdup(const char *s);
/* dp_strdup(), but NULL for NULL. */
char *dp_strdup_null(const char *s);
DP_ALLOCATES char *dp_strndup(const char *s, size_t max);
DP_ALLOCATES void *dp_memdup(const void *p, size_t size);
DP_ALLOCATES char *dp_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
DP_ALLOCATES char *dp_vasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Makes jansson allocate by these functions too. Every main() calls it first. */
void dp_alloc_init(void);
/* Says that there is no memory, and ends the process: for libraries that allocate
 * themselves. */
_Noreturn void dp_out_of_memory(void);

#endif
