/* ask.c - the next point of a study.
 *
 * Every question goes to a worker thread, because even where a point is found at once
 * its privacy oracles may take their time. Methods whose points depend on no result are
 * asked ahead of time, so that a free place need not wait for them. */
#include "daemon/ask.h"

#include "base/json.h"
#include "daemon/executor.h"
#include "daemon/oracles.h"
#include "daemon/recommended.h"
#include "daemon/record.h"
#include "daemon/server.h"
#include "daemon/study.h"
#include "daemon/waiters.h"
#include "journal/view.h"
#include "propose/propose.h"
#include "recall/denoised.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum ask_question {
	ASK_TRIAL,    /* the next point, to be recorded */
	ASK_AHEAD,    /* points of a method that needs no results, before they are due */
	ASK_SHOW,     /* the next point, for a client */
	ASK_FIX,      /* the filter of search.budget, to be recorded */
	ASK_DENOISED, /* the front of the models' values, for clients and to be kept */
	ASK_SETTINGS, /* recommendations, for clients */
};

enum {
	AHEAD_MAX = 32
};

/* A point with its epsilons, not recorded yet. */
struct ask_point {
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	const char *source; /* static text */
	char refused[ASK_REFUSED_LEN];
	double cost, pending; /* of dp_proposal */
	double renyi;         /* K at the filter's order; NaN without search.budget */
};

/* Who wants to see the next point, and who a front. */
enum ask_wish {
	WISH_FRONT,
	WISH_POINT,
	WISHES /* beside these: recommendations, each of which is another one */
};

/* The front of the models' values. */
struct asked_front {
	uint32_t version; /* of the results */
	double hypervolume;
	bool modelled; /* false: too little was known, it is the observed one */
	json_t *rows;
};

/* A study's proposer, with the question under way. */
struct asker {
	struct study *home;
	struct dp_proposer *proposer; /* keeps models from one question to the next */
	struct ask_point *ahead;      /* (nahead) found ahead, by trial */
	unsigned nahead;
	unsigned batch; /* so many were asked for last */

	bool busy;         /* a worker thread has what follows */
	unsigned reserved; /* places that what is asked for will want */
	bool programs;     /* counted in d->asking_programs */
	uv_work_t work;
	atomic_bool cancel;
	enum ask_question question;
	uint32_t trial, basis;
	double spent; /* dp_study_cost_spent() */
	/* search.budget: the filter's order, 0 without one; what a training may take of
	 * it as far as the proposal may know, and as soon as nothing is pending */
	double order, left, left_at_last;
	int64_t stuck; /* no point fits before there is a record after this one; -1 */
	struct dp_accounting accounting; /* ASK_FIX */
	struct dp_known *known;
	size_t nknown;
	struct dp_proposal answer;
	struct ask_point *found; /* (nfound of room) */
	unsigned nfound, room;
	/* ASK_DENOISED, ASK_SETTINGS: */
	struct dp_results results;
	bool some; /* of more results that there are */
	struct recommended *recommend, *recommend_later; /* asked, and who came later */
	/* ASK_DENOISED: */
	struct asked_front front;
	json_t *shown; /* what clients get, as of the snapshot; the front comes last */
	struct waiter *asked;           /* who gets the answer */
	struct waiter *waiting[WISHES]; /* who came later */
	struct dp_err err;
	int code;
};

static void asker_free(struct asker *a)
{
	if (!a)
		return;
	dp_proposer_free(a->proposer);
	free(a->ahead);
	free(a->found);
	free(a->known);
	dp_results_free(&a->results);
	json_decref(a->front.rows);
	json_decref(a->shown);
	waiters_free(&a->asked);
	for (int wish = 0; wish < WISHES; wish++)
		waiters_free(&a->waiting[wish]);
	recommended_free(&a->recommend);
	recommended_free(&a->recommend_later);
	free(a);
}

static struct asker *asker_of(struct study *h)
{
	struct asker *a = h->asker;

	if (a)
		return a;
	a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	a->home = h;
	a->stuck = -1;
	h->asker = a;
	return a;
}

bool ask_busy(const struct study *h)
{
	return h->asker && h->asker->busy;
}

bool ask_stuck(const struct study *h)
{
	return h->asker && h->asker->stuck == h->state->seq;
}

bool ask_ready(const struct study *h)
{
	const struct asker *a = h->asker;

	if (ask_stuck(h))
		return false;
	if (a && a->nahead && a->ahead[a->nahead - 1].trial >= h->state->ntrials)
		return true;
	return !ask_busy(h) && (h->d->asking_programs < ORACLES_ASKED_MAX ||
				!oracles_has(h->state->spec));
}

void ask_cancel(struct study *h)
{
	if (h->asker)
		atomic_store(&h->asker->cancel, true);
}

void ask_cancel_point(struct study *h)
{
	if (ask_busy(h) &&
	    (h->asker->question == ASK_TRIAL || h->asker->question == ASK_AHEAD))
		ask_cancel(h);
}

void ask_forget(struct study *h)
{
	asker_free(h->asker);
	h->asker = NULL;
}

/* ---- on a worker thread ---- */

/* Programs are asked about the waypoints, too, before anything is trained: what they
 * refuse there is no result, but one that cannot answer is found out. Their answers are
 * kept. */
static int ask_waypoints(const struct dp_study *spec, const struct dp_oracle_asker *asker,
			 const double *x, struct dp_err *err)
{
	double waypoints[DP_WAYPOINTS_MAX];
	size_t n = asker ? dp_path_values(spec, x, waypoints) : 0;
	struct dp_epsilon e;

	for (size_t i = 0; i < n * spec->nobjectives; i++) {
		size_t objective = i % spec->nobjectives;
		const struct dp_oracle *o = spec->objectives[objective].privacy;
		int code = DP_OK;

		if (o && o->kind == DP_ORACLE_PROGRAM)
			code = dp_objective_privacy_at(spec, asker, objective, x,
						       waypoints[i / spec->nobjectives],
						       &e, err);
		if (code != DP_OK && code != DP_E_INVALID)
			return code;
	}
	return DP_OK;
}

int ask_oracles(const struct study *h, const atomic_bool *cancel, double *x,
		double *privacy, char refused[ASK_REFUSED_LEN], struct dp_err *err)
{
	const struct dp_study *spec = h->state->spec;
	struct oracles_turn turn;
	const struct dp_oracle_asker *asker = oracles_asker(h, cancel, &turn);
	int code = dp_space_derive(spec, x, err);

	if (code == DP_OK)
		code = dp_objectives_privacy_at(spec, asker, x, NAN, privacy, err);
	refused[0] = '\0';
	if (code == DP_OK)
		return ask_waypoints(spec, asker, x, err);
	if (asker && code != DP_E_INVALID)
		return code;
	snprintf(refused, ASK_REFUSED_LEN, "%.299s", err->msg);
	return DP_OK;
}

int ask_renyi(const struct dp_study *spec, double order, const double *x, double at,
	      double *k, struct dp_err *err)
{
	struct dp_renyi_memory *m;
	int code;

	*k = NAN;
	if (order == 0)
		return DP_OK;
	m = dp_renyi_memory_new();
	if (!m)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	code = dp_study_renyi(spec, m, dp_budget_objective(spec), x, at, &order, 1, k,
			      err);
	dp_renyi_memory_free(m);
	return code == DP_E_INVALID ? DP_OK : code; /* +inf: it cannot be trained */
}

/* The next point. What no result may be known of yet leaves less of search.budget than
 * there is at the end. */
static int ask_proposer(struct asker *a, uint32_t trial)
{
	struct oracles_turn turn;
	struct dp_history h = { .known = a->known,
				.n = a->nknown,
				.programs = oracles_asker(a->home, &a->cancel, &turn),
				.budget_order = a->order,
				.budget_left = a->left };
	int code =
		dp_proposer_ask(a->proposer, &h, trial, &a->cancel, &a->answer, &a->err);

	if (code != DP_E_LIMIT || !(a->left_at_last > a->left))
		return code;
	h.budget_left = a->left_at_last;
	return dp_proposer_ask(a->proposer, &h, trial, &a->cancel, &a->answer, &a->err);
}

/* The point of one trial, and its epsilons. */
static int ask_point(struct asker *a, uint32_t trial)
{
	const struct dp_study *spec = a->home->state->spec;
	struct ask_point *p = &a->found[a->nfound];
	int code = ask_proposer(a, trial);

	if (code != DP_OK)
		return code;
	*p = (struct ask_point){ .trial = trial,
				 .source = a->answer.source,
				 .cost = a->answer.cost,
				 .pending = a->answer.pending_cost };
	memcpy(p->x, a->answer.x, spec->nparams * sizeof p->x[0]);
	code = ask_oracles(a->home, &a->cancel, p->x, p->privacy, p->refused, &a->err);
	if (code == DP_OK)
		code = ask_renyi(spec, a->order, p->x, NAN, &p->renyi, &a->err);
	a->nfound += code == DP_OK;
	return code;
}

static int ask_denoised(struct asker *a, struct dp_proposer *p)
{
	const struct dp_study *spec = a->home->state->spec;
	struct dp_denoised found;
	int code = dp_denoised_find(p, spec, &a->results, &a->cancel, &found, &a->err);

	if (code != DP_OK)
		return code;
	a->front.hypervolume = found.hypervolume;
	a->front.modelled = found.modelled;
	a->front.rows = dp_denoised_json(spec, &a->results, &found);
	dp_denoised_free(&found);
	return a->front.rows ? DP_OK
			     : dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
}

static int ask_settings(struct asker *a, struct dp_proposer *p)
{
	struct oracles_turn turn;

	recommended_find(a->recommend, p, a->home->state->spec, &a->results,
			 oracles_asker(a->home, &a->cancel, &turn), &a->cancel);
	return DP_OK; /* what went wrong is each one's own */
}

/* Is it about what models make of the results, for people? */
static bool asks_models(const struct asker *a)
{
	return a->question == ASK_DENOISED || a->question == ASK_SETTINGS;
}

static int ask_models(struct asker *a, struct dp_proposer *p)
{
	return a->question == ASK_DENOISED ? ask_denoised(a, p) : ask_settings(a, p);
}

/* Models of some of the results only are of no use to proposals: they are fitted beside
 * those that are kept. */
static int ask_models_of_some(struct asker *a)
{
	struct dp_proposer *p = dp_proposer_new(a->home->state->spec);
	int code = p ? ask_models(a, p)
		     : dp_fail(&a->err, DP_E_NOMEM, "no memory for the models");

	dp_proposer_free(p);
	return code;
}

static int ask_answer_to(struct asker *a)
{
	int code = DP_OK;

	if (a->question == ASK_FIX) {
		dp_odometer_standard(&a->accounting.odometer);
		return dp_budget_filter(a->home->state->spec, &a->accounting.odometer,
					&a->accounting.filter, &a->err);
	}
	if (asks_models(a) && a->some)
		return ask_models_of_some(a);
	if (!a->proposer)
		a->proposer = dp_proposer_new(a->home->state->spec);
	if (!a->proposer)
		return dp_fail(&a->err, DP_E_NOMEM, "no memory to propose");
	if (asks_models(a))
		return ask_models(a, a->proposer);
	for (unsigned i = 0; i < a->room && code == DP_OK; i++)
		code = ask_point(a, a->trial + i);
	return code;
}

static void ask_work(uv_work_t *w)
{
	struct asker *a = w->data;

	a->nfound = 0;
	a->code = ask_answer_to(a);
	if (a->question != ASK_AHEAD)
		return;
	/* nothing to keep: a thousand studies that wait would each have one */
	dp_proposer_free(a->proposer);
	a->proposer = NULL;
}

/* ---- answers for people ---- */

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

static json_t *ask_shown_json(const struct dp_study_state *s, const struct asker *a)
{
	const struct dp_proposal *p = &a->answer;

	return json_pack(
		"{s:s, s:I, s:n, s:s, s:s?, s:o, s:o, s:o, s:o, s:o}", "study",
		s->spec->name, "trial", (json_int_t)a->trial, "at", "source", p->source,
		"note", p->note[0] ? p->note : NULL, "parameters",
		dp_space_json(s->spec, p->x), "predicted",
		p->modelled ? predicted_json(s->spec, p) : json_null(), "feasible",
		p->modelled ? dp_json_real(p->feasible) : json_null(), "acquisition",
		p->modelled ? dp_json_real(p->acquisition) : json_null(), "cost",
		isnan(p->cost) ? json_null() : dp_json_real(p->cost));
}

/* Tells them what was found, whose reference is taken, or why nothing was. */
static void ask_tell(struct asker *a, struct waiter **list, json_t *ok)
{
	if (a->code != DP_OK) {
		json_decref(ok);
		ok = NULL;
	}
	waiters_answer(list, a->home, ok, &a->err);
}

static void ask_point_shown(struct asker *a)
{
	json_t *ok = a->code == DP_OK ? ask_shown_json(a->home->state, a) : NULL;

	if (a->code == DP_OK && !ok)
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the answer");
	ask_tell(a, &a->asked, ok);
}

/* ---- the front of the models' values ---- */

static void front_forget(struct asked_front *f)
{
	json_decref(f->rows);
	*f = (struct asked_front){ 0 };
}

/* Is the front that is kept the one of all that is known? */
static bool front_is_kept(const struct study *h)
{
	return h->front && h->front->version == h->state->results_version;
}

void ask_front_free(struct asked_front *f)
{
	if (f)
		front_forget(f);
	free(f);
}

/* Keeps what was found; without memory it is found again. */
static void front_keep(struct asker *a)
{
	struct study *h = a->home;

	if (!h->front)
		h->front = calloc(1, sizeof *h->front);
	if (!h->front)
		return;
	front_forget(h->front);
	*h->front = a->front;
	json_incref(a->front.rows);
}

/* Keeps the front, and tells those who asked before the snapshot. */
static void ask_front_found(struct asker *a)
{
	if (a->code == DP_OK)
		front_keep(a);
	if (a->code == DP_OK &&
	    (json_object_set_new(a->shown, "hypervolume_denoised",
				 dp_json_real(a->front.hypervolume)) != 0 ||
	     json_object_set(a->shown, "front", a->front.rows) != 0))
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
	if (a->code == DP_OK && !dp_view_add_remeasured(a->home->state, a->shown))
		a->code = dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
	ask_tell(a, &a->asked, a->shown);
	a->shown = NULL;
	front_forget(&a->front);
	dp_results_free(&a->results);
}

static void ask_settings_found(struct asker *a)
{
	recommended_tell(&a->recommend, a->home, a->code == DP_OK ? NULL : &a->err);
	dp_results_free(&a->results);
}

/* ---- recording ---- */

void ask_record(struct study *h, const double *x, const char *source, uint32_t basis,
		const double *privacy, const char *refused, double renyi)
{
	const struct dp_study *spec = h->state->spec;
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial = h->state->ntrials,
			      .source = source,
			      .basis = basis,
			      .params = x,
			      .nparams = (uint32_t)spec->nparams,
			      .renyi = &renyi,
			      .nrenyi = isnan(renyi) ? 0 : 1 };

	if (refused[0]) {
		e.reason = refused;
	} else if (dp_study_accounts(spec)) {
		e.objectives = privacy;
		e.nobjectives = (uint32_t)spec->nobjectives;
	}
	record(h, &e);
}

void ask_no_point(struct study *h, const struct dp_err *why)
{
	struct dp_orders orders;

	if (dp_course_waits(h->state, why))
		h->asker->stuck = h->state->seq;
	dp_course_no_point(h->state, why, &orders);
	study_order(h, &orders);
}

/* Records the point, or that search.max_cost or search.budget leaves no room for it. One
 * that is refused will not be trained. */
static void ask_record_point(struct study *h, const struct ask_point *p, double spent,
			     uint32_t basis)
{
	struct dp_expected expected = { spent, p->pending, p->cost };
	struct dp_err why;

	if (!p->refused[0] && (dp_course_affords(h->state, &expected, &why) != DP_OK ||
			       dp_course_budget(h->state, p->renyi, &why) != DP_OK))
		ask_no_point(h, &why);
	else
		ask_record(h, p->x, p->source, basis, p->privacy, p->refused, p->renyi);
}

static void ask_failed(struct asker *a)
{
	a->err.code = a->code; /* one that was interrupted has no words */
	ask_no_point(a->home, &a->err);
}

/* What is fixed before the first training is known, or that the budget pays for none. */
static void ask_fixed(struct asker *a)
{
	struct study *h = a->home;
	struct dp_event e;

	if (h->state->accounting || h->state->ntrials)
		return;
	if (a->code != DP_OK) {
		ask_failed(a);
		return;
	}
	e = dp_course_fixed(&a->accounting.odometer, &a->accounting.filter);
	record(h, &e);
}

static void ask_for_trial(struct asker *a)
{
	struct study *h = a->home;

	if (h->state->ntrials != a->trial ||
	    !dp_course_proposals(h->state, clock_now(h->d)))
		return; /* things changed meanwhile; it is asked again when it fits */
	if (a->code != DP_OK) {
		ask_failed(a);
		return;
	}
	if (a->answer.note[0])
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "proposal %u: %s",
			 a->trial, a->answer.note);
	ask_record_point(h, &a->found[0], a->spent, a->basis);
}

/* ---- ahead of time ---- */

/* Drops points whose number was given to another, and moves the rest up. */
static void ahead_drop(struct asker *a, uint32_t before)
{
	unsigned n = 0;

	while (n < a->nahead && a->ahead[n].trial < before)
		n++;
	a->nahead -= n;
	if (n)
		memmove(a->ahead, a->ahead + n, a->nahead * sizeof *a->ahead);
}

/* Adds what was found to what is there; what does not join on is asked again. */
static void ahead_add(struct asker *a)
{
	uint32_t next =
		a->nahead ? a->ahead[a->nahead - 1].trial + 1 : a->home->state->ntrials;
	struct ask_point *grown;

	if (a->nfound == 0 || a->found[0].trial != next)
		return;
	grown = realloc(a->ahead, (a->nahead + a->nfound) * sizeof *grown);
	if (!grown)
		return;
	memcpy(grown + a->nahead, a->found, a->nfound * sizeof *grown);
	a->ahead = grown;
	a->nahead += a->nfound;
}

static void ask_ahead_done(struct asker *a)
{
	ahead_drop(a, a->home->state->ntrials);
	ahead_add(a);
	/* what was found before the failure is used first */
	if (a->code != DP_OK && a->nahead == 0 && a->nfound == 0 &&
	    a->trial == a->home->state->ntrials)
		ask_failed(a);
}

/* ---- asking ---- */

static int ask_start(struct study *h, enum ask_question question, uint32_t trial,
		     unsigned points, struct dp_err *err);

/* Has a worker thread look for what clients want; false: it cannot, and a->err says why.
 */
static bool ask_begin(struct asker *a, enum ask_question question)
{
	struct study *h = a->home;

	if (h->d->stopping || h->deleters)
		a->code = dp_fail(
			&a->err, DP_E_BUSY, "study '%s' is %s", h->state->spec->name,
			h->deleters ? "being deleted" : "stopping with its daemon");
	else
		a->code = ask_start(h, question, h->state->ntrials, 1, &a->err);
	return a->code == DP_OK;
}

/* Clients that came while something else was looked for. */
static void ask_go_on(struct asker *a)
{
	static const enum ask_question question[] = {
		[WISH_FRONT] = ASK_DENOISED, [WISH_POINT] = ASK_SHOW
	};

	for (int wish = 0; wish < WISHES; wish++)
		if (a->waiting[wish] && !a->busy && !ask_begin(a, question[wish]))
			ask_tell(a, &a->waiting[wish], NULL);
	if (a->recommend_later && !a->busy && !ask_begin(a, ASK_SETTINGS))
		recommended_tell(&a->recommend_later, a->home, &a->err);
}

static void ask_done(uv_work_t *w, int status)
{
	struct asker *a = w->data;
	struct study *h = a->home;

	(void)status; /* work is never cancelled */
	a->busy = false;
	h->backend->asking -= a->reserved;
	a->reserved = 0;
	h->d->asking_programs -= a->programs;
	a->programs = false;
	oracles_asked(h);
	if (h->d->closed)
		return;
	switch (a->question) {
	case ASK_TRIAL:
		ask_for_trial(a);
		break;
	case ASK_AHEAD:
		ask_ahead_done(a);
		break;
	case ASK_SHOW:
		ask_point_shown(a);
		break;
	case ASK_FIX:
		ask_fixed(a);
		break;
	case ASK_DENOISED:
		ask_front_found(a);
		break;
	case ASK_SETTINGS:
		ask_settings_found(a);
		break;
	}
	/* it is the clients' turn after a point of the study, and the study's after
	 * something for clients, so that nobody keeps the other waiting: ask_serve() */
	if (a->question == ASK_TRIAL || a->question == ASK_AHEAD)
		ask_go_on(a);
	study_changed(h);
}

static bool ask_room(struct asker *a, unsigned points)
{
	if (points > a->room) {
		free(a->found);
		a->found = calloc(points, sizeof *a->found);
	}
	a->room = a->found ? points : 0;
	return a->found != NULL;
}

/* Counted where it matters only: it is a sum over all trials. */
static double ask_spent(const struct study *h)
{
	return h->state->spec->search.max_cost > 0 ? dp_study_cost_spent(h->state) : 0;
}

/* Known results, copied; none for a method that does not look at them. */
static bool ask_snapshot(struct asker *a, bool results)
{
	const struct dp_study_state *s = a->home->state;
	struct dp_known *known = NULL;
	size_t n = 0;

	if (results) {
		known = dp_recall(s, true, &n);
		if (!known)
			return false;
	}
	free(a->known);
	a->known = known;
	a->nknown = n;
	a->basis = s->seq;
	a->spent = ask_spent(a->home);
	a->order = s->accounting ? s->accounting->filter.order : 0;
	a->left = dp_course_left(s, dp_course_window(s));
	a->left_at_last = s->open || s->waiting || dp_study_measures(s)
				  ? a->left
				  : dp_course_left(s, s->ntrials);
	return true;
}

/* The same for models that are for people. */
static bool ask_snapshot_results(struct asker *a)
{
	struct dp_study_state *s = a->home->state;
	struct dp_err err;

	dp_results_free(&a->results); /* of a question that could not be asked */
	if (dp_results_recall(s, &a->results, &err) != DP_OK)
		return false;
	a->some = dp_results_count(s) > a->results.n;
	return true;
}

/* And for a front: what else is shown at this moment. */
static bool ask_snapshot_front(struct asker *a)
{
	struct dp_study_state *s = a->home->state;

	if (!ask_snapshot_results(a))
		return false;
	json_decref(a->shown); /* likewise */
	a->front = (struct asked_front){ .version = s->results_version };
	a->shown = dp_view_result_denoised(s, 0, json_array());
	if (!a->shown) {
		dp_results_free(&a->results);
		return false;
	}
	return true;
}

static bool ask_snapshot_settings(struct asker *a)
{
	struct dp_err err;

	if (!ask_snapshot_results(a))
		return false;
	if (recommended_look(a->recommend_later, a->home->state, &err) == DP_OK)
		return true;
	dp_results_free(&a->results);
	return false;
}

/* All that the question is about, copied. */
static bool ask_snapshot_for(struct asker *a, enum ask_question question, unsigned points)
{
	if (question == ASK_DENOISED)
		return ask_snapshot_front(a);
	if (question == ASK_SETTINGS)
		return ask_snapshot_settings(a);
	return ask_snapshot(a, question != ASK_AHEAD && question != ASK_FIX) &&
	       ask_room(a, points);
}

/* Those who wait for this question wait for this answer. */
static void ask_take_waiters(struct asker *a, enum ask_question question)
{
	enum ask_wish wish = question == ASK_SHOW ? WISH_POINT : WISH_FRONT;

	if (question == ASK_SETTINGS) {
		a->recommend = a->recommend_later;
		a->recommend_later = NULL;
	}
	if (question != ASK_SHOW && question != ASK_DENOISED)
		return;
	a->asked = a->waiting[wish];
	a->waiting[wish] = NULL;
}

static int ask_start(struct study *h, enum ask_question question, uint32_t trial,
		     unsigned points, struct dp_err *err)
{
	struct asker *a = asker_of(h);

	if (!a || !ask_snapshot_for(a, question, points) ||
	    oracles_prepare(h, err) != DP_OK)
		return dp_fail(err, DP_E_NOMEM, "no memory to propose");
	ask_take_waiters(a, question);
	atomic_store(&a->cancel, false);
	a->busy = true;
	a->programs = h->oracles && question != ASK_DENOISED;
	h->d->asking_programs += a->programs;
	a->question = question;
	a->trial = trial;
	a->work.data = a;
	uv_queue_work(&h->d->loop, &a->work, ask_work, ask_done);
	return DP_OK;
}

/* Nobody else gets these places while the points for them are looked for. */
static void ask_reserve(struct study *h, unsigned places)
{
	h->asker->reserved = places;
	h->backend->asking += places;
}

/* Places that the study could fill now. */
static unsigned ask_places(const struct study *h)
{
	unsigned room = executor_room(h->backend);
	unsigned own = h->state->parallel - dp_study_open(h->state);

	return own < room ? own : room;
}

/* Asks for at least so many points more, and for twice as many as last time, so that a
 * long study asks rarely. */
static bool ask_more_ahead(struct study *h, unsigned least)
{
	struct asker *a = h->asker;
	uint32_t left = dp_course_proposals(h->state, clock_now(h->d));
	unsigned there = a ? a->nahead : 0, batch = a ? 2 * a->batch : 0;
	struct dp_err err;

	batch = batch < least ? least : batch;
	batch = batch > AHEAD_MAX ? AHEAD_MAX : batch;
	if (left <= there)
		return true;
	if (batch > left - there)
		batch = left - there;
	if (ask_start(h, ASK_AHEAD, h->state->ntrials + there, batch, &err) != DP_OK)
		return false;
	h->asker->batch = batch;
	return true;
}

/* A point that is there already, or the order to find some. */
static bool ask_next_ahead(struct study *h)
{
	struct asker *a = h->asker;
	unsigned places = ask_places(h);
	uint32_t left = dp_course_proposals(h->state, clock_now(h->d));

	if (a)
		ahead_drop(a, h->state->ntrials);
	if (!a || a->nahead == 0) {
		/* few at first, so that the first trial starts at once, but places for
		 * all that could start */
		if (!ask_more_ahead(h, 1))
			return false;
		if (ask_busy(h))
			ask_reserve(h, places < left ? places : left);
		else
			study_changed(h); /* its time was over just now */
		return true;
	}
	ask_record_point(h, &a->ahead[0], ask_spent(h), h->state->seq);
	ahead_drop(a, h->state->ntrials);
	if (a->nahead <= a->batch / 2 && !a->busy)
		ask_more_ahead(h, 1); /* without memory: when they are due */
	return true;
}

void ask_prepare(struct study *h)
{
	/* not of an oracle program: a thousand studies that wait would each start one */
	if (h->next.kind == DP_STEP_PROPOSE && !ask_busy(h) &&
	    (!h->asker || h->asker->nahead == 0) &&
	    h->state->spec->search.method != DP_METHOD_DPARETO &&
	    !oracles_has(h->state->spec))
		/* without memory: when they are due */
		ask_more_ahead(h, h->state->parallel - dp_study_open(h->state));
}

bool ask_next(struct study *h)
{
	struct dp_err err;

	if (h->state->spec->search.method != DP_METHOD_DPARETO)
		return ask_next_ahead(h);
	if (ask_start(h, ASK_TRIAL, h->state->ntrials, 1, &err) != DP_OK)
		return false;
	ask_reserve(h, 1);
	return true;
}

void ask_fix(struct study *h)
{
	struct dp_err err;

	if (ask_busy(h))
		return; /* it is asked again after that */
	if (ask_start(h, ASK_FIX, 0, 1, &err) != DP_OK)
		h->next.until = clock_now(h->d); /* the next tick tries again */
}

void ask_serve(struct study *h)
{
	if (h->asker && !h->asker->busy)
		ask_go_on(h->asker);
}

static int ask_for_client(struct study *h, enum ask_wish wish, uint64_t client,
			  struct dp_err *err)
{
	struct asker *a = asker_of(h);

	if (!a || !waiters_add(&a->waiting[wish], client, NULL))
		return dp_fail(err, DP_E_NOMEM, "no memory for the question");
	ask_serve(h);
	return DP_OK;
}

int ask_show(struct study *h, uint64_t client, struct dp_err *err)
{
	return ask_for_client(h, WISH_POINT, client, err);
}

json_t *ask_front_kept(struct study *h)
{
	json_t *o;

	if (!front_is_kept(h))
		return NULL;
	o = dp_view_result_denoised(h->state, h->front->hypervolume,
				    json_incref(h->front->rows));
	if (o && !dp_view_add_remeasured(h->state, o)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

const json_t *ask_front_rows(const struct study *h)
{
	return front_is_kept(h) ? h->front->rows : NULL;
}

bool ask_front_volume(const struct study *h, double *volume)
{
	if (!front_is_kept(h))
		return false;
	*volume = h->front->modelled ? h->front->hypervolume : NAN;
	return true;
}

int ask_front(struct study *h, uint64_t client, struct dp_err *err)
{
	return ask_for_client(h, WISH_FRONT, client, err);
}

int ask_recommend(struct study *h, uint64_t client, const json_t *levels,
		  struct dp_err *err)
{
	struct asker *a = asker_of(h);
	int code = a ? recommended_add(&a->recommend_later, h, client, levels, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory for the question");

	if (code == DP_OK)
		ask_serve(h);
	return code;
}

bool ask_last_front(struct study *h)
{
	struct asker *a = h->asker;
	struct dp_err err;

	if (!a || !a->proposer || a->question == ASK_DENOISED /* that was it */ ||
	    h->state->status != DP_STUDY_FINISHED || !dp_study_denoises(h->state->spec) ||
	    front_is_kept(h) || h->d->stopping || h->d->closed)
		return false;
	return ask_start(h, ASK_DENOISED, 0, 0, &err) == DP_OK;
}
