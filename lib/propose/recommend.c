/* recommend.c - settings for a point of the front, whether it was tested or not.
 *
 * Asked is for the best predicted value of the other objective where one output is within
 * a limit. docs/optimizer.md has the rules and what they are good for. */
#include "propose/recommend.h"

#include "base/num.h"
#include "propose/recommend_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is computed comes up to its limit within this, relatively: the contract's 0.1 %
 * with room, and never exceeds it, not even by rounding. */
static const double reach = 5e-4, below = 1e-9;

/* A model that takes its hyperparameters for certain is too sure of itself, by so much on
 * real trainings: docs/optimizer.md. */
static const double wider = 1.5;

/* ---- outputs ---- */

const char *dp_output_name(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives ? s->objectives[o].name
				  : s->constraints[o - s->nobjectives].metric;
}

bool dp_output_is_large(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives ? s->objectives[o].maximize
				  : s->constraints[o - s->nobjectives].at_least;
}

bool dp_output_is_computed(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives && s->objectives[o].privacy;
}

double dp_level_cost(const struct dp_study *s, const struct dp_level *level, const double *y)
{
	size_t others = 0;
	double only = 0, volume = 0, outside = 0;

	for (size_t o = 0; o < s->nobjectives; o++) {
		const struct dp_objective *one = &s->objectives[o];
		double gap;

		if (o == level->output)
			continue;
		only = dp__natural_min(one, y[o]);
		gap = dp__natural_min(one, one->anti_ideal) - only;
		volume += log(fmax(gap, 1e-300));
		outside += fmax(0, -gap);
		others++;
	}
	if (others == 1)
		return only;
	return outside > 0 ? 1e6 + outside : -volume;
}

/* Its value in model space. */
static double level_place(const struct dp_study *s, size_t o, double value)
{
	if (o < s->nobjectives)
		return dp__forward(&s->objectives[o], value);
	return dp_output_is_large(s, o) ? -value : value;
}

/* ---- the question ---- */

static void add_limit(struct dp__question *q, size_t output, double most)
{
	q->limit[q->nlimits++] = (struct dp__limit){ output, most };
}

/* What is little of an aim: a hundredth of what was seen of it. */
static double little_of(const struct dp_proposer *p, size_t o)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < p->nseen; i++) {
		double y = p->seen[i].y[o];

		if (p->seen[i].status != DP_KNOWN_OK || !isfinite(y))
			continue;
		lo = fmin(lo, y);
		hi = fmax(hi, y);
	}
	return hi > lo ? 0.01 * (hi - lo) : 1e-6;
}

static void add_aim(struct dp__question *q, size_t objective)
{
	q->gap[q->naims] = little_of(q->p, objective);
	q->aim[q->naims++] = objective;
}

/* The limit that was asked for. Beyond what a transform is cut off at nothing can be told
 * apart, so that the cut itself is beyond it. */
static void hold_level(struct dp__question *q, const struct dp_level *level)
{
	const struct dp_study *s = q->p->study;
	size_t o = level->output;
	double sign = dp_output_is_large(s, o) ? 1 : -1;
	double value = level->value + (q->computed ? sign * below * fabs(level->value) : 0);

	q->most = level_place(s, o, value);
	q->near = fabs(level_place(s, o, value + sign * reach * fabs(value)) - q->most);
	if (o < s->nobjectives &&
	    fabs(dp__backward(&s->objectives[o], q->most) - value) > 1e-6 * fabs(value))
		q->most -= 1e-9 * (1 + fabs(q->most));
	add_limit(q, o, q->most);
}

/* Limits of the study itself. */
static void hold_constraints(struct dp__question *q)
{
	const struct dp_study *s = q->p->study;

	for (size_t o = s->nobjectives; o < q->p->noutputs; o++)
		if (o != q->held)
			add_limit(q, o, dp__output_limit(s, o));
}

static void question_begin(struct dp__question *q, struct dp_proposer *p,
			   const struct dp_level *level, const atomic_bool *cancel)
{
	*q = (struct dp__question){ .p = p, .cancel = cancel, .held = level->output };
	q->computed =
		dp_output_is_computed(p->study, level->output) || p->output[level->output].exact;
}

/* The least of the other objectives, with the level held. */
static void question_of(struct dp__question *q, const struct dp_level *level)
{
	for (size_t o = 0; o < q->p->study->nobjectives; o++)
		if (o != level->output)
			add_aim(q, o);
	hold_level(q, level);
	hold_constraints(q);
	if (q->computed)
		dp__tune_prepare(q);
}

/* The least of the output itself. */
static void question_of_least(struct dp__question *q)
{
	q->aim[q->naims++] = q->held;
	q->most = -1e6; /* which everything is beyond */
	hold_constraints(q);
	if (q->computed)
		dp__tune_prepare(q);
}

/* ---- the answer ---- */

/* The nearest result of the study itself, and how far it is. */
static void find_nearest(const struct dp_proposer *p, size_t own, const double *u,
			 struct dp_recommendation *out)
{
	const struct dp_history *h = p->history;
	double least = INFINITY, at[DP_PARAMS_MAX];

	out->nearest = SIZE_MAX;
	for (size_t i = own; i < h->n; i++) {
		double sum = 0;

		if (h->known[i].status != DP_KNOWN_OK)
			continue;
		dp__to_u(&p->inputs, h->known[i].x, at);
		for (size_t k = 0; k < p->inputs.d; k++) {
			double apart = at[k] - u[k];

			if (p->inputs.in[k].kind == DP__CATEGORY)
				apart = apart != 0;
			sum += apart * apart;
		}
		if (sum < least) {
			least = sum;
			out->nearest = i;
		}
	}
	out->distance = sqrt(least / (double)p->inputs.d);
}

/* Whose model the answer stands on: that of an aim, or else of what is held. */
static size_t modelled_output(const struct dp__question *q)
{
	for (size_t i = 0; i < q->naims; i++)
		if (!dp__asks_oracle(q, q->aim[i]))
			return q->aim[i];
	return q->held;
}

/* The variance that the mean of many runs still has there, in model space. */
static double left_noise(const struct dp_proposer *p, size_t o, double m)
{
	double noise;

	if (!dp__is_modelled(&p->output[o]) || dp__noise_none(p, o))
		return 0;
	noise = dp__noise_at(p, o, NULL, m) - dp__noise_released(p, o, m);
	return fmax(noise, 0) * p->output[o].scale * p->output[o].scale * p->study->trainer.runs /
	       DP_MEASURED_RUNS;
}

/* Means over DP_MEASURED_RUNS fresh runs, f of the models at the point. */
static void describe_runs(const struct dp_proposer *p, struct dp__normal *f,
			  struct dp_predicted *out)
{
	for (size_t o = 0; o < p->noutputs; o++) {
		f[o].s = sqrt(pow(wider * f[o].s, 2) + left_noise(p, o, f[o].m));
		out[o] = dp__natural_prediction(p->study, o, &f[o]);
	}
}

int dp_recommend_expected(struct dp_proposer *p, const double *x, struct dp_predicted *out,
			  struct dp_err *err)
{
	struct dp__normal f[DP__OUTPUTS_MAX];
	double u[DP_PARAMS_MAX];
	int code;

	if (!p->history)
		return dp_fail(err, DP_E_INVALID, "no model has been fitted");
	dp__to_u(&p->inputs, x, u);
	code = dp__model_predict(p, u, 1, 1, true, true, f, NULL);
	if (code != DP_OK)
		return dp_fail(err, code, "no memory for a prediction");
	describe_runs(p, f, out);
	return DP_OK;
}

static int describe_point(struct dp__question *q, const struct dp_level *level, size_t own,
			  const struct dp__standing *best, struct dp_recommendation *out,
			  struct dp_err *err)
{
	struct dp_proposer *p = q->p;
	struct dp__normal f[DP__OUTPUTS_MAX];
	int code = dp__model_predict(p, best->u, 1, 1, true, true, f, NULL);

	if (code != DP_OK)
		return dp_fail(err, code, "no memory for a prediction");
	dp__to_x(&p->inputs, best->u, out->x);
	find_nearest(p, own, best->u, out);
	out->feasible = exp(dp__log_feasible(p, f, NULL, NULL));
	out->evaluated = q->evaluated;
	describe_runs(p, f, out->output);
	q->exactly = true;
	out->trust.output = modelled_output(q);
	q->exactly = false;
	code = dp__trust_around(p, best->u, &out->trust);
	if (code != DP_OK)
		return dp_fail(err, code, "no memory to judge the models");
	dp__unpin(&p->inputs, out->x);
	code = dp__derive(p, out->x, err);
	if (code == DP_OK)
		code = dp_objectives_privacy_at(p->study, p->history->programs, out->x, NAN,
						out->privacy, err);
	if (code != DP_OK)
		return code;
	if (q->computed && dp_output_is_computed(p->study, level->output) &&
	    out->privacy[level->output] > level->value)
		return dp_fail(err, DP_E_FAILED,
			       "the privacy oracle of '%s' has two answers for one point",
			       p->study->objectives[level->output].name);
	return DP_OK;
}

/* ---- the impossible ---- */

/* Four digits that are still possible, and the words for it. */
static const char *possible_text(double v, bool large, char text[DP_NUM_LEN])
{
	double unit = pow(10, floor(log10(fabs(v))) - 3), steps = v / unit;

	if (!isfinite(steps) || unit == 0)
		return dp_num_text(v, text);
	snprintf(text, DP_NUM_LEN, "%.4g", unit * (large ? floor(steps) : ceil(steps)));
	return text;
}

static int tell_possible(const struct dp__question *q, const struct dp_level *level, double least,
			 struct dp_err *err)
{
	const struct dp_study *s = q->p->study;
	const char *name = dp_output_name(s, q->held);
	bool large = dp_output_is_large(s, q->held);
	char asked[DP_NUM_LEN], text[DP_NUM_LEN];

	possible_text(least, large, text);
	dp_fail(err, DP_E_LIMIT, "no setting of this study %s %s at %s %s: the %s is %s",
		q->computed ? "has" : "is predicted to have", name, large ? "least" : "most",
		dp_num_text(level->value, asked), large ? "most" : "least", text);
	return dp_hint(err, "try --at %s=%s", name, text);
}

/* Nothing was found that has the level: how near can it be come to? That may be near
 * enough after all, by the models' means. */
static int seek_least(struct dp_proposer *p, const struct dp_level *level,
		      const atomic_bool *cancel, struct dp__question *q, struct dp__standing *best,
		      struct dp_err *err)
{
	const struct dp_study *s = p->study;
	struct dp__normal f = { 0 };
	double least;
	int code;

	question_begin(q, p, level, cancel);
	question_of_least(q);
	code = dp__question_search(q, best);
	if (code != DP_OK)
		return code;
	if (best->beyond > 0)
		return dp_fail(err, DP_E_LIMIT,
			       "no setting of this study is predicted to meet its "
			       "constraints");
	f.m = best->score;
	least = dp__natural_prediction(s, q->held, &f).value;
	if (dp_output_is_large(s, q->held) ? least >= level->value : least <= level->value)
		return DP_OK;
	return tell_possible(q, level, least, err);
}

static int seek_level(struct dp_proposer *p, const struct dp_level *level,
		      const atomic_bool *cancel, struct dp__question *q, struct dp__standing *best,
		      struct dp_err *err)
{
	/* standard deviations that are added, and what is tried if nothing has the level
	 * then */
	static const double doubts[] = { 0.5, 0 };

	for (size_t i = 0; i < DP_COUNT(doubts); i++) {
		int code;

		question_begin(q, p, level, cancel);
		q->doubt = doubts[i];
		question_of(q, level);
		code = dp__question_search(q, best);
		if (code != DP_OK || best->beyond == 0)
			return code;
	}
	return seek_least(p, level, cancel, q, best, err);
}

int dp_recommend(struct dp_proposer *p, const struct dp_level *level, size_t own,
		 const atomic_bool *cancel, struct dp_recommendation *out, struct dp_err *err)
{
	struct dp_err trouble = { 0 }, own_err = { 0 };
	struct dp__standing best;
	struct dp__question q;
	int code;

	memset(out, 0, sizeof *out);
	if (!p->history)
		return dp_fail(err, DP_E_INVALID, "no model has been fitted");
	p->trouble = &trouble;
	code = seek_level(p, level, cancel, &q, &best, &own_err);
	if (code == DP_OK && trouble.code == 0)
		code = describe_point(&q, level, own, &best, out, &own_err);
	p->trouble = NULL;
	if (trouble.code) { /* whatever was found then was found without it */
		own_err = trouble;
		code = trouble.code;
	}
	if (code != DP_OK && own_err.code == 0)
		dp_fail(&own_err, code, "%s",
			code == DP_E_NOMEM ? "no memory for a recommendation"
					   : "the recommendation was cancelled");
	if (code != DP_OK && err)
		*err = own_err;
	return code;
}
