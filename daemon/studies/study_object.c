/* study.c - the homes of studies: made, found, looked at when something changed, and
 * taken down when nobody needs them any more. */
#include "daemon/studies/study_object.h"

#include "base/fs.h"
#include "daemon/studies/accounting_job.h"
#include "daemon/studies/proposals/proposal_job.h"
#include "daemon/executors/executor.h"
#include "daemon/housekeeping.h"
#include "daemon/executors/job.h"
#include "daemon/studies/reevaluation_job.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/core/commit_queue.h"
#include "daemon/studies/scheduler.h"
#include "daemon/studies/private_selection.h"
#include "daemon/api/server.h"
#include "daemon/studies/smoothed_hypervolume.h"
#include "daemon/studies/pending_replies.h"
#include "daemon/studies/total_privacy.h"
#include "state/state_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- making and finding ---- */

/* Position of the first study with an id not below `id`. */
static uint32_t study_index_of(const struct daemon *d, uint32_t id)
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

struct study *study_new(struct daemon *d, struct dp_study_state *s)
{
	struct study *study = dp_calloc(1, sizeof *study), **grown;
	uint32_t i = study_index_of(d, s->id);

	if (study && d->nstudies == d->studies_capacity) {
		uint32_t room = d->studies_capacity ? 2 * d->studies_capacity : 64;

		grown = dp_realloc(d->studies, room * sizeof *grown);
		if (!grown) {
			free(study);
			return NULL;
		}
		d->studies = grown;
		d->studies_capacity = room;
	}
	study->daemon = d;
	study->state = s;
	study->executor = executor_for_study(d, s->current_spec);
	memmove(d->studies + i + 1, d->studies + i, (d->nstudies - i) * sizeof study);
	d->studies[i] = study;
	d->nstudies++;
	return study;
}

struct study *study_by_id(const struct daemon *d, uint32_t id)
{
	uint32_t i = study_index_of(d, id);

	return i < d->nstudies && d->studies[i]->state->id == id ? d->studies[i] : NULL;
}

int study_find(const struct daemon *d, const char *selector, struct study **out, struct dp_err *err)
{
	struct dp_study_state *s;
	int code = dp_state_find_study(&d->state, selector, &s, err);

	if (code == DP_OK)
		*out = study_by_id(d, s->id);
	return code;
}

static void study_free(struct study *study)
{
	struct delete_request *x;

	while ((x = study->delete_requests) != NULL) {
		study->delete_requests = x->next;
		free(x);
	}
	proposal_discard_job(study);
	smoothed_front_free(study->smoothed_front);
	private_selection_free(study);
	total_privacy_free(study->total_privacy);
	hypervolume_job_free(study->hypervolume_job);
	accountants_free(study);
	free(study);
}

void studies_free(struct daemon *d)
{
	for (uint32_t i = 0; i < d->nstudies; i++)
		study_free(d->studies[i]);
	free(d->studies);
	d->studies = NULL;
	d->nstudies = d->studies_capacity = 0;
	d->changed_studies = NULL;
}

char *study_folder(const struct study *study)
{
	struct dp_buf path = DP_BUF_INIT;

	dp_buf_printf(&path, "%s/studies/%s", study->daemon->paths.state_dir,
		      study->state->spec->name);
	return dp_buf_detach(&path);
}

struct dp_public_state study_public_view(const struct study *study)
{
	return dp_state_public_view(study->state);
}

/* ---- what follows ---- */

void study_mark_changed(struct study *study)
{
	if (study->is_changed)
		return;
	study->is_changed = true;
	study->next_changed = study->daemon->changed_studies;
	study->daemon->changed_studies = study;
	scheduler_request_turn(study->daemon);
}

/* A line of the log for what was decided. */
static void study_log(const struct study *study, const struct dp_event *e)
{
	const struct dp_study_state *s = study->state;
	char about[DP_NAME_MAX + 1 + DP_TRIAL_NAME_LEN], name[DP_TRIAL_NAME_LEN];
	enum log_level level = LOG_INFO;
	char told[DP_REASON_LEN];
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
	reason = dp_reason_text(e->reason, e->requested_by, told);
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

static bool symlink_points_to(const char *link, const char *to)
{
	char now[64];
	ssize_t len = readlink(link, now, sizeof now);

	return len >= 0 && (size_t)len == strlen(to) && memcmp(now, to, (size_t)len) == 0;
}

/* A finished private selection gets a name for the folder of what it publishes, which
 * does not tell which training that was. */
static void study_link_selected(const struct study *study)
{
	const struct dp_trial *t = dp_state_selected_trial(study->state);
	char *folder = study_folder(study), *link = NULL, below[64];

	if (folder && t && t->nattempts) {
		const struct dp_attempt *last = &t->attempts[t->nattempts - 1];

		dp_attempt_format_dir(t->number, last->run, last->number, below);
		link = dp_path_join(folder, DP_SELECTED_LINK);
	}
	if (link && !symlink_points_to(link, below) &&
	    ((unlink(link) != 0 && errno != ENOENT) || symlink(below, link) != 0))
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name,
			 "%s cannot be made: %s", link, strerror(errno));
	free(link);
	free(folder);
}

void study_apply_policy(struct study *study)
{
	struct dp_event e;
	struct dp_step step;

	if (study->state->quarantined ||
	    study->daemon->is_read_only) { /* until it is repaired; or for ever */
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
	if (step.kind == DP_STEP_ACCOUNT)
		accounting_start_trial(study, step.trial);
	if (dp_state_is_private_selection(study->state) &&
	    study->state->status == DP_STUDY_FINISHED)
		study_link_selected(study);
	if (step.kind == DP_STEP_CHOOSE_FILTER)
		proposal_choose_budget_filter(study);
	if (step.kind == DP_STEP_REEVALUATE_FRONT)
		reevaluation_start_final(study);
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
	jobs_cancel(study, t);
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

/* ---- what is reckoned for who looks ---- */

bool study_refresh_derived(struct study *study, uint64_t client, reply_builder *answer)
{
	total_privacy_start_if_due(study);
	hypervolume_job_start_if_due(study);
	return (total_privacy_is_busy(study) || hypervolume_job_is_busy(study)) &&
	       pending_replies_add(&study->pending_replies, client, answer);
}

void study_on_derived_done(struct study *study)
{
	status_cache_drop(study);
	if (!total_privacy_is_busy(study) && !hypervolume_job_is_busy(study))
		pending_replies_build_each(&study->pending_replies, study);
}

/* ---- deletion ---- */

void study_request_deletion(struct study *study, uint64_t client, const char *by)
{
	struct delete_request *x = dp_malloc(sizeof *x);

	*x = (struct delete_request){ .next = study->delete_requests, .client_id = client };
	study->delete_requests = x;
	proposal_cancel(study);
	hypervolume_job_cancel(study);
	reevaluation_cancel(study);
	accountants_close(study);
	study_cancel_all(study, by);
	log_line(&study->daemon->log, LOG_INFO, study->state->spec->name, "to be deleted by %s",
		 by);
	study_mark_changed(study); /* it goes at the end of the turn, or of what is under way */
}

/* What is left of a study that the journal has forgotten. */
struct study_deletion {
	char *directory, *trash_path;
	struct delete_request *delete_requests;
	char name[DP_NAME_MAX + 1];
};

static void study_deletion_free(struct study_deletion *r)
{
	struct delete_request *x;

	while ((x = r->delete_requests) != NULL) {
		r->delete_requests = x->next;
		free(x);
	}
	free(r->directory);
	free(r->trash_path);
	free(r);
}

static struct study_deletion *study_deletion_new(const struct study *study)
{
	struct study_deletion *r = dp_calloc(1, sizeof *r);

	snprintf(r->name, sizeof r->name, "%s", study->state->spec->name);
	r->directory = study_folder(study);
	if (asprintf(&r->trash_path, "%s/trash/%u", study->daemon->paths.state_dir,
		     study->state->id) < 0)
		r->trash_path = NULL;
	if (r->directory && r->trash_path)
		return r;
	study_deletion_free(r);
	return NULL;
}

/* The journal has forgotten it: now its folder may go, out of sight at once. */
static void study_deletion_finish(struct daemon *d, void *arg)
{
	struct study_deletion *r = arg;
	struct dp_err err;

	if (!d->loop_ended && dp_mkdirs(r->trash_path, 0700, &err) == DP_OK &&
	    rename(r->directory, r->trash_path) == 0) {
		remove_tree_in_background(d, r->trash_path);
		r->trash_path = NULL;
	}
	dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted meanwhile");
	for (struct delete_request *x = r->delete_requests; x && !d->loop_ended; x = x->next) {
		if (x->next) /* somebody was first */
			client_reply_error(d, x->client_id, &err);
		else
			client_reply_ok(d, x->client_id, json_pack("{s:s}", "deleted", r->name));
	}
	study_deletion_free(r);
}

/* Nothing of it is under way: forgets the study. False without memory: the next turn
 * tries again. */
static bool study_remove(struct study *study)
{
	struct daemon *d = study->daemon;
	struct study_deletion *r = study_deletion_new(study);
	uint32_t i = study_index_of(d, study->state->id), id = study->state->id;

	if (!r)
		return false;
	r->delete_requests = study->delete_requests;
	study->delete_requests = NULL;
	log_line(&d->log, LOG_INFO, r->name, "deleted");
	study_record_deletion(study);
	memmove(d->studies + i, d->studies + i + 1, (d->nstudies - i - 1) * sizeof study);
	d->nstudies--;
	change_feed_note_deletion(study);
	study_free(study);
	dp_state_remove_study(&d->state, id);
	after_commit(d, study_deletion_finish, r);
	return true;
}

static bool study_has_work(const struct study *study)
{
	return dp_state_count_open_attempts(study->state) || proposal_is_busy(study) ||
	       study->n_reevaluation_jobs || study->n_accounting_jobs ||
	       report_writer_is_writing(study) || total_privacy_is_busy(study) ||
	       hypervolume_job_is_busy(study);
}

void study_end_turn(struct study *study)
{
	proposal_serve_queries(study);
	/* models of thousands of results are large: kept only while they are needed */
	if (study->state->status != DP_STUDY_RUNNING && !proposal_is_busy(study) &&
	    !smoothed_front_start_final(study))
		proposal_discard_job(study);
	accountants_stop_if_not_running(study);
	if (!study->delete_requests || study->is_changed)
		return; /* it is looked at once more */
	if (study_has_work(study))
		report_writer_cancel(study);
	else if (!study_remove(study))
		study_mark_changed(study);
}
