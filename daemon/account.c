/* account.c - privacy oracles asked off the loop, for points that no proposer found. */
#include "daemon/account.h"

#include "base/num.h"
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
	char by[WHO_LEN];
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	char refused[ASK_REFUSED_LEN];
	struct dp_err err;
	int code;            /* a program could not be asked */
	struct dp_err wrong; /* with the point itself; its code is DP_OK: nothing */
	double order, renyi; /* of search.budget: see ask_renyi() */
};

void account_derive(const struct dp_study *spec, double *x, struct dp_err *wrong)
{
	double given[DP_PARAMS_MAX];
	char text[2][DP_NUM_LEN];
	struct dp_err err;

	memcpy(given, x, spec->nparams * sizeof *given);
	dp_space_underive(spec, x);
	if (dp_space_derive(spec, x, &err) != DP_OK)
		return; /* the oracles are not asked, and that says why */
	for (size_t i = 0; i < spec->nparams; i++)
		if (!isnan(given[i]) && given[i] != x[i])
			dp_fail(wrong, DP_E_INVALID,
				"parameter '%s' is calibrated: it is %s here, not %s; "
				"leave it out",
				spec->params[i].name, dp_num_text(x[i], text[0]),
				dp_num_text(given[i], text[1]));
}

static void account_work(uv_work_t *w)
{
	struct account *a = w->data;

	if (a->client)
		account_derive(a->home->state->spec, a->x, &a->wrong);
	a->code = ask_oracles(a->home, NULL, a->x, a->privacy, a->refused, &a->err);
	if (ask_renyi(a->home->state->spec, a->order, a->x, NAN, &a->renyi, NULL) != DP_OK)
		a->renyi = INFINITY; /* without memory it does not fit */
}

/* Do search.max_cost and search.budget leave room for the training? */
static int account_affords(const struct study *h, const struct account *a, struct dp_err *err)
{
	const struct dp_study *spec = h->state->spec;
	struct dp_expected e = { .next = NAN };
	int code = dp_course_budget(h->state, a->renyi, err);

	if (code != DP_OK || spec->search.max_cost == 0)
		return code;
	e.spent = dp_study_cost_spent(h->state);
	if (dp_study_cost(spec) == DP_COST_PATH)
		e.next = dp_path_end(spec, a->x);
	return dp_course_affords(h->state, &e, err);
}

/* The budget may have been given out meanwhile. */
static void account_enqueued(struct account *a)
{
	struct study *h = a->home;
	struct dp_asked asked = { .ask = DP_ASK_ENQUEUE };
	struct ask_how how = { .source = "enqueued", .basis = h->state->seq, .by = a->by };
	struct dp_orders none;
	struct dp_err err;

	if (a->wrong.code != DP_OK) {
		client_error(h->d, a->client, &a->wrong);
		return;
	}
	if (dp_course_asked(h->state, &asked, &none, &err) != DP_OK ||
	    (!a->refused[0] && account_affords(h, a, &err) != DP_OK)) {
		client_error(h->d, a->client, &err);
		return;
	}
	ask_record(h, a->x, &how, a->privacy, a->refused, a->renyi);
	client_ok(h->d, a->client, request_trial_json(h, h->state->trials[h->state->ntrials - 1]));
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
	oracles_asked(h);
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

static struct account *account_start(struct study *h, const double *x, uint64_t client)
{
	struct account *a = calloc(1, sizeof *a);
	struct dp_err err;

	if (!a || oracles_prepare(h, &err) != DP_OK) {
		free(a);
		return NULL;
	}
	a->home = h;
	a->client = client;
	memcpy(a->x, x, h->state->spec->nparams * sizeof *x);
	if (h->state->accounting)
		a->order = h->state->accounting->filter.order;
	a->work.data = a;
	h->accounting++;
	uv_queue_work(&h->d->loop, &a->work, account_work, account_done);
	return a;
}

int account_enqueue(struct study *h, const double *x, const struct request *r, struct dp_err *err)
{
	struct account *a = account_start(h, x, r->client);

	if (!a)
		return dp_fail(err, DP_E_NOMEM, "no memory to ask for its epsilon");
	memcpy(a->by, r->by, sizeof a->by);
	return DP_OK;
}

void account_trial(struct study *h, uint32_t trial)
{
	struct account *a;

	if (h->accounting)
		return; /* it is asked again once that is recorded */
	a = account_start(h, dp_study_trial(h->state, trial)->x, 0);
	if (a)
		a->trial = trial;
	else
		h->next.until = clock_now(h->d); /* the next tick tries again */
}
