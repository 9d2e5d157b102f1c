/* slurm_ask.c - what became of jobs: what Slurm says, and what their files say. */
#include "daemon/slurm.h"

#include "base/fs.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_SECONDS 20.0 /* after Slurm says that a job has ended: for the record */
#define FORGOT_SECONDS 30.0 /* the same, of a job that nobody knows */
#define CLAIM_SECONDS  4.0  /* the same, if it has claimed nothing */

enum {
	ASKED_MOST = 200 /* names of one sacct */
};

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

void slurm_look(struct slurm_job *k, bool take)
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
		[SLURM_NO_MEMORY] = { DP_END_MEMORY,
				      "Slurm ended the job because it took more memory "
				      "than it had; give it more (trainer.memory)" },
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

void slurm_recorded(struct backend *b, struct job *j)
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
	slurm_task_start(&s->poll, poll_done, true);
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
		slurm_task_start(&s->account, account_done, true);
	}
	dp_buf_free(&names);
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

void slurm_ask(struct slurm *s)
{
	if (!s->poll.busy && slurm_now(s) >= s->ask_at && slurm_has_any(s))
		slurm_poll(s);
	if (!s->account.busy)
		slurm_account(s);
	slurm_look_at_ended(s);
}
