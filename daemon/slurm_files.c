/* slurm_files.c - what became of jobs by their files: the record of the end, who has the
 * claim, and what follows from it with what Slurm says. */
#include "daemon/slurm.h"

#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_SECONDS     10.0 /* after Slurm says that a job has ended: for the record */
#define COMPLETING_SECONDS 60.0 /* for its word of how, while it cleans up */
#define LOOK_SECONDS       1.0  /* between two looks at the files of one that has ended */
#define SOUGHT_SECONDS     5.0  /* the same, of one that Slurm does not tell about */

enum {
	MISSES_UNBEGUN = 2, /* answers that do not name a job which claimed nothing */
	MISSES_LOST = 3,    /* the same, of one that did */
	WATCH_FIRST = 100,  /* milliseconds between two looks for records */
	WATCH_MOST = 500,   /* the same, while nothing happens */
	WATCHED_MOST = 256  /* attempts of one of them */
};

/* ---- looking ---- */

/* Is the end recorded, and as that of a trainer which somebody may have ended? */
static enum look look_recorded(const char *folder)
{
	char *path = dp_path_join(folder, "exit.json");
	struct dp_buf text = DP_BUF_INIT;
	int e = path ? claim_read_record(folder, path, &text) : ENOMEM;
	enum look look = LOOK_OPEN;

	if (e == 0 && text.len)
		look = strstr(dp_buf_text(&text), "\"cancelled\":true") ||
				       !strstr(dp_buf_text(&text), "\"code\":0")
			       ? LOOK_STOPPED
			       : LOOK_RECORDED;
	else if (e != 0 && path && access(path, F_OK) == 0)
		look = LOOK_RECORDED; /* the final read reports why */
	dp_buf_free(&text);
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

	if (!claim_is_there(folder) &&
	    (dp_mkdirs(folder, 0755, &err) != DP_OK || claim_folder(folder, &err) != DP_OK)) {
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
	snprintf(out, room, "%.199s", line ? line + 1 : text);
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
		dp_fail(&err, DP_E_IO, "Slurm job %s was cancelled from outside before it began",
			k->id);
	else if (k->forgotten && !said[0])
		dp_fail(&err, DP_E_IO, "Slurm does not know job %s any more, and it never began",
			k->id);
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
		[SLURM_NO_MEMORY] = { DP_END_MEMORY,
				      "Slurm ended the job because it took more memory "
				      "than it had; give it more (trainer.memory)" },
		[SLURM_NODE_FAIL] = { DP_END_LOST, "its node failed" },
		[SLURM_ENDED] = { DP_END_LOST, "the job ended without a record of how" },
		[SLURM_CANCELLED] = { DP_END_CANCELLED, "it was cancelled from outside; "
							"the trial starts again" },
		[SLURM_PREEMPTED] = { DP_END_CANCELLED, "it had to make room for another "
							"job; the trial starts again" },
	};
	char why[300];

	if (k->forgotten) {
		snprintf(why, sizeof why,
			 "Slurm does not know job %s any more, and no end was recorded", k->id);
		job_fate(k->job, DP_END_LOST, why);
		return;
	}
	if ((size_t)k->state >= DP_COUNT(fates) || !fates[k->state].end)
		return;
	snprintf(why, sizeof why, "%s (Slurm job %s: %s)", fates[k->state].why, k->id, k->word);
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
	       slurm_waited(k, k->since, SLURM_FORGOT_SECONDS);
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
	if (k->cancelling || (k->phase == SLURM_HAS_ENDED && (!k->forgotten || k->asked)) ||
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

/* Those that Slurm says have ended, or does not know: what do their files say? Of those
 * that it does not tell about the end may be recorded all the same. */
void slurm_look_at_files(struct slurm *s)
{
	int64_t now = slurm_now(s);

	for (struct slurm_job *k = s->jobs; k; k = k->next) {
		if (now < k->look_at || k->looking)
			continue;
		if (k->phase == SLURM_HAS_ENDED)
			slurm_look(k, !k->forgotten || (k->asked && k->misses >= MISSES_UNBEGUN));
		else if (k->phase == SLURM_SOUGHT || k->stopped_at)
			slurm_look(k, false);
		if (k->phase == SLURM_SOUGHT)
			k->look_at = slurm_after(now, SOUGHT_SECONDS);
	}
}

/* ---- watching for records ---- */

/* The attempts whose records a worker thread looks for, all at once and many times a
 * second: jobs are known by their numbers here, since any of them may go meanwhile. */
struct slurm_watch {
	uv_work_t work;
	struct slurm *slurm;
	size_t n;
	struct watched {
		uint64_t serial;
		char *folder;
		enum look look;
	} list[WATCHED_MOST];
};

static void watch_free(struct slurm_watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->list[i].folder);
	free(w);
}

static void watch_work(uv_work_t *work)
{
	struct slurm_watch *w = work->data;

	for (size_t i = 0; i < w->n; i++)
		w->list[i].look = look_recorded(w->list[i].folder);
}

static void watch_found(struct slurm *s, const struct watched *found)
{
	struct slurm_job *k = s->jobs;

	while (k && k->serial != found->serial)
		k = k->next;
	if (!k || k->looking)
		return;
	if (found->look == LOOK_STOPPED)
		slurm_stopped(k);
	else
		slurm_over(k);
}

static void watch_done(uv_work_t *work, int status)
{
	struct slurm_watch *w = work->data;

	(void)status; /* work is never cancelled */
	w->slurm->watching = false;
	for (size_t i = 0; i < w->n && !w->slurm->b->d->closed; i++)
		if (w->list[i].look != LOOK_OPEN)
			watch_found(w->slurm, &w->list[i]);
	watch_free(w);
}

/* Those that may have ended since. If there are many, what waits in the queue has not;
 * with very many the ticks tell. */
static void watch_choose(struct slurm_watch *w)
{
	bool many = w->slurm->b->jobs > WATCHED_MOST;

	for (const struct slurm_job *k = w->slurm->jobs; k && w->n < WATCHED_MOST; k = k->next) {
		if (k->phase != SLURM_HAS_IT || k->stopped_at ||
		    (many && k->state == SLURM_PENDING))
			continue;
		w->list[w->n].folder = strdup(k->job->folder);
		w->list[w->n].serial = k->serial;
		w->n += w->list[w->n].folder != NULL;
	}
}

static void watch_start(struct slurm *s)
{
	struct slurm_watch *w = s->watching ? NULL : calloc(1, sizeof *w);

	if (!w)
		return; /* the next time */
	w->slurm = s;
	w->work.data = w;
	watch_choose(w);
	if (w->n == 0) {
		watch_free(w);
		return;
	}
	s->watching = true;
	uv_queue_work(&s->b->d->loop, &w->work, watch_work, watch_done);
}

static void on_watch(uv_timer_t *timer)
{
	struct slurm *s = timer->data;

	if (!s->jobs)
		return;
	watch_start(s);
	s->watch_ms = s->watch_ms + s->watch_ms / 8;
	if (s->watch_ms > WATCH_MOST)
		s->watch_ms = WATCH_MOST;
	uv_timer_start(timer, on_watch, s->watch_ms, 0);
}

void slurm_watch(struct slurm *s)
{
	s->watch_ms = WATCH_FIRST;
	if (!uv_is_active((uv_handle_t *)&s->watch))
		uv_timer_start(&s->watch, on_watch, WATCH_FIRST, 0);
}
