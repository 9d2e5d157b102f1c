/* reevaluation_job.c - chooses points to re-evaluate and journals them. A worker thread computes
 * the smoothed front, epsilons of external accountants and the shares of search.budget. The study
 * may change meanwhile: only what is still allowed is recorded. */
#include "daemon/studies/reevaluation_job.h"

#include "base/json.h"
#include "daemon/core/background_job.h"
#include "daemon/core/peer_name.h"
#include "daemon/studies/accounting_job.h"
#include "daemon/studies/external_accountants.h"
#include "daemon/studies/proposals/proposals.h"
#include "daemon/studies/smoothed_front.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	REEVALUATION_TRIALS_MAX = 100000 /* in one request */
};

struct reevaluation_point {
	double result_trial, result_at; /* as in the record */
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	double renyi; /* K at the filter's order; NaN without search.budget */
};

struct reevaluation_job {
	struct background_job job;
	struct study *study;
	uint64_t client_id;               /* the requester; 0: search.remeasure */
	char requested_by[REQUESTER_LEN]; /* the same for users */
	reply_builder *summary;
	const char *reason; /* static text */
	uint32_t runs;
	double filter_order; /* of the filter of search.budget; 0: no budget */
	struct reevaluation_point *points;
	size_t n_points;
	bool is_given_point;      /* points[0] is a given point without epsilons */
	bool uses_smoothed_front; /* the points are the front of this input */
	struct smoothed_front_input input;
	char refusal[POINT_REFUSAL_LEN];
	struct dp_err point_err; /* an error of the request; code DP_OK: none */
	struct dp_err err;
	int code;
};

static void reevaluation_alloc_points(struct reevaluation_job *job, size_t n)
{
	free(job->points);
	job->points = dp_calloc(n + 1, sizeof *job->points);
	job->n_points = n;
}

/* ---- on a worker thread ---- */

static int reevaluation_find_front(struct reevaluation_job *job)
{
	const struct dp_study *spec = job->study->state->spec;
	struct smoothed_front_input *in = &job->input;
	int code =
		smoothed_front_compute(spec, NULL, &job->study->reevaluation_cancel, in, &job->err);

	if (code != DP_OK)
		return code;
	reevaluation_alloc_points(job, in->n_points);
	for (size_t i = 0; i < job->n_points; i++) {
		const struct dp_observation *k = &in->results.known[in->result_index[i]];

		job->points[i].result_trial = k->trial;
		job->points[i].result_at = k->checkpoint > 0 ? k->checkpoint : NAN;
		memcpy(job->points[i].x, k->x, spec->nparams * sizeof *k->x);
	}
	return DP_OK;
}

static void reevaluation_worker(void *arg)
{
	struct reevaluation_job *job = arg;

	if (job->is_given_point) {
		struct reevaluation_point *given = &job->points[0];

		accounting_solve_calibrated(job->study->state->spec, given->x, &job->point_err);
		job->code = point_privacy_compute(job->study, NULL, given->x, given->privacy,
						  job->refusal, &job->err);
	} else if (job->uses_smoothed_front) {
		job->code = reevaluation_find_front(job);
	}
	for (size_t i = 0; i < job->n_points && job->code == DP_OK; i++)
		job->code = point_privacy_renyi(job->study->state->spec, job->filter_order,
						job->points[i].x, job->points[i].result_at,
						&job->points[i].renyi, &job->err);
}

/* ---- recording ---- */

/* Updates settings and epsilons of a point that is a result. False: it is not a result any more. */
static bool reevaluation_refresh_point(const struct dp_study_state *s, struct reevaluation_point *p)
{
	struct dp_result_id of;

	if (!dp_state_find_result(s, (uint32_t)p->result_trial, p->result_at, &of))
		return false;
	memcpy(p->x, s->trials[of.trial]->x, s->spec->nparams * sizeof *p->x);
	for (size_t k = 0; k < s->spec->nobjectives; k++)
		p->privacy[k] =
			s->spec->objectives[k].privacy ? dp_result_get_objectives(s, of)[k] : NAN;
	return true;
}

static void reevaluation_record_point(struct reevaluation_job *job,
				      const struct reevaluation_point *p)
{
	struct study *study = job->study;
	const struct dp_study *spec = study->state->spec;
	struct dp_event e = { .type = DP_EV_MEASURE_ASKED,
			      .trial = dp_state_next_reeval_trial(study->state),
			      .requested_by = job->client_id ? job->requested_by : NULL,
			      .measure_asked = { .point = { .source = job->reason,
							    .params = p->x,
							    .nparams = (uint32_t)spec->nparams,
							    .renyi = &p->renyi,
							    .nrenyi = isnan(p->renyi) ? 0 : 1 },
						 .result_trial = p->result_trial,
						 .result_checkpoint = p->result_at,
						 .runs = job->runs } };

	if (dp_study_has_privacy(spec)) {
		e.measure_asked.point.privacy = p->privacy;
		e.measure_asked.point.nprivacy = (uint32_t)spec->nobjectives;
	}
	study_record_event(study, &e);
}

/* Both NaN, or the same. */
static bool reevaluation_equal_or_nan(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Finds the re-evaluation of the same point, with as many runs and for the same reason, that is
 * unfinished and will continue; any: also a finished one. Returns its position, or the number of
 * all. */
static uint32_t reevaluation_find_existing(const struct reevaluation_job *job,
					   const struct reevaluation_point *p, bool any)
{
	const struct dp_study_state *s = job->study->state;
	bool goes_on = s->reevals.has_resume_state || s->status == DP_STUDY_RUNNING ||
		       s->status == DP_STUDY_PAUSED;
	uint32_t i;

	for (i = 0; i < s->reevals.count; i++) {
		const struct dp_reeval *one = &s->reevals.items[i];
		const char *reason;

		if (strcmp(one->source, job->reason) == 0 && one->runs == job->runs &&
		    reevaluation_equal_or_nan(one->trial, p->result_trial) &&
		    reevaluation_equal_or_nan(one->checkpoint_value, p->result_at) &&
		    memcmp(s->reevals.trials[one->first_trial]->x, p->x,
			   s->spec->nparams * sizeof *p->x) == 0 &&
		    (any || (goes_on && dp_reeval_get_status(s, one, &reason) < DP_TRIAL_OK)))
			break;
	}
	return i;
}

/* ---- requests of clients ---- */

/* Checks that the request is still allowed and that new points fit the limits. */
static int reevaluation_check_allowed(struct reevaluation_job *job,
				      struct dp_transition_events *orders, struct dp_err *err)
{
	const struct dp_study_state *s = job->study->state;
	uint32_t runs = (uint32_t)s->spec->trainer.runs;
	double k = 0;

	if (job->point_err.code != DP_OK) {
		*err = job->point_err;
		return err->code;
	}
	if (job->refusal[0])
		return dp_fail(err, DP_E_INVALID, "%s", job->refusal);
	if (study_check_not_deleted(job->study, err) != DP_OK ||
	    dp_policy_reevaluate(s, orders, err) != DP_OK)
		return err->code;
	if (job->n_points == 0) {
		dp_fail(err, DP_E_INVALID, "study '%s' has no results yet", s->spec->name);
		return dp_hint(err, "'dparetoctl status %s' shows how far it is", s->spec->name);
	}
	/* each trial uses memory until the study is deleted */
	if ((uint64_t)job->n_points * ((job->runs + runs - 1) / runs) > REEVALUATION_TRIALS_MAX)
		return dp_fail(err, DP_E_LIMIT,
			       "%zu points with %u runs each are more than can be asked for at "
			       "once: %d trials of trainer.runs",
			       job->n_points, job->runs, REEVALUATION_TRIALS_MAX);
	for (size_t i = 0; i < job->n_points; i++) {
		struct reevaluation_point *p = &job->points[i];

		if (!job->is_given_point && !reevaluation_refresh_point(s, p))
			return dp_fail(err, DP_E_BUSY,
				       "trial %.0f is being tried again: it is no result "
				       "until it has ended",
				       p->result_trial);
		if (reevaluation_find_existing(job, p, false) == s->reevals.count)
			k = dp_renyi_add(k, isnan(p->renyi) ? 0 : p->renyi);
	}
	return k > 0 ? dp_policy_check_reeval_budget(s, k, job->runs, err) : DP_OK;
}

static void reevaluation_record_and_reply(struct reevaluation_job *job)
{
	struct study *study = job->study;
	struct daemon *d = study->daemon;
	json_t *numbers;
	struct dp_transition_events orders;
	json_int_t n_new = 0;
	struct dp_err err;

	if (reevaluation_check_allowed(job, &orders, &err) != DP_OK) {
		d->replies->error(d, job->client_id, &err);
		return;
	}
	numbers = json_array();
	for (size_t i = 0; i < job->n_points; i++) {
		uint32_t at = reevaluation_find_existing(job, &job->points[i], false);

		if (at == study->state->reevals.count) {
			reevaluation_record_point(job, &job->points[i]);
			n_new++;
		}
		json_array_append_new(numbers, json_integer(at));
	}
	if (n_new)
		study_apply_orders(study, &orders, job->requested_by);
	study_apply_policy(study);
	d->replies->ok(d, job->client_id,
		       json_pack("{s:o, s:I, s:o}", "measurements", numbers, "new", n_new, "study",
				 job->summary(study)));
}

/* ---- the end of the search ---- */

/* Records all points that are not requested yet, as far as search.budget allows, then the end
 * marker. After a crash the next daemon repeats this and finds what was recorded. */
static void reevaluation_record_final(struct reevaluation_job *job)
{
	struct study *study = job->study;
	struct dp_event all = { .type = DP_EV_MEASURE_ASKED,
				.measure_asked = { .point = { .source = job->reason },
						   .result_trial = NAN,
						   .result_checkpoint = NAN } };
	struct dp_step step;
	size_t left_out = 0;
	char reason[600];
	struct dp_err why;

	dp_policy_next_step(study->state, clock_now(study->daemon), &step);
	if (step.kind != DP_STEP_REEVALUATE_FRONT || study->delete_requests)
		return; /* the next step changed; asked again later */
	/* points whose cost could not be computed are not recorded */
	for (size_t i = 0; i < job->n_points && job->code == DP_OK; i++) {
		struct reevaluation_point *p = &job->points[i];

		if (!reevaluation_refresh_point(study->state, p) ||
		    reevaluation_find_existing(job, p, true) < study->state->reevals.count)
			continue;
		if (dp_policy_check_reeval_budget(study->state, p->renyi, job->runs, &why) ==
		    DP_OK) {
			reevaluation_record_point(job, p);
			continue;
		}
		snprintf(reason, sizeof reason,
			 "search.remeasure left out %zu of the front's %zu points: %.400s",
			 ++left_out, job->n_points, why.msg);
		all.reason = reason;
	}
	if (job->code != DP_OK) {
		snprintf(reason, sizeof reason,
			 "search.remeasure could not measure the front: %.400s", job->err.msg);
		all.reason = reason;
	}
	study_record_event(study, &all);
}

/* ---- starting ---- */

static void on_reevaluation_done(void *arg)
{
	struct reevaluation_job *job = arg;
	struct study *study = job->study;
	struct daemon *d = study->daemon;

	study->n_reevaluation_jobs--;
	accountants_stop_idle(study);
	if (!d->loop_ended) {
		if (job->input.found.rows)
			smoothed_front_store(study, &job->input.found);
		if (job->client_id && job->code != DP_OK)
			d->replies->error(d, job->client_id, &job->err);
		else if (job->client_id)
			reevaluation_record_and_reply(job);
		else if (job->code != DP_E_INTERRUPTED)
			reevaluation_record_final(job);
		study_mark_changed(study);
	}
	smoothed_front_input_clear(&job->input);
	free(job->points);
	free(job);
}

/* Takes points from rows of a known front: [trial, at] each. */
static void reevaluation_points_from_rows(struct reevaluation_job *job, const json_t *rows)
{
	const json_t *row;
	size_t i;

	reevaluation_alloc_points(job, json_array_size(rows));
	json_array_foreach (rows, i, row) {
		const json_t *at = json_object_get(row, "at");

		job->points[i].result_trial = (double)dp_json_int(row, "trial", 0);
		job->points[i].result_at =
			json_is_integer(at) ? (double)json_integer_value(at) : NAN;
	}
}

static void reevaluation_points_from_results(struct reevaluation_job *job,
					     const struct dp_result_id *points, size_t n)
{
	reevaluation_alloc_points(job, n);
	for (size_t i = 0; i < n; i++) {
		job->points[i].result_trial = points[i].trial;
		job->points[i].result_at = dp_result_checkpoint_value(job->study->state, points[i]);
	}
}

/* Takes points from the study's front, cached or to be computed. */
static void reevaluation_points_from_front(struct reevaluation_job *job)
{
	struct dp_study_state *s = job->study->state;
	const struct smoothed_front *front = smoothed_front_current(job->study);

	if (!dp_study_uses_smoothed_front(s->spec)) {
		dp_state_update_front(s);
		reevaluation_points_from_results(job, s->front, s->nfront);
	} else if (front) {
		reevaluation_points_from_rows(job, front->rows);
	} else {
		job->uses_smoothed_front = true;
		smoothed_front_snapshot(job->study, &job->input);
	}
}

static void reevaluation_start(struct study *study, const struct reevaluation_request *wish,
			       const char *why)
{
	struct reevaluation_job *job = dp_calloc(1, sizeof *job);

	job->study = study;
	job->client_id = wish->client_id;
	job->summary = wish->summary;
	if (wish->requested_by)
		snprintf(job->requested_by, sizeof job->requested_by, "%s", wish->requested_by);
	job->reason = why;
	job->runs = wish->runs;
	if (study->state->accounting)
		job->filter_order = study->state->accounting->filter.order;
	if (wish->x) {
		job->is_given_point = true;
		reevaluation_alloc_points(job, 1);
		job->points[0].result_trial = job->points[0].result_at = NAN;
		memcpy(job->points[0].x, wish->x, study->state->spec->nparams * sizeof(double));
	} else if (wish->points) {
		reevaluation_points_from_results(job, wish->points, wish->n_points);
	} else {
		reevaluation_points_from_front(job);
	}
	/* settings determine the cost; a point that is no result is reported later */
	for (size_t i = 0; !wish->x && i < job->n_points; i++)
		reevaluation_refresh_point(study->state, &job->points[i]);
	accountants_prepare(study);
	study->n_reevaluation_jobs++;
	background_job_start(study->daemon, &job->job, reevaluation_worker, on_reevaluation_done,
			     job);
}

void reevaluation_submit(struct study *study, const struct reevaluation_request *wish)
{
	reevaluation_start(study, wish, wish->x ? "verify" : "remeasure");
}

void reevaluation_cancel(struct study *study)
{
	atomic_store(&study->reevaluation_cancel, true);
}

void reevaluation_start_final(struct study *study)
{
	struct reevaluation_request wish = { .runs = study->state->spec->search.reevaluate_runs };

	if (!study->n_reevaluation_jobs) /* else asked again afterwards */
		reevaluation_start(study, &wish, "end");
}
