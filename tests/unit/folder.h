/* folder.h - one temporary folder for all tests of a program. */
#ifndef DP_TEST_FOLDER_H
#define DP_TEST_FOLDER_H
#include "base/fs.h"

#include <stdlib.h>

static char folder[] = "/tmp/dpareto-XXXXXX";

static inline int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	(void)state;
	return dp_remove_tree(folder, NULL);
}

#endif
