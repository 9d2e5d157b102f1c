/* exec_slurm.c - the Slurm executor: a trainer is a job of a cluster, under the same
 * shim.
 *
 * Slurm is asked by its own commands, each on a worker thread: sbatch for what is to
 * start, one squeue for all that is under way, sacct for what squeue does not know any
 * more, scancel. What none of them can be believed for:
 * - An answer that does not come tells nothing, and so does one with an error.
 * - A number that sbatch gave may be unknown after a restart of the controller, or belong
 *   to somebody else. A job is known by its name, which only one attempt has.
 * - A job that Slurm gave up may still run, on a node that it cannot reach. It can only
 *   write to the folder of its own attempt, and that is read once.
 * - A job that was submitted twice starts once: whoever makes the claim.
 * The end is the shim's record in the attempt's folder, as it is on this machine. */
#include "daemon/executor.h"

#include "base/fs.h"
#include "base/num.h"
#include "daemon/sched.h"
#include "daemon/slurm_command.h"
#include "daemon/slurm_option.h"
#include "daemon/strings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATHER_MS       5    /* runs of a trial that are planned together are one array */
#define COMMAND_SECONDS 30.0 /* for an answer of Slurm's; its own limit is below that */
#define POLL_FIRST      1.0  /* seconds between two questions while something happens */
#define RECORD_SECONDS  20.0 /* after Slurm says that a job has ended: for the record */
#define FORGOT_SECONDS  30.0 /* the same, of a job that nobody knows */
#define CLAIM_SECONDS   4.0  /* the same, if it has claimed nothing */
#define HARD_SECONDS    5.0  /* beyond the grace time, until all of a job is ended */
#define CANCEL_AGAIN    5.0
#define NOTICE_LEAST    300.0 /* limits below this are not announced: see slurm_limits() */

enum {
	LOOKS_A_TICK = 128, /* attempts whose files are read in one tick */
	CANCELS_MOST = 100, /* jobs of one scancel */
	ASKED_MOST = 200    /* names of one sacct */
};

enum slurm_phase {
	SLURM_QUEUED,     /* waits for its turn to be submitted */
	SLURM_SUBMITTING, /* sbatch runs */
	SLURM_SOUGHT,     /* Slurm may have it, or not: the next answer tells */
	SLURM_HAS_IT,
	SLURM_HAS_ENDED /* Slurm says so, or does not know it: its files tell */
};

/* One attempt. */
struct slurm_job {
	struct slurm_job *next;    /* of all */
	struct slurm_job *waiting; /* the next in the queue, or of the same submission */
	struct slurm *slurm;
	struct job *job;
	enum slurm_phase phase;
	char name[SLURM_NAME], id[SLURM_ID];
	long task;      /* of an array; -1: a job of its own */
	int64_t since;  /* clock_now() of this phase */
	bool forgotten; /* SLURM_HAS_ENDED: squeue does not know it */
	bool asked;     /* nor does sacct, or it cannot be asked */
	enum slurm_state state;
	char word[40];   /* Slurm's own, of its state */
	char reason[80]; /* why it waits; "" */
	/* cancelling */
	bool cancelling, hard;
	int64_t cancel_at; /* clock_now() from when on scancel is due */
	bool looking;      /* a worker thread has `look` */
	bool take;         /* it takes the claim, if there is none */
	enum look {
		LOOK_RECORDED,
		LOOK_CLAIMED,
		LOOK_NOTHING, /* and nothing can start any more */
		LOOK_UNKNOWN
	} look;
	uv_work_t work;
	char folder[4096];
};

/* A command under way on a worker thread; one of a kind at a time. */
struct slurm_task {
	uv_work_t work;
	struct slurm *slurm;
	bool busy, parses;
	struct strings argv;
	char **env;  /* NULL: the daemon's */
	char *input; /* NULL: none */
	struct slurm_run run;
	struct slurm_rows rows;
	int64_t asked; /* clock_now() when it was begun */
	void (*done)(struct slurm_task *t);
};

struct slurm {
	struct backend *b;
	struct slurm_job *jobs;
	struct slurm_job *queue, **queue_end; /* to be submitted, in order */
	struct slurm_job *submitted;          /* those that `submit` is about */
	struct slurm_task submit, poll, account, cancel;
	uv_timer_t gather;
	atomic_bool stop;
	char shim[4096]; /* the copy that nodes see; "": not made yet */
	double pause;    /* seconds until the next question */
	int64_t ask_at;  /* clock_now() */
	bool silent;     /* the last question had no answer */
	bool told_none;  /* that there is no accounting, in the log */
	char trouble[300];
	unsigned looked; /* where the looks of the last tick ended */
};

static int64_t slurm_now(const struct slurm *s)
{
	return clock_now(s->b->d);
}

static int64_t slurm_after(int64_t from, double seconds)
{
	return from + (int64_t)(seconds * 1e6);
}

static struct slurm_option slurm_settings(const struct backend *b)
{
	return slurm_option_read(b->d->config.slurm);
}

/* ---- commands on worker threads ---- */

static void task_work(uv_work_t *w)
{
	struct slurm_task *t = w->data;

	slurm_run(&t->run, t->argv.list, t->env, t->input, COMMAND_SECONDS,
		  &t->slurm->stop);
	if (t->parses && slurm_run_ok(&t->run) &&
	    !slurm_rows_parse(&t->run.out, &t->rows))
		t->run.error = ENOMEM;
}

static void task_clear(struct slurm_task *t)
{
	strings_free_list(t->argv.list);
	strings_free_list(t->env);
	free(t->input);
	slurm_run_clear(&t->run);
	slurm_rows_free(&t->rows);
	*t = (struct slurm_task){ .slurm = t->slurm };
}

static void task_done(uv_work_t *w, int status)
{
	struct slurm_task *t = w->data, ended = *t;

	(void)status; /* work is never cancelled */
	/* whoever is told may have it do the next one at once */
	*t = (struct slurm_task){ .slurm = t->slurm };
	if (!t->slurm->b->d->closed)
		ended.done(&ended);
	task_clear(&ended);
}

/* t->argv is filled. False, and t empty again: no memory. */
static bool task_start(struct slurm_task *t, void (*done)(struct slurm_task *),
		       bool parses)
{
	if (t->argv.failed || !t->argv.list) {
		task_clear(t);
		return false;
	}
	t->busy = true;
	t->done = done;
	t->parses = parses;
	t->asked = slurm_now(t->slurm);
	t->work.data = t;
	uv_queue_work(&t->slurm->b->d->loop, &t->work, task_work, task_done);
	return true;
}

/* ---- our jobs ---- */

/* Something happens: Slurm is asked soon, and often for a while. */
static void slurm_stir(struct slurm *s)
{
	int64_t soon = slurm_after(slurm_now(s), POLL_FIRST);

	s->pause = POLL_FIRST;
	if (s->ask_at > soon)
		s->ask_at = soon;
}

/* The first eight digits of what tells a study of this state folder from any other, also
 * from one of the same name that was deleted. */
static void slurm_study_token(const struct study *h, char out[9])
{
	char text[DP_SHA256_TEXT], created[40];
	struct dp_sha256 sum;

	snprintf(created, sizeof created, "\n%lld", (long long)h->state->created);
	dp_sha256_init(&sum);
	dp_sha256_add(&sum, h->d->at.state_dir, strlen(h->d->at.state_dir));
	dp_sha256_add(&sum, created, strlen(created));
	dp_sha256_text(&sum, text);
	snprintf(out, 9, "%.8s", text);
}

static struct slurm_job *slurm_job_new(struct backend *b, struct job *j)
{
	struct slurm *s = b->self;
	struct slurm_job *k = calloc(1, sizeof *k);
	char token[9];

	if (!k)
		return NULL;
	slurm_study_token(j->home, token);
	snprintf(k->name, sizeof k->name, "dp-%s-%s-%u-%u", token, j->spec->name,
		 j->trial, j->attempt);
	snprintf(k->folder, sizeof k->folder, "%s", j->folder);
	k->task = j->run == DP_RUN_ALL ? -1 : j->run;
	k->slurm = s;
	k->job = j;
	k->since = slurm_now(s);
	k->next = s->jobs;
	s->jobs = k;
	j->handle = k;
	return k;
}

static void slurm_unlink(struct slurm_job *k)
{
	struct slurm *s = k->slurm;
	struct slurm_job **p = &s->jobs;

	while (*p && *p != k)
		p = &(*p)->next;
	if (*p)
		*p = k->next;
	for (p = &s->queue; *p; p = &(*p)->waiting)
		if (*p == k) {
			*p = k->waiting;
			break;
		}
	s->queue_end = &s->queue;
	while (*s->queue_end)
		s->queue_end = &(*s->queue_end)->waiting;
}

static void slurm_release(struct backend *b, struct job *j)
{
	struct slurm_job *k = j->handle;

	(void)b;
	slurm_unlink(k);
	j->handle = NULL;
	free(k);
}

/* Before the last report about it. */
static struct job *slurm_forget(struct slurm_job *k)
{
	struct job *j = k->job;

	slurm_release(k->slurm->b, j);
	return j;
}

static void slurm_enter(struct slurm_job *k, enum slurm_phase phase)
{
	if (k->phase == phase)
		return;
	k->phase = phase;
	k->since = slurm_now(k->slurm);
	slurm_stir(k->slurm);
}

/* For people. */
static void slurm_tell_where(struct slurm_job *k, const char *nodes)
{
	char where[120];

	if (k->state == SLURM_PENDING)
		snprintf(where, sizeof where, "Slurm job %s, waiting%s%.50s%s", k->id,
			 k->reason[0] ? " (" : "", k->reason, k->reason[0] ? ")" : "");
	else if (*nodes)
		snprintf(where, sizeof where, "Slurm job %s on %.60s", k->id, nodes);
	else
		snprintf(where, sizeof where, "Slurm job %s", k->id);
	job_where(k->job, where);
}

/* ---- submitting: the command ---- */

/* Whole minutes, which is what Slurm counts in, never fewer than asked. */
static void slurm_add_time(struct strings *argv, double seconds)
{
	strings_add(argv, "--time=%.0f", ceil(seconds / 60));
}

/* The shim enforces trainer.timeout; Slurm's own limit is for when that fails, or what
 * somebody asked for. The shim is told shortly before, so that it can record why it ends;
 * Slurm may do that a minute too early, which a short limit has no room for. */
static void slurm_limits(struct strings *argv, const struct dp_trainer *t,
			 const struct slurm_option *o)
{
	double limit = t->slurm.time > 0 ? t->slurm.time : o->time;

	if (limit > 0)
		slurm_add_time(argv, limit);
	else if (t->timeout > 0)
		slurm_add_time(argv, t->timeout + t->grace + 120);
	if (limit == 0 || limit >= NOTICE_LEAST)
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

static void slurm_sbatch(struct strings *argv, const struct slurm_job *first)
{
	const struct job *j = first->job;
	struct slurm_option o = slurm_settings(first->slurm->b);

	strings_add(argv, "sbatch");
	strings_add(argv, "--parsable");
	strings_add(argv, "--no-requeue");
	strings_add(argv, "--job-name=%s", first->name);
	strings_add(argv, "--comment=dpareto:%s:%s/%u/%u", j->d->at.state_dir,
		    j->spec->name, j->trial, j->attempt);
	strings_add(argv, "--export=ALL");
	strings_add(argv, "--chdir=%s", first->folder);
	strings_add(argv, "--output=%s", first->task < 0 ? "slurm.log" : "slurm-%a.log");
	if (first->task >= 0)
		slurm_add_array(argv, first);
	slurm_wishes(argv, &j->spec->trainer, &o);
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

/* ---- submitting: the wrapper that nodes see ---- */

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
		snprintf(path, sizeof path, "%s/bin/dpareto-shim-%.16s", d->at.state_dir,
			 digest);
		if (!shim_same(path, digest))
			code = shim_write(path, &content, err);
	}
	if (code == DP_OK)
		snprintf(s->shim, sizeof s->shim, "%s", path);
	dp_buf_free(&content);
	return code;
}

/* ---- submitting ---- */

static void slurm_submit_next(struct slurm *s);

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

/* What sbatch said, for those who asked for it. */
static void submit_said(const struct slurm_task *t, char *why, size_t room,
			const char *before)
{
	char said[400];

	slurm_run_why(&t->run, "sbatch", said, sizeof said);
	snprintf(why, room, "%s%s", before, said);
}

static void submit_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	struct slurm_job *first = s->submitted, *next;
	char id[SLURM_ID], why[500];
	enum slurm_answer answer = slurm_submitted(&t->run, id);
	struct dp_err err;

	s->submitted = NULL;
	submit_said(t, why, sizeof why, "");
	if (answer == SLURM_REFUSED) {
		dp_fail(&err, DP_E_INVALID,
			"Slurm refused the job: %s; mend trainer.slurm or the daemon's "
			"slurm option, then resume the study",
			why);
		slurm_refuse_all(first, &err);
	} else if (answer == SLURM_FULL) {
		dp_fail(&err, DP_E_IO, "%s", why);
		slurm_refuse_all(first, &err);
	} else {
		if (answer == SLURM_UNSURE)
			sched_hold(s->b, why);
		for (struct slurm_job *k = first; k; k = next) {
			next = k->waiting;
			k->waiting = NULL;
			if (answer == SLURM_TAKEN)
				slurm_taken(k, id);
			else
				slurm_seek(k, why);
		}
		if (answer == SLURM_TAKEN)
			sched_release(s->b);
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
	char *path = claim_beside(k->folder, ".job"), text[SLURM_NAME + 40];
	int code, n = snprintf(text, sizeof text, "%s %ld\n", k->name, k->task);

	code = path ? dp_write_new(path, text, (size_t)n, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory to start");
	free(path);
	return code;
}

static void slurm_submit_next(struct slurm *s)
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
		if (!task_start(t, submit_done, false))
			code = dp_fail(&err, DP_E_NOMEM, "no memory to start");
	} else {
		task_clear(t);
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

static int slurm_start(struct backend *b, struct job *j, struct dp_err *err)
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

/* ---- looking at an attempt's files ---- */

static bool look_recorded(const char *folder)
{
	char *inside = dp_path_join(folder, "exit.json");
	bool there = inside && access(inside, F_OK) == 0;

	free(inside);
	return there;
}

/* Making and removing a name has a network's file system look at the folder anew, which
 * it otherwise does up to a minute late. */
static void look_afresh(const char *folder)
{
	char *path = dp_path_join(folder, ".look");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;

	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	free(path);
}

static void look_work(uv_work_t *w)
{
	struct slurm_job *k = w->data;
	long holder;

	if (k->take)
		look_afresh(k->folder);
	if (look_recorded(k->folder)) {
		k->look = LOOK_RECORDED;
	} else if (!k->take || claim_is_there(k->folder)) {
		k->look = LOOK_CLAIMED;
	} else {
		enum claim claim = claim_look(k->folder, &holder);

		k->look = claim == CLAIM_OURS      ? LOOK_NOTHING
			  : claim == CLAIM_UNKNOWN ? LOOK_UNKNOWN
						   : LOOK_CLAIMED;
	}
}

static void look_done(uv_work_t *w, int status);

static void slurm_look(struct slurm_job *k, bool take)
{
	if (k->looking)
		return;
	k->looking = true;
	k->take = take;
	k->work.data = k;
	uv_queue_work(&k->slurm->b->d->loop, &k->work, look_work, look_done);
}

/* The last line of what the job itself said: the shim could not be started, most likely.
 */
static void slurm_last_words(const struct slurm_job *k, char *out, size_t room)
{
	char name[40], text[512] = "", *path, *line;
	int fd;
	ssize_t n;

	snprintf(name, sizeof name, k->task < 0 ? "slurm.log" : "slurm-%ld.log", k->task);
	path = dp_path_join(k->folder, name);
	fd = path ? dp_open_plain(path) : -1;
	n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	while (n > 0 && isspace((unsigned char)text[n - 1]))
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strrchr(text, '\n');
	snprintf(out, room, "%s", line ? line + 1 : text);
	for (char *p = out; *p; p++)
		if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e)
			*p = ' ';
	if (fd >= 0)
		close(fd);
	free(path);
}

/* Nothing ran of it, and nothing will. */
static void slurm_nothing_ran(struct slurm_job *k)
{
	char said[200];
	struct dp_err err;

	slurm_last_words(k, said, sizeof said);
	if (k->cancelling || k->forgotten || k->phase == SLURM_SOUGHT ||
	    k->state == SLURM_NODE_FAIL || k->state == SLURM_PREEMPTED) {
		job_never_started(slurm_forget(k));
	} else if (k->state == SLURM_CANCELLED) {
		dp_fail(&err, DP_E_IO,
			"Slurm job %s was cancelled from outside before it began", k->id);
		job_refused(slurm_forget(k), &err);
	} else {
		dp_fail(&err, DP_E_INVALID,
			"Slurm job %s ended (%s) before dpareto-shim could claim the "
			"attempt%s%s; the node must see %s under the same path, and the "
			"daemon's user must be able to write there",
			k->id, k->word, said[0] ? "; it said: " : "", said,
			k->slurm->b->d->at.state_dir);
		job_refused(slurm_forget(k), &err);
	}
}

/* What Slurm says of an end that the shim may not have been able to record. */
static void slurm_tell_fate(const struct slurm_job *k)
{
	static const struct {
		enum dp_end end;
		const char *why;
	} fates[] = {
		[SLURM_TIMEOUT] = { DP_END_TIMEOUT, "Slurm's time limit for the job was "
						    "over; give it more "
						    "(trainer.slurm.time)" },
		[SLURM_NODE_FAIL] = { DP_END_LOST, "its node failed" },
		[SLURM_ENDED] = { DP_END_LOST, "the job ended without a record of how" },
		[SLURM_PREEMPTED] = { DP_END_NONE, "" },
	};
	char why[300];

	if ((size_t)k->state >= DP_COUNT(fates) || !fates[k->state].end)
		return;
	snprintf(why, sizeof why, "%s (Slurm job %s: %s)", fates[k->state].why, k->id,
		 k->word);
	job_fate(k->job, fates[k->state].end, why);
}

/* Its files are all there is to know. */
static void slurm_over(struct slurm_job *k)
{
	slurm_tell_fate(k);
	job_ended(slurm_forget(k));
}

/* How long its record is waited for. */
static double slurm_patience(const struct slurm_job *k)
{
	if (!k->forgotten)
		return RECORD_SECONDS;
	return k->asked ? FORGOT_SECONDS : INFINITY; /* sacct is asked first */
}

static bool slurm_waited(const struct slurm_job *k, double seconds)
{
	return (double)(slurm_now(k->slurm) - k->since) / 1e6 >= seconds;
}

static void look_done(uv_work_t *w, int status)
{
	struct slurm_job *k = w->data;

	(void)status; /* work is never cancelled */
	k->looking = false;
	if (k->slurm->b->d->closed)
		return;
	if (k->look == LOOK_RECORDED)
		slurm_over(k);
	else if (k->take && k->look == LOOK_NOTHING)
		slurm_nothing_ran(k);
	else if (k->take && k->look == LOOK_CLAIMED && slurm_waited(k, slurm_patience(k)))
		slurm_over(k);
}

/* The shim recorded the end, whatever Slurm says. */
static void slurm_recorded(struct backend *b, struct job *j)
{
	struct slurm_job *k = j->handle;

	(void)b;
	if (k && !k->looking && k->phase >= SLURM_SOUGHT)
		slurm_over(k);
}

/* ---- asking ---- */

/* Its row, of those with its name the one that lives, or the one with its number. */
static const struct slurm_row *slurm_row_of(const struct slurm_rows *rows,
					    const struct slurm_job *k)
{
	const struct slurm_row *r = slurm_rows_find(rows, k->name, k->task), *best = r;

	for (; r && r < rows->list + rows->n && r->task == k->task &&
	       strcmp(r->name, k->name) == 0;
	     r++)
		if (!slurm_state_over(r->state) ||
		    (slurm_state_over(best->state) && strcmp(r->id, k->id) == 0))
			best = r;
	return best;
}

static void slurm_note_row(struct slurm_job *k, const struct slurm_row *r)
{
	if (k->state != r->state)
		slurm_stir(k->slurm);
	k->state = r->state;
	snprintf(k->word, sizeof k->word, "%s", r->word);
	snprintf(k->reason, sizeof k->reason, "%s",
		 strcmp(r->reason, "None") == 0 ? "" : r->reason);
	if (strcmp(k->id, r->id) != 0) {
		snprintf(k->id, sizeof k->id, "%s", r->id);
		job_placed(k->job, k->id);
	}
	slurm_tell_where(k, r->nodes);
}

/* Slurm has it, and it lives. */
static void slurm_lives(struct slurm_job *k)
{
	char where[SLURM_ID + 20];
	bool found = k->phase != SLURM_HAS_IT;

	slurm_enter(k, SLURM_HAS_IT);
	k->forgotten = k->asked = false;
	if (found && k->job->phase != JOB_STARTED) {
		snprintf(where, sizeof where, "Slurm job %s", k->id);
		job_started(k->job, where);
	}
}

/* Somebody had it queued again although we forbid that. It would find its claim made and
 * end at once, some minutes from now. */
static bool slurm_requeued(const struct slurm_job *k)
{
	return k->state == SLURM_PENDING && k->phase == SLURM_HAS_IT &&
	       !isnan(k->job->progress);
}

static void slurm_cancel_job(struct slurm_job *k)
{
	if (k->cancelling)
		return;
	k->cancelling = true;
	k->hard = k->state == SLURM_PENDING;
	k->cancel_at = slurm_now(k->slurm);
}

/* One answer of squeue or sacct about it. */
static void slurm_heard(struct slurm_job *k, const struct slurm_row *r)
{
	slurm_note_row(k, r);
	if (!slurm_state_over(r->state)) {
		slurm_lives(k);
		if (slurm_requeued(k))
			slurm_cancel_job(k);
		return;
	}
	if (k->phase != SLURM_HAS_ENDED || k->forgotten) {
		k->forgotten = false;
		k->phase = SLURM_HAS_IT; /* so that the time counts from now */
		slurm_enter(k, SLURM_HAS_ENDED);
	}
}

/* squeue answered, and did not name it. */
static void slurm_not_named(struct slurm_job *k)
{
	if (k->phase == SLURM_HAS_ENDED)
		return;
	slurm_enter(k, SLURM_HAS_ENDED);
	k->forgotten = true;
	k->asked = false;
}

/* It was submitted, or sought, before the question was asked. */
static bool slurm_concerns(const struct slurm_job *k, int64_t asked)
{
	return k->phase >= SLURM_SOUGHT && k->since < asked;
}

static void slurm_no_answer(struct slurm *s, const struct slurm_task *t,
			    const char *command)
{
	slurm_run_why(&t->run, command, s->trouble, sizeof s->trouble);
	if (!s->silent)
		log_line(&s->b->d->log, LOG_WARN, "",
			 "Slurm does not tell what becomes of its jobs: %s; asking again",
			 s->trouble);
	s->silent = true;
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase == SLURM_SOUGHT && k->job->phase == JOB_ADOPTING)
			job_unknown(k->job, s->trouble);
}

static void poll_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	struct slurm_job *next;

	s->ask_at = slurm_after(slurm_now(s), s->pause);
	s->pause = fmin(s->pause * 1.5, slurm_settings(s->b).poll);
	if (!slurm_run_ok(&t->run)) {
		slurm_no_answer(s, t, "squeue");
		return;
	}
	if (s->silent)
		log_line(&s->b->d->log, LOG_INFO, "", "Slurm answers again");
	s->silent = false;
	for (struct slurm_job *k = s->jobs; k; k = next) {
		const struct slurm_row *r = slurm_row_of(&t->rows, k);

		next = k->next;
		if (!slurm_concerns(k, t->asked))
			continue;
		if (r)
			slurm_heard(k, r);
		else
			slurm_not_named(k);
	}
}

static void slurm_poll(struct slurm *s)
{
	struct strings *argv = &s->poll.argv;

	strings_add(argv, "squeue");
	strings_add(argv, "--noheader");
	strings_add(argv, "--array");
	strings_add(argv, "--states=all");
	strings_add(argv, "--user=%u", (unsigned)getuid());
	strings_add(argv, "--format=%s", SLURM_ROWS);
	task_start(&s->poll, poll_done, true);
}

/* Names that squeue does not know and sacct was not asked for. How many there were. */
static unsigned slurm_forgotten(const struct slurm *s, struct dp_buf *names)
{
	unsigned n = 0;

	for (const struct slurm_job *k = s->jobs; k && n < ASKED_MOST; k = k->next)
		if (k->phase == SLURM_HAS_ENDED && k->forgotten && !k->asked)
			dp_buf_printf(names, "%s%s", n++ ? "," : "--name=", k->name);
	return n;
}

/* Without accounting nobody remembers: the files tell, after a while. */
static void account_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	bool ok = slurm_run_ok(&t->run);
	struct slurm_job *next;
	char why[300];

	slurm_run_why(&t->run, "sacct", why, sizeof why);
	if (!ok && !s->told_none)
		log_line(
			&s->b->d->log, LOG_INFO, "",
			"Slurm's accounting tells nothing (%s): jobs that Slurm does not "
			"know any more are taken for lost after %.0f s",
			why, FORGOT_SECONDS);
	s->told_none |= !ok;
	for (struct slurm_job *k = s->jobs; k; k = next) {
		const struct slurm_row *r =
			ok && k->forgotten ? slurm_row_of(&t->rows, k) : NULL;

		next = k->next;
		if (k->phase != SLURM_HAS_ENDED || !k->forgotten || k->since >= t->asked)
			continue;
		k->asked = true;
		/* what the database takes for running the controller does not know */
		if (r && slurm_state_over(r->state))
			slurm_heard(k, r);
	}
}

static void slurm_account(struct slurm *s)
{
	struct dp_buf names = DP_BUF_INIT;
	struct strings *argv = &s->account.argv;

	if (slurm_forgotten(s, &names) > 0) {
		strings_add(argv, "sacct");
		strings_add(argv, "--noheader");
		strings_add(argv, "--allocations");
		strings_add(argv, "--parsable2");
		strings_add(argv, "--duplicates");
		strings_add(argv, "--starttime=now-30days");
		strings_add(argv, "--format=JobID,State,NodeList,JobName,ExitCode");
		strings_take(argv, dp_buf_detach(&names));
		task_start(&s->account, account_done, true);
	}
	dp_buf_free(&names);
}

/* ---- cancelling ---- */

static void cancel_done(struct slurm_task *t)
{
	(void)t; /* whoever has not ended is asked to again */
}

/* As many as one command takes: first gently, by a signal for the shim alone, which gives
 * the trainer its grace time; then all of it. */
static void slurm_cancel_due(struct slurm *s)
{
	struct strings *argv = &s->cancel.argv;
	int64_t now = slurm_now(s);
	unsigned n = 0;
	bool hard = false;

	for (struct slurm_job *k = s->jobs; k && n < CANCELS_MOST; k = k->next) {
		if (!k->cancelling || !k->id[0] || now < k->cancel_at ||
		    (n > 0 && k->hard != hard))
			continue;
		if (n++ == 0) {
			hard = k->hard;
			strings_add(argv, "scancel");
			strings_add(argv, "--quiet");
			if (!hard) {
				strings_add(argv, "--batch");
				strings_add(argv, "--signal=TERM");
			}
		}
		strings_add(argv, "%s", k->id);
		k->cancel_at = slurm_after(now, k->hard ? CANCEL_AGAIN
							: k->job->spec->trainer.grace +
								  HARD_SECONDS);
		k->hard = true;
	}
	if (n > 0) {
		task_start(&s->cancel, cancel_done, false);
		slurm_stir(s);
	}
}

static void slurm_cancel(struct backend *b, struct job *j)
{
	struct slurm_job *k = j->handle;

	(void)b;
	if (!k)
		return;
	if (k->phase == SLURM_QUEUED)
		job_never_started(slurm_forget(k));
	else
		slurm_cancel_job(k);
}

/* ---- after a restart, and what is left ---- */

static void slurm_adopt(struct backend *b, struct job *j)
{
	const struct dp_trial *t = job_trial(j);
	struct slurm_job *k = j->handle;

	if (k)
		return; /* it is sought */
	k = slurm_job_new(b, j);
	if (!k) {
		job_unknown(j, "there is no memory to ask Slurm for it");
		return;
	}
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].run == j->run && t->attempts[i].number == j->attempt &&
		    t->attempts[i].place)
			snprintf(k->id, sizeof k->id, "%s", t->attempts[i].place);
	k->phase = SLURM_SOUGHT;
	k->slurm->ask_at = 0;
	slurm_look(k, false); /* its end may be recorded already */
}

/* The name that an attempt's job has, and its task, from beside its folder. */
static bool leftover_name(const char *folder, char name[SLURM_NAME], long *task)
{
	char *path = claim_beside(folder, ".job"), text[SLURM_NAME + 40] = "";
	int fd = path ? dp_open_plain(path) : -1;
	bool known = fd >= 0 && read(fd, text, sizeof text - 1) > 0 &&
		     sscanf(text, "%199s %ld", name, task) == 2;

	if (fd >= 0)
		close(fd);
	free(path);
	return known;
}

static void leftover_cancel(const char *id)
{
	char word[SLURM_ID];
	char *argv[] = { "scancel", word, NULL };
	const atomic_bool on = false;
	struct slurm_run run;

	snprintf(word, sizeof word, "%s", id);
	slurm_run(&run, argv, NULL, NULL, COMMAND_SECONDS, &on);
	slurm_run_clear(&run);
}

/* Cancels what lives of those with the name and task. True: nothing does. */
static bool leftover_end(const struct slurm_rows *rows, const char *name, long task,
			 char *why, size_t room)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct slurm_row *r = &rows->list[i];

		if (strcmp(r->name, name) != 0 || r->task != task ||
		    slurm_state_over(r->state))
			continue;
		leftover_cancel(r->id);
		snprintf(why, room, "Slurm job %s is being cancelled", r->id);
		return false;
	}
	return true;
}

/* Slurm's word that no job of the attempt lives; until it answers nobody knows. What a
 * node does that Slurm cannot reach it does in a folder that is not read again. */
static bool slurm_end_leftovers(const char *folder, char *why, size_t room)
{
	char name[SLURM_NAME], names[SLURM_NAME + 8], user[24];
	char *argv[] = { "squeue",       "--noheader",           "--array", names, user,
			 "--states=all", "--format=" SLURM_ROWS, NULL };
	const atomic_bool on = false;
	struct slurm_rows rows = { 0 };
	struct slurm_run run;
	bool gone = false;
	long task;

	why[0] = '\0';
	if (!leftover_name(folder, name, &task))
		return true; /* it was never submitted */
	snprintf(names, sizeof names, "--name=%s", name);
	snprintf(user, sizeof user, "--user=%u", (unsigned)getuid());
	slurm_run(&run, argv, NULL, NULL, COMMAND_SECONDS, &on);
	if (!slurm_run_ok(&run))
		slurm_run_why(&run, "squeue", why, room);
	else if (!slurm_rows_parse(&run.out, &rows))
		snprintf(why, room, "out of memory");
	else
		gone = leftover_end(&rows, name, task, why, room);
	slurm_rows_free(&rows);
	slurm_run_clear(&run);
	return gone;
}

/* ---- the rest of the table ---- */

static int slurm_open(struct backend *b, struct dp_err *err)
{
	struct slurm *s = calloc(1, sizeof *s);

	if (!s)
		return dp_fail(err, DP_E_NOMEM, "no memory for the Slurm executor");
	s->b = b;
	s->queue_end = &s->queue;
	s->pause = POLL_FIRST;
	s->submit.slurm = s->poll.slurm = s->account.slurm = s->cancel.slurm = s;
	uv_timer_init(&b->d->loop, &s->gather);
	s->gather.data = s;
	b->self = s;
	return DP_OK;
}

static void slurm_stop(struct backend *b)
{
	struct slurm *s = b->self;

	if (s)
		atomic_store(&s->stop, true);
}

static void slurm_close(struct backend *b)
{
	free(b->self);
}

static unsigned slurm_places(const struct backend *b)
{
	return slurm_settings(b).jobs;
}

static void slurm_why_full(const struct backend *b, char *out, size_t room)
{
	snprintf(out, room,
		 "%u jobs are in Slurm's queue, as many as may be (slurm.jobs)",
		 slurm_places(b));
}

static bool slurm_held(const struct slurm_job *k)
{
	return k->phase == SLURM_HAS_IT && k->state == SLURM_PENDING &&
	       strstr(k->reason, "Held") != NULL;
}

static bool slurm_why_waiting(const struct backend *b, const struct study *h, char *out,
			      size_t room)
{
	const struct slurm *s = b->self;
	const struct slurm_job *waits = NULL;
	unsigned waiting = 0, others = 0;

	for (const struct slurm_job *k = s->jobs; k; k = k->next) {
		if (k->job->home != h)
			continue;
		if (slurm_held(k)) {
			snprintf(out, room,
				 "Slurm job %s is held (%s); 'scontrol release %s' lets "
				 "it "
				 "go",
				 k->id, k->reason, k->id);
			return true;
		}
		if (k->phase == SLURM_HAS_IT && k->state == SLURM_PENDING) {
			waiting++;
			waits = k;
		} else {
			others++;
		}
	}
	if (waiting == 0 || others > 0)
		return false;
	snprintf(out, room, "%u job%s in Slurm's queue%s%s", waiting,
		 waiting == 1 ? " waits" : "s wait", waits->reason[0] ? ": " : "",
		 waits->reason);
	return true;
}

/* Reads what attempts have told, a part of them at a time if there are many. */
static void slurm_read_some(struct slurm *s)
{
	unsigned n = 0, from = s->looked;
	struct slurm_job *next;

	for (struct slurm_job *k = s->jobs; k; k = next, n++) {
		next = k->next;
		if (n < from || n >= from + LOOKS_A_TICK)
			continue;
		job_progress(k->job);
	}
	s->looked = n > from + LOOKS_A_TICK ? from + LOOKS_A_TICK : 0;
}

/* Those that Slurm says have ended, or does not know: what do their files say? */
static void slurm_look_at_ended(struct slurm *s)
{
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase == SLURM_HAS_ENDED && (!k->forgotten || k->asked) &&
		    slurm_waited(k, CLAIM_SECONDS))
			slurm_look(k, true);
}

/* Is there anything that Slurm should be asked about? */
static bool slurm_has_any(const struct slurm *s)
{
	for (const struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase >= SLURM_SOUGHT)
			return true;
	return false;
}

static void slurm_tick(struct backend *b)
{
	struct slurm *s = b->self;

	slurm_submit_next(s);
	if (!s->cancel.busy)
		slurm_cancel_due(s);
	if (!s->poll.busy && slurm_now(s) >= s->ask_at && slurm_has_any(s))
		slurm_poll(s);
	if (!s->account.busy)
		slurm_account(s);
	slurm_look_at_ended(s);
	slurm_read_some(s);
}

const struct executor executor_slurm = {
	.name = "slurm",
	.open = slurm_open,
	.stop = slurm_stop,
	.close = slurm_close,
	.places = slurm_places,
	.why_full = slurm_why_full,
	.start = slurm_start,
	.adopt = slurm_adopt,
	.cancel = slurm_cancel,
	.end_leftovers = slurm_end_leftovers,
	.recorded = slurm_recorded,
	.why_waiting = slurm_why_waiting,
	.tick = slurm_tick,
	.release = slurm_release,
};
