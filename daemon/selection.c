/* selection.c - what a private selection costs: which of all settings that can be drawn
 * is the worst may take seconds to find. */
#include "daemon/selection.h"

#include "daemon/waiters.h"
#include "journal/view.h"

#include <stdlib.h>

struct selection {
	uv_work_t work;
	struct study *home;
	bool known; /* the rest is there */
	int code;
	struct dp_err err;
	struct dp_select_cost cost;
	struct waiter *waiters;
};

static void selection_work(uv_work_t *w)
{
	struct selection *x = w->data;

	x->code = dp_select_cost(x->home->state->spec, &x->cost, &x->err);
}

static void selection_done(uv_work_t *w, int status)
{
	struct selection *x = w->data;
	struct study *h = x->home;

	(void)status; /* work is never cancelled */
	h->accounting--;
	x->known = true;
	waiters_tell(&x->waiters, h);
	if (!h->d->closed)
		study_changed(h);
}

/* NULL without memory: the next who asks tries again. */
static struct selection *selection_want(struct study *h)
{
	struct selection *x = h->selection;

	if (x)
		return x;
	x = h->selection = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->home = h;
	x->work.data = x;
	h->accounting++;
	uv_queue_work(&h->d->loop, &x->work, selection_work, selection_done);
	return x;
}

json_t *selection_json(struct study *h)
{
	const struct selection *x = dp_study_hides(h->state) ? selection_want(h) : NULL;

	return x && x->known && x->code == DP_OK ? dp_view_selection(&x->cost) : json_null();
}

bool selection_is_known(struct study *h)
{
	const struct selection *x = selection_want(h);

	return !x || x->known;
}

int selection_wait(struct study *h, uint64_t client, waiter_answer *answer, struct dp_err *err)
{
	struct selection *x = selection_want(h);

	if (!x || !waiters_add(&x->waiters, client, answer))
		return dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	return DP_OK;
}

void selection_free(struct study *h)
{
	free(h->selection);
	h->selection = NULL;
}
