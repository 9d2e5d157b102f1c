/* xmalloc.c - memory for a short-lived program: it is there, or the program ends. */
#include "ctl/xmalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void ctl_die_nomem(void)
{
	fputs("dparetoctl: out of memory\n", stderr);
	exit(dp_code_exit(DP_E_NOMEM));
}

void *ctl_xcalloc(size_t count, size_t size)
{
	void *p = dp_calloc(count ? count : 1, size);

	if (!p)
		ctl_die_nomem();
	return p;
}

char *ctl_xstrdup(const char *s)
{
	char *copy = dp_strdup(s);

	if (!copy)
		ctl_die_nomem();
	return copy;
}

char *ctl_xvasprintf(const char *format, va_list ap)
{
	char *text;

	if (vasprintf(&text, format, ap) < 0)
		ctl_die_nomem();
	return text;
}
