/* test_smoothed_front.c - the front of a study by what models make of its results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "tests/unit/support/made_space.h"
#include "optimize/history/smoothed_front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which results ---- */

static void noisy_values(const double *x, double *y)
{
	static uint32_t call;
	struct dp_rng r;

	dp_rng_init(&r, 11, DP_RNG_TEST, call++, 0);
	y[0] = x[0] + 0.05 * dp_rng_normal(&r);
	y[1] = 1 - sqrt(fabs(x[0])) + x[1] + 0.1 * dp_rng_normal(&r);
}

#define SQUARE                                                                                     \
	HEAD "parameters: {u: {type: float, range: [0, 1]}, v: {type: float, range: "              \
	     "[0, 1]}}\n" TWO_METRIC RANDOM

static void test_all_results(void **state)
{
	struct dp_study_state *st = made_study(SQUARE);
	const double x[] = { 0.5, 0.5 }, none[] = { NAN, NAN };
	struct dp_history_subset r;

	(void)state;
	made_scatter(20, noisy_values);
	made_trial("failed", x, none);
	made_trial("diverged", x, none);
	made_scatter(3, noisy_values);
	r = dp_history_subset_load(st);
	assert_int_equal(r.n, 24);
	assert_int_equal(r.nimported, 0);
	for (size_t i = 0; i < r.n; i++)
		assert_int_equal(r.known[i].trial, i < 20 ? i : i + 1);
	assert_int_equal(r.nfront, st->nfront);
	for (size_t i = 0; i < r.nfront; i++)
		assert_int_equal(r.known[r.front[i]].trial, st->front[i].trial);
	dp_history_subset_free(&r);
}

/* Every result on the front of the observed values. */
static void on_the_line(const double *x, double *y)
{
	y[0] = x[0];
	y[1] = 1 - x[0];
}

static void test_some_of_many_results(void **state)
{
	struct dp_study_state *st = made_study(SQUARE);
	struct dp_history_subset r;

	(void)state;
	made_scatter(2000, noisy_values);
	r = dp_history_subset_load(st);
	assert_in_range(r.n, DP_HISTORY_SUBSET_MAX / 2, DP_HISTORY_SUBSET_MAX);
	for (size_t i = 1; i < r.n; i++)
		assert_true(r.known[i - 1].trial < r.known[i].trial);
	assert_int_equal(r.nfront, st->nfront);
	for (size_t i = 0; i < r.nfront; i++)
		assert_int_equal(r.known[r.front[i]].trial, st->front[i].trial);
	dp_history_subset_free(&r);
	made_free(NULL);
	/* not all of a front that is larger still */
	st = made_study(SQUARE);
	made_scatter(1000, on_the_line);
	r = dp_history_subset_load(st);
	assert_int_equal(st->nfront, 1000);
	assert_int_equal(r.n, DP_HISTORY_SUBSET_MAX);
	assert_int_equal(r.nfront, DP_HISTORY_SUBSET_MAX);
	for (size_t i = 1; i < r.nfront; i++)
		assert_true(r.known[r.front[i - 1]].y[0] < r.known[r.front[i]].y[0]);
	dp_history_subset_free(&r);
}

/* ---- of paths ---- */

#define WALKED                                                                                     \
	"study: s\ntrainer: {command: [x], path: {parameter: n, points: 4}}\n"                     \
	"parameters: {n: {type: int, range: [1, 16]}, v: {type: float, range: [0, "                \
	"1]}}\n" TWO_METRIC "search: {method: dpareto, evaluations: 100}\n"

/* A trial to n = 16 whose attempt told of the waypoints 1 and 2 of 1, 2, 4, 8. */
static void walk_trial(const char *how, enum dp_end_class end, double b)
{
	static const char *const names[] = { "a", "b" };
	static const uint32_t runs[] = { 0 };
	const double x[] = { 16, 0.5 }, at[] = { 1, 2 };
	const double ways[] = { 1, b, 2, b - 1 }, own[] = { 3, b - 2 };
	const struct dp_study_state *st = dp_state_get_study(&made_report.state, 1);
	uint32_t t = st->ntrials;

	made_apply((struct dp_event){
		.type = DP_EV_TRIAL_PROPOSED,
		.trial = t,
		.trial_proposed = { .point = { .source = "random", .params = x, .nparams = 2 } } });
	made_apply(
		(struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED, .trial = t, .run = DP_RUN_ALL });
	if (!how)
		return;
	made_apply((struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
				      .trial = t,
				      .run = DP_RUN_ALL,
				      .reason = end == DP_END_OK ? NULL : "because",
				      .attempt_ended = { .end_class = end,
							 .charged = true,
							 .metric_names = names,
							 .nmetrics = 2,
							 .runs = runs,
							 .nruns = 1,
							 .metrics = own,
							 .checkpoints = at,
							 .ncheckpoints = 2,
							 .checkpoint_metrics = ways,
							 .ncheckpoint_metrics = 4 } });
	made_apply((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
				      .trial = t,
				      .trial_ended = { .status = how,
						       .objectives = own,
						       .nobjectives = end == DP_END_OK ? 2 : 0 } });
}

static void test_waypoints_are_recalled(void **state)
{
	struct dp_study_state *st = made_study(WALKED);
	static const double at[] = { 1, 2, 0, 1, 2, 0, 1, 2, 4, 8, 0 };
	static const double n[] = { 1, 2, 16, 1, 2, 16, 1, 2, 4, 8, 16 };
	size_t count, before;
	struct dp_observation *known;
	struct dp_history_subset r;

	(void)state;
	walk_trial("ok", DP_END_OK, 5);
	before = dp_history_count_results(st);
	assert_int_equal(before, 3);
	walk_trial("cancelled", DP_END_CANCELLED, 4);
	assert_int_equal(dp_history_count_results(st), 5); /* a front of before is out of date */
	walk_trial(NULL, DP_END_NONE, 0);
	known = dp_history_load(st, true, &count);
	assert_int_equal(count, 11);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(known[i].trial, i < 3 ? 0 : i < 6 ? 1 : 2);
		assert_true(known[i].checkpoint == at[i] && known[i].x[0] == n[i]);
		assert_int_equal(known[i].status, i < 5    ? DP_OBSERVATION_OK
						  : i == 5 ? DP_OBSERVATION_FAILED
							   : DP_OBSERVATION_PENDING);
	}
	assert_true(known[4].y[0] == 2 && known[4].y[1] == 3 && isnan(known[5].y[0]));
	free(known);
	r = dp_history_subset_load(st);
	assert_int_equal(r.n, 5);
	assert_int_equal(r.nfront, st->nfront);
	for (size_t i = 0; i < r.nfront; i++) {
		double place = dp_result_checkpoint_value(st, st->front[i]);

		assert_int_equal(r.known[r.front[i]].trial, st->front[i].trial);
		assert_true(r.known[r.front[i]].checkpoint == (isnan(place) ? 0 : place));
	}
	dp_history_subset_free(&r);
}

/* ---- the front ---- */

static double to_minimize(const struct dp_study *s, size_t objective, double v)
{
	return s->objectives[objective].maximize ? -v : v;
}

/* a is at least as good as b in all objectives, and better in one by more than this. */
static bool beats(const struct dp_study *s, const double *a, const double *b, double by)
{
	bool better = false;

	for (size_t j = 0; j < s->nobjectives; j++) {
		double u = to_minimize(s, j, a[j]), v = to_minimize(s, j, b[j]);

		if (u > v)
			return false;
		better |= u < v - by;
	}
	return better;
}

struct found {
	struct dp_study_state *st;
	struct dp_history_subset r;
	struct dp_smoothed_front d;
	struct dp_proposer *p;
};

static void find_front(struct found *f)
{
	struct dp_study_state *st = dp_state_get_study(&made_report.state, 1);

	*f = (struct found){ .st = st, .p = dp_proposer_new(st->spec) };
	assert_non_null(f->p);
	f->r = dp_history_subset_load(st);
	assert_int_equal(dp_smoothed_front_compute(f->p, st->spec, &f->r, NULL, &f->d, &made_err),
			 DP_OK);
}

static void free_found(struct found *f)
{
	dp_history_subset_free(&f->r);
	dp_smoothed_front_free(&f->d);
	dp_proposer_free(f->p);
}

/* Order, dominance, volume, and what the models say elsewhere. */
static void check_front(struct found *f)
{
	const struct dp_study *s = f->st->spec;
	size_t p = s->nobjectives;
	double *y = f->d.y, *rows = malloc((f->d.n * p + 1) * sizeof *rows);
	double ref[DP_OBJECTIVES_MAX], volume;

	assert_true(f->d.n > 0);
	for (size_t i = 1; i < f->d.n; i++)
		assert_true(to_minimize(s, 0, y[(i - 1) * p]) <= to_minimize(s, 0, y[i * p]));
	for (size_t i = 0; i < f->d.n; i++)
		for (size_t k = 0; k < f->d.n; k++)
			assert_false(beats(s, y + k * p, y + i * p, 0));
	for (size_t j = 0; j < p; j++) {
		ref[j] = to_minimize(s, j, s->objectives[j].anti_ideal);
		for (size_t i = 0; i < f->d.n; i++)
			rows[i * p + j] = to_minimize(s, j, y[i * p + j]);
	}
	volume = dp_hypervolume(rows, f->d.n, p, ref);
	assert_near(f->d.hypervolume, volume, 1e-12);
	free(rows);
	assert_int_equal(f->d.lo != NULL && f->d.hi != NULL, f->d.is_modelled);
	for (size_t i = 0; f->d.is_modelled && i < f->d.n * p; i++) {
		bool computed = s->objectives[i % p].privacy != NULL;

		assert_true(f->d.lo[i] <= y[i] && y[i] <= f->d.hi[i]);
		assert_true(!computed || (f->d.lo[i] == y[i] && f->d.hi[i] == y[i]));
	}
}

/* Is an objective without noise, so that the front has what was observed? */
static bool is_as_observed(const struct found *f, size_t objective)
{
	size_t p = f->st->spec->nobjectives;

	for (size_t i = 0; i < f->d.n; i++)
		if (f->d.y[i * p + objective] != f->r.known[f->d.result_index[i]].y[objective])
			return false;
	return true;
}

/* No result is better by the models than the front: asked as a figure asks them. */
static void check_by_predictions(struct found *f)
{
	const struct dp_study *s = f->st->spec;
	struct dp_history h = { .observations = f->r.known, .n = f->r.n };
	size_t p = s->nobjectives;

	assert_int_equal(dp_surrogate_fit(f->p, &h, NULL, &made_err), DP_OK);
	for (size_t i = 0; i < f->r.n; i++) {
		struct dp_prediction at[DP_OBJECTIVES_MAX];
		double y[DP_OBJECTIVES_MAX];
		bool beaten = false;

		dp_surrogate_predict(f->p, f->r.known[i].x, 1, at, NULL, NULL);
		for (size_t j = 0; j < p; j++)
			y[j] = is_as_observed(f, j) ? f->r.known[i].y[j] : at[j].value;
		for (size_t k = 0; k < f->d.n; k++) {
			assert_false(beats(s, y, f->d.y + k * p, 1e-6));
			beaten |= f->d.result_index[k] == i || beats(s, f->d.y + k * p, y, -1e-6);
		}
		assert_true(beaten);
	}
}

static void test_front_of_the_models(void **state)
{
	struct found f;

	(void)state;
	made_study(SQUARE);
	made_scatter(60, noisy_values);
	find_front(&f);
	assert_true(f.d.is_modelled);
	check_front(&f);
	check_by_predictions(&f);
	free_found(&f);
}

static void three_values(const double *x, double *y)
{
	noisy_values(x, y);
	y[0] = -y[0];
	y[2] = 1 - y[1];
	y[1] = x[1] - x[0];
}

static void test_goals(void **state)
{
	struct found f;

	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, v: {type: float, "
			"range: [0, 1]}}\nobjectives: {a: {metric: a, goal: maximize}, b: "
			"{metric: b}, c: {metric: c, goal: maximize}}\nanti_ideal: {a: -3, b: "
			"3, c: -3}\n" RANDOM);
	made_scatter(40, three_values);
	find_front(&f);
	check_front(&f);
	check_by_predictions(&f);
	free_found(&f);
}

static void svt_values(const double *x, double *y)
{
	double noise[2];

	noisy_values((const double[]){ 0, 0 }, noise);
	y[0] = made_svt(x[0], x[1]);
	y[1] = 0.5 + 0.1 * log10(x[1]) + 0.5 * noise[0];
}

static void slopes(const double *x, double *y)
{
	y[0] = x[0];
	y[1] = x[1] - x[0];
}

/* A trial that breaks a constraint does not hide one at the same place that meets it. */
static void test_constraint(void **state)
{
	const double best[] = { 0, 0 };
	struct found f;
	double y[2];

	(void)state;
	made_study(HEAD "parameters: {u: {type: float, range: [0, 1]}, v: {type: float, "
			"range: [0, 1]}}\n" TWO_METRIC "constraints: {m: \"<= 1\"}\n" RANDOM);
	slopes(best, y);
	made_trial("ok", best, y);
	made_trial("ok", best, y);
	made_scatter(10, slopes);
	find_front(&f);
	assert_int_equal(f.d.n, 0); /* of no trial is it known that it holds */
	dp_smoothed_front_free(&f.d);
	for (size_t i = 0; i < f.r.n; i++)
		f.r.known[i].metrics[0] = i == 0 ? 2 : 0;
	assert_int_equal(dp_smoothed_front_compute(f.p, f.st->spec, &f.r, NULL, &f.d, &made_err),
			 DP_OK);
	assert_true(f.d.n > 0 && f.d.result_index[0] == 1);
	free_found(&f);
}

/* An epsilon is what was computed, to the last bit; of equal places the first trial
 * stands, and one that is not ok does not hide the others. */
static void test_repeats(void **state)
{
	const double place[] = { 1, 100 }, none[] = { made_svt(1, 100), NAN };
	struct found f;
	size_t there = 0;

	(void)state;
	made_study(HEAD "parameters: {" SVT_SPACE "}\n" SVT RANDOM);
	made_scatter(10, svt_values);
	made_trial("diverged", place, none);
	for (int i = 0; i < 8; i++) {
		double y[2];

		svt_values(place, y);
		made_trial("ok", place, y);
		made_scatter(2, svt_values);
	}
	find_front(&f);
	check_front(&f);
	for (size_t i = 0; i < f.d.n; i++) {
		const struct dp_observation *k = &f.r.known[f.d.result_index[i]];

		assert_true(f.d.y[2 * i] == k->y[0]);
		assert_false(f.d.y[2 * i + 1] == k->y[1]);
		if (k->x[0] == place[0] && k->x[1] == place[1]) {
			assert_int_equal(k->trial, 11);
			there++;
		}
	}
	assert_int_equal(there, 1); /* it has the least epsilon */
	free_found(&f);
}

/* What another study found teaches the models, and beats nobody. */
static void test_imported(void **state)
{
	const double x[] = { 0, 0 }, best[] = { -9, -9 };
	struct found f;

	(void)state;
	made_study(SQUARE);
	made_apply((struct dp_event){
		.type = DP_EV_RESULT_IMPORTED,
		.result_imported = {
			.params = x, .nparams = 2, .objectives = best, .nobjectives = 2 } });
	made_scatter(15, noisy_values);
	find_front(&f);
	assert_int_equal(f.r.nimported, 1);
	assert_int_equal(f.r.n, 16);
	assert_true(f.d.is_modelled);
	check_front(&f);
	for (size_t i = 0; i < f.d.n; i++)
		assert_true(f.d.result_index[i] >= 1);
	free_found(&f);
}

static void test_as_observed(void **state)
{
	struct found f;

	(void)state;
	made_study(SQUARE);
	find_front(&f); /* of nothing */
	assert_true(f.d.n == 0 && f.d.hypervolume == 0 && !f.d.is_modelled);
	free_found(&f);
	made_scatter(1, noisy_values);
	find_front(&f);
	assert_true(f.d.n == 1 && !f.d.is_modelled && f.d.hypervolume == f.st->hypervolume);
	assert_memory_equal(f.d.y, f.st->trials[0]->objectives, 2 * sizeof *f.d.y);
	free_found(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_all_results, made_free),
		cmocka_unit_test_teardown(test_waypoints_are_recalled, made_free),
		cmocka_unit_test_teardown(test_some_of_many_results, made_free),
		cmocka_unit_test_teardown(test_front_of_the_models, made_free),
		cmocka_unit_test_teardown(test_goals, made_free),
		cmocka_unit_test_teardown(test_constraint, made_free),
		cmocka_unit_test_teardown(test_repeats, made_free),
		cmocka_unit_test_teardown(test_imported, made_free),
		cmocka_unit_test_teardown(test_as_observed, made_free),
	};

	dp_linalg_set_single_thread();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
