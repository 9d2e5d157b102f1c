/* test_no_memory_study.c - study files, spaces and privacy accountants when memory ends:
 * at every allocation in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_malloc.h"
#include "study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char study_text[] =
	"study: s\n"
	"seed: 1\n"
	"trainer:\n"
	"  command: [prog, a]\n"
	"  runs: 2\n"
	"  env: {A: b, C: d}\n"
	"  cwd: here\n"
	"parameters:\n"
	"  C: {type: int, range: [1, 30]}\n"
	"  b: {type: float, range: [0.01, 100], scale: log}\n"
	"  k: {type: categorical, values: [u, 2, true]}\n"
	"  f: {fixed: 3}\n"
	"  n: {calibrate: {epsilon: b, mechanism: gaussian, delta: 1e-5}}\n"
	"objectives:\n"
	"  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
	"  error: {metric: f1, of: \"1 - f1\", transform: logit}\n"
	"anti_ideal: {epsilon: 10, error: 1}\n"
	"constraints: {seconds: \"<= 5\"}\n"
	"search: {method: dpareto, evaluations: 80}\n";

/* ---- study files ---- */

/* A study that is there is whole; one that is not was short of memory, and no mistake
 * was found in the file. */
static int parse_good(void *arg)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int code = dp_study_parse(study_text, strlen(study_text), "f", "/d", &s, &problems, &err);

	(void)arg;
	if (code == DP_OK) {
		assert_int_equal(s->nparams, 5);
		assert_non_null(s->params[4].calibrate->use.mechanism);
		assert_string_equal(s->params[2].name, "k");
		assert_int_equal(json_array_size(s->params[2].values), 3);
		assert_string_equal(s->trainer.argv[1], "a");
		assert_null(s->trainer.argv[2]);
		assert_string_equal(s->trainer.env[1], "C=d");
		assert_string_equal(s->trainer.cwd, "/d/here");
		assert_string_equal(s->objectives[1].metric, "f1");
		assert_string_equal(s->constraints[0].metric, "seconds");
		dp_study_free(s);
	} else {
		assert_null(s);
	}
	if (problems.error_count > 0)
		fail_msg("'%s'", problems.list[0].message);
	dp_diagnostics_free(&problems);
	return code;
}

static int parse_bad(void *arg)
{
	static const char text[] = "study: s\nsede: 1\ntrainer: {command: [p], runs: 0}\n"
				   "parameters: {x: {type: flaot}}\n";
	struct dp_diagnostics problems = { 0 };
	struct dp_buf out = DP_BUF_INIT;
	struct dp_study *s = NULL;
	struct dp_err err;
	json_t *list;
	int code = dp_study_parse(text, strlen(text), "f", "/", &s, &problems, &err);

	(void)arg;
	assert_true(code != DP_OK && !s);
	if (code == DP_E_INVALID) {
		code = DP_OK;
		assert_true(problems.error_count >= 4);
		dp_diagnostics_format(&problems, "f", text, strlen(text), &out);
		list = dp_diagnostics_to_json(&problems, text, strlen(text));
		if (out.failed || !list)
			code = DP_E_NOMEM;
		else
			assert_int_equal(json_array_size(list), problems.count);
		json_decref(list);
		dp_buf_free(&out);
	}
	dp_diagnostics_free(&problems);
	return code;
}

static int on_config_file_option(void *arg, const char *name, const char *value, struct dp_err *err)
{
	(void)err;
	assert_true(name[0] && value[0]);
	++*(int *)arg;
	return DP_OK;
}

static int parse_options(void *arg)
{
	static const char text[] = "one: 1\n# and\ntwo: second\nthree: [3s, {a: b, c: []}]\n";
	struct dp_diagnostics problems = { 0 };
	struct dp_err err;
	int set = 0;
	int code = dp_config_parse(text, strlen(text), "f", on_config_file_option,
				   on_config_file_option, &set, &problems, &err);

	(void)arg;
	if (code == DP_OK)
		assert_int_equal(set, 3);
	assert_int_equal(problems.error_count, 0);
	dp_diagnostics_free(&problems);
	return code;
}

static void test_files(void **state)
{
	(void)state;
	with_little_memory(parse_good, NULL);
	with_little_memory(parse_bad, NULL);
	with_little_memory(parse_options, NULL);
}

/* ---- points ---- */

static struct dp_study *good_study(void)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_study *s = NULL;

	assert_int_equal(
		dp_study_parse(study_text, strlen(study_text), "f", "/d", &s, &problems, NULL),
		DP_OK);
	dp_diagnostics_free(&problems);
	return s;
}

static int point_and_back(void *arg)
{
	const struct dp_study *s = arg;
	double x[DP_PARAMS_MAX], back[DP_PARAMS_MAX];
	struct dp_buf out = DP_BUF_INIT;
	struct dp_epsilon e;
	struct dp_err err;
	json_t *values;
	int code;

	dp_space_sample(s, 3, true, x);
	code = dp_space_solve_calibrated(s, x, &err);
	if (code != DP_OK)
		return code;
	values = dp_space_to_json(s, x);
	if (!values)
		return DP_E_NOMEM;
	assert_int_equal(json_object_size(values), 5);
	json_object_del(values, "f");
	code = dp_space_from_json(s, values, back, &err);
	json_decref(values);
	for (size_t i = 0; code == DP_OK && i < 5; i++)
		assert_true(x[i] == back[i]);
	for (size_t i = 0; i < s->nparams; i++)
		dp_space_format_value(s, i, x[i], &out);
	if (code == DP_OK && out.failed)
		code = DP_E_NOMEM;
	dp_buf_free(&out);
	return code == DP_OK ? dp_objective_epsilon(s, 0, x, &e, &err) : code;
}

/* All differences, or none and the lack of memory. */
static int compare_studies(void *arg)
{
	const struct dp_study *s = arg;
	struct dp_study other = *s;
	json_t *differences;
	int code;

	other.trainer.timeout = 7;
	other.seed++;
	differences = dp_study_diff(s, &other);
	code = differences ? DP_OK : DP_E_NOMEM;
	if (differences)
		assert_int_equal(json_array_size(differences), 2);
	json_decref(differences);
	return code;
}

/* A refused value is told, or the lack of memory is. */
static int change_badly(void *arg)
{
	struct dp_study other = *(const struct dp_study *)arg;
	struct dp_err err;
	int code = dp_study_set_key(&other, "trainer.timeout", "soon", &err);

	assert_true(code != DP_OK && other.trainer.timeout == 0);
	return code == DP_E_INVALID ? DP_OK : code;
}

static void test_changes(void **state)
{
	struct dp_study *s = good_study();

	(void)state;
	with_little_memory(compare_studies, s);
	with_little_memory(change_badly, s);
	dp_study_free(s);
}

static void test_points(void **state)
{
	struct dp_study *s = good_study();

	(void)state;
	with_little_memory(point_and_back, s);
	dp_study_free(s);
}

/* ---- commands, and what trainers are told ---- */

static int place_files(void *arg)
{
	const char *paths[] = { "/d/a" };
	struct dp_command_files files = { paths, 1 };
	struct dp_study *s;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	s = good_study();
	memory_is_short_again();
	code = dp_study_restore_files(s, "/d", &files, &err);
	assert_string_equal(s->trainer.argv[1], code == DP_OK ? "/d/a" : "a");
	dp_study_free(s);
	return code;
}

static int find_no_files(void *arg)
{
	struct dp_command_files files;
	struct dp_err err;
	int code = dp_study_resolve_files(arg, "/d", &files, &err);

	free(files.list);
	return code;
}

static int one_training(void *arg)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;
	int code = dp_study_smoke_variant(study_text, strlen(study_text), &text, &err);

	(void)arg;
	if (code == DP_OK)
		assert_non_null(strstr(dp_buf_text(&text), "\"evaluations\":1"));
	dp_buf_free(&text);
	return code;
}

static int tell_accounted(void *arg)
{
	const struct dp_study *s = arg;
	double x[DP_PARAMS_MAX] = { 3, 2, 0, 0, 1 }, epsilon[] = { 0.5, NAN };
	json_t *told = dp_objectives_accounting_json(s, x, NAN, epsilon);

	if (!told)
		return DP_E_NOMEM;
	assert_int_equal(json_object_size(json_object_get(told, "epsilon")), 5);
	json_decref(told);
	return DP_OK;
}

static void test_commands(void **state)
{
	struct dp_study *s = good_study();

	(void)state;
	with_little_memory(place_files, NULL);
	with_little_memory(find_no_files, s);
	with_little_memory(one_training, NULL);
	with_little_memory(tell_accounted, s);
	dp_study_free(s);
}

/* ---- privacy ---- */

static const char *const queries[] = {
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":1000,\"lot\":50,"
	"\"epochs\":2,\"noise_multiplier\":2,\"delta\":1e-5}",
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\",\"records\":1000,"
	"\"lot\":50,\"epochs\":2,\"noise_multiplier\":2,\"delta\":1e-5}",
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":1000,\"lot\":50,"
	"\"epochs\":1,\"noise_multiplier\":2,\"delta\":1e-5,\"accountant\":\"pld\"}",
	"{\"mechanism\":\"gaussian\",\"sigma\":2,\"delta\":1e-5}",
};

struct query {
	const struct dp_mechanism *m;
	double values[DP_PRIVACY_KEYS_MAX];
	double epsilon; /* with memory */
	bool pld;
};

static struct query parse_query_fields(const char *text)
{
	json_t *v = json_loads(text, 0, NULL);
	struct dp_epsilon e;
	struct query q = { 0 };
	struct dp_err err;

	assert_non_null(v);
	if (dp_privacy_query_parse(v, &q.m, q.values, &err) != DP_OK)
		fail_msg("%s: %s", text, err.msg);
	json_decref(v);
	if (dp_privacy_epsilon(q.m, q.values, &e, &err) != DP_OK)
		fail_msg("%s: %s", text, err.msg);
	q.epsilon = e.epsilon;
	return q;
}

/* The same number or none: an accountant never answers from half of its tables. */
static int ask_epsilon(void *arg)
{
	const struct query *q = arg;
	struct dp_epsilon e;
	struct dp_err err;
	int code = dp_privacy_epsilon(q->m, q->values, &e, &err);

	if (code == DP_OK)
		assert_true(e.epsilon == q->epsilon);
	return code;
}

static int ask_prepared(void *arg)
{
	const struct query *q = arg;
	struct dp_mechanism_cache *p = dp_mechanism_cache_new(q->m);
	struct dp_epsilon e;
	struct dp_err err;
	int code;

	if (!p)
		return DP_E_NOMEM;
	code = dp_mechanism_cache_epsilon(p, q->values, &e, &err);
	if (code == DP_OK)
		assert_true(e.epsilon == q->epsilon);
	/* what a shortage left behind is no table */
	memory_is_fine();
	assert_int_equal(dp_mechanism_cache_epsilon(p, q->values, &e, &err), DP_OK);
	assert_true(e.epsilon == q->epsilon);
	memory_is_short_again();
	dp_mechanism_cache_free(p);
	return code;
}

static int compute_composed_epsilon(void *arg)
{
	const struct query *q = arg;
	struct dp_composition_item items[2] = { { q->m, q->values, 1 }, { q->m, q->values, 2 } };
	struct dp_epsilon e, once;
	struct dp_err err;
	int code = dp_privacy_compose(items, 2, 1e-5, q->pld, &e, &err);

	if (code != DP_OK)
		return code;
	memory_is_fine();
	assert_int_equal(dp_privacy_compose(items, 2, 1e-5, q->pld, &once, &err), DP_OK);
	memory_is_short_again();
	if (e.epsilon != once.epsilon)
		fail_msg("%.17g in place of %.17g", e.epsilon, once.epsilon);
	return DP_OK;
}

static int ask_noise(void *arg)
{
	const struct query *q = arg;
	struct dp_epsilon e;
	struct dp_err err;
	double noise;
	int code = dp_privacy_solve_noise(q->m, q->values, q->epsilon, &noise, &e, &err);

	if (code == DP_OK)
		assert_true(fabs(noise - 2) < 0.01 && e.epsilon <= q->epsilon);
	return code;
}

static int ask_json(void *arg)
{
	json_t *v, *answer;
	struct dp_err err;
	int code;

	(void)arg;
	memory_is_fine();
	v = json_loads(queries[3], 0, NULL);
	memory_is_short_again();
	code = dp_privacy_answer_query(v, &answer, &err);
	if (code == DP_OK) {
		assert_true(json_number_value(json_object_get(answer, "epsilon")) > 0);
		json_decref(answer);
	}
	json_decref(v);
	return code;
}

static void test_privacy(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct query q = parse_query_fields(queries[i]);

		if (i > 0) { /* Poisson sampling by Renyi needs no memory */
			with_little_memory(ask_epsilon, &q);
			with_little_memory(ask_prepared, &q);
		}
		q.pld = strstr(queries[i], "pld") != NULL;
		with_little_memory(compute_composed_epsilon, &q);
	}
	with_little_memory(ask_json, NULL);
}

static void test_noise(void **state)
{
	struct query q = parse_query_fields(queries[1]);

	(void)state;
	with_little_memory(ask_noise, &q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_files, plenty_of_memory),
		cmocka_unit_test_setup(test_changes, plenty_of_memory),
		cmocka_unit_test_setup(test_points, plenty_of_memory),
		cmocka_unit_test_setup(test_commands, plenty_of_memory),
		cmocka_unit_test_setup(test_privacy, plenty_of_memory),
		cmocka_unit_test_setup(test_noise, plenty_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
