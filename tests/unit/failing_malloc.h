/* failing_malloc.h - memory that ends: does an operation again and again, and each time
 * the next of its allocations fails, until it gets through.
 *
 * The linker's --wrap (FAILING_MALLOC in tests.am) puts failing_malloc.c in the place of
 * malloc() and its like for the objects of this tree alone, so that libraries keep their
 * memory. Calls of jansson fail as a whole: a string of its own that cannot grow loses
 * its end without a word.
 * Leaks are found where these tests run with sanitizers and under valgrind. */
#ifndef DP_TEST_FAILING_MALLOC_H
#define DP_TEST_FAILING_MALLOC_H
#include "base/base.h"

/* Returns a code: DP_OK, or DP_E_NOMEM with everything as it was before. Other codes
 * fail the test: who takes a lack of memory for damage, or for a mistake in a file,
 * does harm. What it needs for itself it allocates within memory_is_fine(). */
typedef int operation(void *arg);

/* Twice for every allocation of the operation, or, of very many, for the first and then
 * some: it fails alone; it fails and so do all that follow. */
void with_little_memory(operation *op, void *arg);

/* To set up every test: ends a shortage that a failed test has left. */
int plenty_of_memory(void **state);

/* A break in the shortage, for what a test does beside its subject; nests. */
void memory_is_fine(void);
void memory_is_short_again(void);

#endif
