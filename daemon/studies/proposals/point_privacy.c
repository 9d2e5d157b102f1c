/* point_privacy.c - computes a point's epsilons and its share of search.budget, on worker threads
 * because accountants may be slow. */
#include "daemon/studies/proposals/proposals.h"

#include "daemon/studies/external_accountants.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/learning_curve.h"
#include "study/search_budget.h"

#include <math.h>
#include <stdio.h>

/* Queries external accountants for the checkpoints, too, before anything is trained. A refused
 * checkpoint only has no result, but a program that cannot answer is detected. Answers are
 * cached. */
static int point_privacy_probe_checkpoints(const struct dp_study *spec,
					   const struct dp_external_callback *asker,
					   const double *x, struct dp_err *err)
{
	double checkpoints[DP_CHECKPOINTS_MAX];
	size_t n = asker ? dp_learning_curve_checkpoints(spec, x, checkpoints) : 0;
	struct dp_epsilon e;

	for (size_t i = 0; i < n * spec->nobjectives; i++) {
		size_t objective = i % spec->nobjectives;
		const struct dp_accounting_spec *o = spec->objectives[objective].privacy;
		int code = DP_OK;

		if (o && o->kind == DP_ACCOUNTING_EXTERNAL)
			code = dp_objective_epsilon_at(spec, asker, objective, x,
						       checkpoints[i / spec->nobjectives], &e, err);
		if (code != DP_OK && code != DP_E_INVALID)
			return code;
	}
	return DP_OK;
}

int point_privacy_compute(const struct study *study, const atomic_bool *cancel, double *x,
			  double *privacy, char refused[POINT_REFUSAL_LEN], struct dp_err *err)
{
	const struct dp_study *spec = study->state->spec;
	struct accountants_turn turn;
	const struct dp_external_callback *asker = accountants_get_asker(study, cancel, &turn);
	int code = dp_space_solve_calibrated(spec, x, err);

	if (code == DP_OK)
		code = dp_objectives_epsilon_at(spec, asker, x, NAN, privacy, err);
	refused[0] = '\0';
	if (code == DP_OK)
		return point_privacy_probe_checkpoints(spec, asker, x, err);
	if (asker && code != DP_E_INVALID)
		return code;
	snprintf(refused, POINT_REFUSAL_LEN, "%.299s", err->msg);
	return DP_OK;
}

int point_privacy_renyi(const struct dp_study *spec, double order, const double *x, double at,
			double *k, struct dp_err *err)
{
	struct dp_renyi_cache *m;
	int code;

	*k = NAN;
	if (order == 0)
		return DP_OK;
	m = dp_renyi_cache_new();
	code = dp_study_training_renyi(spec, m, dp_budget_objective(spec), x, at, &order, 1, k,
				       err);
	dp_renyi_cache_free(m);
	return code == DP_E_INVALID ? DP_OK : code; /* +inf: not affordable */
}
