/* warm_start_source.c - parses search.initial_from. */
#include "study/warm_start_source.h"

#include <string.h>

size_t dp_warm_start_parse(const char *text, const char **name)
{
	const char *mark = strrchr(text, '#');

	*name = text;
	if (!strchr(text, '/'))
		return 0;
	if (mark && strchr(mark, '/')) /* the '#' is part of a directory name */
		mark = NULL;
	*name = mark ? mark + 1 : NULL;
	return mark ? (size_t)(mark - text) : strlen(text);
}

const char *dp_warm_start_display_name(const char *text)
{
	const char *name;

	if (!text)
		return NULL;
	dp_warm_start_parse(text, &name);
	return name ? name : "the only one in another state folder";
}
