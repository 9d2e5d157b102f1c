/* oracles.c - the oracle programs of studies: when they are made, and when ended. */
#include "daemon/oracles.h"

#include "daemon/ask.h"
#include "daemon/executor.h"

#include <stdlib.h>

#define IDLE_SECONDS 30.0 /* a program that nobody asks */

enum {
	CROWD = 16 /* if more run, they go at once */
};

struct oracles {
	struct dp_program_command command[DP_OBJECTIVES_MAX];
	struct dp_programs *programs;
};

static bool is_program(const struct dp_objective *o)
{
	return o->privacy && o->privacy->kind == DP_ORACLE_PROGRAM;
}

bool oracles_has(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (is_program(&spec->objectives[i]))
			return true;
	return false;
}

/* ---- making and freeing ---- */

static int oracles_command(const struct study *h, struct oracles *o, struct dp_err *err)
{
	const struct dp_study *spec = h->state->spec;

	for (size_t i = 0; i < spec->nobjectives; i++) {
		struct launch launch;
		int code;

		if (!is_program(&spec->objectives[i]))
			continue;
		code = launch_oracle(h, spec->objectives[i].privacy->argv, &launch, err);
		if (code != DP_OK)
			return code;
		o->command[i] = (struct dp_program_command){ launch.argv, launch.env };
	}
	return DP_OK;
}

int oracles_prepare(struct study *h, struct dp_err *err)
{
	int code = DP_E_NOMEM;

	if (h->oracles || !oracles_has(h->state->spec))
		return DP_OK;
	h->oracles = calloc(1, sizeof *h->oracles);
	if (h->oracles && oracles_command(h, h->oracles, err) == DP_OK) {
		h->oracles->programs =
			dp_programs_new(h->state->now, h->oracles->command, &h->d->programs);
		code = h->oracles->programs ? DP_OK : DP_E_NOMEM;
	}
	if (code == DP_OK)
		return DP_OK;
	oracles_free(h);
	return dp_fail(err, code, "no memory for the oracle program");
}

void oracles_free(struct study *h)
{
	if (!h->oracles)
		return;
	dp_programs_free(h->oracles->programs);
	for (size_t i = 0; i < DP_OBJECTIVES_MAX; i++) {
		struct launch launch = { h->oracles->command[i].argv, h->oracles->command[i].env };

		launch_clear(&launch);
	}
	free(h->oracles);
	h->oracles = NULL;
}

/* ---- asking ---- */

const struct dp_oracle_asker *oracles_asker(const struct study *h, const atomic_bool *cancel,
					    struct oracles_turn *t)
{
	if (!h->oracles)
		return NULL;
	t->turn = (struct dp_programs_turn){ .programs = h->oracles->programs, .cancel = cancel };
	t->asker = (struct dp_oracle_asker){ dp_programs_ask, &t->turn };
	return &t->asker;
}

/* ---- ending ---- */

void oracles_close(struct study *h)
{
	if (h->oracles)
		dp_programs_close(h->oracles->programs);
}

void oracles_settle(struct study *h)
{
	if (!h->oracles || h->state->status == DP_STUDY_RUNNING)
		return;
	ask_cancel_point(h);
	dp_programs_rest(h->oracles->programs); /* or the next tick does it */
}

static double oracles_patience(const struct dpd *d)
{
	return atomic_load(&d->programs) > CROWD ? 0 : IDLE_SECONDS;
}

void oracles_asked(struct study *h)
{
	if (h->oracles)
		dp_programs_rest_idle(h->oracles->programs, oracles_patience(h->d));
}

void oracles_tick(struct dpd *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *h = d->studies[i];

		if (!h->oracles)
			continue;
		oracles_settle(h);
		dp_programs_rest_idle(h->oracles->programs, oracles_patience(d));
	}
}
