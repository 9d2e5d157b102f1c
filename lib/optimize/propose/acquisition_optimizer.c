/* acquisition_optimizer.c - finds the point with the largest acquisition.
 *
 * Many candidates on the grid of the space are scored in one batch. L-BFGS starts from the best few
 * with integers relaxed; its results are rounded to the grid, and it runs again with integers
 * fixed. Ties go to the candidate that was drawn first. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "study/seeds.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CANDIDATES = 192,
	CLIMB_STARTS = 2,
	CLIMB_EVALUATIONS = 18,
	FIXED_INT_EVALUATIONS = 8,
	FINALISTS = 12,
	COSTLY_FINALISTS = 3,        /* with learning curves or calibrated parameters */
	CURVE_CANDIDATE_DIVISOR = 2, /* fewer candidates if each is a learning curve */
	ENUMERATE_MAX = 2048,        /* smaller spaces are enumerated */
};

struct finalist {
	double u[DP_PARAMS_MAX], score;
};

struct acq_search {
	struct dp_proposer *p;
	struct dp_rng rng;
	const atomic_bool *cancel;
	size_t d, n, ld;
	double *u;     /* (d x ld) candidates */
	double *score; /* (n) log acquisition */
	struct dp__normal *predictions;
	struct finalist finalists[FINALISTS]; /* best first */
	size_t n_finalists;
};

bool dp__points_are_equal(const struct dp_proposer *p, const double *a, const double *b)
{
	size_t k = 0;

	while (k < p->encoding.d &&
	       a[p->encoding.inputs[k].param] == b[p->encoding.inputs[k].param])
		k++;
	return k == p->encoding.d;
}

bool dp__point_is_proposed(const struct dp_proposer *p, const double *x)
{
	for (size_t i = 0; i < p->history->n; i++) /* checkpoints do not count */
		if (p->history->observations[i].checkpoint == 0 &&
		    dp__points_are_equal(p, p->history->observations[i].x, x))
			return true;
	return false;
}

static bool is_proposed_point(const struct dp_proposer *p, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 };

	dp__encoding_decode(&p->encoding, u, x);
	return dp__point_is_proposed(p, x);
}

static bool can_afford_point(const struct dp_proposer *p, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 };

	if (!dp__budget_is_set(p))
		return true;
	dp__encoding_decode(&p->encoding, u, x);
	return dp__budget_can_afford(p, x);
}

static void insert_finalist(struct acq_search *s, const double *u, double score)
{
	size_t at = s->n_finalists;

	if (!isfinite(score))
		return;
	while (at > 0 && score > s->finalists[at - 1].score)
		at--;
	if (at == FINALISTS || is_proposed_point(s->p, u))
		return;
	if (s->n_finalists < FINALISTS)
		s->n_finalists++;
	memmove(&s->finalists[at + 1], &s->finalists[at],
		(s->n_finalists - 1 - at) * sizeof s->finalists[0]);
	memcpy(s->finalists[at].u, u, s->d * sizeof *u);
	s->finalists[at].score = score;
}

/* Log acquisition at m points, or of m training runs with their checkpoints. choose: each run stops
 * where it is best, and u is set to that. */
static void score_points(struct acq_search *s, double *u, size_t ldu, size_t m, bool exactly,
			 bool choose, double *score, struct dp__normal *f)
{
	if (dp__has_learning_curve(s->p))
		dp__curve_acq_eval(s->p, u, ldu, m, exactly, choose, score, f);
	else
		dp__acquisition_eval(s->p, u, ldu, m, exactly, score, f, NULL);
}

/* Rescores the finalists with expensive accountants and puts the best first. */
static void rescore_finalists_exactly(struct acq_search *s)
{
	double u[DP_PARAMS_MAX * FINALISTS], score[FINALISTS];
	size_t best = 0;

	if (!dp__proposer_has_costly(s->p) || s->n_finalists == 0)
		return;
	if ((dp__has_learning_curve(s->p) || s->p->calibration_cache) &&
	    s->n_finalists > COSTLY_FINALISTS)
		s->n_finalists = COSTLY_FINALISTS;
	for (size_t i = 0; i < s->n_finalists; i++)
		dp__encoding_set_column(&s->p->encoding, s->finalists[i].u, u + i, FINALISTS);
	score_points(s, u, FINALISTS, s->n_finalists, true, false, score, NULL);
	for (size_t i = 0; i < s->n_finalists; i++)
		if (score[i] > score[best])
			best = i;
	if (isfinite(score[best])) {
		s->finalists[0] = s->finalists[best];
		s->finalists[0].score = score[best];
	}
}

/* ---- candidates ---- */

static void add_snapped_candidate(struct acq_search *s, const double *u)
{
	double v[DP_PARAMS_MAX];

	if (s->n == s->ld)
		return;
	memcpy(v, u, s->d * sizeof *v);
	dp__encoding_round(&s->p->encoding, v);
	for (size_t k = 0; k < s->d; k++)
		if (s->p->encoding.inputs[k].is_pinned)
			v[k] = 1;
	if (!can_afford_point(s->p, v)) /* the nearest affordable point instead */
		dp__budget_move_to_affordable(s->p, s->p->history->budget_remaining, v);
	dp__encoding_set_column(&s->p->encoding, v, s->u + s->n++, s->ld);
}

/* Uniform on the scale of the study file or on the logarithm. */
static double draw_input_uniform(struct acq_search *s, const struct dp__input *in)
{
	double t = dp_rng_uniform(&s->rng);

	if (in->kind == DP__INPUT_CATEGORY)
		return floor(t * in->n_values);
	if (in->is_log && !in->is_log_in_study && dp_rng_uniform(&s->rng) < 0.5)
		return dp__input_encode(in, in->lo + t * (in->hi - in->lo));
	return t;
}

static double reflect_into_unit(double u)
{
	u = fabs(u);
	u = u > 1 ? 2 - u : u;
	return fmin(fmax(u, 0), 1);
}

/* A front point, perturbed in some of its coordinates. */
static void draw_near_front_point(struct acq_search *s, const double *front, double *u)
{
	double width = exp(log(0.005) + dp_rng_uniform(&s->rng) * log(0.3 / 0.005));
	double share = dp_rng_uniform(&s->rng);

	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->p->encoding.inputs[k];

		u[k] = front[k];
		if (dp_rng_uniform(&s->rng) > fmax(share, 1.0 / (double)s->d))
			continue;
		if (in->kind == DP__INPUT_CATEGORY) {
			if (dp_rng_uniform(&s->rng) < 0.5)
				u[k] = draw_input_uniform(s, in);
		} else {
			u[k] = reflect_into_unit(u[k] + width * dp_rng_normal(&s->rng));
		}
	}
}

/* On or beyond the line between two neighbours on the front. */
static void draw_between(struct acq_search *s, const double *a, const double *b, double *u)
{
	double t = -0.5 + 2 * dp_rng_uniform(&s->rng);

	for (size_t k = 0; k < s->d; k++) {
		if (s->p->encoding.inputs[k].kind == DP__INPUT_CATEGORY)
			u[k] = dp_rng_uniform(&s->rng) < 0.5 ? a[k] : b[k];
		else
			u[k] = reflect_into_unit(a[k] + t * (b[k] - a[k]) +
						 0.01 * dp_rng_normal(&s->rng));
	}
}

/* All points of a small space, or random ones, most of them near the front. */
static void draw_candidates(struct acq_search *s, bool whole)
{
	const struct dp__front_point *front = s->p->posterior_front;
	size_t n = s->p->n_front;

	for (size_t i = 0; whole && i < s->ld; i++) {
		double x[DP_PARAMS_MAX] = { 0 }, u[DP_PARAMS_MAX];

		dp__encoding_nth_point(&s->p->encoding, i, x);
		dp__encoding_encode(&s->p->encoding, x, u);
		add_snapped_candidate(s, u);
	}
	while (s->n < s->ld) {
		double u[DP_PARAMS_MAX];
		size_t i = n ? (size_t)dp_rng_below(&s->rng, n) : 0;

		if (n == 0 || s->n < s->ld / 4) {
			for (size_t k = 0; k < s->d; k++)
				u[k] = draw_input_uniform(s, &s->p->encoding.inputs[k]);
		} else if (s->n < s->ld / 2) { /* change one coordinate */
			size_t k = (size_t)dp_rng_below(&s->rng, s->d);

			memcpy(u, front[i].u, s->d * sizeof *u);
			u[k] = draw_input_uniform(s, &s->p->encoding.inputs[k]);
		} else if (n > 1 && s->n < s->ld * 2 / 3) {
			size_t j = i + 1 < n ? i + 1 : i - 1;

			draw_between(s, front[i].u, front[j].u, u);
		} else {
			draw_near_front_point(s, front[i].u, u);
		}
		add_snapped_candidate(s, u);
	}
}

/* ---- local search ---- */

struct climb {
	struct acq_search *s;
	nlopt_opt opt;
	double best_value, u[DP_PARAMS_MAX];
};

static double climb_objective(unsigned n, const double *u, double *gradient, void *arg)
{
	struct climb *c = arg;
	double g[DP_PARAMS_MAX];
	double value = dp__has_learning_curve(c->s->p) ? dp__curve_acq_gradient(c->s->p, u, g)
						       : dp__acquisition_gradient(c->s->p, u, g);

	if (c->s->cancel && atomic_load(c->s->cancel))
		nlopt_force_stop(c->opt);
	if (value > c->best_value) {
		c->best_value = value;
		memcpy(c->u, u, n * sizeof *u);
	}
	for (unsigned k = 0; k < n && gradient; k++)
		gradient[k] = isfinite(value) && isfinite(g[k]) ? g[k] : 0;
	return isfinite(value) ? value : -1e6;
}

/* Maximises from u. Integers are relaxed, or fixed if `held`. u becomes the best point met. */
static void climb_lbfgs(struct acq_search *s, double *u, bool held, int evaluations)
{
	struct climb c = { .s = s, .best_value = -INFINITY };
	double at[DP_PARAMS_MAX], reached;

	memcpy(at, u, s->d * sizeof *at);
	c.opt = dp__encoding_new_climb(&s->p->encoding, NLOPT_LD_LBFGS, u, held);
	nlopt_set_max_objective(c.opt, climb_objective, &c);
	nlopt_set_maxeval(c.opt, evaluations);
	nlopt_set_ftol_abs(c.opt, 1e-5);
	nlopt_set_vector_storage(c.opt, 8);
	(void)nlopt_optimize(c.opt, at, &reached);
	nlopt_destroy(c.opt);
	if (isfinite(c.best_value))
		memcpy(u, c.u, s->d * sizeof *u);
}

/* Scores u rounded to the nearest, then with one integer rounded the other way. u becomes the
 * best. */
static void score_roundings(struct acq_search *s, double *u)
{
	const struct dp__encoding *in = &s->p->encoding;
	double *all = dp_vec_new(s->d * (s->d + 1)), one[DP_PARAMS_MAX], score[DP_PARAMS_MAX + 1];
	size_t m = 0, best = 0;

	for (size_t j = 0; j <= s->d; j++)
		if (dp__encoding_round_variant(in, u, j, one))
			dp__encoding_set_column(in, one, all + m++, s->d + 1);
	score_points(s, all, s->d + 1, m, false, false, score, NULL);
	for (size_t i = 0; i < m; i++) {
		dp__encoding_get_column(in, all + i, s->d + 1, one);
		insert_finalist(s, one, score[i]);
		if (score[i] > score[best])
			best = i;
	}
	dp__encoding_get_column(in, all + best, s->d + 1, u);
	free(all);
}

/* Chooses the best candidates that are not close to one another. */
static size_t choose_starts(const struct acq_search *s, size_t most, size_t *chosen)
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

/* If every candidate has acquisition 0, takes the one with the largest sd. */
static void choose_most_uncertain(struct acq_search *s)
{
	size_t np = s->p->study->nobjectives;
	double most = -1;

	for (size_t i = 0; i < s->n; i++) {
		double u[DP_PARAMS_MAX], sum = 0;

		for (size_t j = 0; j < np; j++)
			if (s->p->output[j].scale > 0)
				sum += s->predictions[i * np + j].sd / s->p->output[j].scale;
		dp__encoding_get_column(&s->p->encoding, s->u + i, s->ld, u);
		if (!(sum > most) || is_proposed_point(s->p, u) || !can_afford_point(s->p, u))
			continue;
		most = sum;
		memcpy(s->finalists[0].u, u, s->d * sizeof *u);
		s->finalists[0].score = -INFINITY;
		s->n_finalists = 1;
	}
}

/* Reduces the effort as models grow beyond `from` results: a candidate and a step of a local search
 * cost n^2 each, and with many results fewer of them are needed. */
static size_t search_effort(size_t most, size_t n, size_t from, size_t least)
{
	size_t e = n > from ? most * from / n : most;

	return e < least ? least : e;
}

static int acq_search_run(struct acq_search *s, struct dp_proposal *out)
{
	const struct dp__encoding *in = &s->p->encoding;
	bool floats = dp__encoding_has_kind(in, DP__INPUT_FLOAT);
	bool integers = dp__encoding_has_kind(in, DP__INPUT_INT);
	size_t chosen[CLIMB_STARTS], n = s->p->n_observed, count = 0;
	double u[DP_PARAMS_MAX];

	/* choose stops in infinite spaces only: in a finite one, the best stop of a run may have
	 * been proposed while others have not */
	score_points(s, s->u, s->ld, s->n, false, isinf(in->n_points), s->score, s->predictions);
	for (size_t i = 0; i < s->n; i++) {
		dp__encoding_get_column(in, s->u + i, s->ld, u);
		insert_finalist(s, u, s->score[i]);
	}
	if (floats || integers)
		count = choose_starts(s, search_effort(CLIMB_STARTS, n, 600, 1), chosen);
	for (size_t i = 0; i < count; i++) {
		dp__encoding_get_column(in, s->u + chosen[i], s->ld, u);
		climb_lbfgs(s, u, false, (int)search_effort(CLIMB_EVALUATIONS, n, 600, 8));
		score_roundings(s, u);
		if (floats && integers) {
			climb_lbfgs(s, u, true, FIXED_INT_EVALUATIONS);
			score_roundings(s, u);
		}
	}
	if (s->cancel && atomic_load(s->cancel))
		return DP_E_INTERRUPTED;
	rescore_finalists_exactly(s);
	if (s->n_finalists == 0) {
		choose_most_uncertain(s);
		snprintf(out->note, sizeof out->note,
			 "no point promises a gain; the least known one is taken");
	}
	return s->n_finalists > 0 ? DP_OK : DP_E_FAILED;
}

int dp__acquisition_maximize(struct dp_proposer *p, uint32_t trial, const atomic_bool *cancel,
			     struct dp_proposal *out)
{
	struct acq_search s = { .p = p, .cancel = cancel, .d = p->spec.d };
	size_t less = dp__has_learning_curve(p) ? CURVE_CANDIDATE_DIVISOR : 1;
	bool whole = p->encoding.n_points <= ENUMERATE_MAX / (less * less * less);
	int code;

	dp_study_rng_init(p->study, DP_RNG_PROPOSE, trial, 0, &s.rng);
	s.ld = whole ? (size_t)p->encoding.n_points
		     : search_effort(CANDIDATES, p->n_observed, 128, 96) / less;
	s.u = dp_vec_new(s.d * s.ld);
	s.score = dp_vec_new(s.ld);
	s.predictions = dp_calloc(s.ld * p->study->nobjectives, sizeof *s.predictions);
	dp__predict_reserve(p, s.ld);
	dp__curve_acq_reserve(p);
	draw_candidates(&s, whole);
	code = acq_search_run(&s, out);
	if (code == DP_OK) {
		dp__encoding_decode(&p->encoding, s.finalists[0].u, out->x);
		out->acquisition = exp(s.finalists[0].score);
	}
	free(s.u);
	free(s.score);
	free(s.predictions);
	return code;
}
