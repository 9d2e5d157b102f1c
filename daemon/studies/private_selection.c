/* selection.c - what a private selection costs: which of all settings that can be drawn
 * is the worst may take seconds to find. */
#include "daemon/studies/private_selection.h"

#include "daemon/studies/pending_replies.h"
#include "state/state_json.h"

#include <stdlib.h>

struct private_selection {
	uv_work_t work;
	struct study *study;
	bool is_known; /* the rest is there */
	int code;
	struct dp_err err;
	struct dp_select_cost cost;
	struct pending_reply *waiters;
};

static void private_selection_worker(uv_work_t *w)
{
	struct private_selection *x = w->data;

	x->code = dp_select_compute_cost(x->study->state->spec, &x->cost, &x->err);
}

static void on_private_selection_done(uv_work_t *w, int status)
{
	struct private_selection *x = w->data;
	struct study *study = x->study;

	(void)status; /* work is never cancelled */
	study->n_accounting_jobs--;
	x->is_known = true;
	pending_replies_build_each(&x->waiters, study);
	if (!study->daemon->loop_ended)
		study_mark_changed(study);
}

/* NULL without memory: the next who asks tries again. */
static struct private_selection *private_selection_get_or_start(struct study *study)
{
	struct private_selection *x = study->private_selection;

	if (x)
		return x;
	x = study->private_selection = dp_calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->study = study;
	x->work.data = x;
	study->n_accounting_jobs++;
	uv_queue_work(&study->daemon->loop, &x->work, private_selection_worker,
		      on_private_selection_done);
	return x;
}

json_t *private_selection_json(struct study *study)
{
	const struct private_selection *x = dp_state_is_private_selection(study->state)
						    ? private_selection_get_or_start(study)
						    : NULL;

	return x && x->is_known && x->code == DP_OK ? dp_selection_cost_json(&x->cost)
						    : json_null();
}

bool private_selection_is_known(struct study *study)
{
	const struct private_selection *x = private_selection_get_or_start(study);

	return !x || x->is_known;
}

int private_selection_add_waiter(struct study *study, uint64_t client, reply_builder *answer,
				 struct dp_err *err)
{
	struct private_selection *x = private_selection_get_or_start(study);

	if (!x || !pending_replies_add(&x->waiters, client, answer))
		return dp_fail(err, DP_E_NOMEM, "no memory for the answer");
	return DP_OK;
}

void private_selection_free(struct study *study)
{
	free(study->private_selection);
	study->private_selection = NULL;
}
