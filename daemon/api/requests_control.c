/* requests_control.c - what a person asks of a study. lib/course says what may be asked
 * for, and what is journaled for it. */
#include "daemon/studies/accounting_job.h"
#include "daemon/api/requests.h"

#include "base/json.h"

int request_check_allowed(const struct study *study, const struct dp_transition *asked,
			  struct dp_transition_events *orders, struct dp_err *err)
{
	if (study->delete_requests)
		return dp_fail(err, DP_E_BUSY, "study '%s' is being deleted",
			       study->state->spec->name);
	return dp_policy_plan_transition(study->state, asked, orders, err);
}

/* Asks, records, answers with the study. */
static int control_apply(struct request *r, const struct dp_transition *asked, json_t **ok,
			 struct dp_err *err)
{
	struct dp_transition_events orders;
	int code = request_check_allowed(r->study, asked, &orders, err);

	if (code != DP_OK)
		return code;
	study_apply_orders(r->study, &orders, r->requested_by);
	study_apply_policy(r->study); /* so that the answer shows what came of it */
	*ok = json_pack("{s:o}", "study", request_summary_json(r->study));
	return DP_OK;
}

int request_pause(struct request *r, json_t **ok, struct dp_err *err)
{
	return control_apply(r, &(struct dp_transition){ .kind = DP_TRANSITION_PAUSE }, ok, err);
}

int request_resume(struct request *r, json_t **ok, struct dp_err *err)
{
	return control_apply(r, &(struct dp_transition){ .kind = DP_TRANSITION_RESUME }, ok, err);
}

int request_stop(struct request *r, json_t **ok, struct dp_err *err)
{
	bool now = dp_json_bool(r->json, "now", false);
	int code = control_apply(r, &(struct dp_transition){ .kind = DP_TRANSITION_STOP }, ok, err);

	if (code != DP_OK)
		return code;
	if (now && !r->study->state->reevals.has_resume_state)
		study_cancel_all(r->study, r->requested_by);
	else
		study_cancel_reevaluations(r->study, now, r->requested_by);
	study_apply_policy(r->study); /* nothing of it may run: then it is over now */
	json_object_set_new(*ok, "study", request_summary_json(r->study));
	return DP_OK;
}

int request_delete(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_transition asked = { .kind = DP_TRANSITION_DELETE,
				       .force = dp_json_bool(r->json, "now", false) };
	struct dp_transition_events orders;
	int code = dp_policy_plan_transition(r->study->state, &asked, &orders, err);

	(void)ok;
	if (code != DP_OK)
		return code;
	study_apply_orders(r->study, &orders, r->requested_by);
	r->replies_later = true; /* the answer comes when the last trainer has ended */
	study_request_deletion(r->study, r->client_id, r->requested_by);
	return DP_OK;
}

/* The same for a trial, which is also what the answer shows. */
static int control_apply_trial(struct request *r, enum dp_transition_kind ask, struct dp_trial **t,
			       json_t **ok, struct dp_err *err)
{
	struct dp_transition asked = { .kind = ask };
	int code = request_find_trial(r, t, err);

	if (code != DP_OK)
		return code;
	if (json_is_integer(json_object_get(r->json, "at")))
		return dp_fail(err, DP_E_INVALID,
			       "a waypoint is part of its training: only trial %u as a "
			       "whole can be retried or cancelled",
			       (*t)->number);
	asked.trial = (*t)->number;
	code = control_apply(r, &asked, ok, err);
	if (code != DP_OK)
		return code;
	json_decref(*ok);
	*ok = request_trial_json(r->study, *t);
	return DP_OK;
}

/* Every failed trial. What is recorded in one turn of the loop goes into one commit: all
 * of them are tried again, or none. */
static int request_retry_failed(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_transition asked = { .kind = DP_TRANSITION_RETRY_FAILED };
	json_t *trials = json_array();
	struct dp_transition_events orders;

	do {
		int code = request_check_allowed(r->study, &asked, &orders, err);

		if (code != DP_OK) { /* only at first: nothing is recorded yet */
			json_decref(trials);
			return code;
		}
		json_array_append_new(trials, json_integer(orders.events[0].trial));
		study_apply_orders(r->study, &orders, r->requested_by);
		asked.trial = orders.next_trial;
	} while (orders.has_more);
	study_apply_policy(r->study);
	*ok = json_pack("{s:o, s:o}", "study", request_summary_json(r->study), "trials", trials);
	return DP_OK;
}

int request_retry(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;

	if (dp_json_bool(r->json, "failed", false))
		return request_retry_failed(r, ok, err);
	return control_apply_trial(r, DP_TRANSITION_RETRY, &t, ok, err);
}

int request_cancel(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;
	int code = control_apply_trial(r, DP_TRANSITION_CANCEL, &t, ok, err);

	if (code == DP_OK)
		study_cancel_trial(r->study, t, r->requested_by);
	return code;
}

int request_enqueue(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_transition asked = { .kind = DP_TRANSITION_ENQUEUE };
	struct dp_transition_events none;
	double x[DP_PARAMS_MAX];
	int code = dp_space_from_json(r->study->state->spec, json_object_get(r->json, "parameters"),
				      x, err);

	(void)ok;
	if (code == DP_OK)
		code = request_check_allowed(r->study, &asked, &none, err);
	if (code == DP_OK && r->study->state->spec->search.budget.epsilon > 0 &&
	    !r->study->state->accounting)
		code = dp_fail(err, DP_E_BUSY,
			       "the filter of its search.budget is not chosen yet, which "
			       "the study does as soon as it runs; try again then");
	r->replies_later = true; /* the answer comes when its epsilon is known */
	return code == DP_OK ? accounting_enqueue_point(r->study, x, r, err) : code;
}
