/* mechanism_cache.c - a mechanism with a cache for many evaluations. */
#include "privacy/privacy_internal.h"

#include <stdlib.h>

struct dp_mechanism_cache {
	const struct dp_mechanism *mechanism;
	struct dp_privacy_workspace workspace;
};

void dp__workspace_init(struct dp_privacy_workspace *m)
{
	m->wor = dp__rdp_wor_new();
	m->pld = dp__pld_new();
}

void dp__workspace_free(struct dp_privacy_workspace *m)
{
	dp__rdp_wor_free(m->wor);
	dp__pld_free(m->pld);
}

struct dp_mechanism_cache *dp_mechanism_cache_new(const struct dp_mechanism *m)
{
	struct dp_mechanism_cache *p = dp_calloc(1, sizeof *p);

	p->mechanism = m;
	if (m->epsilon_cached)
		dp__workspace_init(&p->workspace);
	return p;
}

void dp_mechanism_cache_free(struct dp_mechanism_cache *p)
{
	if (!p)
		return;
	dp__workspace_free(&p->workspace);
	free(p);
}

double dp__prepared_work(const struct dp_mechanism_cache *p)
{
	return p->mechanism->epsilon_cached
		       ? dp__wor_work(p->workspace.wor) + dp__loss_work(p->workspace.pld)
		       : 0;
}

void dp__prepared_limit(struct dp_mechanism_cache *p, double share)
{
	if (p->mechanism->epsilon_cached)
		dp__loss_limit(p->workspace.pld, share);
}

bool dp__prepared_limited(const struct dp_mechanism_cache *p)
{
	return p->mechanism->epsilon_cached && dp__loss_limited(p->workspace.pld);
}

int dp_mechanism_cache_epsilon(struct dp_mechanism_cache *p, const double *values,
			       struct dp_epsilon *out, struct dp_err *err)
{
	const struct dp_mechanism *m = p->mechanism;
	double full[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon answer;
	int code = dp_privacy_check_values(m, values, full, err);

	if (code != DP_OK)
		return code;
	code = m->epsilon_cached ? m->epsilon_cached(&p->workspace, full, &answer, err)
				 : m->epsilon(full, &answer, err);
	if (code == DP_OK)
		*out = answer;
	return code;
}
