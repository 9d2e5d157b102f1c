/* ask_ahead.c - points found ahead of time, for methods that need no results. */
#include "daemon/ask_internal.h"

#include "daemon/executor.h"
#include "daemon/oracles.h"
#include "daemon/study.h"

#include <stdlib.h>
#include <string.h>

enum {
	AHEAD_MAX = 32
};

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
	uint32_t next = a->nahead ? a->ahead[a->nahead - 1].trial + 1 : a->home->state->ntrials;
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

void ask_ahead_done(struct asker *a)
{
	ahead_drop(a, a->home->state->ntrials);
	ahead_add(a);
	/* what was found before the failure is used first */
	if (a->code != DP_OK && a->nahead == 0 && a->nfound == 0 &&
	    a->trial == a->home->state->ntrials)
		ask_failed(a);
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

bool ask_next_ahead(struct study *h)
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
	    h->state->spec->search.method != DP_METHOD_DPARETO && !oracles_has(h->state->spec))
		/* without memory: when they are due */
		ask_more_ahead(h, h->state->parallel - dp_study_open(h->state));
}
