/* reducer.c - applies journal events to the state. */
#include "state/state_internal.h"

#include "base/rng.h"
#include "base/secret.h"
#include "study/diagnostics.h"
#include "study/metric_release.h"
#include "study/private_selection.h"
#include "study/seeds.h"
#include "study/study_file.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_TIME_US_MAX (INT64_MAX / 4) /* microseconds; sums of a few do not overflow */

static bool event_has_seed_mode(const struct dp_event *e, enum dp_seed_mode seeds)
{
	return e->study_created.seeds &&
	       strcmp(e->study_created.seeds, dp_seed_mode_text(seeds)) == 0;
}

/* Noise and seeds derive from the secret, so a study without it would get different ones. */
static int check_event_secret(const struct dp_event *e, const struct dp_study *spec,
			      struct dp_err *err)
{
	bool secret = event_has_seed_mode(e, DP_SEEDS_SECRET);

	if (e->study_created.seeds && !secret && !event_has_seed_mode(e, DP_SEEDS_FIXED))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u was created with seeds of no known kind", e->study);
	if ((secret || dp_study_needs_secret(spec)) &&
	    !(e->study_created.secret && dp_secret_ok(e->study_created.secret)))
		return dp_fail(err, DP_E_CORRUPT,
			       "study %u was created without the secret that it needs", e->study);
	return DP_OK;
}

/* Restores what the text does not hold. Which words of a command are file names was decided at
 * submission, and does not depend on whether the files still exist. */
static int resolve_event_files(const struct dp_event *e, struct dp_study *spec, struct dp_err *err)
{
	struct dp_command_files files = { (const char **)e->study_created.files,
					  e->study_created.nfiles };

	dp_study_restore_files(spec, e->study_created.dir, &files);
	return check_event_secret(e, spec, err);
}

/* Takes the study that the submitter has parsed, or parses the text. */
static int parse_event_study(const struct dp_event *e, struct dp_study **spec, struct dp_err *err)
{
	struct dp_diagnostics problems = { 0 };
	int code;

	if (e->study_created.parsed_study) {
		code = check_event_secret(e, e->study_created.parsed_study, err);
		*spec = code == DP_OK ? e->study_created.parsed_study : NULL;
		return code;
	}
	code = dp_study_parse(e->study_created.text, strlen(e->study_created.text),
			      e->study_created.path ? e->study_created.path : "study",
			      e->study_created.dir, spec, &problems, err);
	dp_diagnostics_free(&problems);
	if (code == DP_OK)
		return resolve_event_files(e, *spec, err);
	return dp_fail(err, DP_E_CORRUPT,
		       "the study file of study %u, which was valid when it was "
		       "submitted, is not valid for this version",
		       e->study);
}

/* The record decides the mode, not the current value of `data`. A study of a version before 0.3 has
 * fixed seeds, unless it is a private selection (draw_selection()). */
static int set_seed_mode(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	bool select = st->spec->search.method == DP_METHOD_SELECT;

	if (e->study_created.seeds)
		st->spec->seeds =
			event_has_seed_mode(e, DP_SEEDS_SECRET) ? DP_SEEDS_SECRET : DP_SEEDS_FIXED;
	else
		st->spec->seeds = select ? DP_SEEDS_DEFAULT : DP_SEEDS_FIXED;
	if (st->spec->seeds != DP_SEEDS_SECRET && !select)
		return DP_OK;
	free(st->spec->secret);
	st->spec->secret = dp_strdup(st->secret);
	return st->spec->secret ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a study");
}

/* All randomness of a private selection comes from its secret: the number of trials, their
 * parameters (dp_space_sample()) and the seeds of their runs. Versions before 0.3 derived one study
 * seed from it for the runs. */
static int draw_selection(struct dp_study_state *st, struct dp_err *err)
{
	struct dp_selection law;
	struct dp_rng r;
	int code = dp_select_rounds_law(st->spec, &law, err);

	if (code != DP_OK)
		return code;
	dp_rng_init_secret(&r, st->secret, DP_RNG_SELECT, 0, 0);
	st->evaluations = (uint32_t)dp_selection_draw(&law, &r);
	dp_rng_init_secret(&r, st->secret, DP_RNG_SELECT, 0, 1);
	if (st->spec->seeds == DP_SEEDS_DEFAULT)
		st->spec->seed = dp_rng_u64(&r) >> 11;
	return dp__public_view_new(st, err);
}

static int reduce_study_created(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_study_state *st, **grown;
	uint32_t i = dp__state_study_index(s, e->study);
	int code;

	if (!e->study_created.text || !e->study_created.dir)
		return dp_fail(err, DP_E_CORRUPT, "a study was created without its text");
	if (e->seq != 0)
		return dp_fail(err, DP_E_CORRUPT, "study %u is created by record %u", e->study,
			       e->seq);
	if (i < s->nstudies && s->studies[i]->id == e->study)
		return dp_fail(err, DP_E_CORRUPT, "study %u is created twice", e->study);
	if (s->nstudies == s->capacity) {
		uint32_t room = s->capacity ? 2 * s->capacity : 64;

		grown = dp_realloc(s->studies, room * sizeof *grown);
		s->studies = grown;
		s->capacity = room;
	}
	st = dp_calloc(1, sizeof *st);
	if (!st || dp__replace_string(&st->text, e->study_created.text) ||
	    dp__replace_string(&st->path, e->study_created.path) ||
	    dp__replace_string(&st->dir, e->study_created.dir) ||
	    dp__replace_string(&st->secret, e->study_created.secret))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a study");
	else
		code = parse_event_study(e, &st->spec, err); /* last: takes ownership */
	if (code != DP_OK) {
		dp__study_state_free(st);
		return code;
	}
	st->id = e->study;
	st->current_spec = st->spec;
	st->had_max_time = st->spec->search.max_time > 0;
	st->evaluations = st->spec->search.evaluations;
	code = set_seed_mode(st, e, err);
	if (code == DP_OK && st->spec->search.method == DP_METHOD_SELECT)
		code = draw_selection(st, err);
	if (code != DP_OK) {
		dp__study_state_free(st);
		return code;
	}
	st->parallel = st->spec->search.parallel;
	st->priority = st->spec->priority;
	st->blocked_trial = -1;
	st->created_us = e->time_us;
	memmove(s->studies + i + 1, s->studies + i, (s->nstudies - i) * sizeof st);
	s->studies[i] = st;
	s->nstudies++;
	return DP_OK;
}

static int reduce_study_moved(struct dp_study_state *st, const struct dp_event *e,
			      struct dp_err *err)
{
	int status = dp__study_status_parse(e->study_moved.state);
	bool stays;

	if (status < 0)
		return dp_fail(err, DP_E_CORRUPT, "study %u is moved to no known state", st->id);
	/* A study that only runs re-evaluations returns to its former status and requester. */
	stays = st->reevals.has_resume_state && (status == DP_STUDY_RUNNING || !e->requested_by);
	if (dp__replace_string(&st->reason, e->reason) ||
	    (!stays && dp__replace_string(&st->moved_by, e->requested_by)))
		return dp_fail(err, DP_E_NOMEM, "no memory for a reason");
	dp__reevals_on_study_moved(st, (enum dp_study_status)status);
	st->status = (enum dp_study_status)status;
	st->moved_by_failures = e->study_moved.by_failures;
	if (status == DP_STUDY_RUNNING) {
		st->consecutive_failures = 0;
		st->reevals.consecutive_failures = 0;
		st->blocked_trial = -1;
	}
	return DP_OK;
}

void dp__results_invalidate(struct dp_study_state *st)
{
	st->results_version++;
	st->front_valid = st->front_is_extendable = false;
}

void dp__results_add_trial(struct dp_study_state *st, uint32_t trial)
{
	bool known = st->front_valid || st->front_is_extendable;

	if (st->front_valid)
		st->nadded_trials = 0;
	dp__results_invalidate(st);
	if (!known || st->nadded_trials == DP_FRONT_ADDED_MAX)
		return;
	st->added_trials[st->nadded_trials++] = trial;
	st->front_is_extendable = true;
}

bool dp__params_are_valid(const struct dp_study *spec, const double *params, uint32_t n)
{
	if (n != spec->nparams)
		return false;
	for (size_t i = 0; i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		double x = params[i];

		if (p->kind == DP_PARAM_CATEGORICAL &&
		    !(x >= 0 && x < (double)json_array_size(p->values)))
			return false;
		if (p->kind == DP_PARAM_INT && !(fabs(x) <= 0x1p53))
			return false;
	}
	return true;
}

/* True if the filter belongs to the study's budget; without a budget there must be none. */
static bool is_event_filter_valid(const struct dp_study *spec, const struct dp_filter *f)
{
	const struct dp_budget *b = &spec->search.budget;
	double bound = dp_filter_bound(f->epsilon, f->delta, f->order);

	if (b->epsilon == 0)
		return f->limit == 0;
	return f->epsilon == b->epsilon && f->delta == b->delta && f->limit > 0 &&
	       f->limit <= bound * (f->order - 1);
}

/* Allowed once, before the first trial: fixed later it would prove nothing. */
static int reduce_accounting_fixed(struct dp_study_state *st, const struct dp_event *e,
				   struct dp_err *err)
{
	struct dp_odometer o = { .n = e->accounting_fixed.norders };
	bool fits = !st->accounting && st->ntrials == 0 &&
		    e->accounting_fixed.norders == e->accounting_fixed.nweights &&
		    e->accounting_fixed.norders > 0 &&
		    e->accounting_fixed.norders <= DP_RENYI_ORDERS_MAX &&
		    is_event_filter_valid(st->spec, &e->accounting_fixed.filter);

	if (fits) {
		memcpy(o.order, e->accounting_fixed.orders, o.n * sizeof *o.order);
		memcpy(o.weight, e->accounting_fixed.weights, o.n * sizeof *o.weight);
		fits = dp_odometer_check(&o, NULL) == DP_OK;
	}
	if (!fits)
		return dp_fail(err, DP_E_CORRUPT,
			       "the accounting of study %u is fixed too late, twice, or "
			       "to what proves nothing",
			       st->id);
	st->accounting = dp_malloc(sizeof *st->accounting);
	*st->accounting = (struct dp_accounting){ o, e->accounting_fixed.filter };
	return DP_OK;
}

static int reduce_result_imported(struct dp_study_state *st, const struct dp_event *e,
				  struct dp_err *err)
{
	size_t p = st->spec->nparams, m = st->spec->nobjectives;
	struct dp_imported_result *grown, *new;

	if (!dp__params_are_valid(st->spec, e->result_imported.params,
				  e->result_imported.nparams) ||
	    e->result_imported.nobjectives != m)
		return dp_fail(err, DP_E_CORRUPT, "a result imported into study %u does not fit it",
			       st->id);
	grown = dp_realloc(st->imported, (st->nimported + 1) * sizeof *grown);
	st->imported = grown;
	new = &grown[st->nimported];
	new->x = dp_malloc(p * sizeof *new->x + 1);
	new->objectives = dp_malloc(m * sizeof *new->objectives + 1);
	if (!new->x || !new->objectives) {
		free(new->x);
		free(new->objectives);
		return dp_fail(err, DP_E_NOMEM, "no memory for a result");
	}
	memcpy(new->x, e->result_imported.params, p * sizeof *new->x);
	memcpy(new->objectives, e->result_imported.objectives, m * sizeof *new->objectives);
	st->nimported++;
	dp__results_invalidate(st);
	return DP_OK;
}

/* Adds the time since the previous record if the study ran under a daemon. */
static void add_active_time(struct dp_study_state *st, bool ran, const struct dp_event *e)
{
	bool counts = ran && (e->type != DP_EV_TIME_NOTED || e->time_noted.daemon_ran);
	int64_t passed = e->time_us - st->updated_us;

	if (counts && passed > 0)
		st->active_us += passed < RECORD_TIME_US_MAX - st->active_us
					 ? passed
					 : RECORD_TIME_US_MAX - st->active_us;
}

static int reduce_event(struct dp_study_state *st, const struct dp_event *e, struct dp_err *err)
{
	switch (e->type) {
	case DP_EV_STUDY_CREATED:
	case DP_EV_TIME_NOTED:
	case DP_EV_RECORD_LOST: /* placeholder for a damaged record */
		return DP_OK;
	case DP_EV_STUDY_AMENDED:
		return dp__reduce_study_amended(st, e, err);
	case DP_EV_STUDY_MOVED:
		return reduce_study_moved(st, e, err);
	case DP_EV_TRIAL_PROPOSED:
		return dp__reduce_trial_proposed(st, e, err);
	case DP_EV_RESULT_IMPORTED:
		return reduce_result_imported(st, e, err);
	case DP_EV_ACCOUNTING_FIXED:
		return reduce_accounting_fixed(st, e, err);
	case DP_EV_MEASURE_ASKED:
		return dp__reduce_measure_asked(st, e, err);
	default:
		return dp__reduce_trial_event(st, e, err);
	}
}

int dp_state_apply(struct dp_state *s, const struct dp_event *e, struct dp_err *err)
{
	struct dp_study_state *st;
	int code = DP_OK;
	bool ran;

	if (e->time_us < 0 || e->time_us > RECORD_TIME_US_MAX)
		return dp_fail(err, DP_E_CORRUPT, "%s of study %u has no possible time",
			       dp_event_type_name(e->type), e->study);
	if (e->type == DP_EV_STUDY_CREATED) {
		code = reduce_study_created(s, e, err);
		if (code != DP_OK)
			return code;
	}
	st = dp_state_get_study(s, e->study);
	if (!st)
		return dp_fail(err, DP_E_CORRUPT, "%s for study %u, which was never created",
			       dp_event_type_name(e->type), e->study);
	if (e->seq != st->next_seq)
		return dp_fail(err, DP_E_CORRUPT, "study %u has record %u where record %u belongs",
			       e->study, e->seq, st->next_seq);
	ran = e->type != DP_EV_STUDY_CREATED && st->status == DP_STUDY_RUNNING &&
	      !dp_state_is_search_over(st);
	code = reduce_event(st, e, err);
	if (code != DP_OK)
		return code;
	st->next_seq++;
	st->changes++;
	if (e->type == DP_EV_STUDY_CREATED || e->type == DP_EV_STUDY_MOVED ||
	    e->type == DP_EV_STUDY_AMENDED) {
		st->study_records++;
		st->last_study_record_us = e->time_us;
	}
	add_active_time(st, ran, e);
	st->updated_us = e->time_us;
	return DP_OK;
}
