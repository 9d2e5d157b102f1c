/* slurm_submit.c - submits attempts to Slurm, as one array if they were planned together. */
#include "daemon/executors/slurm/slurm_internal.h"

#include "base/fs.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATHER_MS          5 /* waits this long for runs that share an array */
#define MEMORY_MARGIN_MB   65
#define NOTICE_MIN_SECONDS 300.0 /* no notice for shorter limits: see slurm_add_limits() */

/* ---- the command ---- */

/* Slurm counts in minutes; rounds up. */
static void slurm_add_time(struct argv_list *argv, double seconds)
{
	argv_add(argv, "--time=%.0f", ceil(seconds / 60));
}

/* The shim enforces trainer.timeout. Slurm's limit is a fallback, or set by the user. In the second
 * case Slurm signals the shim shortly before, so that the trainer gets its full grace time. Slurm
 * may signal a minute early, too much for a short limit, and a partition's own limit may be
 * shorter: then only Slurm's reason of the end is known. */
static void slurm_add_limits(struct argv_list *argv, const struct dp_trainer *t,
			     const struct slurm_config *o)
{
	double limit = t->slurm.time_limit > 0 ? t->slurm.time_limit : o->time_seconds;

	if (limit > 0)
		slurm_add_time(argv, limit);
	else if (t->timeout > 0)
		slurm_add_time(argv, t->timeout + t->grace + 120);
	if (limit >= NOTICE_MIN_SECONDS)
		argv_add(argv, "--signal=B:USR2@%.0f", ceil(t->grace) + 10);
}

static void slurm_add_resources(struct argv_list *argv, const struct dp_trainer *t,
				const struct slurm_config *o)
{
	const char *partition = t->slurm.partition[0] ? t->slurm.partition : o->partition;
	const char *account = t->slurm.account[0] ? t->slurm.account : o->account;
	const json_t *word;
	size_t i;

	if (partition)
		argv_add(argv, "--partition=%s", partition);
	if (account)
		argv_add(argv, "--account=%s", account);
	if (t->gpus > 0)
		argv_add(argv, "--gres=gpu:%d", t->gpus);
	if (t->memory_limit > 0) /* a little more, so that the shim detects it first */
		argv_add(argv, "--mem=%lluM",
			 (unsigned long long)(t->memory_limit >> 20) + MEMORY_MARGIN_MB);
	slurm_add_limits(argv, t, o);
	json_array_foreach (o->options, i, word)
		argv_add(argv, "%s", json_string_value(word));
	for (char *const *p = t->slurm.options; p && *p; p++)
		argv_add(argv, "%s", *p);
}

/* Adds "0,3-7": the runs of one submission, in order. */
static void slurm_add_array(struct argv_list *argv, const struct slurm_job *first)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_puts(&text, "--array=");
	for (const struct slurm_job *k = first; k; k = k->next_queued)
		dp_buf_printf(&text, "%s%ld", k == first ? "" : ",", k->task);
	argv_take(argv, dp_buf_detach(&text));
}

/* Adds the job's output file. Slurm expands '%' in the whole path, including the working directory,
 * and nothing at all in a path with a backslash. */
static void slurm_add_output(struct argv_list *argv, const struct slurm_job *first)
{
	const char *folder = first->job->directory, *name = strrchr(folder, '/') + 1;
	struct dp_buf text = DP_BUF_INIT;

	if (strchr(folder, '\\')) {
		argv_add(argv, "--output=/dev/null");
		return;
	}
	dp_buf_puts(&text, "--output=");
	for (const char *p = folder; p < name; p++)
		dp_buf_printf(&text, "%s%c", *p == '%' ? "%" : "", *p);
	if (first->task < 0)
		dp_buf_puts(&text, name);
	else /* "7-0" of run 7 */
		dp_buf_printf(&text, "%%a%s", strchr(name, '-'));
	dp_buf_puts(&text, "/" SLURM_LOG_NAME);
	argv_take(argv, dp_buf_detach(&text));
}

/* Options needed to find the job again come last, so that nothing can override them. */
static void slurm_build_sbatch(struct argv_list *argv, const struct slurm_job *first)
{
	const struct job *j = first->job;
	struct slurm_config o = slurm_get_config(first->slurm->executor);

	argv_add(argv, "sbatch");
	slurm_add_resources(argv, &j->spec->trainer, &o);
	argv_add(argv, "--parsable");
	argv_add(argv, "--no-requeue");
	argv_add(argv, "--job-name=%s", first->name);
	argv_add(argv, "--comment=dpareto:%s:%s/%u/%u", j->daemon->paths.state_dir, j->spec->name,
		 j->trial, j->attempt);
	argv_add(argv, "--export=ALL");
	argv_add(argv, "--chdir=/");
	slurm_add_output(argv, first);
	if (first->task >= 0)
		slurm_add_array(argv, first);
}

/* Adds the variables that runs of an array do not share, and the shim's command. */
static void slurm_script_add_attempt(struct dp_buf *out, const struct launch_command *l)
{
	for (char **e = l->env; *e; e++) {
		size_t name = strcspn(*e, "=");

		if (strncmp(*e, "DPARETO_", 8) != 0)
			continue;
		dp_buf_printf(out, "export %.*s=", (int)name, *e);
		slurm_shell_quote(out, *e + name + 1);
		dp_buf_putc(out, '\n');
	}
	dp_buf_puts(out, "exec");
	for (char **a = l->argv; *a; a++) {
		dp_buf_putc(out, ' ');
		slurm_shell_quote(out, *a);
	}
	dp_buf_putc(out, '\n');
}

/* Removes variables that would split the job, make sbatch wait for its end, or send it to a cluster
 * that is not polled. */
static void slurm_script_filter_env(char **env)
{
	static const char *const dropped[] = { "SBATCH_ARRAY_INX=", "SBATCH_WAIT=",
					       "SBATCH_CLUSTERS=" };
	char **kept = env;

	for (; *env; env++) {
		bool keep = true;

		for (size_t i = 0; i < DP_COUNT(dropped); i++)
			keep &= strncmp(*env, dropped[i], strlen(dropped[i])) != 0;
		if (keep)
			*kept++ = *env;
		else
			free(*env);
	}
	*kept = NULL;
}

/* Builds the script of one submission. All attempts share the environment of the first. */
static void slurm_build_script(const struct slurm_job *first, struct dp_buf *out, char ***env)
{
	struct launch_options how = { .shim_path = first->slurm->shim_path, .is_remote = true };
	struct launch_command l;

	dp_buf_puts(out, "#!/bin/sh\n");
	if (first->task >= 0)
		dp_buf_puts(out, "case $SLURM_ARRAY_TASK_ID in\n");
	for (const struct slurm_job *k = first; k; k = k->next_queued) {
		launch_build_attempt(k->job, &how, &l);
		if (first->task >= 0)
			dp_buf_printf(out, "%ld)\n", k->task);
		slurm_script_add_attempt(out, &l);
		if (first->task >= 0)
			dp_buf_puts(out, ";;\n");
		if (!*env) {
			slurm_script_filter_env(l.env);
			*env = l.env;
			l.env = NULL;
		}
		launch_clear(&l);
	}
	if (first->task >= 0)
		dp_buf_puts(out, "esac\n");
}

/* ---- the shim for nodes ---- */

static int slurm_shim_digest(const char *path, char out[DP_SHA256_HEX_SIZE], struct dp_buf *content,
			     struct dp_err *err)
{
	enum {
		SHIM_FILE_MAX = 64 << 20
	};
	struct dp_sha256 sum;
	int code = dp_read_file(path, SHIM_FILE_MAX, content, err);

	if (code != DP_OK)
		return code;
	dp_sha256_init(&sum);
	dp_sha256_update(&sum, content->data, content->len);
	dp_sha256_hex(&sum, out);
	return DP_OK;
}

static bool slurm_shim_is_current(const char *path, const char *digest)
{
	struct dp_buf content = DP_BUF_INIT;
	char found[DP_SHA256_HEX_SIZE];
	struct dp_err ignored;
	bool same = access(path, X_OK) == 0 &&
		    slurm_shim_digest(path, found, &content, &ignored) == DP_OK &&
		    strcmp(found, digest) == 0;

	dp_buf_free(&content);
	return same;
}

static int slurm_shim_write(const char *path, const struct dp_buf *content, struct dp_err *err)
{
	char *made = NULL;
	int code, fd;

	if (asprintf(&made, "%s.%d.tmp", path, (int)getpid()) < 0)
		return dp_fail(err, DP_E_NOMEM, "no memory for a path");
	fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	code = fd < 0 || dp_write_all(fd, content->data, content->len) != 0 ||
			       fchmod(fd, 0755) != 0 || fsync(fd) != 0
		       ? dp_fail_errno(err, errno, "cannot write %s", made)
		       : DP_OK;
	if (fd >= 0)
		close(fd);
	if (code == DP_OK && rename(made, path) != 0)
		code = dp_fail_errno(err, errno, "cannot make %s", path);
	if (code != DP_OK)
		unlink(made);
	free(made);
	return code;
}

/* Installs the shim next to the studies, once for each version, because nodes may have another one
 * or none. Every daemon checks that it is complete. */
static int slurm_shim_install(struct slurm_executor *s, struct dp_err *err)
{
	const struct daemon *d = s->executor->daemon;
	struct dp_buf content = DP_BUF_INIT;
	char digest[DP_SHA256_HEX_SIZE], path[sizeof s->shim_path];
	int code = slurm_shim_digest(d->paths.shim_path, digest, &content, err);

	if (code == DP_OK) {
		snprintf(path, sizeof path, "%s/bin", d->paths.state_dir);
		code = dp_mkdirs(path, 0755, err);
	}
	if (code == DP_OK) {
		snprintf(path, sizeof path, "%s/bin/dpareto-shim-%.16s", d->paths.state_dir,
			 digest);
		if (!slurm_shim_is_current(path, digest))
			code = slurm_shim_write(path, &content, err);
	}
	if (code == DP_OK)
		snprintf(s->shim_path, sizeof s->shim_path, "%s", path);
	dp_buf_free(&content);
	return code;
}

/* ---- submitting ---- */

static void slurm_submit_refuse_all(struct slurm_job *first, const struct dp_err *err)
{
	struct slurm_job *next;

	for (struct slurm_job *k = first; k; k = next) {
		next = k->next_queued;
		job_on_refused(slurm_job_detach(k), err);
	}
}

static void slurm_submit_on_accepted(struct slurm_job *k, const char *id)
{
	char where[2 * SLURM_ID_LEN];

	snprintf(k->id, sizeof k->id, "%s", id);
	if (k->task >= 0)
		snprintf(k->id, sizeof k->id, "%.18s_%ld", id, k->task);
	k->state = SLURM_PENDING;
	slurm_job_set_phase(k, SLURM_PHASE_ACTIVE);
	slurm_job_update_location(k, "");
	snprintf(where, sizeof where, "Slurm job %s", k->id);
	job_on_placed(k->job, k->id);
	job_on_started(k->job, where);
}

static void slurm_submit_on_unknown(struct slurm_job *k, const char *why)
{
	slurm_job_set_phase(k, SLURM_PHASE_SEARCHING);
	k->next_queued = NULL;
	job_on_unknown(k->job, why);
}

static void slurm_submit_on_refused(struct slurm_job *first, enum slurm_submit_result answer,
				    const char *why)
{
	struct dp_err err;

	if (answer == SLURM_SUBMIT_BUSY)
		dp_fail(&err, DP_E_IO, "%s", why);
	else
		dp_fail(&err, DP_E_INVALID,
			"Slurm refused the job: %s; what it was asked for is in "
			"trainer.slurm, gpus and memory, and in the daemon's slurm "
			"option",
			why);
	slurm_submit_refuse_all(first, &err);
}

static void on_slurm_submit_done(struct slurm_task *t)
{
	struct slurm_executor *s = t->slurm;
	struct slurm_job *first = s->submitting, *next;
	char id[SLURM_ID_LEN], why[500];
	enum slurm_submit_result answer = slurm_submit_parse(&t->output, id);

	s->submitting = NULL;
	slurm_output_describe_error(&t->output, "sbatch", why, sizeof why);
	if (answer == SLURM_SUBMIT_REFUSED || answer == SLURM_SUBMIT_BUSY) {
		slurm_submit_on_refused(first, answer, why);
		first = NULL;
	} else if (answer == SLURM_SUBMIT_UNKNOWN) {
		/* it may start late, or twice */
		s->poll_until_us = slurm_time_after(slurm_now(s), SLURM_STRAY_WATCH_SECONDS);
		executor_hold(s->executor, HOLD_REASON_NO_START, why);
	} else {
		executor_release_hold(s->executor);
	}
	for (struct slurm_job *k = first; k; k = next) {
		next = k->next_queued;
		k->next_queued = NULL;
		if (answer == SLURM_SUBMIT_ACCEPTED)
			slurm_submit_on_accepted(k, id);
		else
			slurm_submit_on_unknown(k, why);
	}
	slurm_submit_next(s);
}

static void slurm_queue_insert(struct slurm_job **list, struct slurm_job *k)
{
	while (*list && (*list)->task < k->task)
		list = &(*list)->next_queued;
	k->next_queued = *list;
	*list = k;
}

/* Takes the first of the queue and all waiting runs of the same trial, in order. */
static struct slurm_job *slurm_queue_take_group(struct slurm_executor *s)
{
	struct slurm_job *all = s->queue, *group = NULL, *k;

	s->queue = NULL;
	s->queue_tail = &s->queue;
	while ((k = all) != NULL) {
		all = k->next_queued;
		k->next_queued = NULL;
		if (!group || (group->task >= 0 && strcmp(k->name, group->name) == 0)) {
			slurm_queue_insert(&group, k);
		} else {
			*s->queue_tail = k;
			s->queue_tail = &k->next_queued;
		}
	}
	return group;
}

/* Writes the name and task that slurm_kill_orphans() needs. */
static int slurm_job_write_name(const struct slurm_job *k, struct dp_err *err)
{
	char *path = lease_file_path(k->job->directory, ".job"), text[SLURM_NAME_LEN + 40];
	int code, n = snprintf(text, sizeof text, "%s %ld\n", k->name, k->task);

	code = path ? dp_write_new_file(path, text, (size_t)n, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory to start");
	free(path);
	return code;
}

void slurm_submit_next(struct slurm_executor *s)
{
	struct slurm_task *t = &s->submit_task;
	struct dp_buf script = DP_BUF_INIT;
	struct dp_err err;
	int code = DP_OK;

	if (t->job.is_running || !s->queue || slurm_now(s) < s->executor->hold.until_us)
		return; /* tick() retries */
	s->submitting = slurm_queue_take_group(s);
	for (struct slurm_job *k = s->submitting; k && code == DP_OK; k = k->next_queued) {
		slurm_job_set_phase(k, SLURM_PHASE_SUBMITTING);
		code = slurm_job_write_name(k, &err);
	}
	if (code == DP_OK) {
		slurm_build_script(s->submitting, &script, &t->env);
		slurm_build_sbatch(&t->argv, s->submitting);
		t->input = dp_buf_detach(&script);
		if (!slurm_task_start(t, on_slurm_submit_done, false))
			code = dp_fail(&err, DP_E_NOMEM, "no memory to start");
	} else {
		slurm_task_clear(t);
	}
	dp_buf_free(&script);
	if (code != DP_OK) {
		struct slurm_job *first = s->submitting;

		s->submitting = NULL;
		slurm_submit_refuse_all(first, &err);
	}
}

static void on_slurm_gather_timer(uv_timer_t *timer)
{
	slurm_submit_next(timer->data);
}

int slurm_start(struct executor *b, struct job *j, struct dp_err *err)
{
	struct slurm_executor *s = b->data;
	struct slurm_job *k;
	int code = s->shim_path[0] ? DP_OK : slurm_shim_install(s, err);

	if (code == DP_OK)
		code = launch_prepare(j, err);
	if (code != DP_OK)
		return code;
	k = slurm_job_new(b, j);
	if (!k)
		return dp_fail(err, DP_E_NOMEM, "no memory to start");
	job_set_location(j, "about to be handed to Slurm");
	*s->queue_tail = k;
	s->queue_tail = &k->next_queued;
	if (!uv_is_active((uv_handle_t *)&s->gather_timer))
		uv_timer_start(&s->gather_timer, on_slurm_gather_timer, GATHER_MS, 0);
	return DP_OK;
}
