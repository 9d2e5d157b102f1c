/* whole.c - what a whole study has cost, all its trainings together. */
#include "recall/whole.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *dp_whole_text(enum dp_whole_proof p)
{
	static const char *const words[] = { [DP_WHOLE_FIXED] = "fixed",
					     [DP_WHOLE_ODOMETER] = "odometer",
					     [DP_WHOLE_FILTER] = "filter",
					     [DP_WHOLE_SELECTION] = "selection",
					     [DP_WHOLE_UNKNOWN] = "unknown" };

	return words[p];
}

/* ---- what was trained ---- */

/* Was everything made that the file fixes, and nothing else? A study that was stopped, or
 * is not there yet, may have stopped because of its results; and so may whoever enqueues,
 * cancels, tries again, or sets another number. */
static bool trained_as_planned(const struct dp_study_state *s)
{
	const struct dp_study *spec = s->spec;
	uint32_t runs = (uint32_t)spec->trainer.runs;

	/* what is measured again was chosen by somebody who saw results */
	if (dp_study_adapts(spec) || s->measured.n || s->evaluations != spec->search.evaluations ||
	    s->ntrials != spec->search.evaluations)
		return false;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		if (t->status < DP_TRIAL_OK ||
		    strcmp(t->source, dp_method_text(spec->search.method)) != 0)
			return false;
		if (!t->refused && dp_trial_trainings(t) != runs)
			return false;
	}
	return true;
}

static void trainings_add(const struct dp_study_state *s, const struct dp_trial *t,
			  struct dp_trainings *out)
{
	size_t np = s->spec->nparams;
	uint32_t times = dp_trial_trainings(t);

	if (times == 0)
		return;
	memcpy(out->x + out->n * np, t->x, np * sizeof *t->x);
	out->at[out->n] = t->at;
	out->times[out->n++] = times;
	out->all += times;
	out->spent = dp_renyi_add(out->spent, dp_renyi_times(times, t->renyi));
}

int dp_trainings_take(const struct dp_study_state *s, struct dp_trainings *out, struct dp_err *err)
{
	size_t n;

	*out = (struct dp_trainings){ .as_planned = trained_as_planned(s),
				      .recorded = s->accounting != NULL };
	if (s->accounting)
		out->accounting = *s->accounting;
	else
		dp_odometer_standard(&out->accounting.odometer);
	n = (size_t)s->ntrials + s->measured.ntrials;
	out->x = malloc((n * s->spec->nparams + 1) * sizeof *out->x);
	out->at = malloc((n + 1) * sizeof *out->at);
	out->times = malloc((n + 1) * sizeof *out->times);
	if (!out->x || !out->at || !out->times) {
		dp_trainings_free(out);
		return dp_fail(err, DP_E_NOMEM, "no memory for the trainings");
	}
	for (uint32_t i = 0; i < s->ntrials; i++)
		trainings_add(s, s->trials[i], out);
	for (uint32_t i = 0; i < s->measured.ntrials; i++)
		trainings_add(s, s->measured.trials[i], out);
	return DP_OK;
}

void dp_trainings_free(struct dp_trainings *t)
{
	free(t->x);
	free(t->at);
	free(t->times);
	*t = (struct dp_trainings){ 0 };
}

/* ---- composition ---- */

struct whole_items {
	struct dp_privacy_item *items; /* (n) */
	double *values;                /* (n x DP_PRIVACY_KEYS_MAX) */
	size_t n;
};

/* Adds what was done at one setting, so many times over. */
static void whole_items_add(struct whole_items *w, const struct dp_uses *u, uint32_t times)
{
	for (size_t k = 0; k < u->n; k++, w->n++) {
		double *values = w->values + w->n * DP_PRIVACY_KEYS_MAX;

		memcpy(values, u->values[k], sizeof u->values[k]);
		w->items[w->n] = (struct dp_privacy_item){ u->item[k].mechanism, values,
							   u->item[k].times * times };
	}
}

static int whole_items(const struct dp_study *study, const struct dp_trainings *t, size_t objective,
		       struct whole_items *w, struct dp_err *err)
{
	size_t each = study->objectives[objective].privacy->nuses;

	w->items = calloc(t->n * each + 1, sizeof *w->items);
	w->values = calloc((t->n * each + 1) * DP_PRIVACY_KEYS_MAX, sizeof *w->values);
	if (!w->items || !w->values)
		return dp_fail(err, DP_E_NOMEM, "no memory for the composition");
	for (size_t i = 0; i < t->n; i++) {
		struct dp_uses uses;
		int code = dp_oracle_uses(study, objective, t->x + i * study->nparams, t->at[i],
					  &uses, err);

		if (code != DP_OK)
			return code;
		whole_items_add(w, &uses, t->times[i]);
	}
	return DP_OK;
}

/* May a checkpoint of a training cost more than its end? Then no one setting stands for
 * the training, but its curve does. */
static bool whole_falls(const struct dp_study *study, const struct dp_trainings *t,
			size_t objective)
{
	double before[DP_WAYPOINTS_MAX];

	for (size_t i = 0; i < t->n; i++)
		if (dp_path_costlier(study, objective, t->x + i * study->nparams, t->at[i],
				     before) > 0)
			return true;
	return false;
}

/* Epsilon of all trainings at out->delta, had they been fixed beforehand. */
static int whole_composed(const struct dp_study *study, const struct dp_trainings *t,
			  size_t objective, struct dp_whole *out, struct dp_err *err)
{
	struct whole_items w = { 0 };
	struct dp_epsilon e;
	int code = whole_items(study, t, objective, &w, err);

	if (code == DP_OK)
		code = dp_privacy_compose(w.items, w.n, out->delta, false, &e, err);
	if (code == DP_OK)
		out->if_fixed = whole_falls(study, t, objective) ? INFINITY : e.epsilon;
	free(w.items);
	free(w.values);
	return code;
}

/* ---- the odometer ---- */

static int whole_sums(const struct dp_study *study, const struct dp_trainings *t, size_t objective,
		      double *sum, struct dp_err *err)
{
	const struct dp_odometer *o = &t->accounting.odometer;
	struct dp_renyi_memory *m = dp_renyi_memory_new();
	double k[DP_RENYI_ORDERS_MAX];
	int code = m ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for the odometer");

	for (size_t i = 0; i < t->n && code == DP_OK; i++) {
		code = dp_study_renyi(study, m, objective, t->x + i * study->nparams, t->at[i],
				      o->order, o->n, k, err);
		for (size_t j = 0; j < o->n; j++)
			sum[j] = dp_renyi_add(sum[j], dp_renyi_times(t->times[i], k[j]));
	}
	dp_renyi_memory_free(m);
	return code;
}

/* The odometer's reading; and what its curves give had all settings been fixed, which is
 * less than their composition above where they are tighter than the published ones. */
static int whole_read(const struct dp_study *study, const struct dp_trainings *t, size_t objective,
		      struct dp_whole *out, struct dp_err *err)
{
	const struct dp_odometer *o = &t->accounting.odometer;
	double sum[DP_RENYI_ORDERS_MAX] = { 0 };
	int code = whole_sums(study, t, objective, sum, err);

	if (code != DP_OK)
		return code;
	out->epsilon = dp_odometer_epsilon(o, sum, out->delta, &out->order);
	out->if_fixed =
		fmin(out->if_fixed, dp_renyi_epsilon(o->order, sum, o->n, out->delta, NULL));
	return DP_OK;
}

/* ---- all of it ---- */

static void whole_filter(const struct dp_trainings *t, struct dp_whole *out)
{
	const struct dp_filter *f = &t->accounting.filter;

	out->proof = DP_WHOLE_FILTER;
	out->epsilon = f->epsilon;
	out->order = f->order;
	out->spent = t->spent / (f->order - 1);
	out->limit = f->limit / (f->order - 1);
}

/* Delta of the proof: that of the budget, else that of the objective. */
static double whole_delta(const struct dp_study *study, const struct dp_trainings *t,
			  size_t objective)
{
	double delta = dp_oracle_delta(study->objectives[objective].privacy);

	if (t->accounting.filter.limit > 0)
		return t->accounting.filter.delta;
	return isnan(delta) ? DP_WHOLE_DELTA : delta;
}

/* What is published of a private selection; how many trainings there were has no say. */
static int whole_selection(const struct dp_study *study, struct dp_whole *out, struct dp_err *err)
{
	struct dp_select_cost cost;
	int code = dp_select_cost(study, &cost, err);

	if (code != DP_OK)
		return code;
	out->proof = DP_WHOLE_SELECTION;
	out->epsilon = cost.epsilon;
	out->order = cost.order;
	out->trainings = 0;
	return DP_OK;
}

/* Which of the proofs there is. */
static int whole_prove(const struct dp_study *study, const struct dp_trainings *t, size_t objective,
		       struct dp_whole *out, struct dp_err *err)
{
	int code;

	if (study->search.method == DP_METHOD_SELECT)
		return whole_selection(study, out, err);
	out->proof = DP_WHOLE_ODOMETER;
	out->epsilon = out->if_fixed = 0; /* before the first training */
	code = t->n ? whole_composed(study, t, objective, out, err) : DP_OK;
	/* pure losses are bounded one by one, so their sum needs no luck */
	out->epsilon = out->if_fixed;
	if (code == DP_OK && t->n && out->delta > 0)
		code = whole_read(study, t, objective, out, err);
	if (code != DP_OK)
		return code;
	if (t->accounting.filter.limit > 0) {
		whole_filter(t, out);
	} else if (t->n && t->as_planned) {
		out->proof = DP_WHOLE_FIXED;
		out->epsilon = out->if_fixed;
		out->order = NAN;
	}
	return DP_OK;
}

int dp_whole_reckon(const struct dp_study *study, const struct dp_trainings *t, size_t objective,
		    struct dp_whole *out, struct dp_err *err)
{
	struct dp_err why;
	int code;

	*out = (struct dp_whole){ .proof = DP_WHOLE_UNKNOWN,
				  .epsilon = NAN,
				  .delta = NAN,
				  .order = NAN,
				  .spent = NAN,
				  .limit = NAN,
				  .if_fixed = NAN,
				  .trainings = t->all,
				  .recorded = t->recorded };
	code = dp_study_adds_up(study, objective, &why);
	if (code == DP_OK) {
		out->delta = whole_delta(study, t, objective);
		code = whole_prove(study, t, objective, out, &why);
	}
	if (code == DP_E_INVALID) { /* there is no theorem for it */
		out->proof = DP_WHOLE_UNKNOWN;
		out->epsilon = out->if_fixed = NAN;
		snprintf(out->why, sizeof out->why, "%.299s", why.msg);
		return DP_OK;
	}
	return code == DP_OK ? DP_OK : dp_fail(err, code, "%s", why.msg);
}

int dp_whole_find(const struct dp_study_state *s, size_t objective, struct dp_whole *out,
		  struct dp_err *err)
{
	struct dp_trainings t;
	int code = dp_trainings_take(s, &t, err);

	if (code != DP_OK)
		return code;
	code = dp_whole_reckon(s->spec, &t, objective, out, err);
	dp_trainings_free(&t);
	return code;
}

static json_t *whole_number(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *dp_whole_json(const struct dp_whole *w)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s?}", "proof",
			 dp_whole_text(w->proof), "epsilon", whole_number(w->epsilon), "delta",
			 whole_number(w->delta), "order", whole_number(w->order), "spent",
			 whole_number(w->spent), "limit", whole_number(w->limit), "if_fixed",
			 whole_number(w->if_fixed), "trainings", (json_int_t)w->trainings, "why",
			 w->why[0] ? w->why : NULL);
}
