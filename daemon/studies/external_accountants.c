/* external_accountants.c - the oracle programs of studies: when they are made, and when ended. */
#include "daemon/studies/external_accountants.h"

#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/executors/executor.h"

#include <stdlib.h>

#define ACCOUNTANT_IDLE_SECONDS 30.0 /* a program that nobody asks */

enum {
	ACCOUNTANTS_MANY = 16 /* if more run, they go at once */
};

struct accountants {
	struct dp_external_command commands[DP_OBJECTIVES_MAX];
	struct dp_external_accountants *programs;
};

static bool objective_is_external(const struct dp_objective *o)
{
	return o->privacy && o->privacy->kind == DP_ACCOUNTING_EXTERNAL;
}

bool accountants_are_external(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (objective_is_external(&spec->objectives[i]))
			return true;
	return false;
}

/* ---- making and freeing ---- */

static int accountants_build_commands(const struct study *study, struct accountants *o,
				      struct dp_err *err)
{
	const struct dp_study *spec = study->state->spec;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		struct launch_command launch;
		int code;

		if (!objective_is_external(&spec->objectives[i]))
			continue;
		code = launch_build_accountant(study, spec->objectives[i].privacy->argv, &launch,
					       err);
		if (code != DP_OK)
			return code;
		o->commands[i] = (struct dp_external_command){ launch.argv, launch.env };
	}
	return DP_OK;
}

int accountants_prepare(struct study *study, struct dp_err *err)
{
	int code = DP_E_NOMEM;

	if (study->accountants || !accountants_are_external(study->state->spec))
		return DP_OK;
	study->accountants = dp_calloc(1, sizeof *study->accountants);
	if (study->accountants &&
	    accountants_build_commands(study, study->accountants, err) == DP_OK) {
		study->accountants->programs =
			dp_external_new(study->state->current_spec, study->accountants->commands,
					&study->daemon->n_accountant_programs);
		code = study->accountants->programs ? DP_OK : DP_E_NOMEM;
	}
	if (code == DP_OK)
		return DP_OK;
	accountants_free(study);
	return dp_fail(err, code, "no memory for the oracle program");
}

void accountants_free(struct study *study)
{
	if (!study->accountants)
		return;
	dp_external_free(study->accountants->programs);
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++) {
		struct launch_command launch = { study->accountants->commands[i].argv,
						 study->accountants->commands[i].env };

		launch_clear(&launch);
	}
	free(study->accountants);
	study->accountants = NULL;
}

/* ---- asking ---- */

const struct dp_external_callback *accountants_get_asker(const struct study *study,
							 const atomic_bool *cancel,
							 struct accountants_turn *t)
{
	if (!study->accountants)
		return NULL;
	t->turn = (struct dp_external_caller){ .accountants = study->accountants->programs,
					       .cancel = cancel };
	t->asker = (struct dp_external_callback){ dp_external_epsilon, &t->turn };
	return &t->asker;
}

/* ---- ending ---- */

void accountants_close(struct study *study)
{
	if (study->accountants)
		dp_external_cancel_all(study->accountants->programs);
}

void accountants_stop_if_not_running(struct study *study)
{
	if (!study->accountants || study->state->status == DP_STUDY_RUNNING)
		return;
	proposal_cancel_point(study);
	dp_external_stop(study->accountants->programs); /* or the next tick does it */
}

static double accountants_idle_limit(const struct daemon *d)
{
	return atomic_load(&d->n_accountant_programs) > ACCOUNTANTS_MANY ? 0
									 : ACCOUNTANT_IDLE_SECONDS;
}

void accountants_stop_idle(struct study *study)
{
	if (study->accountants)
		dp_external_stop_idle(study->accountants->programs,
				      accountants_idle_limit(study->daemon));
}

void accountants_tick(struct daemon *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *study = d->studies[i];

		if (!study->accountants)
			continue;
		accountants_stop_if_not_running(study);
		dp_external_stop_idle(study->accountants->programs, accountants_idle_limit(d));
	}
}
