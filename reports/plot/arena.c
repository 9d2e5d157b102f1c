/* arena.c - arena memory, freed as a whole, and growing arrays. */
#include "reports/plot/arena.h"

#include <stdlib.h>
#include <string.h>

void *grow_array(void *array, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap ? *cap : 16;

	if (need <= *cap)
		return array;
	while (more < need)
		more *= 2;
	*cap = more;
	return dp_reallocarray(array, more, size);
}

void *arena_adopt(struct arena *a, void *block)
{
	a->blocks = grow_array(a->blocks, &a->cap, a->n + 1, sizeof *a->blocks);
	return a->blocks[a->n++] = block;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	return arena_adopt(a, dp_calloc(count, size));
}

double *arena_copy_doubles(struct arena *a, const double *v, size_t n)
{
	double *copy = v ? arena_calloc(a, n, sizeof *copy) : NULL;

	if (v && n)
		memcpy(copy, v, n * sizeof *copy);
	return copy;
}

char *arena_take_text(struct arena *a, struct dp_buf *text)
{
	return arena_adopt(a, text->data ? dp_buf_detach(text) : dp_strdup(""));
}

void arena_free(struct arena *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->blocks[i]);
	free(a->blocks);
	*a = (struct arena){ 0 };
}
