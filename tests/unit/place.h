/* place.h - a folder for a trainer's request and result, named in the environment. */
#ifndef DP_TEST_PLACE_H
#define DP_TEST_PLACE_H
#include "base/fs.h"

#include <stdlib.h>

struct place {
	char *dir, *request, *result;
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	const char *tmp = getenv("TMPDIR");

	assert_non_null(p);
	p->dir = dp_path_join(tmp ? tmp : "/tmp", "trainerXXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	p->request = dp_path_join(p->dir, "request.json");
	p->result = dp_path_join(p->dir, "result.jsonl");
	setenv("DPARETO_REQUEST", p->request, 1);
	setenv("DPARETO_RESULT", p->result, 1);
	setenv("XDG_CACHE_HOME", p->dir, 1);
	*state = p;
	return 0;
}

static int remove_place(void **state)
{
	struct place *p = *state;
	int code = dp_remove_tree(p->dir, NULL);

	free(p->dir);
	free(p->request);
	free(p->result);
	free(p);
	return code;
}

#endif
