/* requests_read.c - read-only verbs: list, status, changes, trials, trial. */
#include "daemon/api/requests.h"

#include "base/fs.h"
#include "base/json.h"
#include "daemon/studies/derived_results.h"
#include "daemon/studies/private_selection.h"
#include "daemon/studies/report_writer.h"
#include "daemon/studies/scheduler.h"
#include "state/state_json.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Costs in tens of microseconds. A page ends at PAGE_COST_MAX, a few milliseconds, so that no other
 * client waits longer. */
enum {
	PAGE_COST_MAX = 500,
	COST_STUDY = 3,
	COST_TRIAL = 2,
	COST_RUN = 1,          /* also an attempt, or a checkpoint of a trial in full */
	PAGE_RUNS_MAX = 200,   /* and attempts, of one trial in a page */
	RESULTS_PER_COST = 25, /* results of a front computed per unit */
	TRIALS_PER_COST = 250, /* trials summed per unit */
};

enum {
	PAGE_TRIALS_MAX = 1000, /* in one reply */
	STATUS_POINTS = 100,    /* of the front */
	FAILURES_MAX = 10,
	LATEST_MAX = 10,
	LONG_POLL_MAX_MS = 600000,
	ETA_TRIALS = 50, /* newest trials used to estimate durations */
};

/* ---- views that need data of the daemon ---- */

/* Evaluations that are left, or that the rest of search.max_cost or search.budget covers at the
 * mean cost so far. With learning curves or a budget, running trials are already paid for. */
static double eta_remaining_evaluations(const struct dp_study_state *s, uint32_t ended)
{
	bool path = dp_study_cost(s->spec) == DP_COST_PATH;
	double left = s->evaluations - ended, most = s->spec->search.max_cost, spent;
	uint32_t paid = path ? s->ntrials : ended;

	spent = most > 0 ? dp_state_cost_spent(s) : 0;
	if (spent > 0 && paid > 0)
		left = fmin(left, paid - ended + fmax(0, most - spent) / spent * paid);
	if (dp_state_budget_spent(s, &spent, &most) && spent > 0)
		left = fmin(left, s->ntrials - ended + fmax(0, most - spent) / spent * s->ntrials);
	return left;
}

/* Estimated seconds until the last evaluation ends, from the duration of the newest ones and the
 * slots that the study may use. */
static json_t *eta_json(const struct study *study)
{
	const struct dp_study_state *s = study->state;
	uint32_t ended = dp_state_count_ended_trials(s), n = 0;
	unsigned places, lanes;
	double seconds = 0;

	if (s->status != DP_STUDY_RUNNING || ended >= s->evaluations ||
	    dp_state_is_private_selection(s) || study->daemon->read_only.enabled)
		return json_null();
	places = study->daemon->attempts->capacity(study);
	lanes = s->parallel < places ? s->parallel : places;
	for (uint32_t i = s->ntrials; i-- > 0 && n < ETA_TRIALS;) {
		const struct dp_trial *t = s->trials[i];

		if (t->status < DP_TRIAL_OK || t->nattempts == 0)
			continue;
		/* the end is in the shim's clock, which may be behind */
		for (uint32_t k = 0; k < t->nattempts; k++)
			seconds += fmax(
				0, (double)(t->attempts[k].ended_us - t->attempts[k].planned_us) /
					   1e6);
		n++;
	}
	return n ? json_real(seconds / n * eta_remaining_evaluations(s, ended) / lanes)
		 : json_null();
}

/* The latest time at which something can have happened: now, unless no daemon runs the study. */
static int64_t study_latest_time(const struct study *study)
{
	const struct read_only_mode *mode = &study->daemon->read_only;
	bool idle =
		study->state->status != DP_STUDY_RUNNING || (mode->enabled && !mode->has_writer);

	return idle ? study->state->updated_us : clock_now(study->daemon);
}

json_t *request_summary_json(struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	json_t *o = dp_state_summary_json(view);
	char *folder = study_folder(study), why[700];
	const char *waiting = scheduler_waiting_reason(study, why, sizeof why);

	/* the duration would reveal the number of runs */
	json_object_set_new(o, "elapsed",
			    view.hides_search ? json_null()
					      : json_real((double)(study_latest_time(study) -
								   view.state->created_us) /
							  1e6));
	/* seconds used of max_time */
	json_object_set_new(o, "active",
			    study->state->current_spec->search.max_time > 0
				    ? json_real((double)dp_policy_active_us(
							study->state, study_latest_time(study)) /
						1e6)
				    : json_null());
	json_object_set_new(o, "eta", eta_json(study));
	json_object_set_new(o, "waiting", dp_text_json(waiting));
	json_object_set_new(o, "directory", dp_text_json(folder));
	json_object_set_new(o, "selection", private_selection_json(study));
	derived_results_add_json(study, o);
	report_writer_add_json(study, o);
	free(folder);
	return o;
}

static json_t *run_json(int32_t run)
{
	return run == DP_RUN_ALL ? json_null() : json_integer(run);
}

/* Adds attempts that are open in the journal. A read-only daemon cannot know if they run. */
static void running_add_open(const struct daemon *d, const struct dp_study_state *s,
			     const struct dp_trial *t, json_t *list)
{
	for (uint32_t k = 0; k < t->nattempts; k++) {
		const struct dp_attempt *a = &t->attempts[k];
		double seconds = (double)(clock_now(d) - a->planned_us) / 1e6;

		if (a->end_class != DP_END_NONE)
			continue;
		json_array_append_new(
			list,
			json_pack("{s:I, s:n, s:I, s:o, s:o, s:o, s:o, s:n, s:o}", "trial",
				  (json_int_t)t->number, "at", "attempt", (json_int_t)a->number,
				  "slot", a->slot < 0 ? json_null() : json_integer(a->slot), "run",
				  run_json(a->run), "started", dp_time_json(a->planned_us),
				  "seconds",
				  d->read_only.has_writer ? json_real(seconds) : json_null(),
				  "progress", "parameters",
				  dp_space_to_json_at(s->spec, t->x, t->stop_at)));
	}
}

static json_t *running_list(struct study *study)
{
	const struct daemon *d = study->daemon;
	const struct dp_study_state *s = study->state;
	json_t *list;

	if (dp_state_is_private_selection(s))
		return json_array();
	if (!d->read_only.enabled)
		return d->attempts->running_json(study);
	list = json_array();
	for (uint32_t i = s->first_unfinished; i < s->ntrials; i++)
		running_add_open(d, s, s->trials[i], list);
	for (uint32_t i = s->reevals.first_unfinished; i < s->reevals.ntrials; i++)
		running_add_open(d, s, s->reevals.trials[i], list);
	return list;
}

/* Adds failed attempts of these trials, newest trial first. */
static void failures_add(const struct study *study, struct dp_trial *const *trials, uint32_t n,
			 json_t *list)
{
	char *folder = study_folder(study);

	while (n-- > 0 && json_array_size(list) < FAILURES_MAX) {
		const struct dp_trial *t = trials[n];

		for (uint32_t k = t->nattempts; k-- > 0 && json_array_size(list) < FAILURES_MAX;) {
			const struct dp_attempt *a = &t->attempts[k];
			char below[64], *path;

			if (a->end_class == DP_END_NONE || a->end_class == DP_END_OK)
				continue;
			dp_attempt_format_dir(t->number, a->run, a->number, below);
			path = dp_path_join(folder, below);
			json_array_append_new(
				list, json_pack("{s:I, s:n, s:I, s:o, s:s, s:o, s:o, s:o}", "trial",
						(json_int_t)t->number, "at", "attempt",
						(json_int_t)a->number, "run", run_json(a->run),
						"end", dp_end_class_name(a->end_class), "time",
						dp_time_json(a->ended_us), "message",
						dp_text_json(a->message), "directory",
						dp_text_json(path)));
			free(path);
		}
	}
	free(folder);
}

_Static_assert((int)FAILURES_MAX <= (int)DP_FAILED_TRIALS_MAX, "each has one failure or more");

/* The newest failed attempts, newest trial first: re-evaluations, then others. */
static json_t *failures_list(const struct study *study)
{
	const struct dp_study_state *s = study_public_view(study).state;
	json_t *list = json_array();

	failures_add(study, s->reevals.trials, s->reevals.ntrials, list);
	for (uint32_t i = 0; i < s->nnewest_failed; i++)
		failures_add(study, &s->trials[s->newest_failed[i]], 1, list);
	return list;
}

static int compare_ended(const void *a, const void *b)
{
	const struct dp_trial *u = *(struct dp_trial *const *)a, *v = *(struct dp_trial *const *)b;

	return (u->ended_us < v->ended_us) - (u->ended_us > v->ended_us);
}

/* The trials that ended last, newest first, among those with the highest numbers. */
static json_t *latest_list(const struct study *study)
{
	struct dp_public_state view = study_public_view(study);
	const struct dp_study_state *s = view.state;
	const struct dp_trial *found[LATEST_MAX];
	json_t *list = json_array();
	size_t n = 0;

	for (uint32_t i = s->ntrials; i-- > 0 && n < LATEST_MAX;)
		if (s->trials[i]->status >= DP_TRIAL_OK)
			found[n++] = s->trials[i];
	qsort(found, n, sizeof found[0], compare_ended);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, dp_trial_json(view, found[i], false, NULL));
	return list;
}

json_t *request_status_json(struct study *study)
{
	json_t *result = dp_state_result_page_json(study_public_view(study), STATUS_POINTS),
	       *front = json_object_get(result, "front"), *more = json_object_get(result, "more");
	json_t *o =
		json_pack("{s:o, s:o, s:o, s:o, s:O, s:O*}", "study", request_summary_json(study),
			  "running", running_list(study), "latest", latest_list(study), "failures",
			  failures_list(study), "front", front, "more", more);

	json_decref(result);
	derived_results_start_due(study);
	return o;
}

/* ---- verbs ---- */

/* The cost of showing a study. Each checkpoint may be a result, and training costs are summed. */
static unsigned page_cost_of_study(const struct dp_study_state *s)
{
	uint32_t points = (uint32_t)s->spec->trainer.learning_curve.points;
	uint32_t results = points ? dp_state_count_ended_trials(s) * (points + 1) : s->ok;

	return COST_STUDY + (s->front_valid ? 0 : results / RESULTS_PER_COST) +
	       (points ? s->ntrials / TRIALS_PER_COST : 0);
}

/* Adds studies from number `from` on; "next" is the next page's number, or null. */
static void page_add_summaries(struct daemon *d, int64_t from, json_t *page)
{
	json_t *list = json_array(), *next = json_null();
	unsigned work = 0;

	for (uint32_t i = 0; i < d->studies->n; i++) {
		struct study *study = d->studies->list[i];
		const struct dp_study_state *s = study_public_view(study).state;

		if (s->id < from)
			continue;
		if (work >= PAGE_COST_MAX) {
			next = json_integer(s->id);
			break;
		}
		work += page_cost_of_study(s);
		json_array_append_new(list, request_summary_json(study));
	}
	json_object_set_new(page, "studies", list);
	json_object_set_new(page, "next", next);
}

void request_reply_selection(struct request *r, reply_builder *answer, json_t **ok)
{
	r->replies_later = private_selection_wait(r->study, r->client_id, answer);
	if (!r->replies_later)
		*ok = answer(r->study);
}

int request_list(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	*ok = json_object();
	page_add_summaries(r->daemon, dp_json_int(r->json, "from", 0), *ok);
	return DP_OK;
}

int request_status(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	if (r->study && dp_state_is_private_selection(r->study->state)) {
		request_reply_selection(r, request_status_json, ok);
	} else if (r->study) {
		r->replies_later =
			dp_json_bool(r->json, "whole", false) &&
			derived_results_wait(r->study, r->client_id, request_status_json);
		r->wants_status = !r->replies_later;
	} else {
		*ok = json_pack("{s:o}", "daemon", request_hello_json(r->daemon));
		page_add_summaries(r->daemon, 0, *ok);
	}
	return DP_OK;
}

int request_changes(struct request *r, json_t **ok, struct dp_err *err)
{
	int64_t ms = dp_json_int(r->json, "timeout_ms", 30000);

	(void)ok;
	if (r->daemon->read_only.enabled)
		return request_refuse_read_only(r->daemon, "changes", err);
	if (ms < 0 || ms > LONG_POLL_MAX_MS)
		ms = LONG_POLL_MAX_MS;
	r->wants_changes = true;
	r->since = dp_json_int(r->json, "since", 0);
	r->timeout_us = ms * 1000;
	return DP_OK;
}

static unsigned page_cost_of_trial(const struct dp_study_state *s, const struct dp_trial *t,
				   bool full)
{
	unsigned runs = (unsigned)s->spec->trainer.runs;

	if (!full)
		return COST_TRIAL;
	return COST_TRIAL +
	       COST_RUN * ((t->checkpoints ? t->checkpoints->count : 0) +
			   (t->nattempts < PAGE_RUNS_MAX ? t->nattempts : PAGE_RUNS_MAX) +
			   (runs < PAGE_RUNS_MAX ? runs : PAGE_RUNS_MAX));
}

struct trial_list {
	struct dp_public_state view;
	const char *wanted_status; /* NULL: any */
	bool full;
	bool own_rows_only; /* without rows of checkpoints */
	char *directory;
	json_t *rows;
};

static bool trial_list_wants(const struct trial_list *l, enum dp_trial_status status)
{
	return !l->wanted_status || strcmp(l->wanted_status, dp_trial_status_text(status)) == 0;
}

/* Adds the rows of a trial: checkpoints that are results, then its own. Returns their cost. */
static unsigned trial_list_add(struct trial_list *l, const struct dp_trial *t)
{
	const struct dp_study_state *s = l->view.state;
	uint32_t n = l->own_rows_only || !t->checkpoints || !trial_list_wants(l, DP_TRIAL_OK)
			     ? 0
			     : t->checkpoints->count;
	unsigned work = 0;

	for (uint32_t w = 0; w < n; w++) {
		struct dp_result_id p = { t->number, (int32_t)w };

		if (!dp_checkpoint_is_result(s, t->checkpoints, w))
			continue;
		work += COST_TRIAL;
		json_array_append_new(l->rows, dp_checkpoint_json(l->view, p, l->full));
	}
	if (!trial_list_wants(l, t->status))
		return work;
	json_array_append_new(
		l->rows, l->full ? dp_trial_page_json(l->view, t, l->directory, 0, PAGE_RUNS_MAX)
				 : dp_trial_json(l->view, t, false, NULL));
	return work + page_cost_of_trial(s, t, l->full);
}

int request_trials(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_public_state view = study_public_view(r->study);
	const struct dp_study_state *s = view.state;
	struct trial_list l = { .view = view,
				.wanted_status = dp_json_str(r->json, "state", NULL),
				.full = dp_json_bool(r->json, "full", false),
				.own_rows_only = dp_json_bool(r->json, "own", false),
				.directory = study_folder(r->study),
				.rows = json_array() };
	int64_t from = dp_json_int(r->json, "from", 0), listed = 0, i;
	int64_t limit = dp_json_int(r->json, "limit", PAGE_TRIALS_MAX);
	unsigned work = 0;
	bool counted; /* each trial is one row */

	(void)err;
	if (limit < 1 || limit > PAGE_TRIALS_MAX)
		limit = PAGE_TRIALS_MAX;
	for (i = from < 0 ? 0 : from; i < s->ntrials && listed < limit && work < PAGE_COST_MAX;
	     i++) {
		unsigned more = trial_list_add(&l, s->trials[i]);

		work += more;
		listed += more > 0;
	}
	counted = !l.wanted_status &&
		  (l.own_rows_only || s->spec->trainer.learning_curve.points == 0);
	*ok = json_pack("{s:o, s:o, s:o}", "trials", l.rows, "next",
			i < s->ntrials ? json_integer(i) : json_null(), "total",
			counted ? json_integer(s->ntrials) : json_null());
	free(l.directory);
	return DP_OK;
}

int request_find_trial(struct request *r, struct dp_trial **t, struct dp_err *err)
{
	return dp_policy_find_trial(study_public_view(r->study).state,
				    dp_json_int(r->json, "trial", -1), t, err);
}

static json_t *trial_part_json(struct study *study, const struct dp_trial *t, uint32_t from)
{
	char *folder = study_folder(study);
	json_t *o = json_pack(
		"{s:o}", "trial",
		dp_trial_page_json(study_public_view(study), t, folder, from, PAGE_RUNS_MAX));

	free(folder);
	return o;
}

json_t *request_trial_json(struct study *study, const struct dp_trial *t)
{
	return trial_part_json(study, t, 0);
}

int request_trial(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_public_state view = study_public_view(r->study);
	const json_t *at = json_object_get(r->json, "at");
	int64_t from = dp_json_int(r->json, "from", 0);
	struct dp_result_id p;
	struct dp_trial *t;
	int code = request_find_trial(r, &t, err);

	if (code != DP_OK)
		return code;
	if (!json_is_integer(at)) {
		*ok = trial_part_json(r->study, t,
				      from < 0 || from > INT32_MAX ? 0 : (uint32_t)from);
		return DP_OK;
	}
	code = dp_policy_find_checkpoint(view.state, t, json_integer_value(at), &p, err);
	if (code == DP_OK)
		*ok = json_pack("{s:o}", "trial", dp_checkpoint_json(view, p, true));
	return code;
}
