/* slurm_ask.c - what became of jobs: what Slurm says, and what their files say. */
#include "daemon/slurm.h"

#include "base/fs.h"
#include "daemon/sched.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_SECONDS     10.0 /* after Slurm says that a job has ended: for the record */
#define FORGOT_SECONDS     30.0 /* the same, of a job that nobody knows */
#define COMPLETING_SECONDS 60.0 /* for its word of how, while it cleans up */
#define LOOK_SECONDS       1.0  /* between two looks at the files of one that has ended */
#define SOUGHT_SECONDS     5.0  /* the same, of one that Slurm does not tell about */
#define ACCOUNT_PAUSE      5.0  /* between two questions to sacct */

enum {
	ASKED_MOST = 200,   /* names of one sacct */
	MISSES_UNBEGUN = 2, /* answers that do not name a job which claimed nothing */
	MISSES_LOST = 3,    /* the same, of one that did */
	RECORD_MOST = 4096  /* bytes of a record that are looked at */
};

/* ---- looking at an attempt's files ---- */

/* Is the end recorded, and as that of a trainer which somebody may have ended? */
static enum look look_recorded(const char *folder)
{
	char *path = dp_path_join(folder, "exit.json"), text[RECORD_MOST] = "";
	int fd = path ? dp_open_plain(path) : -1;
	enum look look = LOOK_OPEN;

	if (fd >= 0) {
		if (read(fd, text, sizeof text - 1) < 0)
			text[0] = '\0'; /* whoever collects it tells */
		close(fd);
		look = strstr(text, "\"cancelled\":true") || !strstr(text, "\"code\":0")
			       ? LOOK_STOPPED
			       : LOOK_RECORDED;
	} else if (path && access(path, F_OK) == 0) {
		look = LOOK_RECORDED;
	}
	free(path);
	return look;
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

/* Makes the claim if nobody has: then no shim that comes late can. A daemon that died may
 * have ended before it could make a folder for either. */
static void look_take(struct slurm_job *k)
{
	const char *folder = k->job->folder;
	struct dp_err err;
	long holder;

	if (dp_mkdirs(folder, 0755, &err) != DP_OK ||
	    claim_folder(folder, &err) != DP_OK) {
		k->look = LOOK_UNKNOWN;
		k->look_errno = errno;
		return;
	}
	switch (claim_look(folder, &holder)) {
	case CLAIM_OURS:
		k->look = LOOK_NOTHING;
		break;
	case CLAIM_UNKNOWN: /* a disk may know no locks */
		k->look_errno = errno;
		k->look = claim_is_there(folder) ? LOOK_OPEN : LOOK_UNKNOWN;
		break;
	case CLAIM_HELD:
	case CLAIM_FREE:
		k->look = LOOK_OPEN;
		break;
	}
}

static void look_work(uv_work_t *w)
{
	struct slurm_job *k = w->data;

	if (k->take)
		look_afresh(k->job->folder);
	k->look = look_recorded(k->job->folder);
	if (k->take && k->look == LOOK_OPEN)
		look_take(k);
}

static void look_done(uv_work_t *w, int status);

void slurm_look(struct slurm_job *k, bool take)
{
	if (k->looking || k->job->reading)
		return; /* what is found may be the end of the job, and of what is read */
	k->looking = true;
	k->take = take;
	k->look_at = slurm_after(slurm_now(k->slurm), LOOK_SECONDS);
	k->work.data = k;
	uv_queue_work(&k->slurm->b->d->loop, &k->work, look_work, look_done);
}

/* The last line of what the job itself said: the shim could not be started, most likely.
 */
static void slurm_last_words(const struct slurm_job *k, char *out, size_t room)
{
	char text[512] = "", *path = dp_path_join(k->job->folder, SLURM_LOG), *line;
	int fd = path ? dp_open_plain(path) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

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
	struct slurm *s = k->slurm;
	char said[200];
	struct dp_err err;

	slurm_last_words(k, said, sizeof said);
	if (k->cancelling || k->put_back || k->state == SLURM_NODE_FAIL ||
	    k->state == SLURM_PREEMPTED || !k->id[0]) {
		job_never_started(slurm_forget(k));
		return;
	}
	if (k->state == SLURM_CANCELLED)
		dp_fail(&err, DP_E_IO,
			"Slurm job %s was cancelled from outside before it began", k->id);
	else if (k->forgotten && !said[0])
		dp_fail(&err, DP_E_IO,
			"Slurm does not know job %s any more, and it never began", k->id);
	else
		dp_fail(&err, DP_E_INVALID,
			"Slurm job %s ended (%s) before dpareto-shim could claim the "
			"attempt%s%s; the node must see %s under the same path, and the "
			"daemon's user must be able to write there",
			k->id, k->word[0] ? k->word : "it is not known how",
			said[0] ? "; it said: " : "", said, s->b->d->at.state_dir);
	s->shim[0] = '\0'; /* the copy may be what is missing */
	job_refused(slurm_forget(k), &err);
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
		[SLURM_CANCELLED] = { DP_END_CANCELLED, "it was cancelled from outside; "
							"the trial starts again" },
		[SLURM_PREEMPTED] = { DP_END_CANCELLED, "it had to make room for another "
							"job; the trial starts again" },
	};
	char why[300];

	if ((size_t)k->state >= DP_COUNT(fates) || !fates[k->state].end || k->forgotten)
		return;
	snprintf(why, sizeof why, "%s (Slurm job %s: %s)", fates[k->state].why, k->id,
		 k->word);
	job_fate(k->job, fates[k->state].end, why);
}

/* Its files are all there is to know. */
static void slurm_over(struct slurm_job *k)
{
	if (k->phase == SLURM_HAS_ENDED)
		slurm_tell_fate(k);
	job_ended(slurm_forget(k));
}

static bool slurm_waited(const struct slurm_job *k, int64_t since, double seconds)
{
	return (double)(slurm_now(k->slurm) - since) / 1e6 >= seconds;
}

/* A shim has it and no end is recorded: is there no more hope for one? */
static bool slurm_lost(const struct slurm_job *k)
{
	if (k->phase != SLURM_HAS_ENDED)
		return false;
	if (!k->forgotten)
		return slurm_waited(k, k->since, RECORD_SECONDS);
	return k->asked && k->misses >= MISSES_LOST &&
	       slurm_waited(k, k->since, FORGOT_SECONDS);
}

/* How long Slurm may take to say how a job ended whose record is there. */
static double slurm_word_seconds(const struct slurm_job *k)
{
	return strcmp(k->word, "COMPLETING") == 0 ? COMPLETING_SECONDS : RECORD_SECONDS;
}

/* Somebody may have ended it, and it was not us: Slurm knows whether that was asked for
 * from outside, or its time was over. */
static void slurm_stopped(struct slurm_job *k)
{
	struct slurm *s = k->slurm;

	if (!k->stopped_at)
		k->stopped_at = slurm_now(s);
	if (k->cancelling ||
	    (k->phase == SLURM_HAS_ENDED && (!k->forgotten || k->asked)) ||
	    (!s->silent_since && slurm_waited(k, k->stopped_at, slurm_word_seconds(k))))
		slurm_over(k);
	else
		slurm_stir(s);
}

static void look_done(uv_work_t *w, int status)
{
	struct slurm_job *k = w->data;

	(void)status; /* work is never cancelled */
	k->looking = false;
	if (k->slurm->b->d->closed)
		return;
	switch (k->look) {
	case LOOK_RECORDED:
		slurm_over(k);
		break;
	case LOOK_STOPPED:
		slurm_stopped(k);
		break;
	case LOOK_NOTHING:
		slurm_nothing_ran(k);
		break;
	case LOOK_UNKNOWN:
		job_unknown(k->job, strerror(k->look_errno));
		break;
	case LOOK_OPEN:
		if (k->take && slurm_lost(k))
			slurm_over(k);
		break;
	}
}

void slurm_recorded(struct backend *b, struct job *j)
{
	struct slurm_job *k = j->handle;

	(void)b;
	if (k && k->phase >= SLURM_SOUGHT)
		slurm_look(k, false);
}

/* ---- asking ---- */

/* How well a row fits: one that lives before one that does not, what has a node before
 * what waits, then the number that we know. */
static int slurm_row_rank(const struct slurm_job *k, const struct slurm_row *r)
{
	return 4 * !slurm_state_over(r->state) + 2 * (r->state == SLURM_RUNNING) +
	       (strcmp(r->id, k->id) == 0);
}

/* Its row; all with its name and task are known from here on. A job may be there twice.
 */
static struct slurm_row *slurm_row_of(const struct slurm_rows *rows,
				      const struct slurm_job *k)
{
	struct slurm_row *r = slurm_rows_find(rows, k->name, k->task), *best = r;

	for (; r && r < rows->list + rows->n && r->task == k->task &&
	       strcmp(r->name, k->name) == 0;
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

static void account_told(struct slurm *s, const struct slurm_task *t)
{
	char why[300];

	slurm_run_why(&t->run, "sacct", why, sizeof why);
	if (!s->told_none)
		log_line(
			&s->b->d->log, LOG_INFO, "",
			"Slurm's accounting tells nothing (%s): jobs that Slurm does not "
			"know any more are taken for lost after %.0f s",
			why, FORGOT_SECONDS);
	s->told_none = true;
}

/* Without accounting nobody remembers: the files tell, after a while. */
static void account_done(struct slurm_task *t)
{
	struct slurm *s = t->slurm;
	bool ok = slurm_run_ok(&t->run);

	if (!ok)
		account_told(s, t);
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
		if (!slurm_task_start(&s->account, account_done, true))
			for (struct slurm_job *k = s->jobs; k; k = k->next)
				k->asking = false;
	}
	dp_buf_free(&names);
}

/* Those that Slurm says have ended, or does not know: what do their files say? Of those
 * that it does not tell about the end may be recorded all the same. */
static void slurm_look_at_files(struct slurm *s)
{
	int64_t now = slurm_now(s);

	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		if (now < k->look_at || k->looking)
			continue;
		if (k->phase == SLURM_HAS_ENDED)
			slurm_look(k, !k->forgotten ||
					      (k->asked && k->misses >= MISSES_UNBEGUN));
		else if (k->phase == SLURM_SOUGHT || k->stopped_at)
			slurm_look(k, false);
		if (k->phase == SLURM_SOUGHT)
			k->look_at = slurm_after(now, SOUGHT_SECONDS);
	}
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
	slurm_look_at_files(s);
}
