/* recommend_search.c - searches for the best point within limits.
 *
 * As in acquisition_optimizer.c, candidates on the grid of the space are scored in one batch. Local
 * searches start from the best few with integers relaxed, are rounded to the grid and start again
 * with integers fixed. Because of the limits they use sequential quadratic programming. Every point
 * is calibrated before it is scored, so that it lies on the surface of the held limit. Ties go to
 * the first. */
#include "linalg/linalg.h"
#include "optimize/recommend/recommend_internal.h"
#include "study/seeds.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	SOBOL_CANDIDATES = 96,     /* candidates anywhere */
	RESULT_CANDIDATES = 96,    /* candidates at results */
	NEIGHBOUR_CANDIDATES = 64, /* candidates near results */
	SQP_STARTS = 4,
	SQP_EVALUATIONS = 40,
	FINALISTS = 8,
	COSTLY_FINALISTS = 3, /* if expensive accountants evaluate them */
	ENUMERATE_MAX = 2048, /* smaller spaces are enumerated */
};
static const double apart_at_least = 0.05;
/* Local searches stay this far, in standard deviations of the output, within modelled limits. */
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
	dp__encoding_set_column(in, u, s->u + s->n++, s->ld);
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

/* Adds results: the front first, then the others by distance from the held limit. */
static void search_add_results(struct query_searcher *s)
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

		dp__encoding_get_column(&p->encoding, p->u + list[i].result, p->ldu, u);
		search_add_candidate(s, u);
	}
	free(list);
}

/* Adds perturbed copies of `count` candidates from position `from` on. */
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

/* ---- finalists ---- */

static double distance_max(const struct query_searcher *s, const double *a, const double *b)
{
	double apart = 0;

	for (size_t k = 0; k < s->d; k++)
		apart = fmax(apart, fabs(a[k] - b[k]));
	return apart;
}

static void keep_finalist(struct query_searcher *s, const struct dp__scored_point *one)
{
	size_t at = s->n_finalists;

	for (size_t i = 0; i < s->n_finalists; i++)
		if (distance_max(s, s->finalists[i].u, one->u) <= 1e-9)
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

/* ---- local search ---- */

struct sqp_state {
	struct query_searcher *searcher;
	nlopt_opt opt;
	double u[DP_PARAMS_MAX]; /* the point of the values below */
	bool is_evaluated;
	double score, by_u[DP_PARAMS_MAX];
	double violation[DP__OUTPUTS_MAX], violation_by_u[DP__OUTPUTS_MAX * DP_PARAMS_MAX];
};

/* NLopt asks for limits and score separately; both are computed once per point. */
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

/* Local search from u. Integers are relaxed, or fixed if `held`. */
static void minimise_sqp(struct query_searcher *s, double *u, bool held)
{
	struct sqp_state c = { .searcher = s };
	double reached;
	nlopt_result result;

	c.opt = dp__encoding_new_climb(&s->query->p->encoding, NLOPT_LD_SLSQP, u, held);
	nlopt_set_min_objective(c.opt, sqp_objective, &c);
	nlopt_set_maxeval(c.opt, SQP_EVALUATIONS);
	nlopt_set_ftol_abs(c.opt, 1e-5);
	result = s->query->n_limits == 0
			 ? NLOPT_SUCCESS
			 : nlopt_add_inequality_mconstraint(c.opt, (unsigned)s->query->n_limits,
							    sqp_constraints, &c, NULL);
	if (result > 0)
		result = nlopt_optimize(c.opt, u, &reached);
	nlopt_destroy(c.opt);
	if (result == NLOPT_OUT_OF_MEMORY)
		dp_out_of_memory();
}

/* Scores the roundings of u: all integers to the nearest, then each one the other way. Each is
 * calibrated first. u becomes the best of them. */
static void score_rounded_points(struct query_searcher *s, double *u)
{
	const struct dp__encoding *in = &s->query->p->encoding;
	size_t room = s->d + 1, m = 0, best = 0;
	double *all = dp_vec_new(s->d * room), one[DP_PARAMS_MAX];
	struct dp__scored_point *scored = dp_calloc(room, sizeof *scored);

	for (size_t j = 0; j <= s->d; j++) {
		if (!dp__encoding_round_variant(in, u, j, one))
			continue;
		dp__calibrate_to_level(s->query, one);
		dp__encoding_set_column(in, one, all + m++, room);
	}
	dp__query_score_points(s->query, all, room, m, scored);
	for (size_t i = 0; i < m; i++) {
		keep_finalist(s, &scored[i]);
		if (dp__scored_point_is_better(&scored[i], &scored[best]))
			best = i;
	}
	memcpy(u, scored[best].u, s->d * sizeof *u);
	free(all);
	free(scored);
}

static bool is_near_chosen_start(const struct query_searcher *s, size_t i, const size_t *chosen,
				 size_t count)
{
	for (size_t c = 0; c < count; c++)
		if (distance_max(s, s->scored[i].u, s->scored[chosen[c]].u) < apart_at_least)
			return true;
	return false;
}

/* Chooses the best candidates that are not close to one another. */
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

/* Calibrates and scores the finalists with all accountants. The best becomes the first. */
static void rescore_with_accountants(struct query_searcher *s)
{
	struct dp__query *q = s->query;
	size_t best = 0;

	if (dp__proposer_has_costly(q->p) && s->n_finalists > COSTLY_FINALISTS)
		s->n_finalists = COSTLY_FINALISTS;
	q->use_exact = true;
	for (size_t i = 0; i < s->n_finalists; i++) {
		double u[DP_PARAMS_MAX];

		memcpy(u, s->finalists[i].u, s->d * sizeof *u);
		dp__calibrate_to_level(q, u);
		dp__query_score_points(q, u, 1, 1, &s->finalists[i]);
		if (dp__scored_point_is_better(&s->finalists[i], &s->finalists[best]))
			best = i;
	}
	s->finalists[0] = s->finalists[best];
	q->use_exact = false;
}

/* Adds all points of a small space, otherwise random points, results, and neighbours of results. */
static void add_candidates(struct query_searcher *s, bool whole)
{
	const struct dp__encoding *in = &s->query->p->encoding;
	double x[DP_PARAMS_MAX] = { 0 }, u[DP_PARAMS_MAX];
	size_t tested;

	for (; whole && s->n < s->ld; s->n++) {
		dp__encoding_nth_point(in, s->n, x);
		dp__encoding_encode(in, x, u);
		dp__encoding_set_column(in, u, s->u + s->n, s->ld);
	}
	if (whole)
		return;
	search_add_sobol_points(s);
	tested = s->n;
	search_add_results(s);
	search_add_neighbours(s, tested, s->n - tested);
}

int dp__query_search(struct dp__query *q, struct dp__scored_point *best)
{
	const struct dp__encoding *in = &q->p->encoding;
	struct query_searcher s = { .query = q, .d = q->p->spec.d };
	bool whole = in->n_points <= ENUMERATE_MAX;
	bool floats = dp__encoding_has_kind(in, DP__INPUT_FLOAT);
	bool integers = dp__encoding_has_kind(in, DP__INPUT_INT);
	size_t chosen[SQP_STARTS], count = 0;
	int code = DP_OK;

	dp_study_rng_init(q->p->study, DP_RNG_PROPOSE, UINT32_MAX, 4, &s.rng);
	s.ld = whole ? (size_t)in->n_points
		     : SOBOL_CANDIDATES + RESULT_CANDIDATES + NEIGHBOUR_CANDIDATES;
	s.u = dp_vec_new(s.d * s.ld);
	s.scored = dp_calloc(s.ld, sizeof *s.scored);
	dp__predict_reserve(q->p, s.ld);
	add_candidates(&s, whole);
	dp__query_score_points(q, s.u, s.ld, s.n, s.scored);
	for (size_t i = 0; i < s.n; i++)
		keep_finalist(&s, &s.scored[i]);
	if (!whole && (floats || integers))
		count = choose_sqp_starts(&s, chosen);
	for (size_t i = 0; i < count; i++) {
		double u[DP_PARAMS_MAX];

		memcpy(u, s.scored[chosen[i]].u, s.d * sizeof *u);
		minimise_sqp(&s, u, false);
		score_rounded_points(&s, u);
		if (floats && integers) {
			minimise_sqp(&s, u, true);
			score_rounded_points(&s, u);
		}
	}
	if (q->cancel && atomic_load(q->cancel)) {
		code = DP_E_INTERRUPTED;
	} else {
		rescore_with_accountants(&s);
		*best = s.finalists[0];
	}
	free(s.u);
	free(s.scored);
	return code;
}
