/* launch.c - what an attempt is given, whoever starts it: its folder, its request, the
 * wrapper's command and environment. */
#include "daemon/executor.h"

#include "base/fs.h"
#include "base/num.h"
#include "base/program.h"
#include "base/rng.h"
#include "daemon/strings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* ---- the request, the environment, the command ---- */

/* What is accounted for; none without a privacy objective. False without memory. */
static bool launch_accounted(const struct job *j, json_t **out)
{
	const struct dp_trial *t = job_trial(j);

	*out = NULL;
	if (!dp_study_accounts(j->spec))
		return true;
	/* a trial that is retried has its epsilon among its objectives already */
	*out = dp_objectives_accounted(j->spec, j->x, j->at,
				       t->privacy ? t->privacy : t->objectives);
	return *out != NULL;
}

static int launch_request(const struct job *j, struct dp_err *err)
{
	struct dp_request r = { .study = j->spec->name, .trial = j->trial, .attempt = j->attempt };
	double waypoints[DP_WAYPOINTS_MAX];
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(j->folder, "request.json");
	size_t room = j->runs;
	int code;

	if (j->spec->trainer.path.points && !dp_is_measuring(j->trial)) {
		r.path = j->spec->params[j->spec->trainer.path.param].name;
		r.waypoints = waypoints;
		r.nwaypoints = (uint32_t)job_waypoints(j, waypoints);
	}
	r.parameters = dp_space_json_at(j->spec, j->x, j->at);
	r.runs = calloc(room, sizeof *r.runs);
	r.seeds = calloc(room, sizeof *r.seeds);
	if (!launch_accounted(j, &r.privacy) || !path || !r.parameters || !r.runs || !r.seeds) {
		code = dp_fail(err, DP_E_NOMEM, "no memory for a request");
		goto out;
	}
	r.nruns = job_runs(j, r.runs);
	for (uint32_t i = 0; i < r.nruns; i++)
		r.seeds[i] = dp_study_run_seed(j->spec, j->trial, r.runs[i]);
	dp_request_text(&r, &text);
	code = text.failed ? dp_fail(err, DP_E_NOMEM, "no memory for a request")
			   : dp_write_new(path, text.data, text.len, err);
out:
	json_decref(r.parameters);
	json_decref(r.privacy);
	free(r.runs);
	free(r.seeds);
	free(path);
	dp_buf_free(&text);
	return code;
}

/* Does "NAME=value" set one of these names ("A=" whole, "A_*" a beginning)? */
static bool launch_drops(const char *entry, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (strncmp(entry, *names, n - ((*names)[n - 1] == '*')) == 0)
			return true;
	}
	return false;
}

static bool launch_has(char *const *list, const char *name_equals)
{
	for (; list && *list; list++)
		if (strncmp(*list, name_equals, strlen(name_equals)) == 0)
			return true;
	return false;
}

/* What the slot's number and the configuration say of it. */
static void launch_slot(struct strings *env, const json_t *slot_env, int32_t slot)
{
	const char *name;
	json_t *values;

	if (slot < 0)
		return;
	json_object_foreach ((json_t *)slot_env, name, values)
		strings_add(env, "%s=%s", name,
			    json_string_value(json_array_get(values, (size_t)slot)));
	strings_add(env, "DPARETO_SLOT=%d", (int)slot);
}

/* The name of "NAME=value" with its '=', as much of it as there is room for. */
static void launch_name(const char *entry, char *out, size_t room)
{
	size_t name = strcspn(entry, "="), most = room - 2;

	snprintf(out, room, "%.*s=", (int)(name < most ? name : most), entry);
}

/* Contract 1.2: the daemon's own, less what belongs to its service manager; then the
 * study's; then the slot's, which are the machine's word about what may be used of it;
 * then ours, which nobody can override. slot: -1 for none. */
static void launch_environment(struct strings *env, const struct study *h, int32_t slot)
{
	static const char *const dropped[] = {
		"NOTIFY_SOCKET=",     "LISTEN_*",       "WATCHDOG_*",     "DPARETO_REQUEST=",
		"DPARETO_RESULT=",    "DPARETO_STUDY=", "DPARETO_TRIAL=", "DPARETO_ATTEMPT=",
		"DPARETO_STUDY_DIR=", "DPARETO_CLAIM=", "DPARETO_SLOT=",  NULL
	};
	char *const *own = h->state->spec->trainer.env;
	struct strings machine = { 0 };
	char key[256];

	launch_slot(&machine, h->d->config.slot_env, slot);
	env->failed |= machine.failed;
	for (char **e = environ; *e; e++) {
		launch_name(*e, key, sizeof key);
		if (!launch_drops(*e, dropped) && !launch_has(own, key) &&
		    !launch_has(machine.list, key))
			strings_add(env, "%s", *e);
	}
	for (char *const *e = own; e && *e; e++) {
		launch_name(*e, key, sizeof key);
		if (!launch_has(machine.list, key))
			strings_add(env, "%s", *e);
	}
	for (size_t i = 0; i < machine.n; i++)
		strings_add(env, "%s", machine.list[i]);
	strings_free_list(machine.list);
	strings_add(env, "DPARETO_STUDY=%s", h->state->spec->name);
	strings_add(env, "DPARETO_STUDY_DIR=%s", h->state->dir);
	if (!env->failed && !launch_has(env->list, "OMP_NUM_THREADS="))
		strings_add(env, "OMP_NUM_THREADS=1");
}

static void launch_environment_attempt(struct strings *env, const struct job *j)
{
	char *claim = claim_beside(j->folder, ".claim");

	launch_environment(env, j->home, j->slot);
	strings_add(env, "DPARETO_REQUEST=%s/request.json", j->folder);
	strings_add(env, "DPARETO_RESULT=%s/result.jsonl", j->folder);
	strings_add(env, "DPARETO_TRIAL=%u", j->trial);
	strings_add(env, "DPARETO_ATTEMPT=%u", j->attempt);
	/* what all of its processes are known by: leftover.c */
	if (claim)
		strings_add(env, "DPARETO_CLAIM=%s", claim);
	env->failed |= !claim;
	free(claim);
}

/* The end of the wrapper's command: what it is to run, and how many files that may open;
 * the daemon raised its own limit. */
static void launch_program(struct strings *argv, const struct dpd *d, const char *cwd,
			   char *const *program)
{
	struct dp_program_places bin = { d->at.bin_dir, NULL };
	char *beside;

	strings_add(argv, "--open-files");
	strings_add(argv, "%llu", (unsigned long long)d->descriptors.given);
	if (cwd) {
		strings_add(argv, "--cwd");
		strings_add(argv, "%s", cwd);
	}
	strings_add(argv, "--");
	/* a bare name: our own bin folder first, then the shim looks through PATH */
	beside = strchr(program[0], '/') ? NULL : dp_program_find(program[0], &bin);
	strings_add(argv, "%s", beside ? beside : program[0]);
	free(beside);
	for (char *const *a = program + 1; *a; a++)
		strings_add(argv, "%s", *a);
}

static void launch_argv(struct strings *argv, const struct job *j, const struct launch_how *how)
{
	const struct dp_trainer *t = &j->spec->trainer;
	char number[DP_NUM_LEN];

	strings_add(argv, "%s", how->shim ? how->shim : j->d->at.shim);
	if (how->elsewhere)
		strings_add(argv, "--elsewhere");
	strings_add(argv, "--dir");
	strings_add(argv, "%s", j->folder);
	strings_add(argv, "--beside");
	strings_take(argv, claim_beside(j->folder, ""));
	if (how->cgroup) {
		strings_add(argv, "--cgroup");
		strings_add(argv, "%s", how->cgroup);
	}
	if (t->timeout > 0) {
		strings_add(argv, "--timeout");
		strings_add(argv, "%s", dp_num_text(t->timeout, number));
	}
	if (t->stall > 0) {
		strings_add(argv, "--stall");
		strings_add(argv, "%s", dp_num_text(t->stall, number));
	}
	if (t->memory > 0) {
		strings_add(argv, "--memory");
		strings_add(argv, "%llu", (unsigned long long)t->memory);
	}
	strings_add(argv, "--grace");
	strings_add(argv, "%s", dp_num_text(t->grace, number));
	strings_add(argv, "--log-limit");
	/* what is released has noise, and what is printed has none */
	strings_add(argv, "%llu",
		    dp_study_releases(j->spec) ? 0ULL : (unsigned long long)t->log_limit);
	launch_program(argv, j->d, t->cwd, t->argv);
}

/* What an attempt of another life left outside of its folder. */
static int launch_clear_beside(const struct job *j, struct dp_err *err)
{
	static const char *const names[] = { ".claim", ".exit", ".killed", ".job" };
	int code = claim_folder(j->folder, err);

	for (size_t i = 0; i < DP_COUNT(names) && code == DP_OK; i++) {
		char *path = claim_beside(j->folder, names[i]);

		if (!path)
			code = dp_fail(err, DP_E_NOMEM, "no memory to start");
		else if (unlink(path) != 0 && errno != ENOENT)
			code = dp_fail_errno(err, errno, "cannot remove %s", path);
		free(path);
	}
	return code;
}

/* A new, empty folder for the attempt. Files of another life of this name must not be
 * taken for this attempt's. */
static int launch_folder(const struct job *j, struct dp_err *err)
{
	char *slash = strrchr(j->folder, '/');
	int code;

	*slash = '\0';
	code = dp_mkdirs(j->folder, 0755, err);
	*slash = '/';
	if (code != DP_OK)
		return code;
	if (mkdir(j->folder, 0755) == 0)
		return DP_OK;
	code = errno == EEXIST ? dp_remove_tree(j->folder, err) : DP_OK;
	if (code == DP_OK && mkdir(j->folder, 0755) != 0)
		code = dp_fail_errno(err, errno, "cannot create the folder %s", j->folder);
	return code;
}

int launch_prepare(const struct job *j, struct dp_err *err)
{
	int code = launch_folder(j, err);

	if (code == DP_OK)
		code = launch_clear_beside(j, err);
	return code == DP_OK ? launch_request(j, err) : code;
}

/* Takes both lists. */
static int launch_made(const struct strings *argv, const struct strings *env, struct launch *out,
		       struct dp_err *err)
{
	*out = (struct launch){ .argv = argv->list, .env = env->list };
	if (!argv->failed && !env->failed)
		return DP_OK;
	launch_clear(out);
	*out = (struct launch){ 0 };
	return dp_fail(err, DP_E_NOMEM, "no memory to start");
}

int launch_command(const struct job *j, const struct launch_how *how, struct launch *out,
		   struct dp_err *err)
{
	struct strings argv = { 0 }, env = { 0 };

	launch_argv(&argv, j, how);
	launch_environment_attempt(&env, j);
	return launch_made(&argv, &env, out, err);
}

int launch_oracle(const struct study *h, char *const *program, struct launch *out,
		  struct dp_err *err)
{
	struct strings argv = { 0 }, env = { 0 };

	strings_add(&argv, "%s", h->d->at.shim);
	strings_add(&argv, "--oracle");
	launch_program(&argv, h->d, h->state->dir, program);
	launch_environment(&env, h, -1);
	return launch_made(&argv, &env, out, err);
}

void launch_clear(struct launch *l)
{
	strings_free_list(l->argv);
	strings_free_list(l->env);
}
