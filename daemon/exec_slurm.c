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
#include "daemon/slurm.h"

#include "base/fs.h"
#include "base/num.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_FIRST   1.0 /* seconds between two questions while something happens */
#define HARD_SECONDS 5.0 /* beyond the grace time, until all of a job is ended */
#define CANCEL_AGAIN 5.0
#define QUEUED_AGAIN 2.0 /* the same, of a job that waits, or after a failure */
#define SEEN_SECONDS                                                                               \
	5.0                /* a number is another job's after a while, in the worst case           \
			    */
#define LATE_SECONDS  5.0  /* of sbatch, before people are told */
#define LEAVE_SECONDS 20.0 /* without an answer of Slurm's, a daemon that stops goes */

enum {
	LOOKS_A_TICK = 128, /* attempts whose files are read in one tick */
	CANCELS_MOST = 100, /* jobs of one scancel */
	LEFTOVERS_MOST = 3, /* worker threads that may wait for squeue because of these */
};

int64_t slurm_now(const struct slurm *s)
{
	return clock_now(s->b->d);
}

int64_t slurm_after(int64_t from, double seconds)
{
	return from + (int64_t)(seconds * 1e6);
}

struct slurm_option slurm_settings(const struct backend *b)
{
	return slurm_option_read(b->d->config.slurm);
}

/* ---- commands on worker threads ---- */

static void task_work(uv_work_t *w)
{
	struct slurm_task *t = w->data;

	slurm_run(&t->run, t->argv.list, t->env, t->input, SLURM_COMMAND_SECONDS, &t->slurm->stop);
	if (t->parses && slurm_run_ok(&t->run))
		t->run.error = slurm_rows_parse(&t->run.out, &t->rows);
}

void slurm_task_clear(struct slurm_task *t)
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
	slurm_task_clear(&ended);
}

bool slurm_task_start(struct slurm_task *t, void (*done)(struct slurm_task *), bool parses)
{
	if (t->argv.failed || !t->argv.list) {
		slurm_task_clear(t);
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

void slurm_stir(struct slurm *s)
{
	int64_t soon = slurm_after(slurm_now(s), POLL_FIRST);

	s->pause = POLL_FIRST;
	if (s->ask_at > soon)
		s->ask_at = soon;
	slurm_watch(s);
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

/* Attempts of a study that is set apart are nobody's yet. */
bool slurm_is_ours(const struct slurm *s, const char *name)
{
	const struct dpd *d = s->b->d;
	char token[9];

	if (strncmp(name, "dp-", 3) != 0 || strlen(name) < 3 + sizeof token)
		return false;
	for (uint32_t i = 0; i < d->nstudies; i++) {
		slurm_study_token(d->studies[i], token);
		if (strncmp(name + 3, token, sizeof token - 1) == 0)
			return !d->studies[i]->state->apart;
	}
	return false;
}

struct slurm_job *slurm_job_new(struct backend *b, struct job *j)
{
	struct slurm *s = b->self;
	struct slurm_job *k = calloc(1, sizeof *k);
	char token[9];

	if (!k)
		return NULL;
	slurm_study_token(j->home, token);
	snprintf(k->name, sizeof k->name, "dp-%s-%s-%u-%u", token, j->spec->name, j->trial,
		 j->attempt);
	k->task = j->run == DP_RUN_ALL ? -1 : j->run;
	k->slurm = s;
	k->job = j;
	k->since = slurm_now(s);
	k->serial = ++s->serial;
	k->next = s->jobs;
	s->jobs = k;
	slurm_stir(s);
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

struct job *slurm_forget(struct slurm_job *k)
{
	struct job *j = k->job;

	slurm_release(k->slurm->b, j);
	return j;
}

void slurm_enter(struct slurm_job *k, enum slurm_phase phase)
{
	if (k->phase == phase)
		return;
	k->phase = phase;
	k->since = slurm_now(k->slurm);
	slurm_stir(k->slurm);
}

void slurm_tell_where(struct slurm_job *k, const char *nodes)
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

/* ---- cancelling ---- */

void slurm_cancel_job(struct slurm_job *k)
{
	if (k->cancelling)
		return;
	k->cancelling = true;
	k->cancel_at = slurm_now(k->slurm);
	slurm_stir(k->slurm);
}

enum cancel_way {
	CANCEL_QUEUED, /* what waits, unless it has begun meanwhile */
	CANCEL_GENTLY, /* a signal for the shim alone, which knows the grace time */
	CANCEL_ALL     /* by Slurm's own rules */
};

static enum cancel_way cancel_way(const struct slurm_job *k)
{
	if (k->state == SLURM_PENDING)
		return CANCEL_QUEUED;
	return k->term_at ? CANCEL_ALL : CANCEL_GENTLY;
}

/* The last answer, of a moment ago, had it under this number: after a controller has lost
 * what it knew, that may be another job's. */
static bool cancel_due(const struct slurm_job *k, int64_t now)
{
	return k->cancelling && k->phase == SLURM_HAS_IT && now >= k->cancel_at &&
	       k->seen == k->slurm->asked && now < slurm_after(k->slurm->answered, SEEN_SECONDS);
}

static void cancel_command(struct strings *argv, enum cancel_way way)
{
	strings_add(argv, "scancel");
	strings_add(argv, "--quiet");
	strings_add(argv, "--user=%u", (unsigned)getuid());
	if (way == CANCEL_QUEUED)
		strings_add(argv, "--state=PENDING");
	if (way == CANCEL_GENTLY) {
		strings_add(argv, "--batch");
		strings_add(argv, "--signal=TERM");
	}
}

/* A signal that did not get through is sent again before anything harder. */
static void cancel_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;

	if (slurm_run_ok(&t->run))
		return;
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->cancelling && k->term_at == t->asked) {
			k->term_at = 0;
			k->cancel_at = slurm_after(slurm_now(s), QUEUED_AGAIN);
		}
}

static double cancel_pause(const struct slurm_job *k, enum cancel_way way)
{
	switch (way) {
	case CANCEL_QUEUED:
		return QUEUED_AGAIN;
	case CANCEL_GENTLY:
		return k->job->spec->trainer.grace + HARD_SECONDS;
	case CANCEL_ALL:
		break;
	}
	return CANCEL_AGAIN;
}

/* As many of one way as a command takes. */
static void slurm_cancel_due(struct slurm *s)
{
	struct strings *argv = &s->cancel.argv;
	int64_t now = slurm_now(s);
	struct slurm_job *gently[CANCELS_MOST];
	enum cancel_way way = CANCEL_QUEUED;
	unsigned n = 0, signalled = 0;

	for (struct slurm_job *k = s->jobs; k && n < CANCELS_MOST; k = k->next) {
		if (k->cancelling)
			slurm_stir(s); /* what becomes of it is asked often */
		if (!cancel_due(k, now) || (n > 0 && cancel_way(k) != way))
			continue;
		if (n++ == 0) {
			way = cancel_way(k);
			cancel_command(argv, way);
		}
		strings_add(argv, "%s", k->id);
		k->cancel_at = slurm_after(now, cancel_pause(k, way));
		if (way == CANCEL_GENTLY)
			gently[signalled++] = k;
	}
	if (n == 0 || !slurm_task_start(&s->cancel, cancel_done, false))
		return;
	while (signalled > 0)
		gently[--signalled]->term_at = s->cancel.asked;
}

void slurm_cancel_strays(struct slurm *s, struct strings *ids)
{
	if (!s->cancel.busy && !ids->failed) {
		cancel_command(&s->cancel.argv, CANCEL_QUEUED);
		for (size_t i = 0; i < ids->n && i < CANCELS_MOST; i++)
			strings_add(&s->cancel.argv, "%s", ids->list[i]);
		log_line(&s->b->d->log, LOG_INFO, "",
			 "cancelling %zu Slurm job%s that nobody needs any more (%s%s)", ids->n,
			 ids->n == 1 ? "" : "s", ids->list[0], ids->n == 1 ? "" : ", ...");
		slurm_task_start(&s->cancel, cancel_done, false);
	}
	strings_free_list(ids->list);
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
	k->slurm->watch_until = slurm_after(slurm_now(k->slurm), WATCH_SECONDS);
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

static void leftover_cancel(struct slurm *s, const char *id)
{
	struct strings argv = { 0 };
	struct slurm_run run;

	cancel_command(&argv, CANCEL_ALL);
	strings_add(&argv, "%s", id);
	if (!argv.failed) {
		slurm_run(&run, argv.list, NULL, NULL, SLURM_COMMAND_SECONDS, &s->stop);
		slurm_run_clear(&run);
	}
	strings_free_list(argv.list);
}

/* Cancels what lives of those with the name and task. True: nothing does. */
static bool leftover_end(struct slurm *s, const struct slurm_rows *rows, const char *name,
			 long task, char *why, size_t room)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct slurm_row *r = &rows->list[i];

		if (strcmp(r->name, name) != 0 || r->task != task || slurm_state_over(r->state))
			continue;
		leftover_cancel(s, r->id);
		snprintf(why, room, "Slurm job %s is being cancelled", r->id);
		return false;
	}
	return true;
}

static bool leftover_ask(struct slurm *s, const char *name, long task, char *why, size_t room)
{
	struct strings argv = { 0 };
	struct slurm_rows rows = { 0 };
	struct slurm_run run;
	bool gone = false;

	strings_add(&argv, "squeue");
	strings_add(&argv, "--noheader");
	strings_add(&argv, "--array");
	strings_add(&argv, "--states=all");
	strings_add(&argv, "--user=%u", (unsigned)getuid());
	strings_add(&argv, "--name=%s", name);
	strings_add(&argv, "--format=%s", SLURM_ROWS);
	if (argv.failed) {
		snprintf(why, room, "out of memory");
		strings_free_list(argv.list);
		return false;
	}
	slurm_run(&run, argv.list, NULL, NULL, SLURM_COMMAND_SECONDS, &s->stop);
	if (slurm_run_ok(&run))
		run.error = slurm_rows_parse(&run.out, &rows);
	if (slurm_run_ok(&run))
		gone = leftover_end(s, &rows, name, task, why, room);
	else
		slurm_run_why(&run, "squeue", why, room);
	slurm_rows_free(&rows);
	slurm_run_clear(&run);
	strings_free_list(argv.list);
	return gone;
}

/* Slurm's word that no job of the attempt lives; until it answers nobody knows. What a
 * node does that Slurm cannot reach it does in a folder that is not read again. A Slurm
 * that hangs must not take all worker threads. */
static bool slurm_end_leftovers(const struct backend *b, const char *folder, char *why, size_t room)
{
	struct slurm *s = b->self;
	char name[SLURM_NAME];
	bool gone = false;
	long task;

	why[0] = '\0';
	if (!leftover_name(folder, name, &task))
		return true; /* it was never submitted */
	if (atomic_fetch_add(&s->leftovers, 1) < LEFTOVERS_MOST)
		gone = leftover_ask(s, name, task, why, room);
	else
		snprintf(why, room, "Slurm is being asked about others");
	atomic_fetch_sub(&s->leftovers, 1);
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
	uv_timer_init(&b->d->loop, &s->watch);
	s->gather.data = s->watch.data = s;
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
	snprintf(out, room, "%u jobs are in Slurm's queue, as many as may be (slurm.jobs)",
		 slurm_places(b));
}

/* JobHeldUser, JobHeldAdmin, launch_failed_requeued_held ... */
static bool slurm_held(const struct slurm_job *k)
{
	return k->phase == SLURM_HAS_IT && k->state == SLURM_PENDING &&
	       strcasestr(k->reason, "held") != NULL;
}

/* Slurm itself is in trouble. */
static bool slurm_why_silent(const struct slurm *s, char *out, size_t room)
{
	double seconds = s->submit.busy ? (double)(slurm_now(s) - s->submit.asked) / 1e6 : 0;

	if (s->silent_since)
		snprintf(out, room, "Slurm does not answer (%s); asking again", s->trouble);
	else if (seconds >= LATE_SECONDS)
		snprintf(out, room, "sbatch has not answered for %.0f s", seconds);
	else
		return false;
	return true;
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
				 "it go",
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
	if (waiting + others > 0 && slurm_why_silent(s, out, room))
		return true;
	if (waiting == 0 || others > 0)
		return false;
	snprintf(out, room, "%u job%s in Slurm's queue%s%s", waiting,
		 waiting == 1 ? " waits" : "s wait", waits->reason[0] ? ": " : "", waits->reason);
	return true;
}

/* Reads what attempts have told, a part of them at a time if there are many; then those
 * that wait in the queue have nothing to tell. */
static void slurm_read_some(struct slurm *s)
{
	unsigned n = 0, from = s->looked;
	bool many = s->b->jobs > LOOKS_A_TICK;

	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		if (k->phase < SLURM_HAS_IT || k->looking || (many && k->state == SLURM_PENDING))
			continue;
		if (n >= from && n < from + LOOKS_A_TICK)
			job_progress(k->job);
		n++;
	}
	s->looked = n > from + LOOKS_A_TICK ? from + LOOKS_A_TICK : 0;
}

/* A daemon that is to end its trainers cannot while Slurm does not answer. It waits for a
 * while, and leaves them to the next one. */
static void slurm_leave(struct slurm *s)
{
	struct dpd *d = s->b->d;
	int64_t now = slurm_now(s);

	if (!d->stopping || d->stop_policy != STOP_KILL)
		return;
	if (!s->stopping_since)
		s->stopping_since = now;
	if (!s->silent_since || s->b->jobs < executors_jobs(d) ||
	    now < slurm_after(s->silent_since, LEAVE_SECONDS) ||
	    now < slurm_after(s->stopping_since, LEAVE_SECONDS))
		return;
	log_line(&d->log, LOG_WARN, "",
		 "Slurm does not answer (%s): %u of its jobs could not be ended and are "
		 "left to the next daemon",
		 s->trouble, s->b->jobs);
	d->stop_policy = STOP_LEAVE;
	daemon_stop_check(d);
}

static void slurm_tick(struct backend *b)
{
	struct slurm *s = b->self;

	slurm_submit_next(s);
	if (!s->cancel.busy)
		slurm_cancel_due(s);
	slurm_ask(s);
	slurm_look_at_files(s);
	slurm_read_some(s);
	slurm_leave(s);
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
