/* requests.c - what each verb of the control protocol does; docs/protocol.md lists
 * them. A handler answers exactly once, now or later. */
#include "config.h"
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"
#include "journal/view.h"
#include "propose/propose.h"
#include "wire/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TRIALS_MAX = 1000, /* of one reply */
	FAILURES_MAX = 10,
	POLL_MAX_MS = 600000,
	STUDIES_MAX = 100000,
};

struct request {
	struct dpd *d;
	uint64_t client;
	const json_t *json;
	struct dp_study_state *study; /* found already where the verb needs one */
};

/* DP_OK: *ok (if set) is sent. DP_E_*: *err is sent. A handler that answers later
 * returns DP_OK and leaves *ok NULL. */
typedef int handler(struct request *r, json_t **ok, struct dp_err *err);

/* ---- views that need the daemon's knowledge ---- */

enum {
	ETA_TRIALS = 50
}; /* the newest so many say how long one takes */

/* Seconds until the last evaluation ends, if the rest takes as long as the newest
 * ones did and this study gets the slots it may use. */
static json_t *eta(const struct dpd *d, const struct dp_study_state *s)
{
	uint32_t ended = dp_study_ended(s), n = 0;
	unsigned lanes = s->parallel < d->config.slots ? s->parallel : d->config.slots;
	double seconds = 0;

	if (s->status != DP_STUDY_RUNNING || ended >= s->evaluations)
		return json_null();
	for (uint32_t i = s->ntrials; i-- > 0 && n < ETA_TRIALS;) {
		const struct dp_trial *t = s->trials[i];

		if (t->status < DP_TRIAL_OK || t->nattempts == 0)
			continue;
		for (uint32_t k = 0; k < t->nattempts; k++)
			seconds +=
				(double)(t->attempts[k].ended - t->attempts[k].planned) /
				1e6;
		n++;
	}
	return n ? json_real(seconds / n * (s->evaluations - ended) / lanes)
		 : json_null();
}

static json_t *summary(struct dpd *d, struct dp_study_state *s)
{
	json_t *o = dp_view_summary(s);
	char *folder = study_folder(d, s->spec->name), why[700];
	int64_t until = s->status == DP_STUDY_RUNNING ? dp_now_us() : s->updated;
	const char *waiting = sched_why_not(d, s, why, sizeof why);

	json_object_set_new(o, "elapsed", json_real((double)(until - s->created) / 1e6));
	json_object_set_new(o, "eta", eta(d, s));
	json_object_set_new(o, "waiting", waiting ? json_string(waiting) : json_null());
	json_object_set_new(o, "directory", json_string(folder ? folder : ""));
	report_view(d, s, o);
	free(folder);
	return o;
}

static json_t *run_json(int32_t run)
{
	return run == DP_RUN_ALL ? json_null() : json_integer(run);
}

static json_t *running(struct dpd *d, struct dp_study_state *s)
{
	json_t *list = json_array();

	for (struct job *j = d->jobs; j; j = j->next) {
		const struct dp_trial *t = dp_study_trial(s, j->trial);

		if (j->study != s->id || j->phase == JOB_PLANNED || !t)
			continue;
		/* newest job first in the list: put the oldest on top */
		json_array_insert_new(
			list, 0,
			json_pack("{s:I, s:I, s:o, s:o, s:f, s:o, s:o}", "trial",
				  (json_int_t)j->trial, "attempt", (json_int_t)j->attempt,
				  "run", run_json(j->run), "started",
				  dp_view_time(j->started), "seconds",
				  (double)(dp_now_us() - j->started) / 1e6, "progress",
				  isnan(j->progress) ? json_null()
						     : json_real(j->progress),
				  "parameters", dp_space_json(s->spec, t->x)));
	}
	return list;
}

static json_t *failure(struct dpd *d, struct dp_study_state *s, const struct dp_trial *t,
		       const struct dp_attempt *a)
{
	char *folder = study_folder(d, s->spec->name), below[64], path[4096];

	dp_attempt_folder(t->number, a->run, a->number, below);
	snprintf(path, sizeof path, "%s/%s", folder ? folder : "", below);
	free(folder);
	return json_pack("{s:I, s:I, s:o, s:s, s:o, s:s?, s:s}", "trial",
			 (json_int_t)t->number, "attempt", (json_int_t)a->number, "run",
			 run_json(a->run), "end", dp_end_text(a->end), "time",
			 dp_view_time(a->ended), "message", a->message, "directory",
			 path);
}

/* The newest failed attempts, newest trial first. */
static json_t *failures(struct dpd *d, struct dp_study_state *s)
{
	json_t *list = json_array();

	for (uint32_t i = s->ntrials; i-- > 0 && json_array_size(list) < FAILURES_MAX;) {
		const struct dp_trial *t = s->trials[i];

		for (uint32_t k = t->nattempts;
		     k-- > 0 && json_array_size(list) < FAILURES_MAX;) {
			const struct dp_attempt *a = &t->attempts[k];

			if (a->end == DP_END_NONE || a->end == DP_END_OK)
				continue;
			json_array_append_new(list, failure(d, s, t, a));
		}
	}
	return list;
}

json_t *request_status(struct dpd *d, struct dp_study_state *s)
{
	json_t *result = dp_view_result(s), *front = json_object_get(result, "front");
	json_t *o = json_pack("{s:o, s:o, s:o, s:O}", "study", summary(d, s), "running",
			      running(d, s), "failures", failures(d, s), "front", front);

	json_decref(result);
	return o;
}

static json_t *hello_json(struct dpd *d)
{
	struct dp_journal_stat st = { 0 };
	struct dp_err why;
	bool trouble = dp_journal_trouble(d->journal, &why);

	if (dp_journal_stat(d->journal, &st, NULL) != DP_OK)
		st = (struct dp_journal_stat){ 0 };
	return json_pack(
		"{s:s, s:i, s:i, s:i, s:s, s:s?, s:i, s:i, s:o, s:I, s:{s:I, s:I}, "
		"s:s?, s:s, s:I}",
		"version", PACKAGE_VERSION, "protocol", DP_WIRE_VERSION, "journal_format",
		DP_JOURNAL_FORMAT, "pid", (int)getpid(), "state_dir", d->state_dir,
		"socket", d->socket_path, "slots", (int)d->config.slots, "busy",
		(int)d->njobs, "started", dp_view_time(d->started), "studies",
		(json_int_t)d->state.nstudies, "journal", "records",
		(json_int_t)st.records, "bytes", (json_int_t)st.bytes, "trouble",
		trouble ? why.msg : NULL, "stop_policy",
		stop_policy_text(d->config.stop_policy), "disk_free",
		(json_int_t)d->disk_free);
}

/* ---- verbs ---- */

static int do_hello(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	*ok = hello_json(r->d);
	return DP_OK;
}

static json_t *summaries(struct dpd *d)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		json_array_append_new(list, summary(d, d->state.studies[i]));
	return list;
}

static int do_list(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	*ok = json_pack("{s:o}", "studies", summaries(r->d));
	return DP_OK;
}

static int do_status(struct request *r, json_t **ok, struct dp_err *err)
{
	(void)err;
	*ok = r->study ? request_status(r->d, r->study)
		       : json_pack("{s:o, s:o}", "daemon", hello_json(r->d), "studies",
				   summaries(r->d));
	return DP_OK;
}

static int do_changes(struct request *r, json_t **ok, struct dp_err *err)
{
	int64_t since = dp_json_int(r->json, "since", 0);
	int64_t ms = dp_json_int(r->json, "timeout_ms", 30000);

	(void)ok;
	(void)err;
	if (ms < 0 || ms > POLL_MAX_MS)
		ms = POLL_MAX_MS;
	client_wait(r->d, r->client, r->study->id, (uint32_t)since, ms * 1000);
	return DP_OK;
}

static json_t *warnings(const struct dp_problems *p)
{
	json_t *list = json_array();

	for (size_t i = 0; i < p->count; i++)
		if (p->list[i].warning)
			json_array_append_new(list, json_string(p->list[i].message));
	return list;
}

/* The same name: the same study again, or a mistake. */
static int resubmitted(struct request *r, struct dp_study_state *s, const char *text,
		       json_t **ok, struct dp_err *err)
{
	if (strcmp(s->text, text) != 0) {
		dp_fail(err, DP_E_EXISTS, "there is a study '%s' from another file",
			s->spec->name);
		return dp_hint(err,
			       "give this one another name, or delete that one "
			       "('dparetoctl delete %s')",
			       s->spec->name);
	}
	*ok = json_pack("{s:o, s:b, s:[]}", "study", summary(r->d, s), "new", 0,
			"warnings");
	return DP_OK;
}

static bool same_space(const struct dp_study *a, const struct dp_study *b)
{
	bool same = a->nparams == b->nparams && a->nobjectives == b->nobjectives;

	for (size_t i = 0; same && i < a->nparams; i++)
		same = strcmp(a->params[i].name, b->params[i].name) == 0 &&
		       a->params[i].kind == b->params[i].kind &&
		       (a->params[i].kind != DP_PARAM_CATEGORICAL ||
			json_equal(a->params[i].values, b->params[i].values));
	for (size_t i = 0; same && i < a->nobjectives; i++)
		same = strcmp(a->objectives[i].name, b->objectives[i].name) == 0;
	return same;
}

/* The study that search.initial_from names, or NULL where it names none. */
static int find_origin(struct dpd *d, const struct dp_study *spec,
		       struct dp_study_state **origin, struct dp_err *err)
{
	int code;

	*origin = NULL;
	if (!spec->search.initial_from)
		return DP_OK;
	code = dp_state_find(&d->state, spec->search.initial_from, origin, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "search.initial_from");
	if (!same_space((*origin)->spec, spec))
		return dp_fail(err, DP_E_INVALID,
			       "search.initial_from: study '%s' has other parameters or "
			       "objectives",
			       (*origin)->spec->name);
	return DP_OK;
}

/* Copied, so that what happens to the other study later changes nothing here. */
static void import_results(struct dpd *d, struct dp_study_state *s,
			   const struct dp_study_state *origin)
{
	for (uint32_t i = 0; i < origin->ntrials; i++) {
		const struct dp_trial *t = origin->trials[i];
		struct dp_event e = { .type = DP_EV_RESULT_IMPORTED,
				      .name = origin->spec->name,
				      .trial = i,
				      .params = t->x,
				      .nparams = (uint32_t)s->spec->nparams,
				      .objectives = t->objectives,
				      .nobjectives = (uint32_t)s->spec->nobjectives };

		if (t->objectives &&
		    (t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED))
			record(d, s, &e);
	}
}

static int do_submit(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dpd *d = r->d;
	const char *text = dp_json_str(r->json, "text", NULL);
	const char *path = dp_json_str(r->json, "path", "study");
	const char *dir = dp_json_str(r->json, "dir", NULL);
	struct dp_problems problems = { 0 };
	struct dp_study *spec = NULL;
	struct dp_study_state *origin;
	struct dp_event e = {
		.type = DP_EV_STUDY_CREATED, .text = text, .path = path, .dir = dir
	};
	int code;

	if (!text || !dir || dir[0] != '/')
		return dp_fail(err, DP_E_PROTOCOL,
			       "submit needs 'text' and an absolute 'dir'");
	code = dp_study_parse(text, strlen(text), path, dir, &spec, &problems, err);
	if (code == DP_OK)
		code = dp_propose_check(spec, err);
	if (code != DP_OK)
		goto out;
	for (uint32_t i = 0; i < d->state.nstudies; i++) {
		if (strcmp(d->state.studies[i]->spec->name, spec->name) == 0) {
			code = resubmitted(r, d->state.studies[i], text, ok, err);
			goto out;
		}
	}
	if (d->state.nstudies >= STUDIES_MAX) {
		code = dp_fail(err, DP_E_LIMIT,
			       "there are %d studies already; delete some", STUDIES_MAX);
		goto out;
	}
	code = find_origin(d, spec, &origin, err);
	if (code != DP_OK)
		goto out;
	e.name = spec->name;
	e.study = d->next_study++;
	record(d, NULL, &e);
	if (origin)
		import_results(d, dp_state_by_id(&d->state, e.study), origin);
	log_line(&d->log, LOG_INFO, spec->name, "submitted from %s", path);
	*ok = json_pack("{s:o, s:b, s:o}", "study",
			summary(d, dp_state_by_id(&d->state, e.study)), "new", 1,
			"warnings", warnings(&problems));
out:
	dp_problems_free(&problems);
	dp_study_free(spec);
	return code;
}

static int study_reply(struct request *r, json_t **ok)
{
	*ok = json_pack("{s:o}", "study", summary(r->d, r->study));
	return DP_OK;
}

static int do_pause(struct request *r, json_t **ok, struct dp_err *err)
{
	if (r->study->status == DP_STUDY_RUNNING)
		move_study(r->d, r->study, DP_STUDY_PAUSED, false, "paused by request");
	else if (r->study->status != DP_STUDY_PAUSED)
		return dp_fail(
			err, DP_E_INVALID, "study '%s' is %s, so it cannot be paused",
			r->study->spec->name, dp_study_status_text(r->study->status));
	return study_reply(r, ok);
}

static int do_resume(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = r->study;
	bool more = s->waiting || s->open || s->ntrials < s->evaluations;

	if (s->status == DP_STUDY_RUNNING)
		return study_reply(r, ok);
	if (s->status != DP_STUDY_PAUSED && !more) {
		dp_fail(err, DP_E_INVALID,
			"study '%s' is %s: all %u evaluations are made", s->spec->name,
			dp_study_status_text(s->status), s->evaluations);
		return dp_hint(err,
			       "raise its budget with 'dparetoctl set %s evaluations=N'",
			       s->spec->name);
	}
	move_study(r->d, s, DP_STUDY_RUNNING, false, NULL);
	study_settle(r->d, s);
	return study_reply(r, ok);
}

/* Cancels what runs and what waits. */
static void cancel_all(struct dpd *d, struct dp_study_state *s)
{
	for (uint32_t i = s->first_live; i < s->ntrials; i++)
		if (s->trials[i]->status < DP_TRIAL_OK && !s->trials[i]->cancel_asked)
			trial_cancel(d, s, s->trials[i]);
}

static int do_stop(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = r->study;

	(void)err;
	if (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED)
		move_study(r->d, s, DP_STUDY_STOPPED, false, "stopped by request");
	if (dp_json_bool(r->json, "now", false))
		cancel_all(r->d, s);
	return study_reply(r, ok);
}

/* An integer field within its bounds, or NaN if it is absent. */
static int amend_field(const json_t *json, const char *key, int64_t lo, int64_t hi,
		       double *out, struct dp_err *err)
{
	const json_t *v = json_object_get(json, key);

	*out = NAN;
	if (!v)
		return DP_OK;
	if (!json_is_integer(v) || json_integer_value(v) < lo ||
	    json_integer_value(v) > hi)
		return dp_fail(err, DP_E_INVALID,
			       "%s must be a whole number from %lld to %lld", key,
			       (long long)lo, (long long)hi);
	*out = (double)json_integer_value(v);
	return DP_OK;
}

static int do_set(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = r->study;
	struct dp_event e = { .type = DP_EV_STUDY_AMENDED };
	int code = amend_field(r->json, "evaluations", 1, DP_EVALUATIONS_MAX,
			       &e.evaluations, err);

	if (code == DP_OK)
		code = amend_field(r->json, "parallel", 1, DP_PARALLEL_MAX, &e.parallel,
				   err);
	if (code == DP_OK)
		code = amend_field(r->json, "priority", -1000000, 1000000, &e.priority,
				   err);
	if (code != DP_OK)
		return code;
	if (isnan(e.evaluations) && isnan(e.parallel) && isnan(e.priority)) {
		dp_fail(err, DP_E_USAGE, "nothing to set");
		return dp_hint(err, "evaluations, parallel and priority can be set");
	}
	record(r->d, s, &e);
	/* a larger budget wakes a study that had used up its own */
	if (s->status == DP_STUDY_FINISHED && s->ntrials < s->evaluations)
		move_study(r->d, s, DP_STUDY_RUNNING, false, NULL);
	study_settle(r->d, s);
	return study_reply(r, ok);
}

/* What is left of a study that the journal has forgotten. */
struct remains {
	char *folder, *trash;
	uint64_t client;
	char name[DP_NAME_MAX + 1];
};

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
	if (!d->closed)
		client_ok(d, r->client, json_pack("{s:s}", "deleted", r->name));
	free(r->folder);
	free(r->trash);
	free(r);
}

/* The study has no open attempt: forgets it and answers. */
static void delete_now(struct dpd *d, struct dp_study_state *s, uint64_t client)
{
	struct remains *r = calloc(1, sizeof *r);
	struct dp_err err;

	if (r) {
		r->folder = study_folder(d, s->spec->name);
		if (asprintf(&r->trash, "%s/trash/%u", d->state_dir, s->id) < 0)
			r->trash = NULL;
	}
	if (!r || !r->folder || !r->trash) {
		dp_fail(&err, DP_E_NOMEM, "no memory to delete it");
		client_error(d, client, &err);
		if (r) {
			free(r->folder);
			free(r->trash);
		}
		free(r);
		return;
	}
	r->client = client;
	snprintf(r->name, sizeof r->name, "%s", s->spec->name);
	log_line(&d->log, LOG_INFO, r->name, "deleted");
	d->last_ticket = dp_journal_forget(d->journal, s->id);
	ask_forget(d, s->id);
	report_forget(d, s->id);
	dp_state_forget(&d->state, s->id);
	sched_kick(d);
	after_commit(d, bury, r);
}

void requests_poll(struct dpd *d)
{
	struct deletion **p = &d->deletions, *x;

	while ((x = *p) != NULL) {
		struct dp_study_state *s = dp_state_by_id(&d->state, x->study);
		struct dp_err err;

		if (s && (s->open || ask_busy(d, s->id) || report_busy(d, s->id))) {
			report_cancel(d, s->id);
			p = &x->next;
			continue;
		}
		*p = x->next;
		if (s) {
			delete_now(d, s, x->client);
		} else { /* two asked for the same */
			dp_fail(&err, DP_E_NOT_FOUND, "the study was deleted meanwhile");
			client_error(d, x->client, &err);
		}
		free(x);
	}
}

static int do_delete(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dpd *d = r->d;
	struct dp_study_state *s = r->study;
	struct deletion *x;

	if (s->open && !dp_json_bool(r->json, "now", false)) {
		dp_fail(err, DP_E_BUSY, "%u of its trainers still run", s->open);
		return dp_hint(
			err, "wait for them, or end them with 'dparetoctl delete --now'");
	}
	x = malloc(sizeof *x);
	if (!x)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	*x = (struct deletion){ .next = d->deletions,
				.study = s->id,
				.client = r->client };
	d->deletions = x;
	if (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED)
		move_study(d, s, DP_STUDY_STOPPED, false, "being deleted");
	ask_cancel(d, s->id);
	cancel_all(d, s);
	sched_kick(d);
	*ok = NULL; /* requests_poll() answers when the last trainer has ended */
	return DP_OK;
}

static int do_front(struct request *r, json_t **ok, struct dp_err *err)
{
	if (dp_json_bool(r->json, "denoised", false)) {
		*ok = NULL; /* ask_front() answers */
		return ask_front(r->d, r->study, r->client, err);
	}
	*ok = dp_view_result(r->study);
	return DP_OK;
}

static int do_trials(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = r->study;
	int64_t from = dp_json_int(r->json, "from", 0);
	int64_t limit = dp_json_int(r->json, "limit", TRIALS_MAX);
	const char *state = dp_json_str(r->json, "state", NULL);
	bool full = dp_json_bool(r->json, "full", false);
	char *folder = study_folder(r->d, s->spec->name);
	json_t *list = json_array();
	int64_t i;

	(void)err;
	if (limit < 1 || limit > TRIALS_MAX)
		limit = TRIALS_MAX;
	for (i = from < 0 ? 0 : from; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		if ((int64_t)json_array_size(list) >= limit)
			break;
		if (!state || strcmp(state, dp_trial_status_text(t->status)) == 0)
			json_array_append_new(list, dp_view_trial(s, t, full, folder));
	}
	*ok = json_pack("{s:o, s:o}", "trials", list, "next",
			i < s->ntrials ? json_integer(i) : json_null());
	free(folder);
	return DP_OK;
}

static int find_trial(struct request *r, struct dp_trial **t, struct dp_err *err)
{
	int64_t n = dp_json_int(r->json, "trial", -1);

	*t = n >= 0 && n < r->study->ntrials ? r->study->trials[n] : NULL;
	if (*t)
		return DP_OK;
	if (r->study->ntrials == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "study '%s' has no trials yet",
			       r->study->spec->name);
	return dp_fail(err, DP_E_NOT_FOUND,
		       "study '%s' has no trial %lld; it has 0 to %u",
		       r->study->spec->name, (long long)n, r->study->ntrials - 1);
}

static int trial_reply(struct request *r, struct dp_trial *t, json_t **ok)
{
	char *folder = study_folder(r->d, r->study->spec->name);

	*ok = json_pack("{s:o}", "trial", dp_view_trial(r->study, t, true, folder));
	free(folder);
	return DP_OK;
}

static int do_trial(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;
	int code = find_trial(r, &t, err);

	return code == DP_OK ? trial_reply(r, t, ok) : code;
}

static int do_retry(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_event e = { .type = DP_EV_TRIAL_RETRY_ASKED };
	struct dp_study_state *s = r->study;
	struct dp_trial *t;
	int code = find_trial(r, &t, err);

	if (code != DP_OK)
		return code;
	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(
			err, DP_E_INVALID,
			"trial %u is %s; only failed or cancelled trials can be retried",
			t->number, dp_trial_status_text(t->status));
	e.trial = t->number;
	record(r->d, s, &e);
	if (s->status == DP_STUDY_FINISHED || s->status == DP_STUDY_FAILED)
		move_study(r->d, s, DP_STUDY_RUNNING, false, NULL);
	trial_settle(r->d, s, t, NULL); /* another run of it may have diverged */
	return trial_reply(r, t, ok);
}

static int do_cancel(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_trial *t;
	int code = find_trial(r, &t, err);

	if (code != DP_OK)
		return code;
	if (t->status >= DP_TRIAL_OK)
		return dp_fail(err, DP_E_INVALID, "trial %u has ended: it is %s",
			       t->number, dp_trial_status_text(t->status));
	if (!t->cancel_asked)
		trial_cancel(r->d, r->study, t);
	return trial_reply(r, t, ok);
}

static int do_propose(struct request *r, json_t **ok, struct dp_err *err)
{
	if (r->study->ntrials >= dp_propose_limit(r->study->spec))
		return dp_fail(err, DP_E_LIMIT, "every point of study '%s' was proposed",
			       r->study->spec->name);
	*ok = NULL; /* ask_show() answers */
	return ask_show(r->d, r->study, r->client, err);
}

static int do_enqueue(struct request *r, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = r->study;
	double x[DP_PARAMS_MAX];
	int code = dp_space_from_json(s->spec, json_object_get(r->json, "parameters"), x,
				      err);

	if (code != DP_OK)
		return code;
	if (s->ntrials >= s->evaluations) {
		dp_fail(err, DP_E_LIMIT, "all %u evaluations of study '%s' are given out",
			s->evaluations, s->spec->name);
		return dp_hint(err,
			       "raise its budget with 'dparetoctl set %s evaluations=N'",
			       s->spec->name);
	}
	ask_record(r->d, s, x, "enqueued", s->seq);
	return trial_reply(r, s->trials[s->ntrials - 1], ok);
}

static int do_reload(struct request *r, json_t **ok, struct dp_err *err)
{
	json_t *changed = json_array();
	int code = daemon_reload(r->d, changed, err);

	if (code == DP_OK)
		*ok = json_pack("{s:O}", "changed", changed);
	json_decref(changed);
	return code;
}

static void stop_after_reply(struct dpd *d, void *arg)
{
	enum stop_policy *p = arg;

	if (!d->closed)
		daemon_stop(d, *p, "asked by dparetoctl");
	free(p);
}

static int do_shutdown(struct request *r, json_t **ok, struct dp_err *err)
{
	const char *text = dp_json_str(r->json, "policy",
				       stop_policy_text(r->d->config.stop_policy));
	enum stop_policy *p = malloc(sizeof *p);

	if (!p)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	if (!stop_policy_parse(text, p)) {
		free(p);
		return dp_fail(err, DP_E_INVALID,
			       "policy is leave, finish or kill, not '%.40s'", text);
	}
	client_ok(r->d, r->client, json_pack("{s:s}", "policy", text));
	after_commit(r->d, stop_after_reply, p);
	*ok = NULL;
	return DP_OK;
}

/* Fields by type; which of them a verb looks at is its own business, but none may
 * have the wrong type. */
static const struct {
	const char *name;
	json_type type; /* JSON_TRUE stands for both truth values */
} fields[] = {
	{ "study", JSON_STRING },       { "text", JSON_STRING },
	{ "path", JSON_STRING },        { "dir", JSON_STRING },
	{ "state", JSON_STRING },       { "policy", JSON_STRING },
	{ "trial", JSON_INTEGER },      { "from", JSON_INTEGER },
	{ "limit", JSON_INTEGER },      { "since", JSON_INTEGER },
	{ "timeout_ms", JSON_INTEGER }, { "evaluations", JSON_INTEGER },
	{ "parallel", JSON_INTEGER },   { "priority", JSON_INTEGER },
	{ "parameters", JSON_OBJECT },  { "denoised", JSON_TRUE },
	{ "now", JSON_TRUE },           { "full", JSON_TRUE },
};

static int check_fields(const json_t *json, struct dp_err *err)
{
	for (size_t i = 0; i < DP_COUNT(fields); i++) {
		const json_t *v = json_object_get(json, fields[i].name);

		if (!v || json_typeof(v) == fields[i].type ||
		    (json_is_false(v) && fields[i].type == JSON_TRUE))
			continue;
		return dp_fail(err, DP_E_PROTOCOL, "'%s' must be %s", fields[i].name,
			       fields[i].type == JSON_STRING    ? "a text"
			       : fields[i].type == JSON_INTEGER ? "a whole number"
			       : fields[i].type == JSON_OBJECT  ? "an object"
								: "true or false");
	}
	return DP_OK;
}

enum needs {
	NOTHING,
	A_STUDY,
	MAYBE_A_STUDY
};

static const struct {
	const char *verb;
	enum needs needs;
	handler *fn;
} verbs[] = {
	{ "hello", NOTHING, do_hello },       { "submit", NOTHING, do_submit },
	{ "list", NOTHING, do_list },         { "status", MAYBE_A_STUDY, do_status },
	{ "changes", A_STUDY, do_changes },   { "pause", A_STUDY, do_pause },
	{ "resume", A_STUDY, do_resume },     { "stop", A_STUDY, do_stop },
	{ "set", A_STUDY, do_set },           { "delete", A_STUDY, do_delete },
	{ "front", A_STUDY, do_front },       { "trials", A_STUDY, do_trials },
	{ "trial", A_STUDY, do_trial },       { "retry", A_STUDY, do_retry },
	{ "cancel", A_STUDY, do_cancel },     { "propose", A_STUDY, do_propose },
	{ "enqueue", A_STUDY, do_enqueue },   { "reload", NOTHING, do_reload },
	{ "shutdown", NOTHING, do_shutdown },
};

static int dispatch(struct request *r, const char *verb, json_t **ok, struct dp_err *err)
{
	const char *selector = dp_json_str(r->json, "study", NULL);
	int code = check_fields(r->json, err);

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(verbs); i++) {
		if (strcmp(verbs[i].verb, verb) != 0)
			continue;
		if (verbs[i].needs == A_STUDY && !selector)
			return dp_fail(err, DP_E_PROTOCOL, "'%s' needs a study", verb);
		if (verbs[i].needs != NOTHING && selector)
			code = dp_state_find(&r->d->state, selector, &r->study, err);
		return code == DP_OK ? verbs[i].fn(r, ok, err) : code;
	}
	if (code != DP_OK)
		return code;
	dp_fail(err, DP_E_PROTOCOL, "this daemon does not know '%.40s'", verb);
	return dp_hint(err, "it is version %s; is dparetoctl newer?", PACKAGE_VERSION);
}

void request_handle(struct dpd *d, uint64_t client, const char *verb,
		    const json_t *request)
{
	struct request r = { .d = d, .client = client, .json = request };
	json_t *ok = NULL;
	struct dp_err err;

	if (dispatch(&r, verb, &ok, &err) != DP_OK)
		client_error(d, client, &err);
	else if (ok)
		client_ok(d, client, ok);
}
