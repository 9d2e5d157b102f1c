/* study_object.c - makes and finds studies, records their events and marks changes. */
#include "daemon/studies/study_object.h"

#include "state/state_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void studies_init(struct daemon *d)
{
	d->studies = dp_calloc(1, sizeof *d->studies);
}

/* ---- creation and lookup ---- */

/* Position of the first study with this id or a larger one. */
static uint32_t study_index_of(const struct studies *all, uint32_t id)
{
	uint32_t lo = 0, hi = all->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (all->list[mid]->state->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct study *study_new(struct daemon *d, struct dp_study_state *s)
{
	struct studies *all = d->studies;
	struct study *study = dp_calloc(1, sizeof *study);
	uint32_t i = study_index_of(all, s->id);

	if (all->n == all->capacity) {
		all->capacity = all->capacity ? 2 * all->capacity : 64;
		all->list = dp_reallocarray(all->list, all->capacity, sizeof *all->list);
	}
	study->daemon = d;
	study->state = s;
	d->attempts->assign_executor(study);
	memmove(all->list + i + 1, all->list + i, (all->n - i) * sizeof study);
	all->list[i] = study;
	all->n++;
	study->change_entry.name = s->spec->name;
	change_feed_note_change(&all->change_feed, &study->change_entry,
				study_public_view(study).state->next_seq, clock_now(d));
	return study;
}

void study_unlist(struct study *study)
{
	struct studies *all = study->daemon->studies;
	uint32_t i = study_index_of(all, study->state->id);

	all->n--;
	memmove(all->list + i, all->list + i + 1, (all->n - i) * sizeof study);
	change_feed_note_deletion(&all->change_feed, &study->change_entry,
				  clock_now(study->daemon));
}

struct study *study_by_id(const struct daemon *d, uint32_t id)
{
	const struct studies *all = d->studies;
	uint32_t i = study_index_of(all, id);

	return i < all->n && all->list[i]->state->id == id ? all->list[i] : NULL;
}

int study_find(const struct daemon *d, const char *selector, struct study **out, struct dp_err *err)
{
	struct dp_study_state *s;
	int code = dp_state_find_study(&d->state, selector, &s, err);

	if (code == DP_OK)
		*out = study_by_id(d, s->id);
	return code;
}

struct dp_public_state study_public_view(const struct study *study)
{
	return dp_state_public_view(study->state);
}

char *study_folder(const struct study *study)
{
	return dp_asprintf("%s/studies/%s", study->daemon->paths.state_dir,
			   study->state->spec->name);
}

/* ---- records ---- */

static void study_note_record(struct study *study, const struct dp_event *e)
{
	struct studies *all = study->daemon->studies;

	change_feed_note_change(&all->change_feed, &study->change_entry,
				study_public_view(study).state->next_seq, clock_now(study->daemon));
	all->on_record(study, e);
	study_mark_changed(study);
}

void study_record_event(struct study *study, struct dp_event *e)
{
	e->study = study->state->id;
	e->seq = study->state->next_seq;
	commit_queue_append(study->daemon, e);
	study_note_record(study, e);
}

struct study *study_record_created(struct daemon *d, struct dp_event *e)
{
	struct study *study;

	e->study = d->studies->next_id++;
	commit_queue_append(d, e);
	study = study_new(d, dp_state_get_study(&d->state, e->study));
	study_note_record(study, e);
	return study;
}

void studies_record_time(struct daemon *d, bool counted)
{
	for (uint32_t i = 0; i < d->studies->n; i++) {
		struct dp_event e = { .type = DP_EV_TIME_NOTED,
				      .time_noted = { .daemon_ran = counted } };

		if (!d->read_only.enabled && dp_policy_is_time_limited(d->studies->list[i]->state))
			study_record_event(d->studies->list[i], &e);
	}
}

/* ---- decisions ---- */

void study_mark_changed(struct study *study)
{
	struct studies *all = study->daemon->studies;

	if (study->is_changed)
		return;
	study->is_changed = true;
	study->next_changed = all->changed;
	all->changed = study;
	daemon_request_turn(study->daemon);
}

void study_retry_next_tick(struct study *study)
{
	study->next_step.until_us = clock_now(study->daemon);
}

static void study_log(const struct study *study, const struct dp_event *e)
{
	const struct dp_study_state *s = study->state;
	char about[DP_NAME_MAX + 1 + DP_TRIAL_NAME_LEN], name[DP_TRIAL_NAME_LEN];
	enum log_level level = LOG_INFO;
	char text[DP_REASON_LEN];
	const char *reason, *state;

	snprintf(about, sizeof about, "%s", s->spec->name);
	if (e->type == DP_EV_TRIAL_ENDED && dp_state_is_private_selection(s))
		return;
	if (e->type == DP_EV_TRIAL_ENDED) {
		state = e->trial_ended.status;
		snprintf(about, sizeof about, "%s/%s", s->spec->name,
			 dp_trial_format_name(e->trial, name));
		if (dp_state_find_trial(s, e->trial)->status != DP_TRIAL_OK)
			level = LOG_WARN;
	} else if (e->type == DP_EV_STUDY_MOVED) {
		state = e->study_moved.state;
		if (e->study_moved.by_failures)
			level = LOG_WARN;
	} else {
		return;
	}
	reason = dp_reason_text(e->reason, e->requested_by, text);
	if (reason && strncmp(reason, state, strlen(state)) == 0)
		log_line(&study->daemon->log, level, about, "%s", reason);
	else
		log_line(&study->daemon->log, level, about, "%s%s%s", state, reason ? ": " : "",
			 reason ? reason : "");
}

static void study_record_and_log(struct study *study, struct dp_event *e)
{
	study_record_event(study, e);
	study_log(study, e);
}

void study_apply_policy(struct study *study)
{
	struct dp_event e;
	struct dp_step step;

	if (study->state->quarantined ||
	    study->daemon->read_only.enabled) { /* nothing can be recorded */
		study->next_step = (struct dp_step){ .kind = DP_STEP_WAIT, .until_us = INT64_MAX };
		return;
	}
	for (;;) {
		dp_policy_next_step(study->state, clock_now(study->daemon), &step);
		if (step.kind != DP_STEP_RECORD)
			break;
		e = dp_step_event(&step);
		study_record_and_log(study, &e);
	}
	study->next_step = step;
}

int study_check_not_deleted(const struct study *study, struct dp_err *err)
{
	if (!study->delete_requests)
		return DP_OK;
	return dp_fail(err, DP_E_BUSY, "study '%s' is being deleted", study->state->spec->name);
}

void study_apply_orders(struct study *study, struct dp_transition_events *orders, const char *by)
{
	for (unsigned i = 0; i < orders->count; i++) {
		orders->events[i].requested_by = by;
		study_record_and_log(study, &orders->events[i]);
	}
}

void study_cancel_trial(struct study *study, struct dp_trial *t, const char *by)
{
	struct dp_event e = { .type = DP_EV_TRIAL_CANCEL_ASKED,
			      .trial = t->number,
			      .requested_by = by };

	if (!t->cancel_requested)
		study_record_event(study, &e);
	study->daemon->attempts->cancel(study, t);
}

void study_cancel_reevaluations(struct study *study, bool running, const char *by)
{
	const struct dp_reevals *m = &study->state->reevals;

	for (uint32_t i = m->first_unfinished; i < m->ntrials; i++)
		if (m->trials[i]->status < DP_TRIAL_OK && (running || !m->trials[i]->open_attempts))
			study_cancel_trial(study, m->trials[i], by);
}

void study_cancel_all(struct study *study, const char *by)
{
	for (uint32_t i = study->state->first_unfinished; i < study->state->ntrials; i++)
		if (study->state->trials[i]->status < DP_TRIAL_OK)
			study_cancel_trial(study, study->state->trials[i], by);
	study_cancel_reevaluations(study, true, by);
}
