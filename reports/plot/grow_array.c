/* grow_array.c - arrays that grow. */
#include "reports/plot/plot_internal.h"

#include <stdlib.h>

void *grow_array(void *array, size_t *cap, size_t need, size_t size)
{
	size_t more = *cap ? *cap : 16;

	if (need <= *cap)
		return array;
	while (more < need)
		more *= 2;
	array = dp_realloc(array, more * size);
	if (array)
		*cap = more;
	return array;
}
