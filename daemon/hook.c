/* hook.c - the queue of what is to be told, and the one program that is being run. */
#include "daemon/hook.h"

#include "base/json.h"
#include "base/num.h"
#include "daemon/child.h"
#include "daemon/hook_backlog.h"
#include "daemon/study.h"
#include "daemon/told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
	QUEUE_MAX = 1000,         /* more wait in the journal */
	REPORT_US = 60 * 1000000, /* a report is waited for so long */
	STOP_US = 5 * 1000000,    /* for what waits when the daemon stops */
	KILL_US = 1000000,        /* and for the running one after TERM */
	SAVE_TICKS = 120          /* how far it is told is kept once a minute, too */
};

/* One program to run for one thing that happened. */
struct hook_run {
	struct hook_run *next;
	json_t *hook, *news;
	enum happening what;
	uint32_t study, seq;
	uint64_t ticket;
	int64_t since; /* dp_mono_us() */
	char name[DP_NAME_MAX + 1];
};

struct hooks {
	struct dpd *d;
	struct hook_run *first, **last, *running;
	unsigned waiting;
	struct hook_backlog backlog;
	bool filling; /* from the journal, until the queue is full */
	struct child child;
	struct told *told;
	bool ready; /* what was not told is known: from here on progress can be kept */
	bool unsaved;
	int64_t stop_until; /* 0: the daemon does not stop */
};

/* ---- the queue ---- */

static void hook_run_free(struct hook_run *r)
{
	json_decref(r->hook);
	json_decref(r->news);
	free(r);
}

static struct hook_run *hook_run_take(struct hooks *k, struct hook_run **at)
{
	struct hook_run *r = *at;

	*at = r->next;
	if (!r->next)
		k->last = at;
	k->waiting--;
	return r;
}

static bool hook_run_add(struct hooks *k, const struct happened *one, json_t *hook)
{
	struct hook_run *r = one->news ? calloc(1, sizeof *r) : NULL;

	if (!r)
		return false;
	*r = (struct hook_run){ .hook = json_incref(hook),
				.news = json_incref(one->news),
				.what = one->what,
				.study = one->study,
				.seq = one->seq,
				.ticket = one->ticket,
				.since = dp_mono_us() };
	snprintf(r->name, sizeof r->name, "%s", one->name);
	*k->last = r;
	k->last = &r->next;
	k->waiting++;
	return true;
}

bool hooks_want(const struct dpd *d, enum happening what)
{
	const json_t *hook;
	size_t i;

	json_array_foreach (d->config.hooks, i, hook)
		if (hook_wants(hook, what))
			return true;
	return false;
}

bool hooks_tell(struct dpd *d, const struct happened *one)
{
	json_t *hook;
	size_t i;

	json_array_foreach (d->config.hooks, i, hook)
		if (hook_wants(hook, one->what) && !hook_run_add(d->hooks, one, hook))
			return false;
	return true;
}

bool hooks_have_room(const struct dpd *d)
{
	return d->hooks->waiting < QUEUE_MAX;
}

bool hooks_may_queue(const struct dpd *d)
{
	return !d->hooks->backlog.any && hooks_have_room(d);
}

void hooks_put_off(struct study *h, const struct dp_event *e)
{
	struct hook_backlog *b = &h->d->hooks->backlog;

	if (!b->any)
		log_line(&h->d->log, LOG_WARN, "",
			 "%u hooks wait to be run; further notifications wait in the "
			 "journal",
			 h->d->hooks->waiting);
	hook_backlog_add(b, h, e->seq, e->time);
}

/* A queue that is half empty is filled in one go. */
static void hooks_fill(struct hooks *k)
{
	if (k->waiting <= QUEUE_MAX / 2)
		k->filling = true;
	else if (k->waiting >= QUEUE_MAX)
		k->filling = false;
	if (k->filling)
		hook_backlog_poll(&k->backlog, k->d);
}

/* ---- how far it was told ---- */

static void note_first_waiting(json_t *studies, const struct hook_run *r)
{
	char key[16];

	if (!r || r->study == 0)
		return;
	snprintf(key, sizeof key, "%u", r->study);
	if (json_integer_value(json_object_get(studies, key)) > (json_int_t)r->seq)
		json_object_set_new(studies, key, json_integer(r->seq));
}

/* For each study the first record that was not told to the end. */
static json_t *hooks_progress(const struct hooks *k)
{
	const struct dpd *d = k->d;
	json_t *studies = json_object();
	char key[16];

	for (uint32_t i = 0; i < d->nstudies; i++) {
		const struct study *h = d->studies[i];

		snprintf(key, sizeof key, "%u", h->state->id);
		json_object_set_new(
			studies, key,
			json_integer(h->hook_wait.waits ? h->hook_wait.from : h->state->seq));
	}
	note_first_waiting(studies, k->running);
	for (const struct hook_run *r = k->first; r; r = r->next)
		note_first_waiting(studies, r);
	return studies;
}

static bool all_is_durable(const struct dpd *d)
{
	return !d->trouble && dp_journal_durable(d->journal) >= d->last_ticket;
}

static bool hooks_any(const struct hooks *k)
{
	return json_array_size(k->d->config.hooks) > 0;
}

static void hooks_save(struct hooks *k)
{
	if (k->unsaved && all_is_durable(k->d))
		k->unsaved = !told_save(k->told, hooks_any(k) ? hooks_progress(k) : NULL);
}

void hooks_catch_up(struct dpd *d)
{
	struct hooks *k = d->hooks;

	/* without hooks there is nothing to report to */
	for (uint32_t i = 0; hooks_any(k) && i < d->nstudies; i++) {
		struct study *h = d->studies[i];
		uint32_t from = told_upto(k->told, h->state->id);

		if (from < h->state->seq)
			hook_backlog_add(&k->backlog, h, from, 0);
		/* a study that cannot be read to its end is paused, but there is no
		 * record of it: it is told at each start until it is repaired */
		if (h->state->apart)
			hook_backlog_add_apart(&k->backlog, h);
	}
	hooks_fill(k);
	if (k->waiting)
		log_line(&d->log, LOG_INFO, "", "%u hooks of a former daemon are run now%s",
			 k->waiting, k->backlog.any ? ", others wait in the journal" : "");
	k->unsaved = true;
	k->ready = true;
}

void hooks_reloaded(struct dpd *d)
{
	if (!hooks_any(d->hooks))
		hook_backlog_clear(&d->hooks->backlog, d);
	d->hooks->unsaved = true;
}

/* ---- running ---- */

static const char *hook_run_program(const struct hook_run *r)
{
	return json_string_value(json_array_get(json_object_get(r->hook, "command"), 0));
}

static void hook_run_log(const struct hooks *k, const char *what)
{
	const struct hook_run *r = k->running;

	log_line(&k->d->log, LOG_WARN, r->name, "the hook %.200s for '%s' %s", hook_run_program(r),
		 happening_text(r->what), what);
}

static void hook_run_over(struct hooks *k)
{
	hook_run_free(k->running);
	k->running = NULL;
	k->unsaved = true;
}

static void on_hook_end(struct child *c, int status)
{
	struct hooks *k = c->d->hooks;
	char words[300], text[500], limit[DP_NUM_LEN];

	child_last_words(c, words, sizeof words);
	if (c->late)
		snprintf(text, sizeof text, "was ended%s: it took longer than %s",
			 c->killed ? " by SIGKILL" : "",
			 k->stop_until ? "the daemon's stop allows"
				       : dp_duration_text(hook_timeout(k->running->hook), limit));
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof text, "ended with exit status %d", WEXITSTATUS(status));
	if (words[0])
		snprintf(text + strlen(text), sizeof text - strlen(text), "; its last line: %s",
			 words);
	if (c->late || status != 0)
		hook_run_log(k, text);
	else
		log_line(&c->d->log, LOG_DEBUG, k->running->name, "told %s of '%s'",
			 hook_run_program(k->running), happening_text(k->running->what));
	/* one that our own stop has cut short is told again by the next daemon */
	if (!c->late || !k->stop_until)
		hook_run_over(k);
	hooks_poll(c->d);
}

static char **hook_run_argv(const struct hook_run *r)
{
	const json_t *command = json_object_get(r->hook, "command"), *word;
	char **argv = calloc(json_array_size(command) + 1, sizeof *argv);
	size_t i;

	json_array_foreach (command, i, word)
		if (argv)
			argv[i] = (char *)json_string_value(word);
	return argv;
}

/* The object as it goes out: with the report, if there is one by now. */
static char *hook_run_input(const struct dpd *d, const struct hook_run *r)
{
	struct study *h = r->study ? study_by_id(d, r->study) : NULL;
	char *report = h ? report_path(h) : NULL;
	struct dp_buf text = DP_BUF_INIT;

	json_object_set_new(r->news, "report", report ? json_string(report) : json_null());
	free(report);
	dp_json_dump(&text, r->news, 0);
	dp_buf_putc(&text, '\n');
	return dp_buf_detach(&text);
}

static void hook_run_begin(struct hooks *k)
{
	struct hook_run *r = hook_run_take(k, &k->first);
	char **argv = hook_run_argv(r), *input = hook_run_input(k->d, r), why[300];
	int e = 0;

	k->running = r;
	if (!argv || !input)
		snprintf(why, sizeof why, "could not be started: no memory");
	else if ((e = child_start(&k->child, argv, input, hook_timeout(r->hook))) != 0)
		snprintf(why, sizeof why, "could not be started: %s", strerror(e));
	free(argv);
	free(input);
	if (child_busy(&k->child)) {
		if (k->stop_until)
			child_hurry(&k->child, k->stop_until);
		return;
	}
	hook_run_log(k, why);
	hook_run_over(k);
}

/* May the first one be told? Its record must be on the disk, and whoever hears of the
 * end of a study wants to look at its report. */
static bool hook_may_begin(const struct hooks *k)
{
	const struct hook_run *r = k->first;
	const struct dpd *d = k->d;
	struct study *h;

	if (!r || k->running || (k->stop_until && dp_mono_us() >= k->stop_until) ||
	    dp_journal_durable(d->journal) < r->ticket)
		return false;
	if (r->study == 0 || d->stopping || dp_mono_us() - r->since > REPORT_US)
		return true;
	h = study_by_id(d, r->study);
	return !h || !report_is_coming(h);
}

void hooks_poll(struct dpd *d)
{
	struct hooks *k = d->hooks;

	hooks_fill(k);
	while (hook_may_begin(k))
		hook_run_begin(k);
	hooks_save(k);
	if (d->stopping)
		daemon_stop_check(d);
}

void hooks_tick(struct dpd *d)
{
	child_tick(&d->hooks->child);
	if (d->ticks % SAVE_TICKS == 0 && hooks_any(d->hooks))
		d->hooks->unsaved = true;
	hooks_poll(d);
}

/* ---- life ---- */

bool hooks_start(struct dpd *d)
{
	struct hooks *k = calloc(1, sizeof *k);

	if (!k)
		return false;
	k->d = d;
	k->last = &k->first;
	child_init(&k->child, d, on_hook_end);
	k->told = told_open(d);
	d->hooks = k;
	return k->told != NULL;
}

void hooks_hurry(struct dpd *d, bool now)
{
	struct hooks *k = d->hooks;

	k->stop_until = dp_mono_us() + (now ? -KILL_US : STOP_US);
	child_hurry(&k->child, k->stop_until);
}

bool hooks_hold_stop(const struct dpd *d)
{
	const struct hooks *k = d->hooks;
	int64_t now = dp_mono_us();

	if (child_busy(&k->child))
		return now < k->stop_until + KILL_US;
	return (k->first || k->backlog.any) && now < k->stop_until;
}

void hooks_stop(struct dpd *d)
{
	struct hooks *k = d->hooks;
	bool keep;

	if (!k)
		return;
	keep = k->ready && hooks_any(k) && !d->trouble;
	child_stop(&k->child);
	if (k->told)
		told_close(k->told, keep ? hooks_progress(k) : NULL);
	if (k->first)
		log_line(&d->log, LOG_WARN, "",
			 "%u hooks were not run; the next daemon tells what is recorded",
			 k->waiting);
	while (k->first)
		hook_run_free(hook_run_take(k, &k->first));
	if (k->running)
		hook_run_free(k->running);
	free(k);
	d->hooks = NULL;
}
