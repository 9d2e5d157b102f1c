/* place.h - a folder for a trainer's request and result, named in the environment. */
#ifndef DP_TEST_PLACE_H
#define DP_TEST_PLACE_H
#include "base/fs.h"
#include "trainers/trainers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	WORDS_MAX = 16
};

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

/* Runs a trainer with options (words with spaces between them) and a request. */
static inline int place_run(const struct place *p, const struct trainer *t, const char *options,
			    const char *request, struct dp_err *err)
{
	char words[256], *argv[WORDS_MAX] = { (char *)t->name };
	int argc = 1;

	unlink(p->result);
	snprintf(words, sizeof words, "%s", options);
	for (char *w = strtok(words, " "); w && argc < WORDS_MAX - 1; w = strtok(NULL, " "))
		argv[argc++] = w;
	assert_int_equal(dp_write_file(p->request, request, strlen(request), false, NULL), DP_OK);
	return t->run(argc, argv, err);
}

#endif
