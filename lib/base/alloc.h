/* alloc.h - memory allocation that ends the process when memory runs out.
 *
 * A process that cannot allocate writes one line to standard error and exits with code 1. Every
 * program of this project survives kill -9: the journal is durable, and the next start resumes. So
 * no caller checks for NULL, and no function returns "out of memory". Callers bound sizes that come
 * from outside (files, requests, study keys) before they allocate. */
#ifndef DP_ALLOC_H
#define DP_ALLOC_H
#include <stdarg.h>
#include <stddef.h>

#define DP_ALLOCATES __attribute__((malloc, returns_nonnull, warn_unused_result))

DP_ALLOCATES void *dp_malloc(size_t size);
/* Zeroed memory. Checks the product of both sizes for overflow. */
DP_ALLOCATES void *dp_calloc(size_t count, size_t size);
#define DP_REALLOCATES __attribute__((returns_nonnull, warn_unused_result))
DP_REALLOCATES void *dp_realloc(void *p, size_t size);
DP_REALLOCATES void *dp_reallocarray(void *p, size_t count, size_t size);
/* Aligned to 64 bytes for vector instructions. Release it with free(). */
DP_ALLOCATES void *dp_aligned_alloc(size_t size);
DP_ALLOCATES char *dp_strdup(const char *s);
/* dp_strdup(), but NULL for NULL. */
char *dp_strdup_null(const char *s);
DP_ALLOCATES char *dp_strndup(const char *s, size_t max);
DP_ALLOCATES void *dp_memdup(const void *p, size_t size);
DP_ALLOCATES char *dp_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
DP_ALLOCATES char *dp_vasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Makes jansson allocate through these functions. Every main() calls it first. */
void dp_alloc_init(void);
/* Reports that memory ran out and exits. For libraries that allocate themselves. */
_Noreturn void dp_out_of_memory(void);

#endif
