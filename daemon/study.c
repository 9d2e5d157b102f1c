/* study.c - the homes of studies: made, found, looked at when something changed, and
 * taken down when nobody needs them any more. */
#include "daemon/study.h"

#include "base/fs.h"
#include "daemon/account.h"
#include "daemon/ask.h"
#include "daemon/executor.h"
#include "daemon/housekeep.h"
#include "daemon/job.h"
#include "daemon/measure.h"
#include "daemon/oracles.h"
#include "daemon/record.h"
#include "daemon/sched.h"
#include "daemon/selection.h"
#include "daemon/server.h"
#include "daemon/volume.h"
#include "daemon/waiters.h"
#include "daemon/whole.h"
#include "journal/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- making and finding ---- */

/* Position of the first study with an id not below `id`. */
static uint32_t study_position(const struct dpd *d, uint32_t id)
{
	uint32_t lo = 0, hi = d->nstudies;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (d->studies[mid]->state->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct study *study_new(struct dpd *d, struct dp_study_state *s)
{
	struct study *h = calloc(1, sizeof *h), **grown;
	uint32_t i = study_position(d, s->id);

	if (h && d->nstudies == d->studies_room) {
		uint32_t room = d->studies_room ? 2 * d->studies_room : 64;

		grown = realloc(d->studies, room * sizeof *grown);
		if (!grown) {
			free(h);
			return NULL;
		}
		d->studies = grown;
		d->studies_room = room;
	}
	if (!h)
		return NULL;
	h->d = d;
	h->state = s;
	h->backend = executor_for(d, s->now);
	memmove(d->studies + i + 1, d->studies + i, (d->nstudies - i) * sizeof h);
	d->studies[i] = h;
	d->nstudies++;
	return h;
}

struct study *study_by_id(const struct dpd *d, uint32_t id)
{
	uint32_t i = study_position(d, id);

	return i < d->nstudies && d->studies[i]->state->id == id ? d->studies[i] : NULL;
}

int study_find(const struct dpd *d, const char *selector, struct study **out, struct dp_err *err)
{
	struct dp_study_state *s;
	int code = dp_state_find(&d->state, selector, &s, err);

	if (code == DP_OK)
		*out = study_by_id(d, s->id);
	return code;
}

static void study_free(struct study *h)
{
	struct deleter *x;

	while ((x = h->deleters) != NULL) {
		h->deleters = x->next;
		free(x);
	}
	ask_forget(h);
	ask_front_free(h->front);
	selection_free(h);
	whole_free(h->whole);
	volume_free(h->volume);
	oracles_free(h);
	free(h);
}

void studies_free(struct dpd *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++)
		study_free(d->studies[i]);
	free(d->studies);
	d->studies = NULL;
	d->nstudies = d->studies_room = 0;
	d->changed = NULL;
}

char *study_folder(const struct study *h)
{
	struct dp_buf path = DP_BUF_INIT;

	dp_buf_printf(&path, "%s/studies/%s", h->d->at.state_dir, h->state->spec->name);
	return dp_buf_detach(&path);
}

struct dp_study_state *study_shown(const struct study *h)
{
	return dp_study_shown(h->state);
}

/* ---- what follows ---- */

void study_changed(struct study *h)
{
	if (h->is_changed)
		return;
	h->is_changed = true;
	h->next_changed = h->d->changed;
	h->d->changed = h;
	sched_kick(h->d);
}

/* A line of the log for what was decided. */
static void study_log(const struct study *h, const struct dp_event *e)
{
	const struct dp_study_state *s = h->state;
	char about[DP_NAME_MAX + 1 + DP_TRIAL_NAME], name[DP_TRIAL_NAME];
	enum log_level level = LOG_INFO;
	char told[DP_REASON_LEN];
	const char *reason;

	snprintf(about, sizeof about, "%s", s->spec->name);
	if (e->type == DP_EV_TRIAL_ENDED && dp_study_hides(s))
		return;
	if (e->type == DP_EV_TRIAL_ENDED) {
		snprintf(about, sizeof about, "%s/%s", s->spec->name,
			 dp_trial_name(e->trial, name));
		if (dp_study_trial(s, e->trial)->status != DP_TRIAL_OK)
			level = LOG_WARN;
	} else if (e->type != DP_EV_STUDY_MOVED)
		return;
	else if (e->counted)
		level = LOG_WARN;
	reason = dp_reason_text(e->reason, e->by, told);
	if (reason && strncmp(reason, e->state, strlen(e->state)) == 0)
		log_line(&h->d->log, level, about, "%s", reason);
	else
		log_line(&h->d->log, level, about, "%s%s%s", e->state, reason ? ": " : "",
			 reason ? reason : "");
}

static void study_record(struct study *h, struct dp_event *e)
{
	record(h, e);
	study_log(h, e);
}

static bool links_to(const char *link, const char *to)
{
	char now[64];
	ssize_t len = readlink(link, now, sizeof now);

	return len >= 0 && (size_t)len == strlen(to) && memcmp(now, to, (size_t)len) == 0;
}

/* A finished private selection gets a name for the folder of what it publishes, which
 * does not tell which training that was. */
static void study_link_selected(const struct study *h)
{
	const struct dp_trial *t = dp_study_selected(h->state);
	char *folder = study_folder(h), *link = NULL, below[64];

	if (folder && t && t->nattempts) {
		const struct dp_attempt *last = &t->attempts[t->nattempts - 1];

		dp_attempt_folder(t->number, last->run, last->number, below);
		link = dp_path_join(folder, DP_SELECTED);
	}
	if (link && !links_to(link, below) &&
	    ((unlink(link) != 0 && errno != ENOENT) || symlink(below, link) != 0))
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "%s cannot be made: %s", link,
			 strerror(errno));
	free(link);
	free(folder);
}

void study_settle(struct study *h)
{
	struct dp_step step;

	if (h->state->apart || h->d->looking) { /* until it is repaired; or for ever */
		h->next = (struct next){ .kind = DP_STEP_WAIT, .until = INT64_MAX };
		return;
	}
	for (;;) {
		dp_course_next(h->state, clock_now(h->d), &step);
		if (step.kind != DP_STEP_RECORD)
			break;
		study_record(h, &step.event);
	}
	h->next = (struct next){
		.kind = step.kind, .wait = step.wait, .until = step.until, .trial = step.trial
	};
	if (step.kind == DP_STEP_ATTEMPT || step.kind == DP_STEP_ACCOUNT) {
		h->next.trial = step.event.trial;
		h->next.run = step.event.run;
		h->next.attempt = step.event.attempt;
	}
	if (step.kind == DP_STEP_ACCOUNT)
		account_trial(h, step.event.trial);
	if (dp_study_hides(h->state) && h->state->status == DP_STUDY_FINISHED)
		study_link_selected(h);
	if (step.kind == DP_STEP_FIX)
		ask_fix(h);
	if (step.kind == DP_STEP_MEASURE)
		measure_end(h);
}

void study_order(struct study *h, struct dp_orders *orders, const char *by)
{
	for (unsigned i = 0; i < orders->n; i++) {
		orders->event[i].by = by;
		study_record(h, &orders->event[i]);
	}
}

void study_cancel_trial(struct study *h, struct dp_trial *t, const char *by)
{
	struct dp_event e = { .type = DP_EV_TRIAL_CANCEL_ASKED, .trial = t->number, .by = by };

	if (!t->cancel_asked)
		record(h, &e);
	jobs_cancel(h, t);
}

void study_cancel_measures(struct study *h, bool running, const char *by)
{
	const struct dp_measures *m = &h->state->measured;

	for (uint32_t i = m->first_live; i < m->ntrials; i++)
		if (m->trials[i]->status < DP_TRIAL_OK && (running || !m->trials[i]->open))
			study_cancel_trial(h, m->trials[i], by);
}

void study_cancel_all(struct study *h, const char *by)
{
	for (uint32_t i = h->state->first_live; i < h->state->ntrials; i++)
		if (h->state->trials[i]->status < DP_TRIAL_OK)
			study_cancel_trial(h, h->state->trials[i], by);
	study_cancel_measures(h, true, by);
}

/* ---- what is reckoned for who looks ---- */

bool study_reckon(struct study *h, uint64_t client, waiter_answer *answer)
{
	whole_reckon(h);
	volume_reckon(h);
	return (whole_busy(h) || volume_busy(h)) && waiters_add(&h->lookers, client, answer);
}

void study_reckoned(struct study *h)
{
	status_cache_drop(h);
	if (!whole_busy(h) && !volume_busy(h))
		waiters_tell(&h->lookers, h);
}

/* ---- deletion ---- */

int study_delete(struct study *h, uint64_t client, const char *by, struct dp_err *err)
{
	struct deleter *x = malloc(sizeof *x);

	if (!x)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	*x = (struct deleter){ .next = h->deleters, .client = client };
	h->deleters = x;
	ask_cancel(h);
	volume_cancel(h);
	measure_cancel(h);
	oracles_close(h);
	study_cancel_all(h, by);
	log_line(&h->d->log, LOG_INFO, h->state->spec->name, "to be deleted by %s", by);
	study_changed(h); /* it goes at the end of the turn, or of what is under way */
	return DP_OK;
}

/* What is left of a study that the journal has forgotten. */
struct remains {
	char *folder, *trash;
	struct deleter *deleters;
	char name[DP_NAME_MAX + 1];
};

static void remains_free(struct remains *r)
{
	struct deleter *x;

	while ((x = r->deleters) != NULL) {
		r->deleters = x->next;
		free(x);
	}
	free(r->folder);
	free(r->trash);
	free(r);
}

static struct remains *remains_of(const struct study *h)
{
	struct remains *r = calloc(1, sizeof *r);

	if (!r)
		return NULL;
	snprintf(r->name, sizeof r->name, "%s", h->state->spec->name);
	r->folder = study_folder(h);
	if (asprintf(&r->trash, "%s/trash/%u", h->d->at.state_dir, h->state->id) < 0)
		r->trash = NULL;
	if (r->folder && r->trash)
		return r;
	remains_free(r);
	return NULL;
}

/* The journal has forgotten it: now its folder may go, out of sight at once. */
static void bury(struct dpd *d, void *arg)
{
	struct remains *r = arg;
	struct dp_err err;

	if (!d->closed && dp_mkdirs(r->trash, 0700, &err) == DP_OK &&
	    rename(r->folder, r->trash) == 0) {
		remove_later(d, r->trash);
		r->trash = NULL;
	}
	dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted meanwhile");
	for (struct deleter *x = r->deleters; x && !d->closed; x = x->next) {
		if (x->next) /* somebody was first */
			client_error(d, x->client, &err);
		else
			client_ok(d, x->client, json_pack("{s:s}", "deleted", r->name));
	}
	remains_free(r);
}

/* Nothing of it is under way: forgets the study. False without memory: the next turn
 * tries again. */
static bool study_forget(struct study *h)
{
	struct dpd *d = h->d;
	struct remains *r = remains_of(h);
	uint32_t i = study_position(d, h->state->id), id = h->state->id;

	if (!r)
		return false;
	r->deleters = h->deleters;
	h->deleters = NULL;
	log_line(&d->log, LOG_INFO, r->name, "deleted");
	record_forget(h);
	memmove(d->studies + i, d->studies + i + 1, (d->nstudies - i - 1) * sizeof h);
	d->nstudies--;
	revision_deleted(h);
	study_free(h);
	dp_state_forget(&d->state, id);
	after_commit(d, bury, r);
	return true;
}

static bool under_way(const struct study *h)
{
	return dp_study_open(h->state) || ask_busy(h) || h->measuring || h->accounting ||
	       report_busy(h) || whole_busy(h) || volume_busy(h);
}

void study_sweep(struct study *h)
{
	ask_serve(h);
	/* models of thousands of results are large: kept only while they are needed */
	if (h->state->status != DP_STUDY_RUNNING && !ask_busy(h) && !ask_last_front(h))
		ask_forget(h);
	oracles_settle(h);
	if (!h->deleters || h->is_changed)
		return; /* it is looked at once more */
	if (under_way(h))
		report_cancel(h);
	else if (!study_forget(h))
		study_changed(h);
}
