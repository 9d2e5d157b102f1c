/* propose.c - the proposers by name; each method is one const entry. */
#include "propose/propose_internal.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct method {
	const char *name;
	uint64_t (*limit)(const struct dp_study *study);
	int (*ask)(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		   const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err);
};

/* ---- random and grid ---- */

static uint64_t no_limit(const struct dp_study *study)
{
	(void)study;
	return UINT64_MAX;
}

static int ask_random(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		      const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	(void)h;
	(void)cancel;
	(void)err;
	dp_space_sample(p->study, trial, false, out->x);
	out->source = "random";
	return DP_OK;
}

/* Drawn as by random search, but from the study's secret. The first one comes once it is
 * known that the selection has an epsilon at all. */
static int ask_select(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		      const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	int code = ask_random(p, h, trial, cancel, out, err);
	struct dp_select_cost cost;

	out->source = "select";
	if (!p->study->secret)
		return dp_fail(err, DP_E_INVALID,
			       "the points of a private selection are drawn in secret");
	if (trial > 0)
		return code;
	code = dp_select_cost(p->study, &cost, err);
	if (code == DP_OK && !isfinite(cost.epsilon))
		return dp_fail(err, DP_E_INVALID,
			       "nothing was trained: the selection has no finite epsilon "
			       "at delta %g, since some setting that can be drawn has "
			       "hardly any noise",
			       cost.delta);
	return code;
}

static int ask_grid(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
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
	DRAWS = 64 /* for a random point that is not taken */
};
static const double design_part = 0.5; /* of the logarithm of a path's range */

static uint64_t space_limit(const struct dp_study *study)
{
	struct dp__inputs in;

	dp__inputs(study, &in);
	return in.points < 1e18 ? (uint64_t)in.points : UINT64_MAX;
}

/* Any point of a finite space that is not taken, from a random one on. */
static int first_free(struct dp_proposer *p, uint32_t trial, double *x, struct dp_err *err)
{
	uint64_t n = space_limit(p->study), from;
	struct dp_rng r;

	dp_study_stream(p->study, DP_RNG_PROPOSE, trial, 2, &r);
	from = dp_rng_below(&r, n);
	for (uint64_t i = 0; i < n && i <= p->history->n; i++) {
		dp__nth_point(&p->inputs, (from + i) % n, x);
		if (!dp__taken(p, x) && dp__budget_fits(p, x))
			return DP_OK;
	}
	return dp_fail(err, DP_E_LIMIT,
		       dp__budgeted(p) ? "what is left of search.budget pays for none of the "
					 "%llu points of the parameter space that are left"
				       : "all %llu points of the parameter space have been "
					 "proposed",
		       (unsigned long long)n);
}

static void sobol_point(const struct dp_proposer *p, uint32_t trial, double *x)
{
	double u[DP_PARAMS_MAX];

	for (size_t k = 0; k < p->inputs.d; k++) {
		const struct dp__input *in = &p->inputs.in[k];
		double t = dp__sobol_of(p->study, trial, (unsigned)k);

		if (in->kind == DP__CATEGORY)
			u[k] = floor(t * in->values);
		else if (in->kind == DP__INT && !in->file_log)
			u[k] = dp__place_of(in, in->lo + floor(t * in->values));
		else if (in->file_log)
			u[k] = in->log ? t : dp__place_of(in, in->lo * pow(in->hi / in->lo, t));
		else
			u[k] = dp__place_of(in, in->lo + t * (in->hi - in->lo));
	}
	dp__to_x(&p->inputs, u, x);
}

/* Where a training costs what it walks, those of the design, which know nothing yet, are
 * short: their ends lie evenly on the logarithm of the lower part of the range. */
static void shorten_path(const struct dp_proposer *p, const struct dp_study *study, uint32_t trial,
			 double *x)
{
	const struct dp__input *in = &p->inputs.in[p->inputs.path];
	struct dp_rng r;

	if (!dp__walks(p) || in->pinned || !in->log)
		return;
	dp_study_stream(study, DP_RNG_PROPOSE, trial, 3, &r);
	x[in->param] = rint(dp__native(in, design_part * dp_rng_uniform(&r)));
}

/* Moves x to where it fits. */
static bool design_fitted(const struct dp_proposer *p, uint32_t trial, double *x)
{
	double u[DP_PARAMS_MAX], most = dp__budget_design(p, trial);

	dp__to_u(&p->inputs, x, u);
	if (!dp__budget_pull(p, most, u) && !dp__budget_pull(p, p->history->budget_left, u))
		return false;
	dp__to_x(&p->inputs, u, x);
	return true;
}

/* The trial's own point of the design, or a random one; false: nothing like it fits what
 * is left of search.budget. */
static bool design_point(struct dp_proposer *p, const struct dp_study *study, uint32_t trial,
			 double *x)
{
	if (p->study->search.sobol && trial < p->study->search.initial && study == p->study)
		sobol_point(p, trial, x);
	else
		dp_space_sample(study, trial, true, x);
	dp__pin(&p->inputs, x);
	if (trial < p->study->search.initial)
		shorten_path(p, study, trial, x);
	return !dp__budgeted(p) || design_fitted(p, trial, x);
}

/* A point of the initial design, or where that is taken another random one. */
static int ask_initial(struct dp_proposer *p, uint32_t trial, struct dp_proposal *out,
		       struct dp_err *err)
{
	struct dp_study other = *p->study;
	struct dp_rng r;
	bool fits;

	fits = design_point(p, p->study, trial, out->x);
	if (fits && !dp__taken(p, out->x))
		return DP_OK;
	dp_study_stream(p->study, DP_RNG_PROPOSE, trial, 1, &r);
	for (int i = 0; i < DRAWS; i++) {
		other.seed = dp_rng_u64(&r) >> 11;
		fits = design_point(p, &other, trial, out->x);
		if (fits && !dp__taken(p, out->x))
			return DP_OK;
	}
	if (p->inputs.points < 1e18)
		return first_free(p, trial, out->x, err);
	return fits ? DP_OK
		    : dp_fail(err, DP_E_LIMIT,
			      "search.budget: what is left of epsilon %g at delta %g "
			      "pays for no training of the parameter space",
			      p->study->search.budget.epsilon, p->study->search.budget.delta);
}

static void describe_prediction(const struct dp_proposer *p, const struct dp__normal *f,
				struct dp_predicted *out)
{
	for (size_t j = 0; j < p->study->nobjectives; j++)
		out[j] = dp__natural_prediction(p->study, j, &f[j]);
}

/* What the models say of the point that was chosen. */
static int predict_choice(struct dp_proposer *p, struct dp_proposal *out)
{
	struct dp__normal f[DP_OBJECTIVES_MAX];
	double u[DP_PARAMS_MAX], score;
	int code;

	dp__to_u(&p->inputs, out->x, u);
	code = dp__model_eval(p, u, 1, 1, true, &score, f, &out->feasible);
	if (code != DP_OK)
		return code;
	describe_prediction(p, f, out->objective);
	out->modelled = true;
	return DP_OK;
}

static int ask_model(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		     const atomic_bool *cancel, struct dp_proposal *out)
{
	int code;

	p->note = out->note;
	p->regardless = dp__cost_regardless(p, h);
	code = dp__model_update(p, h, cancel);
	if (code == DP_OK)
		code = dp__model_target(p);
	if (code == DP_OK && dp__rerun(p, out->x))
		out->source = "re-run";
	else if (code == DP_OK)
		code = dp__search(p, trial, cancel, out);
	if (code == DP_OK)
		code = predict_choice(p, out);
	p->regardless = false;
	p->note = NULL;
	return code;
}

static int ask_dpareto(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		       const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	const struct dp__acquisition *acq = dp__acquisition(p->study);
	int code;

	p->history = h;
	if (trial < p->study->search.initial) {
		out->source = "initial";
		return ask_initial(p, trial, out, err);
	}
	out->source = acq->name;
	if (!acq->value)
		return ask_initial(p, trial, out, err);
	code = ask_model(p, h, trial, cancel, out);
	if (code == DP_OK)
		return DP_OK;
	if (code == DP_E_INTERRUPTED)
		return dp_fail(err, code, "the proposal was cancelled");
	if (code == DP_E_NOMEM)
		return dp_fail(err, code, "no memory for the models of a proposal");
	out->source = "random";
	snprintf(out->note, sizeof out->note, "%s; a random point is taken",
		 dp__trainings(p) < 2 ? "fewer than two results are known" : "no model fits");
	return ask_initial(p, trial, out, err);
}

static const struct method methods[] = {
	[DP_METHOD_RANDOM] = { "random", no_limit, ask_random },
	[DP_METHOD_GRID] = { "grid", dp_space_grid_size, ask_grid },
	[DP_METHOD_DPARETO] = { "dpareto", space_limit, ask_dpareto },
	[DP_METHOD_SELECT] = { "select", no_limit, ask_select },
};

int dp_propose_check(const struct dp_study *study, struct dp_err *err)
{
	if ((size_t)study->search.method < DP_COUNT(methods))
		return DP_OK;
	return dp_fail(err, DP_E_INVALID, "there is no such search method");
}

uint64_t dp_propose_limit(const struct dp_study *study)
{
	return methods[study->search.method].limit(study);
}

/* ---- the proposer ---- */

struct dp_proposer *dp_proposer_new(const struct dp_study *study)
{
	struct dp_proposer *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->study = study;
	p->noutputs = study->nobjectives + study->nconstraints;
	dp__inputs(study, &p->inputs);
	dp__gp_spec(&p->inputs, &p->spec);
	p->oracles = dp_oracles_open(p->study);
	if (p->inputs.nderived)
		p->solved = calloc(1, sizeof *p->solved);
	if (study->search.budget.epsilon > 0)
		p->renyi = dp_renyi_memory_new();
	if (!p->oracles || (p->inputs.nderived && !p->solved) ||
	    (study->search.budget.epsilon > 0 && !p->renyi)) {
		dp_proposer_free(p);
		return NULL;
	}
	return p;
}

void dp_proposer_free(struct dp_proposer *p)
{
	if (!p)
		return;
	for (size_t o = 0; o < p->noutputs; o++) {
		dp_gp_free(&p->output[o].gp);
		dp_gp_free(&p->output[o].smooth);
		free(p->output[o].y);
		free(p->output[o].noise);
	}
	dp_oracles_close(p->oracles);
	free(p->solved);
	dp_renyi_memory_free(p->renyi);
	dp__target_free(&p->target);
	free(p->times.u);
	free(p->fits);
	free(p->fit_hypers);
	free(p->seen);
	free(p->run);
	free(p->u);
	free(p->front);
	free(p->work);
	free(p->walk);
	free(p);
}

int dp_proposer_ask(struct dp_proposer *p, const struct dp_history *h, uint32_t trial,
		    const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	struct dp_err trouble = { 0 };
	int code = dp_propose_check(p->study, err);

	if (code != DP_OK)
		return code;
	p->trial = trial;
	memset(out, 0, sizeof *out);
	if (dp__cost_learn(p, h) != DP_OK)
		return dp_fail(err, DP_E_NOMEM, "no memory for the cost of trainings");
	p->trouble = h->programs ? &trouble : NULL;
	code = methods[p->study->search.method].ask(p, h, trial, cancel, out, err);
	p->trouble = NULL;
	if (trouble.code) { /* whatever was chosen then was chosen without it */
		code = trouble.code;
		if (err)
			*err = trouble;
	}
	dp_space_underive(p->study, out->x); /* a re-run may be of another study */
	if (code == DP_OK && dp__derive(p, out->x, err) == DP_E_NOMEM)
		code = DP_E_NOMEM; /* else whoever asks the oracles is told */
	if (code == DP_OK)
		dp__cost_tell(p, h, out);
	dp__unpin(&p->inputs, out->x);
	p->history = NULL;
	return code;
}

int dp_propose(const struct dp_study *study, const struct dp_history *h, uint32_t trial,
	       const atomic_bool *cancel, struct dp_proposal *out, struct dp_err *err)
{
	struct dp_proposer *p = dp_proposer_new(study);
	int code;

	if (!p)
		return dp_fail(err, DP_E_NOMEM, "no memory for a proposal");
	code = dp_proposer_ask(p, h, trial, cancel, out, err);
	dp_proposer_free(p);
	return code;
}

/* ---- for reports ---- */

int dp_surrogate_fit(struct dp_proposer *p, const struct dp_history *h, const atomic_bool *cancel,
		     struct dp_err *err)
{
	char seen[DP_COUNT_LEN];
	int code = dp__cost_learn(p, h);

	if (code == DP_OK)
		code = dp__model_update(p, h, cancel);
	if (code == DP_OK)
		code = dp__model_target(p);
	if (code == DP_OK)
		return DP_OK;
	p->history = NULL;
	if (code == DP_E_FAILED)
		return dp_fail(err, code, "%s %s too few to fit a model",
			       dp_count_text(p->nseen, "result", seen),
			       p->nseen == 1 ? "is" : "are");
	return dp_fail(err, code, "the models could not be fitted");
}

enum {
	BLOCK = 64 /* points in one prediction: the workspace is n numbers a point */
};

int dp_surrogate_eval(struct dp_proposer *p, const double *x, size_t m, struct dp_predicted *out,
		      double *feasible, double *acquisition, struct dp_err *err)
{
	size_t np = p->study->nobjectives, nx = p->study->nparams;
	double u[DP_PARAMS_MAX * BLOCK], one[DP_PARAMS_MAX], score[BLOCK], feas[BLOCK];
	double pinned[DP_PARAMS_MAX];
	struct dp__normal f[BLOCK * DP_OBJECTIVES_MAX];

	if (!p->history)
		return dp_fail(err, DP_E_INVALID, "no model has been fitted");
	for (size_t from = 0; from < m; from += BLOCK) {
		size_t count = m - from < BLOCK ? m - from : BLOCK;
		int code;

		for (size_t i = 0; i < count; i++) {
			memcpy(pinned, x + (from + i) * nx, nx * sizeof *pinned);
			dp__pin_unset(&p->inputs, pinned);
			dp__to_u(&p->inputs, pinned, one);
			for (size_t k = 0; k < p->spec.d; k++)
				u[k * BLOCK + i] = one[k];
		}
		code = dp__model_eval(p, u, BLOCK, count, false, score, f, feas);
		if (code != DP_OK)
			return dp_fail(err, code, "no memory for predictions");
		for (size_t i = 0; i < count; i++) {
			if (out)
				describe_prediction(p, f + i * np, out + (from + i) * np);
			if (feasible)
				feasible[from + i] = feas[i];
			if (acquisition)
				acquisition[from + i] = exp(score[i]);
		}
	}
	return DP_OK;
}

int dp_surrogate_front(struct dp_proposer *p, const struct dp_history *h, size_t *index, double *y,
		       size_t *count, struct dp_err *err)
{
	int code = dp__model_front(p, h, index, y, count);

	if (code != DP_OK)
		return dp_fail(err, code, "no memory for the denoised front");
	return DP_OK;
}

int dp_surrogate_info(const struct dp_proposer *p, size_t objective, struct dp_surrogate_info *out)
{
	const struct dp__output *o = &p->output[objective];

	memset(out, 0, sizeof *out);
	if (objective >= p->noutputs || p->fit_n == 0)
		return DP_E_FAILED;
	out->results = p->nseen;
	out->fitted_on = p->fit_n;
	out->exact = o->exact;
	out->length = o->hyper.length;
	out->warp = o->hyper.warp;
	out->signal = o->hyper.signal;
	out->doubt = o->scale * sqrt(o->hyper.signal);
	out->noise = o->hyper.noise;
	out->jitter = o->gp.jitter;
	return DP_OK;
}
