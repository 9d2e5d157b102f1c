/* propose.c - the proposers by name; each method is one const entry. */
#include "propose/propose.h"

struct method {
	const char *name;
	uint64_t (*limit)(const struct dp_study *study);
	int (*propose)(const struct dp_study *study, uint32_t trial, double *x,
		       struct dp_err *err);
};

static uint64_t no_limit(const struct dp_study *study)
{
	(void)study;
	return UINT64_MAX;
}

static int random_point(const struct dp_study *study, uint32_t trial, double *x,
			struct dp_err *err)
{
	(void)err;
	dp_space_sample(study, trial, false, x);
	return DP_OK;
}

static int grid_point(const struct dp_study *study, uint32_t trial, double *x,
		      struct dp_err *err)
{
	if (trial >= dp_space_grid_size(study))
		return dp_fail(err, DP_E_LIMIT, "the grid has no point %u", trial);
	dp_space_grid_point(study, trial, x);
	return DP_OK;
}

static const struct method methods[] = {
	[DP_METHOD_RANDOM] = { "random", no_limit, random_point },
	[DP_METHOD_GRID] = { "grid", dp_space_grid_size, grid_point },
	[DP_METHOD_DPARETO] = { "dpareto", NULL, NULL },
};

int dp_propose_check(const struct dp_study *study, struct dp_err *err)
{
	const struct method *m = &methods[study->search.method];

	if (m->propose)
		return DP_OK;
	dp_fail(err, DP_E_INVALID, "search method '%s' is not in this version", m->name);
	return dp_hint(err, "use 'method: random' or 'method: grid'");
}

uint64_t dp_propose_limit(const struct dp_study *study)
{
	const struct method *m = &methods[study->search.method];

	return m->limit ? m->limit(study) : 0;
}

int dp_propose(const struct dp_study *study, uint32_t trial, struct dp_proposal *out,
	       struct dp_err *err)
{
	const struct method *m = &methods[study->search.method];
	int code = dp_propose_check(study, err);

	if (code != DP_OK)
		return code;
	out->source = m->name;
	return m->propose(study, trial, out->x, err);
}
