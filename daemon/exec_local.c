/* exec_local.c - the local executor: a trainer is a process of this machine, under a
 * shim that outlives the daemon. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"
#include "base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

/* A list of strings that it owns; ends with NULL. */
struct strings {
	char **list;
	size_t n, room;
	bool failed;
};

static void strings_take(struct strings *s, char *text)
{
	char **grown;

	if (text && s->n + 2 > s->room) {
		grown = realloc(s->list, (s->room + 64) * sizeof *grown);
		if (!grown) {
			free(text);
			text = NULL;
		} else {
			s->list = grown;
			s->room += 64;
		}
	}
	if (!text) {
		s->failed = true;
		return;
	}
	s->list[s->n++] = text;
	s->list[s->n] = NULL;
}

static void strings_add(struct strings *s, const char *fmt, ...) DP_PRINTF(2, 3);
static void strings_add(struct strings *s, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	strings_take(s, text);
}

static void strings_free(struct strings *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i]);
	free(s->list);
}

/* ---- the request, the environment, the command ---- */

static int write_request(struct job *j, const struct dp_study_state *s,
			 const struct dp_trial *t, struct dp_err *err)
{
	struct dp_request r = { .study = s->spec->name,
				.trial = j->trial,
				.attempt = j->attempt };
	struct dp_buf text = DP_BUF_INIT;
	char *path = dp_path_join(j->folder, "request.json");
	size_t room = (size_t)s->spec->trainer.runs;
	int code;

	r.parameters = dp_space_json(s->spec, t->x);
	r.runs = calloc(room, sizeof *r.runs);
	r.seeds = calloc(room, sizeof *r.seeds);
	if (!path || !r.parameters || !r.runs || !r.seeds) {
		code = dp_fail(err, DP_E_NOMEM, "no memory for a request");
		goto out;
	}
	r.nruns = job_runs(s, j->run, r.runs);
	for (uint32_t i = 0; i < r.nruns; i++)
		r.seeds[i] = dp_run_seed(s->spec->seed, j->trial, r.runs[i]);
	dp_request_text(&r, &text);
	code = text.failed ? dp_fail(err, DP_E_NOMEM, "no memory for a request")
			   : dp_write_new(path, text.data, text.len, err);
out:
	json_decref(r.parameters);
	free(r.runs);
	free(r.seeds);
	free(path);
	dp_buf_free(&text);
	return code;
}

/* Does "NAME=value" set one of these names ("A=" whole, "A_*" a beginning)? */
static bool sets(const char *entry, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (strncmp(entry, *names, n - ((*names)[n - 1] == '*')) == 0)
			return true;
	}
	return false;
}

static bool has(char *const *list, const char *name_equals)
{
	for (; list && *list; list++)
		if (strncmp(*list, name_equals, strlen(name_equals)) == 0)
			return true;
	return false;
}

/* Contract 1.2: the daemon's own, less what belongs to its service manager; then the
 * study's; then ours, which nobody can override. */
static void environment(struct strings *env, const struct job *j,
			const struct dp_study_state *s)
{
	static const char *const dropped[] = { "NOTIFY_SOCKET=",     "LISTEN_*",
					       "WATCHDOG_*",         "DPARETO_REQUEST=",
					       "DPARETO_RESULT=",    "DPARETO_STUDY=",
					       "DPARETO_TRIAL=",     "DPARETO_ATTEMPT=",
					       "DPARETO_STUDY_DIR=", NULL };
	char *const *own = s->spec->trainer.env;

	for (char **e = environ; *e; e++) {
		size_t name = strcspn(*e, "=");
		char key[256];

		snprintf(key, sizeof key, "%.*s=", (int)(name < 250 ? name : 250), *e);
		if (!sets(*e, dropped) && !has(own, key))
			strings_add(env, "%s", *e);
	}
	for (char *const *e = own; e && *e; e++)
		strings_add(env, "%s", *e);
	strings_add(env, "DPARETO_REQUEST=%s/request.json", j->folder);
	strings_add(env, "DPARETO_RESULT=%s/result.jsonl", j->folder);
	strings_add(env, "DPARETO_STUDY=%s", s->spec->name);
	strings_add(env, "DPARETO_TRIAL=%u", j->trial);
	strings_add(env, "DPARETO_ATTEMPT=%u", j->attempt);
	strings_add(env, "DPARETO_STUDY_DIR=%s", s->dir);
	if (!env->failed && !has(env->list, "OMP_NUM_THREADS="))
		strings_add(env, "OMP_NUM_THREADS=1");
}

static void command(struct strings *argv, const struct job *j,
		    const struct dp_study_state *s)
{
	const struct dp_trainer *t = &s->spec->trainer;
	char number[DP_NUM_LEN];
	struct stat st;
	char *beside;

	strings_add(argv, "%s", j->d->shim);
	strings_add(argv, "--dir");
	strings_add(argv, "%s", j->folder);
	if (t->timeout > 0) {
		strings_add(argv, "--timeout");
		strings_add(argv, "%s", dp_num_text(t->timeout, number));
	}
	if (t->stall > 0) {
		strings_add(argv, "--stall");
		strings_add(argv, "%s", dp_num_text(t->stall, number));
	}
	strings_add(argv, "--grace");
	strings_add(argv, "%s", dp_num_text(t->grace, number));
	strings_add(argv, "--log-limit");
	strings_add(argv, "%llu", (unsigned long long)t->log_limit);
	if (t->cwd) {
		strings_add(argv, "--cwd");
		strings_add(argv, "%s", t->cwd);
	}
	strings_add(argv, "--");
	/* a bare name: our own bin folder first, then the shim looks through PATH */
	beside = strchr(t->argv[0], '/') ? NULL : dp_path_join(j->d->bin_dir, t->argv[0]);
	if (beside && stat(beside, &st) == 0 && S_ISREG(st.st_mode) &&
	    access(beside, X_OK) == 0)
		strings_add(argv, "%s", beside);
	else
		strings_add(argv, "%s", t->argv[0]);
	free(beside);
	for (char **a = t->argv + 1; *a; a++)
		strings_add(argv, "%s", *a);
}

/* posix_spawn, because uv_spawn of this libuv forks the whole heap. */
static int spawn_shim(struct job *j, char **argv, char **env, struct dp_err *err)
{
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	e = posix_spawn(&j->pid, j->d->shim, NULL, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	if (e != 0) {
		j->pid = 0;
		dp_fail_errno(err, e, "cannot start %s", j->d->shim);
		return dp_hint(err, "dpareto-shim belongs beside dparetod");
	}
	j->child = true;
	j->pidfd = pidfd_open(j->pid, 0);
	if (j->pidfd < 0) {
		e = errno;
		kill(j->pid, SIGTERM);
		return dp_fail_errno(err, e, "cannot watch process %d", (int)j->pid);
	}
	fcntl(j->pidfd, F_SETFD, FD_CLOEXEC);
	return DP_OK;
}

/* A new, empty folder for the attempt. Files of another life of this name must not be
 * taken for this attempt's. */
static int make_folder(const struct job *j, struct dp_err *err)
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
		code = dp_fail_errno(err, errno, "cannot create the folder %s",
				     j->folder);
	return code;
}

static int start(struct job *j, struct dp_err *err)
{
	struct dp_study_state *s = dp_state_by_id(&j->d->state, j->study);
	struct dp_trial *t = s ? dp_study_trial(s, j->trial) : NULL;
	struct strings argv = { 0 }, env = { 0 };
	int code;

	if (!t)
		return dp_fail(err, DP_E_NOT_FOUND, "the study is gone");
	code = make_folder(j, err);
	if (code == DP_OK)
		code = write_request(j, s, t, err);
	if (code != DP_OK)
		return code;
	command(&argv, j, s);
	environment(&env, j, s);
	code = argv.failed || env.failed ? dp_fail(err, DP_E_NOMEM, "no memory to start")
					 : spawn_shim(j, argv.list, env.list, err);
	strings_free(&argv);
	strings_free(&env);
	if (code != DP_OK)
		return code;
	j->started = dp_now_us();
	job_watch(j);
	return DP_OK;
}

/* ---- after a restart ---- */

/* Makes the claim, so that a shim that comes late cannot start. False if one is there. */
static bool take_claim(const char *claim)
{
	int fd = open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return false;
	if (write(fd, "daemon\n", 7) < 0) {
		/* the name is what counts */
	}
	close(fd);
	return true;
}

/* The shim that holds the claim, by pidfd; -1 if none does any more. The lock is
 * looked at again after the pidfd is open: then the number cannot have been reused. */
static int holder(const char *claim, pid_t *pid)
{
	char text[64] = "";
	int fd = open(claim, O_RDONLY | O_CLOEXEC), pidfd = -1;
	long number = 0;

	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		goto out; /* nobody holds it */
	if (pread(fd, text, sizeof text - 1, 0) > 0)
		number = strtol(text, NULL, 10);
	if (number > 1)
		pidfd = pidfd_open((pid_t)number, 0);
	if (pidfd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0) {
		close(pidfd);
		pidfd = -1;
	}
	*pid = (pid_t)number;
out:
	close(fd);
	return pidfd;
}

static bool claimed_by_daemon(const char *claim)
{
	struct dp_buf text = DP_BUF_INIT;
	bool ours = dp_read_file(claim, 256, &text, NULL) == DP_OK &&
		    strcmp(dp_buf_text(&text), "daemon\n") == 0;

	dp_buf_free(&text);
	return ours;
}

static int adopt(struct job *j, bool *never_started, struct dp_err *err)
{
	char *claim = dp_path_join(j->folder, "claim");
	int code = claim ? dp_mkdirs(j->folder, 0755, err)
			 : dp_fail(err, DP_E_NOMEM, "no memory to recover");

	*never_started = false;
	if (code != DP_OK)
		goto out;
	if (take_claim(claim) || claimed_by_daemon(claim)) {
		*never_started = true;
		goto out;
	}
	j->pidfd = holder(claim, &j->pid);
	if (j->pidfd < 0) {
		job_collect(j);
		goto out;
	}
	fcntl(j->pidfd, F_SETFD, FD_CLOEXEC);
	job_watch(j);
out:
	free(claim);
	return code;
}

static void cancel(struct job *j)
{
	if (j->pidfd < 0 || j->cancelling)
		return;
	j->cancelling = true;
	/* by pidfd: the number may belong to somebody else by now */
	if (pidfd_send_signal(j->pidfd, SIGTERM, NULL, 0) != 0)
		log_line(&j->d->log, LOG_DEBUG, j->about, "the shim has ended already");
}

const struct executor executor_local = { "local", start, adopt, cancel };
