/* test_accounting_json.c - the accounting in the request of a trainer: every mechanism with all
 * of its values, and the same epsilon for whoever asks with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/unit/support/study_text.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/space.h"

/* A study with this privacy objective. */
static struct dp_study *study_with(const char *privacy, const char *parameters)
{
	char text[1024];

	snprintf(text, sizeof text,
		 "study: s\ntrainer: {command: [t]}\nparameters: {%s}\n"
		 "objectives:\n  epsilon: {privacy: {%s}}\n  error: {metric: e}\n"
		 "anti_ideal: {epsilon: 10, error: 1}\n"
		 "search: {method: random, evaluations: 8}\n",
		 parameters, privacy);
	return good(text);
}

/* What is accounted for at the study's first random point, as text, once it was seen that
 * an accountant which is asked with it has the same answer. */
static void accounted(const char *privacy, const char *parameters, const char *expected)
{
	struct dp_study *s = study_with(privacy, parameters);
	double x[DP_PARAMS_MAX], y[DP_OBJECTIVES_MAX], again;
	struct dp_buf text = DP_BUF_INIT;
	json_t *all, *one, *answer;
	struct dp_err err;

	dp_space_sample(s, 0, false, x);
	assert_int_equal(dp_space_solve_calibrated(s, x, &err), DP_OK);
	assert_int_equal(dp_objectives_epsilon(s, x, y, &err), DP_OK);
	all = dp_objectives_accounting_json(s, x, NAN, y);
	assert_int_equal(json_object_size(all), 1);
	one = json_object_get(all, "epsilon");
	if (dp_privacy_answer_query(one, &answer, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_true(dp_json_to_real(json_object_get(answer, "epsilon"), &again));
	assert_true(again == y[0]);
	assert_true(dp_json_to_real(json_object_get(one, "epsilon"), &again));
	assert_true(again == y[0]);
	json_object_del(one, "epsilon");
	dp_json_dump(&text, one, 0);
	if (expected)
		assert_string_equal(dp_buf_text(&text), expected);
	dp_buf_free(&text);
	json_decref(answer);
	json_decref(all);
	dp_study_free(s);
}

static void test_steps_are_counted(void **state)
{
	(void)state;
	accounted("mechanism: dp-sgd, sampling: without-replacement, records: 30956, "
		  "lot: l, epochs: 3, noise_multiplier: 2, delta: 1e-5",
		  "l: {fixed: 64}",
		  "{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		  "\"records\":30956,\"lot\":64,\"steps\":1452,\"noise_multiplier\":2,"
		  "\"delta\":1e-05,\"accountant\":\"pld\",\"group\":1}");
	accounted("mechanism: dp-sgd, sampling: poisson, sample_rate: 0.01, epochs: 2, "
		  "noise_variance: 4, delta: 1e-5, accountant: rdp",
		  "l: {fixed: 64}",
		  "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"sample_rate\":0.01,"
		  "\"steps\":200,\"noise_multiplier\":2,\"delta\":1e-05,\"accountant\":"
		  "\"rdp\",\"bound\":\"tight\",\"conversion\":\"improved\",\"orders\":"
		  "\"real\",\"group\":1}");
	/* what is solved for is a value like any other */
	accounted("mechanism: gaussian, sigma: s, delta: 1e-5",
		  "s: {calibrate: {epsilon: 1, mechanism: gaussian, delta: 1e-5}}", NULL);
}

static void test_every_mechanism(void **state)
{
	static const char *const uses[] = {
		"mechanism: dp-sgd, sampling: poisson, records: 1000, lot: 10.5, steps: "
		"7, "
		"noise_multiplier: b, delta: 1e-5",
		"mechanism: gaussian, sigma: b, delta: 1e-5",
		"mechanism: laplace, scale: b",
		"mechanism: discrete-gaussian, sigma: b, delta: 1e-5",
		"mechanism: discrete-laplace, scale: b",
		"mechanism: exponential, scale: b",
		"mechanism: randomized-response, flip: 0.3",
		"mechanism: output-perturbation, regularization: 0.1, records: 1000, "
		"sigma: b, delta: 1e-5",
		"mechanism: svt, cutoff: 3, scale: b",
	};
	size_t n = 0;

	(void)state;
	while (dp_mechanisms[n])
		n++;
	assert_int_equal(DP_COUNT(uses), n); /* a new one is tested here, too */
	for (size_t i = 0; i < n; i++)
		accounted(uses[i], "b: {type: float, range: [1, 2]}", NULL);
}

static void test_composition_and_program(void **state)
{
	struct dp_study *s = study_with("command: [./acc, x], delta: 1e-6", "b: {fixed: 1}");
	struct dp_buf text = DP_BUF_INIT;
	double x[DP_PARAMS_MAX];
	json_t *all;

	(void)state;
	accounted("compose: [{mechanism: laplace, scale: 10, times: t}, {mechanism: "
		  "dp-sgd, sampling: poisson, records: 1000, lot: 10, epochs: 1, "
		  "noise_variance: 4}], delta: 1e-6",
		  "t: {fixed: 3}",
		  "{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":10,\"sensitivity\":1,"
		  "\"group\":1,\"times\":3},{\"mechanism\":\"dp-sgd\",\"sampling\":"
		  "\"poisson\",\"records\":1000,\"lot\":10,\"steps\":100,"
		  "\"noise_multiplier\":2,\"group\":1,\"times\":1}],\"delta\":1e-06,"
		  "\"accountant\":\"pld\"}");
	dp_space_sample(s, 0, false, x);
	all = dp_objectives_accounting_json(s, x, NAN, NULL);
	dp_json_dump(&text, all, 0);
	assert_string_equal(dp_buf_text(&text),
			    "{\"epsilon\":{\"command\":[\"/dir/acc\",\"x\"],\"delta\":"
			    "1e-06}}");
	json_decref(all);
	dp_buf_free(&text);
	dp_study_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_counted),
		cmocka_unit_test(test_every_mechanism),
		cmocka_unit_test(test_composition_and_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
