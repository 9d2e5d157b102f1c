/* hooks.c - runs hooks, one at a time. */
#include "daemon/notify/hooks.h"

#include "base/json.h"
#include "base/units.h"
#include "daemon/core/child_process.h"
#include "daemon/notify/hook_backlog.h"
#include "daemon/notify/hook_cursor.h"
#include "daemon/studies/report_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
	REPORT_WAIT_US = 60 * 1000000, /* longest wait for a report */
	STOP_GRACE_US = 5 * 1000000,   /* for waiting hooks when the daemon stops */
	KILL_GRACE_US = 1000000,       /* for the running hook after TERM */
	CURSOR_SAVE_TICKS = 120        /* saves the cursor once a minute, too */
};

struct hooks {
	struct daemon *daemon;
	struct hook_queue queue;
	struct hook_run *running;
	struct hook_backlog backlog;
	bool refilling; /* from the journal, until the queue is full */
	struct child child;
	struct hook_cursor *cursor;
	bool cursor_ready; /* undelivered records are known, so the cursor may be saved */
	bool cursor_dirty;
	unsigned n_ticks;
	int64_t stop_deadline_us; /* 0: the daemon is not stopping */
};

/* ---- the queue ---- */

static void hooks_on_record(struct study *study, const struct dp_event *e)
{
	struct daemon *d = study->daemon;
	struct hooks *k = d->hooks;

	if (!notification_record_is_wanted(study, e))
		return;
	/* waiting ones go first, to keep the order */
	if (k->backlog.n == 0 && hook_queue_has_room(&k->queue)) {
		hook_queue_add(&k->queue, d->config.hooks,
			       notification_of_record(study, e, d->commits->last_ticket));
		return;
	}
	if (k->backlog.n == 0)
		log_line(&d->log, LOG_WARN, "",
			 "%u hooks wait to be run; further notifications wait in the "
			 "journal",
			 k->queue.n);
	hook_backlog_add(&k->backlog, study, e->seq, e->time_us);
}

static void hooks_on_daemon_event(struct daemon *d, enum hook_event what, const char *reason)
{
	struct hooks *k = d->hooks;

	if (!notification_is_wanted(d, what))
		return;
	if (hook_queue_has_room(&k->queue))
		hook_queue_add(&k->queue, d->config.hooks, notification_of_daemon(d, what, reason));
	else /* without a record it cannot wait in the journal */
		log_line(&d->log, LOG_WARN, "",
			 "'%s' is not reported: too many hooks wait to be run",
			 hook_event_text(what));
}

void hooks_on_daemon_started(struct daemon *d)
{
	hooks_on_daemon_event(d, HOOK_EVENT_STARTED, NULL);
}

void hooks_on_disk_low(struct daemon *d, const char *reason)
{
	hooks_on_daemon_event(d, HOOK_EVENT_DISK_LOW, reason);
}

/* Fills the queue in one go once it is half empty. */
static void hooks_refill_from_backlog(struct hooks *k)
{
	if (k->queue.n <= HOOK_QUEUE_MAX / 2)
		k->refilling = true;
	else if (k->queue.n >= HOOK_QUEUE_MAX)
		k->refilling = false;
	if (k->refilling)
		hook_backlog_poll(&k->backlog, k->daemon, &k->queue);
}

/* ---- the cursor ---- */

static void hooks_lower_cursor(json_t *studies, const struct hook_run *r)
{
	char key[16];

	if (!r || r->study_id == 0)
		return;
	snprintf(key, sizeof key, "%u", r->study_id);
	if (json_integer_value(json_object_get(studies, key)) > (json_int_t)r->seq)
		json_object_set_new(studies, key, json_integer(r->seq));
}

/* The first record of each study that was not reported completely. */
static json_t *hooks_cursor_json(const struct hooks *k)
{
	const struct studies *all = k->daemon->studies;
	json_t *studies = json_object();
	char key[16];

	for (uint32_t i = 0; i < all->n; i++) {
		const struct dp_study_state *s = all->list[i]->state;
		uint32_t waiting = hook_backlog_first_seq(&k->backlog, s->id);

		snprintf(key, sizeof key, "%u", s->id);
		json_object_set_new(studies, key,
				    json_integer(waiting == UINT32_MAX ? s->next_seq : waiting));
	}
	hooks_lower_cursor(studies, k->running);
	for (const struct hook_run *r = k->queue.first; r; r = r->next)
		hooks_lower_cursor(studies, r);
	return studies;
}

static bool hooks_are_configured(const struct hooks *k)
{
	return json_array_size(k->daemon->config.hooks) > 0;
}

void hooks_resume_undelivered(struct daemon *d)
{
	struct hooks *k = d->hooks;

	/* without hooks nothing is reported */
	for (uint32_t i = 0; hooks_are_configured(k) && i < d->studies->n; i++) {
		struct study *study = d->studies->list[i];
		uint32_t from = hook_cursor_next_seq(k->cursor, study->state->id);

		if (from < study->state->next_seq)
			hook_backlog_add(&k->backlog, study, from, 0);
		/* a quarantined study is paused without a record of it, so each start reports it
		 * until it is repaired */
		if (study->state->quarantined)
			hook_backlog_add_quarantined(&k->backlog, study);
	}
	hooks_refill_from_backlog(k);
	if (k->queue.n)
		log_line(&d->log, LOG_INFO, "", "%u hooks of a former daemon are run now%s",
			 k->queue.n, k->backlog.n ? ", others wait in the journal" : "");
	k->cursor_dirty = true;
	k->cursor_ready = true;
}

void hooks_on_reload(struct daemon *d)
{
	if (!hooks_are_configured(d->hooks))
		hook_backlog_clear(&d->hooks->backlog);
	d->hooks->cursor_dirty = true;
}

/* ---- running ---- */

static const char *hook_run_program(const struct hook_run *r)
{
	return json_string_value(json_array_get(json_object_get(r->hook, "command"), 0));
}

static void hook_run_log(const struct hooks *k, const char *what)
{
	const struct hook_run *r = k->running;

	log_line(&k->daemon->log, LOG_WARN, r->name, "the hook %.200s for '%s' %s",
		 hook_run_program(r), hook_event_text(r->event), what);
}

static void hook_run_finish(struct hooks *k)
{
	hook_run_free(k->running);
	k->running = NULL;
	k->cursor_dirty = true;
}

static void on_hook_end(struct child *c, int status)
{
	struct hooks *k = c->daemon->hooks;
	char words[300], text[500], limit[DP_NUM_LEN];

	child_last_line(c, words, sizeof words);
	if (c->timed_out)
		snprintf(text, sizeof text, "was ended%s: it took longer than %s",
			 c->killed ? " by SIGKILL" : "",
			 k->stop_deadline_us
				 ? "the daemon's stop allows"
				 : dp_duration_text(hook_timeout_seconds(k->running->hook), limit));
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof text, "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof text, "ended with exit status %d", WEXITSTATUS(status));
	if (words[0])
		snprintf(text + strlen(text), sizeof text - strlen(text), "; its last line: %s",
			 words);
	if (c->timed_out || status != 0)
		hook_run_log(k, text);
	else
		log_line(&c->daemon->log, LOG_DEBUG, k->running->name, "told %s of '%s'",
			 hook_run_program(k->running), hook_event_text(k->running->event));
	/* the next daemon repeats a hook that was cut short by this stop */
	if (!c->timed_out || !k->stop_deadline_us)
		hook_run_finish(k);
	hooks_run_due(c->daemon);
	if (c->daemon->stopping)
		daemon_request_turn(c->daemon); /* a stopping daemon may wait for this */
}

/* The JSON sent to the hook; adds the report's path if there is one by now. */
static char *hook_run_input(const struct daemon *d, const struct hook_run *r)
{
	struct study *study = r->study_id ? study_by_id(d, r->study_id) : NULL;
	char *report = study ? report_writer_find_report(study) : NULL;
	struct dp_buf text = DP_BUF_INIT;

	json_object_set_new(r->payload, "report", report ? json_string(report) : json_null());
	free(report);
	dp_json_dump(&text, r->payload, 0);
	dp_buf_putc(&text, '\n');
	return dp_buf_detach(&text);
}

static void hook_run_begin(struct hooks *k)
{
	struct hook_run *r = k->running = hook_queue_pop(&k->queue);
	const json_t *command = json_object_get(r->hook, "command"), *word;
	char **argv = dp_calloc(json_array_size(command) + 1, sizeof *argv), why[300];
	char *input = hook_run_input(k->daemon, r);
	size_t i;
	int e;

	json_array_foreach (command, i, word)
		argv[i] = (char *)json_string_value(word);
	e = child_start(&k->child, argv, input, hook_timeout_seconds(r->hook));
	free(argv);
	free(input);
	if (e == 0) {
		if (k->stop_deadline_us)
			child_shorten_deadline(&k->child, k->stop_deadline_us);
		return;
	}
	snprintf(why, sizeof why, "could not be started: %s", strerror(e));
	hook_run_log(k, why);
	hook_run_finish(k);
}

/* True if the first hook may run: its record is durable, and a due report is written. */
static bool hook_run_can_start(const struct hooks *k)
{
	const struct hook_run *r = k->queue.first;
	const struct daemon *d = k->daemon;
	struct study *study;

	if (!r || k->running || (k->stop_deadline_us && dp_monotonic_us() >= k->stop_deadline_us) ||
	    dp_journal_durable_ticket(d->journal) < r->ticket)
		return false;
	if (r->study_id == 0 || d->stopping || dp_monotonic_us() - r->queued_us > REPORT_WAIT_US)
		return true;
	study = study_by_id(d, r->study_id);
	return !study || !report_writer_will_write(study);
}

void hooks_run_due(struct daemon *d)
{
	struct hooks *k = d->hooks;

	hooks_refill_from_backlog(k);
	while (hook_run_can_start(k))
		hook_run_begin(k);
	if (k->cursor_dirty && !d->commits->is_failing && commit_queue_is_durable(d))
		k->cursor_dirty = !hook_cursor_save(
			k->cursor, hooks_are_configured(k) ? hooks_cursor_json(k) : NULL);
}

void hooks_tick(struct daemon *d)
{
	struct hooks *k = d->hooks;

	child_tick(&k->child);
	if (++k->n_ticks % CURSOR_SAVE_TICKS == 0 && hooks_are_configured(k))
		k->cursor_dirty = true;
	hooks_run_due(d);
	if (d->stopping)
		daemon_request_turn(d); /* a stopping daemon may wait for this */
}

/* ---- start and stop ---- */

void hooks_start(struct daemon *d)
{
	struct hooks *k = dp_calloc(1, sizeof *k);

	k->daemon = d;
	hook_queue_init(&k->queue);
	child_init(&k->child, d, on_hook_end);
	k->cursor = hook_cursor_open(d);
	d->hooks = k;
	d->studies->on_record = hooks_on_record;
}

void hooks_begin_stop(struct daemon *d, bool now)
{
	struct hooks *k = d->hooks;

	k->stop_deadline_us = dp_monotonic_us() + (now ? -KILL_GRACE_US : STOP_GRACE_US);
	child_shorten_deadline(&k->child, k->stop_deadline_us);
}

bool hooks_delay_stop(const struct daemon *d)
{
	const struct hooks *k = d->hooks;
	int64_t now = dp_monotonic_us();

	if (child_is_running(&k->child))
		return now < k->stop_deadline_us + KILL_GRACE_US;
	return (k->queue.first || k->backlog.n) && now < k->stop_deadline_us;
}

void hooks_stop(struct daemon *d)
{
	struct hooks *k = d->hooks;
	bool keep;

	if (!k)
		return;
	keep = k->cursor_ready && hooks_are_configured(k) && !d->commits->is_failing;
	child_kill_and_wait(&k->child);
	hook_cursor_close(k->cursor, keep ? hooks_cursor_json(k) : NULL);
	if (k->queue.first)
		log_line(&d->log, LOG_WARN, "",
			 "%u hooks were not run; the next daemon tells what is recorded",
			 k->queue.n);
	while (k->queue.first)
		hook_run_free(hook_queue_pop(&k->queue));
	hook_run_free(k->running);
	hook_backlog_clear(&k->backlog);
	free(k);
	d->hooks = NULL;
}
