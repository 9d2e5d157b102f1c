/* sched.c - a turn of the loop: what follows from what was recorded, and which study
 * gets the next free place.
 *
 * Higher priority first; between equals the study with fewer running trainers, then
 * the one that was served longest ago. A study never has more trainers at once than
 * its `parallel`, and all together never more than their executor takes. */
#include "daemon/sched.h"

#include "base/num.h"
#include "daemon/ask.h"
#include "daemon/executor.h"
#include "daemon/hook.h"
#include "daemon/look.h"
#include "daemon/record.h"
#include "daemon/server.h"

#include <stdio.h>

#define HOLD_FIRST 1.0 /* seconds after the machine refused a start, then doubling */
#define HOLD_MOST  32.0

/* ---- the machine's trouble ---- */

void sched_hold(struct backend *b, const char *what, const char *why)
{
	struct hold *hold = &b->hold;

	if (clock_now(b->d) < hold->until)
		return; /* planned with the one that was refused first */
	hold->seconds = dp_next_wait(hold->seconds, HOLD_FIRST, HOLD_MOST);
	hold->until = clock_now(b->d) + (int64_t)(hold->seconds * 1e6);
	snprintf(hold->why, sizeof hold->why, "%.90s%s%.300s%s", what, why ? " (" : "",
		 why ? why : "", why ? ")" : "");
	log_line(&b->d->log, LOG_WARN, "", "%s; nothing starts for %g s", hold->why, hold->seconds);
}

void sched_release(struct backend *b)
{
	if (clock_now(b->d) >= b->hold.until)
		b->hold = (struct hold){ 0 };
}

static bool is_held(const struct backend *b)
{
	return clock_now(b->d) < b->hold.until;
}

/* ---- the turn ---- */

static bool may_start(const struct dpd *d)
{
	return !d->stopping && !d->trouble && !d->disk_low;
}

/* Looks at every study that changed, until none has. They are added to *looked. */
static void sched_settle(struct dpd *d, struct study **looked)
{
	struct study *h;

	while ((h = d->changed) != NULL) {
		d->changed = h->next_changed;
		study_settle(h);
		/* what it recorded itself it has seen; only now may it change again */
		h->is_changed = false;
		if (h->is_looked)
			continue;
		h->is_looked = true;
		h->next_looked = *looked;
		*looked = h;
	}
}

static bool wants_place(const struct study *h)
{
	return (h->next.kind == DP_STEP_ATTEMPT ||
		(h->next.kind == DP_STEP_PROPOSE && ask_ready(h))) &&
	       !is_held(h->backend) && executor_room(h->backend) > 0;
}

static bool goes_before(const struct study *a, const struct study *b)
{
	if (a->state->priority != b->state->priority)
		return a->state->priority > b->state->priority;
	if (dp_study_open(a->state) != dp_study_open(b->state))
		return dp_study_open(a->state) < dp_study_open(b->state);
	return a->turn < b->turn;
}

static struct study *first_served(const struct dpd *d)
{
	struct study *best = NULL;

	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct study *h = d->studies[i];

		if (wants_place(h) && (!best || goes_before(h, best)))
			best = h;
	}
	return best;
}

/* A point that was proposed waits, and is an attempt in the next round. */
static bool serve(struct study *h)
{
	if (h->next.until <= clock_now(h->d)) { /* it waited for a place too long */
		study_changed(h);
		return true;
	}
	h->turn = ++h->d->turns;
	return h->next.kind == DP_STEP_ATTEMPT ? job_launch(h) : ask_next(h);
}

static void sched_turn(struct dpd *d)
{
	struct study *looked = NULL, *h;

	sched_settle(d, &looked);
	while (may_start(d) && (h = first_served(d)) != NULL) {
		if (!serve(h)) { /* without memory: the next tick tries again */
			h->next.until = clock_now(d);
			break;
		}
		sched_settle(d, &looked);
	}
	for (h = looked; h; h = h->next_looked)
		ask_prepare(h);
	report_poll(d);
	hooks_poll(d);
	client_poll_changes(d);
	/* nothing else is on the stack: what is over can be freed */
	jobs_sweep(d, false);
	while ((h = looked) != NULL) {
		looked = h->next_looked;
		h->is_looked = false;
		study_sweep(h);
	}
	daemon_stop_check(d);
}

static void on_idle(uv_idle_t *idle)
{
	struct dpd *d = idle->data;

	uv_idle_stop(idle);
	sched_turn(d);
	dp_journal_release(d->journal);
}

void sched_init(struct dpd *d)
{
	uv_idle_init(&d->loop, &d->sched_idle);
	d->sched_idle.data = d;
}

void sched_kick(struct dpd *d)
{
	uv_idle_start(&d->sched_idle, on_idle);
}

void sched_wake(struct dpd *d)
{
	int64_t now = clock_now(d);

	for (uint32_t i = 0; i < d->nstudies; i++)
		if (d->studies[i]->next.until <= now)
			study_changed(d->studies[i]);
	for (const struct backend *b = d->backends; b->table; b++)
		if (b->hold.until && b->hold.until <= now)
			sched_kick(d);
}

/* ---- why not ---- */

/* What the course of the study waits for, as a sentence; NULL if it need not wait. */
static const char *why_course(const struct study *h, char *out, size_t room)
{
	double seconds = (double)(h->next.until - clock_now(h->d)) / 1e6;

	if (dp_study_hides(h->state))
		return NULL;
	switch (h->next.wait) {
	case DP_WAIT_NOTHING:
	case DP_WAIT_PARALLEL:
		return NULL;
	case DP_WAIT_RETRY:
		snprintf(out, room, "a failed attempt is tried again in %.0f s",
			 seconds > 0 ? seconds : 0);
		break;
	case DP_WAIT_ORDER:
		snprintf(out, room, "order: deterministic waits for trial %u", h->next.trial);
		break;
	case DP_WAIT_MEASURES:
		if (h->state->measured.open == 0)
			return NULL;
		snprintf(out, room, "%u %s", h->state->measured.open,
			 h->state->measured.open == 1 ? "trainer measures its points again"
						      : "trainers measure its points again");
		break;
	case DP_WAIT_LAST:
		if (h->state->open == 0)
			return NULL;
		snprintf(out, room, "the last %u %s under way", h->state->open,
			 h->state->open == 1 ? "trainer is" : "trainers are");
		break;
	}
	return out;
}

/* What keeps the whole daemon from starting anything; NULL if nothing does. */
static const char *why_daemon(const struct dpd *d, char *out, size_t room)
{
	if (d->stopping)
		snprintf(out, room, "the daemon is stopping");
	else if (d->disk_low)
		snprintf(out, room, "only %s", d->disk_why);
	else
		return NULL;
	return out;
}

const char *sched_why_not(const struct study *h, char *out, size_t room)
{
	const struct dpd *d = h->d;

	if (h->state->status != DP_STUDY_RUNNING)
		return NULL;
	if (d->looking)
		return look_why_not(d);
	if (record_why_stuck(d, out, room))
		return out;
	if (!dp_study_hides(h->state) && jobs_trouble(h, out, room))
		return out;
	if (!dp_study_hides(h->state) && h->backend->table->why_waiting &&
	    h->backend->table->why_waiting(h->backend, h, out, room))
		return out;
	if (h->next.wait == DP_WAIT_PARALLEL)
		return NULL;
	if (why_daemon(d, out, room))
		return out;
	if (is_held(h->backend)) {
		snprintf(out, room, "%s; trying again in %.0f s", h->backend->hold.why,
			 (double)(h->backend->hold.until - clock_now(d)) / 1e6);
		return out;
	}
	if (h->next.kind == DP_STEP_PROPOSE && !ask_ready(h)) {
		snprintf(out, room, "%s",
			 ask_stuck(h) ? "search.budget has no room for another training "
					"before one that is pending has ended"
				      : "the next point is being chosen");
		return out;
	}
	if (h->next.kind == DP_STEP_MEASURE) {
		snprintf(out, room, "the front that is measured again is being found");
		return out;
	}
	if (h->next.kind != DP_STEP_ATTEMPT && h->next.kind != DP_STEP_PROPOSE)
		return why_course(h, out, room);
	if (executor_room(h->backend) > 0)
		return NULL; /* it is about to */
	h->backend->table->why_full(h->backend, out, room);
	return out;
}
