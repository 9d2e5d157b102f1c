/* arena.h - memory that is released together, such as all numbers of one figure. */
#ifndef DP_REPORTS_PLOT_ARENA_H
#define DP_REPORTS_PLOT_ARENA_H
#include "base/buf.h"

/* Starts as all zero. */
struct arena {
	void **blocks;
	size_t n, cap;
};

/* Zeroed memory for `count` items of this size. */
void *arena_calloc(struct arena *a, size_t count, size_t size);
/* Makes the arena the owner of memory from malloc(); returns it. */
void *arena_adopt(struct arena *a, void *block);
/* Copies; NULL stays NULL. */
double *arena_copy_doubles(struct arena *a, const double *v, size_t n);
/* Takes the text out of a buffer, which is empty afterwards. */
char *arena_take_text(struct arena *a, struct dp_buf *text);
void arena_free(struct arena *a);

/* An array with room for `need` items of this size; *cap is the room that it has. */
void *grow_array(void *array, size_t *cap, size_t need, size_t size);

#endif
