/* account.c - privacy oracles asked off the loop, for points that no proposer found. */
#include "daemon/account.h"

#include "daemon/ask.h"
#include "daemon/oracles.h"
#include "daemon/record.h"
#include "daemon/requests.h"
#include "daemon/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct account {
	uv_work_t work;
	struct study *home;
	uint64_t client; /* who enqueued the point; 0: `trial` wants its epsilons */
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	char refused[ASK_REFUSED_LEN];
	struct dp_err err;
	int code; /* a program could not be asked */
};

static void account_work(uv_work_t *w)
{
	struct account *a = w->data;

	a->code = ask_oracles(a->home, NULL, a->x, a->privacy, a->refused, &a->err);
}

/* Does search.max_cost leave room for a training at x? */
static int account_affords(const struct study *h, const double *x, struct dp_err *err)
{
	const struct dp_study *spec = h->state->spec;
	struct dp_expected e = { .next = NAN };

	if (spec->search.max_cost == 0)
		return DP_OK;
	e.spent = dp_study_cost_spent(h->state);
	if (dp_study_cost(spec) == DP_COST_PATH)
		e.next = dp_path_end(spec, x);
	return dp_course_affords(h->state, &e, err);
}

/* The budget may have been given out meanwhile. */
static void account_enqueued(struct account *a)
{
	struct study *h = a->home;
	struct dp_asked asked = { .ask = DP_ASK_ENQUEUE };
	struct dp_orders none;
	struct dp_err err;

	if (dp_course_asked(h->state, &asked, &none, &err) != DP_OK ||
	    (!a->refused[0] && account_affords(h, a->x, &err) != DP_OK)) {
		client_error(h->d, a->client, &err);
		return;
	}
	ask_record(h, a->x, "enqueued", h->state->seq, a->privacy, a->refused);
	client_ok(h->d, a->client,
		  request_trial_json(h, h->state->trials[h->state->ntrials - 1]));
}

static void account_accounted(struct account *a)
{
	struct dp_event e = { .type = DP_EV_TRIAL_ACCOUNTED, .trial = a->trial };

	if (a->refused[0]) {
		e.reason = a->refused;
	} else {
		e.objectives = a->privacy;
		e.nobjectives = (uint32_t)a->home->state->spec->nobjectives;
	}
	record(a->home, &e);
}

static void account_done(uv_work_t *w, int status)
{
	struct account *a = w->data;
	struct study *h = a->home;

	(void)status; /* work is never cancelled */
	h->accounting--;
	if (!h->d->closed) {
		if (a->code != DP_OK && a->client)
			client_error(h->d, a->client, &a->err);
		else if (a->code != DP_OK)
			ask_no_point(h, &a->err);
		else if (a->client)
			account_enqueued(a);
		else
			account_accounted(a);
		study_changed(h);
	}
	free(a);
}

static struct account *account_start(struct study *h, const double *x)
{
	struct account *a = calloc(1, sizeof *a);
	struct dp_err err;

	if (!a || oracles_prepare(h, &err) != DP_OK) {
		free(a);
		return NULL;
	}
	a->home = h;
	memcpy(a->x, x, h->state->spec->nparams * sizeof *x);
	a->work.data = a;
	h->accounting++;
	uv_queue_work(&h->d->loop, &a->work, account_work, account_done);
	return a;
}

int account_enqueue(struct study *h, const double *x, uint64_t client, struct dp_err *err)
{
	struct account *a = account_start(h, x);

	if (!a)
		return dp_fail(err, DP_E_NOMEM, "no memory to ask for its epsilon");
	a->client = client;
	return DP_OK;
}

void account_trial(struct study *h, uint32_t trial)
{
	struct account *a;

	if (h->accounting)
		return; /* it is asked again once that is recorded */
	a = account_start(h, h->state->trials[trial]->x);
	if (a)
		a->trial = trial;
	else
		h->next.until = clock_now(h->d); /* the next tick tries again */
}
