/* state.c - folds journal events into what is known now. */
#include "journal/state.h"

#include "base/num.h"
#include "front/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const study_texts[] = {
#define X(name, text) [DP_STUDY_##name] = text,
	DP_STUDY_STATES(X)
#undef X
};

static const char *const trial_texts[] = {
#define X(name, text) [DP_TRIAL_##name] = text,
	DP_TRIAL_STATES(X)
#undef X
};

const char *dp_study_status_text(enum dp_study_status s)
{
	return study_texts[s];
}

const char *dp_trial_status_text(enum dp_trial_status s)
{
	return trial_texts[s];
}

/* Index of `text` in a table of n, or -1. */
static int index_of(const char *const *table, size_t n, const char *text)
{
	for (size_t i = 0; text && i < n; i++)
		if (strcmp(table[i], text) == 0)
			return (int)i;
	return -1;
}

/* Replaces *slot by a copy of text, or by NULL. */
static int set_text(char **slot, const char *text)
{
	char *copy = text && *text ? strdup(text) : NULL;

	if (text && *text && !copy)
		return DP_E_NOMEM;
	free(*slot);
	*slot = copy;
	return DP_OK;
}

static void trial_free(struct dp_trial *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nattempts; i++)
		free(t->attempts[i].message);
	free(t->attempts);
	free(t->x);
	free(t->objectives);
	free(t->metrics);
	free(t->reason);
	free(t);
}

static void study_free(struct dp_study_state *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->ntrials; i++)
		trial_free(s->trials[i]);
	for (uint32_t i = 0; i < s->nimported; i++) {
		free(s->imported[i].x);
		free(s->imported[i].objectives);
	}
	free(s->imported);
	for (uint32_t i = 0; i < s->nmetrics; i++)
		free(s->metrics[i]);
	free(s->metrics);
	free(s->trials);
	free(s->front);
	free(s->reason);
	free(s->text);
	free(s->path);
	free(s->dir);
	dp_study_free(s->spec);
	free(s);
}

void dp_state_free(struct dp_state *s)
{
	for (uint32_t i = 0; i < s->nstudies; i++)
		study_free(s->studies[i]);
	free(s->studies);
	*s = (struct dp_state){ 0 };
}

/* Position of the first study with an id not below `id`. */
static uint32_t position(const struct dp_state *s, uint32_t id)
{
	uint32_t lo = 0, hi = s->nstudies;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->studies[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct dp_study_state *dp_state_by_id(const struct dp_state *s, uint32_t id)
{
	uint32_t i = position(s, id);

	return i < s->nstudies && s->studies[i]->id == id ? s->studies[i] : NULL;
}

void dp_state_forget(struct dp_state *s, uint32_t study)
{
	uint32_t i = position(s, study);

	if (i >= s->nstudies || s->studies[i]->id != study)
		return;
	study_free(s->studies[i]);
	memmove(s->studies + i, s->studies + i + 1,
		(s->nstudies - i - 1) * sizeof s->studies[0]);
	s->nstudies--;
}

static int nearest_study(const struct dp_state *s, const char *selector,
			 struct dp_err *err)
{
	const char **names = calloc(s->nstudies + 1, sizeof *names), *near;

	if (!names)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	for (uint32_t i = 0; i < s->nstudies; i++)
		names[i] = s->studies[i]->spec->name;
	near = dp_nearest(selector, names);
	dp_fail(err, DP_E_NOT_FOUND, "there is no study '%.80s'", selector);
	if (near)
		dp_hint(err, "did you mean '%s'?", near);
	else
		dp_hint(err, "'dparetoctl list' shows the studies there are");
	free(names);
	return DP_E_NOT_FOUND;
}

int dp_state_find(const struct dp_state *s, const char *selector,
		  struct dp_study_state **out, struct dp_err *err)
{
	struct dp_study_state *found = NULL;
	size_t len = strlen(selector);
	int64_t id;

	for (uint32_t i = 0; i < s->nstudies; i++) {
		if (strcmp(s->studies[i]->spec->name, selector) == 0) {
			*out = s->studies[i];
			return DP_OK;
		}
	}
	if (dp_int_parse(selector, &id) && id > 0 && id <= UINT32_MAX &&
	    (found = dp_state_by_id(s, (uint32_t)id)) != NULL) {
		*out = found;
		return DP_OK;
	}
	for (uint32_t i = 0; len && i < s->nstudies; i++) {
		if (strncmp(s->studies[i]->spec->name, selector, len) != 0)
			continue;
		if (found) {
			dp_fail(err, DP_E_INVALID,
				"'%.80s' begins more than one name: %s, %s", selector,
				found->spec->name, s->studies[i]->spec->name);
			return dp_hint(err, "write more of the name, or its number");
		}
		found = s->studies[i];
	}
	if (!found)
		return nearest_study(s, selector, err);
	*out = found;
	return DP_OK;
}

struct dp_trial *dp_study_trial(const struct dp_study_state *s, uint32_t number)
{
	return number < s->ntrials ? s->trials[number] : NULL;
}

uint32_t dp_study_ended(const struct dp_study_state *s)
{
	return s->ok + s->diverged + s->failed;
}

/* ---- events ---- */

static int created(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	struct dp_study_state *st, **grown;
	uint32_t i = position(s, e->study);
	int code;

	if (!e->text || !e->dir)
		return dp_fail(err, DP_E_CORRUPT, "a study was created without its text");
	if (i < s->nstudies && s->studies[i]->id == e->study)
		return dp_fail(err, DP_E_CORRUPT, "study %u is created twice", e->study);
	if (s->nstudies == s->room) {
		uint32_t room = s->room ? 2 * s->room : 64;

		grown = realloc(s->studies, room * sizeof *grown);
		if (!grown)
			return dp_fail(err, DP_E_NOMEM, "no memory for a study");
		s->studies = grown;
		s->room = room;
	}
	st = calloc(1, sizeof *st);
	if (!st)
		return dp_fail(err, DP_E_NOMEM, "no memory for a study");
	code = dp_study_parse(e->text, strlen(e->text), e->path ? e->path : "study",
			      e->dir, &st->spec, &problems, err);
	dp_problems_free(&problems);
	if (code != DP_OK) {
		study_free(st);
		if (code == DP_E_NOMEM)
			return code;
		return dp_fail(err, DP_E_CORRUPT,
			       "the study file of study %u, which was valid when it was "
			       "submitted, is not valid for this version",
			       e->study);
	}
	st->id = e->study;
	if (set_text(&st->text, e->text) || set_text(&st->path, e->path) ||
	    set_text(&st->dir, e->dir)) {
		study_free(st);
		return dp_fail(err, DP_E_NOMEM, "no memory for a study");
	}
	st->evaluations = st->spec->search.evaluations;
	st->parallel = st->spec->search.parallel;
	st->priority = st->spec->priority;
	st->created = e->time;
	memmove(s->studies + i + 1, s->studies + i, (s->nstudies - i) * sizeof st);
	s->studies[i] = st;
	s->nstudies++;
	return DP_OK;
}

static int moved(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	int status = index_of(study_texts, DP_COUNT(study_texts), e->state);

	if (status < 0)
		return dp_fail(err, DP_E_CORRUPT, "study %u is moved to no known state",
			       st->id);
	if (set_text(&st->reason, e->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	st->status = (enum dp_study_status)status;
	st->by_failures = e->counted;
	if (status == DP_STUDY_RUNNING)
		st->failures_in_row = 0;
	return DP_OK;
}

static void amended(struct dp_study_state *st, const struct dp_event *e)
{
	if (!isnan(e->evaluations))
		st->evaluations = (uint32_t)e->evaluations;
	if (!isnan(e->parallel))
		st->parallel = (uint32_t)e->parallel;
	if (!isnan(e->priority))
		st->priority = (int)e->priority;
}

static int imported(struct dp_study_state *st, const struct dp_event *e,
		    struct dp_err *err)
{
	size_t p = st->spec->nparams, m = st->spec->nobjectives;
	struct dp_imported *grown, *new;

	if (e->nparams != p || e->nobjectives != m)
		return dp_fail(err, DP_E_CORRUPT,
			       "a result imported into study %u does not fit it", st->id);
	grown = realloc(st->imported, (st->nimported + 1) * sizeof *grown);
	if (!grown)
		return dp_fail(err, DP_E_NOMEM, "no memory for a result");
	st->imported = grown;
	new = &grown[st->nimported];
	new->x = malloc(p * sizeof *new->x + 1);
	new->objectives = malloc(m * sizeof *new->objectives + 1);
	if (!new->x || !new->objectives) {
		free(new->x);
		free(new->objectives);
		return dp_fail(err, DP_E_NOMEM, "no memory for a result");
	}
	memcpy(new->x, e->params, p * sizeof *new->x);
	memcpy(new->objectives, e->objectives, m * sizeof *new->objectives);
	st->nimported++;
	return DP_OK;
}

static int proposed(struct dp_study_state *st, const struct dp_event *e,
		    struct dp_err *err)
{
	struct dp_trial *t, **grown;

	if (e->trial != st->ntrials || e->nparams != st->spec->nparams)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is proposed out of turn or with %u "
			       "parameters",
			       e->trial, st->id, e->nparams);
	if (st->ntrials == st->room) {
		uint32_t room = st->room ? 2 * st->room : 32;

		grown = realloc(st->trials, room * sizeof *grown);
		if (!grown)
			return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
		st->trials = grown;
		st->room = room;
	}
	t = calloc(1, sizeof *t);
	if (t)
		t->x = malloc(e->nparams * sizeof *t->x + 1);
	if (!t || !t->x) {
		free(t);
		return dp_fail(err, DP_E_NOMEM, "no memory for a trial");
	}
	memcpy(t->x, e->params, e->nparams * sizeof *t->x);
	t->number = e->trial;
	t->status = DP_TRIAL_WAITING;
	t->basis = e->basis;
	snprintf(t->source, sizeof t->source, "%s", e->source ? e->source : "");
	t->proposed = e->time;
	st->trials[st->ntrials++] = t;
	st->waiting++;
	return DP_OK;
}

static int planned(struct dp_study_state *st, struct dp_trial *t,
		   const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *grown;

	if (t->status != DP_TRIAL_WAITING && t->status != DP_TRIAL_RUNNING)
		return dp_fail(
			err, DP_E_CORRUPT,
			"an attempt is planned for trial %u of study %u, which has "
			"ended",
			t->number, st->id);
	grown = realloc(t->attempts, (t->nattempts + 1) * sizeof *grown);
	if (!grown)
		return dp_fail(err, DP_E_NOMEM, "no memory for an attempt");
	t->attempts = grown;
	t->attempts[t->nattempts++] = (struct dp_attempt){ .run = e->run,
							   .number = e->attempt,
							   .planned = e->time };
	t->open++;
	st->open++;
	if (t->status == DP_TRIAL_WAITING)
		st->waiting--;
	t->status = DP_TRIAL_RUNNING;
	return DP_OK;
}

/* Column of a metric in the study's table, which grows if it is new. */
static int metric_column(struct dp_study_state *st, const char *name)
{
	char **grown;
	int i = dp_study_metric(st, name);

	if (i >= 0)
		return i;
	grown = realloc(st->metrics, (st->nmetrics + 1) * sizeof *grown);
	if (!grown)
		return -1;
	st->metrics = grown;
	grown[st->nmetrics] = strdup(name);
	if (!grown[st->nmetrics])
		return -1;
	return (int)st->nmetrics++;
}

/* Makes the trial's table of metrics as wide as the study's. */
static int widen(const struct dp_study_state *st, struct dp_trial *t)
{
	size_t runs = (size_t)st->spec->trainer.runs, wide = st->nmetrics;
	double *table;

	if (t->nmetrics == wide && t->metrics)
		return DP_OK;
	table = malloc(runs * wide * sizeof *table + 1);
	if (!table)
		return DP_E_NOMEM;
	for (size_t i = 0; i < runs; i++)
		for (size_t k = 0; k < wide; k++)
			table[i * wide + k] = k < t->nmetrics && t->metrics
						      ? t->metrics[i * t->nmetrics + k]
						      : NAN;
	free(t->metrics);
	t->metrics = table;
	t->nmetrics = (uint32_t)wide;
	return DP_OK;
}

static int keep_metrics(struct dp_study_state *st, struct dp_trial *t,
			const struct dp_event *e, struct dp_err *err)
{
	for (uint32_t k = 0; k < e->nmetrics; k++)
		if (metric_column(st, e->metric_names[k]) < 0)
			return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	if (widen(st, t))
		return dp_fail(err, DP_E_NOMEM, "no memory for metrics");
	for (uint32_t i = 0; i < e->nruns; i++) {
		if (e->runs[i] >= (uint32_t)st->spec->trainer.runs)
			continue;
		for (uint32_t k = 0; k < e->nmetrics; k++) {
			int column = dp_study_metric(st, e->metric_names[k]);

			t->metrics[e->runs[i] * t->nmetrics + (uint32_t)column] =
				e->metrics[i * e->nmetrics + k];
		}
	}
	return DP_OK;
}

static struct dp_attempt *find_attempt(struct dp_trial *t, int32_t run, uint32_t number)
{
	for (uint32_t i = t->nattempts; i-- > 0;)
		if (t->attempts[i].run == run && t->attempts[i].number == number)
			return &t->attempts[i];
	return NULL;
}

static int attempt_ended(struct dp_study_state *st, struct dp_trial *t,
			 const struct dp_event *e, struct dp_err *err)
{
	struct dp_attempt *a = find_attempt(t, e->run, e->attempt);

	if (!a || a->end != DP_END_NONE)
		return dp_fail(err, DP_E_CORRUPT,
			       "attempt %u of trial %u of study %u ends, but is not open",
			       e->attempt, t->number, st->id);
	if (e->nmetrics && (e->end == DP_END_OK || e->end == DP_END_DIVERGED)) {
		int code = keep_metrics(st, t, e, err);

		if (code != DP_OK)
			return code;
	}
	if (set_text(&a->message, e->reason))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	a->end = e->end;
	a->counted = e->counted;
	a->exit_kind = e->exit.kind;
	a->exit_value = e->exit.value;
	a->started = (int64_t)(e->exit.start * 1e6);
	a->ended = e->exit.end > 0 ? (int64_t)(e->exit.end * 1e6) : e->time;
	a->cpu_seconds = (float)e->exit.cpu;
	a->peak_memory = e->exit.peak_memory;
	t->open--;
	st->open--;
	if (t->open == 0) {
		t->status = DP_TRIAL_WAITING; /* until trial-ended says otherwise */
		st->waiting++;
	}
	return DP_OK;
}

static int trial_ended(struct dp_study_state *st, struct dp_trial *t,
		       const struct dp_event *e, struct dp_err *err)
{
	int status = index_of(trial_texts, DP_COUNT(trial_texts), e->state);
	double *objectives = NULL;

	if (status < DP_TRIAL_OK || t->status != DP_TRIAL_WAITING)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u ends while it has not, or as '%s'",
			       t->number, st->id, e->state ? e->state : "");
	if (e->nobjectives) {
		objectives = malloc(e->nobjectives * sizeof *objectives);
		if (!objectives)
			return dp_fail(err, DP_E_NOMEM, "no memory for a result");
		memcpy(objectives, e->objectives, e->nobjectives * sizeof *objectives);
	}
	if (set_text(&t->reason, e->reason)) {
		free(objectives);
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	}
	free(t->objectives);
	t->objectives = objectives;
	t->status = (enum dp_trial_status)status;
	t->ended = e->time;
	st->waiting--;
	st->front_valid = false;
	while (st->first_live < st->ntrials &&
	       st->trials[st->first_live]->status >= DP_TRIAL_OK)
		st->first_live++;
	if (status == DP_TRIAL_OK || status == DP_TRIAL_DIVERGED) {
		*(status == DP_TRIAL_OK ? &st->ok : &st->diverged) += 1;
		st->failures_in_row = 0;
	} else {
		st->failed++;
		if (status == DP_TRIAL_FAILED)
			st->failures_in_row++;
	}
	return DP_OK;
}

/* A failed or cancelled trial gets another chance; what it used up is given back. */
static int retry_asked(struct dp_study_state *st, struct dp_trial *t,
		       const struct dp_event *e, struct dp_err *err)
{
	(void)e;
	if (t->status != DP_TRIAL_FAILED && t->status != DP_TRIAL_CANCELLED)
		return dp_fail(err, DP_E_CORRUPT,
			       "trial %u of study %u is retried but has not failed",
			       t->number, st->id);
	for (uint32_t i = 0; i < t->nattempts; i++)
		t->attempts[i].counted = false;
	t->status = DP_TRIAL_WAITING;
	t->cancel_asked = false;
	t->ended = 0;
	free(t->reason);
	t->reason = NULL;
	st->failed--;
	st->waiting++;
	if (t->number < st->first_live)
		st->first_live = t->number;
	return DP_OK;
}

static int of_trial(struct dp_study_state *st, const struct dp_event *e,
		    struct dp_err *err)
{
	struct dp_trial *t = dp_study_trial(st, e->trial);

	if (!t)
		return dp_fail(err, DP_E_CORRUPT,
			       "%s names trial %u of study %u, which was "
			       "never proposed",
			       dp_event_name(e->type), e->trial, st->id);
	switch (e->type) {
	case DP_EV_ATTEMPT_PLANNED:
		return planned(st, t, e, err);
	case DP_EV_ATTEMPT_ENDED:
		return attempt_ended(st, t, e, err);
	case DP_EV_TRIAL_ENDED:
		return trial_ended(st, t, e, err);
	case DP_EV_TRIAL_CANCEL_ASKED:
		t->cancel_asked = true;
		return DP_OK;
	case DP_EV_TRIAL_RETRY_ASKED:
		return retry_asked(st, t, e, err);
	case DP_EV_ATTEMPT_ADOPTED: /* a note for people; changes nothing */
	default:
		return DP_OK;
	}
}

int dp_state_apply(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_study_state *st;
	int code = DP_OK;

	if (e->type == DP_EV_STUDY_CREATED) {
		code = created(s, e, err);
		if (code != DP_OK)
			return code;
	}
	st = dp_state_by_id(s, e->study);
	if (!st)
		return dp_fail(err, DP_E_CORRUPT,
			       "%s for study %u, which was never created",
			       dp_event_name(e->type), e->study);
	if (e->seq != st->seq)
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u has record %u where record %u belongs", e->study,
			       e->seq, st->seq);
	switch (e->type) {
	case DP_EV_STUDY_CREATED:
		break;
	case DP_EV_STUDY_AMENDED:
		amended(st, e);
		break;
	case DP_EV_STUDY_MOVED:
		code = moved(st, e, err);
		break;
	case DP_EV_TRIAL_PROPOSED:
		code = proposed(st, e, err);
		break;
	case DP_EV_RESULT_IMPORTED:
		code = imported(st, e, err);
		break;
	default:
		code = of_trial(st, e, err);
	}
	if (code != DP_OK)
		return code;
	st->seq++;
	st->updated = e->time;
	return DP_OK;
}

struct replay {
	struct dp_state *state;
	struct dp_event event; /* its memory is used again for each record */
};

static int replay_one(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		      size_t len, struct dp_err *err)
{
	struct replay *r = arg;
	int code = dp_event_decode(bytes, len, &r->event, err);

	if (code == DP_OK) {
		r->event.study = study;
		r->event.seq = seq;
		code = dp_state_apply(r->state, &r->event, err);
	}
	if (code != DP_OK)
		dp_err_prefix(err, "journal record %u of study %u", seq, study);
	return code;
}

int dp_state_replay(struct dp_state *s, struct dp_journal *j, uint32_t study,
		    struct dp_err *err)
{
	struct replay r = { .state = s };
	int code = dp_journal_each(j, study, replay_one, &r, err);

	dp_event_clear(&r.event);
	return code;
}

/* ---- questions ---- */

int dp_study_metric(const struct dp_study_state *s, const char *name)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i], name) == 0)
			return (int)i;
	return -1;
}

double dp_trial_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric)
{
	int runs = s->spec->trainer.runs;
	double sum = 0, scaled = 0;

	if (metric < 0 || !t->metrics || (uint32_t)metric >= t->nmetrics)
		return NAN;
	for (int i = 0; i < runs; i++) {
		double v = t->metrics[(uint32_t)i * t->nmetrics + (uint32_t)metric];

		sum += v;
		scaled += v / runs; /* cannot overflow where the values do not */
	}
	if (isfinite(sum))
		return sum / runs;
	return isfinite(scaled) ? scaled : NAN;
}

double dp_trial_mean_variance(const struct dp_study_state *s, const struct dp_trial *t,
			      int metric)
{
	double mean = dp_trial_mean(s, t, metric), sum = 0;
	int runs = s->spec->trainer.runs;

	if (isnan(mean) || runs < 2)
		return NAN;
	for (int i = 0; i < runs; i++) {
		double d =
			t->metrics[(uint32_t)i * t->nmetrics + (uint32_t)metric] - mean;

		sum += d * d;
	}
	return sum / (runs - 1) / runs;
}

bool dp_trial_feasible(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (size_t i = 0; i < s->spec->nconstraints; i++) {
		const struct dp_constraint *c = &s->spec->constraints[i];
		double mean = dp_trial_mean(s, t, dp_study_metric(s, c->metric));

		/* a metric that was not reported (NaN) does not meet its constraint */
		if (!(c->at_least ? mean >= c->bound : mean <= c->bound))
			return false;
	}
	return true;
}

bool dp_trial_run_known(const struct dp_trial *t, uint32_t run)
{
	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		if ((a->run == DP_RUN_ALL || a->run == (int32_t)run) &&
		    (a->end == DP_END_OK || a->end == DP_END_DIVERGED))
			return true;
	}
	return false;
}

/* Contract order: first objective, then trial number. */
static void order_front(struct dp_study_state *s)
{
	bool down = s->spec->objectives[0].maximize;

	for (uint32_t i = 1; i < s->nfront; i++) {
		uint32_t t = s->front[i], k = i;
		double v = s->trials[t]->objectives[0];

		while (k > 0) {
			double u = s->trials[s->front[k - 1]]->objectives[0];

			if (down ? u > v : u < v)
				break;
			if (u == v && s->front[k - 1] < t)
				break;
			s->front[k] = s->front[k - 1];
			k--;
		}
		s->front[k] = t;
	}
}

int dp_study_front(struct dp_study_state *s, struct dp_err *err)
{
	size_t p = s->spec->nobjectives, n = 0, count = 0, *picked = NULL;
	double *y = NULL, ref[DP_OBJECTIVES_MAX];
	uint32_t *who = NULL, *front = NULL;
	int code = DP_E_NOMEM;

	if (s->front_valid)
		return DP_OK;
	y = malloc((s->ok * p + 1) * sizeof *y);
	who = malloc((s->ok + 1) * sizeof *who);
	picked = malloc((s->ok + 1) * sizeof *picked);
	front = malloc((s->ok + 1) * sizeof *front);
	if (!y || !who || !picked || !front)
		goto out;
	for (size_t k = 0; k < p; k++)
		ref[k] = s->spec->objectives[k].maximize
				 ? -s->spec->objectives[k].anti_ideal
				 : s->spec->objectives[k].anti_ideal;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		if (t->status != DP_TRIAL_OK || !t->objectives ||
		    !dp_trial_feasible(s, t))
			continue;
		for (size_t k = 0; k < p; k++)
			y[n * p + k] = s->spec->objectives[k].maximize ? -t->objectives[k]
								       : t->objectives[k];
		who[n++] = i;
	}
	code = dp_front(y, n, p, picked, &count);
	if (code == DP_OK)
		code = dp_hypervolume(y, n, p, ref, &s->hypervolume);
	if (code != DP_OK)
		goto out;
	for (size_t i = 0; i < count; i++)
		front[i] = who[picked[i]];
	free(s->front);
	s->front = front;
	s->nfront = (uint32_t)count;
	front = NULL;
	order_front(s);
	s->front_valid = true;
out:
	free(y);
	free(who);
	free(picked);
	free(front);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for the front");
}
