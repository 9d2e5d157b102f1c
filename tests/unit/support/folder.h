/* folder.h - a folder for the files of a test program, gone when it ends. A test that
 * includes this has <setjmp.h> and cmocka's headers before it. */
#ifndef DP_TEST_FOLDER_H
#define DP_TEST_FOLDER_H
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/dpareto-test.XXXXXX";

/* The path of a file there; good until the next call. */
static inline const char *in_folder(const char *name)
{
	static char path[sizeof folder + 64];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

/* The same, once the file has this text. */
static inline const char *file_of(const char *name, const char *text)
{
	struct dp_err err;

	assert_int_equal(dp_write_file(in_folder(name), text, strlen(text), false, &err), DP_OK);
	return in_folder(name);
}

/* For cmocka_run_group_tests(). */
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
