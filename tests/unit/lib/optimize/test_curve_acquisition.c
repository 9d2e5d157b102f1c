/* test_curve_acquisition.c - what a whole path is worth, against Monte Carlo and finite
 * differences; and proposals of studies whose trainings are paths. */
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "tests/unit/support/propose_once.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/space.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	MOST = 900,
	DRAWS = 3000
};

#define PARAMS                                                                                     \
	"  n: {type: int, range: [1, 40]}\n"                                                       \
	"  r: {type: float, range: [1e-3, 10], scale: log}\n"                                      \
	"  z: {type: float, range: [0.5, 8]}\n"
#define TWO                                                                                        \
	"objectives:\n  e: {metric: e, transform: log}\n"                                          \
	"  u: {metric: u, transform: logit}\nanti_ideal: {e: 50, u: 1}\n"
#define EXACT                                                                                      \
	"objectives:\n  e: {privacy: {mechanism: dp-sgd, sampling: "                               \
	"without-replacement, records: "                                                           \
	"4096, lot: 64, epochs: n, noise_multiplier: z, delta: 1e-5, accountant: "                 \
	"rdp}}\n"                                                                                  \
	"  u: {metric: u, transform: logit}\nanti_ideal: {e: 50, u: 1}\n"
#define THREE                                                                                      \
	"objectives:\n  e: {metric: e, transform: log}\n"                                          \
	"  u: {metric: u, transform: logit}\n  w: {metric: w}\n"                                   \
	"anti_ideal: {e: 50, u: 1, w: 3}\n"
#define LIMITED TWO "constraints: {w: \"<= 1.2\"}\n"

static struct dp_study *study(const char *params, const char *rest, const char *search)
{
	char text[2048];
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int len = snprintf(text, sizeof text,
			   "study: t\nseed: 5\ntrainer: {command: [none], runs: 4, path: "
			   "{parameter: n, points: 6}}\nparameters:\n%s%s"
			   "search: {method: dpareto, evaluations: 100%s}\n",
			   params, rest, search);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &wrong, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&wrong);
	return s;
}

/* ---- histories ---- */

struct run {
	struct dp_observation known[MOST];
	size_t n, from[MOST];
};

/* What a training has at n: better the longer, until it is too long for its r. */
static void values(const struct dp_study *s, double n, const double *x, struct dp_observation *k)
{
	double lr = log10(fmax(x[1], 1e-3)) + 1, e[DP_OBJECTIVES_MAX];
	struct dp_err err;

	k->y[0] = 0.2 * sqrt(n) * (1 + x[1]) * 8 / fmax(x[2], 0.5);
	k->y[1] = fmin(0.95, 0.1 + 0.7 / (1 + 0.4 * n * exp(-lr * lr)) +
				     0.004 * x[2] * n * fmax(lr + 0.5, 0) + 0.03 * lr * lr +
				     0.01 * x[2]);
	k->y[2] = k->metrics[0] = 1 + sin(0.1 * n + x[2]);
	assert_int_equal(dp_objectives_epsilon_at(s, NULL, x, n, e, &err), DP_OK);
	if (!isnan(e[0]))
		k->y[0] = e[0];
}

/* Makes trial t at x: its waypoints, then its own. A single run has luck along its way.
 */
static void train(struct run *r, const struct dp_study *s, uint32_t t, const double *x)
{
	double at[DP_CHECKPOINTS_MAX];
	size_t n = dp_learning_curve_checkpoints(s, x, at), param = s->trainer.learning_curve.param;

	r->from[t] = r->n;
	for (size_t i = 0; i <= n; i++) {
		struct dp_observation *k = &r->known[r->n++];

		*k = (struct dp_observation){ .trial = t, .checkpoint = i < n ? at[i] : 0 };
		memcpy(k->x, x, s->nparams * sizeof *x);
		k->x[param] = i < n ? at[i] : dp_learning_curve_end(s, x);
		for (size_t j = 0; j < DP_OBJECTIVES_MAX; j++)
			k->var[j] = NAN;
		values(s, k->x[param], x, k);
		if (s->trainer.runs == 1)
			k->y[1] *= 1 + 0.05 * sin(7.3 * t) + 0.01 * sin(0.9 * (double)i);
	}
	r->from[t + 1] = r->n;
}

static void sample(struct run *r, const struct dp_study *s, uint32_t trainings)
{
	r->n = 0;
	for (uint32_t t = 0; t < trainings; t++) {
		double x[DP_PARAMS_MAX];

		dp_space_sample(s, t, true, x);
		train(r, s, t, x);
	}
}

static struct dp_proposer *fitted(const struct dp_study *s, struct run *r,
				  const struct dp_history *h)
{
	struct dp_proposer *p = dp_proposer_new(s);
	struct dp_err err;

	(void)r;
	assert_int_equal(dp_surrogate_fit(p, h, NULL, &err), DP_OK);
	dp__curve_acq_reserve(p);
	return p;
}

static void random_place(const struct dp_proposer *p, struct dp_rng *rng, double *u)
{
	for (size_t k = 0; k < p->encoding.d; k++)
		u[k] = p->encoding.inputs[k].is_pinned ? 1 : dp_rng_uniform(rng);
}

/* ---- the larger of two ---- */

static void the_worse_of_two(void **state)
{
	static const double cases[][5] = { { 0, 1, 0, 1, 0 },
					   { 1, 0.5, 0, 2, 0.9 },
					   { -2, 1, 0, 0.1, -0.5 },
					   { 0.1, 1, 0, 1, 0.99 },
					   { 3, 0.2, 1, 0.1, 0.3 } };
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (size_t c = 0; c < DP_COUNT(cases); c++) {
		const double *v = cases[c];
		struct dp__normal a = { v[0], v[1] }, b = { v[2], v[3] };
		struct dp__normal_max w = dp__normal_max_moments(&a, &b, v[4]);
		double sum = 0, square = 0;

		for (int i = 0; i < 200000; i++) {
			double g = dp_rng_normal(&rng), h = dp_rng_normal(&rng);
			double m = fmax(a.mean + a.sd * g,
					b.mean + b.sd * (v[4] * g + sqrt(1 - v[4] * v[4]) * h));

			sum += m / 200000;
			square += m * m / 200000;
		}
		assert_true(fabs(w.normal.mean - sum) < 0.01);
		assert_true(fabs(w.normal.sd - sqrt(square - sum * sum)) < 0.01);
		for (int i = 0; i < 5; i++) { /* in the order of m_by */
			static const int place[] = { 0, 2, 1, 3, 4 };
			double up[5], down[5], step = 1e-5;
			struct dp__normal_max x, y;

			memcpy(up, v, sizeof up);
			memcpy(down, v, sizeof down);
			up[place[i]] += step;
			down[place[i]] -= step;
			x = dp__normal_max_moments(&(struct dp__normal){ up[0], up[1] },
						   &(struct dp__normal){ up[2], up[3] }, up[4]);
			y = dp__normal_max_moments(&(struct dp__normal){ down[0], down[1] },
						   &(struct dp__normal){ down[2], down[3] },
						   down[4]);
			assert_true(fabs((x.normal.mean - y.normal.mean) / (2 * step) -
					 w.mean_by[i]) < 1e-6);
			assert_true(fabs((x.normal.sd - y.normal.sd) / (2 * step) - w.sd_by[i]) <
				    1e-5);
		}
	}
}

/* ---- against Monte Carlo ---- */

/* The points of a training that ends at place `end`, as columns of u (d x ld). */
static size_t path_of(const struct dp_proposer *p, const double *at, double *u, size_t ld)
{
	const struct dp__encoding *in = &p->encoding;
	size_t n = 0;

	while (n < in->n_checkpoints && in->checkpoints_u[n] < at[in->path_input])
		n++;
	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k < in->d; k++)
			u[k * ld + i] = k == in->path_input && i < n ? in->checkpoints_u[i] : at[k];
	return n + 1;
}

/* Factor of the joint posterior of m points, and their means. */
static void joint(const struct dp_gp *gp, const double *u, size_t ld, size_t m, double *mean,
		  double *l)
{
	double *work = dp_vec_new(dp_gp_predict_workspace(gp, 2)), var[2], next[2], both[2],
	       diag[64];
	double jitter;

	for (size_t i = 0; i < m; i++)
		for (size_t k = 0; k <= i; k++) {
			double pair[2 * DP_PARAMS_MAX];

			for (size_t j = 0; j < gp->spec.d; j++) {
				pair[2 * j] = u[j * ld + i];
				pair[2 * j + 1] = u[j * ld + k];
			}
			dp_gp_predict_sequence(gp, pair, 2, 2, both, var, next, work);
			mean[i] = both[0];
			l[i * m + k] = i == k ? var[0] : next[0];
		}
	assert_int_equal(dp_chol_factor(l, m, m, diag, &jitter), DP_OK);
	free(work);
}

static double exact_at(const struct dp_proposer *p, size_t o, const double *u, size_t ld)
{
	double one[DP_PARAMS_MAX], x[DP_PARAMS_MAX] = { 0 };

	for (size_t k = 0; k < p->encoding.d; k++)
		one[k] = u[k * ld];
	dp__encoding_decode(&p->encoding, one, x);
	return dp__exact_objective_value(p, o, x);
}

/* Expected gain of the union of a path by draws of the whole path. */
static double drawn_union(struct dp_proposer *p, const struct dp_history *h, const double *at,
			  double *error)
{
	const struct dp_study *s = p->study;
	size_t np = s->nobjectives, ld = DP_CHECKPOINTS_MAX + 1, m, count;
	double *u = dp_vec_new(DP_PARAMS_MAX * ld), *y = dp_vec_new((h->n + ld) * np);
	size_t *index = calloc(h->n, sizeof *index);
	double mean[3][16], *l[3], ref[3], before, after, sum = 0, square = 0;
	struct dp_rng rng;

	m = path_of(p, at, u, ld);
	count = dp_surrogate_posterior_front(p, h, index, y);
	for (size_t j = 0; j < np; j++) {
		ref[j] = s->objectives[j].anti_ideal;
		l[j] = dp_vec_new(m * m);
		if (!p->output[j].is_exact)
			joint(&p->output[j].gp, u, ld, m, mean[j], l[j]);
		for (size_t i = 0; p->output[j].is_exact && i < m; i++)
			mean[j][i] = exact_at(p, j, u + i, ld);
	}
	before = dp_hypervolume(y, count, np, ref);
	dp_rng_init(&rng, 7, DP_RNG_TEST, 1, 0);
	for (int draw = 0; draw < DRAWS; draw++) {
		for (size_t j = 0; j < np; j++) {
			double g[16], z;

			for (size_t i = 0; i < m; i++) {
				g[i] = dp_rng_normal(&rng);
				z = mean[j][i];
				for (size_t k = 0; k <= i; k++)
					z += l[j][i * m + k] * g[k];
				if (!p->output[j].is_exact)
					z = p->output[j].shift + p->output[j].scale * z;
				y[(count + i) * np + j] =
					dp__objective_from_model(&s->objectives[j], z);
			}
		}
		after = dp_hypervolume(y, count + m, np, ref);
		sum += (after - before) / DRAWS;
		square += (after - before) * (after - before) / DRAWS;
	}
	*error = sqrt(fmax(0, square - sum * sum) / DRAWS);
	for (size_t j = 0; j < np; j++)
		free(l[j]);
	free(u);
	free(y);
	free(index);
	return sum;
}

/* Log of the union without what it costs. */
static double union_of(struct dp_proposer *p, const double *u)
{
	double at[DP_PARAMS_MAX], score;

	memcpy(at, u, sizeof at);
	dp__curve_acq_eval(p, at, 1, 1, true, false, &score, NULL);
	return score + dp__cost_log_at(p, u, NULL);
}

/* Within 6 % of what is drawn, three of its standard errors, and 0.001 of hypervolumes of
 * about 40. */
static void check_monte_carlo(const char *objectives, uint32_t trainings)
{
	struct dp_study *s = study(PARAMS, objectives, "");
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_proposer *p;
	struct dp_rng rng;
	double sums = 0, ones = 0;

	sample(&r, s, trainings);
	h.n = r.n;
	p = fitted(s, &r, &h);
	dp_rng_init(&rng, 3, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 6; i++) {
		double u[DP_PARAMS_MAX], error, drawn, found, each = 0, one;
		double column[DP_PARAMS_MAX * 65];
		size_t m;

		random_place(p, &rng, u);
		u[p->encoding.path_input] = 0.5 + 0.5 * u[p->encoding.path_input];
		dp__encoding_round(&p->encoding, u);
		drawn = drawn_union(p, &h, u, &error);
		found = exp(union_of(p, u));
		if (fabs(found - drawn) > 0.06 * drawn + 3 * error + 1e-3)
			fail_msg("%.6g is not %.6g (%.2g)", found, drawn, error);
		m = path_of(p, u, column, 65);
		for (size_t k = 0; k < m; k++) {
			dp__acquisition_eval(p, column + k, 65, 1, true, &one, NULL, NULL);
			for (size_t j = 0; j < p->encoding.d; j++)
				u[j] = column[j * 65 + k];
			each += exp(one + dp__cost_log_at(p, u, NULL));
		}
		sums += each;
		ones += found;
	}
	assert_true(sums > 1.1 * ones); /* there was something to be seen */
	dp_proposer_free(p);
	dp_study_free(s);
}

static void a_union_is_what_is_drawn(void **state)
{
	(void)state;
	check_monte_carlo(TWO, 4);
	check_monte_carlo(EXACT, 3);
	check_monte_carlo(EXACT, 9);
	check_monte_carlo(THREE, 4);
}

/* ---- what it has to be in any case ---- */

static const char *const acquisitions[] = { ", acquisition: ehvi", ", acquisition: poi",
					    ", acquisition: hvpoi" };

/* A path without waypoints is a point, to the last bit; a longer one is never worth less
 * but for its cost; the best stop is one that is found alone, too. */
static void paths_and_points(void **state)
{
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_rng rng;

	(void)state;
	dp_rng_init(&rng, 3, DP_RNG_TEST, 0, 0);
	for (size_t a = 0; a < 2 * DP_COUNT(acquisitions); a++) {
		struct dp_study *s = study(PARAMS, a % 2 ? EXACT : LIMITED, acquisitions[a / 2]);
		struct dp_proposer *p;

		sample(&r, s, 5);
		h.n = r.n;
		p = fitted(s, &r, &h);
		for (int i = 0; i < 40; i++) {
			double u[DP_PARAMS_MAX], one, before = -INFINITY, best, alone;
			size_t path = p->encoding.path_input;

			random_place(p, &rng, u);
			u[path] = 0;
			dp__acquisition_eval(p, u, 1, 1, true, &one, NULL, NULL);
			assert_true(union_of(p, u) == one);
			for (size_t k = 0; a % 2 && k < p->encoding.n_checkpoints; k++) {
				u[path] = p->encoding.checkpoints_u[k];
				one = union_of(p, u);
				assert_true(one >= before - 1e-9);
				before = one;
			}
			dp__curve_acq_eval(p, u, 1, 1, true, true, &best, NULL);
			dp__curve_acq_eval(p, u, 1, 1, true, false, &alone, NULL);
			assert_true(best == alone || fabs(best - alone) < 1e-6);
		}
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* The slopes, over where to stop as well, between whole numbers of it. That of an oracle
 * leaves out how its steps between whole numbers depend on the rest. */
static void slopes_of_a_union(void **state)
{
	static const char *const objectives[] = { TWO, EXACT, THREE, LIMITED };
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_rng rng;
	int seen = 0;

	(void)state;
	dp_rng_init(&rng, 3, DP_RNG_TEST, 0, 0);
	for (size_t a = 0; a < 3 * DP_COUNT(objectives); a++) {
		struct dp_study *s = study(PARAMS, objectives[a % 4], acquisitions[a / 4]);
		struct dp_proposer *p;

		sample(&r, s, 5);
		h.n = r.n;
		p = fitted(s, &r, &h);
		for (int i = 0; i < 8; i++) {
			double u[DP_PARAMS_MAX], g[DP_PARAMS_MAX], other[DP_PARAMS_MAX], v;

			random_place(p, &rng, u);
			v = dp__curve_acq_gradient(p, u, g);
			for (size_t k = 0; k < p->encoding.d && isfinite(v); k++) {
				double at = u[k], step = 1e-5, up, down, slope;

				u[k] = at + step;
				up = dp__curve_acq_gradient(p, u, other);
				u[k] = at - step;
				down = dp__curve_acq_gradient(p, u, other);
				u[k] = at;
				slope = (up - down) / (2 * step);
				if (fabs(slope - g[k]) >
				    (a % 4 == 1 ? 3e-2 : 2e-3) * fmax(1, fabs(slope)))
					fail_msg("case %zu: %.8g is not %.8g", a, g[k], slope);
				seen++;
			}
		}
		dp_proposer_free(p);
		dp_study_free(s);
	}
	assert_true(seen > 200);
}

/* ---- proposals ---- */

/* Proposes trials up to `to`, the last `parallel` - 1 of which are pending. */
static void go(struct run *r, const struct dp_study *s, struct dp_proposer *p, uint32_t from,
	       uint32_t to, uint32_t parallel)
{
	for (uint32_t t = from; t < to; t++) {
		struct dp_history h = { .observations = r->known, .n = r->n };
		struct dp_proposal out;
		struct dp_err err;
		int code;

		for (size_t i = 0; i < r->n; i++)
			r->known[i].status = r->known[i].trial + parallel > t
						     ? DP_OBSERVATION_PENDING
						     : DP_OBSERVATION_OK;
		code = p ? dp_proposer_propose(p, &h, t, NULL, &out, &err)
			 : propose_once(s, &h, t, NULL, &out, &err);
		if (code != DP_OK)
			fail_msg("%s", err.msg);
		train(r, s, t, out.x);
	}
}

static bool same(const struct run *a, const struct run *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (memcmp(a->known[i].x, b->known[i].x, sizeof a->known[i].x))
			return false;
	return a->n == b->n;
}

/* With a memory and without; over the trials from which on paths are thinned out. Four
 * trainings at once are of one run, so that their points share its luck. */
static void warm_is_cold(void **state)
{
	static struct run warm, cold;

	(void)state;
	for (uint32_t parallel = 1; parallel <= 4; parallel += 3) {
		struct dp_study *s = study(PARAMS, EXACT, ", initial: 8");
		struct dp_proposer *p;

		s->trainer.runs = parallel == 1 ? 4 : 1;
		p = dp_proposer_new(s);
		warm.n = cold.n = 0;
		go(&warm, s, p, 0, parallel == 1 ? 54 : 26, parallel);
		go(&cold, s, NULL, 0, parallel == 1 ? 4 : 26, parallel);
		for (uint32_t t = 4; parallel == 1 && t < 54; t += 7) {
			cold = warm; /* as if it had all been forgotten */
			cold.n = warm.from[t];
			go(&cold, s, NULL, t, t + 1, 1);
			assert_memory_equal(cold.known[cold.n - 1].x,
					    warm.known[warm.from[t + 1] - 1].x,
					    sizeof cold.known[0].x);
		}
		if (parallel > 1)
			assert_true(same(&warm, &cold));
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* A training that was cut short is made again and goes on: a fit that took what it had
 * for all of it is a fit no more. */
static void warm_is_cold_after_a_retry(void **state)
{
	struct dp_study *s = study(PARAMS, EXACT, ", initial: 4");
	struct dp_proposer *p = dp_proposer_new(s);
	const double last[] = { 40, 0.1, 2 };
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_proposal warm, cold;
	struct dp_err err;

	(void)state;
	sample(&r, s, 9);
	train(&r, s, 9, last);
	h.n = r.n - 2; /* without its end and a waypoint */
	assert_int_equal(dp_proposer_propose(p, &h, 10, NULL, &warm, &err), DP_OK);
	h.n = r.n;
	assert_int_equal(dp_proposer_propose(p, &h, 10, NULL, &warm, &err), DP_OK);
	assert_int_equal(propose_once(s, &h, 10, NULL, &cold, &err), DP_OK);
	assert_memory_equal(warm.x, cold.x, sizeof warm.x);
	dp_proposer_free(p);
	dp_study_free(s);
}

/* Where runs may be lucky a training is made again, but not one that was cancelled or ran
 * out of time, though its waypoints are on the front. */
static void no_rerun_of_what_failed(void **state)
{
	static struct run r;

	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		struct dp_study *s = study(PARAMS, EXACT, ", initial: 4");
		struct dp_history h = { .observations = r.known };
		struct dp_proposer *p;
		double x[DP_PARAMS_MAX];

		sample(&r, s, 18);
		for (size_t i = 0; failed && i < r.n; i++)
			if (r.known[i].checkpoint == 0)
				r.known[i].status = DP_OBSERVATION_FAILED;
		h.n = r.n;
		p = fitted(s, &r, &h);
		p->output[1].hyper.noise = 0.5;
		p->output[1].is_deterministic = p->output[1].noise_curve.is_known = false;
		assert_int_equal(dp__propose_replicate(p, x), !failed);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* A waypoint takes no place, and a proposal is a training that was not made yet. */
static void waypoints_take_no_place(void **state)
{
	struct dp_study *s = study("  n: {type: int, range: [1, 4]}\n"
				   "  k: {type: categorical, values: [a, b]}\n"
				   "  z: {fixed: 1}\n",
				   TWO, ", initial: 1");
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_proposal out;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_propose_max_trials(s), 8);
	r.n = 0;
	go(&r, s, NULL, 0, 8, 1);
	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_true(memcmp(r.known[r.from[i + 1] - 1].x,
					   r.known[r.from[j + 1] - 1].x, 16) != 0);
	h.n = r.n;
	assert_int_equal(propose_once(s, &h, 8, NULL, &out, &err), DP_E_LIMIT);
	dp_study_free(s);
}

/* A small space is gone through by what each of its trainings is worth, to the last:
 * where the best stop of one is taken there are others. */
static void a_small_space_to_its_end(void **state)
{
	static const char *const spaces[] = { "8", "200" }; /* all, or some, are scored */
	static struct run r;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(spaces); i++) {
		struct dp_history h = { .observations = r.known };
		char params[160];
		struct dp_study *s;

		snprintf(params, sizeof params,
			 "  n: {type: int, range: [1, %s]}\n"
			 "  k: {type: categorical, values: [a, b, c]}\n"
			 "  z: {fixed: 1}\n",
			 spaces[i]);
		s = study(params, TWO, ", initial: 3");
		r.n = 0;
		for (uint32_t t = 0; t < 24; t++) {
			struct dp_proposal out;
			struct dp_err err;

			h.n = r.n;
			assert_int_equal(propose_once(s, &h, t, NULL, &out, &err), DP_OK);
			if (t >= 3 && strcmp(out.source, "random") == 0)
				fail_msg("trial %u: %s", (unsigned)t, out.note);
			train(&r, s, t, out.x);
		}
		dp_study_free(s);
	}
}

/* A fixed parameter that trainings walk up: models know it, proposals leave it alone. */
static void a_fixed_path(void **state)
{
	struct dp_study *s = study("  n: {fixed: 30}\n"
				   "  r: {type: float, range: [1e-3, 10], scale: log}\n"
				   "  z: {type: float, range: [0.5, 8]}\n",
				   EXACT, ", initial: 4");
	struct dp_proposer *p = dp_proposer_new(s);
	double x[3];
	struct dp_prediction at[2];
	static struct run r;
	struct dp_history h = { .observations = r.known };
	struct dp_err err;

	(void)state;
	r.n = 0;
	for (uint32_t t = 0; t < 10; t++) {
		struct dp_proposal out;

		h.n = r.n;
		assert_int_equal(dp_proposer_propose(p, &h, t, NULL, &out, &err), DP_OK);
		assert_true(out.x[0] == 0);
		train(&r, s, t, out.x);
		assert_true(r.known[r.n - 1].x[0] == 30 && r.known[r.from[t]].x[0] == 1);
	}
	assert_int_equal(p->spec.d, 3);
	assert_int_equal(dp_propose_max_trials(s), UINT64_MAX);
	h.n = r.n;
	assert_int_equal(dp_surrogate_fit(p, &h, NULL, &err), DP_OK);
	for (int i = 0; i < 2; i++) { /* at its value, and at that of a waypoint */
		struct dp_observation k = r.known[i ? 0 : r.from[1] - 1];

		memcpy(x, k.x, sizeof x);
		x[0] = i ? 1 : 0;
		dp_surrogate_predict(p, x, 1, at, NULL, NULL);
		assert_true(fabs(at[0].value - k.y[0]) < 1e-9 * k.y[0]);
		assert_true(fabs(at[1].value - k.y[1]) < 0.03);
	}
	dp_proposer_free(p);
	dp_study_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worse_of_two),
		cmocka_unit_test(a_union_is_what_is_drawn),
		cmocka_unit_test(paths_and_points),
		cmocka_unit_test(slopes_of_a_union),
		cmocka_unit_test(warm_is_cold),
		cmocka_unit_test(warm_is_cold_after_a_retry),
		cmocka_unit_test(no_rerun_of_what_failed),
		cmocka_unit_test(waypoints_take_no_place),
		cmocka_unit_test(a_small_space_to_its_end),
		cmocka_unit_test(a_fixed_path),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
