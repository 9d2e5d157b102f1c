/* subject.c - from the journal to the studies that a report is about. */
#include "reports/report.h"

#include "base/num.h"
#include "recall/recall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIT_MAX = 600 /* results in the models: more would take longer than they add */
};

/* ---- reading ---- */

/* Only the records that name studies. */
static int subject_fold_created(void *arg, uint32_t study, uint32_t seq,
				const void *bytes, size_t len, struct dp_err *err)
{
	struct dp_event e = { 0 };
	int code;

	if (seq != 0)
		return DP_OK;
	code = dp_event_decode(bytes, len, &e, err);
	if (code == DP_OK) {
		e.study = study;
		code = dp_state_apply(arg, &e, err);
		dp_event_clear(&e);
	}
	/* of a study that nobody may have asked for */
	return code == DP_E_CORRUPT || code == DP_E_PROTOCOL ? DP_OK : code;
}

/* The numbers of the studies that the selectors name. */
static int find_studies(struct dp_journal *j, const char *const *studies, size_t n,
			uint32_t *ids, struct dp_err *err)
{
	struct dp_state names = { 0 };
	struct dp_study_state *found;
	int code = dp_journal_each(j, 0, subject_fold_created, &names, err);

	for (size_t i = 0; code == DP_OK && i < n; i++) {
		code = dp_state_find(&names, studies[i], &found, err);
		if (code == DP_OK)
			ids[i] = found->id;
	}
	dp_state_free(&names);
	return code;
}

/* Reads the records of the chosen studies, each once. */
static int replay_studies(struct report *r, const char *folder,
			  const char *const *studies, size_t n, uint32_t *ids,
			  struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true };
	struct dp_journal *j;
	int code = dp_journal_open(folder, &options, &j, err);

	if (code != DP_OK)
		return code;
	code = find_studies(j, studies, n, ids, err);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		if (!dp_state_by_id(&r->state, ids[i]))
			code = dp_state_replay(&r->state, j, ids[i], err);
	dp_journal_close(j);
	return code;
}

/* ---- models ---- */

static bool is_on_front(const struct dp_study_state *s, uint32_t trial)
{
	for (uint32_t i = 0; i < s->nfront; i++)
		if (s->front[i] == trial)
			return true;
	return false;
}

static bool is_fitted_result(const struct dp_known *k)
{
	return k->status == DP_KNOWN_OK || k->status == DP_KNOWN_DIVERGED;
}

/* What the models see: all results, or the front and others at even steps. In the
 * order of the history. */
static bool choose_results(struct subject *s)
{
	size_t results = 0, seen = 0, room, imported = s->s->nimported;

	s->fitted = malloc((s->nknown + 1) * sizeof *s->fitted);
	if (!s->fitted)
		return false;
	for (size_t i = 0; i < s->nknown; i++)
		results += is_fitted_result(&s->known[i]);
	room = FIT_MAX > s->s->nfront ? FIT_MAX - s->s->nfront : 1;
	s->history = (struct dp_history){ .known = s->fitted };
	for (size_t i = 0; i < s->nknown; i++) {
		const struct dp_known *k = &s->known[i];
		bool keep = results <= FIT_MAX ||
			    (i >= imported && is_on_front(s->s, k->trial));

		if (!is_fitted_result(k))
			continue;
		/* one at each of `room` even steps */
		keep |= seen * room / results != (seen + 1) * room / results;
		seen++;
		if (keep)
			s->fitted[s->history.n++] = *k;
	}
	return true;
}

static int fit_models(struct subject *s, struct dp_err *err)
{
	struct dp_err why;

	if (!choose_results(s))
		return dp_fail(err, DP_E_NOMEM, "no memory for a report");
	s->models = dp_proposer_new(s->s->spec);
	if (!s->models)
		return dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (dp_surrogate_fit(s->models, &s->history, NULL, &why) == DP_OK)
		return DP_OK;
	snprintf(s->no_models, sizeof s->no_models, "%.255s", why.msg);
	dp_proposer_free(s->models);
	s->models = NULL;
	return DP_OK;
}

/* ---- subjects ---- */

static void choose_objectives(struct subject *s)
{
	const struct dp_study *spec = s->s->spec;

	s->privacy = s->utility = -1;
	for (int i = (int)spec->nobjectives; i-- > 0;)
		*(spec->objectives[i].mechanism ? &s->privacy : &s->utility) = i;
	s->x = s->privacy >= 0 && s->utility >= 0 ? (size_t)s->privacy : 0;
	s->y = s->privacy >= 0 && s->utility >= 0 ? (size_t)s->utility : 1;
}

static int make_subject(struct subject *s, struct dp_study_state *state, bool models,
			struct dp_err *err)
{
	int code;

	s->s = state;
	choose_objectives(s);
	code = dp_study_front(state, err);
	if (code != DP_OK)
		return code;
	s->known = dp_recall(state, false, &s->nknown);
	if (!s->known)
		return dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (models)
		return fit_models(s, err);
	strcpy(s->no_models, "models are fitted for the first study only");
	return DP_OK;
}

int report_load(struct report *r, const char *journal, const char *const *studies,
		size_t n, struct dp_err *err)
{
	uint32_t *ids = calloc(n + 1, sizeof *ids);
	int code = DP_OK;

	r->journal = journal;
	r->subjects = calloc(n + 1, sizeof *r->subjects);
	if (!ids || !r->subjects)
		code = dp_fail(err, DP_E_NOMEM, "no memory for a report");
	if (code == DP_OK)
		code = replay_studies(r, journal, studies, n, ids, err);
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		bool twice = false;

		for (size_t k = 0; k < i; k++)
			twice |= ids[k] == ids[i];
		if (!twice)
			code = make_subject(&r->subjects[r->nsubjects++],
					    dp_state_by_id(&r->state, ids[i]), i == 0,
					    err);
	}
	free(ids);
	return code;
}

void report_free(struct report *r)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		dp_proposer_free(r->subjects[i].models);
		free(r->subjects[i].known);
		free(r->subjects[i].fitted);
	}
	free(r->subjects);
	dp_state_free(&r->state);
	for (size_t i = 0; i < r->nbaselines; i++)
		free(r->baselines[i].label);
	free(r->baselines);
}

/* ---- questions ---- */

double subject_key(const struct subject *s, size_t objective, const char *key)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];

	for (size_t i = 0; o->mechanism && i < o->mechanism->nkeys; i++)
		if (strcmp(o->mechanism->keys[i].name, key) == 0)
			return o->param[i] >= 0        ? NAN
			       : isnan(o->constant[i]) ? o->mechanism->keys[i].otherwise
						       : o->constant[i];
	return NAN;
}

void subject_label(const struct subject *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	double delta = subject_key(s, objective, "delta");
	char text[DP_NUM_LEN];

	dp_buf_puts(out, o->name);
	if (o->mechanism && delta > 0)
		dp_buf_printf(out, " (δ = %s)", dp_num_text(delta, text));
	else if (o->metric && o->one_minus)
		dp_buf_printf(out, " (1 - %s)", o->metric);
	else if (o->metric && strcmp(o->metric, o->name) != 0)
		dp_buf_printf(out, " (%s)", o->metric);
}

/* The value of an objective in one run; NaN: unknown. */
static double run_value(const struct subject *s, const struct dp_trial *t,
			size_t objective, uint32_t run)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	int column = o->metric ? dp_study_metric(s->s, o->metric) : -1;

	if (!o->metric)
		return t->objectives ? t->objectives[objective] : NAN;
	if (column < 0 || !t->metrics || (uint32_t)column >= t->nmetrics)
		return NAN;
	return dp_objective_metric(o, t->metrics[run * t->nmetrics + (uint32_t)column]);
}

bool subject_spread(const struct subject *s, const struct dp_trial *t, size_t objective,
		    double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (uint32_t i = 0; i < (uint32_t)s->s->spec->trainer.runs; i++) {
		double v = run_value(s, t, objective, i);

		if (isnan(v))
			return false;
		*lo = fmin(*lo, v);
		*hi = fmax(*hi, v);
	}
	return true;
}
