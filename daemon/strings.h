/* strings.h - a list of texts as exec() wants it: owned, ended with NULL. Without memory
 * it notes that it failed, so that a writer checks once, at the end. */
#ifndef DPARETOD_STRINGS_H
#define DPARETOD_STRINGS_H
#include "base/base.h"

struct strings {
	char **list; /* NULL while there is none */
	size_t n, room;
	bool failed;
};

void strings_add(struct strings *s, const char *fmt, ...) DP_PRINTF(2, 3);
/* Takes the text over; NULL is a lack of memory. */
void strings_take(struct strings *s, char *text);
/* Our environment, less what begins with one of these (ends with NULL). The entries are
 * shared: the caller frees the list alone. NULL without memory. */
char **strings_environment(const char *const *without);
/* Frees a list and its texts. */
void strings_free_list(char **list);

#endif
