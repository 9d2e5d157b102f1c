/* mend.c - makes of what is left of a study's records a history that follows from itself.
 *
 * Every record keeps its number, since proposals name what they knew by it. A place whose
 * record is lost gets a record-lost; where a later record cannot be used without it, what
 * that one implies is put there instead: that an attempt was planned which ended, that a
 * trial's attempts ended before the trial did, or a point as it was written for its
 * trainer. No result is ever made. What cannot be used all the same is set aside, too. */
#include "journal/survey.h"

#include "base/fs.h"
#include "base/json.h"
#include "journal/state.h"
#include "journal/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	GAP_MAX = 10000, /* records missing in a row, beyond which a key is damaged */
	REQUEST_MAX = 1 << 20,
	ATTEMPTS_TRIED = 16,
};

static const char lost_reason[] = "its record was lost in a damaged journal";

struct mender {
	struct dp__mended *m;
	const char *folder;    /* STATE/studies */
	struct dp_state state; /* of this study, before the record that did not fit */
	struct dp_event event;
	struct dp_err why;
	double x[DP_PARAMS_MAX];
};

/* ---- the places ---- */

/* How many places there are: up to the last sound record that can belong here. */
static uint32_t mend_length(const struct dp__find *finds, size_t n)
{
	uint32_t length = 0;

	for (size_t i = 0; i < n; i++) {
		if (!finds[i].sound)
			continue;
		if (finds[i].seq - length > GAP_MAX)
			break;
		length = finds[i].seq + 1;
	}
	return length;
}

static void mend_lose(struct dp__slot *slot, const char *why)
{
	slot->lost = true;
	snprintf(slot->why, sizeof slot->why, "%.127s", why);
}

static bool mend_places(const struct dp__find *finds, size_t n, struct dp__mended *m)
{
	m->n = mend_length(finds, n);
	m->slots = calloc((size_t)m->n + 2, sizeof *m->slots); /* one more to say why */
	if (!m->slots)
		return false;
	for (uint32_t i = 0; i < m->n; i++)
		mend_lose(&m->slots[i], "it is missing");
	for (size_t i = 0; i < n; i++) {
		if (finds[i].seq >= m->n)
			continue;
		m->slots[finds[i].seq].find = &finds[i];
		m->slots[finds[i].seq].lost = !finds[i].sound;
		if (!finds[i].sound)
			mend_lose(&m->slots[finds[i].seq], finds[i].fault);
	}
	return true;
}

/* ---- records that are implied by others ---- */

/* The point of a trial, from what was written for its trainer. */
static bool mend_point(struct mender *w, uint32_t trial)
{
	const struct dp_study_state *s = w->state.studies[0];
	char path[4096], below[64];
	struct dp_err err;
	bool found = false;

	for (uint32_t i = 0; i < ATTEMPTS_TRIED && !found; i++) {
		bool alone = i % 2; /* one run a process */
		json_t *root = NULL;

		dp_attempt_folder(trial, alone ? 0 : DP_RUN_ALL, i / 2, below);
		snprintf(path, sizeof path, "%s/%s/%s/request.json", w->folder, s->spec->name,
			 below);
		found = dp_json_read(path, REQUEST_MAX, &root, &err) == DP_OK &&
			dp_json_int(root, "trial", -1) == trial &&
			dp_space_from_json(s->spec, json_object_get(root, "parameters"), w->x,
					   &err) == DP_OK;
		json_decref(root);
	}
	return found;
}

static const struct dp_attempt *first_open(const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end == DP_END_NONE)
			return &t->attempts[i];
	return NULL;
}

/* The end of an attempt, of which only the trial's end is left. */
static bool imply_attempt_ended(const struct dp_trial *t, const struct dp_event *e,
				struct dp_event *out)
{
	const struct dp_attempt *a = first_open(t);

	if (!a)
		return false;
	out->type = DP_EV_ATTEMPT_ENDED;
	out->run = a->run;
	out->attempt = a->number;
	out->end = strcmp(e->state, "ok") == 0         ? DP_END_OK
		   : strcmp(e->state, "diverged") == 0 ? DP_END_DIVERGED
						       : DP_END_LOST;
	out->reason = lost_reason;
	out->declared = (struct dp_declared){ NULL, NAN, NAN, NAN, NAN };
	return true;
}

/* That a point was to be measured, of which a trial is left: the point as it was written
 * for its trainer. Which result it was measured for is not known any more. */
static bool imply_measure(struct mender *w, const struct dp_event *e, struct dp_event *out)
{
	const struct dp_study_state *s = w->state.studies[0];

	out->type = DP_EV_MEASURE_ASKED;
	out->trial = e->trial;
	out->source = "recovered";
	out->of = out->of_at = NAN;
	out->asked = (uint32_t)s->spec->trainer.runs;
	out->params = w->x;
	out->nparams = (uint32_t)s->spec->nparams;
	return mend_point(w, e->trial);
}

/* What must have been recorded before `e`, which does not fit without it. */
static bool mend_implied(struct mender *w, const struct dp_event *e, struct dp_event *out)
{
	const struct dp_study_state *s = w->state.studies[0];
	const struct dp_trial *t = dp_study_trial(s, e->trial);

	*out = (struct dp_event){ .time = e->time, .trial = e->trial };
	if (e->type == DP_EV_STUDY_CREATED || e->type == DP_EV_STUDY_MOVED ||
	    e->type == DP_EV_STUDY_AMENDED || e->type == DP_EV_RESULT_IMPORTED ||
	    e->type == DP_EV_MEASURE_ASKED)
		return false;
	if (!t && dp_is_measuring(e->trial))
		return imply_measure(w, e, out);
	if (!t || (e->type == DP_EV_TRIAL_PROPOSED && e->trial > s->ntrials)) {
		out->type = DP_EV_TRIAL_PROPOSED;
		out->trial = s->ntrials;
		out->source = "recovered";
		out->basis = s->seq;
		out->params = w->x;
		out->nparams = (uint32_t)s->spec->nparams;
		return mend_point(w, s->ntrials);
	}
	switch (e->type) {
	case DP_EV_ATTEMPT_PLACED:
	case DP_EV_ATTEMPT_ENDED:
		out->type = DP_EV_ATTEMPT_PLANNED;
		out->run = e->run;
		out->attempt = e->attempt;
		return true;
	case DP_EV_TRIAL_ENDED:
		return e->state && imply_attempt_ended(t, e, out);
	case DP_EV_ATTEMPT_PLANNED:
		out->type = DP_EV_TRIAL_RETRY_ASKED;
		return true;
	case DP_EV_TRIAL_RETRY_ASKED:
		out->type = DP_EV_TRIAL_ENDED;
		out->state = "failed";
		out->reason = lost_reason;
		return true;
	default:
		return false;
	}
}

/* A lost place behind `after` and before `before`; `before` itself if there is none. */
static uint32_t free_place(const struct dp__mended *m, uint32_t after, uint32_t before)
{
	for (uint32_t i = after + 1; i < before; i++)
		if (m->slots[i].lost && m->slots[i].made.len == 0)
			return i;
	return before;
}

/* ---- the study ---- */

/* The record of a place: as found, as made, or the note that it was lost. */
static int mend_event(struct mender *w, uint32_t i)
{
	struct dp__slot *slot = &w->m->slots[i];

	if (slot->made.len)
		return dp_event_decode(slot->made.data, slot->made.len, &w->event, &w->why);
	if (!slot->lost)
		return dp_event_decode(slot->find->bytes, slot->find->len, &w->event, &w->why);
	dp_event_clear(&w->event);
	w->event.type = DP_EV_RECORD_LOST;
	w->event.reason = slot->why;
	w->event.time = slot->time;
	return DP_OK;
}

/* Folds all places. The first that does not fit is in *at. */
static int mend_fold(struct mender *w, uint32_t *at)
{
	int code = DP_OK;

	dp_state_free(&w->state);
	for (*at = 0; code == DP_OK && *at < w->m->n; ++*at) {
		if (*at)
			w->m->slots[*at].time = w->state.studies[0]->updated;
		code = mend_event(w, *at);
		w->event.study = w->m->study;
		w->event.seq = *at;
		if (code == DP_OK)
			code = dp_state_apply(&w->state, &w->event, &w->why);
	}
	if (code != DP_OK)
		--*at;
	return code;
}

/* Place `at` does not fit: something is put before it, moved, or it is given up. */
static int mend_step(struct mender *w, uint32_t at)
{
	struct dp__slot *slot = &w->m->slots[at];
	uint32_t later, target = slot->made.len ? slot->made_for : at;
	struct dp_event implied;

	if (slot->made.len) { /* too early here: further on, or the other goes, too */
		later = free_place(w->m, at, target);
		if (later < target) {
			w->m->slots[later].made = slot->made;
			w->m->slots[later].made_for = target;
		} else {
			dp_buf_free(&slot->made);
			mend_lose(&w->m->slots[target], "records that it needs are lost");
		}
		slot->made = (struct dp_buf)DP_BUF_INIT;
		return DP_OK;
	}
	later = free_place(w->m, 0, at);
	if (later < at && mend_implied(w, &w->event, &implied)) {
		slot = &w->m->slots[later];
		slot->made_for = at;
		return dp_event_encode(&implied, &slot->made, &w->why);
	}
	mend_lose(slot, w->why.msg);
	return DP_OK;
}

/* What stays lost gets its note. */
static int mend_notes(struct mender *w)
{
	int code;

	for (uint32_t i = 0; i < w->m->n; i++) {
		struct dp__slot *slot = &w->m->slots[i];

		w->m->lost += slot->lost;
		w->m->made += slot->made.len > 0;
		if (!slot->lost || slot->made.len)
			continue;
		code = mend_event(w, i);
		if (code == DP_OK)
			code = dp_event_encode(&w->event, &slot->made, &w->why);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

/* The study waits for somebody who knows what was lost. */
static int mend_pause(struct mender *w)
{
	struct dp__slot *slot = &w->m->slots[w->m->n];
	struct dp_event e = { .type = DP_EV_STUDY_MOVED, .state = "paused", .counted = true };
	char reason[160];

	snprintf(reason, sizeof reason,
		 "%u of its records were lost in a damaged journal; look at its trials, "
		 "then resume it",
		 w->m->lost);
	e.reason = reason;
	e.time = w->state.studies[0]->updated;
	w->m->n++;
	return dp_event_encode(&e, &slot->made, &w->why);
}

static int mend_run(struct mender *w, bool tail_lost)
{
	uint32_t at;
	int code;

	while ((code = mend_fold(w, &at)) == DP_E_CORRUPT) {
		if (at == 0)
			return DP_E_CORRUPT;
		code = mend_step(w, at);
		if (code != DP_OK)
			return code;
	}
	if (code != DP_OK)
		return code;
	snprintf(w->m->name, sizeof w->m->name, "%s", w->state.studies[0]->spec->name);
	code = mend_notes(w);
	return code == DP_OK && (w->m->lost || tail_lost) ? mend_pause(w) : code;
}

int dp__mend(const struct dp__find *finds, size_t n, const char *folder, struct dp__mended *out,
	     struct dp_err *err)
{
	struct mender w = { .m = out, .folder = folder };
	uint32_t tail = 0;
	int code;

	*out = (struct dp__mended){ .study = finds[0].study };
	if (!mend_places(finds, n, out))
		return dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
	for (size_t i = 0; i < n; i++)
		tail += finds[i].seq >= out->n;
	out->lost = tail;
	code = out->n > 0 && out->slots[0].find && !out->slots[0].lost ? mend_run(&w, tail > 0)
								       : DP_E_CORRUPT;
	if (code == DP_E_CORRUPT) { /* nothing can be made of it */
		out->hopeless = true;
		code = DP_OK;
	}
	dp_event_clear(&w.event);
	dp_state_free(&w.state);
	if (code != DP_OK && err)
		*err = w.why;
	return code;
}

void dp__mended_clear(struct dp__mended *m)
{
	for (uint32_t i = 0; m->slots && i < m->n; i++)
		dp_buf_free(&m->slots[i].made);
	free(m->slots);
	*m = (struct dp__mended){ 0 };
}
