/* arena.h - arena memory, freed as a whole, and growing arrays. */
#ifndef DP_REPORTS_PLOT_ARENA_H
#define DP_REPORTS_PLOT_ARENA_H
#include "base/buf.h"

/* Initialise with zeros. */
struct arena {
	void **blocks;
	size_t n, cap;
};

/* Zeroed memory for `count` items of `size` bytes. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
/* Takes ownership of memory from malloc() and returns it. */
void *arena_adopt(struct arena *a, void *block);
/* Copies; NULL gives NULL. */
double *arena_copy_doubles(struct arena *a, const double *v, size_t n);
/* Takes the text of the buffer and leaves the buffer empty. */
char *arena_take_text(struct arena *a, struct dp_buf *text);
void arena_free(struct arena *a);

/* Returns the array with room for `need` items; *cap is its capacity. */
void *grow_array(void *array, size_t *cap, size_t need, size_t size);

#endif
