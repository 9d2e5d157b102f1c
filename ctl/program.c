/* program.c - where the project's other programs are. */
#include "ctl/program.h"

#include "base/program.h"

#include <stdlib.h>
#include <unistd.h>

char *ctl_find_program(const char *name)
{
	char *own = dp_program_folder();
	struct dp_program_places places = { own, getenv("PATH") };
	char *found = dp_program_find(name, &places);

	free(own);
	return found;
}

char *ctl_find_helper(const char *name)
{
	char *own = dp_program_folder();
	char *found = own ? dp_program_helper(own, name) : NULL;

	free(own);
	if (found && access(found, X_OK) == 0)
		return found;
	free(found);
	return NULL;
}
