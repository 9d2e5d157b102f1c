/* ask.c - the next point of a study.
 *
 * Every question goes to a worker thread, because even where a point is found at once
 * its privacy oracles may take their time. Methods whose points depend on no result are
 * asked ahead of time, so that a free place need not wait for them. */
#include "daemon/ask_internal.h"

#include "daemon/executor.h"
#include "daemon/oracles.h"
#include "daemon/record.h"
#include "daemon/study.h"

#include <math.h>
#include <stdlib.h>

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
	return !ask_busy(h) &&
	       (h->d->asking_programs < ORACLES_ASKED_MAX || !oracles_has(h->state->spec));
}

void ask_cancel(struct study *h)
{
	if (h->asker)
		atomic_store(&h->asker->cancel, true);
}

void ask_cancel_point(struct study *h)
{
	if (ask_busy(h) && (h->asker->question == ASK_TRIAL || h->asker->question == ASK_AHEAD))
		ask_cancel(h);
}

void ask_forget(struct study *h)
{
	asker_free(h->asker);
	h->asker = NULL;
}

/* ---- recording ---- */

void ask_record(struct study *h, const double *x, const struct ask_how *how, const double *privacy,
		const char *refused, double renyi)
{
	const struct dp_study *spec = h->state->spec;
	struct dp_event e = { .type = DP_EV_TRIAL_PROPOSED,
			      .trial = h->state->ntrials,
			      .source = how->source,
			      .basis = how->basis,
			      .sought = how->sought,
			      .by = how->by,
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
	study_order(h, &orders, NULL);
}

void ask_record_point(struct study *h, const struct ask_point *p, double spent, uint32_t basis)
{
	struct dp_expected expected = { spent, p->pending, p->cost };
	struct ask_how how = { .source = p->source, .basis = basis, .sought = p->sought };
	struct dp_err why;

	if (!p->refused[0] && (dp_course_affords(h->state, &expected, &why) != DP_OK ||
			       dp_course_budget(h->state, p->renyi, &why) != DP_OK))
		ask_no_point(h, &why);
	else
		ask_record(h, p->x, &how, p->privacy, p->refused, p->renyi);
}

void ask_failed(struct asker *a)
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

	if (h->state->ntrials != a->trial || !dp_course_proposals(h->state, clock_now(h->d)))
		return; /* things changed meanwhile; it is asked again when it fits */
	if (a->code != DP_OK) {
		ask_failed(a);
		return;
	}
	if (a->answer.note[0])
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "proposal %u: %s", a->trial,
			 a->answer.note);
	ask_record_point(h, &a->found[0], a->spent, a->basis);
}

/* ---- asking ---- */

/* Has a worker thread look for what clients want; false: it cannot, and a->err says why.
 */
static bool ask_begin(struct asker *a, enum ask_question question)
{
	struct study *h = a->home;

	if (h->d->stopping || h->deleters)
		a->code = dp_fail(&a->err, DP_E_BUSY, "study '%s' is %s", h->state->spec->name,
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

double ask_spent(const struct study *h)
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

/* All that the question is about, copied. */
static bool ask_snapshot_for(struct asker *a, enum ask_question question, unsigned points)
{
	if (question == ASK_DENOISED)
		return ask_snapshot_front(a);
	if (question == ASK_SETTINGS)
		return ask_snapshot_settings(a);
	return ask_snapshot(a, question != ASK_AHEAD && question != ASK_FIX) && ask_room(a, points);
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

int ask_start(struct study *h, enum ask_question question, uint32_t trial, unsigned points,
	      struct dp_err *err)
{
	struct asker *a = asker_of(h);

	if (!a || !ask_snapshot_for(a, question, points) || oracles_prepare(h, err) != DP_OK)
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

void ask_reserve(struct study *h, unsigned places)
{
	h->asker->reserved = places;
	h->backend->asking += places;
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

static int ask_for_client(struct study *h, enum ask_wish wish, uint64_t client, struct dp_err *err)
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

int ask_front(struct study *h, uint64_t client, struct dp_err *err)
{
	return ask_for_client(h, WISH_FRONT, client, err);
}

int ask_recommend(struct study *h, uint64_t client, const json_t *levels, struct dp_err *err)
{
	struct asker *a = asker_of(h);
	int code = a ? recommended_add(&a->recommend_later, h, client, levels, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory for the question");

	if (code == DP_OK)
		ask_serve(h);
	return code;
}
