/* fold.c - folds journal events into what is known now. */
#include "journal/state_internal.h"

#include "base/rng.h"
#include "base/secret.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX (INT64_MAX / 4) /* microseconds: sums of a few of them fit */

static bool fold_seeds_are(const struct dp_event *e, enum dp_seeds seeds)
{
	return e->seeds && strcmp(e->seeds, dp_seeds_text(seeds)) == 0;
}

/* Noise and seeds follow from the secret: without it there would be others. */
static int fold_secret_ok(const struct dp_event *e, const struct dp_study *spec, struct dp_err *err)
{
	bool secret = fold_seeds_are(e, DP_SEEDS_SECRET);

	if (e->seeds && !secret && !fold_seeds_are(e, DP_SEEDS_FIXED))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u was created with seeds of no known kind", e->study);
	if ((secret || dp_study_needs_secret(spec)) && !(e->secret && dp_secret_ok(e->secret)))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u was created without the secret that it needs", e->study);
	return DP_OK;
}

/* What the record says beside its text: which words name files was found out when it was
 * submitted, and does not change with what becomes of these. */
static int fold_parsed(const struct dp_event *e, struct dp_study *spec, struct dp_err *err)
{
	struct dp_files files = { (const char **)e->files, e->nfiles };
	int code = dp_study_place_files(spec, e->dir, &files, err);

	return code == DP_OK ? fold_secret_ok(e, spec, err) : code;
}

/* The text as parsed by whoever submitted it, or parsed here. */
static int study_of(const struct dp_event *e, struct dp_study **spec, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	int code;

	if (e->spec) {
		code = fold_secret_ok(e, e->spec, err);
		*spec = code == DP_OK ? e->spec : NULL;
		return code;
	}
	code = dp_study_parse(e->text, strlen(e->text), e->path ? e->path : "study", e->dir, spec,
			      &problems, err);
	dp_problems_free(&problems);
	if (code == DP_OK)
		return fold_parsed(e, *spec, err);
	if (code == DP_E_NOMEM)
		return code;
	return dp_fail(err, DP_E_CORRUPT,
		       "the study file of study %u, which was valid when it was "
		       "submitted, is not valid for this version",
		       e->study);
}

/* The mode is that of the record, whatever `data` says now. A study of a version before
 * 0.3 has fixed seeds, unless it is a private selection (fold_selection()). */
static int fold_seeds(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	bool select = st->spec->search.method == DP_METHOD_SELECT;

	if (e->seeds)
		st->spec->seeds =
			fold_seeds_are(e, DP_SEEDS_SECRET) ? DP_SEEDS_SECRET : DP_SEEDS_FIXED;
	else
		st->spec->seeds = select ? DP_SEEDS_DEFAULT : DP_SEEDS_FIXED;
	if (st->spec->seeds != DP_SEEDS_SECRET && !select)
		return DP_OK;
	free(st->spec->secret);
	st->spec->secret = strdup(st->secret);
	return st->spec->secret ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a study");
}

/* All that chance decides in a private selection comes from its secret: how many
 * trainings there are, their settings (dp_space_sample()) and the seeds of their runs.
 * Versions before 0.3 made a seed of it for the last. */
static int fold_selection(struct dp_study_state *st, struct dp_err *err)
{
	struct dp_selection law;
	struct dp_rng r;
	int code = dp_select_law(st->spec, &law, err);

	if (code != DP_OK)
		return code;
	dp_rng_init_secret(&r, st->secret, DP_RNG_SELECT, 0, 0);
	st->evaluations = (uint32_t)dp_selection_draw(&law, &r);
	dp_rng_init_secret(&r, st->secret, DP_RNG_SELECT, 0, 1);
	if (st->spec->seeds == DP_SEEDS_DEFAULT)
		st->spec->seed = dp_rng_u64(&r) >> 11;
	return dp__shown_new(st, err);
}

static int fold_created(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_study_state *st, **grown;
	uint32_t i = dp__state_position(s, e->study);
	int code;

	if (!e->text || !e->dir)
		return dp_fail(err, DP_E_CORRUPT, "a study was created without its text");
	if (e->seq != 0)
		return dp_fail(err, DP_E_CORRUPT, "study %u is created by record %u", e->study,
			       e->seq);
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
	if (!st || dp__fold_text(&st->text, e->text) || dp__fold_text(&st->path, e->path) ||
	    dp__fold_text(&st->dir, e->dir) || dp__fold_text(&st->secret, e->secret))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a study");
	else
		code = study_of(e, &st->spec, err); /* last: only now is it ours */
	if (code != DP_OK) {
		dp__study_state_free(st);
		return code;
	}
	st->id = e->study;
	st->now = st->spec;
	st->timed = st->spec->search.max_time > 0;
	st->evaluations = st->spec->search.evaluations;
	code = fold_seeds(st, e, err);
	if (code == DP_OK && st->spec->search.method == DP_METHOD_SELECT)
		code = fold_selection(st, err);
	if (code != DP_OK) {
		dp__study_state_free(st);
		return code;
	}
	st->parallel = st->spec->search.parallel;
	st->priority = st->spec->priority;
	st->blocked = -1;
	st->created = e->time;
	memmove(s->studies + i + 1, s->studies + i, (s->nstudies - i) * sizeof st);
	s->studies[i] = st;
	s->nstudies++;
	return DP_OK;
}

static int fold_moved(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	int status = dp__study_status_from(e->state);
	bool stays;

	if (status < 0)
		return dp_fail(err, DP_E_CORRUPT, "study %u is moved to no known state", st->id);
	/* one that is only measured goes back to where it was, with who brought it there
	 */
	stays = st->measured.rests && (status == DP_STUDY_RUNNING || !e->by);
	if (dp__fold_text(&st->reason, e->reason) || (!stays && dp__fold_text(&st->by, e->by)))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	dp__measure_moved(st, (enum dp_study_status)status);
	st->status = (enum dp_study_status)status;
	st->by_failures = e->counted;
	if (status == DP_STUDY_RUNNING) {
		st->failures_in_row = 0;
		st->measured.failures_in_row = 0;
		st->blocked = -1;
	}
	return DP_OK;
}

void dp__results_change(struct dp_study_state *st)
{
	st->results_version++;
	st->front_valid = st->front_grows = false;
}

void dp__results_add(struct dp_study_state *st, uint32_t trial)
{
	bool known = st->front_valid || st->front_grows;

	if (st->front_valid)
		st->nadded = 0;
	dp__results_change(st);
	if (!known || st->nadded == DP_ADDED_MAX)
		return;
	st->added[st->nadded++] = trial;
	st->front_grows = true;
}

bool dp__fold_point_ok(const struct dp_study *spec, const struct dp_event *e)
{
	if (e->nparams != spec->nparams)
		return false;
	for (size_t i = 0; i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		double x = e->params[i];

		if (p->kind == DP_PARAM_CATEGORICAL &&
		    !(x >= 0 && x < (double)json_array_size(p->values)))
			return false;
		if (p->kind == DP_PARAM_INT && !(fabs(x) <= 0x1p53))
			return false;
	}
	return true;
}

/* Is the filter that of the study's budget, if it has one? */
static bool fold_filter_ok(const struct dp_study *spec, const struct dp_filter *f)
{
	const struct dp_budget *b = &spec->search.budget;
	double bound = dp_filter_bound(f->epsilon, f->delta, f->order);

	if (b->epsilon == 0)
		return f->limit == 0;
	return f->epsilon == b->epsilon && f->delta == b->delta && f->limit > 0 &&
	       f->limit <= bound * (f->order - 1);
}

/* Once, before anything was trained: fixed later it would prove nothing. */
static int fold_accounting(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	struct dp_odometer o = { .n = e->norders };
	bool fits = !st->accounting && st->ntrials == 0 && e->norders == e->nweights &&
		    e->norders > 0 && e->norders <= DP_RENYI_ORDERS_MAX &&
		    fold_filter_ok(st->spec, &e->filter);

	if (fits) {
		memcpy(o.order, e->orders, o.n * sizeof *o.order);
		memcpy(o.weight, e->weights, o.n * sizeof *o.weight);
		fits = dp_odometer_check(&o, NULL) == DP_OK;
	}
	if (!fits)
		return dp_fail(err, DP_E_CORRUPT,
			       "the accounting of study %u is fixed too late, twice, or "
			       "to what proves nothing",
			       st->id);
	st->accounting = malloc(sizeof *st->accounting);
	if (!st->accounting)
		return dp_fail(err, DP_E_NOMEM, "no memory for the accounting");
	*st->accounting = (struct dp_accounting){ o, e->filter };
	return DP_OK;
}

static int fold_imported(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	size_t p = st->spec->nparams, m = st->spec->nobjectives;
	struct dp_imported *grown, *new;

	if (!dp__fold_point_ok(st->spec, e) || e->nobjectives != m)
		return dp_fail(err, DP_E_CORRUPT, "a result imported into study %u does not fit it",
			       st->id);
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
	dp__results_change(st);
	return DP_OK;
}

/* The time since the record before counts if the study ran, and a daemon did. */
static void fold_time_passed(struct dp_study_state *st, bool ran, const struct dp_event *e)
{
	bool counts = ran && (e->type != DP_EV_TIME_NOTED || e->counted);
	int64_t passed = e->time - st->updated;

	if (counts && passed > 0)
		st->active += passed < TIME_MAX - st->active ? passed : TIME_MAX - st->active;
}

static int fold_event(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	switch (e->type) {
	case DP_EV_STUDY_CREATED:
	case DP_EV_TIME_NOTED:
	case DP_EV_RECORD_LOST: /* keeps the place of a record that was damaged */
		return DP_OK;
	case DP_EV_STUDY_AMENDED:
		return dp__fold_amended(st, e, err);
	case DP_EV_STUDY_MOVED:
		return fold_moved(st, e, err);
	case DP_EV_TRIAL_PROPOSED:
		return dp__fold_proposed(st, e, err);
	case DP_EV_RESULT_IMPORTED:
		return fold_imported(st, e, err);
	case DP_EV_ACCOUNTING_FIXED:
		return fold_accounting(st, e, err);
	case DP_EV_MEASURE_ASKED:
		return dp__fold_measure(st, e, err);
	default:
		return dp__fold_of_trial(st, e, err);
	}
}

int dp_state_apply(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_study_state *st;
	int code = DP_OK;
	bool ran;

	if (e->time < 0 || e->time > TIME_MAX)
		return dp_fail(err, DP_E_CORRUPT, "%s of study %u has no possible time",
			       dp_event_name(e->type), e->study);
	if (e->type == DP_EV_STUDY_CREATED) {
		code = fold_created(s, e, err);
		if (code != DP_OK)
			return code;
	}
	st = dp_state_by_id(s, e->study);
	if (!st)
		return dp_fail(err, DP_E_CORRUPT, "%s for study %u, which was never created",
			       dp_event_name(e->type), e->study);
	if (e->seq != st->seq)
		return dp_fail(err, DP_E_CORRUPT, "study %u has record %u where record %u belongs",
			       e->study, e->seq, st->seq);
	ran = e->type != DP_EV_STUDY_CREATED && st->status == DP_STUDY_RUNNING &&
	      !dp_study_searched(st);
	code = fold_event(st, e, err);
	if (code != DP_OK)
		return code;
	st->seq++;
	if (e->type == DP_EV_STUDY_CREATED || e->type == DP_EV_STUDY_MOVED ||
	    e->type == DP_EV_STUDY_AMENDED) {
		st->told++;
		st->told_at = e->time;
	}
	fold_time_passed(st, ran, e);
	st->updated = e->time;
	return DP_OK;
}
