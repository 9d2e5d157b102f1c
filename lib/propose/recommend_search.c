/* recommend_search.c - the best point within limits.
 *
 * As search.c does it: candidates on the space's own grid are judged in one batch, the
 * best few are climbed with gradients, whole numbers let loose, put back on the grid and
 * climbed again with whole numbers held. Here there are limits, so the climbs are those
 * of sequential quadratic programming; and every point that is judged has been tuned: of
 * the points of a limit's surface only those count. Ties go to what came first. */
#include "linalg/linalg.h"
#include "propose/recommend_internal.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPREAD = 96, /* candidates anywhere, */
	TESTED = 96, /* at results, */
	NEARBY = 64, /* and near these */
	STARTS = 4,
	CLIMB_EVALUATIONS = 40,
	FINALISTS = 8,
	DEAR_FINALISTS = 3,   /* if oracles are asked about them that take their time */
	ENUMERATE_MAX = 2048, /* smaller spaces are judged whole */
};
static const double apart_at_least = 0.05;
/* Climbs stay this much (of an output's standard deviation) within modelled limits. */
static const double margin = 1e-7;

struct seeker {
	struct dp__question *q;
	struct dp_rng rng;
	size_t d, n, ld;
	double *u;                  /* (d x ld) candidates */
	struct dp__standing *found; /* (ld) */
	struct dp__standing final[FINALISTS];
	size_t nfinal;
};

/* ---- candidates ---- */

static void add_candidate(struct seeker *s, const double *from)
{
	const struct dp__inputs *in = &s->q->p->inputs;
	double u[DP_PARAMS_MAX];

	if (s->n == s->ld)
		return;
	memcpy(u, from, s->d * sizeof *u);
	dp__snap(in, u);
	for (size_t k = 0; k < s->d; k++)
		if (in->in[k].pinned)
			u[k] = 1;
	dp__tune(s->q, u);
	for (size_t k = 0; k < s->d; k++)
		s->u[k * s->ld + s->n] = u[k];
	s->n++;
}

static void add_whole_space(struct seeker *s)
{
	for (size_t i = 0; i < s->ld; i++) {
		double x[DP_PARAMS_MAX] = { 0 }, u[DP_PARAMS_MAX];

		dp__nth_point(&s->q->p->inputs, i, x);
		dp__to_u(&s->q->p->inputs, x, u);
		for (size_t k = 0; k < s->d; k++)
			s->u[k * s->ld + s->n] = u[k];
		s->n++;
	}
}

static void add_spread(struct seeker *s)
{
	for (uint32_t i = 0; i < SPREAD; i++) {
		double u[DP_PARAMS_MAX];

		for (size_t k = 0; k < s->d; k++) {
			const struct dp__input *in = &s->q->p->inputs.in[k];

			u[k] = dp__sobol_of(s->q->p->study, i, (unsigned)k);
			if (in->kind == DP__CATEGORY)
				u[k] = floor(u[k] * in->values);
		}
		add_candidate(s, u);
	}
}

/* Results: those of the front, then others by how near they are to the limit. */
static int add_tested(struct seeker *s)
{
	const struct dp_proposer *p = s->q->p;
	struct dp__away *list = calloc(p->nseen + 1, sizeof *list);
	if (!list)
		return DP_E_NOMEM;
	for (size_t i = 0; i < p->nseen; i++)
		list[i] =
			(struct dp__away){ fabs(dp__model_posterior(p, s->q->held, i) - s->q->most),
					   i };
	for (size_t i = 0; i < p->nfront; i++)
		if (p->front[i].result < p->nseen)
			list[p->front[i].result].away -= 1e6;
	qsort(list, p->nseen, sizeof *list, dp__compare_away);
	for (size_t i = 0; i < p->nseen && i < TESTED; i++) {
		double u[DP_PARAMS_MAX];

		for (size_t k = 0; k < s->d; k++)
			u[k] = p->u[k * p->ldu + list[i].result];
		add_candidate(s, u);
	}
	free(list);
	return DP_OK;
}

/* Candidates that are there, moved a little. */
static void add_nearby(struct seeker *s, size_t from, size_t count)
{
	for (size_t i = 0; i < NEARBY && count > 0; i++) {
		double u[DP_PARAMS_MAX], width = 0.02 * pow(10, dp_rng_uniform(&s->rng));
		size_t at = from + (size_t)dp_rng_below(&s->rng, count);

		for (size_t k = 0; k < s->d; k++) {
			const struct dp__input *in = &s->q->p->inputs.in[k];

			u[k] = s->u[k * s->ld + at];
			if (in->kind != DP__CATEGORY)
				u[k] += width * dp_rng_normal(&s->rng);
			else if (dp_rng_uniform(&s->rng) < 0.1)
				u[k] = (double)dp_rng_below(&s->rng, (uint64_t)in->values);
		}
		add_candidate(s, u);
	}
}

/* ---- the best so far ---- */

static bool same_place(const struct seeker *s, const double *a, const double *b)
{
	for (size_t k = 0; k < s->d; k++)
		if (fabs(a[k] - b[k]) > 1e-9)
			return false;
	return true;
}

static void keep_final(struct seeker *s, const struct dp__standing *one)
{
	size_t at = s->nfinal;

	for (size_t i = 0; i < s->nfinal; i++)
		if (same_place(s, s->final[i].u, one->u))
			return;
	while (at > 0 && dp__stands_before(one, &s->final[at - 1]))
		at--;
	if (at == FINALISTS)
		return;
	if (s->nfinal < FINALISTS)
		s->nfinal++;
	memmove(&s->final[at + 1], &s->final[at], (s->nfinal - 1 - at) * sizeof s->final[0]);
	s->final[at] = *one;
}

/* ---- climbing ---- */

struct descent {
	struct seeker *s;
	nlopt_opt opt;
	double u[DP_PARAMS_MAX]; /* where what follows was found */
	bool known;
	double score, by_u[DP_PARAMS_MAX];
	double beyond[DP__OUTPUTS_MAX], beyond_by_u[DP__OUTPUTS_MAX * DP_PARAMS_MAX];
};

/* Limits and score are asked for one after the other at the same place. */
static void descent_at(struct descent *c, const double *u)
{
	const atomic_bool *cancel = c->s->q->cancel;
	size_t d = c->s->d;

	if (c->known && memcmp(u, c->u, d * sizeof *u) == 0)
		return;
	memcpy(c->u, u, d * sizeof *u);
	c->score = dp__question_slope(c->s->q, u, c->by_u, c->beyond, c->beyond_by_u);
	c->known = true;
	if (cancel && atomic_load(cancel))
		nlopt_force_stop(c->opt);
}

static double descent_value(unsigned n, const double *u, double *gradient, void *arg)
{
	struct descent *c = arg;

	descent_at(c, u);
	for (unsigned k = 0; k < n && gradient; k++)
		gradient[k] = isfinite(c->by_u[k]) ? c->by_u[k] : 0;
	return isfinite(c->score) ? c->score : 1e6;
}

static void descent_limits(unsigned m, double *result, unsigned n, const double *u,
			   double *gradient, void *arg)
{
	struct descent *c = arg;

	descent_at(c, u);
	for (unsigned i = 0; i < m; i++) {
		size_t o = c->s->q->limit[i].output;

		result[i] = isfinite(c->beyond[i]) ? c->beyond[i] : 1e6;
		if (!dp_output_is_computed(c->s->q->p->study, o))
			result[i] += margin * c->s->q->p->output[o].scale;
	}
	for (unsigned i = 0; i < m * n && gradient; i++)
		gradient[i] = isfinite(c->beyond_by_u[i]) ? c->beyond_by_u[i] : 0;
}

/* From u; whole numbers move freely or (held) not at all. */
static int climb_down(struct seeker *s, double *u, bool held)
{
	struct descent c = { .s = s };
	double lo[DP_PARAMS_MAX], hi[DP_PARAMS_MAX], reached;
	nlopt_result result;

	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->q->p->inputs.in[k];
		bool fixed =
			in->kind == DP__CATEGORY || (held && in->kind == DP__INT) || in->values < 2;

		lo[k] = fixed ? u[k] : 0;
		hi[k] = fixed ? u[k] : 1;
	}
	c.opt = nlopt_create(NLOPT_LD_SLSQP, (unsigned)s->d);
	if (!c.opt)
		return DP_E_NOMEM;
	nlopt_set_min_objective(c.opt, descent_value, &c);
	nlopt_set_lower_bounds(c.opt, lo);
	nlopt_set_upper_bounds(c.opt, hi);
	nlopt_set_maxeval(c.opt, CLIMB_EVALUATIONS);
	nlopt_set_ftol_abs(c.opt, 1e-5);
	result = s->q->nlimits == 0
			 ? NLOPT_SUCCESS
			 : nlopt_add_inequality_mconstraint(c.opt, (unsigned)s->q->nlimits,
							    descent_limits, &c, NULL);
	if (result > 0)
		result = nlopt_optimize(c.opt, u, &reached);
	nlopt_destroy(c.opt);
	return result == NLOPT_OUT_OF_MEMORY ? DP_E_NOMEM : DP_OK;
}

/* Judges the roundings of u: all to the nearest, then each whole number the other way
 * alone, each tuned. u gets the best. */
static int round_and_judge(struct seeker *s, double *u)
{
	const struct dp__inputs *in = &s->q->p->inputs;
	size_t room = s->d + 1, m = 0, best = 0;
	double *all = dp_vec_new(s->d * room);
	struct dp__standing *stands = calloc(room, sizeof *stands);
	int code = all && stands ? DP_OK : DP_E_NOMEM;

	for (size_t j = 0; j <= s->d && code == DP_OK; j++) {
		double one[DP_PARAMS_MAX];

		memcpy(one, u, s->d * sizeof *one);
		dp__snap(in, one);
		if (j > 0) {
			const struct dp__input *i = &in->in[j - 1];
			double x = rint(dp__native(i, one[j - 1]));

			if (i->kind != DP__INT || i->values < 2)
				continue;
			one[j - 1] = dp__place_of(i, x + (u[j - 1] > one[j - 1] ? 1 : -1));
		}
		dp__tune(s->q, one);
		for (size_t k = 0; k < s->d; k++)
			all[k * room + m] = one[k];
		m++;
	}
	if (code == DP_OK)
		code = dp__question_judge(s->q, all, room, m, stands);
	for (size_t i = 0; i < m && code == DP_OK; i++) {
		keep_final(s, &stands[i]);
		if (dp__stands_before(&stands[i], &stands[best]))
			best = i;
	}
	if (code == DP_OK)
		memcpy(u, stands[best].u, s->d * sizeof *u);
	free(all);
	free(stands);
	return code;
}

static int descend_from(struct seeker *s, const struct dp__standing *start)
{
	double u[DP_PARAMS_MAX];
	int code;

	memcpy(u, start->u, s->d * sizeof *u);
	code = climb_down(s, u, false);
	if (code == DP_OK)
		code = round_and_judge(s, u);
	if (code == DP_OK && dp__inputs_have(&s->q->p->inputs, DP__INT) &&
	    dp__inputs_have(&s->q->p->inputs, DP__FLOAT)) {
		code = climb_down(s, u, true);
		if (code == DP_OK)
			code = round_and_judge(s, u);
	}
	return code;
}

static bool is_near_any(const struct seeker *s, size_t i, const size_t *chosen, size_t count)
{
	for (size_t c = 0; c < count; c++) {
		double apart = 0;

		for (size_t k = 0; k < s->d; k++)
			apart = fmax(apart, fabs(s->found[i].u[k] - s->found[chosen[c]].u[k]));
		if (apart < apart_at_least)
			return true;
	}
	return false;
}

/* The best candidates that are not close to one another. */
static size_t choose_best(const struct seeker *s, size_t *chosen)
{
	size_t count = 0;

	while (count < STARTS) {
		size_t best = s->n;

		for (size_t i = 0; i < s->n; i++)
			if ((best == s->n || dp__stands_before(&s->found[i], &s->found[best])) &&
			    isfinite(s->found[i].beyond) && !is_near_any(s, i, chosen, count))
				best = i;
		if (best == s->n)
			break;
		chosen[count++] = best;
	}
	return count;
}

/* ---- the search ---- */

/* Tunes the finalists to the end, with every oracle asked, and leaves the best first. */
static int judge_exactly(struct seeker *s)
{
	struct dp__question *q = s->q;
	size_t best = 0;
	int code = DP_OK;

	if (dp__oracles_costly(q->p) && s->nfinal > DEAR_FINALISTS)
		s->nfinal = DEAR_FINALISTS;
	q->exactly = true;
	for (size_t i = 0; i < s->nfinal && code == DP_OK; i++) {
		double u[DP_PARAMS_MAX];

		memcpy(u, s->final[i].u, s->d * sizeof *u);
		dp__tune(q, u);
		code = dp__question_judge(q, u, 1, 1, &s->final[i]);
		if (code == DP_OK && dp__stands_before(&s->final[i], &s->final[best]))
			best = i;
	}
	s->final[0] = s->final[best];
	q->exactly = false;
	return code;
}

static int seek(struct seeker *s, bool whole)
{
	size_t chosen[STARTS], count = 0, tested;
	int code = DP_OK;

	if (whole) {
		add_whole_space(s);
	} else {
		add_spread(s);
		tested = s->n;
		code = add_tested(s);
		add_nearby(s, tested, s->n - tested);
	}
	if (code == DP_OK)
		code = dp__question_judge(s->q, s->u, s->ld, s->n, s->found);
	for (size_t i = 0; i < s->n && code == DP_OK; i++)
		keep_final(s, &s->found[i]);
	if (code == DP_OK && !whole &&
	    (dp__inputs_have(&s->q->p->inputs, DP__FLOAT) ||
	     dp__inputs_have(&s->q->p->inputs, DP__INT)))
		count = choose_best(s, chosen);
	for (size_t i = 0; i < count && code == DP_OK; i++)
		code = descend_from(s, &s->found[chosen[i]]);
	if (code == DP_OK && s->q->cancel && atomic_load(s->q->cancel))
		code = DP_E_INTERRUPTED;
	return code == DP_OK ? judge_exactly(s) : code;
}

int dp__question_search(struct dp__question *q, struct dp__standing *best)
{
	struct seeker s = { .q = q, .d = q->p->spec.d };
	bool whole = q->p->inputs.points <= ENUMERATE_MAX;
	int code = DP_E_NOMEM;

	dp_study_stream(q->p->study, DP_RNG_PROPOSE, UINT32_MAX, 4, &s.rng);
	s.ld = whole ? (size_t)q->p->inputs.points : SPREAD + TESTED + NEARBY;
	s.u = dp_vec_new(s.d * s.ld);
	s.found = calloc(s.ld, sizeof *s.found);
	if (s.u && s.found && dp__model_room(q->p, s.ld) == DP_OK)
		code = seek(&s, whole);
	if (code == DP_OK)
		*best = s.final[0];
	free(s.u);
	free(s.found);
	return code;
}
