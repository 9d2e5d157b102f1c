/* test_mechanisms.c - closed forms, keys, JSON, composition, calibration, declarations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "privacy/privacy_internal.h"
#include "tests/unit/support/reference.h"
#include "tests/unit/support/privacy_query.h"

static void check_closed(const char *family, double tolerance, int expected)
{
	FILE *f = reference_open();
	struct reference r;
	struct dp_epsilon e;
	int n = 0;

	assert_non_null(f);
	for (; reference_next(f, family, &r); n++) {
		if (strcmp(family, "analytic_gaussian") == 0)
			e = ask("{\"mechanism\":\"gaussian\",\"sigma\":%.17g,"
				"\"sensitivity\":%.17g,\"delta\":%.17g}",
				r.noise, r.sensitivity, r.delta);
		else if (strcmp(family, "laplace") == 0)
			e = ask("{\"mechanism\":\"laplace\",\"scale\":%.17g,"
				"\"sensitivity\":%.17g,\"delta\":%.17g}",
				r.noise, r.sensitivity, r.delta);
		else if (strcmp(family, "svt") == 0)
			e = ask("{\"mechanism\":\"svt\",\"cutoff\":%.0f,\"scale\":%.17g}", r.lot,
				r.noise);
		else
			e = ask("{\"mechanism\":\"output-perturbation\","
				"\"regularization\":%.17g,\"records\":%.0f,"
				"\"sigma\":%.17g,\"delta\":%.17g}",
				r.sensitivity, r.records, r.noise, r.delta);
		if (!(fabs(e.epsilon / r.epsilon - 1) <= tolerance))
			fail_msg("%s: %.17g, not %.17g", r.id, e.epsilon, r.epsilon);
		assert_string_equal(e.accountant, "closed-form");
		assert_true(e.error_is_proved && isnan(e.order));
	}
	fclose(f);
	assert_int_equal(n, expected);
}

static void closed_forms(void **state)
{
	(void)state;
	check_closed("analytic_gaussian", 1e-12, 18);
	check_closed("laplace", 1e-14, 6);
	check_closed("svt", 1e-14, 6);
	check_closed("bolton", 1e-12, 6);
}

/* Runs a batch line and compares what the sentence or the answer holds. */
static void refused(const char *text, const char *names, const char *hint)
{
	struct dp_err err = { 0 };
	json_t *q, *a = NULL;

	assert_int_equal(dp_json_parse(text, strlen(text), &q, &err), DP_OK);
	if (dp_privacy_answer_query(q, &a, &err) != DP_E_INVALID)
		fail_msg("%s was not refused", text);
	if (!strstr(err.msg, names) || (hint && !strstr(err.hint, hint)))
		fail_msg("%s: '%s' / '%s'", text, err.msg, err.hint);
	json_decref(q);
}

#define SGD                                                                                        \
	"{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\",\"records\":"              \
	"1000,"

static void bad_queries(void **state)
{
	(void)state;
	refused("[1]", "object", NULL);
	refused("{\"mechanism\":\"gausian\"}", "gausian", "'gaussian'");
	refused("{\"mechanism\":\"gaussian\",\"sigma\":0,\"delta\":1e-5}", "'sigma'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sigma\":-1,\"delta\":1e-5}", "'sigma'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sigma\":\"nan\",\"delta\":1e-5}", "'sigma'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sigma\":\"inf\",\"delta\":1e-5}", "'sigma'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sigma\":1,\"delta\":0}", "'delta'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sigma\":1,\"delta\":1}", "'delta'", NULL);
	refused("{\"mechanism\":\"gaussian\",\"sgima\":1,\"delta\":0.1}", "'sgima'", "'sigma'");
	refused("{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":1,\"delta\":1e-5}", "'delta'", NULL);
	refused(SGD "\"lot\":1001,\"steps\":5,\"noise_multiplier\":1,\"delta\":1e-5}", "'lot'",
		NULL);
	refused(SGD "\"lot\":10,\"noise_multiplier\":1,\"delta\":1e-5}", "'epochs' or 'steps'",
		NULL);
	refused(SGD "\"lot\":10,\"steps\":5,\"epochs\":1,\"noise_multiplier\":1,"
		    "\"delta\":1e-5}",
		"'epochs' and 'steps'", NULL);
	refused(SGD "\"lot\":10,\"steps\":5,\"delta\":1e-5}",
		"'noise_multiplier' or 'noise_variance'", NULL);
	refused(SGD "\"lot\":10,\"steps\":5.5,\"noise_multiplier\":1,\"delta\":1e-5}", "'steps'",
		NULL);
	refused(SGD "\"lot\":10,\"steps\":5,\"noise_multiplier\":1,\"delta\":1e-5,"
		    "\"bound\":\"tihgt\"}",
		"'bound'", "'tight'");
	refused(SGD "\"lot\":10,\"steps\":5,\"noise_multiplier\":1,\"delta\":1e-5,"
		    "\"acountant\":\"rdp\"}",
		"'acountant'", "'accountant'");
}

static void answers(void **state)
{
	static const char text[] =
		"{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		"\"records\":40000,\"lot\":128,\"epochs\":30,\"noise_multiplier\":1.5,"
		"\"delta\":1e-5,\"accountant\":\"rdp\",\"conversion\":\"classic\","
		"\"remark\":\"unknown fields are ignored\"}";
	struct dp_buf out = DP_BUF_INIT;
	json_t *q, *a;

	(void)state;
	assert_int_equal(dp_json_parse(text, strlen(text), &q, NULL), DP_OK);
	assert_int_equal(dp_privacy_answer_query(q, &a, NULL), DP_OK);
	assert_near(json_real_value(json_object_get(a, "epsilon")), 2.3670393547710407, 1e-12);
	assert_int_equal(json_integer_value(json_object_get(a, "order")), 11);
	assert_string_equal(dp_json_str(a, "accountant", ""), "rdp");
	assert_near(json_number_value(json_object_get(a, "error_bound")), 0, 0);
	json_decref(a);
	/* the default is the tightest there is */
	json_object_del(q, "accountant");
	assert_int_equal(dp_privacy_answer_query(q, &a, NULL), DP_OK);
	assert_string_equal(dp_json_str(a, "accountant", ""), "pld");
	assert_true(json_is_null(json_object_get(a, "order")));
	assert_non_null(json_object_get(a, "error_estimate"));
	assert_null(json_object_get(a, "error_bound"));
	json_decref(a);
	json_object_set_new(q, "noise_multiplier", json_real(1e-200));
	assert_int_equal(dp_privacy_answer_query(q, &a, NULL), DP_OK);
	dp_json_dump(&out, a, 0);
	assert_non_null(strstr(dp_buf_text(&out), "\"epsilon\":\"inf\""));
	dp_buf_free(&out);
	json_decref(a);
	json_decref(q);
}

/* 1000 / 16 = 62.5 and 1000 / 80 = 12.5 round to even. */
static void rounding_of_steps(void **state)
{
	static const struct {
		int lot, steps;
	} c[] = { { 16, 62 }, { 80, 12 }, { 400, 2 }, { 7, 143 }, { 1000, 1 } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double a = ask(SGD "\"lot\":%d,\"epochs\":3,\"noise_multiplier\":2,"
				   "\"delta\":1e-5,\"accountant\":\"rdp\"}",
			       c[i].lot)
				   .epsilon;
		double b = ask(SGD "\"lot\":%d,\"steps\":%d,\"noise_variance\":4,"
				   "\"delta\":1e-5,\"accountant\":\"rdp\"}",
			       c[i].lot, 3 * c[i].steps)
				   .epsilon;

		assert_true(a == b);
	}
}

/* A lot may be a fraction where it is an average; a sample rate stands in the place of
 * records and lot, and in no other. */
static void poisson_lots(void **state)
{
#define POISSON "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\","
#define REST    "\"noise_multiplier\":2,\"delta\":1e-5,\"accountant\":\"rdp\"}"
	(void)state;
	/* 1 / 0.016 = 62.5 rounds to even */
	assert_true(ask(POISSON "\"sample_rate\":0.016,\"epochs\":3," REST).epsilon ==
		    ask(POISSON "\"records\":1000,\"lot\":16,\"steps\":186," REST).epsilon);
	assert_true(ask(POISSON "\"records\":1000,\"lot\":12.5,\"epochs\":2," REST).epsilon ==
		    ask(POISSON "\"sample_rate\":0.0125,\"steps\":160," REST).epsilon);
	assert_true(ask(POISSON "\"records\":1000,\"lot\":0.5,\"steps\":9," REST).epsilon <
		    ask(POISSON "\"records\":1000,\"lot\":1,\"steps\":9," REST).epsilon);
	refused(SGD "\"lot\":12.5,\"steps\":5," REST, "'lot' cannot be 12.5", NULL);
	refused(SGD "\"steps\":5," REST, "'lot', or 'sample_rate' in its place", NULL);
	refused(POISSON "\"lot\":5,\"steps\":5," REST, "'records', or 'sample_rate'", NULL);
	refused(POISSON "\"sample_rate\":0.1,\"lot\":5,\"steps\":5," REST,
		"'lot' and 'sample_rate' exclude", NULL);
	refused(SGD "\"sample_rate\":0.1,\"steps\":5," REST, "'records' and 'sample_rate' exclude",
		NULL);
	refused("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		"\"sample_rate\":0.1,\"steps\":5," REST,
		"belongs to sampling poisson", "'lot'");
	refused(POISSON "\"sample_rate\":1.5,\"steps\":5," REST, "'sample_rate'", NULL);
}

/* What a trainer says of its lots must fit the rate. */
static void declared_rate(void **state)
{
	struct dp_declaration d = { "poisson", 1000, 10, 300, 2 };
	char text[DP_PRIVACY_WARNING_LEN];
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_err err;
	const struct dp_mechanism *m = query(POISSON "\"sample_rate\":0.01,\"epochs\":3," REST, v);

	(void)state;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_OK);
	d.lot = 11;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "lot / records"));
	d.records = NAN;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_OK);
	d.steps = 299;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
}

static void warnings(void **state)
{
	char text[DP_PRIVACY_WARNING_LEN];
	double values[DP_PRIVACY_KEYS_MAX];
	const struct dp_mechanism *m;

	(void)state;
	m = query(SGD "\"lot\":10,\"steps\":5,\"noise_multiplier\":1,\"delta\":1e-3}", values);
	assert_true(dp_privacy_warning(m, values, text));
	assert_non_null(strstr(text, "1/records"));
	/* half a record on average is too much already */
	m = query(SGD "\"lot\":10,\"steps\":5,\"noise_multiplier\":1,\"delta\":5e-4}", values);
	assert_true(dp_privacy_warning(m, values, text));
	assert_non_null(strstr(text, "publish 0.5 of them"));
	m = query(SGD "\"lot\":10,\"steps\":5,\"noise_multiplier\":1,\"delta\":4e-4}", values);
	assert_false(dp_privacy_warning(m, values, text));
	m = query("{\"mechanism\":\"gaussian\",\"sigma\":1,\"delta\":0.5}", values);
	assert_false(dp_privacy_warning(m, values, text));
}

static void declarations(void **state)
{
	struct dp_declaration d = { "without-replacement", 1000, 10, 300, 4 };
	char text[DP_PRIVACY_WARNING_LEN];
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_err err;
	const struct dp_mechanism *m =
		query(SGD "\"lot\":10,\"epochs\":3,\"noise_multiplier\":2,\"delta\":1e-5}", v);

	(void)state;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_OK);
	assert_string_equal(text, "");
	d.sampling = "shuffle";
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_OK);
	assert_non_null(strstr(text, "not proven"));
	d.sampling = "poisson";
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "poisson"));
	d.sampling = NULL;
	d.noise_over_clip = 2; /* relative to L it is 4 */
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "noise_over_clip"));
	d.noise_over_clip = NAN;
	d.steps = 299;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "steps 299"));
	d.steps = NAN;
	d.lot = 11;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	d.lot = NAN;
	d.records = 999;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
}

/* A mean lot that a trainer has as rate times records is the same but for rounding. */
static void mean_lots(void **state)
{
	struct dp_declaration d = { "poisson", 49, 1.0 / 49 * 49, 147, 2 };
	char text[DP_PRIVACY_WARNING_LEN];
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_err err;
	const struct dp_mechanism *m =
		query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":49,"
		      "\"lot\":1,"
		      "\"epochs\":3,\"noise_multiplier\":2,\"delta\":1e-5}",
		      v);

	(void)state;
	assert_true(d.lot != 1);
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_OK);
	d.lot = 1.001;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "lot 1.001"));
	/* lots without replacement have no fractions */
	m = query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
		  "\"records\":49,\"lot\":1,\"epochs\":3,\"noise_multiplier\":1,"
		  "\"delta\":1e-5}",
		  v);
	d.sampling = "without-replacement";
	d.lot = 1.0 / 49 * 49;
	assert_int_equal(dp_privacy_check_declaration(m, v, &d, text, &err), DP_E_INVALID);
}

static void calibration(void **state)
{
	static const char *const texts[] = {
		SGD "\"lot\":10,\"epochs\":3,\"delta\":1e-5,\"accountant\":\"rdp\"}",
		SGD "\"lot\":10,\"epochs\":3,\"delta\":1e-5,\"accountant\":\"pld\"}",
		"{\"mechanism\":\"gaussian\",\"delta\":1e-6}",
		"{\"mechanism\":\"laplace\"}",
		"{\"mechanism\":\"svt\",\"cutoff\":3}",
		"{\"mechanism\":\"discrete-gaussian\",\"sensitivity\":3,\"delta\":1e-6}",
		"{\"mechanism\":\"discrete-laplace\",\"delta\":1e-6}",
		"{\"mechanism\":\"exponential\",\"delta\":1e-6}",
		"{\"mechanism\":\"randomized-response\",\"categories\":5}",
		"{\"mechanism\":\"output-perturbation\",\"regularization\":0.01,"
		"\"records\":1000,\"delta\":1e-6}",
	};
	static const double targets[] = { 0.1, 1, 8 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		for (size_t j = 0; j < DP_COUNT(targets); j++) {
			double v[DP_PRIVACY_KEYS_MAX], noise;
			const struct dp_mechanism *m = query(texts[i], v);
			struct dp_epsilon at, again;
			struct dp_err err;

			assert_int_equal(
				dp_privacy_solve_noise(m, v, targets[j], &noise, &at, &err), DP_OK);
			v[dp_privacy_key_index(m, m->noise)] = noise;
			assert_int_equal(dp_privacy_epsilon(m, v, &again, &err), DP_OK);
			assert_true(again.epsilon <= targets[j]);
			assert_true(again.epsilon == at.epsilon);
			/* a little less noise no longer does */
			v[dp_privacy_key_index(m, m->noise)] = noise * (1 - 1e-4);
			assert_int_equal(dp_privacy_epsilon(m, v, &again, &err), DP_OK);
			assert_true(again.epsilon > targets[j]);
		}
	}
}

/* Delta at an epsilon: what epsilon says at that delta, and at a little less no more. */
static void delta_at_epsilon(void **state)
{
	static const char *const texts[] = {
		SGD "\"lot\":10,\"epochs\":3,\"noise_multiplier\":1}",
		SGD "\"lot\":10,\"epochs\":3,\"noise_multiplier\":1,\"accountant\":"
		    "\"rdp\"}",
		"{\"mechanism\":\"gaussian\",\"sigma\":2}",
		"{\"mechanism\":\"laplace\",\"scale\":0.2}",
		"{\"mechanism\":\"discrete-gaussian\",\"sigma\":2}",
		"{\"mechanism\":\"exponential\",\"scale\":0.3}",
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		double v[DP_PRIVACY_KEYS_MAX];
		const struct dp_mechanism *m = query(texts[i], v);
		struct dp_epsilon at, e;
		struct dp_err err;

		assert_int_equal(dp_privacy_solve_delta(m, v, 1.5, &at, &err), DP_OK);
		assert_true(at.epsilon <= 1.5 && at.delta > 0 && at.delta < 1);
		v[dp_privacy_key_index(m, m->delta)] = at.delta * 0.99;
		assert_int_equal(dp_privacy_epsilon(m, v, &e, &err), DP_OK);
		assert_true(e.epsilon > 1.5);
	}
}

static void delta_at_its_ends(void **state)
{
	double v[DP_PRIVACY_KEYS_MAX];
	const struct dp_mechanism *m = query("{\"mechanism\":\"gaussian\",\"sigma\":2}", v);
	struct dp_epsilon at;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_privacy_solve_delta(m, v, 1, &at, &err), DP_OK);
	assert_near(at.delta, dp__gaussian_delta(0.5, 1), 2e-6 * at.delta);
	/* total variation */
	assert_int_equal(dp_privacy_solve_delta(m, v, 0, &at, &err), DP_OK);
	assert_near(at.delta, 2 * dp__normal_cdf(0.25) - 1, 1e-6);
	/* so far out that no delta worth naming is left */
	assert_int_equal(dp_privacy_solve_delta(m, v, 60, &at, &err), DP_OK);
	assert_true(at.delta > 0 && at.delta <= 1e-99);
	assert_int_equal(dp_privacy_solve_delta(m, v, NAN, &at, &err), DP_E_INVALID);
	assert_int_equal(dp_privacy_solve_delta(m, v, INFINITY, &at, &err), DP_E_INVALID);
	/* pure: none is needed */
	m = query("{\"mechanism\":\"laplace\",\"scale\":2}", v);
	assert_int_equal(dp_privacy_solve_delta(m, v, 0.5, &at, &err), DP_OK);
	assert_true(at.delta == 0);
	m = query("{\"mechanism\":\"svt\",\"cutoff\":4,\"scale\":15}", v);
	assert_int_equal(dp_privacy_solve_delta(m, v, 1.1, &at, &err), DP_OK);
	assert_true(at.delta == 0);
	assert_int_equal(dp_privacy_solve_delta(m, v, 0.9, &at, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "purely private"));
}

/* The most steps, epochs, records in a lot that a target allows: one more is too much. */
static void most_of_what_costs(void **state)
{
	static const struct {
		const char *text, *key;
	} c[] = {
		{ SGD "\"lot\":10,\"noise_multiplier\":1,\"delta\":1e-5}", "steps" },
		{ SGD "\"lot\":10,\"steps\":7,\"noise_multiplier\":1,\"delta\":1e-5}", "epochs" },
		{ SGD "\"steps\":70,\"noise_multiplier\":1,\"delta\":1e-5,"
		      "\"accountant\":\"rdp\"}",
		  "lot" },
		{ "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"steps\":70,"
		  "\"noise_multiplier\":1,\"delta\":1e-5}",
		  "sample_rate" },
		{ "{\"mechanism\":\"svt\",\"scale\":100}", "cutoff" },
		{ "{\"mechanism\":\"gaussian\",\"sigma\":40,\"delta\":1e-5}", "group" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double v[DP_PRIVACY_KEYS_MAX], most;
		const struct dp_mechanism *m = query(c[i].text, v);
		const struct dp_privacy_key *k = dp_privacy_key_find(m, c[i].key);
		struct dp_epsilon at, e;
		struct dp_err err;
		bool whole;

		assert_int_equal(dp_privacy_solve_max(m, v, k, 2, &most, &at, &err), DP_OK);
		dp_privacy_set_value(m, v, k, most);
		assert_int_equal(dp_privacy_epsilon(m, v, &e, &err), DP_OK);
		assert_true(e.epsilon <= 2 && e.epsilon == at.epsilon);
		whole = dp_privacy_key_is_integer(m, v, k);
		assert_true(!whole || most == floor(most));
		dp_privacy_set_value(m, v, k, whole ? most + 1 : most * 1.001);
		assert_int_equal(dp_privacy_epsilon(m, v, &e, &err), DP_OK);
		assert_true(e.epsilon > 2);
	}
}

#define RDP "\"poisson\",\"records\":100,\"accountant\":\"rdp\",\"noise_multiplier\":"

/* With epochs a larger lot makes fewer steps, and may cost less again. */
static void largest_lot(void **state)
{
	static const struct {
		const char *text;
		double target, lot; /* lot NaN: there is none */
	} c[] = {
		{ "\"without-replacement\",\"records\":100,\"noise_multiplier\":1", 4.6, 100 },
		{ RDP "1", 5, 100 },
		{ RDP "0.3", 25, 100 },
		{ RDP "0.1", 1, NAN },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double v[DP_PRIVACY_KEYS_MAX], lot, tried;
		const struct dp_mechanism *m;
		const struct dp_privacy_key *k;
		struct dp_epsilon at;
		struct dp_err err;
		char text[300];
		bool cut;
		int code;

		snprintf(text, sizeof text,
			 "{\"mechanism\":\"dp-sgd\",\"sampling\":%s,\"epochs\":1,"
			 "\"delta\":1e-5}",
			 c[i].text);
		m = query(text, v);
		k = dp_privacy_key_find(m, "lot");
		code = dp_privacy_solve_largest(m, v, k, c[i].target, &lot, &tried, &cut, &at,
						&err);
		assert_int_equal(code, isnan(c[i].lot) ? DP_E_INVALID : DP_OK);
		if (code == DP_OK && (lot != c[i].lot || lot < tried))
			fail_msg("%s: lot %g of %g", c[i].text, lot, c[i].lot);
	}
}

static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Where one question takes long a solve asks few of them: each took 3 to 6 seconds of CPU
 * time, and takes 0.2 to 1.5. Its answer keeps the target by the whole accountant, and is
 * near what all the questions gave. */
static void solving_takes_bounded_work(void **state)
{
	static const struct {
		const char *text, *key;
		double target, exact; /* that of thirty whole questions */
	} c[] = {
		{ "\"sampling\":\"poisson\",\"records\":2374395273,\"lot\":8208,"
		  "\"steps\":769,\"group\":2,\"delta\":4.830681047625303e-09",
		  NULL, 0.018848968145735973, 0.6654379118801464 },
		{ "\"sampling\":\"poisson\",\"records\":247978,\"lot\":21269,"
		  "\"steps\":422641,\"group\":32,\"delta\":2.6003059159945996e-14",
		  NULL, 20.889759045080122, 731.3567858828192 },
		{ "\"sampling\":\"without-replacement\",\"records\":265184333,"
		  "\"lot\":13881643,\"steps\":181,\"delta\":7.540866855695525e-215",
		  NULL, 0.0012110120535149867, 25025.957052171474 },
		{ "\"sampling\":\"without-replacement\",\"records\":5,\"lot\":3,"
		  "\"steps\":253134634,\"delta\":6.371472775646029e-12",
		  NULL, 0.001481568468444603, 33291671.437010825 },
		{ "\"sampling\":\"poisson\",\"records\":100000,\"epochs\":10,"
		  "\"noise_multiplier\":40,\"group\":31,\"delta\":1e-6",
		  "lot", 2, 3329.5249315130804 },
		{ "\"sampling\":\"poisson\",\"steps\":315,\"group\":32,"
		  "\"noise_multiplier\":125.41030561698236,"
		  "\"delta\":1.2541858169700872e-114",
		  "sample_rate", 1.9498094136887218, 0.018907846384760785 },
	};
	double all = 0;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double v[DP_PRIVACY_KEYS_MAX], value, tried, began, took, factor;
		const struct dp_mechanism *m;
		const struct dp_privacy_key *k;
		struct dp_epsilon at, e;
		struct dp_err err;
		char text[400];
		bool cut;

		snprintf(text, sizeof text, "{\"mechanism\":\"dp-sgd\",%s}", c[i].text);
		m = query(text, v);
		k = c[i].key ? dp_privacy_key_find(m, c[i].key) : m->noise;
		began = cpu_seconds();
		if (c[i].key)
			assert_int_equal(dp_privacy_solve_largest(m, v, k, c[i].target, &value,
								  &tried, &cut, &at, &err),
					 DP_OK);
		else
			assert_int_equal(
				dp_privacy_solve_noise(m, v, c[i].target, &value, &at, &err),
				DP_OK);
		took = cpu_seconds() - began;
		all += took;
		dp_privacy_set_value(m, v, k, value);
		assert_int_equal(dp_privacy_epsilon(m, v, &e, &err), DP_OK);
		factor = c[i].key ? c[i].exact / value : value / c[i].exact;
		print_message("%zu: %.2f s, %.4g times %.6g\n", i, took, factor, c[i].exact);
		assert_true(e.epsilon <= c[i].target && e.epsilon == at.epsilon);
		assert_true(factor < 2);
	}
	/* 26 seconds before; 6 now, on a machine shared with others */
	assert_true(all < 13);
}

/* Against every lot: the largest one that keeps the target, unless it says otherwise. */
static void largest_of_all_lots(void **state)
{
	(void)state;
	for (double target = 0.3; target < 9; target *= 1.4) {
		double v[DP_PRIVACY_KEYS_MAX], lot, tried, best = 0;
		const struct dp_mechanism *m =
			query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-"
			      "replacement\",\"records\":60,\"epochs\":1,"
			      "\"noise_multiplier\":1,\"delta\":1e-5,\"accountant\":"
			      "\"rdp\"}",
			      v);
		const struct dp_privacy_key *k = dp_privacy_key_find(m, "lot");
		struct dp_epsilon at, e;
		struct dp_err err;
		bool cut;
		int code = dp_privacy_solve_largest(m, v, k, target, &lot, &tried, &cut, &at, &err);

		for (double x = 1; x <= 60; x++) {
			dp_privacy_set_value(m, v, k, x);
			assert_int_equal(dp_privacy_epsilon(m, v, &e, &err), DP_OK);
			best = e.epsilon <= target ? x : best;
		}
		assert_int_equal(code, best > 0 ? DP_OK : DP_E_INVALID);
		assert_true(code != DP_OK || (at.epsilon <= target && lot <= best));
		assert_true(code != DP_OK || lot == best || (lot < tried && best < tried));
	}
}

static void most_is_refused(void **state)
{
	double v[DP_PRIVACY_KEYS_MAX], most;
	const struct dp_mechanism *m =
		query(SGD "\"lot\":10,\"noise_multiplier\":0.3,\"delta\":1e-5}", v);
	struct dp_epsilon at;
	struct dp_err err;

	(void)state;
	assert_int_equal(
		dp_privacy_solve_max(m, v, dp_privacy_key_find(m, "steps"), 0.1, &most, &at, &err),
		DP_E_INVALID);
	assert_non_null(strstr(err.msg, "even with steps 1 epsilon is"));
	assert_int_equal(dp_privacy_solve_max(m, v, m->noise, 1, &most, &at, &err), DP_E_INVALID);
	/* everything fits: as much as there can be */
	m = query(SGD "\"steps\":1,\"noise_multiplier\":90,\"delta\":1e-5}", v);
	assert_int_equal(
		dp_privacy_solve_max(m, v, dp_privacy_key_find(m, "lot"), 2, &most, &at, &err),
		DP_OK);
	assert_true(most == 1000);
}

static void curve(void **state)
{
	static const double deltas[] = { 1e-3, 1e-5, 1e-7 };
	double v[DP_PRIVACY_KEYS_MAX];
	const struct dp_mechanism *m = query("{\"mechanism\":\"gaussian\",\"sigma\":2}", v);
	struct dp_epsilon e[3];

	(void)state;
	assert_int_equal(dp_privacy_epsilon_curve(m, v, deltas, 3, e, NULL), DP_OK);
	assert_true(e[0].epsilon < e[1].epsilon && e[1].epsilon < e[2].epsilon);
	assert_near(dp__gaussian_delta(0.5, e[1].epsilon), 1e-5, 1e-17);
}

/* Pure mechanisms: the sum at delta = 0, less with some delta; relations do not mix. */
static void composition(void **state)
{
	double a[DP_PRIVACY_KEYS_MAX], b[DP_PRIVACY_KEYS_MAX], c[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[3] = {
		{ query("{\"mechanism\":\"laplace\",\"scale\":10}", a), a, 30 },
		{ query("{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":100}", b), b, 2 },
	};
	struct dp_epsilon sum, rdp, pld;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_privacy_compose(items, 2, 0, true, &sum, &err), DP_OK);
	assert_near(sum.epsilon, 3 + 2 * 0.058473221018630724, 1e-12);
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, false, &rdp, &err), DP_OK);
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, true, &pld, &err), DP_OK);
	assert_true(pld.epsilon < rdp.epsilon && rdp.epsilon < sum.epsilon);
	items[2] = (struct dp_composition_item){
		query(SGD "\"lot\":10,\"steps\":500,\"noise_multiplier\":1}", c), c, 1
	};
	assert_int_equal(dp_privacy_compose(items, 3, 1e-6, false, &rdp, &err), DP_OK);
	assert_int_equal(dp_privacy_compose(items, 3, 1e-6, true, &sum, &err), DP_OK);
	assert_true(sum.epsilon < rdp.epsilon && sum.epsilon > pld.epsilon);
	assert_int_equal(dp_privacy_compose(items, 3, 0, true, &pld, &err), DP_E_INVALID);
	items[0] = items[2];
	items[1] = (struct dp_composition_item){
		query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":"
		      "1000,"
		      "\"lot\":10,\"steps\":500,\"noise_multiplier\":1}",
		      b),
		b, 1
	};
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, true, &pld, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "relations"));
	/* the same twice is the same with twice the steps */
	items[1] = items[0];
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, true, &pld, &err), DP_OK);
	items[0].times = 2;
	assert_int_equal(dp_privacy_compose(items, 1, 1e-6, true, &sum, &err), DP_OK);
	assert_near(pld.epsilon, sum.epsilon, 3e-4 * sum.epsilon);
}

/* Never more than basic composition: the Gaussians' own epsilon and pure ones. */
static void composition_of_pure_and_gaussian(void **state)
{
	static const double deltas[] = { 1e-2, 1e-6, 1e-30, 1e-250 };
	double a[DP_PRIVACY_KEYS_MAX], b[DP_PRIVACY_KEYS_MAX], c[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[3] = {
		{ query("{\"mechanism\":\"gaussian\",\"sigma\":1}", a), a, 4 },
		{ query("{\"mechanism\":\"laplace\",\"scale\":10000}", b), b, 3 },
		{ query("{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":1e6}", c), c, 1 },
	};
	struct dp_epsilon pure, e;

	(void)state;
	assert_int_equal(dp_privacy_compose(items + 1, 2, 0, true, &pure, NULL), DP_OK);
	for (size_t i = 0; i < 2 * DP_COUNT(deltas); i++) {
		double exact = dp__gaussian_epsilon(2, log(deltas[i / 2]));

		assert_int_equal(dp_privacy_compose(items, 3, deltas[i / 2], i % 2, &e, NULL),
				 DP_OK);
		assert_true(e.epsilon >= exact);
		assert_true(e.epsilon <= (exact + pure.epsilon) * (1 + 1e-14));
		if (i % 2) /* a grid may give less */
			continue;
		assert_true(e.epsilon - e.error <= exact * (1 + 1e-14));
		assert_string_equal(e.accountant, "closed-form");
		assert_non_null(strstr(e.theorem, "basic composition"));
	}
	/* large pure parts: the accountants are better */
	b[dp_privacy_key_index(items[1].mechanism, items[1].mechanism->noise)] = 1;
	items[1].times = 100;
	assert_int_equal(dp_privacy_compose(items, 3, 1e-6, true, &e, NULL), DP_OK);
	assert_string_equal(e.accountant, "pld");
}

/* What svt says holds for replacing a record, not for adding one. */
static void composition_of_svt(void **state)
{
	double a[DP_PRIVACY_KEYS_MAX], b[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[2] = {
		{ query("{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":100}", a), a, 1 },
		{ query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":"
			"1000,\"lot\":10,\"steps\":50,\"noise_multiplier\":1}",
			b),
		  b, 1 },
	};
	struct dp_epsilon e;
	struct dp_err err = { 0 };

	(void)state;
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, true, &e, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "svt (replace one record)"));
	items[1].mechanism = query(SGD "\"lot\":10,\"steps\":50,\"noise_multiplier\":1}", b);
	assert_int_equal(dp_privacy_compose(items, 2, 1e-6, true, &e, &err), DP_OK);
}

/* Where no grid gives a bound the other accountant has one: a few uses with large losses
 * beside many with tiny ones. */
static void composition_falls_back(void **state)
{
	double a[DP_PRIVACY_KEYS_MAX], b[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item items[2] = {
		{ query("{\"mechanism\":\"laplace\",\"scale\":0.57}", a), a, 49 },
		{ query("{\"mechanism\":\"dp-sgd\",\"sampling\":\"without-replacement\","
			"\"records\":100000,\"lot\":8,\"steps\":144,"
			"\"noise_multiplier\":9.25}",
			b),
		  b, 1 },
	};
	struct dp_epsilon rdp, pld;

	(void)state;
	for (double delta = 1e-3; delta > 1e-250; delta *= 1e-6) {
		assert_int_equal(dp_privacy_compose(items, 2, delta, false, &rdp, NULL), DP_OK);
		assert_int_equal(dp_privacy_compose(items, 2, delta, true, &pld, NULL), DP_OK);
		assert_true(isfinite(pld.epsilon) && pld.epsilon <= rdp.epsilon);
	}
	/* at the last no grid holds it, and the answer says who gave it */
	assert_string_equal(pld.accountant, "rdp");
}

/* The words name who answered, not who was asked. */
static void words_of_answers(void **state)
{
	static const struct {
		const char *noise, *accountant, *theorem;
	} c[] = {
		{ "\"noise_multiplier\":1", "privacy loss distributions", "Zhu" },
		{ "\"noise_multiplier\":0.0005", "Renyi divergences", "joint convexity" },
		{ "\"noise_multiplier\":1,\"accountant\":\"rdp\"", "Renyi divergences",
		  "Theorem 27" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double v[DP_PRIVACY_KEYS_MAX], full[DP_PRIVACY_KEYS_MAX];
		struct dp_privacy_description words;
		const struct dp_mechanism *m;
		struct dp_epsilon e;
		char text[300];

		snprintf(text, sizeof text, SGD "\"lot\":10,\"steps\":9,\"delta\":1e-5,%s}",
			 c[i].noise);
		m = query(text, v);
		assert_int_equal(dp_privacy_epsilon(m, v, &e, NULL), DP_OK);
		assert_int_equal(dp_privacy_check_values(m, v, full, NULL), DP_OK);
		dp_privacy_describe_answer(m, full, &e, &words);
		assert_string_equal(words.accountant, c[i].accountant);
		assert_non_null(strstr(words.theorem, c[i].theorem));
	}
}

/* So many that curves are added at fixed orders: no less than in one go, and hardly
 * more. */
static void composition_of_many(void **state)
{
	static const char *const texts[] = {
		"{\"mechanism\":\"gaussian\",\"sigma\":40}",
		"{\"mechanism\":\"gaussian\",\"sigma\":3}",
		SGD "\"lot\":10,\"steps\":500,\"noise_multiplier\":4}",
		SGD "\"lot\":10,\"steps\":50,\"noise_multiplier\":0.7}",
		"{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":1000,"
		"\"lot\":10,\"steps\":90,\"noise_multiplier\":0.8}",
		"{\"mechanism\":\"laplace\",\"scale\":30}",
	};
	enum {
		MANY = 3 * DP_PRIVACY_ITEMS_MAX
	};
	struct dp_composition_item items[MANY];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		double v[DP_PRIVACY_KEYS_MAX];
		struct dp_composition_item all = { query(texts[i], v), v, MANY };
		struct dp_epsilon one, many;
		struct dp_err err;

		for (size_t k = 0; k < MANY; k++)
			items[k] = (struct dp_composition_item){ all.mechanism, v, 1 };
		assert_int_equal(dp_privacy_compose(&all, 1, 1e-6, false, &one, &err), DP_OK);
		assert_int_equal(dp_privacy_compose(items, MANY, 1e-6, false, &many, &err), DP_OK);
		assert_true(many.epsilon >= one.epsilon * (1 - 1e-12));
		assert_true(many.epsilon < one.epsilon * 1.05);
		/* plain Gaussians are merged, so that any number of them will do */
		assert_int_equal(dp_privacy_compose(items, MANY, 1e-6, true, &many, &err),
				 i < 2 ? DP_OK : DP_E_INVALID);
	}
}

/* However little noise there is: more of it never makes epsilon larger, and without any
 * there is no bound. */
static void composition_without_noise(void **state)
{
	(void)state;
	for (int sampler = 0; sampler < 2; sampler++) {
		for (int pld = 0; pld < 2; pld++) {
			double before = INFINITY;

			for (int power = -160; power <= 0; power += 8) {
				double v[DP_PRIVACY_KEYS_MAX];
				char text[300];
				struct dp_composition_item item;
				struct dp_epsilon e;

				snprintf(text, sizeof text,
					 "{\"mechanism\":\"dp-sgd\",\"sampling\":\"%s\","
					 "\"records\":1000,\"lot\":10,\"steps\":100,"
					 "\"noise_multiplier\":1e%d}",
					 sampler ? "poisson" : "without-replacement", power);
				item = (struct dp_composition_item){ query(text, v), v, 2 };
				assert_int_equal(dp_privacy_compose(&item, 1, 1e-5, pld, &e, NULL),
						 DP_OK);
				assert_true(e.epsilon > 0 && e.epsilon <= before);
				assert_true(power > -150 || isinf(e.epsilon));
				before = e.epsilon;
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(closed_forms),
		cmocka_unit_test(bad_queries),
		cmocka_unit_test(answers),
		cmocka_unit_test(rounding_of_steps),
		cmocka_unit_test(poisson_lots),
		cmocka_unit_test(declared_rate),
		cmocka_unit_test(warnings),
		cmocka_unit_test(declarations),
		cmocka_unit_test(mean_lots),
		cmocka_unit_test(calibration),
		cmocka_unit_test(delta_at_epsilon),
		cmocka_unit_test(delta_at_its_ends),
		cmocka_unit_test(most_of_what_costs),
		cmocka_unit_test(largest_lot),
		cmocka_unit_test(largest_of_all_lots),
		cmocka_unit_test(solving_takes_bounded_work),
		cmocka_unit_test(composition_of_pure_and_gaussian),
		cmocka_unit_test(most_is_refused),
		cmocka_unit_test(curve),
		cmocka_unit_test(composition),
		cmocka_unit_test(composition_of_svt),
		cmocka_unit_test(composition_falls_back),
		cmocka_unit_test(words_of_answers),
		cmocka_unit_test(composition_of_many),
		cmocka_unit_test(composition_without_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
