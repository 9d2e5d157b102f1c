/* program.c - where the project's other programs are. */
#include "ctl/program.h"

#include "base/fs.h"
#include "ctl/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *beside_us(const char *name)
{
	char self[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return NULL;
	slash[1] = '\0';
	return dp_path_join(self, name);
}

char *ctl_find_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = beside_us(name), *copy, *rest, *dir;

	if (found && access(found, X_OK) == 0)
		return found;
	free(found);
	found = NULL;
	copy = rest = ctl_strdup(path ? path : "");
	while (!found && (dir = strsep(&rest, ":")) != NULL) {
		if (!*dir)
			continue;
		found = dp_path_join(dir, name);
		if (found && access(found, X_OK) != 0) {
			free(found);
			found = NULL;
		}
	}
	free(copy);
	return found;
}
