/* prepare.c - a mechanism prepared for many evaluations. */
#include "privacy/privacy_internal.h"

#include <stdlib.h>

struct dp_privacy_prepared {
	const struct dp_mechanism *mechanism;
	struct dp_privacy_memory memory;
};

bool dp__memory_open(struct dp_privacy_memory *m)
{
	m->wor = dp__wor_new();
	m->loss = dp__loss_new();
	return m->wor && m->loss;
}

void dp__memory_close(struct dp_privacy_memory *m)
{
	dp__wor_free(m->wor);
	dp__loss_free(m->loss);
}

struct dp_privacy_prepared *dp_privacy_prepare(const struct dp_mechanism *m)
{
	struct dp_privacy_prepared *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->mechanism = m;
	if (m->prepared && !dp__memory_open(&p->memory)) {
		dp_privacy_prepared_free(p);
		return NULL;
	}
	return p;
}

void dp_privacy_prepared_free(struct dp_privacy_prepared *p)
{
	if (!p)
		return;
	dp__memory_close(&p->memory);
	free(p);
}

double dp__prepared_work(const struct dp_privacy_prepared *p)
{
	return p->mechanism->prepared ? dp__wor_work(p->memory.wor) + dp__loss_work(p->memory.loss)
				      : 0;
}

void dp__prepared_limit(struct dp_privacy_prepared *p, double share)
{
	if (p->mechanism->prepared)
		dp__loss_limit(p->memory.loss, share);
}

bool dp__prepared_limited(const struct dp_privacy_prepared *p)
{
	return p->mechanism->prepared && dp__loss_limited(p->memory.loss);
}

int dp_privacy_eval(struct dp_privacy_prepared *p, const double *values, struct dp_epsilon *out,
		    struct dp_err *err)
{
	const struct dp_mechanism *m = p->mechanism;
	double full[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon answer;
	int code = dp_privacy_check(m, values, full, err);

	if (code != DP_OK)
		return code;
	code = m->prepared ? m->prepared(&p->memory, full, &answer, err)
			   : m->epsilon(full, &answer, err);
	if (code == DP_OK)
		*out = answer;
	return code;
}
