/* launch.c - prepares the directory, request, command and environment of an attempt. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "base/units.h"
#include "base/program.h"
#include "base/rng.h"
#include "daemon/core/argv.h"
#include "daemon/core/background_job.h"
#include "study/accounting.h"
#include "study/metric_release.h"
#include "study/seeds.h"
#include "study/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- the request, the environment, the command ---- */

/* The accounting part of the request; NULL without a privacy objective. */
static json_t *launch_accounted_json(const struct job *j)
{
	const struct dp_trial *t = job_trial(j);

	if (!dp_study_has_privacy(j->spec))
		return NULL;
	/* a retried trial has its epsilon among its objectives */
	return dp_objectives_accounting_json(j->spec, j->x, j->at,
					     t->privacy ? t->privacy : t->objectives);
}

static int launch_write_request(const struct job *j, struct dp_err *err)
{
	struct dp_trainer_request r = { .study = j->spec->name,
					.trial = j->trial,
					.attempt = j->attempt };
	double waypoints[DP_CHECKPOINTS_MAX];
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(j->directory, "request.json");
	size_t room = j->runs;
	int code;

	if (j->spec->trainer.learning_curve.points && j->kind == DP_TRIAL_SEARCH) {
		r.path_parameter = j->spec->params[j->spec->trainer.learning_curve.param].name;
		r.checkpoints = waypoints;
		r.ncheckpoints = (uint32_t)job_list_checkpoints(j, waypoints);
	}
	r.parameters = dp_space_to_json_at(j->spec, j->x, j->at);
	r.runs = dp_calloc(room, sizeof *r.runs);
	r.seeds = dp_calloc(room, sizeof *r.seeds);
	r.privacy = launch_accounted_json(j);
	r.nruns = job_list_runs(j, r.runs);
	for (uint32_t i = 0; i < r.nruns; i++)
		r.seeds[i] = dp_study_run_seed(j->spec, j->trial, r.runs[i]);
	dp_trainer_request_format(&r, &text);
	code = dp_write_new_file(path, text.data, text.len, err);
	json_decref(r.parameters);
	json_decref(r.privacy);
	free(r.runs);
	free(r.seeds);
	free(path);
	dp_buf_free(&text);
	return code;
}

/* True if "NAME=value" sets one of these names ("A=" exact, "A_*" prefix). */
static bool launch_env_is_dropped(const char *entry, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (strncmp(entry, *names, n - ((*names)[n - 1] == '*')) == 0)
			return true;
	}
	return false;
}

static bool launch_env_has(char *const *list, const char *name_equals)
{
	for (; list && *list; list++)
		if (strncmp(*list, name_equals, strlen(name_equals)) == 0)
			return true;
	return false;
}

static void launch_add_slot_env(struct argv_list *env, const json_t *slot_env, int32_t slot)
{
	const char *name;
	json_t *values;

	if (slot < 0)
		return;
	json_object_foreach ((json_t *)slot_env, name, values)
		argv_add(env, "%s=%s", name,
			 json_string_value(json_array_get(values, (size_t)slot)));
	argv_add(env, "DPARETO_SLOT=%d", (int)slot);
}

/* Copies NAME and '=' of "NAME=value", truncated to `room`. */
static void launch_env_key(const char *entry, char *out, size_t room)
{
	size_t name = strcspn(entry, "="), most = room - 2;

	snprintf(out, room, "%.*s=", (int)(name < most ? name : most), entry);
}

/* Builds the environment (trainer protocol 1.2): the daemon's, without the variables of its service
 * manager; then the study's; then the slot's, which say which devices may be used; then DPARETO_*,
 * which nothing can override. slot: -1 for none. */
static void launch_build_env(struct argv_list *env, const struct study *study, int32_t slot)
{
	static const char *const dropped[] = {
		"NOTIFY_SOCKET=",     "LISTEN_*",       "WATCHDOG_*",     "DPARETO_REQUEST=",
		"DPARETO_RESULT=",    "DPARETO_STUDY=", "DPARETO_TRIAL=", "DPARETO_ATTEMPT=",
		"DPARETO_STUDY_DIR=", "DPARETO_CLAIM=", "DPARETO_SLOT=",  NULL
	};
	char *const *own = study->state->spec->trainer.env;
	struct argv_list machine = { 0 };
	char key[256];

	launch_add_slot_env(&machine, study->daemon->config.slot_env, slot);
	for (char **e = environ; *e; e++) {
		launch_env_key(*e, key, sizeof key);
		if (!launch_env_is_dropped(*e, dropped) && !launch_env_has(own, key) &&
		    !launch_env_has(machine.list, key))
			argv_add(env, "%s", *e);
	}
	for (char *const *e = own; e && *e; e++) {
		launch_env_key(*e, key, sizeof key);
		if (!launch_env_has(machine.list, key))
			argv_add(env, "%s", *e);
	}
	for (size_t i = 0; i < machine.n; i++)
		argv_add(env, "%s", machine.list[i]);
	argv_free_list(machine.list);
	argv_add(env, "DPARETO_STUDY=%s", study->state->spec->name);
	argv_add(env, "DPARETO_STUDY_DIR=%s", study->state->dir);
	if (!launch_env_has(env->list, "OMP_NUM_THREADS="))
		argv_add(env, "OMP_NUM_THREADS=1");
}

static void launch_build_attempt_env(struct argv_list *env, const struct job *j)
{
	char *claim = lease_file_path(j->directory, ".claim");

	launch_build_env(env, j->study, j->slot);
	argv_add(env, "DPARETO_REQUEST=%s/request.json", j->directory);
	argv_add(env, "DPARETO_RESULT=%s/result.jsonl", j->directory);
	argv_add(env, "DPARETO_TRIAL=%u", j->trial);
	argv_add(env, "DPARETO_ATTEMPT=%u", j->attempt);
	/* identifies all its processes: orphans.c */
	argv_add(env, "DPARETO_CLAIM=%s", claim);
	free(claim);
}

/* Appends the program and its limit of open files; the daemon raised its own. */
static void launch_add_program(struct argv_list *argv, const struct daemon *d, const char *cwd,
			       char *const *program)
{
	struct dp_program_search bin = { d->paths.bin_dir, NULL };
	char *beside;

	argv_add(argv, "--open-files");
	argv_add(argv, "%llu", (unsigned long long)d->fd_limits.inherited_limit);
	if (cwd) {
		argv_add(argv, "--cwd");
		argv_add(argv, "%s", cwd);
	}
	argv_add(argv, "--");
	/* a bare name: the daemon's bin directory first; the shim then searches PATH */
	beside = strchr(program[0], '/') ? NULL : dp_program_find(program[0], &bin);
	argv_add(argv, "%s", beside ? beside : program[0]);
	free(beside);
	for (char *const *a = program + 1; *a; a++)
		argv_add(argv, "%s", *a);
}

static void launch_build_argv(struct argv_list *argv, const struct job *j,
			      const struct launch_options *how)
{
	const struct dp_trainer *t = &j->spec->trainer;
	char number[DP_NUM_LEN];

	argv_add(argv, "%s", how->shim_path ? how->shim_path : j->daemon->paths.shim_path);
	if (how->is_remote)
		argv_add(argv, "--elsewhere");
	argv_add(argv, "--dir");
	argv_add(argv, "%s", j->directory);
	argv_add(argv, "--beside");
	argv_take(argv, lease_file_path(j->directory, ""));
	if (how->cgroup) {
		argv_add(argv, "--cgroup");
		argv_add(argv, "%s", how->cgroup);
	}
	if (t->timeout > 0) {
		argv_add(argv, "--timeout");
		argv_add(argv, "%s", dp_num_text(t->timeout, number));
	}
	if (t->stall > 0) {
		argv_add(argv, "--stall");
		argv_add(argv, "%s", dp_num_text(t->stall, number));
	}
	if (t->memory_limit > 0) {
		argv_add(argv, "--memory");
		argv_add(argv, "%llu", (unsigned long long)t->memory_limit);
	}
	argv_add(argv, "--grace");
	argv_add(argv, "%s", dp_num_text(t->grace, number));
	argv_add(argv, "--log-limit");
	/* results are released with noise, but printed text would have none */
	argv_add(argv, "%llu",
		 dp_study_has_metric_release(j->spec) ? 0ULL : (unsigned long long)t->log_limit);
	launch_add_program(argv, j->daemon, t->cwd, t->argv);
}

/* Removes files that an earlier attempt of the same name left outside of its directory. */
static int launch_remove_old_lease(const struct job *j, struct dp_err *err)
{
	static const char *const names[] = { ".claim", ".exit", ".killed", ".job" };
	int code = lease_make_directory(j->directory, err);

	for (size_t i = 0; i < DP_COUNT(names) && code == DP_OK; i++) {
		char *path = lease_file_path(j->directory, names[i]);

		if (unlink(path) != 0 && errno != ENOENT)
			code = dp_fail_errno(err, errno, "cannot remove %s", path);
		free(path);
	}
	return code;
}

/* Moves what is in the way of the attempt's directory to the trash. It may be large, so a worker
 * thread removes it. */
static int launch_discard_directory(const struct job *j, struct dp_err *err)
{
	char *trash = dp_path_join(j->daemon->paths.state_dir, "trash");
	char *place = dp_path_join(trash, "attempt-XXXXXX");
	int code = dp_mkdirs(trash, 0700, err);

	free(trash);
	if (code == DP_OK && (!mkdtemp(place) || rename(j->directory, place) != 0))
		code = dp_fail_errno(err, errno, "cannot move %s away", j->directory);
	if (code == DP_OK)
		remove_tree_in_background(j->daemon, place);
	else
		free(place);
	return code;
}

/* Makes an empty directory: files of an earlier attempt of the same name must not count. */
static int launch_make_directory(const struct job *j, struct dp_err *err)
{
	char *slash = strrchr(j->directory, '/');
	int code;

	*slash = '\0';
	code = dp_mkdirs(j->directory, 0755, err);
	*slash = '/';
	if (code != DP_OK)
		return code;
	if (mkdir(j->directory, 0755) == 0)
		return DP_OK;
	code = errno == EEXIST ? launch_discard_directory(j, err) : DP_OK;
	if (code == DP_OK && mkdir(j->directory, 0755) != 0)
		code = dp_fail_errno(err, errno, "cannot create the folder %s", j->directory);
	return code;
}

int launch_prepare(const struct job *j, struct dp_err *err)
{
	int code = launch_make_directory(j, err);

	if (code == DP_OK)
		code = launch_remove_old_lease(j, err);
	return code == DP_OK ? launch_write_request(j, err) : code;
}

void launch_build_attempt(const struct job *j, const struct launch_options *how,
			  struct launch_command *out)
{
	struct argv_list argv = { 0 }, env = { 0 };

	launch_build_argv(&argv, j, how);
	launch_build_attempt_env(&env, j);
	*out = (struct launch_command){ argv.list, env.list };
}

void launch_build_accountant(const struct study *study, char *const *program,
			     struct launch_command *out)
{
	struct argv_list argv = { 0 }, env = { 0 };

	argv_add(&argv, "%s", study->daemon->paths.shim_path);
	argv_add(&argv, "--oracle");
	launch_add_program(&argv, study->daemon, study->state->dir, program);
	launch_build_env(&env, study, -1);
	*out = (struct launch_command){ argv.list, env.list };
}

void launch_clear(struct launch_command *l)
{
	argv_free_list(l->argv);
	argv_free_list(l->env);
}
