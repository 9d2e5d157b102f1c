/* proposer_methods.c - implements the search methods and the lifecycle of a proposer. */
#include "optimize/propose/proposer_internal.h"

#include "base/units.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/private_selection.h"
#include "study/seeds.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct propose_method {
	const char *name;
	uint64_t (*max_trials)(const struct dp_study *study);
	int (*propose)(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		       const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err);
};

/* ---- random and grid ---- */

static uint64_t max_trials_unlimited(const struct dp_study *study)
{
	(void)study;
	return UINT64_MAX;
}

static int propose_random(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
			  const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	(void)h;
	(void)cancel;
	(void)err;
	dp_space_sample(p->study, trial, false, out->x);
	out->source = "random";
	return DP_OK;
}

/* Random search, seeded by a secret. Trial 0 fails if the selection has no finite epsilon. */
static int propose_private_selection(struct dp_proposer *p, const struct dp_history *h,
				     uint32_t trial, const atomic_bool *cancel,
				     struct dp_proposal *out, struct dp_err *err)
{
	int code = propose_random(p, h, trial, cancel, out, err);
	struct dp_select_cost cost;

	out->source = "select";
	if (!p->study->secret)
		return dp_fail(err, DP_E_INVALID,
			       "the points of a private selection are drawn in secret");
	if (trial > 0)
		return code;
	code = dp_select_compute_cost(p->study, &cost, err);
	if (code == DP_OK && !isfinite(cost.epsilon))
		return dp_fail(err, DP_E_INVALID,
			       "nothing was trained: the selection has no finite epsilon "
			       "at delta %g, since some setting that can be drawn has "
			       "hardly any noise",
			       cost.delta);
	return code;
}

static int propose_grid(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
			const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	(void)h;
	(void)cancel;
	if (trial >= dp_space_grid_size(p->study))
		return dp_fail(err, DP_E_LIMIT, "the grid has no point %u", trial);
	dp_space_grid_point(p->study, trial, out->x);
	out->source = "grid";
	return DP_OK;
}

/* ---- dpareto ---- */

enum {
	RANDOM_DRAWS_MAX = 64 /* for a random point that was not proposed yet */
};
static const double design_part = 0.5; /* of the logarithm of the learning curve's range */

static uint64_t max_trials_of_space(const struct dp_study *study)
{
	struct dp__encoding in;

	dp__encoding_init(study, &in);
	return in.n_points < 1e18 ? (uint64_t)in.n_points : UINT64_MAX;
}

/* Finds an unproposed, affordable point of a finite space, starting at a random one. */
static int find_unproposed_point(struct dp_proposer *p, uint32_t trial, double *x,
				 struct dp_err *err)
{
	uint64_t n = max_trials_of_space(p->study), from;
	struct dp_rng r;

	dp_study_rng_init(p->study, DP_RNG_PROPOSE, trial, 2, &r);
	from = dp_rng_below(&r, n);
	for (uint64_t i = 0; i < n && i <= p->history->n; i++) {
		dp__encoding_nth_point(&p->encoding, (from + i) % n, x);
		if (!dp__point_is_proposed(p, x) && dp__budget_can_afford(p, x))
			return DP_OK;
	}
	return dp_fail(err, DP_E_LIMIT,
		       dp__budget_is_set(p) ? "what is left of search.budget pays for none of the "
					      "%llu points of the parameter space that are left"
					    : "all %llu points of the parameter space have been "
					      "proposed",
		       (unsigned long long)n);
}

static void sobol_point(const struct dp_proposer *p, uint32_t trial, double *x)
{
	double u[DP_PARAMS_MAX];

	for (size_t k = 0; k < p->encoding.d; k++) {
		const struct dp__input *in = &p->encoding.inputs[k];
		double t = dp__sobol_study_coordinate(p->study, trial, (unsigned)k);

		if (in->kind == DP__INPUT_CATEGORY)
			u[k] = floor(t * in->n_values);
		else if (in->kind == DP__INPUT_INT && !in->is_log_in_study)
			u[k] = dp__input_encode(in, in->lo + floor(t * in->n_values));
		else if (in->is_log_in_study)
			u[k] = in->is_log ? t
					  : dp__input_encode(in, in->lo * pow(in->hi / in->lo, t));
		else
			u[k] = dp__input_encode(in, in->lo + t * (in->hi - in->lo));
	}
	dp__encoding_decode(&p->encoding, u, x);
}

/* Draws a point: that of the design, or (redraw) a random one of the study with another seed.
 * False: no such point fits the remaining budget. */
static bool draw_point(struct dp_proposer *p, const struct dp_study *study, bool redraw,
		       uint32_t trial, double *x)
{
	const struct dp__input *in = &p->encoding.inputs[p->encoding.path_input];
	double u[DP_PARAMS_MAX];
	struct dp_rng r;

	if (study->search.sobol_design && trial < study->search.initial && !redraw)
		sobol_point(p, trial, x);
	else
		dp_space_sample(study, trial, true, x);
	dp__encoding_pin(&p->encoding, x);
	if (trial < study->search.initial && dp__has_learning_curve(p) && !in->is_pinned &&
	    in->is_log) {
		/* Runs of the initial design are short, because nothing is known yet: their ends
		 * are log-uniform in the lower part of the range. */
		dp_study_rng_init(study, DP_RNG_PROPOSE, trial, 3, &r);
		x[in->param] = rint(dp__input_decode(in, design_part * dp_rng_uniform(&r)));
	}
	if (!dp__budget_is_set(p))
		return true;
	dp__encoding_encode(&p->encoding, x, u);
	if (!dp__budget_move_to_affordable(p, dp__budget_initial_share(p, trial), u) &&
	    !dp__budget_move_to_affordable(p, p->history->budget_remaining, u))
		return false;
	dp__encoding_decode(&p->encoding, u, x);
	return true;
}

/* A point of the initial design, or another random one if that was proposed before. */
static int propose_initial(struct dp_proposer *p, uint32_t trial, struct dp_proposal *out,
			   struct dp_err *err)
{
	struct dp_study other = *p->study;
	struct dp_rng r;
	bool fits = draw_point(p, p->study, false, trial, out->x);

	if (fits && !dp__point_is_proposed(p, out->x))
		return DP_OK;
	dp_study_rng_init(p->study, DP_RNG_PROPOSE, trial, 1, &r);
	for (int i = 0; i < RANDOM_DRAWS_MAX; i++) {
		other.seed = dp_rng_u64(&r) >> 11;
		fits = draw_point(p, &other, true, trial, out->x);
		if (fits && !dp__point_is_proposed(p, out->x))
			return DP_OK;
	}
	if (p->encoding.n_points < 1e18)
		return find_unproposed_point(p, trial, out->x, err);
	return fits ? DP_OK
		    : dp_fail(err, DP_E_LIMIT,
			      "search.budget: what is left of epsilon %g at delta %g "
			      "pays for no training of the parameter space",
			      p->study->search.budget.epsilon, p->study->search.budget.delta);
}

static void fill_predictions(const struct dp_proposer *p, const struct dp__normal *f,
			     struct dp_prediction *out)
{
	for (size_t j = 0; j < p->study->nobjectives; j++)
		out[j] = dp__predict_to_natural(p->study, j, &f[j]);
}

static int propose_by_model(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
			    const atomic_bool *cancel, struct dp_proposal *out)
{
	struct dp__normal f[DP_OBJECTIVES_MAX];
	double u[DP_PARAMS_MAX], score;
	int code;

	p->note = out->note;
	p->ignores_cost = dp__cost_is_ignored_next(p, h);
	code = dp__surrogate_update(p, h, cancel);
	if (code == DP_OK) {
		dp__posterior_region_update(p);
		if (dp__propose_replicate(p, out->x))
			out->source = "re-run";
		else
			code = dp__acquisition_maximize(p, trial, cancel, out);
	}
	if (code == DP_OK) {
		dp__encoding_encode(&p->encoding, out->x, u);
		dp__acquisition_eval(p, u, 1, 1, true, &score, f, &out->feasible_probability);
		fill_predictions(p, f, out->predicted);
		out->has_prediction = true;
	}
	p->ignores_cost = false;
	p->note = NULL;
	return code;
}

static int propose_dpareto(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
			   const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	const struct dp__acquisition *acq = dp__acquisition_get(p->study);
	int code;

	p->history = h;
	if (trial < p->study->search.initial) {
		out->source = "initial";
		return propose_initial(p, trial, out, err);
	}
	out->source = acq->name;
	if (!acq->log_value)
		return propose_initial(p, trial, out, err);
	code = propose_by_model(p, h, trial, cancel, out);
	if (code == DP_OK)
		return DP_OK;
	if (code == DP_E_INTERRUPTED)
		return dp_fail(err, code, "the proposal was cancelled");
	out->source = "random";
	snprintf(out->note, sizeof out->note, "%s; a random point is taken",
		 dp__surrogate_count_trainings(p) < 2 ? "fewer than two results are known"
						      : "no model fits");
	return propose_initial(p, trial, out, err);
}

static const struct propose_method propose_methods[] = {
	[DP_METHOD_RANDOM] = { "random", max_trials_unlimited, propose_random },
	[DP_METHOD_GRID] = { "grid", dp_space_grid_size, propose_grid },
	[DP_METHOD_DPARETO] = { "dpareto", max_trials_of_space, propose_dpareto },
	[DP_METHOD_SELECT] = { "select", max_trials_unlimited, propose_private_selection },
};

int dp_propose_check_method(const struct dp_study *study, struct dp_err *err)
{
	if ((size_t)study->search.method < DP_COUNT(propose_methods))
		return DP_OK;
	return dp_fail(err, DP_E_INVALID, "there is no such search method");
}

uint64_t dp_propose_max_trials(const struct dp_study *study)
{
	return propose_methods[study->search.method].max_trials(study);
}

/* ---- the proposer ---- */

struct dp_proposer *dp_proposer_new(const struct dp_study *study)
{
	struct dp_proposer *p = dp_calloc(1, sizeof *p);

	p->study = study;
	p->n_outputs = study->nobjectives + study->nconstraints;
	dp__encoding_init(study, &p->encoding);
	dp__encoding_to_gp_spec(&p->encoding, &p->spec);
	p->accountants = dp_accounting_cache_open(p->study);
	if (p->encoding.n_calibrated)
		p->calibration_cache = dp_calloc(1, sizeof *p->calibration_cache);
	if (study->search.budget.epsilon > 0)
		p->renyi_cache = dp_renyi_cache_new();
	return p;
}

void dp_proposer_free(struct dp_proposer *p)
{
	if (!p)
		return;
	for (size_t o = 0; o < p->n_outputs; o++) {
		dp_gp_free(&p->output[o].gp);
		dp_gp_free(&p->output[o].smooth_gp);
		free(p->output[o].y);
		free(p->output[o].noise);
	}
	dp_accounting_cache_close(p->accountants);
	free(p->calibration_cache);
	dp_renyi_cache_free(p->renyi_cache);
	dp__box_partitioning_free(&p->partitioning);
	free(p->time_model.u);
	free(p->fits);
	free(p->fit_hypers);
	free(p->observed);
	free(p->noise_group);
	free(p->u);
	free(p->posterior_front);
	free(p->work);
	free(p->curve_work);
	free(p);
}

int dp_proposer_propose(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
			const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	struct dp_err trouble = { 0 };
	int code = dp_propose_check_method(p->study, err);

	if (code != DP_OK)
		return code;
	p->trial = trial;
	memset(out, 0, sizeof *out);
	dp__cost_model_fit(p, h);
	p->accountant_error = h->external_accountants ? &trouble : NULL;
	code = propose_methods[p->study->search.method].propose(p, h, trial, cancel, out, err);
	p->accountant_error = NULL;
	if (trouble.code) { /* the point was chosen without the accountant, so that it is void */
		code = trouble.code;
		if (err)
			*err = trouble;
	}
	dp_space_clear_calibrated(p->study, out->x); /* a replicate may come from another study */
	if (code == DP_OK) {
		/* if no noise is enough, the accountants report it later */
		(void)dp__proposer_calibrate(p, out->x, NULL);
		dp__cost_fill_proposal(p, h, out);
	}
	dp__encoding_unpin(&p->encoding, out->x);
	p->history = NULL;
	return code;
}

/* ---- for reports ---- */

int dp_surrogate_fit(struct dp_proposer *p, const struct dp_history *h, const atomic_bool *cancel,
		     struct dp_err *err)
{
	char seen[DP_PLURAL_LEN];
	int code;

	dp__cost_model_fit(p, h);
	code = dp__surrogate_update(p, h, cancel);
	if (code == DP_OK) {
		dp__posterior_region_update(p);
		return DP_OK;
	}
	p->history = NULL;
	if (code == DP_E_FAILED)
		return dp_fail(err, code, "%s %s too few to fit a model",
			       dp_plural_text(p->n_observed, "result", seen),
			       p->n_observed == 1 ? "is" : "are");
	return dp_fail(err, code, "the models could not be fitted");
}

enum {
	PREDICT_BLOCK = 64 /* points in one prediction, to bound the workspace */
};

void dp_surrogate_predict(struct dp_proposer *p, const double *x, size_t m,
			  struct dp_prediction *out, double *feasible, double *acquisition)
{
	size_t np = p->study->nobjectives, nx = p->study->nparams;
	double u[DP_PARAMS_MAX * PREDICT_BLOCK], one[DP_PARAMS_MAX], score[PREDICT_BLOCK],
		feas[PREDICT_BLOCK];
	double pinned[DP_PARAMS_MAX];
	struct dp__normal f[PREDICT_BLOCK * DP_OBJECTIVES_MAX];

	for (size_t from = 0; from < m; from += PREDICT_BLOCK) {
		size_t count = m - from < PREDICT_BLOCK ? m - from : PREDICT_BLOCK;

		for (size_t i = 0; i < count; i++) {
			memcpy(pinned, x + (from + i) * nx, nx * sizeof *pinned);
			dp__encoding_pin_unset(&p->encoding, pinned);
			dp__encoding_encode(&p->encoding, pinned, one);
			dp__encoding_set_column(&p->encoding, one, u + i, PREDICT_BLOCK);
		}
		dp__acquisition_eval(p, u, PREDICT_BLOCK, count, false, score, f, feas);
		for (size_t i = 0; i < count; i++) {
			if (out)
				fill_predictions(p, f + i * np, out + (from + i) * np);
			if (feasible)
				feasible[from + i] = feas[i];
			if (acquisition)
				acquisition[from + i] = exp(score[i]);
		}
	}
}

int dp_surrogate_get_info(const struct dp_proposer *p, size_t objective,
			  struct dp_surrogate_info *out)
{
	const struct dp__surrogate_output *o = &p->output[objective];

	memset(out, 0, sizeof *out);
	if (objective >= p->n_outputs || p->n_fitted == 0)
		return DP_E_FAILED;
	out->n_results = p->n_observed;
	out->n_fitted = p->n_fitted;
	out->is_exact = o->is_exact;
	out->length = o->hyper.length;
	out->warp = o->hyper.warp;
	out->signal = o->hyper.signal;
	out->prior_sd = o->scale * sqrt(o->hyper.signal);
	out->noise = o->hyper.noise;
	out->jitter = o->gp.jitter;
	return DP_OK;
}
