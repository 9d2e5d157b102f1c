/* test_no_memory_search.c - fronts, Gaussian processes and proposals when memory ends:
 * at every allocation in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "failing_malloc.h"
#include "optimize/pareto/pareto.h"
#include "optimize/gp/gp.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fronts ---- */

enum {
	POINTS = 40
};

struct points {
	size_t p;
	double y[POINTS * 4], ref[4];
};

static void some_points(struct points *s, size_t p)
{
	struct dp_rng r;

	s->p = p;
	dp_rng_init(&r, 5, DP_RNG_TEST, (uint32_t)p, 0);
	for (size_t i = 0; i < POINTS * p; i++)
		s->y[i] = dp_rng_uniform(&r);
	for (size_t k = 0; k < p; k++)
		s->ref[k] = 1;
}

static int find_volume(void *arg)
{
	const struct points *s = arg;
	double volume, again;
	int code = dp_hypervolume(s->y, POINTS, s->p, s->ref, &volume);

	if (code != DP_OK)
		return code;
	memory_is_fine();
	assert_int_equal(dp_hypervolume(s->y, POINTS, s->p, s->ref, &again), DP_OK);
	memory_is_short_again();
	assert_true(volume == again);
	return DP_OK;
}

static int find_cells(void *arg)
{
	const struct points *s = arg;
	struct dp_box_decomposition cells = { 0 };
	int code = dp_box_decompose(s->y, POINTS, s->p, s->ref, 100000, &cells);

	if (code == DP_OK) {
		assert_true(cells.count > 0);
		dp_box_decomposition_free(&cells);
	}
	return code;
}

static void test_fronts(void **state)
{
	struct points s;

	(void)state;
	for (size_t p = 2; p <= 4; p++) {
		some_points(&s, p);
		with_little_memory(find_volume, &s);
		with_little_memory(find_cells, &s);
	}
}

/* ---- Gaussian processes ---- */

enum {
	N = 12,
	D = 2
};

struct sample {
	double u[D * N], y[N], noise[N];
	struct dp_gp_spec spec;
	struct dp_gp_data data;
};

static void make_sample(struct sample *s)
{
	struct dp_rng r;

	memset(s, 0, sizeof *s);
	dp_rng_init(&r, 3, DP_RNG_TEST, 2, 0);
	for (size_t i = 0; i < N; i++) {
		s->u[i] = dp_rng_uniform(&r);
		s->u[N + i] = dp_rng_uniform(&r);
		s->y[i] = sin(5 * s->u[i]) + s->u[N + i];
		s->noise[i] = NAN;
	}
	s->spec.d = D;
	s->spec.kernel = &dp_kernel_matern52;
	for (size_t k = 0; k < D; k++)
		s->spec.input[k] = (struct dp_gp_input){ false, 0, 1, 1, -3, 3 };
	s->data = (struct dp_gp_data){ s->u, N, N, s->y, s->noise, NULL, NULL, NULL };
}

/* A fit that found no memory leaves its start as it was. */
static int fit(void *arg)
{
	const struct sample *s = arg;
	struct dp_gp_hyper h, start;
	double value;
	int code;

	dp_gp_init_hyper(&s->spec, DP_GP_START_PRIOR_MEAN, &h);
	start = h;
	code = dp_gp_fit(&s->spec, &s->data, &(struct dp_gp_fit_options){ .max_evaluations = 30 },
			 &h, &value);
	if (code != DP_OK)
		assert_memory_equal(&h, &start, sizeof h);
	return code;
}

static int build(void *arg)
{
	const struct sample *s = arg;
	struct dp_gp gp = { 0 };
	struct dp_gp_hyper h;
	double u[D] = { 0.5, 0.25 };
	int code;

	dp_gp_init_hyper(&s->spec, DP_GP_START_PRIOR_MEAN, &h);
	code = dp_gp_build(&gp, &s->spec, &h, &s->data, N);
	if (code != DP_OK)
		return code;
	dp_gp_set_outputs(&gp, s->y, N);
	code = dp_gp_append_point(&gp, u, NAN, NULL); /* has to make room */
	assert_int_equal(gp.n, code == DP_OK ? N + 1 : N);
	memory_is_fine();
	if (code != DP_OK)
		assert_int_equal(dp_gp_append_point(&gp, u, NAN, NULL), DP_OK);
	assert_int_equal(gp.n, N + 1);
	memory_is_short_again();
	dp_gp_free(&gp);
	return code;
}

static void test_gp(void **state)
{
	struct sample s;

	(void)state;
	make_sample(&s);
	with_little_memory(fit, &s);
	with_little_memory(build, &s);
}

/* ---- proposals ---- */

enum {
	KNOWN = 14
};

struct asked {
	struct dp_study *study;
	struct dp_observation known[KNOWN];
	struct dp_history h;
	struct dp_proposal expected;
};

static struct dp_study *study_file_load(const char *search)
{
	static const char head[] = "study: t\nseed: 5\ntrainer: {command: [none], runs: 2}\n"
				   "parameters:\n"
				   "  n: {type: int, range: [1, 40]}\n"
				   "  r: {type: float, range: [1e-3, 10], scale: log}\n"
				   "  k: {type: categorical, values: [a, b, c]}\n"
				   "objectives:\n  e: {metric: e, transform: log}\n"
				   "  u: {metric: u, transform: logit}\nanti_ideal: {e: 50, u: 1}\n"
				   "constraints: {seconds: \"<= 5\"}\n";
	struct dp_diagnostics problems = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	char text[1024];
	int len = snprintf(text, sizeof text, "%s%s", head, search);

	if (dp_study_parse(text, (size_t)len, "t", "/", &s, &problems, &err) != DP_OK)
		fail_msg("%s", err.msg);
	dp_diagnostics_free(&problems);
	return s;
}

static void make_history(struct asked *a, const char *search, size_t n)
{
	struct dp_err err;

	memset(a, 0, sizeof *a);
	a->study = study_file_load(search);
	for (size_t i = 0; i < n; i++) {
		struct dp_observation *k = &a->known[i];

		k->trial = (uint32_t)i;
		dp_space_sample(a->study, k->trial, true, k->x);
		k->y[0] = 0.1 * k->x[0] * (1 + k->x[1]);
		k->y[1] = 1 / (1 + 0.1 * k->x[0] + k->x[2]);
		k->var[0] = k->var[1] = 1e-4;
		k->metrics[0] = 1 + k->x[1];
		k->status = i + 2 < n ? DP_OBSERVATION_OK : DP_OBSERVATION_PENDING;
	}
	a->h = (struct dp_history){ .observations = a->known, .n = n };
	if (dp_propose(a->study, &a->h, (uint32_t)n, NULL, &a->expected, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static void assert_expected(const struct asked *a, const struct dp_proposal *got)
{
	for (size_t i = 0; i < a->study->nparams; i++)
		assert_true(got->x[i] == a->expected.x[i]);
	assert_string_equal(got->source, a->expected.source);
	assert_string_equal(got->note, a->expected.note);
}

/* The same point or none: a proposal made without memory for its models would not be
 * made again by a resumed study. */
static int propose(void *arg)
{
	const struct asked *a = arg;
	struct dp_proposal got;
	struct dp_err err;
	int code = dp_propose(a->study, &a->h, (uint32_t)a->h.n, NULL, &got, &err);

	if (code == DP_OK)
		assert_expected(a, &got);
	return code;
}

/* A proposer that lacked memory once gives the same answers later. */
static int ask_again(void *arg)
{
	const struct asked *a = arg;
	struct dp_proposer *p = dp_proposer_new(a->study);
	struct dp_history part = a->h;
	struct dp_proposal got;
	struct dp_err err;
	int code;

	if (!p)
		return DP_E_NOMEM;
	part.n = a->h.n - 3;
	code = dp_proposer_propose(p, &part, (uint32_t)part.n, NULL, &got, &err);
	if (code == DP_OK)
		code = dp_proposer_propose(p, &a->h, (uint32_t)a->h.n, NULL, &got, &err);
	if (code == DP_OK)
		assert_expected(a, &got);
	memory_is_fine();
	assert_int_equal(dp_proposer_propose(p, &a->h, (uint32_t)a->h.n, NULL, &got, &err), DP_OK);
	assert_expected(a, &got);
	memory_is_short_again();
	dp_proposer_free(p);
	return code;
}

static int surrogates(void *arg)
{
	const struct asked *a = arg;
	struct dp_proposer *p = dp_proposer_new(a->study);
	struct dp_prediction out[2 * 2];
	double feasible[2], acquisition[2], y[KNOWN * 2];
	double x[6] = { 3, 0.5, 1, 20, 0.1, 0 };
	size_t index[KNOWN], count;
	struct dp_err err;
	int code;

	if (!p)
		return DP_E_NOMEM;
	code = dp_surrogate_fit(p, &a->h, NULL, &err);
	if (code == DP_OK)
		code = dp_surrogate_predict(p, x, 2, out, feasible, acquisition, &err);
	if (code == DP_OK)
		code = dp_surrogate_posterior_front(p, &a->h, index, y, &count, &err);
	if (code == DP_OK)
		assert_true(isfinite(out[0].value) && count > 0);
	dp_proposer_free(p);
	return code;
}

static void test_proposals(void **state)
{
	static const char *const simple[] = {
		"search: {method: random, evaluations: 100}\n",
		"search: {method: grid, evaluations: 27, grid: 3}\n",
	};
	struct asked a;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(simple); i++) {
		make_history(&a, simple[i], 5);
		with_little_memory(propose, &a);
		dp_study_free(a.study);
	}
	make_history(&a, "search: {method: dpareto, evaluations: 100, initial: 8}\n", KNOWN);
	assert_true(a.expected.has_prediction);
	with_little_memory(propose, &a);
	with_little_memory(ask_again, &a);
	with_little_memory(surrogates, &a);
	dp_study_free(a.study);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_fronts, plenty_of_memory),
		cmocka_unit_test_setup(test_gp, plenty_of_memory),
		cmocka_unit_test_setup(test_proposals, plenty_of_memory),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
