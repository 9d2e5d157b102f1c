/* private_selection.c - the privacy cost and the published directory of private selections. */
#include "daemon/studies/private_selection.h"

#include "base/fs.h"
#include "daemon/core/background_job.h"
#include "state/state_json.h"
#include "study/private_selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct private_selection {
	struct study *study;
	/* the cost */
	struct background_job cost_job;
	bool cost_started;
	int code;
	struct dp_err err;
	struct dp_select_cost cost;
	struct pending_reply *waiters;
	/* the link */
	struct background_job link_job;
	bool is_linking;     /* also while the job waits for the journal */
	uint32_t linked_seq; /* seq of the study at the last check of the link */
	char *link, target[64];
	int link_errno;
};

static struct private_selection *private_selection_get_or_new(struct study *study)
{
	if (!study->private_selection) {
		study->private_selection = dp_calloc(1, sizeof *study->private_selection);
		study->private_selection->study = study;
	}
	return study->private_selection;
}

bool private_selection_is_busy(const struct study *study)
{
	const struct private_selection *x = study->private_selection;

	return x && (x->cost_job.is_running || x->is_linking);
}

/* ---- the cost ---- */

static void private_selection_cost_worker(void *arg)
{
	struct private_selection *x = arg;

	x->code = dp_select_compute_cost(x->study->state->spec, &x->cost, &x->err);
}

static void on_private_selection_cost(void *arg)
{
	struct private_selection *x = arg;

	pending_replies_build_each(&x->waiters, x->study);
	if (!x->study->daemon->loop_ended)
		study_mark_changed(x->study);
}

static struct private_selection *private_selection_start_cost(struct study *study)
{
	struct private_selection *x = private_selection_get_or_new(study);

	if (!x->cost_started)
		background_job_start(study->daemon, &x->cost_job, private_selection_cost_worker,
				     on_private_selection_cost, x);
	x->cost_started = true;
	return x;
}

json_t *private_selection_json(struct study *study)
{
	const struct private_selection *x;

	if (!dp_state_is_private_selection(study->state))
		return json_null();
	x = private_selection_start_cost(study);
	return !x->cost_job.is_running && x->code == DP_OK ? dp_selection_cost_json(&x->cost)
							   : json_null();
}

bool private_selection_wait(struct study *study, uint64_t client_id, reply_builder *answer)
{
	struct private_selection *x = private_selection_start_cost(study);

	if (x->cost_job.is_running)
		pending_replies_add(&x->waiters, client_id, answer);
	return x->cost_job.is_running;
}

/* ---- the link ---- */

static void private_selection_link_worker(void *arg)
{
	struct private_selection *x = arg;
	char now[sizeof x->target];
	ssize_t len = readlink(x->link, now, sizeof now);

	x->link_errno = 0;
	if (len >= 0 && (size_t)len == strlen(x->target) &&
	    memcmp(now, x->target, (size_t)len) == 0)
		return;
	if ((unlink(x->link) != 0 && errno != ENOENT) || symlink(x->target, x->link) != 0)
		x->link_errno = errno;
}

static void on_private_selection_linked(void *arg)
{
	struct private_selection *x = arg;
	struct study *study = x->study;

	if (x->link_errno)
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name,
			 "%s cannot be made: %s", x->link, strerror(x->link_errno));
	free(x->link);
	x->link = NULL;
	x->is_linking = false;
	if (!study->daemon->loop_ended)
		study_mark_changed(study);
}

static void private_selection_start_link(struct daemon *d, void *arg)
{
	struct private_selection *x = arg;

	if (!d->loop_ended) /* else the next daemon does it */
		background_job_start(d, &x->link_job, private_selection_link_worker,
				     on_private_selection_linked, x);
}

void private_selection_link_result(struct study *study)
{
	const struct dp_study_state *s = study->state;
	const struct dp_trial *t;
	const struct dp_attempt *last;
	struct private_selection *x;
	char *folder;

	if (!dp_state_is_private_selection(s) || s->status != DP_STUDY_FINISHED)
		return;
	x = private_selection_get_or_new(study);
	t = dp_state_selected_trial(s);
	if (x->is_linking || x->linked_seq == s->next_seq || !t || t->nattempts == 0)
		return;
	x->is_linking = true;
	x->linked_seq = s->next_seq;
	last = &t->attempts[t->nattempts - 1];
	dp_attempt_format_dir(t->number, last->run, last->number, x->target);
	folder = study_folder(study);
	x->link = dp_path_join(folder, DP_SELECTED_LINK);
	free(folder);
	after_commit(study->daemon, private_selection_start_link, x);
}

void private_selection_free(struct study *study)
{
	struct private_selection *x = study->private_selection;

	if (!x)
		return;
	pending_replies_free(&x->waiters);
	free(x->link);
	free(x);
	study->private_selection = NULL;
}
