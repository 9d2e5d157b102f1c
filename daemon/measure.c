/* measure.c - finds what is to be measured again, and journals it.
 *
 * The front may be one of models, epsilon that of a program, and what a training takes of
 * search.budget has to be reckoned: all of that is a worker's. Whatever happened to the
 * study meanwhile, what is recorded then is what still may be. */
#include "daemon/measure.h"

#include "base/json.h"
#include "daemon/account.h"
#include "daemon/ask.h"
#include "daemon/oracles.h"
#include "daemon/record.h"
#include "daemon/requests.h"
#include "daemon/server.h"
#include "recall/denoised.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRIALS_MAX = 100000 /* that one request can ask for */
};

/* One point, with all that its record has. */
struct measure_point {
	double of, of_at; /* as in the record */
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	double renyi; /* K at the filter's order; NaN without search.budget */
};

struct measuring {
	uv_work_t work;
	struct study *home;
	uint64_t client;  /* who asked; 0: search.remeasure */
	char by[WHO_LEN]; /* the same for people */
	const char *why;  /* static text */
	uint32_t runs;
	double order; /* of search.budget's filter; 0: there is none */
	struct measure_point *points;
	size_t n;
	bool given;                /* points[0] is somebody's: its epsilon is asked for */
	bool denoises;             /* the points are those of the models' front, */
	struct dp_results results; /* of these results */
	char refused[ASK_REFUSED_LEN];
	struct dp_err wrong; /* with what was given; its code is DP_OK: nothing */
	struct dp_err err;
	int code;
};

static void measuring_free(struct measuring *m)
{
	dp_results_free(&m->results);
	free(m->points);
	free(m);
}

static bool measuring_room(struct measuring *m, size_t n)
{
	free(m->points);
	m->points = calloc(n + 1, sizeof *m->points);
	m->n = m->points ? n : 0;
	return m->points != NULL;
}

/* ---- on a worker thread ---- */

/* The front of the models, fitted for this alone: the study's own may be in use. */
static int measuring_front(struct measuring *m)
{
	const struct dp_study *spec = m->home->state->spec;
	struct dp_proposer *p = dp_proposer_new(spec);
	struct dp_denoised found;
	int code = p ? dp_denoised_find(p, spec, &m->results, &m->home->measure_cancel, &found,
					&m->err)
		     : dp_fail(&m->err, DP_E_NOMEM, "no memory for the models");

	dp_proposer_free(p);
	if (code != DP_OK)
		return code;
	if (!measuring_room(m, found.n))
		code = dp_fail(&m->err, DP_E_NOMEM, "no memory for the front");
	for (size_t i = 0; i < m->n; i++) {
		const struct dp_known *k = &m->results.known[found.index[i]];

		m->points[i].of = k->trial;
		m->points[i].of_at = k->at > 0 ? k->at : NAN;
		memcpy(m->points[i].x, k->x, spec->nparams * sizeof *k->x);
	}
	dp_denoised_free(&found);
	return code;
}

static void measuring_work(uv_work_t *w)
{
	struct measuring *m = w->data;

	if (m->given) {
		struct measure_point *given = &m->points[0];

		account_derive(m->home->state->spec, given->x, &m->wrong);
		m->code = ask_oracles(m->home, NULL, given->x, given->privacy, m->refused, &m->err);
	} else if (m->denoises) {
		m->code = measuring_front(m);
	}
	for (size_t i = 0; i < m->n && m->code == DP_OK; i++)
		m->code = ask_renyi(m->home->state->spec, m->order, m->points[i].x,
				    m->points[i].of_at, &m->points[i].renyi, &m->err);
}

/* ---- recording ---- */

/* Of a result: its settings and epsilons as the study has them now. False: it is none
 * any more. */
static bool measure_take(const struct dp_study_state *s, struct measure_point *p)
{
	struct dp_point of;

	if (!dp_study_point(s, (uint32_t)p->of, p->of_at, &of))
		return false;
	memcpy(p->x, s->trials[of.trial]->x, s->spec->nparams * sizeof *p->x);
	for (size_t k = 0; k < s->spec->nobjectives; k++)
		p->privacy[k] =
			s->spec->objectives[k].privacy ? dp_point_objectives(s, of)[k] : NAN;
	return true;
}

static void measure_record(struct measuring *m, const struct measure_point *p)
{
	struct study *h = m->home;
	const struct dp_study *spec = h->state->spec;
	struct dp_event e = { .type = DP_EV_MEASURE_ASKED,
			      .trial = dp_study_next_measuring(h->state),
			      .source = m->why,
			      .of = p->of,
			      .of_at = p->of_at,
			      .asked = m->runs,
			      .by = m->client ? m->by : NULL,
			      .params = p->x,
			      .nparams = (uint32_t)spec->nparams,
			      .renyi = &p->renyi,
			      .nrenyi = isnan(p->renyi) ? 0 : 1 };

	if (dp_study_accounts(spec)) {
		e.objectives = p->privacy;
		e.nobjectives = (uint32_t)spec->nobjectives;
	}
	record(h, &e);
}

/* Both NaN, or the same. */
static bool measure_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* The measurement of the same point with as many runs for the same reason, of which
 * something is left to do in a study that does it, or with `any` also one that is over;
 * its position, or the number of all. */
static uint32_t measure_find(const struct measuring *m, const struct measure_point *p, bool any)
{
	const struct dp_study_state *s = m->home->state;
	bool goes_on =
		s->measured.rests || s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED;
	uint32_t i;

	for (i = 0; i < s->measured.n; i++) {
		const struct dp_measure *one = &s->measured.list[i];
		const char *reason;

		if (strcmp(one->why, m->why) == 0 && one->runs == m->runs &&
		    measure_same(one->of, p->of) && measure_same(one->of_at, p->of_at) &&
		    memcmp(s->measured.trials[one->first]->x, p->x,
			   s->spec->nparams * sizeof *p->x) == 0 &&
		    (any || (goes_on && dp_measure_status(s, one, &reason) < DP_TRIAL_OK)))
			break;
	}
	return i;
}

/* ---- somebody asked ---- */

/* Each trial takes some memory until the study is deleted: not more than people mean. */
static int measuring_limit(const struct measuring *m, struct dp_err *err)
{
	uint32_t runs = (uint32_t)m->home->state->spec->trainer.runs;
	uint64_t trials = (uint64_t)m->n * ((m->runs + runs - 1) / runs);

	if (trials <= TRIALS_MAX)
		return DP_OK;
	return dp_fail(err, DP_E_LIMIT,
		       "%zu points with %u runs each are more than can be asked for at "
		       "once: %d trials of trainer.runs",
		       m->n, m->runs, TRIALS_MAX);
}

/* May it still be asked for, and is there room for what is new of it? */
static int measuring_may(struct measuring *m, struct dp_orders *orders, struct dp_err *err)
{
	const struct dp_study_state *s = m->home->state;
	struct dp_asked asked = { .ask = DP_ASK_MEASURE };
	double k = 0;

	if (m->wrong.code != DP_OK) {
		*err = m->wrong;
		return err->code;
	}
	if (m->refused[0])
		return dp_fail(err, DP_E_INVALID, "%s", m->refused);
	if (request_may_ask(m->home, &asked, orders, err) != DP_OK)
		return err->code;
	if (m->n == 0) {
		dp_fail(err, DP_E_INVALID, "study '%s' has no results yet", s->spec->name);
		return dp_hint(err, "'dparetoctl status %s' shows how far it is", s->spec->name);
	}
	if (measuring_limit(m, err) != DP_OK)
		return err->code;
	for (size_t i = 0; i < m->n; i++) {
		struct measure_point *p = &m->points[i];

		if (!m->given && !measure_take(s, p))
			return dp_fail(err, DP_E_BUSY,
				       "trial %.0f is being tried again: it is no result "
				       "until it has ended",
				       p->of);
		if (measure_find(m, p, false) == s->measured.n)
			k = dp_renyi_add(k, isnan(p->renyi) ? 0 : p->renyi);
	}
	return k > 0 ? dp_course_measure_fits(s, k, m->runs, err) : DP_OK;
}

static void measuring_answer(struct measuring *m)
{
	struct study *h = m->home;
	json_t *numbers = json_array();
	struct dp_orders orders;
	json_int_t new = 0;
	struct dp_err err;

	if (measuring_may(m, &orders, &err) != DP_OK) {
		json_decref(numbers);
		client_error(h->d, m->client, &err);
		return;
	}
	for (size_t i = 0; i < m->n; i++) {
		uint32_t at = measure_find(m, &m->points[i], false);

		if (at == h->state->measured.n) {
			measure_record(m, &m->points[i]);
			new ++;
		}
		json_array_append_new(numbers, json_integer(at));
	}
	if (new)
		study_order(h, &orders, m->by);
	study_settle(h);
	client_ok(h->d, m->client,
		  json_pack("{s:o, s:I, s:o}", "measurements", numbers, "new", new, "study",
			    request_summary_json(h)));
}

/* ---- the end of the search ---- */

/* All that is not asked for yet, as far as search.budget has room; then the note that
 * this was all. A daemon that died before it asks again, and finds what it had asked for.
 */
static void measuring_ended(struct measuring *m)
{
	struct study *h = m->home;
	struct dp_event all = {
		.type = DP_EV_MEASURE_ASKED, .source = m->why, .of = NAN, .of_at = NAN
	};
	struct dp_step step;
	size_t left_out = 0;
	char reason[600];
	struct dp_err why;

	dp_course_next(h->state, clock_now(h->d), &step);
	if (step.kind != DP_STEP_MEASURE || h->deleters)
		return; /* it goes on otherwise: asked again when that is over */
	/* of what could not be reckoned nobody knows what it costs: nothing of it then */
	for (size_t i = 0; i < m->n && m->code == DP_OK; i++) {
		struct measure_point *p = &m->points[i];

		if (!measure_take(h->state, p) || measure_find(m, p, true) < h->state->measured.n)
			continue;
		if (dp_course_measure_fits(h->state, p->renyi, m->runs, &why) == DP_OK) {
			measure_record(m, p);
			continue;
		}
		snprintf(reason, sizeof reason,
			 "search.remeasure left out %zu of the front's %zu points: %.400s",
			 ++left_out, m->n, why.msg);
		all.reason = reason;
	}
	if (m->code != DP_OK) {
		snprintf(reason, sizeof reason,
			 "search.remeasure could not measure the front: %.400s", m->err.msg);
		all.reason = reason;
	}
	record(h, &all);
}

/* ---- asking ---- */

static void measuring_done(uv_work_t *w, int status)
{
	struct measuring *m = w->data;
	struct study *h = m->home;

	(void)status; /* work is never cancelled */
	h->measuring--;
	oracles_asked(h);
	if (!h->d->closed) {
		if (!m->client && m->code == DP_E_NOMEM)
			h->next.until = clock_now(h->d); /* the next tick tries again */
		else if (!m->client && m->code != DP_E_INTERRUPTED)
			measuring_ended(m);
		else if (m->client && m->code != DP_OK)
			client_error(h->d, m->client, &m->err);
		else if (m->client)
			measuring_answer(m);
		study_changed(h);
	}
	measuring_free(m);
}

/* Rows of a front that is known: [trial, at] each. */
static bool measuring_rows(struct measuring *m, const json_t *rows)
{
	const json_t *row;
	size_t i;

	if (!measuring_room(m, json_array_size(rows)))
		return false;
	json_array_foreach (rows, i, row) {
		const json_t *at = json_object_get(row, "at");

		m->points[i].of = (double)dp_json_int(row, "trial", 0);
		m->points[i].of_at = json_is_integer(at) ? (double)json_integer_value(at) : NAN;
	}
	return true;
}

static bool measuring_results(struct measuring *m, const struct dp_point *points, size_t n)
{
	if (!measuring_room(m, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		m->points[i].of = points[i].trial;
		m->points[i].of_at = dp_point_at(m->home->state, points[i]);
	}
	return true;
}

/* The study's own front, known or to be found. */
static bool measuring_of_front(struct measuring *m)
{
	struct dp_study_state *s = m->home->state;
	const json_t *rows = ask_front_rows(m->home);

	if (!dp_study_denoises(s->spec))
		return dp_study_front(s, &m->err) == DP_OK &&
		       measuring_results(m, s->front, s->nfront);
	if (rows)
		return measuring_rows(m, rows);
	m->denoises = true;
	return measuring_room(m, 0) && dp_results_recall(s, &m->results, &m->err) == DP_OK;
}

static bool measuring_find(struct measuring *m, const struct measure_wish *wish)
{
	const struct dp_study_state *s = m->home->state;
	bool found;

	if (wish->x) {
		m->given = true;
		found = measuring_room(m, 1);
		if (found) {
			m->points[0].of = m->points[0].of_at = NAN;
			memcpy(m->points[0].x, wish->x, s->spec->nparams * sizeof(double));
		}
		return found;
	}
	found = wish->points ? measuring_results(m, wish->points, wish->n) : measuring_of_front(m);
	/* what they cost follows from their settings; what is none is told later */
	for (size_t i = 0; found && i < m->n; i++)
		measure_take(s, &m->points[i]);
	return found;
}

/* False: no memory. */
static bool measuring_start(struct study *h, const struct measure_wish *wish, uint64_t client,
			    const char *why)
{
	struct measuring *m = calloc(1, sizeof *m);

	if (!m)
		return false;
	m->home = h;
	m->client = client;
	if (wish->by)
		snprintf(m->by, sizeof m->by, "%s", wish->by);
	m->why = why;
	m->runs = wish->runs;
	if (h->state->accounting)
		m->order = h->state->accounting->filter.order;
	if (!measuring_find(m, wish) || oracles_prepare(h, &m->err) != DP_OK) {
		measuring_free(m);
		return false;
	}
	m->work.data = m;
	h->measuring++;
	uv_queue_work(&h->d->loop, &m->work, measuring_work, measuring_done);
	return true;
}

int measure_asked(struct study *h, const struct measure_wish *wish, uint64_t client,
		  struct dp_err *err)
{
	if (measuring_start(h, wish, client, wish->x ? "verify" : "remeasure"))
		return DP_OK;
	return dp_fail(err, DP_E_NOMEM, "no memory to measure points");
}

void measure_cancel(struct study *h)
{
	atomic_store(&h->measure_cancel, true);
}

void measure_end(struct study *h)
{
	struct measure_wish wish = { .runs = h->state->spec->search.remeasure };

	if (h->measuring)
		return; /* it is asked again after that */
	if (!measuring_start(h, &wish, 0, "end"))
		h->next.until = clock_now(h->d); /* the next tick tries again */
}
