/* argv.h - builds NULL-terminated, owned argument lists for exec(). */
#ifndef DP_DAEMON_CORE_ARGV_H
#define DP_DAEMON_CORE_ARGV_H
#include "base/base.h"

struct argv_list {
	char **list; /* NULL if the list is empty */
	size_t n, capacity;
};

void argv_add(struct argv_list *s, const char *fmt, ...) DP_PRINTF(2, 3);
/* Takes ownership of the text. */
void argv_take(struct argv_list *s, char *text);
/* Copies the environment without entries that begin with one of `without` (NULL-terminated). The
 * entries are shared: the caller frees only the list. */
char **argv_copy_environ(const char *const *without);
void argv_free_list(char **list);

#endif
