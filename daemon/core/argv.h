/* argv.h - a list of texts as exec() wants it: owned, ended with NULL. */
#ifndef DP_DAEMON_CORE_ARGV_H
#define DP_DAEMON_CORE_ARGV_H
#include "base/base.h"

struct argv_list {
	char **list; /* NULL while there is none */
	size_t n, capacity;
};

void argv_add(struct argv_list *s, const char *fmt, ...) DP_PRINTF(2, 3);
/* Takes the text over. */
void argv_take(struct argv_list *s, char *text);
/* Our environment, less what begins with one of these (ends with NULL). The entries are
 * shared: the caller frees the list alone. */
char **argv_copy_environ(const char *const *without);
/* Frees a list and its texts. */
void argv_free_list(char **list);

#endif
