/* test_new_mechanism.c - mechanisms that no other file knows: what CONTRIBUTING.md asks
 * of a new one is enough for study files, explain, epsilon, composition, reports and
 * completion.
 *
 * This program's list takes the place of lib/privacy/mechanisms/mechanism_table.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/units.h"
#include "tests/unit/support/ctl_run.h"
#include "tests/unit/support/made_studies.h"
#include "privacy/privacy_internal.h"
#include "tests/unit/support/privacy_query.h"
#include "optimize/propose/proposer.h"
#include "reports/model/report_model.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- blur: approximate privacy, Gaussian in disguise ---- */

enum {
	WIDTH,
	BLUR_DELTA,
	SHAPE
};

static const char *const shapes[] = { "round", "square", NULL };

static const struct dp_privacy_key blur_keys[] = {
	[WIDTH] = { .name = "blur_width",
		    .kind = DP_PRIVACY_NUMBER,
		    .required = true,
		    .default_value = NAN,
		    .lo = 0,
		    .lo_open = true,
		    .hi = INFINITY,
		    .hi_open = true,
		    .short_help = "how much is blurred",
		    .help = "Standard deviation of the blur." },
	[BLUR_DELTA] = { .name = "delta",
			 .kind = DP_PRIVACY_NUMBER,
			 .required = true,
			 .default_value = NAN,
			 .lo = 0,
			 .lo_open = true,
			 .hi = 1,
			 .hi_open = true,
			 .short_help = "the probability that the bound may fail with",
			 .help = "The probability that the bound epsilon may fail "
				 "with." },
	[SHAPE] = { .name = "shape",
		    .kind = DP_PRIVACY_CHOICE,
		    .default_value = 0,
		    .choices = shapes,
		    .short_help = "of the blur",
		    .help = "What blurs." },
};

static int blur_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_epsilon){
		.epsilon = dp__gaussian_epsilon(1 / v[WIDTH], log(v[BLUR_DELTA])),
		.delta = v[BLUR_DELTA],
		.order = NAN,
		.accountant = "closed-form",
		.error_is_proved = true,
	};
	return DP_OK;
}

static int blur_part(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){ .kind = &dp__component_wor,
					      .q = 1,
					      .mu = 1 / v[WIDTH],
					      .count = 1,
					      .relation = DP__RELATION_REPLACE_ONE };
	return DP_OK;
}

/* Nothing of this table is about words but what every row has. */
static const struct dp_mechanism blur = {
	.name = "blur",
	.summary = "A picture blurred.",
	.relation = "two pictures are neighbours when one pixel differs",
	.source = "A Theory of Blurs, Theorem 7",
	.keys = blur_keys,
	.nkeys = DP_COUNT(blur_keys),
	.delta = &blur_keys[BLUR_DELTA],
	.noise = &blur_keys[WIDTH],
	.epsilon = blur_epsilon,
	.cost = dp__cost_closed_form,
	.component = blur_part,
};

/* ---- coin: pure, without a delta, with words and a cost of its own ---- */

static const struct dp_privacy_key coin_keys[] = {
	{ .name = "calm",
	  .kind = DP_PRIVACY_INTEGER,
	  .required = true,
	  .default_value = NAN,
	  .lo = 1,
	  .hi = 1000,
	  .short_help = "how calm",
	  .help = "Epsilon is one over it." },
};

static int coin_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_epsilon){ .epsilon = 1 / v[0],
				    .order = NAN,
				    .accountant = "closed-form",
				    .error_is_proved = true };
	return DP_OK;
}

static int coin_part(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	(void)err;
	*out = (struct dp_privacy_component){ .kind = &dp__component_pure,
					      .q = 1,
					      .mu = 1 / v[0],
					      .count = 1,
					      .relation = DP__RELATION_ADD_REMOVE };
	return DP_OK;
}

static enum dp_privacy_cost coin_cost(const double *v)
{
	(void)v;
	return DP_PRIVACY_COST_EXPENSIVE;
}

static int coin_declared(const double *v, const struct dp_declaration *d, char *warning,
			 struct dp_err *err)
{
	(void)v;
	(void)warning;
	return d->sampling ? dp_fail(err, DP_E_INVALID, "a coin does not sample") : DP_OK;
}

static void coin_words(const double *v, struct dp_privacy_description *out)
{
	out->sampling = "toss";
	snprintf(out->sampler, sizeof out->sampler, "one toss.");
	snprintf(out->noise, sizeof out->noise, "a coin, %.0f times calmer.", v[0]);
}

static const struct dp_mechanism coin = {
	.name = "coin",
	.summary = "A coin tossed.",
	.relation = "two purses are neighbours when one has one coin more",
	.source = "On Coins, Lemma 1",
	.keys = coin_keys,
	.nkeys = DP_COUNT(coin_keys),
	.noise = coin_keys,
	.epsilon = coin_epsilon,
	.cost = coin_cost,
	.component = coin_part,
	.check_declaration = coin_declared,
	.describe = coin_words,
};

/* ---- loner and silent: nobody knows how the first composes, and the second does not
 * say for which neighbours ---- */

static const struct dp_mechanism loner = {
	.name = "loner",
	.summary = "A blur that nobody can add up.",
	.relation = "whatever",
	.source = "nowhere",
	.keys = blur_keys,
	.nkeys = DP_COUNT(blur_keys),
	.delta = &blur_keys[BLUR_DELTA],
	.noise = &blur_keys[WIDTH],
	.epsilon = blur_epsilon,
	.cost = dp__cost_closed_form,
};

static int silent_part(const double *v, struct dp_privacy_component *out, struct dp_err *err)
{
	int code = blur_part(v, out, err);

	out->relation = DP__RELATION_UNKNOWN;
	return code;
}

static const struct dp_mechanism silent = {
	.name = "silent",
	.summary = "A blur of something.",
	.relation = "not said",
	.source = "nowhere",
	.keys = blur_keys,
	.nkeys = DP_COUNT(blur_keys),
	.delta = &blur_keys[BLUR_DELTA],
	.noise = &blur_keys[WIDTH],
	.epsilon = blur_epsilon,
	.cost = dp__cost_closed_form,
	.component = silent_part,
};

const struct dp_mechanism *const dp_mechanisms[] = {
	&dp__dp_sgd, &dp__gaussian, &blur, &coin, &loner, &silent, NULL,
};

/* ---- study files ---- */

#define STUDY(privacy)                                                                             \
	"study: s\ntrainer: {command: [x], runs: 2}\n"                                             \
	"parameters: {w: {type: float, range: [0.5, 9]}, "                                         \
	"c: {type: int, range: [1, 40]}}\n"                                                        \
	"objectives:\n  epsilon: {privacy: {" privacy "}}\n  error: {metric: e}\n"                 \
	"anti_ideal: {epsilon: 10, error: 1}\n"                                                    \
	"search: {method: dpareto, evaluations: 9, initial: 3}\n"

static struct dp_study *parse_event_study(const char *text, const char *wrong)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;
	int code = dp_study_parse(text, strlen(text), "f", "/", &s, &problems, &err);

	if (!wrong && code != DP_OK)
		fail_msg("%s", problems.list[0].message);
	if (wrong && (code == DP_OK || !strstr(problems.list[0].message, wrong)))
		fail_msg("%s", code == DP_OK ? text : problems.list[0].message);
	dp_diagnostics_free(&problems);
	return s;
}

static void test_study_files(void **state)
{
	struct dp_study *s = parse_event_study(
		STUDY("mechanism: blur, blur_width: w, delta: 1e-5, shape: square"), NULL);
	double x[] = { 2, 5 }, y[2];
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_objectives_epsilon(s, x, y, &err), DP_OK);
	assert_true(y[0] == dp__gaussian_epsilon(0.5, log(1e-5)) && isnan(y[1]));
	dp_study_free(s);
	s = parse_event_study(STUDY("mechanism: coin, calm: c"), NULL);
	assert_int_equal(dp_objectives_epsilon(s, x, y, &err), DP_OK);
	assert_true(y[0] == 0.2);
	dp_study_free(s);
	assert_null(parse_event_study(STUDY("mechanism: blurr, blur_width: w"),
				      "did you mean 'blur'? This version knows dp-sgd, gaussian, "
				      "blur, coin, loner, silent."));
	assert_null(parse_event_study(STUDY("mechanism: coin, calm: w"), "needs whole numbers"));
	assert_null(parse_event_study(STUDY("mechanism: blur, blur_width: w"),
				      "mechanism blur needs the key 'delta'"));
	assert_null(parse_event_study(STUDY("mechanism: blur, blur_width: 0, delta: 0.1"),
				      "'blur_width' cannot be 0"));
}

static void test_declared(void **state)
{
	struct dp_study *s = parse_event_study(STUDY("mechanism: coin, calm: c"), NULL);
	struct dp_declaration d = { NULL, NAN, NAN, NAN, NAN };
	char warning[DP_PRIVACY_WARNING_LEN];
	double x[] = { 2, 5 };
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_objective_check_declaration(s, 0, x, NAN, &d, warning, &err), DP_OK);
	d.sampling = "poisson";
	assert_int_equal(dp_objective_check_declaration(s, 0, x, NAN, &d, warning, &err),
			 DP_E_INVALID);
	assert_string_equal(err.msg, "a coin does not sample");
	dp_study_free(s);
}

/* A mechanism that says it takes long has a model stand in for it, and its own number in
 * the end. */
static void test_search(void **state)
{
	static const char *const texts[] = { STUDY("mechanism: coin, calm: c"),
					     STUDY("mechanism: blur, blur_width: w, delta: 1e-5") };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct dp_study *s = parse_event_study(texts[i], NULL);
		struct dp_proposer *p = dp_proposer_new(s);
		struct dp_surrogate_info info;
		struct dp_observation k[8];
		struct dp_history h = { .observations = k, .n = 8 };
		struct dp_proposal next;
		double cost[2];
		struct dp_err err;

		for (size_t t = 0; t < 8; t++) {
			k[t] = (struct dp_observation){ .trial = (uint32_t)t,
							.x = { 0.5 + (double)t, 1 + 4 * (double)t },
							.var = { NAN, NAN } };
			assert_int_equal(dp_objectives_epsilon(s, k[t].x, cost, &err), DP_OK);
			k[t].y[0] = cost[0];
			k[t].y[1] = 0.1 * (double)((3 * t) % 8);
		}
		assert_int_equal(dp_proposer_propose(p, &h, 8, NULL, &next, &err), DP_OK);
		assert_int_equal(dp_surrogate_get_info(p, 0, &info), DP_OK);
		assert_true(info.is_exact);
		assert_true((info.length[0] > 0) == (i == 0));
		assert_int_equal(dp_objectives_epsilon(s, next.x, cost, &err), DP_OK);
		assert_true(fabs(next.predicted[0].value / cost[0] - 1) < 1e-12);
		dp_proposer_free(p);
		dp_study_free(s);
	}
}

/* ---- epsilon, noise and explain ---- */

static void slurm_text_has_phrase(struct ctl_run r, const char *text)
{
	if (r.code != DP_OK || (!strstr(r.out, text) && !strstr(r.talk, text)))
		fail_msg("'%s' is not in:\n%s%s", text, r.out, r.talk);
	ctl_run_free(&r);
}

static void test_epsilon(void **state)
{
	const struct dp_epsilon e = ask("{\"mechanism\":\"blur\",\"blur_width\":2,\"delta\":1e-5}");
	char text[DP_NUM_LEN], line[80];
	struct ctl_run r;

	(void)state;
	assert_true(e.epsilon == dp__gaussian_epsilon(0.5, log(1e-5)));
	snprintf(line, sizeof line, "epsilon %s at delta 1e-05 (closed-form)",
		 dp_num_text(e.epsilon, text));
	slurm_text_has_phrase(ctl_run("epsilon", "--mechanism", "blur", "--blur-width", "2",
				      "--delta", "1e-5", NULL),
			      line);
	slurm_text_has_phrase(ctl_run("epsilon", "--mechanism", "coin", "--calm", "5", NULL),
			      "epsilon 0.2 at delta 0");
	slurm_text_has_phrase(ctl_run("noise", "--epsilon", "0.25", "--mechanism", "blur",
				      "--delta", "1e-5", NULL),
			      "blur_width ");
	r = ctl_run("epsilon", "--mechanism", "coin", "--calm", "5", "--shape", "round", NULL);
	assert_int_equal(r.code, DP_E_USAGE);
	assert_string_equal(r.err.msg, "mechanism coin has no shape");
	ctl_run_free(&r);
	r = ctl_run("epsilon", "--mechanism", "coin", "--calm", "5", "--curve", NULL);
	assert_int_equal(r.code, DP_E_INVALID);
	assert_string_equal(r.err.msg, "mechanism coin has no delta");
	ctl_run_free(&r);
	r = ctl_run("epsilon", "--mechanism", "bluur", NULL);
	assert_non_null(strstr(r.err.msg, "did you mean 'blur'?"));
	ctl_run_free(&r);
}

static void test_explain(void **state)
{
	(void)state;
	slurm_text_has_phrase(ctl_run("explain", "blur", NULL),
			      "mechanism blur\n  A picture blurred.\n");
	slurm_text_has_phrase(ctl_run("explain", "blur", NULL), "when one pixel differs");
	slurm_text_has_phrase(ctl_run("explain", "blur", NULL), "round | square");
	slurm_text_has_phrase(ctl_run("explain", "coin", "-o", "json", NULL),
			      "\"On Coins, Lemma 1\"");
	slurm_text_has_phrase(ctl_run("explain", "privacy", NULL),
			      "dp-sgd, gaussian, blur, coin, loner, silent.");
}

static void test_completion(void **state)
{
	(void)state;
	slurm_text_has_phrase(ctl_run("complete-words", "--", "epsilon", "--mechanism", "", NULL),
			      "dp-sgd\ngaussian\nblur\ncoin\nloner\nsilent\n");
	slurm_text_has_phrase(ctl_run("complete-words", "--", "epsilon", "--shape", "", NULL),
			      "round\nsquare\n");
	slurm_text_has_phrase(ctl_run("complete-words", "--", "epsilon", "--bl", NULL),
			      "--blur-width\t");
	slurm_text_has_phrase(ctl_run("epsilon", "--help", NULL),
			      "--calm N                coin: how calm");
	slurm_text_has_phrase(ctl_run("epsilon", "--help", NULL),
			      "--blur-width NUMBER     blur, loner, silent: how much is blurred");
	slurm_text_has_phrase(ctl_run("help-man", NULL), "\\fB\\-\\-blur\\-width\\fR");
}

/* ---- composition ---- */

static struct dp_epsilon composed(const struct dp_composition_item *items, size_t n, double delta,
				  bool pld)
{
	struct dp_epsilon e = { .epsilon = NAN };
	struct dp_err err = { .msg = "" };

	if (dp_privacy_compose(items, n, delta, pld, &e, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return e;
}

static void refused(const struct dp_composition_item *items, size_t n, double delta,
		    const char *sentence)
{
	for (int pld = 0; pld < 2; pld++) {
		struct dp_epsilon e = { .epsilon = -7 };
		struct dp_err err = { .msg = "" };

		assert_int_equal(dp_privacy_compose(items, n, delta, pld, &e, &err), DP_E_INVALID);
		assert_string_equal(err.msg, sentence);
		assert_true(e.epsilon == -7);
	}
}

static void test_composition(void **state)
{
	double width[] = { 4, NAN, NAN }, calm[] = { 10 }, sigma[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item blurs = { &blur, width, 30 }, coins = { &coin, calm, 7 };
	struct dp_composition_item both[] = { { &blur, width, 3 }, { &coin, calm, 7 } };
	struct dp_composition_item gaussian = { NULL, sigma, 30 };

	(void)state;
	gaussian.mechanism =
		query("{\"mechanism\":\"gaussian\",\"sigma\":4,\"delta\":1e-5}", sigma);
	for (int pld = 0; pld < 2; pld++) {
		struct dp_epsilon mine = composed(&blurs, 1, 1e-5, pld);

		assert_string_equal(mine.accountant, "closed-form");
		assert_true(mine.epsilon == composed(&gaussian, 1, 1e-5, pld).epsilon);
		assert_true(composed(&coins, 1, 1e-5, pld).epsilon <= 0.7 + 1e-12);
	}
	/* thirty blurs of width 4 are one of width 4 / sqrt(30) */
	assert_true(fabs(composed(&blurs, 1, 1e-5, true).epsilon -
			 dp__gaussian_epsilon(sqrt(30) / 4, log(1e-5))) < 1e-9);
	assert_true(fabs(composed(&coins, 1, 0, false).epsilon - 0.7) < 1e-12);
	assert_true(composed(&coins, 1, 0.1, false).epsilon < 0.7);
	refused(both, 2, 1e-5,
		"coin (add or remove one record) and blur (replace one record) hold for "
		"different neighbouring relations");
	refused(&blurs, 1, 0, "'delta' must be above 0: blur is never purely private");
}

/* What does not say how it composes is not taken for something that does. */
static void test_no_way_to_compose(void **state)
{
	double width[] = { 4, NAN, NAN }, calm[] = { 10 };
	struct dp_composition_item items[] = { { &coin, calm, 1 }, { &loner, width, 1 } };

	(void)state;
	refused(&items[1], 1, 1e-5, "no way to compose mechanism loner is known");
	refused(items, 2, 1e-5, "no way to compose mechanism loner is known");
	items[1].mechanism = &silent;
	refused(items, 2, 1e-5, "no way to compose mechanism silent is known");
}

/* ---- reports ---- */

#define OBJECTIVES(privacy)                                                                        \
	"objectives: {epsilon: {privacy: {" privacy "}}, b: {metric: b}}\n"                        \
	"anti_ideal: {epsilon: 10, b: 10}"

/* What a report says of the first point of a study with this objective; returns what it says of
 * the mechanism. */
static json_t *statement(const char *objectives, double epsilon, const char *expected)
{
	uint32_t study = made_study("s", objectives);
	const struct study_data *subject;
	struct dp_buf text = DP_BUF_INIT;
	json_t *privacy;

	made_result(study, epsilon, 0.5);
	subject = made_subjects();
	assert_true(append_privacy_statement(
		subject, (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }, 0, &text));
	assert_string_equal(dp_buf_text(&text), expected);
	dp_buf_free(&text);
	assert_true(
		check_result_epsilon(subject, (struct dp_result_id){ 0, DP_CHECKPOINT_FINAL }, 0)
			.holds);
	privacy = privacy_json(subject);
	assert_int_equal(json_array_size(privacy), 1);
	return privacy;
}

#define NOT_INCLUDED                                                                               \
	"Randomness: NOT SECRET. Seeds are fixed on private data. A reader who knows "             \
	"or guesses the study's seed can compute the noise of every run, and other "               \
	"studies with this seed use the same noise: then no epsilon holds. Train again "           \
	"with 'seeds: secret' before publishing.\n"                                                \
	"Not included: the search that led to these parameters, which trained on the "             \
	"same records; test and holdout records, for which there is no guarantee.\n"

/* 1.99309 by bisection of the exact curve, 2.94323 likewise for mu sqrt(2), both by
 * mpmath; rounded up. */
static void test_report_blur(void **state)
{
	json_t *privacy, *m;

	(void)state;
	privacy = statement(OBJECTIVES("mechanism: blur, blur_width: 2, delta: 1e-5"),
			    dp__gaussian_epsilon(0.5, log(1e-5)),
			    "One training at trial 0 of study s (blur) is (1.994, "
			    "1e-05)-differentially private.\n"
			    "Unit of privacy: one training record.\n"
			    "Neighbouring relation: two pictures are neighbours when one pixel "
			    "differs.\n"
			    "Noise: blur_width = 2. Standard deviation of the blur.\n"
			    "Delta: 1e-05.\n"
			    "Accountant: closed form, an upper bound.\n"
			    "Theorem: A Theory of Blurs, Theorem 7.\n"
			    "All 2 runs of this point together: epsilon 2.944 at the same "
			    "delta.\n" NOT_INCLUDED);
	m = json_array_get(privacy, 0);
	assert_string_equal(get_text(m, "noise"), "Standard deviation of the blur.");
	assert_true(get_number(get_json(m, "composed"), "epsilon") > 0);
	json_decref(privacy);
}

static void test_report_coin(void **state)
{
	json_t *privacy, *m;

	(void)state;
	privacy = statement(OBJECTIVES("mechanism: coin, calm: 5"), 0.2,
			    "One training at trial 0 of study s (coin) is (0.2, "
			    "0)-differentially private.\n"
			    "Unit of privacy: one training record.\n"
			    "Neighbouring relation: two purses are neighbours when one has one "
			    "coin more.\n"
			    "Sampler: one toss.\n"
			    "Noise: a coin, 5 times calmer.\n"
			    "Delta: 0.\n"
			    "Accountant: closed form, an upper bound.\n"
			    "Theorem: On Coins, Lemma 1.\n"
			    "All 2 runs of this point together: epsilon 0.4 at the same "
			    "delta.\n" NOT_INCLUDED);
	m = json_array_get(privacy, 0);
	assert_string_equal(get_text(m, "sampling"), "toss");
	assert_true(get_number(m, "delta") == 0);
	assert_true(get_number(get_json(m, "composed"), "epsilon") == 0.4);
	json_decref(privacy);
}

static void test_report_loner(void **state)
{
	json_t *privacy, *m;

	(void)state;
	privacy = statement(OBJECTIVES("mechanism: loner, blur_width: 2, delta: 1e-5"),
			    dp__gaussian_epsilon(0.5, log(1e-5)),
			    "One training at trial 0 of study s (loner) is (1.994, "
			    "1e-05)-differentially private.\n"
			    "Unit of privacy: one training record.\n"
			    "Neighbouring relation: whatever.\n"
			    "Noise: blur_width = 2. Standard deviation of the blur.\n"
			    "Delta: 1e-05.\n"
			    "Accountant: closed form, an upper bound.\n"
			    "Theorem: nowhere.\n"
			    "All 2 runs of this point together: no way to compose mechanism loner "
			    "is known.\n" NOT_INCLUDED);
	m = json_array_get(privacy, 0);
	assert_true(isnan(get_number(get_json(m, "composed"), "epsilon")));
	assert_string_equal(get_text(get_json(m, "composed"), "why"),
			    "no way to compose mechanism loner is known");
	json_decref(privacy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_study_files),
		cmocka_unit_test(test_declared),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_epsilon),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_composition),
		cmocka_unit_test(test_no_way_to_compose),
		cmocka_unit_test_setup_teardown(test_report_blur, made_begin, made_free),
		cmocka_unit_test_setup_teardown(test_report_coin, made_begin, made_free),
		cmocka_unit_test_setup_teardown(test_report_loner, made_begin, made_free),
	};

	unsetenv("DPARETO_OUTPUT");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
