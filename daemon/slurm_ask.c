/* slurm_ask.c - what became of jobs by Slurm's word: squeue for all, sacct for those that
 * it does not know any more. */
#include "daemon/slurm.h"

#include "daemon/sched.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ACCOUNT_PAUSE 5.0 /* seconds between two questions to sacct */

enum {
	ASKED_MOST = 200 /* names of one sacct */
};

/* How well a row fits: one that lives before one that does not, what has a node before
 * what waits, then the number that we know. */
static int slurm_row_rank(const struct slurm_job *k, const struct slurm_row *r)
{
	return 4 * !slurm_state_over(r->state) + 2 * (r->state == SLURM_RUNNING) +
	       (strcmp(r->id, k->id) == 0);
}

/* Its row; all with its name and task are known from here on. A job may be there twice.
 */
static struct slurm_row *slurm_row_of(const struct slurm_rows *rows, const struct slurm_job *k)
{
	struct slurm_row *r = slurm_rows_find(rows, k->name, k->task), *best = r;

	for (; r && r < rows->list + rows->n && r->task == k->task && strcmp(r->name, k->name) == 0;
	     r++) {
		r->known = true;
		if (slurm_row_rank(k, r) > slurm_row_rank(k, best))
			best = r;
	}
	return best;
}

static void slurm_note_row(struct slurm_job *k, const struct slurm_row *r, int64_t asked)
{
	if (k->state != r->state)
		slurm_stir(k->slurm);
	k->seen = asked;
	k->state = r->state;
	k->ran |= r->state == SLURM_RUNNING && strcmp(r->word, "CONFIGURING") != 0;
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

	slurm_enter(k, SLURM_HAS_IT);
	k->forgotten = k->asked = false;
	k->misses = 0;
	if (k->job->phase != JOB_STARTED) {
		snprintf(where, sizeof where, "Slurm job %s", k->id);
		job_started(k->job, where);
	}
}

/* Slurm says that it has ended; time counts from when it first does. */
static void slurm_has_ended(struct slurm_job *k)
{
	if (k->phase == SLURM_HAS_ENDED && !k->forgotten)
		return;
	k->forgotten = false;
	k->phase = SLURM_HAS_IT;
	slurm_enter(k, SLURM_HAS_ENDED);
	k->look_at = 0;
}

/* It ran and waits again: somebody had it queued once more although we forbid that. It
 * would find its claim made and end at once; who finds it in the queue cancels it. */
static bool slurm_put_back(struct slurm_job *k)
{
	bool recorded = k->stopped_at && k->seen > k->stopped_at;

	if (k->state != SLURM_PENDING || (!k->ran && !recorded))
		return false;
	k->put_back = true;
	k->state = SLURM_PREEMPTED;
	snprintf(k->word, sizeof k->word, "put back into the queue");
	slurm_has_ended(k);
	return true;
}

/* One answer of squeue or sacct about it. */
static void slurm_heard(struct slurm_job *k, struct slurm_row *r, int64_t asked)
{
	if (k->put_back) {
		r->known = false; /* nobody needs it */
		return;
	}
	slurm_note_row(k, r, asked);
	if (slurm_state_over(r->state))
		slurm_has_ended(k);
	else if (slurm_put_back(k))
		r->known = false;
	else
		slurm_lives(k);
}

/* squeue answered, and did not name it. */
static void slurm_not_named(struct slurm_job *k)
{
	k->misses++;
	if (k->phase == SLURM_HAS_ENDED)
		return;
	slurm_enter(k, SLURM_HAS_ENDED);
	k->forgotten = true;
	k->asked = false;
	k->misses = 1;
}

/* It was submitted, or sought, before the question was asked. */
static bool slurm_concerns(const struct slurm_job *k, int64_t asked)
{
	return k->phase >= SLURM_SOUGHT && k->since < asked;
}

static void slurm_no_answer(struct slurm *s, const struct slurm_task *t)
{
	slurm_run_why(&t->run, "squeue", s->trouble, sizeof s->trouble);
	if (!s->silent_since) {
		s->silent_since = slurm_now(s);
		log_line(&s->b->d->log, LOG_WARN, "",
			 "Slurm does not tell what becomes of its jobs: %s; asking again",
			 s->trouble);
	}
	for (struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase == SLURM_SOUGHT && k->job->phase == JOB_ADOPTING)
			job_unknown(k->job, s->trouble);
}

/* What was held back because of it may go on. */
static void slurm_answers(struct slurm *s)
{
	if (!s->silent_since)
		return;
	s->silent_since = 0;
	s->b->hold = (struct hold){ 0 };
	slurm_stir(s);
	log_line(&s->b->d->log, LOG_INFO, "", "Slurm answers again");
	sched_kick(s->b->d);
}

/* Jobs that wait under a name of ours and that nobody needs: submitted twice or too late,
 * put back into the queue, or of attempts that the journal has lost. */
static void slurm_find_strays(struct slurm *s, const struct slurm_rows *rows)
{
	struct strings ids = { 0 };

	for (size_t i = 0; i < rows->n; i++)
		if (!rows->list[i].known && rows->list[i].state == SLURM_PENDING &&
		    slurm_is_ours(s, rows->list[i].name))
			strings_add(&ids, "%s", rows->list[i].id);
	if (ids.n == 0)
		return;
	s->watch_until = slurm_after(slurm_now(s), WATCH_SECONDS);
	slurm_cancel_strays(s, &ids);
}

static void poll_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;

	s->ask_at = slurm_after(slurm_now(s), s->pause);
	s->pause = fmin(s->pause * 1.5, slurm_settings(s->b).poll);
	if (!slurm_run_ok(&t->run)) {
		slurm_no_answer(s, t);
		return;
	}
	slurm_answers(s);
	s->asked = t->asked;
	s->answered = slurm_now(s);
	for (struct slurm_job *k = s->jobs, *next; k; k = next) {
		struct slurm_row *r = slurm_row_of(&t->rows, k);

		next = k->next;
		if (!slurm_concerns(k, t->asked))
			continue;
		if (r)
			slurm_heard(k, r, t->asked);
		else
			slurm_not_named(k);
	}
	slurm_find_strays(s, &t->rows);
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

static bool slurm_is_forgotten(const struct slurm_job *k)
{
	return k->phase == SLURM_HAS_ENDED && k->forgotten;
}

/* Names that squeue does not know, those first that sacct was not asked for. How many. */
static unsigned slurm_forgotten(struct slurm *s, struct dp_buf *names)
{
	unsigned n = 0;

	for (int again = 0; again < 2; again++)
		for (struct slurm_job *k = s->jobs; k && n < ASKED_MOST; k = k->next) {
			if (!slurm_is_forgotten(k) || k->asked != again || k->asking)
				continue;
			dp_buf_printf(names, "%s%s", n++ ? "," : "--name=", k->name);
			k->asking = true;
		}
	return n;
}

static void sacct_told(struct slurm *s, const struct slurm_task *t)
{
	char why[300];

	slurm_run_why(&t->run, "sacct", why, sizeof why);
	if (!s->told_none)
		log_line(&s->b->d->log, LOG_INFO, "",
			 "Slurm's accounting tells nothing (%s): jobs that Slurm does not "
			 "know any more are taken for lost after %.0f s",
			 why, SLURM_FORGOT_SECONDS);
	s->told_none = true;
}

/* Without accounting nobody remembers: the files tell, after a while. */
static void sacct_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	bool ok = slurm_run_ok(&t->run);

	if (!ok)
		sacct_told(s, t);
	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		bool concerns = k->asking && slurm_is_forgotten(k);
		struct slurm_row *r = ok && concerns ? slurm_row_of(&t->rows, k) : NULL;

		k->asking = false;
		if (concerns)
			k->asked = true;
		/* what the database takes for running the controller does not know */
		if (r && slurm_state_over(r->state))
			slurm_heard(k, r, t->asked);
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
		s->account_at = slurm_after(slurm_now(s), ACCOUNT_PAUSE);
		if (!slurm_task_start(&s->account, sacct_done, true))
			for (struct slurm_job *k = s->jobs; k; k = k->next)
				k->asking = false;
	}
	dp_buf_free(&names);
}

/* Is there anything that Slurm should be asked about? */
static bool slurm_has_any(const struct slurm *s)
{
	for (const struct slurm_job *k = s->jobs; k; k = k->next)
		if (k->phase >= SLURM_SOUGHT)
			return true;
	return slurm_now(s) < s->watch_until;
}

void slurm_ask(struct slurm *s)
{
	if (!s->poll.busy && slurm_now(s) >= s->ask_at && slurm_has_any(s))
		slurm_poll(s);
	if (!s->account.busy && slurm_now(s) >= s->account_at)
		slurm_account(s);
}
