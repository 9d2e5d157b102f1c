/* ask_work.c - what a worker thread finds for a study: points, fronts, settings. It works
 * on the snapshot that the loop has copied, and nothing else of the asker is its own. */
#include "daemon/ask_internal.h"

#include "daemon/oracles.h"
#include "daemon/study.h"
#include "recall/denoised.h"

#include <math.h>
#include <string.h>

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
	int code = dp_proposer_ask(a->proposer, &h, trial, &a->cancel, &a->answer, &a->err);

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
	uint64_t begun = uv_hrtime(); /* a thread had to be free first: that is no work */
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
	p->sought = (double)(uv_hrtime() - begun) / 1e9;
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
	return a->front.rows ? DP_OK : dp_fail(&a->err, DP_E_NOMEM, "no memory for the front");
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
	int code = p ? ask_models(a, p) : dp_fail(&a->err, DP_E_NOMEM, "no memory for the models");

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

void ask_work(uv_work_t *w)
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
