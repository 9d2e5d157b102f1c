/* program.c - where the project's other programs are. */
#include "ctl/client/program_path.h"

#include "base/program.h"

#include <stdlib.h>
#include <unistd.h>

char *ctl_find_program(const char *name)
{
	char *own = dp_program_dir();
	struct dp_program_search places = { own, getenv("PATH") };
	char *found = dp_program_find(name, &places);

	free(own);
	return found;
}

char *ctl_find_libexec_program(const char *name)
{
	char *own = dp_program_dir();
	char *found = own ? dp_program_helper_path(own, name) : NULL;

	free(own);
	if (found && access(found, X_OK) == 0)
		return found;
	free(found);
	return NULL;
}
