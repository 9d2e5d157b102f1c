/* attempt_runner.c - implements the interface between studies and executors. */
#include "base/json.h"
#include "daemon/executors/executor.h"
#include "daemon/executors/job.h"
#include "state/state_json.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void runner_assign_executor(struct study *study)
{
	enum dp_executor wanted = study->state->current_spec->trainer.executor;
	struct executor *list = study->daemon->executors->list;

	study->executor = &list[0];
	for (struct executor *b = list; wanted != DP_EXECUTOR_DEFAULT && b->ops; b++)
		if (strcmp(b->ops->name, dp_executor_text(wanted)) == 0)
			study->executor = b;
}

static unsigned runner_capacity(const struct study *study)
{
	return study->executor->ops->capacity(study->executor);
}

static unsigned runner_free_slots(const struct study *study)
{
	return executor_free_slots(study->executor);
}

static bool runner_is_held(const struct study *study)
{
	return executor_is_held(study->executor);
}

static void runner_reserve_slots(struct study *study, int n)
{
	study->executor->n_reserved += (unsigned)n;
}

static bool runner_explain_trouble(const struct study *study, char *out, size_t room)
{
	const struct executor *b = study->executor;

	return jobs_describe_trouble(study, out, room) ||
	       (b->ops->explain_waiting && b->ops->explain_waiting(b, study, out, room));
}

static bool runner_explain_held(const struct study *study, char *out, size_t room)
{
	const struct launch_hold *hold = &study->executor->hold;

	if (!executor_is_held(study->executor))
		return false;
	snprintf(out, room, "%s; trying again in %.0f s", hold->reason,
		 (double)(hold->until_us - clock_now(study->daemon)) / 1e6);
	return true;
}

static void runner_explain_full(const struct study *study, char *out, size_t room)
{
	study->executor->ops->explain_full(study->executor, out, room);
}

static json_t *runner_job_json(const struct job *j)
{
	return json_pack("{s:I, s:n, s:I, s:o, s:o, s:o, s:f, s:o, s:o, s:o}", "trial",
			 (json_int_t)j->trial, "at", "attempt", (json_int_t)j->attempt, "slot",
			 j->slot < 0 ? json_null() : json_integer(j->slot), "run",
			 j->run == DP_RUN_ALL ? json_null() : json_integer(j->run), "started",
			 dp_time_json(j->started_us), "seconds",
			 (double)(clock_now(j->daemon) - j->started_us) / 1e6, "progress",
			 isnan(j->progress) ? json_null() : json_real(j->progress), "where",
			 dp_text_json(j->location[0] ? j->location : NULL), "parameters",
			 dp_space_to_json_at(j->spec, j->x, j->at));
}

static json_t *runner_running_json(const struct study *study)
{
	json_t *list = json_array();

	/* the list has the newest job first */
	for (struct job *j = study->daemon->executors->jobs; j; j = j->next)
		if (j->study == study && j->phase != JOB_PLANNED && j->phase != JOB_OVER)
			json_array_insert_new(list, 0, runner_job_json(j));
	return list;
}

/* FNV-1a. */
static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		digest = (digest ^ p[i]) * UINT64_C(1099511628211);
	return digest;
}

static uint64_t runner_running_digest(const struct study *study, uint64_t digest)
{
	const struct executors *all = study->daemon->executors;

	digest = digest_add(digest, &study->executor->hold.until_us, sizeof(int64_t));
	for (const struct job *j = all->jobs; j; j = j->next) {
		if (j->study != study)
			continue;
		digest = digest_add(digest, &j->trial, sizeof j->trial);
		digest = digest_add(digest, &j->attempt, sizeof j->attempt);
		digest = digest_add(digest, &j->phase, sizeof j->phase);
		digest = digest_add(digest, &j->progress, sizeof j->progress);
		digest = digest_add(digest, j->location, strlen(j->location));
		digest = digest_add(digest, j->trouble, strlen(j->trouble));
	}
	return digest;
}

static unsigned runner_count(const struct daemon *d)
{
	unsigned n = 0;

	for (const struct executor *b = d->executors->list; b->ops; b++)
		n += b->n_jobs;
	return n;
}

static void runner_accountant_command(const struct study *study, char *const *program, char ***argv,
				      char ***env)
{
	struct launch_command command;

	launch_build_accountant(study, program, &command);
	*argv = command.argv;
	*env = command.env;
}

const struct attempt_runner executors_runner = {
	.assign_executor = runner_assign_executor,
	.capacity = runner_capacity,
	.free_slots = runner_free_slots,
	.is_held = runner_is_held,
	.reserve_slots = runner_reserve_slots,
	.launch = job_launch,
	.cancel = jobs_cancel,
	.explain_trouble = runner_explain_trouble,
	.explain_held = runner_explain_held,
	.explain_full = runner_explain_full,
	.running_json = runner_running_json,
	.running_digest = runner_running_digest,
	.count = runner_count,
	.accountant_command = runner_accountant_command,
};
