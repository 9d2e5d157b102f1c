/* fuzz_state.c - random sequences of events through the fold: never a crash, what is
 * refused changes nothing, what is known always adds up, and whatever the course says or
 * a person may ask for fits what is known. */
#include "policy/policy.h"
#include "state/state_json.h"
#include "tests/unit/support/policy_requests.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH(text)                                                                               \
	"parameters: {C: {type: int, range: [1, 30]}, b: {type: float, range: [1, "                \
	"9]}}\n"                                                                                   \
	"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}},\n"                \
	"  error: {metric: f1}}\nanti_ideal: {epsilon: 10, error: 1}\nsearch: {" text "}\n"

enum {
	STUDIES = 3,
	EVENTS = 60,
	STEPS = 8, /* that follow by themselves, beside one a trial; else it is endless */
	SHOWN = 16 /* one input in so many is shown as JSON, which takes long */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const texts[STUDIES] = {
	"study: a\ntrainer: {command: [x], retries: 1, max_failures: 4}\n" SEARCH(
		"method: random, evaluations: 6, parallel: 2, remeasure: 2"),
	"study: b\ntrainer: {command: [x], runs: 3, runs_per_process: 1, path: "
	"C}\n" SEARCH("method: dpareto, initial: 2, evaluations: 9, parallel: 3, order: "
		      "deterministic, max_time: 1h"),
	"study: c\ntrainer: {command: [x], runs: 2, path: C}\n" SEARCH(
		"method: grid, grid: 2, max_time: 90s"),
};

/* Parsed once: a study file takes longer than all else. */
static struct dp_study *specs[STUDIES];

struct input {
	const uint8_t *at, *end;
};

#define demand(condition) demanded(condition, #condition)

static void demanded(bool condition, const char *text)
{
	if (condition)
		return;
	fprintf(stderr, "not so: %s\n", text);
	abort();
}

static void parse_once(void)
{
	for (int i = 0; i < STUDIES && !specs[i]; i++) {
		struct dp_diagnostics problems = { 0 };

		demand(dp_study_parse(texts[i], strlen(texts[i]), "f", "/", &specs[i], &problems,
				      NULL) == DP_OK);
		dp_diagnostics_free(&problems);
	}
}

static unsigned take_workspace(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Mostly small and sensible, now and then anything. */
static double take_number(struct input *in)
{
	static const double odd[] = { NAN,    INFINITY,     -INFINITY, 0,   -1, 1e308,
				      5e-324, 4294967296.0, -0.0,      0.5, 1,  7 };
	unsigned b = take_workspace(in);

	return b < 24 ? odd[b % DP_COUNT(odd)] : (b - 24) / 16.0;
}

/* Room for what an event points to. */
struct room {
	double params[3], objectives[3], metrics[9], ways[27];
	const char *names[3];
	uint32_t runs[3];
};

static const char *take_text(struct input *in)
{
	static const char *const some[] = { NULL,       "",         "running", "paused",
					    "ok",       "diverged", "failed",  "cancelled",
					    "finished", "stopped",  "odd",     "because" };

	return some[take_workspace(in) % DP_COUNT(some)];
}

/* Waypoints of a result, made of its own numbers; now and then one that does not fit. */
static void take_way(const struct dp_study *spec, struct room *r, unsigned shape,
		     struct dp_event *e)
{
	static const double at[] = { 1, 2, 4 };

	if (!spec || !spec->trainer.learning_curve.points || !e->attempt_ended.nmetrics ||
	    !e->attempt_ended.nruns)
		return;
	e->attempt_ended.ncheckpoints = shape >> 5 & 3;
	e->attempt_ended.ncheckpoint_metrics =
		e->attempt_ended.ncheckpoints * e->attempt_ended.nruns * e->attempt_ended.nmetrics;
	for (uint32_t i = 0; i < e->attempt_ended.ncheckpoint_metrics; i++)
		r->ways[i] = r->metrics[i % (e->attempt_ended.nruns * e->attempt_ended.nmetrics)] /
			     (i + 1);
	e->attempt_ended.checkpoints = shape == 255 ? r->ways : at;
	e->attempt_ended.checkpoint_metrics = r->ways;
	e->attempt_ended.checkpoint_epsilons = r->ways;
	e->attempt_ended.ncheckpoint_epsilons = shape & 0x80 ? e->attempt_ended.ncheckpoints : 0;
}

static void take_result(struct input *in, const struct dp_study *spec, struct room *r,
			struct dp_event *e)
{
	static const char *const names[] = { "f1", "seconds", "g" };
	unsigned shape = take_workspace(in);

	e->attempt_ended.end_class = (enum dp_end_class)(take_workspace(in) % (DP_END_LOST + 2));
	e->attempt_ended.charged = shape & 1;
	e->attempt_ended.nruns = shape >> 1 & 3;
	e->attempt_ended.nmetrics = shape >> 3 & 3;
	for (uint32_t i = 0; i < 3; i++) {
		r->runs[i] = shape >> 5 ? i : take_workspace(in) % 5;
		r->names[i] = names[i];
	}
	for (uint32_t i = 0; i < e->attempt_ended.nruns * e->attempt_ended.nmetrics; i++)
		r->metrics[i] = take_number(in);
	e->attempt_ended.runs = r->runs;
	e->attempt_ended.metric_names = r->names;
	e->attempt_ended.metrics = r->metrics;
	e->attempt_ended.exit = (struct dp_exit_record){ .kind = DP_EXIT_CODE, .value = 1 };
	e->attempt_ended.exit.start_seconds = take_number(in) * 10;
	e->attempt_ended.exit.end_seconds = take_number(in) * 10;
	take_way(spec, r, shape, e);
}

static struct dp_event_point take_point(struct input *in, struct room *r)
{
	unsigned shape = take_workspace(in);
	struct dp_event_point point = { .params = r->params,
					.nparams = shape & 3 ? 2 : shape >> 2 & 3,
					.privacy = r->objectives,
					.nprivacy = shape & 0x30 ? 2 : shape >> 6 & 3 };

	for (uint32_t i = 0; i < 3; i++) {
		r->params[i] = take_number(in);
		r->objectives[i] = take_number(in);
	}
	return point;
}

static void take_measure(struct input *in, const struct dp_study_state *st, bool next,
			 struct dp_event *e)
{
	unsigned shape = take_workspace(in);

	if (next)
		e->trial = dp_state_next_reeval_trial(st);
	e->measure_asked.runs = shape % 8;
	e->measure_asked.result_trial = shape & 8 ? NAN : shape >> 6;
	e->measure_asked.result_checkpoint = shape & 16 ? 2 : NAN;
}

/* Any three in a row, also such as no record has. */
static const char *const changes[] = { "trainer.timeout=30s",
				       "search.max_time=none",
				       "search.initial=0",
				       "trainer.retries=-1",
				       "seed=7",
				       "" };

static void tree_on_event(struct input *in, const struct dp_state *s, int64_t *clock,
			  struct room *r, struct dp_event *e)
{
	unsigned head = take_workspace(in), where = take_workspace(in), order = take_workspace(in);
	const struct dp_study_state *st;
	struct dp_event_point point = { 0 };
	const char *text;

	*e = (struct dp_event){ .type = head % 15 ? (enum dp_event_type)(head % 15)
						  : DP_EV_MEASURE_ASKED,
				.study = 1 + head / 15 % STUDIES };
	st = dp_state_get_study(s, e->study);
	e->seq = st ? st->next_seq : 0;
	if (order >= 240)
		e->seq += order - 243;
	*clock += order == 239   ? -1000000
		  : order == 238 ? INT64_C(4000000000)
				 : order * INT64_C(100000);
	e->time_us = order == 237 ? INT64_MAX : order == 236 ? INT64_MIN : *clock;
	e->trial = where % 8 + (order >= 200 && order < 230 ? DP_REEVAL_TRIAL_FIRST : 0);
	e->run = (int32_t)(where / 8 % 6) - 1 - (where >= 250);
	e->attempt = where / 48;
	e->reason = take_text(in);
	text = take_text(in);
	if (e->type == DP_EV_STUDY_CREATED) {
		e->study_created.name = "a";
		e->study_created.text = order == 235 ? NULL : texts[e->study - 1];
		e->study_created.dir = "/";
		e->study_created.parsed_study = specs[e->study - 1];
	} else if (e->type == DP_EV_STUDY_AMENDED) {
		e->study_amended.evaluations = take_number(in);
		e->study_amended.parallel = take_number(in);
		e->study_amended.priority = take_number(in);
		e->study_amended.nchanges = where % 4;
		e->study_amended.changes = changes + where / 4 % 3;
		e->study_amended.text = where >= 128 ? texts[e->study - 1] : NULL;
		e->study_amended.path = e->study_amended.text ? "again" : NULL;
		e->study_amended.dir = where >= 192 ? "/" : NULL;
	} else if (e->type == DP_EV_ATTEMPT_ENDED)
		take_result(in, st ? st->spec : NULL, r, e);
	else
		point = take_point(in, r);
	if (e->type == DP_EV_TRIAL_PROPOSED) {
		e->trial_proposed.point = point;
		if (st && order < 200)
			e->trial = st->ntrials;
	} else if (e->type == DP_EV_MEASURE_ASKED) {
		point.source = text;
		e->measure_asked.point = point;
		if (st)
			take_measure(in, st, order < 200, e);
	} else if (e->type == DP_EV_RESULT_IMPORTED) {
		e->result_imported =
			(struct dp_ev_result_imported){ .study_name = "a",
							.params = point.params,
							.nparams = point.nparams,
							.objectives = point.privacy,
							.nobjectives = point.nprivacy };
	} else if (e->type == DP_EV_TRIAL_ACCOUNTED) {
		e->trial_accounted.privacy = point.privacy;
		e->trial_accounted.nprivacy = point.nprivacy;
	} else if (e->type == DP_EV_TRIAL_ENDED) {
		e->trial_ended.status = text;
		e->trial_ended.objectives = point.privacy;
		e->trial_ended.nobjectives = point.nprivacy;
	} else if (e->type == DP_EV_STUDY_MOVED) {
		e->study_moved.state = text;
		e->study_moved.by_failures = where & 1;
	} else if (e->type == DP_EV_TIME_NOTED) {
		e->time_noted.daemon_ran = where & 1;
	}
}

/* ---- what must hold ---- */

static void check_trial(const struct dp_study_state *s, const struct dp_trial *t)
{
	bool came = t->status == DP_TRIAL_OK || t->status == DP_TRIAL_DIVERGED;
	uint32_t open = 0;

	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		open += a->end_class == DP_END_NONE;
		demand(a->run >= DP_RUN_ALL && a->run < (int32_t)t->runs);
		if (a->end_class != DP_END_NONE && a->recorded_us >= a->planned_us)
			demand(a->ended_us >= a->planned_us && a->ended_us <= a->recorded_us);
	}
	demand(open == t->open_attempts);
	demand((t->status == DP_TRIAL_RUNNING) == (open > 0));
	demand(t->nmetrics <= s->nmetrics);
	if (t->checkpoints) {
		demand(s->spec->trainer.learning_curve.points &&
		       t->checkpoints->count <= DP_CHECKPOINTS_MAX);
		demand(t->checkpoints->nmetrics <= s->nmetrics);
		demand((t->status >= DP_TRIAL_OK) == (t->checkpoints->metric_means != NULL));
		demand((t->checkpoints->run_metrics == NULL) == came); /* else it may go on */
	}
}

/* Those that measure points again. */
static void check_measures(const struct dp_study_state *s)
{
	const struct dp_reevals *m = &s->reevals;
	uint32_t open = 0, waiting = 0, live = m->ntrials, first = 0;

	for (uint32_t i = 0; i < m->ntrials; i++) {
		const struct dp_trial *t = m->trials[i];

		demand(dp_state_find_trial(s, t->number) == t &&
		       t->number >= DP_REEVAL_TRIAL_FIRST);
		check_trial(s, t);
		open += t->open_attempts;
		waiting += t->status == DP_TRIAL_WAITING;
		if (t->status < DP_TRIAL_OK && i < live)
			live = i;
		demand(i < m->first_untouched || (t->nattempts == 0 && !t->cancel_requested));
	}
	for (uint32_t i = 0; i < m->count; first += m->items[i++].ntrials)
		demand(m->items[i].first_trial == first && m->items[i].ntrials > 0);
	demand(first == m->ntrials && m->first_unfinished == live);
	demand(m->open_attempts == open && m->waiting_trials == waiting);
}

static void check_study(const struct dp_study_state *s)
{
	uint32_t by[DP_TRIAL_CANCELLED + 1] = { 0 }, open = 0, live = s->ntrials;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		demand(t->number == i && t->status <= DP_TRIAL_CANCELLED);
		check_trial(s, t);
		by[t->status]++;
		open += t->open_attempts;
		if (t->status < DP_TRIAL_OK && i < live)
			live = i;
	}
	demand(s->ok == by[DP_TRIAL_OK] && s->diverged == by[DP_TRIAL_DIVERGED]);
	demand(s->failed == by[DP_TRIAL_FAILED] + by[DP_TRIAL_CANCELLED]);
	demand(s->waiting_trials == by[DP_TRIAL_WAITING] && s->open_attempts == open);
	demand(s->first_unfinished == live);
	demand(s->blocked_trial == -1 || dp_state_find_trial(s, (uint32_t)s->blocked_trial));
	demand(s->next_seq > 0 && s->active_us >= 0 && s->created_us >= 0 && s->updated_us >= 0);
	demand(s->status <= DP_STUDY_STOPPED);
	check_measures(s);
}

/* What counts is left as it was by an event that is refused. */
static void apply_checked(struct dp_state *s, const struct dp_event *e)
{
	struct dp_study_state *st = dp_state_get_study(s, e->study), before;
	struct dp_err err = { 0 };
	uint32_t n = s->nstudies;

	memset(&before, 0, sizeof before);
	if (st)
		before = *st;
	if (dp_state_apply(s, e, &err) == DP_OK) {
		st = dp_state_get_study(s, e->study);
		demand(st && st->next_seq == before.next_seq + 1 && st->updated_us == e->time_us);
		return;
	}
	demand(err.code == DP_E_CORRUPT && err.msg[0] && s->nstudies == n);
	if (st)
		demand(st->next_seq == before.next_seq && st->ntrials == before.ntrials &&
		       st->reevals.count == before.reevals.count &&
		       st->reevals.ntrials == before.reevals.ntrials &&
		       st->status == before.status && st->active_us == before.active_us &&
		       st->evaluations == before.evaluations);
}

static void apply_order(struct dp_state *s, const struct dp_study_state *st, int64_t now,
			const struct dp_event *order)
{
	struct dp_event e = *order;
	struct dp_err err;

	e.study = st->id;
	e.seq = st->next_seq;
	e.time_us = now;
	if (dp_state_apply(s, &e, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		abort();
	}
}

/* Everything that follows by itself: it fits, and it comes to an end. */
static void follow_course(struct dp_state *s, const struct dp_study_state *st, int64_t now)
{
	static const struct dp_event all = { .type = DP_EV_MEASURE_ASKED,
					     .measure_asked = { .result_trial = NAN,
								.result_checkpoint = NAN } };
	struct dp_event order;
	struct dp_step step;

	for (uint32_t i = 0;; i++) {
		demand(i < st->ntrials + st->reevals.ntrials + STEPS);
		dp_policy_next_step(st, now, &step);
		order = dp_step_event(&step);
		if (step.kind == DP_STEP_RECORD || step.kind == DP_STEP_ATTEMPT)
			apply_order(s, st, now, &order);
		else if (step.kind == DP_STEP_REEVALUATE_FRONT)
			apply_order(s, st, now, &all);
		if (step.kind != DP_STEP_RECORD && step.kind != DP_STEP_REEVALUATE_FRONT)
			break;
		demand(strlen(step.reason) < sizeof step.reason - 1);
	}
	demand(step.kind != DP_STEP_WAIT || step.until_us > now);
	demand(step.kind != DP_STEP_PROPOSE || dp_policy_count_proposals_left(st, now) > 0);
}

static void ask(struct dp_state *s, const struct dp_study_state *st, int64_t now, unsigned dice)
{
	enum policy_request what = (enum policy_request)(dice % REQUEST_KINDS);
	uint32_t trial = dice / 16 + (dice & 1 ? DP_REEVAL_TRIAL_FIRST : 0);
	struct dp_transition_events orders;
	struct dp_err err = { 0 };

	do {
		if (policy_request(st, what, &trial, dice, &orders, &err) != DP_OK) {
			demand(err.msg[0] != '\0');
			return;
		}
		for (unsigned i = 0; i < orders.count; i++)
			apply_order(s, st, now, &orders.events[i]);
	} while (what == REQUEST_RETRY_FAILED && trial > 0);
}

static void show(struct dp_study_state *st)
{
	struct dp_public_state view = dp_state_public_view(st);
	json_t *result = dp_state_result_json(view), *summary = dp_state_summary_json(view);

	demand(result && summary);
	json_decref(result);
	json_decref(summary);
	for (uint32_t i = 0; i < st->ntrials; i++) {
		json_t *trial = dp_trial_json(view, st->trials[i], true, "/f");

		demand(trial != NULL);
		json_decref(trial);
	}
	for (uint32_t i = 0; i < st->reevals.count; i++) {
		json_t *measure = dp_reeval_json(view, i);

		demand(measure != NULL);
		json_decref(measure);
	}
}

/* No more points than results. */
static bool front_fits(const struct dp_study_state *st)
{
	size_t n;
	struct dp_result_id *points = dp_state_list_results(st, &n);

	free(points);
	return st->nfront <= n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct dp_state state = { 0 };
	unsigned dice = take_workspace(&in);
	int64_t clock = 1000000;
	struct room room;
	struct dp_event e;

	parse_once();
	for (int n = 0; in.at < in.end && n < EVENTS; n++) {
		tree_on_event(&in, &state, &clock, &room, &e);
		apply_checked(&state, &e);
	}
	for (uint32_t i = 0; i < state.nstudies; i++) {
		struct dp_study_state *st = state.studies[i];

		check_study(st);
		clock = clock > st->updated_us ? clock : st->updated_us;
		ask(&state, st, clock, dice);
		follow_course(&state, st, clock);
		check_study(st);
		dp_state_update_front(st);
		demand(front_fits(st));
		if (dice % SHOWN == 0)
			show(st);
		st->spec->search.initial = DP_INITIAL_DEFAULT; /* as it was read */
		st->spec = NULL;                               /* it is kept for the next one */
	}
	dp_state_free(&state);
	return 0;
}
