/* requests_look.c - verbs that only look: list, status, changes, trials, trial,
 * propose. */
#include "daemon/executor.h"
#include "daemon/requests.h"

#include "base/json.h"
#include "daemon/ask.h"
#include "daemon/look.h"
#include "daemon/sched.h"
#include "daemon/selection.h"
#include "daemon/server.h"
#include "daemon/volume.h"
#include "daemon/whole.h"
#include "journal/view.h"
#include "propose/propose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an answer costs, in tens of microseconds. A page ends when it has cost PAGE_WORK:
 * a few milliseconds, so that nobody else waits for longer. */
enum {
	PAGE_WORK = 500,
	WORK_STUDY = 3,
	WORK_TRIAL = 2,
	WORK_RUN = 1,        /* or an attempt, or a waypoint of a trial in full */
	RUNS_MAX = 200,      /* of one trial in a page, and attempts */
	RESULTS_A_WORK = 25, /* so many make a front new */
	TRIALS_A_WORK = 250, /* so many are added up */
};

enum {
	TRIALS_MAX = 1000,   /* of one reply */
	STATUS_POINTS = 100, /* of the front */
	FAILURES_MAX = 10,
	LATEST_MAX = 10,
	POLL_MAX_MS = 600000,
	ETA_TRIALS = 50, /* the newest so many say how long one takes */
};

/* ---- views that need the daemon's knowledge ---- */

/* Evaluations that are left, or that the rest of search.max_cost or search.budget pays
 * for if each costs what those before it did. Of a path or a budget those that run are
 * paid for. */
static double left_to_make(const struct dp_study_state *s, uint32_t ended)
{
	bool path = dp_study_cost(s->spec) == DP_COST_PATH;
	double left = s->evaluations - ended, most = s->spec->search.max_cost, spent;
	uint32_t paid = path ? s->ntrials : ended;

	spent = most > 0 ? dp_study_cost_spent(s) : 0;
	if (spent > 0 && paid > 0)
		left = fmin(left, paid - ended + fmax(0, most - spent) / spent * paid);
	if (dp_study_budget_spent(s, &spent, &most) && spent > 0)
		left = fmin(left, s->ntrials - ended + fmax(0, most - spent) / spent * s->ntrials);
	return left;
}

/* Seconds until the last evaluation ends, if the rest takes as long as the newest
 * ones did and this study gets the slots it may use. */
static json_t *eta_json(const struct study *h)
{
	const struct dp_study_state *s = h->state;
	uint32_t ended = dp_study_ended(s), n = 0;
	unsigned places, lanes;
	double seconds = 0;

	if (s->status != DP_STUDY_RUNNING || ended >= s->evaluations || dp_study_hides(s) ||
	    h->d->looking)
		return json_null();
	places = h->backend->table->places(h->backend);
	lanes = s->parallel < places ? s->parallel : places;
	for (uint32_t i = s->ntrials; i-- > 0 && n < ETA_TRIALS;) {
		const struct dp_trial *t = s->trials[i];

		if (t->status < DP_TRIAL_OK || t->nattempts == 0)
			continue;
		/* the end is told by the shim's clock, which may be behind ours */
		for (uint32_t k = 0; k < t->nattempts; k++)
			seconds += fmax(0, (double)(t->attempts[k].ended - t->attempts[k].planned) /
						   1e6);
		n++;
	}
	return n ? json_real(seconds / n * left_to_make(s, ended) / lanes) : json_null();
}

/* Up to when something may have happened in the study: now, unless nobody works on it. */
static int64_t time_of(const struct study *h)
{
	bool idle = h->state->status != DP_STUDY_RUNNING || look_is_still(h->d);

	return idle ? h->state->updated : clock_now(h->d);
}

/* Seconds of max_time that are used up; null without one. */
static json_t *active_json(const struct study *h)
{
	if (h->state->now->search.max_time <= 0)
		return json_null();
	return json_real((double)dp_course_active(h->state, time_of(h)) / 1e6);
}

json_t *request_summary_json(struct study *h)
{
	struct dp_study_state *s = study_shown(h);
	json_t *o = dp_view_summary(s);
	char *folder = study_folder(h), why[700];
	const char *waiting = sched_why_not(h, why, sizeof why);

	/* how long it took tells of how many trainings there were */
	json_object_set_new(o, "elapsed",
			    dp_study_hides(s) ? json_null()
					      : json_real((double)(time_of(h) - s->created) / 1e6));
	json_object_set_new(o, "active", active_json(h));
	json_object_set_new(o, "eta", eta_json(h));
	json_object_set_new(o, "waiting", dp_view_text(waiting));
	json_object_set_new(o, "directory", dp_view_text(folder));
	json_object_set_new(o, "selection", selection_json(h));
	volume_view(h, o);
	/* what all trainings cost is for nobody: only the best is published */
	json_object_set_new(o, "whole", dp_study_hides(s) ? json_null() : whole_view(h));
	report_view(h, o);
	free(folder);
	return o;
}

static json_t *run_json(int32_t run)
{
	return run == DP_RUN_ALL ? json_null() : json_integer(run);
}

static json_t *running_json(const struct job *j)
{
	return json_pack("{s:I, s:n, s:I, s:o, s:o, s:o, s:f, s:o, s:o, s:o}", "trial",
			 (json_int_t)j->trial, "at", "attempt", (json_int_t)j->attempt, "slot",
			 j->slot < 0 ? json_null() : json_integer(j->slot), "run", run_json(j->run),
			 "started", dp_view_time(j->started), "seconds",
			 (double)(clock_now(j->d) - j->started) / 1e6, "progress",
			 isnan(j->progress) ? json_null() : json_real(j->progress), "where",
			 dp_view_text(j->where[0] ? j->where : NULL), "parameters",
			 dp_space_json_at(j->spec, j->x, j->at));
}

static json_t *running_list(struct study *h)
{
	json_t *list = json_array();

	if (h->d->looking)
		look_running(h->d, study_shown(h), list);
	/* newest job first in the list: put the oldest on top */
	for (struct job *j = h->d->jobs; j && !dp_study_hides(h->state); j = j->next)
		if (j->home == h && j->phase != JOB_PLANNED && j->phase != JOB_OVER)
			json_array_insert_new(list, 0, running_json(j));
	return list;
}

static json_t *failure_json(const struct study *h, const struct dp_trial *t,
			    const struct dp_attempt *a)
{
	char *folder = study_folder(h), below[64], path[4096];

	dp_attempt_folder(t->number, a->run, a->number, below);
	snprintf(path, sizeof path, "%s/%s", folder ? folder : "", below);
	free(folder);
	return json_pack("{s:I, s:n, s:I, s:o, s:s, s:o, s:o, s:o}", "trial", (json_int_t)t->number,
			 "at", "attempt", (json_int_t)a->number, "run", run_json(a->run), "end",
			 dp_end_text(a->end), "time", dp_view_time(a->ended), "message",
			 dp_view_text(a->message), "directory", dp_view_text(path));
}

static void failures_add(const struct study *h, struct dp_trial *const *trials, uint32_t n,
			 json_t *list)
{
	while (n-- > 0 && json_array_size(list) < FAILURES_MAX)
		for (uint32_t k = trials[n]->nattempts;
		     k-- > 0 && json_array_size(list) < FAILURES_MAX;) {
			const struct dp_attempt *a = &trials[n]->attempts[k];

			if (a->end != DP_END_NONE && a->end != DP_END_OK)
				json_array_append_new(list, failure_json(h, trials[n], a));
		}
}

_Static_assert((int)FAILURES_MAX <= (int)DP_FAILING_MAX, "each has one failure or more");

/* The newest failed attempts, newest trial first: of those that measure, then others. */
static json_t *failures_list(const struct study *h)
{
	const struct dp_study_state *s = study_shown(h);
	json_t *list = json_array();

	failures_add(h, s->measured.trials, s->measured.ntrials, list);
	for (uint32_t i = 0; i < s->nfailing; i++)
		failures_add(h, &s->trials[s->failing[i]], 1, list);
	return list;
}

static int compare_ended(const void *a, const void *b)
{
	const struct dp_trial *u = *(struct dp_trial *const *)a, *v = *(struct dp_trial *const *)b;

	return (u->ended < v->ended) - (u->ended > v->ended);
}

/* The trials that ended last, the newest first, of those with the highest numbers. */
static json_t *latest_list(const struct study *h)
{
	struct dp_study_state *s = study_shown(h);
	const struct dp_trial *found[LATEST_MAX];
	json_t *list = json_array();
	size_t n = 0;

	for (uint32_t i = s->ntrials; i-- > 0 && n < LATEST_MAX;)
		if (s->trials[i]->status >= DP_TRIAL_OK)
			found[n++] = s->trials[i];
	qsort(found, n, sizeof found[0], compare_ended);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, dp_view_trial(s, found[i], false, NULL));
	return list;
}

json_t *request_status_json(struct study *h)
{
	json_t *result = dp_view_result_part(study_shown(h), STATUS_POINTS),
	       *front = json_object_get(result, "front"), *more = json_object_get(result, "more");
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:O, s:O*}", "study", request_summary_json(h),
			      "running", running_list(h), "latest", latest_list(h), "failures",
			      failures_list(h), "front", front, "more", more);

	json_decref(result);
	whole_reckon(h);
	volume_reckon(h);
	return o;
}

/* ---- verbs ---- */

/* What it costs to show a study. Where trainings have waypoints, each of these may be a
 * result, too, and what was trained is added up. */
static unsigned study_work(const struct dp_study_state *s)
{
	uint32_t points = (uint32_t)s->spec->trainer.path.points;
	uint32_t results = points ? dp_study_ended(s) * (points + 1) : s->ok;

	return WORK_STUDY + (s->front_valid ? 0 : results / RESULTS_A_WORK) +
	       (points ? s->ntrials / TRIALS_A_WORK : 0);
}

/* A page of the studies from number `from` on; the next page's number, or null, in
 * "next". */
static int put_summaries(struct dpd *d, int64_t from, json_t *page, struct dp_err *err)
{
	json_t *list = json_array(), *next = json_null();
	unsigned work = 0;

	for (uint32_t i = 0; i < d->nstudies; i++) {
		const struct dp_study_state *s = study_shown(d->studies[i]);

		if (s->id < from)
			continue;
		if (work >= PAGE_WORK) {
			next = json_integer(s->id);
			break;
		}
		work += study_work(s);
		json_array_append_new(list, request_summary_json(d->studies[i]));
	}
	if (json_object_set_new(page, "studies", list) != 0 ||
	    json_object_set_new(page, "next", next) != 0)
		return dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	return DP_OK;
}

int request_selection(struct request *r, json_t *(*answer)(struct study *h), json_t **ok,
		      struct dp_err *err)
{
	if (selection_is_known(r->home)) {
		*ok = answer(r->home);
		return DP_OK;
	}
	r->later = true; /* selection_wait() answers */
	return selection_wait(r->home, r->client, answer, err);
}

int request_list(struct request *r, json_t **ok, struct dp_err *err)
{
	*ok = json_object();
	return put_summaries(r->d, dp_json_int(r->json, "from", 0), *ok, err);
}

int request_status(struct request *r, json_t **ok, struct dp_err *err)
{
	if (r->home && dp_study_hides(r->home->state))
		return request_selection(r, request_status_json, ok, err);
	if (r->home) {
		r->later = true; /* study_reckoned() answers, or this: */
		if (!dp_json_bool(r->json, "whole", false) ||
		    !study_reckon(r->home, r->client, request_status_json))
			client_status(r->d, r->client, r->home);
		return DP_OK;
	}
	*ok = json_pack("{s:o}", "daemon", request_hello_json(r->d));
	return put_summaries(r->d, 0, *ok, err);
}

int request_changes(struct request *r, json_t **ok, struct dp_err *err)
{
	int64_t since = dp_json_int(r->json, "since", 0);
	int64_t ms = dp_json_int(r->json, "timeout_ms", 30000);

	(void)ok;
	if (r->d->looking)
		return look_only(r->d, "changes", err);
	r->later = true; /* client_poll_changes() answers */
	if (ms < 0 || ms > POLL_MAX_MS)
		ms = POLL_MAX_MS;
	client_wait(r->d, r->client, r->home ? r->home->state->id : CLIENT_ANY_STUDY, since,
		    ms * 1000);
	return DP_OK;
}

static unsigned trial_work(const struct dp_study_state *s, const struct dp_trial *t, bool full)
{
	unsigned runs = (unsigned)s->spec->trainer.runs;

	if (!full)
		return WORK_TRIAL;
	return WORK_TRIAL + WORK_RUN * ((t->way ? t->way->n : 0) +
					(t->nattempts < RUNS_MAX ? t->nattempts : RUNS_MAX) +
					(runs < RUNS_MAX ? runs : RUNS_MAX));
}

/* A list of trials as it was asked for. */
struct trial_list {
	struct dp_study_state *study;
	const char *state; /* only rows in this state; NULL: any */
	bool full;
	bool own; /* only trials' own rows, none of waypoints */
	char *folder;
	json_t *rows;
};

static bool list_wants(const struct trial_list *l, enum dp_trial_status status)
{
	return !l->state || strcmp(l->state, dp_trial_status_text(status)) == 0;
}

/* Rows for the waypoints of a trial that are results; what they cost. */
static unsigned list_waypoints(struct trial_list *l, const struct dp_trial *t)
{
	unsigned work = 0;

	if (l->own || !t->way || !list_wants(l, DP_TRIAL_OK))
		return 0;
	for (uint32_t w = 0; w < t->way->n; w++) {
		struct dp_point p = { t->number, (int32_t)w };

		if (!dp_way_stands(l->study, t->way, w))
			continue;
		work += WORK_TRIAL;
		json_array_append_new(l->rows, dp_view_waypoint(l->study, p, l->full));
	}
	return work;
}

/* The rows of a trial, its own last; what they cost. */
static unsigned list_trial(struct trial_list *l, const struct dp_trial *t)
{
	unsigned work = list_waypoints(l, t);

	if (!list_wants(l, t->status))
		return work;
	json_array_append_new(l->rows,
			      l->full ? dp_view_trial_part(l->study, t, l->folder, 0, RUNS_MAX)
				      : dp_view_trial(l->study, t, false, NULL));
	return work + trial_work(l->study, t, l->full);
}

int request_trials(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = study_shown(r->home);
	struct trial_list l = { .study = s,
				.state = dp_json_str(r->json, "state", NULL),
				.full = dp_json_bool(r->json, "full", false),
				.own = dp_json_bool(r->json, "own", false),
				.folder = study_folder(r->home),
				.rows = json_array() };
	int64_t from = dp_json_int(r->json, "from", 0), listed = 0, i;
	int64_t limit = dp_json_int(r->json, "limit", TRIALS_MAX);
	unsigned work = 0;
	bool counted; /* each trial is a row */

	(void)err;
	if (limit < 1 || limit > TRIALS_MAX)
		limit = TRIALS_MAX;
	for (i = from < 0 ? 0 : from; i < s->ntrials && listed < limit && work < PAGE_WORK; i++) {
		unsigned more = list_trial(&l, s->trials[i]);

		work += more;
		listed += more > 0;
	}
	counted = !l.state && (l.own || s->spec->trainer.path.points == 0);
	*ok = json_pack("{s:o, s:o, s:o}", "trials", l.rows, "next",
			i < s->ntrials ? json_integer(i) : json_null(), "total",
			counted ? json_integer(s->ntrials) : json_null());
	free(l.folder);
	return DP_OK;
}

int request_find_trial(struct request *r, struct dp_trial **t, struct dp_err *err)
{
	return dp_course_trial(study_shown(r->home), dp_json_int(r->json, "trial", -1), t, err);
}

static json_t *trial_part_json(struct study *h, const struct dp_trial *t, uint32_t from)
{
	char *folder = study_folder(h);
	json_t *o = json_pack("{s:o}", "trial",
			      dp_view_trial_part(study_shown(h), t, folder, from, RUNS_MAX));

	free(folder);
	return o;
}

json_t *request_trial_json(struct study *h, const struct dp_trial *t)
{
	return trial_part_json(h, t, 0);
}

static int request_waypoint(struct request *r, const struct dp_trial *t, int64_t at, json_t **ok,
			    struct dp_err *err)
{
	struct dp_study_state *s = study_shown(r->home);
	struct dp_point p;
	int code = dp_course_waypoint(s, t, at, &p, err);

	if (code == DP_OK)
		*ok = json_pack("{s:o}", "trial", dp_view_waypoint(s, p, true));
	return code;
}

int request_trial(struct request *r, json_t **ok, struct dp_err *err)
{
	const json_t *at = json_object_get(r->json, "at");
	int64_t from = dp_json_int(r->json, "from", 0);
	struct dp_trial *t;
	int code = request_find_trial(r, &t, err);

	if (code == DP_OK && json_is_integer(at))
		return request_waypoint(r, t, json_integer_value(at), ok, err);
	if (code == DP_OK)
		*ok = trial_part_json(r->home, t,
				      from < 0 || from > INT32_MAX ? 0 : (uint32_t)from);
	return code;
}

int request_propose(struct request *r, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = r->home->state;

	(void)ok;
	if (dp_study_hides(s))
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' is a private selection: its points are "
			       "drawn in secret",
			       s->spec->name);
	if (s->ntrials >= dp_propose_limit(s->spec))
		return dp_fail(err, DP_E_LIMIT, "every point of study '%s' was proposed",
			       s->spec->name);
	r->later = true; /* ask_show() answers */
	return ask_show(r->home, r->client, err);
}
