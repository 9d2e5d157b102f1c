/* slurm_submit.c - what Slurm is given: a script that starts the wrapper of an attempt,
 * or of all runs of one that were planned together. */
#include "daemon/slurm.h"

#include "base/fs.h"
#include "base/sha256.h"
#include "daemon/sched.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATHER_MS        5 /* runs of a trial that are planned together are one array */
#define MEMORY_MARGIN_MB 65
#define NOTICE_LEAST     300.0 /* limits below this are not announced: see slurm_limits() */

/* ---- the command ---- */

/* Whole minutes, which is what Slurm counts in, never fewer than asked. */
static void slurm_add_time(struct strings *argv, double seconds)
{
	strings_add(argv, "--time=%.0f", ceil(seconds / 60));
}

/* The shim enforces trainer.timeout; Slurm's own limit is for when that fails, or what
 * somebody asked for. Then the shim is told shortly before, so that the trainer has its
 * grace time whatever Slurm's is. Slurm may tell it a minute too early, which a short
 * limit has no room for, and a partition's own may be short: then Slurm's word of the end
 * is all there is. */
static void slurm_limits(struct strings *argv, const struct dp_trainer *t,
			 const struct slurm_option *o)
{
	double limit = t->slurm.time > 0 ? t->slurm.time : o->time;

	if (limit > 0)
		slurm_add_time(argv, limit);
	else if (t->timeout > 0)
		slurm_add_time(argv, t->timeout + t->grace + 120);
	if (limit >= NOTICE_LEAST)
		strings_add(argv, "--signal=B:USR2@%.0f", ceil(t->grace) + 10);
}

static void slurm_wishes(struct strings *argv, const struct dp_trainer *t,
			 const struct slurm_option *o)
{
	const char *partition = t->slurm.partition[0] ? t->slurm.partition : o->partition;
	const char *account = t->slurm.account[0] ? t->slurm.account : o->account;
	const json_t *word;
	size_t i;

	if (partition)
		strings_add(argv, "--partition=%s", partition);
	if (account)
		strings_add(argv, "--account=%s", account);
	if (t->gpus > 0)
		strings_add(argv, "--gres=gpu:%d", t->gpus);
	if (t->memory > 0) /* a little more, so that the shim is the first to see it */
		strings_add(argv, "--mem=%lluM",
			    (unsigned long long)(t->memory >> 20) + MEMORY_MARGIN_MB);
	slurm_limits(argv, t, o);
	json_array_foreach (o->options, i, word)
		strings_add(argv, "%s", json_string_value(word));
	for (char *const *p = t->slurm.options; p && *p; p++)
		strings_add(argv, "%s", *p);
}

/* "0,3-7" of the runs of one submission, which are in order. */
static void slurm_add_array(struct strings *argv, const struct slurm_job *first)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_buf_puts(&text, "--array=");
	for (const struct slurm_job *k = first; k; k = k->waiting)
		dp_buf_printf(&text, "%s%ld", k == first ? "" : ",", k->task);
	strings_take(argv, dp_buf_detach(&text));
}

/* Where the job itself prints to. Slurm replaces what follows a '%' in the whole path,
 * the working folder included, and nothing at all in one that has a backslash. */
static void slurm_add_output(struct strings *argv, const struct slurm_job *first)
{
	const char *folder = first->job->folder, *name = strrchr(folder, '/') + 1;
	struct dp_buf text = DP_BUF_INIT;

	if (strchr(folder, '\\')) {
		strings_add(argv, "--output=/dev/null");
		return;
	}
	dp_buf_puts(&text, "--output=");
	for (const char *p = folder; p < name; p++)
		dp_buf_printf(&text, "%s%c", *p == '%' ? "%" : "", *p);
	if (first->task < 0)
		dp_buf_puts(&text, name);
	else /* "7-0" of run 7 */
		dp_buf_printf(&text, "%%a%s", strchr(name, '-'));
	dp_buf_puts(&text, "/" SLURM_LOG);
	strings_take(argv, dp_buf_detach(&text));
}

/* What decides whether we find it again stands last, where nobody can override it. */
static void slurm_sbatch(struct strings *argv, const struct slurm_job *first)
{
	const struct job *j = first->job;
	struct slurm_option o = slurm_settings(first->slurm->b);

	strings_add(argv, "sbatch");
	slurm_wishes(argv, &j->spec->trainer, &o);
	strings_add(argv, "--parsable");
	strings_add(argv, "--no-requeue");
	strings_add(argv, "--job-name=%s", first->name);
	strings_add(argv, "--comment=dpareto:%s:%s/%u/%u", j->d->at.state_dir, j->spec->name,
		    j->trial, j->attempt);
	strings_add(argv, "--export=ALL");
	strings_add(argv, "--chdir=/");
	slurm_add_output(argv, first);
	if (first->task >= 0)
		slurm_add_array(argv, first);
}

/* The variables of one attempt, which runs of an array do not share, and its wrapper. */
static void slurm_script_one(struct dp_buf *out, const struct launch *l)
{
	for (char **e = l->env; *e; e++) {
		size_t name = strcspn(*e, "=");

		if (strncmp(*e, "DPARETO_", 8) != 0)
			continue;
		dp_buf_printf(out, "export %.*s=", (int)name, *e);
		slurm_quote(out, *e + name + 1);
		dp_buf_putc(out, '\n');
	}
	dp_buf_puts(out, "exec");
	for (char **a = l->argv; *a; a++) {
		dp_buf_putc(out, ' ');
		slurm_quote(out, *a);
	}
	dp_buf_putc(out, '\n');
}

/* Takes out what would make several jobs of one, have sbatch wait for its end, or hand it
 * to a cluster that is not asked about it. */
static void slurm_script_environment(char **env)
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

/* The script of one submission; the environment that all of its attempts share is that of
 * the first, which sbatch hands on. */
static int slurm_script(const struct slurm_job *first, struct dp_buf *out, char ***env,
			struct dp_err *err)
{
	struct launch_how how = { .shim = first->slurm->shim, .elsewhere = true };
	struct launch l = { 0 };
	int code = DP_OK;

	dp_buf_puts(out, "#!/bin/sh\n");
	if (first->task >= 0)
		dp_buf_puts(out, "case $SLURM_ARRAY_TASK_ID in\n");
	for (const struct slurm_job *k = first; k && code == DP_OK; k = k->waiting) {
		code = launch_command(k->job, &how, &l, err);
		if (code != DP_OK)
			break;
		if (first->task >= 0)
			dp_buf_printf(out, "%ld)\n", k->task);
		slurm_script_one(out, &l);
		if (first->task >= 0)
			dp_buf_puts(out, ";;\n");
		if (!*env) {
			slurm_script_environment(l.env);
			*env = l.env;
			l.env = NULL;
		}
		launch_clear(&l);
	}
	if (first->task >= 0)
		dp_buf_puts(out, "esac\n");
	if (code == DP_OK && out->failed)
		code = dp_fail(err, DP_E_NOMEM, "no memory to start");
	return code;
}

/* ---- the wrapper that nodes see ---- */

static int shim_digest(const char *path, char out[DP_SHA256_TEXT], struct dp_buf *content,
		       struct dp_err *err)
{
	enum {
		SHIM_MOST = 64 << 20
	};
	struct dp_sha256 sum;
	int code = dp_read_file(path, SHIM_MOST, content, err);

	if (code != DP_OK)
		return code;
	dp_sha256_init(&sum);
	dp_sha256_add(&sum, content->data, content->len);
	dp_sha256_text(&sum, out);
	return DP_OK;
}

/* Is the copy whole? */
static bool shim_same(const char *path, const char *digest)
{
	struct dp_buf content = DP_BUF_INIT;
	char found[DP_SHA256_TEXT];
	struct dp_err ignored;
	bool same = access(path, X_OK) == 0 &&
		    shim_digest(path, found, &content, &ignored) == DP_OK &&
		    strcmp(found, digest) == 0;

	dp_buf_free(&content);
	return same;
}

static int shim_write(const char *path, const struct dp_buf *content, struct dp_err *err)
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

/* Nodes may have another version of the wrapper, or none: it goes with the studies, once
 * for each version, and every daemon looks whether it is whole. */
static int shim_copy(struct slurm *s, struct dp_err *err)
{
	const struct dpd *d = s->b->d;
	struct dp_buf content = DP_BUF_INIT;
	char digest[DP_SHA256_TEXT], path[sizeof s->shim];
	int code = shim_digest(d->at.shim, digest, &content, err);

	if (code == DP_OK) {
		snprintf(path, sizeof path, "%s/bin", d->at.state_dir);
		code = dp_mkdirs(path, 0755, err);
	}
	if (code == DP_OK) {
		snprintf(path, sizeof path, "%s/bin/dpareto-shim-%.16s", d->at.state_dir, digest);
		if (!shim_same(path, digest))
			code = shim_write(path, &content, err);
	}
	if (code == DP_OK)
		snprintf(s->shim, sizeof s->shim, "%s", path);
	dp_buf_free(&content);
	return code;
}

/* ---- submitting ---- */

static void slurm_refuse_all(struct slurm_job *first, const struct dp_err *err)
{
	struct slurm_job *next;

	for (struct slurm_job *k = first; k; k = next) {
		next = k->waiting;
		job_refused(slurm_forget(k), err);
	}
}

static void slurm_taken(struct slurm_job *k, const char *id)
{
	char where[2 * SLURM_ID];

	snprintf(k->id, sizeof k->id, "%s", id);
	if (k->task >= 0)
		snprintf(k->id, sizeof k->id, "%.18s_%ld", id, k->task);
	k->state = SLURM_PENDING;
	slurm_enter(k, SLURM_HAS_IT);
	slurm_tell_where(k, "");
	snprintf(where, sizeof where, "Slurm job %s", k->id);
	job_placed(k->job, k->id);
	job_started(k->job, where);
}

/* Nobody knows whether they were submitted. */
static void slurm_seek(struct slurm_job *k, const char *why)
{
	slurm_enter(k, SLURM_SOUGHT);
	k->waiting = NULL;
	job_unknown(k->job, why);
}

/* Nothing was submitted. */
static void submit_refused(struct slurm_job *first, enum slurm_answer answer, const char *why)
{
	struct dp_err err;

	if (answer == SLURM_FULL)
		dp_fail(&err, DP_E_IO, "%s", why);
	else
		dp_fail(&err, DP_E_INVALID,
			"Slurm refused the job: %s; what it was asked for is in "
			"trainer.slurm, gpus and memory, and in the daemon's slurm "
			"option",
			why);
	slurm_refuse_all(first, &err);
}

static void submit_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	struct slurm_job *first = s->submitted, *next;
	char id[SLURM_ID], why[500];
	enum slurm_answer answer = slurm_submitted(&t->run, id);

	s->submitted = NULL;
	slurm_run_why(&t->run, "sbatch", why, sizeof why);
	if (answer == SLURM_REFUSED || answer == SLURM_FULL) {
		submit_refused(first, answer, why);
		first = NULL;
	} else if (answer == SLURM_UNSURE) {
		/* it may come late, or twice */
		s->watch_until = slurm_after(slurm_now(s), WATCH_SECONDS);
		sched_hold(s->b, SCHED_NO_START, why);
	} else {
		sched_release(s->b);
	}
	for (struct slurm_job *k = first; k; k = next) {
		next = k->waiting;
		k->waiting = NULL;
		if (answer == SLURM_TAKEN)
			slurm_taken(k, id);
		else
			slurm_seek(k, why);
	}
	slurm_submit_next(s);
}

static void slurm_insert(struct slurm_job **list, struct slurm_job *k)
{
	while (*list && (*list)->task < k->task)
		list = &(*list)->waiting;
	k->waiting = *list;
	*list = k;
}

/* The first of the queue, with all runs of the same attempt that wait, too, in order. */
static struct slurm_job *slurm_take_first(struct slurm *s)
{
	struct slurm_job *all = s->queue, *group = NULL, *k;

	s->queue = NULL;
	s->queue_end = &s->queue;
	while ((k = all) != NULL) {
		all = k->waiting;
		k->waiting = NULL;
		if (!group || (group->task >= 0 && strcmp(k->name, group->name) == 0)) {
			slurm_insert(&group, k);
		} else {
			*s->queue_end = k;
			s->queue_end = &k->waiting;
		}
	}
	return group;
}

/* Of each attempt, what end_leftovers() may have to ask for. */
static int slurm_note_name(const struct slurm_job *k, struct dp_err *err)
{
	char *path = claim_beside(k->job->folder, ".job"), text[SLURM_NAME + 40];
	int code, n = snprintf(text, sizeof text, "%s %ld\n", k->name, k->task);

	code = path ? dp_write_new(path, text, (size_t)n, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory to start");
	free(path);
	return code;
}

void slurm_submit_next(struct slurm *s)
{
	struct slurm_task *t = &s->submit;
	struct dp_buf script = DP_BUF_INIT;
	struct dp_err err;
	int code = DP_OK;

	if (t->busy || !s->queue || slurm_now(s) < s->b->hold.until)
		return; /* tick() comes back to it */
	s->submitted = slurm_take_first(s);
	for (struct slurm_job *k = s->submitted; k && code == DP_OK; k = k->waiting) {
		slurm_enter(k, SLURM_SUBMITTING);
		code = slurm_note_name(k, &err);
	}
	if (code == DP_OK)
		code = slurm_script(s->submitted, &script, &t->env, &err);
	if (code == DP_OK) {
		slurm_sbatch(&t->argv, s->submitted);
		t->input = dp_buf_detach(&script);
		if (!slurm_task_start(t, submit_done, false))
			code = dp_fail(&err, DP_E_NOMEM, "no memory to start");
	} else {
		slurm_task_clear(t);
	}
	dp_buf_free(&script);
	if (code != DP_OK) {
		struct slurm_job *first = s->submitted;

		s->submitted = NULL;
		slurm_refuse_all(first, &err);
	}
}

static void on_gathered(uv_timer_t *timer)
{
	slurm_submit_next(timer->data);
}

int slurm_start(struct backend *b, struct job *j, struct dp_err *err)
{
	struct slurm *s = b->self;
	struct slurm_job *k;
	int code = s->shim[0] ? DP_OK : shim_copy(s, err);

	if (code == DP_OK)
		code = launch_prepare(j, err);
	if (code != DP_OK)
		return code;
	k = slurm_job_new(b, j);
	if (!k)
		return dp_fail(err, DP_E_NOMEM, "no memory to start");
	job_where(j, "about to be handed to Slurm");
	*s->queue_end = k;
	s->queue_end = &k->waiting;
	if (!uv_is_active((uv_handle_t *)&s->gather))
		uv_timer_start(&s->gather, on_gathered, GATHER_MS, 0);
	return DP_OK;
}
