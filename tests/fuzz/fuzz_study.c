/* fuzz_study.c - any bytes as a study file: no crash, no hang, no contradiction. */
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/space.h"
#include "study/study.h"
#include "study/study_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* What a daemon does with a study that was accepted. */
static void use(const struct dp_study *s)
{
	double x[DP_PARAMS_MAX];
	struct dp_epsilon e;
	uint64_t points = s->search.method == DP_METHOD_GRID ? dp_space_grid_size(s) : 0;
	json_t *v;

	must(s->name && s->trainer.argv && s->trainer.argv[0]);
	must(s->nparams >= 1 && s->nobjectives >= 2 && s->search.evaluations >= 1);
	must(points <= DP_GRID_MAX);
	for (uint32_t trial = 0; trial < 4; trial++) {
		if (points)
			dp_space_grid_point(s, points * trial / 4, x);
		else
			dp_space_sample(s, trial, trial % 2, x);
		for (size_t i = 0; i < s->nparams; i++)
			must(isfinite(x[i]));
		v = dp_space_to_json(s, x);
		must(v && json_object_size(v) == s->nparams);
		json_decref(v);
		/* bindings were checked against the ranges: no point is refused */
		for (size_t i = 0; i < s->nobjectives; i++)
			if (s->objectives[i].privacy)
				must(dp_objective_epsilon(s, i, x, &e, NULL) == DP_OK &&
				     e.epsilon > 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a copy of exact size, so that a read behind it is seen */
	char *text = malloc(size ? size : 1);
	struct dp_buf out = DP_BUF_INIT;
	struct dp_diagnostics problems;
	struct dp_study *s = NULL;
	struct dp_err err;
	json_t *list;
	int code;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	code = dp_study_parse(text, size, "f", "/d", &s, &problems, &err);
	must(code == DP_OK ? s && !problems.error_count : !s && problems.error_count);
	if (s)
		use(s);
	dp_diagnostics_format(&problems, "f", text, size, &out);
	list = dp_diagnostics_to_json(&problems, text, size);
	must(list && json_array_size(list) == problems.count);
	json_decref(list);
	dp_buf_free(&out);
	dp_diagnostics_free(&problems);
	dp_study_free(s);
	free(text);
	return 0;
}
