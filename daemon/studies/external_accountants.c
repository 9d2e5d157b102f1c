/* external_accountants.c - registers and stops the external accountants of studies. */
#include "daemon/studies/external_accountants.h"

#include "daemon/core/argv.h"
#include "study/accounting.h"

#include <stdlib.h>

#define ACCOUNTANT_IDLE_SECONDS 30.0 /* since the last query */

enum {
	ACCOUNTANTS_MANY = 16 /* if more run, idle ones stop at once */
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

void accountants_prepare(struct study *study)
{
	const struct dp_study *spec = study->state->spec;
	struct daemon *d = study->daemon;
	struct accountants *a;

	if (study->accountants || !accountants_are_external(spec))
		return;
	a = study->accountants = dp_calloc(1, sizeof *a);
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (objective_is_external(&spec->objectives[i]))
			d->attempts->accountant_command(study, spec->objectives[i].privacy->argv,
							&a->commands[i].argv, &a->commands[i].env);
	a->programs = dp_external_new(study->state->current_spec, a->commands,
				      &d->studies->n_accountant_programs);
}

void accountants_free(struct study *study)
{
	struct accountants *a = study->accountants;

	if (!a)
		return;
	dp_external_free(a->programs);
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++) {
		argv_free_list(a->commands[i].argv);
		argv_free_list(a->commands[i].env);
	}
	free(a);
	study->accountants = NULL;
}

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

void accountants_close(struct study *study)
{
	if (study->accountants)
		dp_external_cancel_all(study->accountants->programs);
}

void accountants_stop_if_not_running(struct study *study)
{
	if (study->accountants && study->state->status != DP_STUDY_RUNNING)
		dp_external_stop(study->accountants->programs); /* else the next tick does it */
}

void accountants_stop_idle(struct study *study)
{
	bool many = atomic_load(&study->daemon->studies->n_accountant_programs) > ACCOUNTANTS_MANY;

	if (study->accountants)
		dp_external_stop_idle(study->accountants->programs,
				      many ? 0 : ACCOUNTANT_IDLE_SECONDS);
}
