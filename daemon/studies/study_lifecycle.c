/* study_lifecycle.c - starts background work of a study, ends its turn and deletes it. */
#include "daemon/studies/study_lifecycle.h"

#include "base/fs.h"
#include "daemon/core/background_job.h"
#include "daemon/studies/accounting_job.h"
#include "daemon/studies/derived_results.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/studies/pending_replies.h"
#include "daemon/studies/private_selection.h"
#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/reevaluation_job.h"
#include "daemon/studies/report_writer.h"
#include "daemon/studies/smoothed_front.h"

#include <stdio.h>
#include <stdlib.h>

void study_start_due_work(struct study *study)
{
	if (study->next_step.kind == DP_STEP_ACCOUNT)
		accounting_start_trial(study, study->next_step.trial);
	if (study->next_step.kind == DP_STEP_CHOOSE_FILTER)
		proposal_choose_budget_filter(study);
	if (study->next_step.kind == DP_STEP_REEVALUATE_FRONT)
		reevaluation_start_final(study);
	if (!study->state->quarantined && !study->daemon->read_only.enabled)
		private_selection_link_result(study);
}

static void study_free(struct study *study)
{
	pending_replies_free(&study->delete_requests);
	proposal_discard_job(study);
	smoothed_front_free(study);
	private_selection_free(study);
	derived_results_free(study);
	accountants_free(study);
	report_writer_forget(study);
	free(study);
}

void studies_free(struct daemon *d)
{
	for (uint32_t i = 0; i < d->studies->n; i++)
		study_free(d->studies->list[i]);
	free(d->studies->list);
	free(d->studies);
}

/* ---- deletion ---- */

void study_cancel_work(struct study *study)
{
	proposal_cancel(study);
	derived_results_cancel(study);
	reevaluation_cancel(study);
	accountants_close(study);
}

void study_request_deletion(struct study *study, uint64_t client_id, const char *by)
{
	pending_replies_add(&study->delete_requests, client_id, NULL);
	study_cancel_work(study);
	study_cancel_all(study, by);
	log_line(&study->daemon->log, LOG_INFO, study->state->spec->name, "to be deleted by %s",
		 by);
	study_mark_changed(study); /* freed at the end of the turn, or later */
}

/* What is left of a study that was deleted from the journal. */
struct study_deletion {
	char *directory, *trash_path;
	struct pending_reply *requests;
	char name[DP_NAME_MAX + 1];
};

/* The deletion is durable: moves the directory to the trash and removes it. */
static void study_deletion_finish(struct daemon *d, void *arg)
{
	struct study_deletion *r = arg;
	struct dp_err err;

	if (!d->loop_ended) {
		if (dp_mkdirs(r->trash_path, 0700, &err) == DP_OK &&
		    rename(r->directory, r->trash_path) == 0)
			remove_tree_in_background(d, dp_strdup(r->trash_path));
		dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted meanwhile");
		pending_replies_send_first(&r->requests, d, json_pack("{s:s}", "deleted", r->name));
		pending_replies_send_all(&r->requests, d, NULL, &err);
	}
	pending_replies_free(&r->requests);
	free(r->directory);
	free(r->trash_path);
	free(r);
}

static void study_remove(struct study *study)
{
	struct daemon *d = study->daemon;
	struct study_deletion *r = dp_calloc(1, sizeof *r);
	uint32_t id = study->state->id;

	snprintf(r->name, sizeof r->name, "%s", study->state->spec->name);
	r->directory = study_folder(study);
	r->trash_path = dp_asprintf("%s/trash/%u", d->paths.state_dir, id);
	r->requests = study->delete_requests;
	study->delete_requests = NULL;
	log_line(&d->log, LOG_INFO, r->name, "deleted");
	commit_queue_delete_study(d, id);
	study_unlist(study);
	study_free(study);
	dp_state_remove_study(&d->state, id);
	after_commit(d, study_deletion_finish, r);
}

static bool study_has_work(const struct study *study)
{
	return dp_state_count_open_attempts(study->state) || proposal_is_busy(study) ||
	       study->n_reevaluation_jobs || study->n_accounting_jobs ||
	       private_selection_is_busy(study) || report_writer_is_writing(study) ||
	       derived_results_are_busy(study);
}

/* ---- turns and ticks ---- */

/* A study that is not running needs no external accountants; cancels its next point. */
static void study_stop_accountants(struct study *study)
{
	if (!study->accountants || study->state->status == DP_STUDY_RUNNING)
		return;
	proposal_cancel_point(study);
	accountants_stop_if_not_running(study);
}

void study_end_turn(struct study *study)
{
	proposal_serve_queries(study);
	/* models of thousands of results are large: free them when not needed */
	if (study->state->status != DP_STUDY_RUNNING && !proposal_is_busy(study) &&
	    !smoothed_front_start_final(study))
		proposal_discard_job(study);
	study_stop_accountants(study);
	if (!study->delete_requests || study->is_changed)
		return; /* visited again */
	if (study_has_work(study))
		report_writer_cancel(study);
	else
		study_remove(study);
}

void studies_tick(struct daemon *d)
{
	for (uint32_t i = 0; i < d->studies->n; i++) {
		study_stop_accountants(d->studies->list[i]);
		accountants_stop_idle(d->studies->list[i]);
	}
}
