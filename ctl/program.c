/* program.c - where the project's other programs are. */
#include "ctl/program.h"

#include "base/program.h"
#include "ctl/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this very program; the caller frees it; NULL: it cannot be told. */
static char *own_folder(void)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return ctl_strdup(self);
}

char *ctl_find_program(const char *name)
{
	char *own = own_folder();
	struct dp_program_places places = { own, getenv("PATH") };
	char *found = dp_program_find(name, &places);

	free(own);
	return found;
}
