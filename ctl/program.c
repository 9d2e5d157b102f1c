/* program.c - where the project's other programs are. */
#include "ctl/program.h"

#include "base/program.h"

#include <stdlib.h>

char *ctl_find_program(const char *name)
{
	char *own = dp_program_folder();
	struct dp_program_places places = { own, getenv("PATH") };
	char *found = dp_program_find(name, &places);

	free(own);
	return found;
}
