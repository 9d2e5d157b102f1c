/* recommend_settings.c - answers a query for settings that meet a level of one output.
 *
 * docs/optimizer.md explains the rules. */
#include "optimize/recommend/recommend.h"

#include "base/units.h"
#include "optimize/recommend/recommend_internal.h"
#include "study/accounting.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A computed output comes within this relative distance of its limit (docs promise 0.1 %) and never
 * exceeds it, not even by rounding. */
static const double reach_tolerance = 5e-4, limit_margin = 1e-9;

/* Intervals with fixed hyperparameters are too narrow by this factor: docs/optimizer.md. */
static const double interval_widening = 1.5;

/* ---- outputs ---- */

const char *dp_output_name(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives ? s->objectives[o].name
				  : s->constraints[o - s->nobjectives].metric;
}

bool dp_output_is_maximized(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives ? s->objectives[o].maximize
				  : s->constraints[o - s->nobjectives].at_least;
}

bool dp_output_is_computed(const struct dp_study *s, size_t o)
{
	return o < s->nobjectives && s->objectives[o].privacy;
}

double dp_recommend_level_cost(const struct dp_study *s, const struct dp_recommend_level *level,
			       const double *y)
{
	size_t others = 0;
	double only = 0, volume = 0, outside = 0;

	for (size_t o = 0; o < s->nobjectives; o++) {
		const struct dp_objective *one = &s->objectives[o];
		double gap;

		if (o == level->output)
			continue;
		only = dp__objective_to_min(one, y[o]);
		gap = dp__objective_to_min(one, one->anti_ideal) - only;
		volume += log(fmax(gap, 1e-300));
		outside += fmax(0, -gap);
		others++;
	}
	if (others == 1)
		return only;
	return outside > 0 ? 1e6 + outside : -volume;
}

static double level_to_model(const struct dp_study *s, size_t o, double value)
{
	if (o < s->nobjectives)
		return dp__objective_to_model(&s->objectives[o], value);
	return dp_output_is_maximized(s, o) ? -value : value;
}

/* ---- the query ---- */

static void query_add_limit(struct dp__query *q, size_t output, double most)
{
	q->limits[q->n_limits++] = (struct dp__limit){ output, most };
}

/* The tolerance is a hundredth of the range of the results. */
static void query_add_aim(struct dp__query *q, size_t objective)
{
	const struct dp_proposer *p = q->p;
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < p->n_observed; i++) {
		double y = p->observed[i].y[objective];

		if (p->observed[i].status != DP_OBSERVATION_OK || !isfinite(y))
			continue;
		lo = fmin(lo, y);
		hi = fmax(hi, y);
	}
	q->aim_tolerance[q->n_aims] = hi > lo ? 0.01 * (hi - lo) : 1e-6;
	q->aims[q->n_aims++] = objective;
}

/* Adds the limit of the query. All values beyond the clip of a transform are equal, so that a limit
 * there must exclude the clip itself. */
static void query_hold_level(struct dp__query *q, const struct dp_recommend_level *level)
{
	const struct dp_study *s = q->p->study;
	size_t o = level->output;
	double sign = dp_output_is_maximized(s, o) ? 1 : -1;
	double value =
		level->value + (q->is_computed ? sign * limit_margin * fabs(level->value) : 0);

	q->held_max = level_to_model(s, o, value);
	q->reach_tolerance = fabs(
		level_to_model(s, o, value + sign * reach_tolerance * fabs(value)) - q->held_max);
	if (o < s->nobjectives && fabs(dp__objective_from_model(&s->objectives[o], q->held_max) -
				       value) > 1e-6 * fabs(value))
		q->held_max -= 1e-9 * (1 + fabs(q->held_max));
	query_add_limit(q, o, q->held_max);
}

/* Adds the study's own constraints and chooses the inputs to calibrate. */
static void query_finish(struct dp__query *q)
{
	const struct dp_study *s = q->p->study;

	for (size_t o = s->nobjectives; o < q->p->n_outputs; o++)
		if (o != q->held_output)
			query_add_limit(q, o, dp__output_bound(s, o));
	if (q->is_computed)
		dp__calibrate_choose_inputs(q);
}

static void query_init(struct dp__query *q, struct dp_proposer *p,
		       const struct dp_recommend_level *level, const atomic_bool *cancel)
{
	*q = (struct dp__query){ .p = p, .cancel = cancel, .held_output = level->output };
	q->is_computed =
		dp_output_is_computed(p->study, level->output) || p->output[level->output].is_exact;
}

/* ---- the answer ---- */

/* The nearest result of the study itself, and its distance. */
static void find_nearest(const struct dp_proposer *p, size_t own, const double *u,
			 struct dp_recommendation *out)
{
	const struct dp_history *h = p->history;
	double least = INFINITY, at[DP_PARAMS_MAX];

	out->nearest_observation = SIZE_MAX;
	for (size_t i = own; i < h->n; i++) {
		double sum = 0;

		if (h->observations[i].status != DP_OBSERVATION_OK)
			continue;
		dp__encoding_encode(&p->encoding, h->observations[i].x, at);
		for (size_t k = 0; k < p->encoding.d; k++) {
			double apart = at[k] - u[k];

			if (p->encoding.inputs[k].kind == DP__INPUT_CATEGORY)
				apart = apart != 0;
			sum += apart * apart;
		}
		if (sum < least) {
			least = sum;
			out->nearest_observation = i;
		}
	}
	out->distance = sqrt(least / (double)p->encoding.d);
}

/* Turns model predictions f at a point into predictions of the mean of DP_PREDICTED_RUNS runs. */
static void predict_run_means(const struct dp_proposer *p, struct dp__normal *f,
			      struct dp_prediction *out)
{
	for (size_t o = 0; o < p->n_outputs; o++) {
		double noise = 0, m = f[o].mean; /* noise: variance of that mean around f */

		if (dp__output_is_modelled(&p->output[o]) && !dp__noise_is_negligible(p, o)) {
			noise = dp__noise_variance(p, o, NULL, m) -
				dp__noise_release_variance(p, o, m);
			noise = fmax(noise, 0) * p->output[o].scale * p->output[o].scale *
				p->study->trainer.runs / DP_PREDICTED_RUNS;
		}
		f[o].sd = sqrt(pow(interval_widening * f[o].sd, 2) + noise);
		out[o] = dp__predict_to_natural(p->study, o, &f[o]);
	}
}

void dp_recommend_predict_at(struct dp_proposer *p, const double *x, struct dp_prediction *out)
{
	struct dp__normal f[DP__OUTPUTS_MAX];
	double u[DP_PARAMS_MAX];

	dp__encoding_encode(&p->encoding, x, u);
	dp__predict_outputs(p, u, 1, 1, true, true, f, NULL);
	predict_run_means(p, f, out);
}

static int fill_recommendation(struct dp__query *q, const struct dp_recommend_level *level,
			       size_t own, const struct dp__scored_point *best,
			       struct dp_recommendation *out, struct dp_err *err)
{
	struct dp_proposer *p = q->p;
	struct dp__normal f[DP__OUTPUTS_MAX];
	int code;

	dp__predict_outputs(p, best->u, 1, 1, true, true, f, NULL);
	dp__encoding_decode(&p->encoding, best->u, out->x);
	find_nearest(p, own, best->u, out);
	out->feasible_probability = exp(dp__log_feasibility(p, f, NULL, NULL));
	out->n_evaluated = q->n_evaluated;
	predict_run_means(p, f, out->predicted);
	/* judge the model of the first modelled aim, otherwise that of the held output */
	q->use_exact = true;
	out->trust.output = q->held_output;
	for (size_t i = q->n_aims; i-- > 0;)
		if (!dp__query_uses_accountant(q, q->aims[i]))
			out->trust.output = q->aims[i];
	q->use_exact = false;
	code = dp__model_trust_at(p, best->u, &out->trust);
	if (code != DP_OK)
		return dp_fail(err, code, "the model's covariance is singular");
	dp__encoding_unpin(&p->encoding, out->x);
	code = dp__proposer_calibrate(p, out->x, err);
	if (code == DP_OK)
		code = dp_objectives_epsilon_at(p->study, p->history->external_accountants, out->x,
						NAN, out->privacy, err);
	if (code != DP_OK)
		return code;
	if (q->is_computed && dp_output_is_computed(p->study, level->output) &&
	    out->privacy[level->output] > level->value)
		return dp_fail(err, DP_E_FAILED,
			       "the privacy oracle of '%s' has two answers for one point",
			       p->study->objectives[level->output].name);
	return DP_OK;
}

/* ---- no point meets the level ---- */

/* Rounds v to four digits on the side that is still possible. */
static const char *format_possible_value(double v, bool large, char text[DP_NUM_LEN])
{
	double unit = pow(10, floor(log10(fabs(v))) - 3), steps = v / unit;

	if (!isfinite(steps) || unit == 0)
		return dp_num_text(v, text);
	snprintf(text, DP_NUM_LEN, "%.4g", unit * (large ? floor(steps) : ceil(steps)));
	return text;
}

static int fail_level_impossible(const struct dp__query *q, const struct dp_recommend_level *level,
				 double least, struct dp_err *err)
{
	const struct dp_study *s = q->p->study;
	const char *name = dp_output_name(s, q->held_output);
	bool large = dp_output_is_maximized(s, q->held_output);
	char asked[DP_NUM_LEN], text[DP_NUM_LEN];

	format_possible_value(least, large, text);
	dp_fail(err, DP_E_LIMIT, "no setting of this study %s %s at %s %s: the %s is %s",
		q->is_computed ? "has" : "is predicted to have", name, large ? "least" : "most",
		dp_num_text(level->value, asked), large ? "most" : "least", text);
	return dp_hint(err, "try --at %s=%s", name, text);
}

/* Finds the closest possible value if no point meets the level. The models' means may meet it. */
static int search_closest_level(struct dp_proposer *p, const struct dp_recommend_level *level,
				const atomic_bool *cancel, struct dp__query *q,
				struct dp__scored_point *best, struct dp_err *err)
{
	const struct dp_study *s = p->study;
	struct dp__normal f = { 0 };
	double least;
	int code;

	query_init(q, p, level, cancel);
	q->aims[q->n_aims++] = q->held_output;
	q->held_max = -1e6; /* no value is within it */
	query_finish(q);
	code = dp__query_search(q, best);
	if (code != DP_OK)
		return code;
	if (best->violation > 0)
		return dp_fail(err, DP_E_LIMIT,
			       "no setting of this study is predicted to meet its constraints");
	f.mean = best->score;
	least = dp__predict_to_natural(s, q->held_output, &f).value;
	if (dp_output_is_maximized(s, q->held_output) ? least >= level->value
						      : least <= level->value)
		return DP_OK;
	return fail_level_impossible(q, level, least, err);
}

static int search_level(struct dp_proposer *p, const struct dp_recommend_level *level,
			const atomic_bool *cancel, struct dp__query *q,
			struct dp__scored_point *best, struct dp_err *err)
{
	/* standard deviations that count against a point, tried in this order */
	static const double doubts[] = { 0.5, 0 };

	for (size_t i = 0; i < DP_COUNT(doubts); i++) {
		int code;

		query_init(q, p, level, cancel);
		q->sd_penalty = doubts[i];
		for (size_t o = 0; o < p->study->nobjectives; o++)
			if (o != level->output)
				query_add_aim(q, o);
		query_hold_level(q, level);
		query_finish(q);
		code = dp__query_search(q, best);
		if (code != DP_OK || best->violation == 0)
			return code;
	}
	return search_closest_level(p, level, cancel, q, best, err);
}

int dp_recommend(struct dp_proposer *p, const struct dp_recommend_level *level, size_t own,
		 const atomic_bool *cancel, struct dp_recommendation *out, struct dp_err *err)
{
	struct dp_err trouble = { 0 }, own_err = { 0 };
	struct dp__scored_point best;
	struct dp__query q;
	int code;

	memset(out, 0, sizeof *out);
	if (!p->history)
		return dp_fail(err, DP_E_INVALID, "no model has been fitted");
	p->accountant_error = &trouble;
	code = search_level(p, level, cancel, &q, &best, &own_err);
	if (code == DP_OK && trouble.code == 0)
		code = fill_recommendation(&q, level, own, &best, out, &own_err);
	p->accountant_error = NULL;
	if (trouble.code) { /* searched without the accountant: void */
		own_err = trouble;
		code = trouble.code;
	}
	if (code != DP_OK && own_err.code == 0)
		dp_fail(&own_err, code, "the recommendation was cancelled");
	if (code != DP_OK && err)
		*err = own_err;
	return code;
}
