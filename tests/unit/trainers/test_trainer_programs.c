/* test_trainer_programs.c - the built-in trainers as programs of the trainer protocol: options,
 * parameters, what they declare and report. All on the embedded data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "tests/unit/support/place.h"
#include "trainers/trainers.h"

enum {
	RUNS = 2
};

/* Runs a trainer with options (words with spaces between them) and parameters. */
static int run(const struct place *p, const struct trainer *t, const char *options,
	       const char *parameters, struct dp_err *err)
{
	char text[512];

	snprintf(text, sizeof text,
		 "{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
		 "\"parameters\":%s,\"runs\":[{\"run\":0,\"seed\":123},{\"run\":1,"
		 "\"seed\":9007199254740991}]}",
		 parameters);
	return place_run(p, t, options, text, err);
}

/* What it reported, complete and without a mistake. */
static struct dp_result_reader *result_of(const struct place *p)
{
	const uint32_t asked[RUNS] = { 0, 1 };
	struct dp_result_reader *r = dp_result_reader_new(asked, RUNS);
	struct dp_buf text = DP_BUF_INIT;

	assert_int_equal(dp_read_file(p->result, 1 << 20, &text, NULL), DP_OK);
	dp_result_reader_feed(r, text.data, text.len);
	dp_result_reader_finish(r);
	dp_buf_free(&text);
	if (dp_result_reader_problem(r))
		fail_msg("%s", dp_result_reader_problem(r));
	assert_true(dp_result_reader_is_complete(r) && dp_result_reader_is_done(r));
	return r;
}

static double metric(const struct dp_result_reader *r, size_t run_number, const char *name)
{
	int m = dp_result_reader_find_metric(r, name);
	double x;

	if (m < 0 || !dp_result_reader_run_value(r, run_number, (size_t)m, &x))
		fail_msg("no metric %s", name);
	return x;
}

#define LINEAR                                                                                     \
	"{\"epochs\":2,\"lot_size\":64,\"learning_rate\":0.5,\"clip\":0.5,"                        \
	"\"noise_multiplier\":1.5}"

static void test_linear(void **state)
{
	struct dp_result_reader *r, *again;
	const struct dp_declaration *d;
	struct dp_err err;

	if (run(*state, &linear_trainer, "--data census", LINEAR, &err) != DP_OK)
		fail_msg("%s", err.msg);
	r = result_of(*state);
	d = dp_result_reader_declaration(r);
	assert_string_equal(d->sampling, "without-replacement");
	assert_true(d->lot == 64 && d->noise_over_clip == 3);
	assert_true(d->steps == 2 * nearbyint(d->records / 64));
	assert_int_equal(run(*state, &linear_trainer, "--data=census", LINEAR, NULL), DP_OK);
	again = result_of(*state);
	for (size_t i = 0; i < RUNS; i++) {
		assert_true(metric(r, i, "accuracy") > metric(r, i, "majority_accuracy"));
		assert_true(metric(r, i, "accuracy") == metric(again, i, "accuracy"));
		assert_true(metric(r, i, "loss") == metric(again, i, "loss"));
		assert_true(metric(r, i, "seconds") > 0);
	}
	assert_true(metric(r, 0, "loss") != metric(r, 1, "loss"));
	assert_int_equal(dp_result_reader_find_metric(r, "test_accuracy"), -1);
	dp_result_reader_free(r);
	dp_result_reader_free(again);
}

/* The variance is the multiplier's square; Poisson noise is relative to L. */
static void test_noise_parameters(void **state)
{
	static const struct {
		const char *options, *parameters;
		double over_clip;
	} cases[] = {
		{ "--data census", "\"noise_variance\":2.25", 3 },
		{ "--data census --sampling poisson", "\"noise_variance\":2.25", 1.5 },
		{ "--data census --sampling poisson", "\"noise_multiplier\":1.5", 1.5 },
	};

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char text[200];
		struct dp_result_reader *r;
		const struct dp_declaration *d;

		snprintf(text, sizeof text,
			 "{\"epochs\":1,\"lot_size\":500,\"learning_rate\":0.1,\"clip\":"
			 "0.1,%s}",
			 cases[i].parameters);
		assert_int_equal(run(*state, &linear_trainer, cases[i].options, text, NULL), DP_OK);
		r = result_of(*state);
		d = dp_result_reader_declaration(r);
		assert_true(fabs(d->noise_over_clip - cases[i].over_clip) < 1e-12);
		assert_string_equal(d->sampling, i ? "poisson" : "without-replacement");
		dp_result_reader_free(r);
	}
}

/* The same lots with the same noise in another unit: the same training. Another model:
 * another one. */
static void test_variance_is_squared_multiplier(void **state)
{
	struct dp_result_reader *a, *b, *c;

	assert_int_equal(run(*state, &linear_trainer, "--data census --model svm",
			     "{\"epochs\":1,\"lot_size\":500,\"learning_rate\":0.1,"
			     "\"clip\":1,\"noise_variance\":4}",
			     NULL),
			 DP_OK);
	a = result_of(*state);
	assert_int_equal(run(*state, &linear_trainer, "--data census --model svm",
			     "{\"epochs\":1,\"lot_size\":500,\"learning_rate\":0.1,"
			     "\"clip\":1,\"noise_multiplier\":2}",
			     NULL),
			 DP_OK);
	b = result_of(*state);
	assert_int_equal(run(*state, &linear_trainer, "--data census --model logistic",
			     "{\"epochs\":1,\"lot_size\":500,\"learning_rate\":0.1,"
			     "\"clip\":1,\"noise_multiplier\":2}",
			     NULL),
			 DP_OK);
	c = result_of(*state);
	assert_true(metric(a, 0, "loss") == metric(b, 0, "loss"));
	assert_true(metric(a, 0, "loss") != metric(c, 0, "loss"));
	dp_result_reader_free(a);
	dp_result_reader_free(b);
	dp_result_reader_free(c);
}

static void test_holdout(void **state)
{
	struct dp_result_reader *whole, *part;

	assert_int_equal(run(*state, &linear_trainer, "--data census", LINEAR, NULL), DP_OK);
	whole = result_of(*state);
	assert_int_equal(run(*state, &linear_trainer, "--data census --holdout 0.25", LINEAR, NULL),
			 DP_OK);
	part = result_of(*state);
	assert_true(fabs(dp_result_reader_declaration(part)->records /
				 dp_result_reader_declaration(whole)->records -
			 0.75) < 1e-3);
	assert_true(metric(part, 0, "accuracy") != metric(part, 0, "test_accuracy"));
	assert_true(fabs(metric(part, 0, "accuracy") - metric(part, 0, "test_accuracy")) < 0.05);
	dp_result_reader_free(whole);
	dp_result_reader_free(part);
}

static void test_diverged(void **state)
{
	struct dp_result_reader *r;

	assert_int_equal(run(*state, &linear_trainer, "--data census --holdout 0.1 --report gap:72",
			     "{\"epochs\":1,\"lot_size\":64,\"learning_rate\":1e38,"
			     "\"clip\":1e3,\"noise_multiplier\":100}",
			     NULL),
			 DP_OK);
	r = result_of(*state);
	for (size_t i = 0; i < RUNS; i++) {
		assert_true(isnan(metric(r, i, "accuracy")));
		assert_true(isnan(metric(r, i, "test_accuracy")));
		assert_true(isnan(metric(r, i, "loss")));
		assert_true(isnan(metric(r, i, "gap_72")));
		assert_true(isnan(metric(r, i, "test_gap_72")));
	}
	dp_result_reader_free(r);
}

static void test_secure(void **state)
{
	struct dp_result_reader *a, *b;

	assert_int_equal(run(*state, &linear_trainer, "--data census --secure", LINEAR, NULL),
			 DP_OK);
	a = result_of(*state);
	assert_int_equal(run(*state, &linear_trainer, "--data census --secure", LINEAR, NULL),
			 DP_OK);
	b = result_of(*state);
	assert_true(metric(a, 0, "loss") != metric(b, 0, "loss"));
	dp_result_reader_free(a);
	dp_result_reader_free(b);
}

static void test_output(void **state)
{
	struct dp_result_reader *r;

	assert_int_equal(run(*state, &output_trainer, "--data census --passes 3",
			     "{\"regularization\":0.01,\"sigma\":0.1}", NULL),
			 DP_OK);
	r = result_of(*state);
	assert_true(metric(r, 0, "accuracy") > metric(r, 0, "majority_accuracy") - 0.02);
	assert_true(metric(r, 0, "loss") < log(2)); /* weights fit rows as they are */
	assert_true(dp_result_reader_declaration(r)->steps ==
		    3 * dp_result_reader_declaration(r)->records);
	dp_result_reader_free(r);
}

static void test_mlp(void **state)
{
	struct dp_result_reader *r;

	assert_int_equal(run(*state, &mlp_trainer, "--data census --hidden 8,4 --optimizer adam",
			     "{\"epochs\":1,\"lot_size\":256,\"learning_rate\":0.01,"
			     "\"clip\":1,\"noise_multiplier\":0.5}",
			     NULL),
			 DP_OK);
	r = result_of(*state);
	assert_true(metric(r, 0, "accuracy") > 0.5);
	assert_true(dp_result_reader_declaration(r)->noise_over_clip == 1);
	dp_result_reader_free(r);
}

/* Model and optimizer as parameters of a study are what the options would be, and have
 * the last word. */
static void test_model_is_a_parameter(void **state)
{
	static const struct {
		const char *options, *parameters;
	} cases[] = {
		{ "--data census --model svm --optimizer adam", "" },
		{ "--data census", ",\"model\":\"svm\",\"optimizer\":\"adam\"" },
		{ "--data census --model logistic --optimizer sgd",
		  ",\"model\":\"svm\",\"optimizer\":\"adam\"" },
		{ "--data census --model svm", ",\"model\":\"logistic\",\"optimizer\":\"adam\"" },
		{ "--data census --optimizer adam", ",\"model\":\"svm\",\"optimizer\":\"sgd\"" },
	};
	double loss[DP_COUNT(cases)];

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char text[256];
		struct dp_result_reader *r;

		snprintf(text, sizeof text,
			 "{\"epochs\":1,\"lot_size\":500,\"learning_rate\":0.1,"
			 "\"clip\":1,\"noise_multiplier\":1%s}",
			 cases[i].parameters);
		assert_int_equal(run(*state, &linear_trainer, cases[i].options, text, NULL), DP_OK);
		r = result_of(*state);
		loss[i] = metric(r, 0, "loss");
		dp_result_reader_free(r);
	}
	assert_true(loss[0] == loss[1] && loss[0] == loss[2]);
	assert_true(loss[0] != loss[3] && loss[0] != loss[4] && loss[3] != loss[4]);
}

/* The gap is told beside everything else, which stays as it is. */
static void test_gap_is_reported(void **state)
{
	struct dp_result_reader *plain, *gap, *holdout;

	assert_int_equal(run(*state, &linear_trainer, "--data census", LINEAR, NULL), DP_OK);
	plain = result_of(*state);
	assert_int_equal(
		run(*state, &linear_trainer, "--data census --report gap:72", LINEAR, NULL), DP_OK);
	gap = result_of(*state);
	assert_int_equal(run(*state, &linear_trainer, "--data census --report gap:72 --holdout 0.1",
			     LINEAR, NULL),
			 DP_OK);
	holdout = result_of(*state);
	assert_int_equal(dp_result_reader_find_metric(plain, "gap_72"), -1);
	assert_int_equal(dp_result_reader_find_metric(gap, "test_gap_72"), -1);
	for (size_t i = 0; i < RUNS; i++) {
		assert_true(metric(gap, i, "loss") == metric(plain, i, "loss"));
		assert_true(metric(gap, i, "gap_72") >= 0);
		assert_true(metric(gap, i, "gap_72") < 0.5);
		assert_true(metric(holdout, i, "gap_72") != metric(holdout, i, "test_gap_72"));
	}
	dp_result_reader_free(plain);
	dp_result_reader_free(gap);
	dp_result_reader_free(holdout);
}

/* ---- mistakes ---- */

static void test_mistakes(void **state)
{
	static const struct {
		const struct trainer *trainer;
		const char *options, *parameters, *says;
		int code;
	} cases[] = {
		{ &linear_trainer, "", LINEAR, "needs --data", DP_E_USAGE },
		{ &linear_trainer, "--data census extra", LINEAR, "'extra'", DP_E_USAGE },
		{ &linear_trainer, "--data census --hidden 3", LINEAR, "not an option",
		  DP_E_USAGE },
		{ &linear_trainer, "--data census --model tree", LINEAR, "'tree'", DP_E_USAGE },
		{ &linear_trainer, "--data census --holdout 1", LINEAR,
		  "--holdout must be between 0 and 1", DP_E_USAGE },
		{ &linear_trainer, "--data census --set epochs=1", LINEAR, "trying by hand",
		  DP_E_USAGE },
		{ &linear_trainer, "--data census --set =1", LINEAR, "NAME=VALUE", DP_E_USAGE },
		{ &linear_trainer, "--data census --runs 0", LINEAR, "--runs", DP_E_USAGE },
		{ &linear_trainer, "--data census", "{\"epochs\":1}", "'lot_size'", DP_E_INVALID },
		{ &linear_trainer, "--data census",
		  "{\"epochs\":1,\"lot_size\":8,\"learning_rate\":1,\"clip\":1}",
		  "neither 'noise_multiplier' nor 'noise_variance'", DP_E_INVALID },
		{ &linear_trainer, "--data census",
		  "{\"epochs\":1,\"lot_size\":8,\"learning_rate\":1,\"clip\":1,"
		  "\"noise_multiplier\":1,\"noise_variance\":1}",
		  "exclude each other", DP_E_INVALID },
		{ &linear_trainer, "--data census",
		  "{\"epochs\":1,\"lot_size\":8,\"learning_rate\":1,\"clip\":0,"
		  "\"noise_multiplier\":1}",
		  "'clip' must be a number above 0", DP_E_INVALID },
		{ &linear_trainer, "--data census",
		  "{\"epochs\":1,\"lot_size\":1e6,\"learning_rate\":1,\"clip\":1,"
		  "\"noise_multiplier\":1}",
		  "a lot of 1000000 cannot be drawn from", DP_E_INVALID },
		{ &linear_trainer, "--data census",
		  "{\"epochs\":1e10,\"lot_size\":8,\"learning_rate\":1,\"clip\":1,"
		  "\"noise_multiplier\":1}",
		  "'epochs' is too large", DP_E_INVALID },
		{ &linear_trainer, "--data census", "{\"model\":\"tree\",\"epochs\":1}",
		  "'model' must be 'logistic' or 'svm'", DP_E_INVALID },
		{ &linear_trainer, "--data census", "{\"optimizer\":1,\"epochs\":1}",
		  "'optimizer' must be 'sgd' or 'adam'", DP_E_INVALID },
		{ &linear_trainer, "--data census --report gap", LINEAR, "--report is gap:FEATURE",
		  DP_E_USAGE },
		{ &linear_trainer, "--data census --report gap:sex", LINEAR, "'gap:sex'",
		  DP_E_USAGE },
		{ &linear_trainer, "--data census --report gap:0", LINEAR, "from 1", DP_E_USAGE },
		{ &linear_trainer, "--data census --report gap:124", LINEAR,
		  "the data have 123 features", DP_E_USAGE },
		{ &mlp_trainer, "--data census --report gap:72", LINEAR, "not an option",
		  DP_E_USAGE },
		{ &mlp_trainer, "--data census --hidden 8,,4", LINEAR, "'8,,4'", DP_E_USAGE },
		{ &mlp_trainer, "--data census --hidden 0", LINEAR, "--hidden", DP_E_USAGE },
		{ &mlp_trainer, "--data census --hidden 1,1,1,1,1,1,1,1", LINEAR,
		  "more than 7 layers", DP_E_USAGE },
		{ &output_trainer, "--data census", "{\"sigma\":1}", "'regularization'",
		  DP_E_INVALID },
		{ &output_trainer, "--data census --norm-bound 0", "{}",
		  "--norm-bound must be a number above 0", DP_E_USAGE },
	};

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_err err = { 0 };
		int code =
			run(*state, cases[i].trainer, cases[i].options, cases[i].parameters, &err);

		if (code != cases[i].code || !strstr(err.msg, cases[i].says))
			fail_msg("%s: code %d, '%s'", cases[i].says, code, err.msg);
	}
}

/* Parameters that nothing is done with need not be there. */
static void test_without_privacy(void **state)
{
	static const struct {
		const char *options;
		bool clip, noise;
	} cases[] = { { "--no-privacy", false, false },
		      { "--no-clip --no-noise", false, false },
		      { "--no-noise", true, false },
		      { "--no-clip", true, true } };
	const struct dp_trainer_request q = {
		.parameters = json_pack("{s:i, s:i, s:f, s:f, s:f}", "epochs", 1, "lot_size", 8,
					"learning_rate", 0.1, "clip", 0.5, "noise_multiplier", 2.0)
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		char words[64], *argv[WORDS_MAX] = { "linear", "--data", "x" };
		int argc = 3;
		struct dp_trainer_request r = { .parameters = json_copy(q.parameters) };
		struct trainer_options o;
		struct sgd how;
		json_t *declared;

		snprintf(words, sizeof words, "%s", cases[i].options);
		for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
			argv[argc++] = w;
		assert_int_equal(trainer_options_parse(&linear_trainer, argc, argv, &o, NULL),
				 DP_OK);
		if (!cases[i].clip)
			json_object_del(r.parameters, "clip");
		if (!cases[i].noise)
			json_object_del(r.parameters, "noise_multiplier");
		assert_int_equal(dpsgd_read_params(&o, &r, &how, NULL), DP_OK);
		assert_true(isinf(how.clip) ==
			    (strstr(cases[i].options, "clip") || !cases[i].clip));
		assert_true(sgd_noise_sd(&how) == (cases[i].noise ? 2 : 0));
		/* whoever claims privacy for this is contradicted */
		declared = dpsgd_declaration_json(&how, 100);
		assert_true(json_number_value(json_object_get(declared, "noise_over_clip")) == 0);
		json_decref(declared);
		json_decref(r.parameters);
		trainer_options_clear(&o);
	}
	json_decref(q.parameters);
}

/* By hand: the parameters and seeds of trial 0 of a study with that seed. */
static void test_by_hand(void **state)
{
	char *argv[] = { "svt",    "--set",  "C=3", "--set",  "b=0.5", "--set",
			 "kind=a", "--runs", "2",   "--seed", "9",     NULL };
	struct trainer_options o;
	struct dp_trainer_request q;
	int fd;

	unsetenv("DPARETO_REQUEST");
	assert_int_equal(trainer_options_parse(&svt_trainer, 11, argv, &o, NULL), DP_OK);
	assert_int_equal(trainer_request_open(&o, &q, &fd, NULL), DP_OK);
	assert_true(json_is_integer(json_object_get(q.parameters, "C")));
	assert_true(json_real_value(json_object_get(q.parameters, "b")) == 0.5);
	assert_string_equal(dp_json_str(q.parameters, "kind", ""), "a");
	assert_int_equal(q.nruns, 2);
	assert_int_equal(q.runs[1], 1);
	assert_int_equal(q.seeds[1], dp_run_seed(9, 0, 1));
	close(fd);
	dp_trainer_request_clear(&q);
	trainer_options_clear(&o);
	setenv("DPARETO_REQUEST", ((struct place *)*state)->request, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_noise_parameters),
		cmocka_unit_test(test_variance_is_squared_multiplier),
		cmocka_unit_test(test_holdout),
		cmocka_unit_test(test_diverged),
		cmocka_unit_test(test_secure),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_mlp),
		cmocka_unit_test(test_model_is_a_parameter),
		cmocka_unit_test(test_gap_is_reported),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_without_privacy),
		cmocka_unit_test(test_by_hand),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
