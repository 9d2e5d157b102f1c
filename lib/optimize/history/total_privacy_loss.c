/* total_privacy_loss.c - computes the privacy loss of all runs of a study together. */
#include "optimize/history/total_privacy_loss.h"

#include "base/json.h"
#include "study/accounting.h"
#include "study/learning_curve.h"
#include "study/private_selection.h"
#include "study/search_budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *dp_total_privacy_proof_name(enum dp_total_privacy_proof p)
{
	static const char *const words[] = { [DP_TOTAL_PRIVACY_FIXED] = "fixed",
					     [DP_TOTAL_PRIVACY_ODOMETER] = "odometer",
					     [DP_TOTAL_PRIVACY_FILTER] = "filter",
					     [DP_TOTAL_PRIVACY_SELECTION] = "selection",
					     [DP_TOTAL_PRIVACY_UNKNOWN] = "unknown" };

	return words[p];
}

/* True if exactly the runs that the file fixes were made. An unfinished study may have stopped
 * because of its results, and they may have led a user to enqueue, cancel or retry. */
static bool is_run_as_planned(const struct dp_study_state *s)
{
	const struct dp_study *spec = s->spec;
	uint32_t runs = (uint32_t)spec->trainer.runs;

	/* points are chosen for re-evaluation by their results */
	if (dp_study_is_adaptive(spec) || s->reevals.count ||
	    s->evaluations != spec->search.evaluations || s->ntrials != spec->search.evaluations)
		return false;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		if (t->status < DP_TRIAL_OK ||
		    strcmp(t->source, dp_method_text(spec->search.method)) != 0)
			return false;
		if (!t->refusal_reason && dp_trial_count_started_runs(t) != runs)
			return false;
	}
	return true;
}

static void started_runs_add_trial(const struct dp_study_state *s, const struct dp_trial *t,
				   struct dp_started_runs *out)
{
	size_t np = s->spec->nparams;
	uint32_t times = dp_trial_count_started_runs(t);

	if (times == 0)
		return;
	memcpy(out->x + out->n * np, t->x, np * sizeof *t->x);
	out->stop_at[out->n] = t->stop_at;
	out->counts[out->n++] = times;
	out->total += times;
	out->renyi_spent =
		dp_renyi_add(out->renyi_spent, dp_renyi_multiply(times, t->renyi_per_run));
}

struct dp_started_runs dp_started_runs_collect(const struct dp_study_state *s)
{
	struct dp_started_runs out = { .is_as_planned = is_run_as_planned(s),
				       .is_accounting_recorded = s->accounting != NULL };
	size_t n = (size_t)s->ntrials + s->reevals.ntrials;

	if (s->accounting)
		out.accounting = *s->accounting;
	else
		dp_odometer_init_default(&out.accounting.odometer);
	out.x = dp_malloc((n * s->spec->nparams + 1) * sizeof *out.x);
	out.stop_at = dp_malloc((n + 1) * sizeof *out.stop_at);
	out.counts = dp_malloc((n + 1) * sizeof *out.counts);
	for (uint32_t i = 0; i < s->ntrials; i++)
		started_runs_add_trial(s, s->trials[i], &out);
	for (uint32_t i = 0; i < s->reevals.ntrials; i++)
		started_runs_add_trial(s, s->reevals.trials[i], &out);
	return out;
}

void dp_started_runs_free(struct dp_started_runs *t)
{
	free(t->x);
	free(t->stop_at);
	free(t->counts);
	*t = (struct dp_started_runs){ 0 };
}

/* May a checkpoint cost more than the end of its run? Then the run's cost is not that of one
 * setting, but its Renyi curve still holds. */
static bool has_costlier_checkpoint(const struct dp_study *study, const struct dp_started_runs *t,
				    size_t objective)
{
	double before[DP_CHECKPOINTS_MAX];

	for (size_t i = 0; i < t->n; i++)
		if (dp_learning_curve_costlier(study, objective, t->x + i * study->nparams,
					       t->stop_at[i], before) > 0)
			return true;
	return false;
}

/* Epsilon of all runs at out->delta if their parameters had been fixed beforehand. */
static int compute_fixed_composition(const struct dp_study *study, const struct dp_started_runs *t,
				     size_t objective, struct dp_total_privacy *out,
				     struct dp_err *err)
{
	size_t room = t->n * study->objectives[objective].privacy->nuses + 1, n = 0;
	struct dp_composition_item *items = dp_calloc(room, sizeof *items);
	double *values = dp_calloc(room * DP_PRIVACY_KEYS_MAX, sizeof *values);
	struct dp_composition_items uses;
	struct dp_epsilon e;
	int code = DP_OK;

	for (size_t i = 0; i < t->n && code == DP_OK; i++) {
		code = dp_accounting_items(study, objective, t->x + i * study->nparams,
					   t->stop_at[i], &uses, err);
		for (size_t k = 0; code == DP_OK && k < uses.n; k++, n++) {
			double *own = values + n * DP_PRIVACY_KEYS_MAX;

			memcpy(own, uses.values[k], sizeof uses.values[k]);
			items[n] =
				(struct dp_composition_item){ uses.items[k].mechanism, own,
							      uses.items[k].times * t->counts[i] };
		}
	}
	if (code == DP_OK)
		code = dp_privacy_compose(items, n, out->delta, false, &e, err);
	if (code == DP_OK)
		out->epsilon_if_fixed =
			has_costlier_checkpoint(study, t, objective) ? INFINITY : e.epsilon;
	free(items);
	free(values);
	return code;
}

/* The odometer's reading, and the epsilon of its curves if all parameters had been fixed, which
 * replaces the composition above where it is smaller. */
static int read_odometer(const struct dp_study *study, const struct dp_started_runs *t,
			 size_t objective, struct dp_total_privacy *out, struct dp_err *err)
{
	const struct dp_odometer *o = &t->accounting.odometer;
	double sum[DP_RENYI_ORDERS_MAX] = { 0 }, k[DP_RENYI_ORDERS_MAX];
	struct dp_renyi_cache *m = dp_renyi_cache_new();
	int code = DP_OK;

	for (size_t i = 0; i < t->n && code == DP_OK; i++) {
		code = dp_study_training_renyi(study, m, objective, t->x + i * study->nparams,
					       t->stop_at[i], o->order, o->n, k, err);
		for (size_t j = 0; code == DP_OK && j < o->n; j++)
			sum[j] = dp_renyi_add(sum[j], dp_renyi_multiply(t->counts[i], k[j]));
	}
	dp_renyi_cache_free(m);
	if (code != DP_OK)
		return code;
	out->epsilon = dp_odometer_epsilon(o, sum, out->delta, &out->order);
	out->epsilon_if_fixed = fmin(out->epsilon_if_fixed,
				     dp_renyi_epsilon(o->order, sum, o->n, out->delta, NULL));
	return DP_OK;
}

/* Delta of the proof: that of the budget, else that of the objective. */
static double get_proof_delta(const struct dp_study *study, const struct dp_started_runs *t,
			      size_t objective)
{
	double delta = dp_accounting_delta(study->objectives[objective].privacy);

	if (t->accounting.filter.limit > 0)
		return t->accounting.filter.delta;
	return isnan(delta) ? DP_TOTAL_PRIVACY_DEFAULT_DELTA : delta;
}

static int choose_privacy_proof(const struct dp_study *study, const struct dp_started_runs *t,
				size_t objective, struct dp_total_privacy *out, struct dp_err *err)
{
	const struct dp_filter *f = &t->accounting.filter;
	struct dp_select_cost cost;
	int code;

	if (study->search.method == DP_METHOD_SELECT) { /* independent of the number of runs */
		code = dp_select_compute_cost(study, &cost, err);
		if (code != DP_OK)
			return code;
		out->proof = DP_TOTAL_PRIVACY_SELECTION;
		out->epsilon = cost.epsilon;
		out->order = cost.order;
		out->started_runs = 0;
		return DP_OK;
	}
	out->proof = DP_TOTAL_PRIVACY_ODOMETER;
	out->epsilon = out->epsilon_if_fixed = 0; /* before the first run */
	code = t->n ? compute_fixed_composition(study, t, objective, out, err) : DP_OK;
	/* pure losses are bounded for certain, so their sum holds adaptively */
	out->epsilon = out->epsilon_if_fixed;
	if (code == DP_OK && t->n && out->delta > 0)
		code = read_odometer(study, t, objective, out, err);
	if (code != DP_OK)
		return code;
	if (f->limit > 0) {
		out->proof = DP_TOTAL_PRIVACY_FILTER;
		out->epsilon = f->epsilon;
		out->order = f->order;
		out->renyi_spent = t->renyi_spent / (f->order - 1);
		out->renyi_limit = f->limit / (f->order - 1);
	} else if (t->n && t->is_as_planned) {
		out->proof = DP_TOTAL_PRIVACY_FIXED;
		out->epsilon = out->epsilon_if_fixed;
		out->order = NAN;
	}
	return DP_OK;
}

int dp_total_privacy_compute(const struct dp_study *study, const struct dp_started_runs *t,
			     size_t objective, struct dp_total_privacy *out, struct dp_err *err)
{
	struct dp_err why;
	int code;

	*out = (struct dp_total_privacy){ .proof = DP_TOTAL_PRIVACY_UNKNOWN,
					  .epsilon = NAN,
					  .delta = NAN,
					  .order = NAN,
					  .renyi_spent = NAN,
					  .renyi_limit = NAN,
					  .epsilon_if_fixed = NAN,
					  .started_runs = t->total,
					  .is_accounting_recorded = t->is_accounting_recorded };
	code = dp_study_check_composable(study, objective, &why);
	if (code == DP_OK) {
		out->delta = get_proof_delta(study, t, objective);
		code = choose_privacy_proof(study, t, objective, out, &why);
	}
	if (code == DP_E_INVALID) { /* no theorem covers it */
		out->proof = DP_TOTAL_PRIVACY_UNKNOWN;
		out->epsilon = out->epsilon_if_fixed = NAN;
		snprintf(out->unknown_reason, sizeof out->unknown_reason, "%.299s", why.msg);
		return DP_OK;
	}
	return code == DP_OK ? DP_OK : dp_fail(err, code, "%s", why.msg);
}

int dp_total_privacy_of_study(const struct dp_study_state *s, size_t objective,
			      struct dp_total_privacy *out, struct dp_err *err)
{
	struct dp_started_runs t = dp_started_runs_collect(s);
	int code = dp_total_privacy_compute(s->spec, &t, objective, out, err);

	dp_started_runs_free(&t);
	return code;
}

static json_t *number_or_nan_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *dp_total_privacy_json(const struct dp_total_privacy *w)
{
	return json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s?}", "proof",
		dp_total_privacy_proof_name(w->proof), "epsilon", number_or_nan_json(w->epsilon),
		"delta", number_or_nan_json(w->delta), "order", number_or_nan_json(w->order),
		"spent", number_or_nan_json(w->renyi_spent), "limit",
		number_or_nan_json(w->renyi_limit), "if_fixed",
		number_or_nan_json(w->epsilon_if_fixed), "trainings", (json_int_t)w->started_runs,
		"why", w->unknown_reason[0] ? w->unknown_reason : NULL);
}
