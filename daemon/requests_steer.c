/* requests_steer.c - what a person asks of a study. lib/course says what may be asked
 * for, and what is journaled for it. */
#include "daemon/account.h"
#include "daemon/requests.h"

#include "base/json.h"

int request_may_ask(const struct study *h, const struct dp_asked *asked, struct dp_orders *orders,
		    struct dp_err *err)
{
	if (h->deleters)
		return dp_fail(err, DP_E_BUSY, "study '%s' is being deleted", h->state->spec->name);
	return dp_course_asked(h->state, asked, orders, err);
}

/* Asks, records, answers with the study. */
static int steer(struct request *r, const struct dp_asked *asked, json_t **ok, struct dp_err *err)
{
	struct dp_orders orders;
	int code = request_may_ask(r->home, asked, &orders, err);

	if (code != DP_OK)
		return code;
	study_order(r->home, &orders, r->by);
	study_settle(r->home); /* so that the answer shows what came of it */
	*ok = json_pack("{s:o}", "study", request_summary_json(r->home));
	return DP_OK;
}

int request_pause(struct request *r, json_t **ok, struct dp_err *err)
{
	return steer(r, &(struct dp_asked){ .ask = DP_ASK_PAUSE }, ok, err);
}

int request_resume(struct request *r, json_t **ok, struct dp_err *err)
{
	return steer(r, &(struct dp_asked){ .ask = DP_ASK_RESUME }, ok, err);
}

int request_stop(struct request *r, json_t **ok, struct dp_err *err)
{
	bool now = dp_json_bool(r->json, "now", false);
	int code = steer(r, &(struct dp_asked){ .ask = DP_ASK_STOP }, ok, err);

	if (code != DP_OK)
		return code;
	if (now && !r->home->state->measured.rests)
		study_cancel_all(r->home, r->by);
	else
		study_cancel_measures(r->home, now, r->by);
	study_settle(r->home); /* nothing of it may run: then it is over now */
	json_object_set_new(*ok, "study", request_summary_json(r->home));
	return DP_OK;
}

int request_delete(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_asked asked = { .ask = DP_ASK_DELETE,
				  .now = dp_json_bool(r->json, "now", false) };
	struct dp_orders orders;
	int code = dp_course_asked(r->home->state, &asked, &orders, err);

	(void)ok;
	if (code != DP_OK)
		return code;
	study_order(r->home, &orders, r->by);
	r->later = true; /* the answer comes when the last trainer has ended */
	return study_delete(r->home, r->client, r->by, err);
}

/* The same for a trial, which is also what the answer shows. */
static int steer_trial(struct request *r, enum dp_ask ask, struct dp_trial **t, json_t **ok,
		       struct dp_err *err)
{
	struct dp_asked asked = { .ask = ask };
	int code = request_find_trial(r, t, err);

	if (code != DP_OK)
		return code;
	if (json_is_integer(json_object_get(r->json, "at")))
		return dp_fail(err, DP_E_INVALID,
			       "a waypoint is part of its training: only trial %u as a "
			       "whole can be retried or cancelled",
			       (*t)->number);
	asked.trial = (*t)->number;
	code = steer(r, &asked, ok, err);
	if (code != DP_OK)
		return code;
	json_decref(*ok);
	*ok = request_trial_json(r->home, *t);
	return DP_OK;
}

/* Every failed trial. What is recorded in one turn of the loop goes into one commit: all
 * of them are tried again, or none. */
static int request_retry_failed(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_asked asked = { .ask = DP_ASK_RETRY_FAILED };
	json_t *trials = json_array();
	struct dp_orders orders;

	do {
		int code = request_may_ask(r->home, &asked, &orders, err);

		if (code != DP_OK) { /* only at first: nothing is recorded yet */
			json_decref(trials);
			return code;
		}
		json_array_append_new(trials, json_integer(orders.event[0].trial));
		study_order(r->home, &orders, r->by);
		asked.trial = orders.from;
	} while (orders.more);
	study_settle(r->home);
	*ok = json_pack("{s:o, s:o}", "study", request_summary_json(r->home), "trials", trials);
	return DP_OK;
}

int request_retry(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;

	if (dp_json_bool(r->json, "failed", false))
		return request_retry_failed(r, ok, err);
	return steer_trial(r, DP_ASK_RETRY, &t, ok, err);
}

int request_cancel(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;
	int code = steer_trial(r, DP_ASK_CANCEL, &t, ok, err);

	if (code == DP_OK)
		study_cancel_trial(r->home, t, r->by);
	return code;
}

int request_enqueue(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_asked asked = { .ask = DP_ASK_ENQUEUE };
	struct dp_orders none;
	double x[DP_PARAMS_MAX];
	int code = dp_space_from_json(r->home->state->spec, json_object_get(r->json, "parameters"),
				      x, err);

	(void)ok;
	if (code == DP_OK)
		code = request_may_ask(r->home, &asked, &none, err);
	if (code == DP_OK && r->home->state->spec->search.budget.epsilon > 0 &&
	    !r->home->state->accounting)
		code = dp_fail(err, DP_E_BUSY,
			       "the filter of its search.budget is not chosen yet, which "
			       "the study does as soon as it runs; try again then");
	r->later = true; /* the answer comes when its epsilon is known */
	return code == DP_OK ? account_enqueue(r->home, x, r, err) : code;
}
