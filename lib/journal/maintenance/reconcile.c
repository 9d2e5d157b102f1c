/* reconcile.c - rebuilds a consistent history of a study from the records that are left.
 *
 * Every record keeps its number, because proposals refer to what they knew by it. A lost record
 * becomes a record-lost. If a later record cannot be used without it, the record that the later one
 * implies takes its place: an attempt-planned before an attempt-ended, the attempt-ended before a
 * trial-ended, or a proposal with the point from the attempt's request.json. Results are never
 * invented. Records that remain unusable are set aside, too. */
#include "journal/maintenance/salvage.h"

#include "base/fs.h"
#include "base/json.h"
#include "state/state.h"
#include "state/state_json.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEQ_GAP_MAX = 10000, /* a longer gap means a damaged key */
	REQUEST_MAX = 1 << 20,
	ATTEMPT_DIRS_TRIED = 16,
};

static const char lost_reason[] = "its record was lost in a damaged journal";

struct reconciler {
	struct dp__reconciled_study *out;
	const char *studies_dir; /* STATE/studies */
	struct dp_state state;   /* of this study, before the record that did not fit */
	struct dp_event event;
	struct dp_err err;
	double params[DP_PARAMS_MAX];
};

/* Number of positions: up to the last valid record that can belong to the study. */
static uint32_t count_usable_records(const struct dp__salvaged_record *finds, size_t n)
{
	uint32_t length = 0;

	for (size_t i = 0; i < n; i++) {
		if (!finds[i].is_valid)
			continue;
		if (finds[i].seq - length > SEQ_GAP_MAX)
			break;
		length = finds[i].seq + 1;
	}
	return length;
}

static void mark_record_lost(struct dp__reconciled_record *slot, const char *why)
{
	slot->is_lost = true;
	snprintf(slot->lost_reason, sizeof slot->lost_reason, "%.127s", why);
}

static void init_reconciled_records(const struct dp__salvaged_record *finds, size_t n,
				    struct dp__reconciled_study *m)
{
	m->n = count_usable_records(finds, n);
	m->records = dp_calloc((size_t)m->n + 2, sizeof *m->records); /* incl. a pause record */
	for (uint32_t i = 0; i < m->n; i++)
		mark_record_lost(&m->records[i], "it is missing");
	for (size_t i = 0; i < n; i++) {
		if (finds[i].seq >= m->n)
			continue;
		m->records[finds[i].seq].salvaged = &finds[i];
		m->records[finds[i].seq].is_lost = !finds[i].is_valid;
		if (!finds[i].is_valid)
			mark_record_lost(&m->records[finds[i].seq], finds[i].fault);
	}
}

/* Recovers the parameters of a trial from the request.json of one of its attempts. */
static bool recover_trial_params(struct reconciler *w, uint32_t trial)
{
	const struct dp_study_state *s = w->state.studies[0];
	char path[4096], below[64];
	struct dp_err err;
	bool found = false;

	for (uint32_t i = 0; i < ATTEMPT_DIRS_TRIED && !found; i++) {
		bool alone = i % 2; /* one run per process */
		json_t *root = NULL;

		dp_attempt_format_dir(trial, alone ? 0 : DP_RUN_ALL, i / 2, below);
		snprintf(path, sizeof path, "%s/%s/%s/request.json", w->studies_dir, s->spec->name,
			 below);
		found = dp_json_read_file(path, REQUEST_MAX, &root, &err) == DP_OK &&
			dp_json_int(root, "trial", -1) == trial &&
			dp_space_from_json(s->spec, json_object_get(root, "parameters"), w->params,
					   &err) == DP_OK;
		json_decref(root);
	}
	return found;
}

static const struct dp_attempt *find_open_attempt(const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end_class == DP_END_NONE)
			return &t->attempts[i];
	return NULL;
}

/* An attempt-ended, implied by the end of the trial. */
static bool synthesize_attempt_ended(const struct dp_trial *t, const struct dp_event *e,
				     struct dp_event *out)
{
	const struct dp_attempt *a = find_open_attempt(t);

	if (!a)
		return false;
	out->type = DP_EV_ATTEMPT_ENDED;
	out->run = a->run;
	out->attempt = a->number;
	out->attempt_ended.end_class = strcmp(e->trial_ended.status, "ok") == 0 ? DP_END_OK
				       : strcmp(e->trial_ended.status, "diverged") == 0
					       ? DP_END_DIVERGED
					       : DP_END_LOST;
	out->reason = lost_reason;
	out->attempt_ended.declaration = (struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
	return true;
}

/* A measure-asked, implied by one of its trials. The parameters come from the trial's request.json;
 * the result that was re-evaluated is unknown. */
static bool synthesize_measure_asked(struct reconciler *w, const struct dp_event *e,
				     struct dp_event *out)
{
	const struct dp_study_state *s = w->state.studies[0];

	out->type = DP_EV_MEASURE_ASKED;
	out->trial = e->trial;
	out->measure_asked.point.source = "recovered";
	out->measure_asked.result_trial = out->measure_asked.result_checkpoint = NAN;
	out->measure_asked.runs = (uint32_t)s->spec->trainer.runs;
	out->measure_asked.point.params = w->params;
	out->measure_asked.point.nparams = (uint32_t)s->spec->nparams;
	return recover_trial_params(w, e->trial);
}

/* The record that must have preceded `e`, which does not fit without it. */
static bool synthesize_missing_event(struct reconciler *w, const struct dp_event *e,
				     struct dp_event *out)
{
	const struct dp_study_state *s = w->state.studies[0];
	const struct dp_trial *t = dp_state_find_trial(s, e->trial);

	*out = (struct dp_event){ .time_us = e->time_us, .trial = e->trial };
	if (e->type == DP_EV_STUDY_CREATED || e->type == DP_EV_STUDY_MOVED ||
	    e->type == DP_EV_STUDY_AMENDED || e->type == DP_EV_RESULT_IMPORTED ||
	    e->type == DP_EV_MEASURE_ASKED)
		return false;
	if (!t && dp_trial_number_kind(e->trial) == DP_TRIAL_REEVAL)
		return synthesize_measure_asked(w, e, out);
	if (!t || (e->type == DP_EV_TRIAL_PROPOSED && e->trial > s->ntrials)) {
		out->type = DP_EV_TRIAL_PROPOSED;
		out->trial = s->ntrials;
		out->trial_proposed.point.source = "recovered";
		out->trial_proposed.conditioned_on = s->next_seq;
		out->trial_proposed.point.params = w->params;
		out->trial_proposed.point.nparams = (uint32_t)s->spec->nparams;
		return recover_trial_params(w, s->ntrials);
	}
	switch (e->type) {
	case DP_EV_ATTEMPT_PLACED:
	case DP_EV_ATTEMPT_ENDED:
		out->type = DP_EV_ATTEMPT_PLANNED;
		out->run = e->run;
		out->attempt = e->attempt;
		return true;
	case DP_EV_TRIAL_ENDED:
		return e->trial_ended.status && synthesize_attempt_ended(t, e, out);
	case DP_EV_ATTEMPT_PLANNED:
		out->type = DP_EV_TRIAL_RETRY_ASKED;
		return true;
	case DP_EV_TRIAL_RETRY_ASKED:
		out->type = DP_EV_TRIAL_ENDED;
		out->trial_ended.status = "failed";
		out->reason = lost_reason;
		return true;
	default:
		return false;
	}
}

/* A lost position after `after` and before `before`; `before` if there is none. */
static uint32_t find_lost_position(const struct dp__reconciled_study *m, uint32_t after,
				   uint32_t before)
{
	for (uint32_t i = after + 1; i < before; i++)
		if (m->records[i].is_lost && m->records[i].synthesized.len == 0)
			return i;
	return before;
}

/* The record of a position: salvaged, synthesized, or a record-lost. */
static int load_reconciled_event(struct reconciler *w, uint32_t i)
{
	struct dp__reconciled_record *slot = &w->out->records[i];

	if (slot->synthesized.len)
		return dp_event_decode(slot->synthesized.data, slot->synthesized.len, &w->event,
				       &w->err);
	if (!slot->is_lost)
		return dp_event_decode(slot->salvaged->bytes, slot->salvaged->len, &w->event,
				       &w->err);
	dp_event_clear(&w->event);
	w->event.type = DP_EV_RECORD_LOST;
	w->event.reason = slot->lost_reason;
	w->event.time_us = slot->previous_time_us;
	return DP_OK;
}

/* Replays all positions. *at is the first that does not fit. */
static int replay_reconciled_records(struct reconciler *w, uint32_t *at)
{
	int code = DP_OK;

	dp_state_free(&w->state);
	for (*at = 0; code == DP_OK && *at < w->out->n; ++*at) {
		if (*at)
			w->out->records[*at].previous_time_us = w->state.studies[0]->updated_us;
		code = load_reconciled_event(w, *at);
		w->event.study = w->out->study;
		w->event.seq = *at;
		if (code == DP_OK)
			code = dp_state_apply(&w->state, &w->event, &w->err);
	}
	if (code != DP_OK)
		--*at;
	return code;
}

/* Position `at` does not fit: insert a record before it, move a synthesized one, or give it up. */
static int reconcile_misfit(struct reconciler *w, uint32_t at)
{
	struct dp__reconciled_record *slot = &w->out->records[at];
	uint32_t later, target = slot->synthesized.len ? slot->needed_by : at;
	struct dp_event implied;

	if (slot->synthesized.len) { /* too early: move it, or drop both */
		later = find_lost_position(w->out, at, target);
		if (later < target) {
			w->out->records[later].synthesized = slot->synthesized;
			w->out->records[later].needed_by = target;
		} else {
			dp_buf_free(&slot->synthesized);
			mark_record_lost(&w->out->records[target],
					 "records that it needs are lost");
		}
		slot->synthesized = (struct dp_buf)DP_BUF_INIT;
		return DP_OK;
	}
	later = find_lost_position(w->out, 0, at);
	if (later < at && synthesize_missing_event(w, &w->event, &implied)) {
		slot = &w->out->records[later];
		slot->needed_by = at;
		return dp_event_encode(&implied, &slot->synthesized, &w->err);
	}
	mark_record_lost(slot, w->err.msg);
	return DP_OK;
}

static int encode_lost_records(struct reconciler *w)
{
	int code;

	for (uint32_t i = 0; i < w->out->n; i++) {
		struct dp__reconciled_record *slot = &w->out->records[i];

		w->out->lost_count += slot->is_lost;
		w->out->synthesized_count += slot->synthesized.len > 0;
		if (!slot->is_lost || slot->synthesized.len)
			continue;
		code = load_reconciled_event(w, i);
		if (code == DP_OK)
			code = dp_event_encode(&w->event, &slot->synthesized, &w->err);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

static int append_pause_record(struct reconciler *w)
{
	struct dp__reconciled_record *slot = &w->out->records[w->out->n];
	struct dp_event e = { .type = DP_EV_STUDY_MOVED,
			      .study_moved = { .state = "paused", .by_failures = true } };
	char reason[160];

	snprintf(reason, sizeof reason,
		 "%u of its records were lost in a damaged journal; look at its trials, "
		 "then resume it",
		 w->out->lost_count);
	e.reason = reason;
	e.time_us = w->state.studies[0]->updated_us;
	w->out->n++;
	return dp_event_encode(&e, &slot->synthesized, &w->err);
}

static int reconcile_until_consistent(struct reconciler *w, bool tail_lost)
{
	uint32_t at;
	int code;

	while ((code = replay_reconciled_records(w, &at)) == DP_E_CORRUPT) {
		if (at == 0)
			return DP_E_CORRUPT;
		code = reconcile_misfit(w, at);
		if (code != DP_OK)
			return code;
	}
	if (code != DP_OK)
		return code;
	snprintf(w->out->name, sizeof w->out->name, "%s", w->state.studies[0]->spec->name);
	code = encode_lost_records(w);
	return code == DP_OK && (w->out->lost_count || tail_lost) ? append_pause_record(w) : code;
}

int dp__reconcile_study(const struct dp__salvaged_record *finds, size_t n, const char *folder,
			struct dp__reconciled_study *out, struct dp_err *err)
{
	struct reconciler w = { .out = out, .studies_dir = folder };
	uint32_t tail = 0;
	int code;

	*out = (struct dp__reconciled_study){ .study = finds[0].study };
	init_reconciled_records(finds, n, out);
	for (size_t i = 0; i < n; i++)
		tail += finds[i].seq >= out->n;
	out->lost_count = tail;
	code = out->n > 0 && out->records[0].salvaged && !out->records[0].is_lost
		       ? reconcile_until_consistent(&w, tail > 0)
		       : DP_E_CORRUPT;
	if (code == DP_E_CORRUPT) { /* unrecoverable */
		out->is_unrecoverable = true;
		code = DP_OK;
	}
	dp_event_clear(&w.event);
	dp_state_free(&w.state);
	if (code != DP_OK && err)
		*err = w.err;
	return code;
}

void dp__reconciled_study_clear(struct dp__reconciled_study *m)
{
	for (uint32_t i = 0; m->records && i < m->n; i++)
		dp_buf_free(&m->records[i].synthesized);
	free(m->records);
	*m = (struct dp__reconciled_study){ 0 };
}
