/* ask.c - the next point of a study: at once where the method is cheap, on a worker
 * thread and a copied snapshot where models are fitted. */
#include "daemon/daemon.h"

#include "base/json.h"
#include "journal/view.h"
#include "propose/propose.h"
#include "recall/recall.h"

#include <math.h>
#include <stdlib.h>

enum question {
	FOR_A_TRIAL,
	TO_SHOW,        /* the next point, for a client */
	DENOISED_FRONT, /* what the models make of the observed front, for a client */
};

/* A study's proposer, with the question under way. */
struct asker {
	struct asker *next;
	struct dpd *d;
	uint32_t study;
	struct dp_proposer *proposer; /* keeps models from one question to the next */

	bool busy; /* a worker thread has what follows */
	uv_work_t work;
	atomic_bool cancel;
	uint32_t trial, basis;
	struct dp_known *known;
	size_t nknown;
	enum question question;
	uint64_t client; /* who wants to see it */
	struct dp_proposal answer;
	size_t *front, nfront; /* positions in known, of a denoised front */
	double *values;        /* (nfront x nobjectives) */
	struct dp_err err;
	int code;
};

static struct asker *find(struct dpd *d, uint32_t study)
{
	for (struct asker *a = d->askers; a; a = a->next)
		if (a->study == study)
			return a;
	return NULL;
}

static struct asker *find_or_make(struct dpd *d, struct dp_study_state *s)
{
	struct asker *a = find(d, s->id);

	if (a)
		return a;
	a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->proposer = dp_proposer_new(s->spec);
	if (!a->proposer) {
		free(a);
		return NULL;
	}
	a->d = d;
	a->study = s->id;
	a->next = d->askers;
	d->askers = a;
	return a;
}

bool ask_busy(struct dpd *d, uint32_t study)
{
	struct asker *a = find(d, study);

	return a && a->busy;
}

void ask_cancel(struct dpd *d, uint32_t study)
{
	struct asker *a = find(d, study);

	if (a)
		atomic_store(&a->cancel, true);
}

void ask_forget(struct dpd *d, uint32_t study)
{
	for (struct asker **p = &d->askers, *a; (a = *p) != NULL; p = &a->next) {
		if (a->study != study)
			continue;
		*p = a->next;
		dp_proposer_free(a->proposer);
		free(a->known);
		free(a->front);
		free(a->values);
		free(a);
		return;
	}
}

/* ---- the snapshot ---- */

static bool take_snapshot(struct asker *a, const struct dp_study_state *s)
{
	size_t n;
	struct dp_known *known = dp_recall(s, true, &n);

	if (!known)
		return false;
	free(a->known);
	a->known = known;
	a->nknown = n;
	a->trial = s->ntrials;
	a->basis = s->seq;
	return true;
}

/* ---- asking ---- */

static void ask_work(uv_work_t *w)
{
	struct asker *a = w->data;
	struct dp_history h = { .known = a->known, .n = a->nknown };

	if (a->question != DENOISED_FRONT) {
		a->code = dp_proposer_ask(a->proposer, &h, a->trial, &a->cancel,
					  &a->answer, &a->err);
		return;
	}
	a->code = dp_surrogate_fit(a->proposer, &h, &a->cancel, &a->err);
	if (a->code == DP_OK)
		a->code = dp_surrogate_front(a->proposer, &h, a->front, a->values,
					     &a->nfront, &a->err);
}

static json_t *predicted_json(const struct dp_study *spec, const struct dp_proposal *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_predicted *q = &p->objective[i];

		json_object_set_new(o, spec->objectives[i].name,
				    json_pack("{s:o, s:o, s:o}", "value",
					      dp_json_real(q->value), "low",
					      dp_json_real(q->lo), "high",
					      dp_json_real(q->hi)));
	}
	return o;
}

static json_t *answer_json(const struct dp_study_state *s, const struct asker *a)
{
	const struct dp_proposal *p = &a->answer;

	return json_pack(
		"{s:s, s:I, s:s, s:s?, s:o, s:o, s:o, s:o}", "study", s->spec->name,
		"trial", (json_int_t)a->trial, "source", p->source, "note",
		p->note[0] ? p->note : NULL, "parameters", dp_space_json(s->spec, p->x),
		"predicted", p->modelled ? predicted_json(s->spec, p) : json_null(),
		"feasible", p->modelled ? dp_json_real(p->feasible) : json_null(),
		"acquisition", p->modelled ? dp_json_real(p->acquisition) : json_null());
}

/* As dp_view_result(), with the models' values; imported results are no trials. */
static json_t *front_json(struct dp_study_state *s, const struct asker *a)
{
	json_t *o = dp_view_result(s), *front = json_array();

	for (size_t i = 0; i < a->nfront; i++) {
		const struct dp_known *k = &a->known[a->front[i]];

		if (a->front[i] < s->nimported)
			continue;
		json_array_append_new(
			front,
			json_pack("{s:I, s:o, s:o}", "trial", (json_int_t)k->trial,
				  "parameters", dp_space_json(s->spec, k->x),
				  "objectives",
				  dp_view_objectives(
					  s, a->values + i * s->spec->nobjectives)));
	}
	json_object_set_new(o, "front", front);
	json_object_set_new(o, "denoised", json_true());
	return o;
}

/* The method has nothing more to offer: the budget ends here. */
static void end_budget(struct dpd *d, struct dp_study_state *s, const char *why)
{
	struct dp_event e = { .type = DP_EV_STUDY_AMENDED,
			      .evaluations = s->ntrials,
			      .parallel = NAN,
			      .priority = NAN,
			      .reason = why };

	record(d, s, &e);
	study_settle(d, s);
}

void ask_record(struct dpd *d, struct dp_study_state *s, const double *x,
		const char *source, uint32_t basis)
{
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial = s->ntrials,
			      .source = source,
			      .basis = basis,
			      .params = x,
			      .nparams = (uint32_t)s->spec->nparams };

	record(d, s, &e);
}

static void for_trial(struct asker *a, struct dp_study_state *s)
{
	struct dpd *d = a->d;

	if (s->status != DP_STUDY_RUNNING || s->ntrials != a->trial ||
	    !study_proposals(s))
		return; /* things changed meanwhile; it is asked again when it fits */
	if (a->code == DP_OK) {
		if (a->answer.note[0])
			log_line(&d->log, LOG_WARN, s->spec->name, "proposal %u: %s",
				 a->trial, a->answer.note);
		ask_record(d, s, a->answer.x, a->answer.source, a->basis);
	} else if (a->code == DP_E_LIMIT) {
		end_budget(d, s, a->err.msg);
	} else if (a->code != DP_E_INTERRUPTED) {
		move_study(d, s, DP_STUDY_FAILED, true, a->err.msg);
	}
}

static void ask_done(uv_work_t *w, int status)
{
	struct asker *a = w->data;
	struct dpd *d = a->d;
	struct dp_study_state *s = dp_state_by_id(&d->state, a->study);

	(void)status;
	a->busy = false;
	if (d->closed)
		return;
	if (a->question == FOR_A_TRIAL) {
		d->nasking--;
		for_trial(a, s);
	} else if (a->code != DP_OK) {
		client_error(d, a->client, &a->err);
	} else {
		client_ok(d, a->client,
			  a->question == TO_SHOW ? answer_json(s, a) : front_json(s, a));
	}
	/* models of thousands of results are large: kept only while they are needed */
	if (s->status != DP_STUDY_RUNNING)
		ask_forget(d, s->id);
	sched_kick(d);
	daemon_stop_check(d);
}

static int start(struct dpd *d, struct dp_study_state *s, enum question question,
		 uint64_t client, struct dp_err *err)
{
	struct asker *a = find_or_make(d, s);

	if (!a || !take_snapshot(a, s))
		return dp_fail(err, DP_E_NOMEM, "no memory to propose");
	if (question == DENOISED_FRONT) {
		free(a->front);
		free(a->values);
		a->front = calloc(a->nknown + 1, sizeof *a->front);
		a->values =
			calloc(a->nknown * s->spec->nobjectives + 1, sizeof *a->values);
		if (!a->front || !a->values)
			return dp_fail(err, DP_E_NOMEM, "no memory for the front");
	}
	atomic_store(&a->cancel, false);
	a->busy = true;
	a->question = question;
	a->client = client;
	a->work.data = a;
	d->nasking += question == FOR_A_TRIAL;
	uv_queue_work(&d->loop, &a->work, ask_work, ask_done);
	return DP_OK;
}

bool ask_possible(struct dpd *d, const struct dp_study_state *s)
{
	const struct dp_search *search = &s->spec->search;

	if (ask_busy(d, s->id) || !study_proposals(s))
		return false;
	/* a deterministic proposal waits for the last result that it depends on */
	return !search->deterministic || search->method != DP_METHOD_DPARETO ||
	       s->ntrials < search->initial || s->ntrials < s->parallel ||
	       s->first_live > s->ntrials - s->parallel;
}

bool ask_next(struct dpd *d, struct dp_study_state *s)
{
	struct dp_history none = { 0 };
	struct dp_proposal p;
	struct dp_err err;
	int code;

	if (s->spec->search.method == DP_METHOD_DPARETO)
		return start(d, s, FOR_A_TRIAL, 0, &err) == DP_OK;
	code = dp_propose(s->spec, &none, s->ntrials, NULL, &p, &err);
	if (code != DP_OK) {
		move_study(d, s, DP_STUDY_FAILED, true, err.msg);
		return false;
	}
	ask_record(d, s, p.x, p.source, s->seq);
	return true;
}

static int ask_for(struct dpd *d, struct dp_study_state *s, enum question question,
		   uint64_t client, struct dp_err *err)
{
	if (ask_busy(d, s->id)) {
		dp_fail(err, DP_E_BUSY, "study '%s' is choosing its next point just now",
			s->spec->name);
		return dp_hint(err, "try again in a moment");
	}
	return start(d, s, question, client, err);
}

int ask_show(struct dpd *d, struct dp_study_state *s, uint64_t client, struct dp_err *err)
{
	return ask_for(d, s, TO_SHOW, client, err);
}

int ask_front(struct dpd *d, struct dp_study_state *s, uint64_t client,
	      struct dp_err *err)
{
	return ask_for(d, s, DENOISED_FRONT, client, err);
}
