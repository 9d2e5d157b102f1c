/* search.c - where the acquisition is largest.
 *
 * Many candidates on the space's own grid are scored in one batch; the best few are
 * climbed by L-BFGS with whole numbers let loose, put back on the grid, and climbed
 * again with whole numbers held. Ties go to the candidate that was drawn first. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CANDIDATES = 192,
	CLIMBS = 2,
	CLIMB_EVALUATIONS = 18,
	HELD_EVALUATIONS = 8,
	FINALISTS = 12,
	DEAR_FINALISTS = 3,   /* of paths, each of which asks a dozen times, and where
			       * noise is solved for */
	WALKED_LESS = 2,      /* so many times fewer candidates if each is a path */
	ENUMERATE_MAX = 2048, /* smaller spaces are scored whole */
};

struct final {
	double u[DP_PARAMS_MAX], score;
};

struct searcher {
	struct dp_proposer *p;
	struct dp_rng rng;
	const atomic_bool *cancel;
	size_t d, n, ld;
	double *u;     /* (d x ld) candidates */
	double *score; /* (n) log acquisition */
	struct dp__normal *f;
	struct final final[FINALISTS]; /* the best met, best first */
	size_t nfinal;
};

bool dp__same_point(const struct dp_proposer *p, const double *a, const double *b)
{
	size_t k = 0;

	while (k < p->inputs.d && a[p->inputs.in[k].param] == b[p->inputs.in[k].param])
		k++;
	return k == p->inputs.d;
}

bool dp__taken(const struct dp_proposer *p, const double *x)
{
	for (size_t i = 0; i < p->history->n; i++) /* what is on a way is not taken */
		if (p->history->known[i].at == 0 && dp__same_point(p, p->history->known[i].x, x))
			return true;
	return false;
}

static bool taken_u(const struct dp_proposer *p, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 };

	dp__to_x(&p->inputs, u, x);
	return dp__taken(p, x);
}

static bool fits_u(const struct dp_proposer *p, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 };

	if (!dp__budgeted(p))
		return true;
	dp__to_x(&p->inputs, u, x);
	return dp__budget_fits(p, x);
}

static void consider_final(struct searcher *s, const double *u, double score)
{
	size_t at = s->nfinal;

	if (!isfinite(score))
		return;
	while (at > 0 && score > s->final[at - 1].score)
		at--;
	if (at == FINALISTS || taken_u(s->p, u))
		return;
	if (s->nfinal < FINALISTS)
		s->nfinal++;
	memmove(&s->final[at + 1], &s->final[at], (s->nfinal - 1 - at) * sizeof s->final[0]);
	memcpy(s->final[at].u, u, s->d * sizeof *u);
	s->final[at].score = score;
}

/* Log acquisition at m points, or of the trainings with their paths, which (choose) stop
 * where it is best: u gets that place. */
static int score_points(struct searcher *s, double *u, size_t ldu, size_t m, bool exactly,
			bool choose, double *score, struct dp__normal *f)
{
	if (dp__walks(s->p))
		return dp__union_eval(s->p, u, ldu, m, exactly, choose, score, f);
	return dp__model_eval(s->p, u, ldu, m, exactly, score, f, NULL);
}

/* Asks the oracle that is too slow for many points about the few that are left. */
static int judge_finals(struct searcher *s)
{
	double u[DP_PARAMS_MAX * FINALISTS], score[FINALISTS];
	size_t best = 0;
	int code;

	if (!dp__oracles_costly(s->p) || s->nfinal == 0)
		return DP_OK;
	if ((dp__walks(s->p) || s->p->solved) && s->nfinal > DEAR_FINALISTS)
		s->nfinal = DEAR_FINALISTS;
	for (size_t i = 0; i < s->nfinal; i++)
		for (size_t k = 0; k < s->d; k++)
			u[k * FINALISTS + i] = s->final[i].u[k];
	code = score_points(s, u, FINALISTS, s->nfinal, true, false, score, NULL);
	for (size_t i = 0; i < s->nfinal && code == DP_OK; i++)
		if (score[i] > score[best])
			best = i;
	if (code == DP_OK && isfinite(score[best])) {
		s->final[0] = s->final[best];
		s->final[0].score = score[best];
	}
	return code;
}

/* ---- candidates ---- */

static void store_candidate(struct searcher *s, const double *u)
{
	double v[DP_PARAMS_MAX];

	if (s->n == s->ld)
		return;
	memcpy(v, u, s->d * sizeof *v);
	dp__snap(&s->p->inputs, v);
	for (size_t k = 0; k < s->d; k++)
		if (s->p->inputs.in[k].pinned)
			v[k] = 1;
	if (!fits_u(s->p, v)) /* what no longer fits has a neighbour that does */
		dp__budget_pull(s->p, s->p->history->budget_left, v);
	for (size_t k = 0; k < s->d; k++)
		s->u[k * s->ld + s->n] = v[k];
	s->n++;
}

/* Uniform on the file's scale or on the logarithm. */
static double draw_anywhere(struct searcher *s, const struct dp__input *in)
{
	double t = dp_rng_uniform(&s->rng);

	if (in->kind == DP__CATEGORY)
		return floor(t * in->values);
	if (in->log && !in->file_log && dp_rng_uniform(&s->rng) < 0.5)
		return dp__place_of(in, in->lo + t * (in->hi - in->lo));
	return t;
}

static double reflect_place(double u)
{
	u = fabs(u);
	u = u > 1 ? 2 - u : u;
	return fmin(fmax(u, 0), 1);
}

/* A front point moved a little in some of its coordinates. */
static void near_front(struct searcher *s, const double *front, double *u)
{
	double width = exp(log(0.005) + dp_rng_uniform(&s->rng) * log(0.3 / 0.005));
	double share = dp_rng_uniform(&s->rng);

	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->p->inputs.in[k];

		u[k] = front[k];
		if (dp_rng_uniform(&s->rng) > fmax(share, 1.0 / (double)s->d))
			continue;
		if (in->kind == DP__CATEGORY) {
			if (dp_rng_uniform(&s->rng) < 0.5)
				u[k] = draw_anywhere(s, in);
		} else {
			u[k] = reflect_place(u[k] + width * dp_rng_normal(&s->rng));
		}
	}
}

/* On or beyond the line between two neighbours on the front. */
static void draw_between(struct searcher *s, const double *a, const double *b, double *u)
{
	double t = -0.5 + 2 * dp_rng_uniform(&s->rng);

	for (size_t k = 0; k < s->d; k++) {
		if (s->p->inputs.in[k].kind == DP__CATEGORY)
			u[k] = dp_rng_uniform(&s->rng) < 0.5 ? a[k] : b[k];
		else
			u[k] = reflect_place(a[k] + t * (b[k] - a[k]) +
					     0.01 * dp_rng_normal(&s->rng));
	}
}

static void draw_candidates(struct searcher *s)
{
	const struct dp__front_point *front = s->p->front;
	size_t n = s->p->nfront;

	while (s->n < s->ld) {
		double u[DP_PARAMS_MAX];
		size_t i = n ? (size_t)dp_rng_below(&s->rng, n) : 0;

		if (n == 0 || s->n < s->ld / 4) {
			for (size_t k = 0; k < s->d; k++)
				u[k] = draw_anywhere(s, &s->p->inputs.in[k]);
		} else if (s->n < s->ld / 2) { /* one coordinate anywhere */
			size_t k = (size_t)dp_rng_below(&s->rng, s->d);

			memcpy(u, front[i].u, s->d * sizeof *u);
			u[k] = draw_anywhere(s, &s->p->inputs.in[k]);
		} else if (n > 1 && s->n < s->ld * 2 / 3) {
			size_t j = i + 1 < n ? i + 1 : i - 1;

			draw_between(s, front[i].u, front[j].u, u);
		} else {
			near_front(s, front[i].u, u);
		}
		store_candidate(s, u);
	}
}

static void enumerate_candidates(struct searcher *s)
{
	for (size_t i = 0; i < s->ld; i++) {
		double x[DP_PARAMS_MAX] = { 0 }, u[DP_PARAMS_MAX];

		dp__nth_point(&s->p->inputs, i, x);
		dp__to_u(&s->p->inputs, x, u);
		store_candidate(s, u);
	}
}

static void candidate_at(const struct searcher *s, size_t i, double *u)
{
	for (size_t k = 0; k < s->d; k++)
		u[k] = s->u[k * s->ld + i];
}

/* ---- climbing ---- */

struct climb {
	struct searcher *s;
	nlopt_opt opt;
	double best, u[DP_PARAMS_MAX];
};

static double climb_value(unsigned n, const double *u, double *gradient, void *arg)
{
	struct climb *c = arg;
	double g[DP_PARAMS_MAX];
	double value = dp__walks(c->s->p) ? dp__union_slope(c->s->p, u, g)
					  : dp__model_slope(c->s->p, u, g);

	if (c->s->cancel && atomic_load(c->s->cancel))
		nlopt_force_stop(c->opt);
	if (value > c->best) {
		c->best = value;
		memcpy(c->u, u, n * sizeof *u);
	}
	for (unsigned k = 0; k < n && gradient; k++)
		gradient[k] = isfinite(value) && isfinite(g[k]) ? g[k] : 0;
	return isfinite(value) ? value : -1e6;
}

/* From u; whole numbers move freely or (held) not at all. u gets the best met. */
static int climb_up(struct searcher *s, double *u, bool held, int evaluations)
{
	struct climb c = { .s = s, .best = -INFINITY };
	double lo[DP_PARAMS_MAX], hi[DP_PARAMS_MAX], at[DP_PARAMS_MAX], reached;

	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->p->inputs.in[k];
		bool fixed =
			in->kind == DP__CATEGORY || (held && in->kind == DP__INT) || in->values < 2;

		lo[k] = fixed ? u[k] : 0;
		hi[k] = fixed ? u[k] : 1;
	}
	memcpy(at, u, s->d * sizeof *at);
	c.opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)s->d);
	if (!c.opt)
		return DP_E_NOMEM;
	nlopt_set_max_objective(c.opt, climb_value, &c);
	nlopt_set_lower_bounds(c.opt, lo);
	nlopt_set_upper_bounds(c.opt, hi);
	nlopt_set_maxeval(c.opt, evaluations);
	nlopt_set_ftol_abs(c.opt, 1e-5);
	nlopt_set_vector_storage(c.opt, 8);
	(void)nlopt_optimize(c.opt, at, &reached);
	nlopt_destroy(c.opt);
	if (isfinite(c.best))
		memcpy(u, c.u, s->d * sizeof *u);
	return DP_OK;
}

/* Scores the roundings of u: all to the nearest, then each whole number the other way
 * alone. u gets the best. */
static int round_off(struct searcher *s, double *u)
{
	const struct dp__inputs *in = &s->p->inputs;
	double near[DP_PARAMS_MAX], *all, score[DP_PARAMS_MAX + 1];
	size_t m = 0, best = 0;
	int code;

	memcpy(near, u, s->d * sizeof *near);
	dp__snap(in, near);
	all = dp_vec_new(s->d * (s->d + 1));
	if (!all)
		return DP_E_NOMEM;
	for (size_t j = 0; j <= s->d; j++) {
		double other[DP_PARAMS_MAX];

		memcpy(other, near, s->d * sizeof *other);
		if (j > 0) {
			const struct dp__input *i = &in->in[j - 1];
			double x;

			if (i->kind != DP__INT || i->values < 2)
				continue;
			x = rint(dp__native(i, near[j - 1]));
			x += u[j - 1] > near[j - 1] ? 1 : -1;
			other[j - 1] = dp__place_of(i, x);
		}
		for (size_t k = 0; k < s->d; k++)
			all[k * (s->d + 1) + m] = other[k];
		m++;
	}
	code = score_points(s, all, s->d + 1, m, false, false, score, NULL);
	for (size_t i = 0; i < m && code == DP_OK; i++) {
		double v[DP_PARAMS_MAX];

		for (size_t k = 0; k < s->d; k++)
			v[k] = all[k * (s->d + 1) + i];
		consider_final(s, v, score[i]);
		if (score[i] > score[best])
			best = i;
	}
	for (size_t k = 0; k < s->d; k++)
		u[k] = all[k * (s->d + 1) + best];
	free(all);
	return code;
}

static int climb_from(struct searcher *s, size_t i, int evaluations)
{
	double u[DP_PARAMS_MAX];
	int code;

	candidate_at(s, i, u);
	code = climb_up(s, u, false, evaluations);
	if (code == DP_OK)
		code = round_off(s, u);
	if (code == DP_OK && dp__inputs_have(&s->p->inputs, DP__INT) &&
	    dp__inputs_have(&s->p->inputs, DP__FLOAT)) {
		code = climb_up(s, u, true, HELD_EVALUATIONS);
		if (code == DP_OK)
			code = round_off(s, u);
	}
	return code;
}

/* The best candidates that are not close to one another. */
static size_t choose_starts(const struct searcher *s, size_t most, size_t *chosen)
{
	size_t count = 0;

	while (count < most) {
		size_t best = s->n;

		for (size_t i = 0; i < s->n; i++) {
			bool near = false;

			if (!isfinite(s->score[i]) ||
			    (best < s->n && !(s->score[i] > s->score[best])))
				continue;
			for (size_t c = 0; c < count && !near; c++) {
				double apart = 0;

				for (size_t k = 0; k < s->d; k++)
					apart = fmax(apart, fabs(s->u[k * s->ld + i] -
								 s->u[k * s->ld + chosen[c]]));
				near = apart < 0.05;
			}
			if (!near)
				best = i;
		}
		if (best == s->n)
			break;
		chosen[count++] = best;
	}
	return count;
}

/* Where every candidate is worth 0 the least known one is taken. */
static void least_known(struct searcher *s)
{
	size_t np = s->p->study->nobjectives;
	double most = -1;

	for (size_t i = 0; i < s->n; i++) {
		double u[DP_PARAMS_MAX], sum = 0;

		for (size_t j = 0; j < np; j++)
			if (s->p->output[j].scale > 0)
				sum += s->f[i * np + j].s / s->p->output[j].scale;
		candidate_at(s, i, u);
		if (!(sum > most) || taken_u(s->p, u) || !fits_u(s->p, u))
			continue;
		most = sum;
		memcpy(s->final[0].u, u, s->d * sizeof *u);
		s->final[0].score = -INFINITY;
		s->nfinal = 1;
	}
}

/* Effort falls as models grow beyond `from` results: a candidate and a step of a climb
 * cost n^2 each, and a model that knows much needs fewer of them. */
static size_t search_effort(size_t most, size_t n, size_t from, size_t least)
{
	size_t e = n > from ? most * from / n : most;

	return e < least ? least : e;
}

static int search_run(struct searcher *s, struct dp_proposal *out)
{
	size_t chosen[CLIMBS], n = s->p->nseen, count;
	/* in a finite space the best stop may be taken, and others may not */
	bool choose = isinf(s->p->inputs.points);
	int code = score_points(s, s->u, s->ld, s->n, false, choose, s->score, s->f);

	for (size_t i = 0; i < s->n && code == DP_OK; i++) {
		double u[DP_PARAMS_MAX];

		candidate_at(s, i, u);
		consider_final(s, u, s->score[i]);
	}
	count = dp__inputs_have(&s->p->inputs, DP__FLOAT) || dp__inputs_have(&s->p->inputs, DP__INT)
			? choose_starts(s, search_effort(CLIMBS, n, 600, 1), chosen)
			: 0;
	for (size_t i = 0; i < count && code == DP_OK; i++)
		code = climb_from(s, chosen[i], (int)search_effort(CLIMB_EVALUATIONS, n, 600, 8));
	if (code == DP_OK && s->cancel && atomic_load(s->cancel))
		code = DP_E_INTERRUPTED;
	if (code == DP_OK)
		code = judge_finals(s);
	if (code == DP_OK && s->nfinal == 0) {
		least_known(s);
		snprintf(out->note, sizeof out->note,
			 "no point promises a gain; the least known one is taken");
	}
	return code;
}

int dp__search(struct dp_proposer *p, uint32_t trial, const atomic_bool *cancel,
	       struct dp_proposal *out)
{
	struct searcher s = { .p = p, .cancel = cancel, .d = p->spec.d };
	size_t less = dp__walks(p) ? WALKED_LESS : 1;
	bool whole = p->inputs.points <= ENUMERATE_MAX / (less * less * less);
	int code = DP_E_NOMEM;

	dp_study_stream(p->study, DP_RNG_PROPOSE, trial, 0, &s.rng);
	s.ld = whole ? (size_t)p->inputs.points
		     : search_effort(CANDIDATES, p->nseen, 128, 96) / less;
	s.u = dp_vec_new(s.d * s.ld);
	s.score = dp_vec_new(s.ld);
	s.f = calloc(s.ld * p->study->nobjectives, sizeof *s.f);
	if (s.u && s.score && s.f && dp__model_room(p, s.ld) == DP_OK &&
	    dp__union_room(p) == DP_OK) {
		if (whole)
			enumerate_candidates(&s);
		else
			draw_candidates(&s);
		code = search_run(&s, out);
	}
	if (code == DP_OK && s.nfinal > 0) {
		dp__to_x(&p->inputs, s.final[0].u, out->x);
		out->acquisition = exp(s.final[0].score);
	} else if (code == DP_OK) {
		code = DP_E_FAILED;
	}
	free(s.u);
	free(s.score);
	free(s.f);
	return code;
}
