/* argv.c - builds argument lists for exec(). */
#include "daemon/core/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void argv_take(struct argv_list *s, char *text)
{
	if (s->n + 2 > s->capacity) {
		s->capacity += 64;
		s->list = dp_reallocarray(s->list, s->capacity, sizeof *s->list);
	}
	s->list[s->n++] = text;
	s->list[s->n] = NULL;
}

void argv_add(struct argv_list *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	argv_take(s, dp_vasprintf(fmt, ap));
	va_end(ap);
}

char **argv_copy_environ(const char *const *without)
{
	size_t n = 0, kept = 0;
	char **list;

	while (environ[n])
		n++;
	list = dp_calloc(n + 1, sizeof *list);
	for (size_t i = 0; i < n; i++) {
		const char *const *prefix = without;

		while (*prefix && strncmp(environ[i], *prefix, strlen(*prefix)) != 0)
			prefix++;
		if (!*prefix)
			list[kept++] = environ[i];
	}
	return list;
}

void argv_free_list(char **list)
{
	for (char **p = list; p && *p; p++)
		free(*p);
	free(list);
}
