/* retention.c - folders of ended attempts go when they are old enough. */
#include "daemon/retention.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/num.h"
#include "daemon/executor.h"
#include "daemon/record.h"
#include "daemon/study.h"
#include "journal/view.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* A folder to remove. */
struct doomed {
	uint32_t study; /* place in `folders` */
	uint32_t trial, attempt;
	int32_t run;
};

struct sweep {
	uv_work_t work;
	struct dpd *d;
	struct clock_note *note;
	char **folders; /* of the studies */
	uint32_t nfolders;
	struct doomed *doomed;
	size_t ndoomed, room;
	unsigned kept, removed;
};

static void sweep_free(struct sweep *sw)
{
	clock_note_free(sw->note);
	for (uint32_t i = 0; i < sw->nfolders; i++)
		free(sw->folders[i]);
	free(sw->folders);
	free(sw->doomed);
	free(sw);
}

/* ---- on the loop: what is due ---- */

static bool sweep_add(struct sweep *sw, uint32_t study, uint32_t trial, const struct dp_attempt *a)
{
	if (sw->ndoomed == sw->room) {
		size_t room = sw->room ? 2 * sw->room : 64;
		struct doomed *grown = realloc(sw->doomed, room * sizeof *grown);

		if (!grown)
			return false;
		sw->doomed = grown;
		sw->room = room;
	}
	sw->doomed[sw->ndoomed++] = (struct doomed){
		.study = study, .trial = trial, .attempt = a->number, .run = a->run
	};
	return true;
}

/* Without memory the rest waits for the next sweep. */
static bool sweep_trial(struct sweep *sw, uint32_t study, const struct dp_trial *t)
{
	double limit = sw->d->config.retention;

	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		if (a->end == DP_END_NONE)
			continue;
		if ((double)clock_ran_since(sw->d, a->recorded) / 1e6 < limit)
			sw->kept += (double)(clock_now(sw->d) - a->recorded) / 1e6 >= limit;
		else if (!sweep_add(sw, study, t->number, a))
			return false;
	}
	return true;
}

static void sweep_gather(struct sweep *sw)
{
	struct dpd *d = sw->d;

	sw->folders = calloc(d->nstudies + 1, sizeof *sw->folders);
	for (uint32_t i = 0; sw->folders && i < d->nstudies; i++) {
		const struct dp_study_state *s = d->studies[i]->state;
		char *folder = study_folder(d->studies[i]);

		if (!folder)
			return;
		sw->folders[sw->nfolders++] = folder;
		for (uint32_t k = 0; k < s->ntrials; k++)
			if (!sweep_trial(sw, i, s->trials[k]))
				return;
		for (uint32_t k = 0; k < s->measured.ntrials; k++)
			if (!sweep_trial(sw, i, s->measured.trials[k]))
				return;
	}
}

/* ---- on a worker thread ---- */

static void sweep_remove(struct sweep *sw, const struct doomed *x)
{
	struct dp_buf path = DP_BUF_INIT;
	char folder[64], *claim = NULL;

	dp_attempt_folder(x->trial, x->run, x->attempt, folder);
	dp_buf_printf(&path, "%s/%s", sw->folders[x->study], folder);
	if (!path.failed)
		claim = claim_beside(path.data, ".claim");
	if (claim && access(path.data, F_OK) == 0) {
		unlink(claim);
		sw->removed += dp_remove_tree(path.data, NULL) == DP_OK;
	}
	free(claim);
	dp_buf_free(&path);
}

static void sweep_work(uv_work_t *w)
{
	struct sweep *sw = w->data;

	clock_note_write(sw->note);
	for (size_t i = 0; i < sw->ndoomed; i++)
		sweep_remove(sw, &sw->doomed[i]);
}

/* ---- on the loop again ---- */

static void sweep_done(uv_work_t *w, int status)
{
	struct sweep *sw = w->data;
	struct dpd *d = sw->d;
	char count[DP_COUNT_LEN];

	(void)status;
	if (sw->removed)
		log_line(&d->log, LOG_INFO, "", "removed %s by retention",
			 dp_count_text(sw->removed, "attempt folder", count));
	if (sw->kept && !d->told_kept)
		log_line(&d->log, LOG_WARN, "",
			 "%s %s older than retention by the calendar, but %s: it counts "
			 "only time that a daemon ran",
			 dp_count_text(sw->kept, "attempt folder", count),
			 sw->kept == 1 ? "is" : "are", sw->kept == 1 ? "stays" : "stay");
	d->told_kept |= sw->kept > 0;
	d->sweeping = false;
	sweep_free(sw);
}

/* What ended is on the disk: its files are not needed any more. */
static void sweep_start(struct dpd *d, void *arg)
{
	struct sweep *sw = arg;

	if (d->closed)
		sweep_free(sw);
	else
		uv_queue_work(&d->loop, &sw->work, sweep_work, sweep_done);
}

void retention_sweep(struct dpd *d)
{
	struct sweep *sw = d->sweeping ? NULL : calloc(1, sizeof *sw);

	if (!sw)
		return;
	sw->d = d;
	sw->work.data = sw;
	sw->note = clock_note_new(d);
	/* a repair may need the folders of what cannot be read now */
	if (isfinite(d->config.retention) && dp_state_whole(&d->state))
		sweep_gather(sw);
	d->sweeping = true;
	after_commit(d, sweep_start, sw);
}
