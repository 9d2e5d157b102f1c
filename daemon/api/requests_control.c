/* requests_control.c - transitions: pause, resume, stop, delete, retry, cancel, enqueue. policy.h
 * decides whether it may happen and which events are journaled. */
#include "daemon/api/requests.h"

#include "base/json.h"
#include "daemon/studies/accounting_job.h"
#include "daemon/studies/study_lifecycle.h"
#include "study/space.h"

/* Records the events and answers with the study. */
static int control_apply(struct request *r, struct dp_transition_events *orders, json_t **ok)
{
	study_apply_orders(r->study, orders, r->requested_by);
	study_apply_policy(r->study); /* so that the reply shows the effect */
	*ok = json_pack("{s:o}", "study", request_summary_json(r->study));
	return DP_OK;
}

int request_pause(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_transition_events orders;
	int code = study_check_not_deleted(r->study, err);

	if (code == DP_OK)
		code = dp_policy_pause(r->study->state, &orders, err);
	return code == DP_OK ? control_apply(r, &orders, ok) : code;
}

int request_resume(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_transition_events orders;
	int code = study_check_not_deleted(r->study, err);

	if (code == DP_OK)
		code = dp_policy_resume(r->study->state, &orders, err);
	return code == DP_OK ? control_apply(r, &orders, ok) : code;
}

int request_stop(struct request *r, json_t **ok, struct dp_err *err)
{
	bool now = dp_json_bool(r->json, "now", false);
	struct dp_transition_events orders;
	int code = study_check_not_deleted(r->study, err);

	if (code != DP_OK)
		return code;
	dp_policy_stop(r->study->state, &orders);
	control_apply(r, &orders, ok);
	if (now && !r->study->state->reevals.has_resume_state)
		study_cancel_all(r->study, r->requested_by);
	else
		study_cancel_reevaluations(r->study, now, r->requested_by);
	study_apply_policy(r->study); /* ends the study now if nothing runs */
	json_object_set_new(*ok, "study", request_summary_json(r->study));
	return DP_OK;
}

int request_delete(struct request *r, json_t **ok, struct dp_err *err)
{
	bool now = dp_json_bool(r->json, "now", false);
	struct dp_transition_events orders;
	int code = dp_policy_delete(r->study->state, now, &orders, err);

	(void)ok;
	if (code != DP_OK)
		return code;
	study_apply_orders(r->study, &orders, r->requested_by);
	r->replies_later = true; /* the reply follows when the last trainer has ended */
	study_request_deletion(r->study, r->client_id, r->requested_by);
	return DP_OK;
}

typedef int trial_policy(const struct dp_study_state *s, uint32_t trial,
			 struct dp_transition_events *out, struct dp_err *err);

static int control_apply_trial(struct request *r, trial_policy *policy, struct dp_trial **t,
			       json_t **ok, struct dp_err *err)
{
	struct dp_transition_events orders;
	int code = request_find_trial(r, t, err);

	if (code != DP_OK)
		return code;
	if (json_is_integer(json_object_get(r->json, "at")))
		return dp_fail(err, DP_E_INVALID,
			       "a waypoint is part of its training: only trial %u as a "
			       "whole can be retried or cancelled",
			       (*t)->number);
	code = study_check_not_deleted(r->study, err);
	if (code == DP_OK)
		code = policy(r->study->state, (*t)->number, &orders, err);
	if (code != DP_OK)
		return code;
	study_apply_orders(r->study, &orders, r->requested_by);
	study_apply_policy(r->study);
	*ok = request_trial_json(r->study, *t);
	return DP_OK;
}

/* Retries every failed trial. All events of one turn of the loop are one commit, so that all these
 * trials are retried or none. */
static int request_retry_failed(struct request *r, json_t **ok, struct dp_err *err)
{
	json_t *trials = json_array();
	struct dp_transition_events orders;
	uint32_t trial = 0;
	bool has_more = true;
	int code = study_check_not_deleted(r->study, err);

	while (code == DP_OK && has_more) { /* only the first can fail */
		code = dp_policy_retry_failed(r->study->state, &trial, &has_more, &orders, err);
		if (code != DP_OK)
			break;
		json_array_append_new(trials, json_integer(orders.events[0].trial));
		study_apply_orders(r->study, &orders, r->requested_by);
	}
	if (code != DP_OK) {
		json_decref(trials);
		return code;
	}
	study_apply_policy(r->study);
	*ok = json_pack("{s:o, s:o}", "study", request_summary_json(r->study), "trials", trials);
	return DP_OK;
}

int request_retry(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;

	if (dp_json_bool(r->json, "failed", false))
		return request_retry_failed(r, ok, err);
	return control_apply_trial(r, dp_policy_retry, &t, ok, err);
}

int request_cancel(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;
	int code = control_apply_trial(r, dp_policy_cancel, &t, ok, err);

	if (code == DP_OK)
		study_cancel_trial(r->study, t, r->requested_by);
	return code;
}

int request_enqueue(struct request *r, json_t **ok, struct dp_err *err)
{
	double x[DP_PARAMS_MAX];
	int code = dp_space_from_json(r->study->state->spec, json_object_get(r->json, "parameters"),
				      x, err);

	(void)ok;
	if (code == DP_OK)
		code = study_check_not_deleted(r->study, err);
	if (code == DP_OK)
		code = dp_policy_check_enqueue(r->study->state, err);
	if (code == DP_OK && r->study->state->spec->search.budget.epsilon > 0 &&
	    !r->study->state->accounting)
		code = dp_fail(err, DP_E_BUSY,
			       "the filter of its search.budget is not chosen yet, which "
			       "the study does as soon as it runs; try again then");
	if (code != DP_OK)
		return code;
	r->replies_later = true; /* the reply follows when the epsilons are known */
	accounting_enqueue_point(r->study, x, r->client_id, r->requested_by, request_trial_json);
	return DP_OK;
}
