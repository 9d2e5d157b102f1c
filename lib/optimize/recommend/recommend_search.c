/* recommend_search.c - the best point within limits.
 *
 * As acquisition_optimizer.c does it: candidates on the space's own grid are judged in one batch,
 * the best few are climbed with gradients, whole numbers let loose, put back on the grid and
 * climbed again with whole numbers held. Here there are limits, so the climbs are those
 * of sequential quadratic programming; and every point that is judged has been tuned: of
 * the points of a limit's surface only those count. Ties go to what came first. */
#include "linalg/linalg.h"
#include "optimize/recommend/recommend_internal.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	SOBOL_CANDIDATES = 96,     /* candidates anywhere, */
	RESULT_CANDIDATES = 96,    /* at results, */
	NEIGHBOUR_CANDIDATES = 64, /* and near these */
	SQP_STARTS = 4,
	SQP_EVALUATIONS = 40,
	FINALISTS = 8,
	COSTLY_FINALISTS = 3, /* if oracles are asked about them that take their time */
	ENUMERATE_MAX = 2048, /* smaller spaces are judged whole */
};
static const double apart_at_least = 0.05;
/* Climbs stay this much (of an output's standard deviation) within modelled limits. */
static const double margin = 1e-7;

struct query_searcher {
	struct dp__query *query;
	struct dp_rng rng;
	size_t d, n, ld;
	double *u;                       /* (d x ld) candidates */
	struct dp__scored_point *scored; /* (ld) */
	struct dp__scored_point finalists[FINALISTS];
	size_t n_finalists;
};

/* ---- candidates ---- */

static void search_add_candidate(struct query_searcher *s, const double *from)
{
	const struct dp__encoding *in = &s->query->p->encoding;
	double u[DP_PARAMS_MAX];

	if (s->n == s->ld)
		return;
	memcpy(u, from, s->d * sizeof *u);
	dp__encoding_round(in, u);
	for (size_t k = 0; k < s->d; k++)
		if (in->inputs[k].is_pinned)
			u[k] = 1;
	dp__calibrate_to_level(s->query, u);
	for (size_t k = 0; k < s->d; k++)
		s->u[k * s->ld + s->n] = u[k];
	s->n++;
}

static void search_add_all_points(struct query_searcher *s)
{
	for (size_t i = 0; i < s->ld; i++) {
		double x[DP_PARAMS_MAX] = { 0 }, u[DP_PARAMS_MAX];

		dp__encoding_nth_point(&s->query->p->encoding, i, x);
		dp__encoding_encode(&s->query->p->encoding, x, u);
		for (size_t k = 0; k < s->d; k++)
			s->u[k * s->ld + s->n] = u[k];
		s->n++;
	}
}

static void search_add_sobol_points(struct query_searcher *s)
{
	for (uint32_t i = 0; i < SOBOL_CANDIDATES; i++) {
		double u[DP_PARAMS_MAX];

		for (size_t k = 0; k < s->d; k++) {
			const struct dp__input *in = &s->query->p->encoding.inputs[k];

			u[k] = dp__sobol_study_coordinate(s->query->p->study, i, (unsigned)k);
			if (in->kind == DP__INPUT_CATEGORY)
				u[k] = floor(u[k] * in->n_values);
		}
		search_add_candidate(s, u);
	}
}

/* Results: those of the front, then others by how near they are to the limit. */
static int search_add_results(struct query_searcher *s)
{
	const struct dp_proposer *p = s->query->p;
	struct dp__result_distance *list = dp_calloc(p->n_observed + 1, sizeof *list);
	for (size_t i = 0; i < p->n_observed; i++)
		list[i] = (struct dp__result_distance){ fabs(dp__surrogate_posterior_mean(
								     p, s->query->held_output, i) -
							     s->query->held_max),
							i };
	for (size_t i = 0; i < p->n_front; i++)
		if (p->posterior_front[i].model_row < p->n_observed)
			list[p->posterior_front[i].model_row].distance -= 1e6;
	qsort(list, p->n_observed, sizeof *list, dp__compare_result_distance);
	for (size_t i = 0; i < p->n_observed && i < RESULT_CANDIDATES; i++) {
		double u[DP_PARAMS_MAX];

		for (size_t k = 0; k < s->d; k++)
			u[k] = p->u[k * p->ldu + list[i].result];
		search_add_candidate(s, u);
	}
	free(list);
	return DP_OK;
}

/* Candidates that are there, moved a little. */
static void search_add_neighbours(struct query_searcher *s, size_t from, size_t count)
{
	for (size_t i = 0; i < NEIGHBOUR_CANDIDATES && count > 0; i++) {
		double u[DP_PARAMS_MAX], width = 0.02 * pow(10, dp_rng_uniform(&s->rng));
		size_t at = from + (size_t)dp_rng_below(&s->rng, count);

		for (size_t k = 0; k < s->d; k++) {
			const struct dp__input *in = &s->query->p->encoding.inputs[k];

			u[k] = s->u[k * s->ld + at];
			if (in->kind != DP__INPUT_CATEGORY)
				u[k] += width * dp_rng_normal(&s->rng);
			else if (dp_rng_uniform(&s->rng) < 0.1)
				u[k] = (double)dp_rng_below(&s->rng, (uint64_t)in->n_values);
		}
		search_add_candidate(s, u);
	}
}

/* ---- the best so far ---- */

static bool is_same_point(const struct query_searcher *s, const double *a, const double *b)
{
	for (size_t k = 0; k < s->d; k++)
		if (fabs(a[k] - b[k]) > 1e-9)
			return false;
	return true;
}

static void keep_finalist(struct query_searcher *s, const struct dp__scored_point *one)
{
	size_t at = s->n_finalists;

	for (size_t i = 0; i < s->n_finalists; i++)
		if (is_same_point(s, s->finalists[i].u, one->u))
			return;
	while (at > 0 && dp__scored_point_is_better(one, &s->finalists[at - 1]))
		at--;
	if (at == FINALISTS)
		return;
	if (s->n_finalists < FINALISTS)
		s->n_finalists++;
	memmove(&s->finalists[at + 1], &s->finalists[at],
		(s->n_finalists - 1 - at) * sizeof s->finalists[0]);
	s->finalists[at] = *one;
}

/* ---- climbing ---- */

struct sqp_state {
	struct query_searcher *searcher;
	nlopt_opt opt;
	double u[DP_PARAMS_MAX]; /* where what follows was found */
	bool is_evaluated;
	double score, by_u[DP_PARAMS_MAX];
	double violation[DP__OUTPUTS_MAX], violation_by_u[DP__OUTPUTS_MAX * DP_PARAMS_MAX];
};

/* Limits and score are asked for one after the other at the same place. */
static void sqp_evaluate(struct sqp_state *c, const double *u)
{
	const atomic_bool *cancel = c->searcher->query->cancel;
	size_t d = c->searcher->d;

	if (c->is_evaluated && memcmp(u, c->u, d * sizeof *u) == 0)
		return;
	memcpy(c->u, u, d * sizeof *u);
	c->score =
		dp__query_gradient(c->searcher->query, u, c->by_u, c->violation, c->violation_by_u);
	c->is_evaluated = true;
	if (cancel && atomic_load(cancel))
		nlopt_force_stop(c->opt);
}

static double sqp_objective(unsigned n, const double *u, double *gradient, void *arg)
{
	struct sqp_state *c = arg;

	sqp_evaluate(c, u);
	for (unsigned k = 0; k < n && gradient; k++)
		gradient[k] = isfinite(c->by_u[k]) ? c->by_u[k] : 0;
	return isfinite(c->score) ? c->score : 1e6;
}

static void sqp_constraints(unsigned m, double *result, unsigned n, const double *u,
			    double *gradient, void *arg)
{
	struct sqp_state *c = arg;

	sqp_evaluate(c, u);
	for (unsigned i = 0; i < m; i++) {
		size_t o = c->searcher->query->limits[i].output;

		result[i] = isfinite(c->violation[i]) ? c->violation[i] : 1e6;
		if (!dp_output_is_computed(c->searcher->query->p->study, o))
			result[i] += margin * c->searcher->query->p->output[o].scale;
	}
	for (unsigned i = 0; i < m * n && gradient; i++)
		gradient[i] = isfinite(c->violation_by_u[i]) ? c->violation_by_u[i] : 0;
}

/* From u; whole numbers move freely or (held) not at all. */
static int minimise_sqp(struct query_searcher *s, double *u, bool held)
{
	struct sqp_state c = { .searcher = s };
	double lo[DP_PARAMS_MAX], hi[DP_PARAMS_MAX], reached;
	nlopt_result result;

	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->query->p->encoding.inputs[k];
		bool fixed = in->kind == DP__INPUT_CATEGORY ||
			     (held && in->kind == DP__INPUT_INT) || in->n_values < 2;

		lo[k] = fixed ? u[k] : 0;
		hi[k] = fixed ? u[k] : 1;
	}
	c.opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)s->d);
	if (!c.opt)
		return DP_E_NOMEM;
	nlopt_set_min_objective(c.opt, sqp_objective, &c);
	nlopt_set_lower_bounds(c.opt, lo);
	nlopt_set_upper_bounds(c.opt, hi);
	nlopt_set_maxeval(c.opt, SQP_EVALUATIONS);
	nlopt_set_ftol_abs(c.opt, 1e-5);
	result = s->query->n_limits == 0
			 ? NLOPT_SUCCESS
			 : nlopt_add_inequality_mconstraint(c.opt, (unsigned)s->query->n_limits,
							    sqp_constraints, &c, NULL);
	if (result > 0)
		result = nlopt_optimize(c.opt, u, &reached);
	nlopt_destroy(c.opt);
	return result == NLOPT_OUT_OF_MEMORY ? DP_E_NOMEM : DP_OK;
}

/* Judges the roundings of u: all to the nearest, then each whole number the other way
 * alone, each tuned. u gets the best. */
static int score_rounded_points(struct query_searcher *s, double *u)
{
	const struct dp__encoding *in = &s->query->p->encoding;
	size_t room = s->d + 1, m = 0, best = 0;
	double *all = dp_vec_new(s->d * room);
	struct dp__scored_point *stands = dp_calloc(room, sizeof *stands);
	int code = all && stands ? DP_OK : DP_E_NOMEM;

	for (size_t j = 0; j <= s->d && code == DP_OK; j++) {
		double one[DP_PARAMS_MAX];

		memcpy(one, u, s->d * sizeof *one);
		dp__encoding_round(in, one);
		if (j > 0) {
			const struct dp__input *i = &in->inputs[j - 1];
			double x = rint(dp__input_decode(i, one[j - 1]));

			if (i->kind != DP__INPUT_INT || i->n_values < 2)
				continue;
			one[j - 1] = dp__input_encode(i, x + (u[j - 1] > one[j - 1] ? 1 : -1));
		}
		dp__calibrate_to_level(s->query, one);
		for (size_t k = 0; k < s->d; k++)
			all[k * room + m] = one[k];
		m++;
	}
	if (code == DP_OK)
		code = dp__query_score_points(s->query, all, room, m, stands);
	for (size_t i = 0; i < m && code == DP_OK; i++) {
		keep_finalist(s, &stands[i]);
		if (dp__scored_point_is_better(&stands[i], &stands[best]))
			best = i;
	}
	if (code == DP_OK)
		memcpy(u, stands[best].u, s->d * sizeof *u);
	free(all);
	free(stands);
	return code;
}

static int refine_from_start(struct query_searcher *s, const struct dp__scored_point *start)
{
	double u[DP_PARAMS_MAX];
	int code;

	memcpy(u, start->u, s->d * sizeof *u);
	code = minimise_sqp(s, u, false);
	if (code == DP_OK)
		code = score_rounded_points(s, u);
	if (code == DP_OK && dp__encoding_has_kind(&s->query->p->encoding, DP__INPUT_INT) &&
	    dp__encoding_has_kind(&s->query->p->encoding, DP__INPUT_FLOAT)) {
		code = minimise_sqp(s, u, true);
		if (code == DP_OK)
			code = score_rounded_points(s, u);
	}
	return code;
}

static bool is_near_chosen_start(const struct query_searcher *s, size_t i, const size_t *chosen,
				 size_t count)
{
	for (size_t c = 0; c < count; c++) {
		double apart = 0;

		for (size_t k = 0; k < s->d; k++)
			apart = fmax(apart, fabs(s->scored[i].u[k] - s->scored[chosen[c]].u[k]));
		if (apart < apart_at_least)
			return true;
	}
	return false;
}

/* The best candidates that are not close to one another. */
static size_t choose_sqp_starts(const struct query_searcher *s, size_t *chosen)
{
	size_t count = 0;

	while (count < SQP_STARTS) {
		size_t best = s->n;

		for (size_t i = 0; i < s->n; i++)
			if ((best == s->n ||
			     dp__scored_point_is_better(&s->scored[i], &s->scored[best])) &&
			    isfinite(s->scored[i].violation) &&
			    !is_near_chosen_start(s, i, chosen, count))
				best = i;
		if (best == s->n)
			break;
		chosen[count++] = best;
	}
	return count;
}

/* ---- the search ---- */

/* Tunes the finalists to the end, with every oracle asked, and leaves the best first. */
static int rescore_with_accountants(struct query_searcher *s)
{
	struct dp__query *q = s->query;
	size_t best = 0;
	int code = DP_OK;

	if (dp__proposer_has_costly(q->p) && s->n_finalists > COSTLY_FINALISTS)
		s->n_finalists = COSTLY_FINALISTS;
	q->use_exact = true;
	for (size_t i = 0; i < s->n_finalists && code == DP_OK; i++) {
		double u[DP_PARAMS_MAX];

		memcpy(u, s->finalists[i].u, s->d * sizeof *u);
		dp__calibrate_to_level(q, u);
		code = dp__query_score_points(q, u, 1, 1, &s->finalists[i]);
		if (code == DP_OK &&
		    dp__scored_point_is_better(&s->finalists[i], &s->finalists[best]))
			best = i;
	}
	s->finalists[0] = s->finalists[best];
	q->use_exact = false;
	return code;
}

static int query_search_run(struct query_searcher *s, bool whole)
{
	size_t chosen[SQP_STARTS], count = 0, tested;
	int code = DP_OK;

	if (whole) {
		search_add_all_points(s);
	} else {
		search_add_sobol_points(s);
		tested = s->n;
		code = search_add_results(s);
		search_add_neighbours(s, tested, s->n - tested);
	}
	if (code == DP_OK)
		code = dp__query_score_points(s->query, s->u, s->ld, s->n, s->scored);
	for (size_t i = 0; i < s->n && code == DP_OK; i++)
		keep_finalist(s, &s->scored[i]);
	if (code == DP_OK && !whole &&
	    (dp__encoding_has_kind(&s->query->p->encoding, DP__INPUT_FLOAT) ||
	     dp__encoding_has_kind(&s->query->p->encoding, DP__INPUT_INT)))
		count = choose_sqp_starts(s, chosen);
	for (size_t i = 0; i < count && code == DP_OK; i++)
		code = refine_from_start(s, &s->scored[chosen[i]]);
	if (code == DP_OK && s->query->cancel && atomic_load(s->query->cancel))
		code = DP_E_INTERRUPTED;
	return code == DP_OK ? rescore_with_accountants(s) : code;
}

int dp__query_search(struct dp__query *q, struct dp__scored_point *best)
{
	struct query_searcher s = { .query = q, .d = q->p->spec.d };
	bool whole = q->p->encoding.n_points <= ENUMERATE_MAX;
	int code = DP_E_NOMEM;

	dp_study_rng_init(q->p->study, DP_RNG_PROPOSE, UINT32_MAX, 4, &s.rng);
	s.ld = whole ? (size_t)q->p->encoding.n_points
		     : SOBOL_CANDIDATES + RESULT_CANDIDATES + NEIGHBOUR_CANDIDATES;
	s.u = dp_vec_new(s.d * s.ld);
	s.scored = dp_calloc(s.ld, sizeof *s.scored);
	if (s.u && s.scored && dp__predict_reserve(q->p, s.ld) == DP_OK)
		code = query_search_run(&s, whole);
	if (code == DP_OK)
		*best = s.finalists[0];
	free(s.u);
	free(s.scored);
	return code;
}
