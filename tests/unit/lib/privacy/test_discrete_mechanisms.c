/* test_discrete_mechanisms.c - mechanisms on candidates, categories and whole numbers, alone
 * and composed, against values of their own.
 *
 * The values are sums over all outcomes with 40 digits (tests/ref/mechanisms.py, with
 * Python's mpmath), so no formula of the library stands behind them. Epsilon must not be
 * below them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "privacy/privacy_internal.h"
#include "tests/unit/support/privacy_query.h"

#include <math.h>

/* The answer to a line as --batch reads it. */
static json_t *line_answer(const char *text, struct dp_err *err)
{
	json_t *q = NULL, *a = NULL;
	int code;

	assert_int_equal(dp_json_parse(text, strlen(text), &q, NULL), DP_OK);
	code = dp_privacy_answer_query(q, &a, err);
	json_decref(q);
	assert_true((code == DP_OK) == (a != NULL));
	return a;
}

static double line_epsilon(const char *text)
{
	struct dp_err err = { 0 };
	json_t *a = line_answer(text, &err);
	double epsilon = -1;

	if (!a)
		fail_msg("%s: %s", text, err.msg);
	assert_true(dp_json_to_real(json_object_get(a, "epsilon"), &epsilon));
	json_decref(a);
	return epsilon;
}

struct value {
	const char *line;
	double epsilon;
};

static void check_values(const struct value *v, size_t n, double above)
{
	for (size_t i = 0; i < n; i++) {
		double e = line_epsilon(v[i].line);

		if (!(e >= v[i].epsilon * (1 - 1e-15)) ||
		    !(e <= v[i].epsilon * (1 + above) + 1e-300))
			fail_msg("%s: %.17g, not %.17g", v[i].line, e, v[i].epsilon);
	}
}

static void alone(void **state)
{
	static const struct value exact[] = {
		{ "{\"mechanism\":\"exponential\",\"scale\":1,\"scores\":\"monotonic\","
		  "\"delta\":1e-5}",
		  0.99496526660881177773 },
		{ "{\"mechanism\":\"exponential\",\"scale\":20,\"delta\":1e-6}",
		  0.099382936157491037799 },
		{ "{\"mechanism\":\"exponential\",\"scale\":1,\"scores\":\"monotonic\","
		  "\"sensitivity\":3,\"delta\":1e-2}",
		  2.7948736562541623953 },
		{ "{\"mechanism\":\"exponential\",\"scale\":0.5,\"group\":2,"
		  "\"delta\":1e-9}",
		  7.9999367640562605816 },
		{ "{\"mechanism\":\"exponential\",\"scale\":20,\"delta\":0.1}", 0 },
		{ "{\"mechanism\":\"exponential\",\"scale\":0.5}", 4 },
		{ "{\"mechanism\":\"exponential\",\"scale\":0.5,\"noise\":\"laplace\"}", 4 },
		{ "{\"mechanism\":\"exponential\",\"scale\":0.5,"
		  "\"noise\":\"exponential\",\"scores\":\"monotonic\"}",
		  2 },
		{ "{\"mechanism\":\"randomized-response\",\"flip\":0.5}", 1.0986122886681096914 },
		{ "{\"mechanism\":\"randomized-response\",\"flip\":0.5,\"delta\":0.01}",
		  1.0851892683359690046 },
		{ "{\"mechanism\":\"randomized-response\",\"flip\":0.25,"
		  "\"categories\":10}",
		  3.4339872044851462459 },
		{ "{\"mechanism\":\"randomized-response\",\"flip\":0.25,"
		  "\"categories\":10,\"delta\":1e-3}",
		  3.4326960487215263665 },
		{ "{\"mechanism\":\"randomized-response\",\"flip\":1}", 0 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":1,\"delta\":1e-3}",
		  0.99863118415772581351 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":2,\"group\":3,"
		  "\"delta\":1e-5}",
		  1.4999839345643544535 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":0.7,\"sensitivity\":5,"
		  "\"delta\":1e-2}",
		  7.1303831547901544124 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":10,\"delta\":1e-6}",
		  0.099998095160767758942 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":5.5,\"sensitivity\":4,"
		  "\"delta\":0.05}",
		  0.63110577004529074142 },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":4,\"sensitivity\":3}", 0.75 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":1,\"delta\":1e-5}",
		  4.4302380552794121168 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":0.5,\"delta\":1e-6}",
		  9.996247724900838555 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":2,\"group\":3,"
		  "\"delta\":1e-9}",
		  9.7704845040235731215 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":10,\"delta\":1e-6}",
		  0.39679009269519248559 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":100,"
		  "\"sensitivity\":7,\"delta\":1e-5}",
		  0.23099025636256597391 },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":0.3,\"delta\":1e-5}",
		  16.664056614913409824 },
	};

	(void)state;
	check_values(exact, DP_COUNT(exact), 1e-12);
}

#define MANY(item, delta) "{\"compose\":[{" item "}],\"delta\":" #delta "}"

/* The exact values of losses that come in whole multiples are met to the grid's error. */
static void composed(void **state)
{
	static const struct value exact[] = {
		{ MANY("\"mechanism\":\"randomized-response\",\"flip\":0.5,"
		       "\"categories\":4,\"times\":20",
		       1e-6),
		  32.176595321062834735 },
		{ MANY("\"mechanism\":\"randomized-response\",\"flip\":0.9,"
		       "\"categories\":3,\"times\":50",
		       1e-5),
		  7.9027452146946147002 },
		{ MANY("\"mechanism\":\"discrete-laplace\",\"scale\":10,\"times\":40", 1e-6),
		  2.7754090853189801347 },
		{ MANY("\"mechanism\":\"discrete-laplace\",\"scale\":3,"
		       "\"sensitivity\":2,\"times\":12",
		       1e-5),
		  7.9934348359473565189 },
		{ MANY("\"mechanism\":\"discrete-gaussian\",\"sigma\":3,\"times\":10", 1e-6),
		  5.1907107594825231622 },
		{ MANY("\"mechanism\":\"discrete-gaussian\",\"sigma\":12.5,"
		       "\"sensitivity\":5,\"times\":6",
		       1e-5),
		  4.275221749062492053 },
	};
	/* no pair of one's own is known for bounded range, but one that is no worse than
	 * the worst: the same interval every time */
	static const struct value at_least[] = {
		{ MANY("\"mechanism\":\"exponential\",\"scale\":4,\"times\":10", 1e-6),
		  3.5690729333534517766 },
		{ MANY("\"mechanism\":\"exponential\",\"scale\":20,\"times\":100", 1e-6),
		  2.2452732049895630136 },
		{ MANY("\"mechanism\":\"exponential\",\"scale\":1,\"times\":5", 1e-3),
		  8.0277298069882578098 },
	};

	(void)state;
	check_values(exact, DP_COUNT(exact), 1e-3);
	check_values(at_least, DP_COUNT(at_least), 0.2);
}

/* A mechanism of so much noise that its divergence is below the rounding of 1, used so
 * often that all of them count: by the central limit theorem they are one Gaussian
 * mechanism of mu^2 = 0.1, whose epsilon is 1.19937, and 1.30812 by Renyi divergences. */
static void faint_and_many(void **state)
{
	static const struct {
		const char *item;
		double mu;
	} faint[] = {
		{ "laplace", 1 },
		{ "discrete-laplace", 1 },
		{ "svt", (1 + 1.2599210498948732) * (1 + 1.5874010519681994) },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(faint); i++) {
		for (double scale = 1e6; scale < 1e14; scale *= 10) {
			char line[256];
			double e, b = scale * faint[i].mu;

			snprintf(line, sizeof line,
				 "{\"compose\":[{\"mechanism\":\"%s\",\"scale\":%.17g,"
				 "%s\"times\":%.17g}],\"delta\":1e-5,"
				 "\"accountant\":\"rdp\"}",
				 faint[i].item, b, i == 2 ? "\"cutoff\":1," : "",
				 rint(0.1 * scale * scale));
			e = line_epsilon(line);
			if (!(e > 1.30811 && e < 1.30813))
				fail_msg("%s: %.17g", line, e);
		}
	}
}

/* K of a part at some orders by its definition, from its own loss distribution: the
 * profile holds all of it, exp K = 1 + order (order - 1) times the integral over x >= 0
 * of (exp((order - 1) x) + exp(-order x)) delta(x). */
static double cgf_by_profile(const struct dp_privacy_component *p, double order, double end)
{
	const int cells = 200000;
	double sum = 0, slack;

	for (int i = 0; i < cells; i++) {
		double x = (i + 0.5) * end / cells;

		sum += (exp((order - 1) * x) + exp(-order * x)) *
		       p->kind->profile(p, DP__DIRECTION_REMOVE, x, &slack);
	}
	return log1p(order * (order - 1) * sum * end / cells);
}

/* Both accountants hear of the same loss. */
static void renyi_and_profile(void **state)
{
	static const struct {
		const char *text;
		bool same; /* else the Renyi bound may be less, or the profile exact */
	} c[] = {
		{ "{\"mechanism\":\"randomized-response\",\"flip\":0.4,"
		  "\"categories\":7}",
		  true },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":2,\"sensitivity\":3}", true },
		{ "{\"mechanism\":\"discrete-laplace\",\"scale\":0.8}", true },
		{ "{\"mechanism\":\"discrete-gaussian\",\"sigma\":2}", true },
		{ "{\"mechanism\":\"exponential\",\"scale\":2}", false },
	};
	static const double orders[] = { 1.25, 2, 5, 17 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(c); i++) {
		double v[DP_PRIVACY_KEYS_MAX], full[DP_PRIVACY_KEYS_MAX], end;
		const struct dp_mechanism *m = query(c[i].text, v);
		struct dp_privacy_component p = { 0 };

		if (m->delta->required)
			v[dp_privacy_key_index(m, m->delta)] = 1e-5;
		assert_int_equal(dp_privacy_check_values(m, v, full, NULL), DP_OK);
		assert_int_equal(m->component(full, &p, NULL), DP_OK);
		if (p.kind->table_open)
			p.kind->table_open(&p);
		end = p.kind->tail_cutoff(&p, DP__DIRECTION_REMOVE, -200);
		for (size_t k = 0; k < DP_COUNT(orders); k++) {
			double cgf = p.kind->cgf(&p, NULL, orders[k]);
			double other = cgf_by_profile(&p, orders[k], end);

			if (c[i].same ? !(fabs(cgf / other - 1) < 1e-4)
				      : !(cgf < other && cgf > 0.5 * other))
				fail_msg("%s, order %g: %.10g, not %.10g", c[i].text, orders[k],
					 cgf, other);
		}
		if (p.table)
			p.kind->table_close(&p);
	}
}

/* However small or large the noise: between what there is with more and with less of it,
 * and never NaN. */
static void monotonic_in_noise(void **state)
{
	static const char *const texts[] = {
		"{\"mechanism\":\"exponential\",\"delta\":1e-6}",
		"{\"mechanism\":\"exponential\",\"noise\":\"laplace\",\"delta\":1e-6}",
		"{\"mechanism\":\"randomized-response\",\"categories\":5,\"delta\":1e-6}",
		"{\"mechanism\":\"discrete-laplace\",\"sensitivity\":4,\"delta\":1e-6}",
		"{\"mechanism\":\"discrete-gaussian\",\"sensitivity\":4,\"delta\":1e-6}",
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		double before = INFINITY, v[DP_PRIVACY_KEYS_MAX];
		const struct dp_mechanism *m = query(texts[i], v);

		for (double power = -320; power <= 300; power += 0.5) {
			struct dp_composition_item item = { m, v, 3 };
			struct dp_epsilon e, three;

			if (power > 0 && m->noise->hi == 1)
				break;
			v[dp_privacy_key_index(m, m->noise)] = pow(10, power);
			assert_int_equal(dp_privacy_epsilon(m, v, &e, NULL), DP_OK);
			/* beyond its table discrete Gaussian noise has a looser bound */
			if (!(e.epsilon >= 0 && e.epsilon <= before * 1.4) || !(e.error >= 0))
				fail_msg("%s: %g after %g", texts[i], e.epsilon, before);
			before = e.epsilon;
			if (fmod(power, 10) != 0 || power < -1)
				continue;
			assert_int_equal(dp_privacy_compose(&item, 1, 1e-6, true, &three, NULL),
					 DP_OK);
			assert_true(three.epsilon >= e.epsilon / 1.4);
		}
	}
}

static void line_refused(const char *text, const char *names, const char *hint)
{
	struct dp_err err = { 0 };

	if (line_answer(text, &err))
		fail_msg("%s was not refused", text);
	if (!strstr(err.msg, names) || (hint && !strstr(err.hint, hint)))
		fail_msg("%s: '%s' / '%s'", text, err.msg, err.hint);
}

static void bad_lines(void **state)
{
	(void)state;
	line_refused("{\"mechanism\":\"discrete-laplace\",\"scale\":1,"
		     "\"sensitivity\":1.5}",
		     "'sensitivity'", NULL);
	line_refused("{\"mechanism\":\"discrete-laplace\",\"scale\":1,"
		     "\"sensitivity\":9e15,\"group\":9e15}",
		     "'sensitivity' x 'group'", NULL);
	line_refused("{\"mechanism\":\"randomized-response\",\"flip\":0}", "'flip'", NULL);
	line_refused("{\"mechanism\":\"randomized-response\",\"flip\":0.5,"
		     "\"categories\":1}",
		     "'categories'", NULL);
	line_refused("{\"mechanism\":\"discrete-gaussian\",\"sigma\":1}", "'delta'", NULL);
	line_refused("{\"compose\":[],\"delta\":1e-5}", "'compose'", "laplace");
	line_refused("{\"compose\":{},\"delta\":1e-5}", "'compose'", NULL);
	line_refused(MANY("\"mechanism\":\"laplace\",\"scale\":1,\"times\":0", 0), "'times'", NULL);
	line_refused(MANY("\"mechanism\":\"laplace\",\"scale\":1,\"times\":\"x\"", 0),
		     "compose[0]: 'times'", NULL);
	line_refused(MANY("\"mechanism\":\"laplace\",\"scale\":1,\"time\":100", 0),
		     "compose[0]: a composition has no key 'time'", "'times'");
	line_refused(MANY("\"mechanism\":\"laplase\",\"scale\":1", 0),
		     "compose[0]: there is no mechanism", "'laplace'");
	line_refused(MANY("\"mechanism\":\"gaussian\",\"sigma\":1", 0), "'delta'", NULL);
	line_refused("{\"compose\":[3],\"delta\":0}", "compose[0]: a query", NULL);
	line_refused("{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":1}]}", "'delta'",
		     "beside 'compose'");
	line_refused("{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":1}],"
		     "\"dleta\":0}",
		     "'dleta'", "'delta'");
	line_refused("{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":1}],"
		     "\"delta\":1e-5,\"accountant\":\"prv\"}",
		     "'accountant'", NULL);
	line_refused("{\"compose\":[{\"mechanism\":\"randomized-response\",\"flip\":0.5},"
		     "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":9,"
		     "\"lot\":1,\"steps\":1,\"noise_multiplier\":1}],\"delta\":1e-5}",
		     "relations", NULL);
}

/* Pure mechanisms add up at delta 0; unlike ones are convolved; what a member says of
 * delta does not count. */
static void composed_lines(void **state)
{
	double sum = line_epsilon("{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":10,"
				  "\"times\":3},{\"mechanism\":\"exponential\","
				  "\"scale\":4}],\"delta\":0}");
	double mixed =
		line_epsilon("{\"compose\":[{\"mechanism\":\"discrete-laplace\",\"scale\":10,"
			     "\"times\":30,\"delta\":0.5},{\"mechanism\":\"dp-sgd\",\"sampling\":"
			     "\"poisson\",\"records\":1000,\"lot\":10,\"steps\":500,"
			     "\"noise_multiplier\":1}],\"delta\":1e-6,\"remark\":1}");
	double sgd =
		line_epsilon("{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\",\"records\":1000,"
			     "\"lot\":10,\"steps\":500,\"noise_multiplier\":1,\"delta\":1e-6}");

	(void)state;
	assert_near(sum, 0.8, 1e-14);
	assert_true(mixed > sgd && mixed < sgd + 3);
}

/* One Gaussian mechanism whose mu^2 is the sum of theirs: least epsilon with 50 digits,
 * by mpmath from Theorem 8 of Balle and Wang 2018. */
static void gaussians_merge(void **state)
{
	static const struct value exact[] = {
		{ "{\"compose\":[{\"mechanism\":\"gaussian\",\"sigma\":2},"
		  "{\"mechanism\":\"gaussian\",\"sigma\":4,\"times\":3}],"
		  "\"delta\":1e-6}",
		  3.0706399969647277998704 },
		{ "{\"compose\":[{\"mechanism\":\"gaussian\",\"sigma\":2},"
		  "{\"mechanism\":\"gaussian\",\"sigma\":4,\"times\":3}],"
		  "\"delta\":1e-6,\"accountant\":\"rdp\"}",
		  3.0706399969647277998704 },
		{ "{\"compose\":[{\"mechanism\":\"gaussian\",\"sigma\":2},"
		  "{\"mechanism\":\"output-perturbation\",\"regularization\":0.01,"
		  "\"records\":1000,\"sigma\":0.5}],\"delta\":1e-5}",
		  4.092180818667893092826955 },
		{ "{\"compose\":[{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\","
		  "\"records\":50,\"lot\":50,\"steps\":10,\"noise_multiplier\":4},"
		  "{\"mechanism\":\"gaussian\",\"sigma\":3}],\"delta\":1e-5}",
		  3.669104012961082798133743 },
	};
	struct dp_composition_item items[100];
	double values[100][DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon e;

	(void)state;
	check_values(exact, DP_COUNT(exact), 1e-12);
	/* more of them than loss distributions are convolved */
	for (int i = 0; i < 100; i++) {
		items[i] = (struct dp_composition_item){
			query("{\"mechanism\":\"gaussian\",\"sigma\":1,\"delta\":1e-6}", values[i]),
			values[i], 1
		};
		dp_privacy_set_value(items[i].mechanism, values[i], items[i].mechanism->noise,
				     10 + i);
	}
	assert_int_equal(dp_privacy_compose(items, 100, 1e-6, true, &e, NULL), DP_OK);
	assert_true(e.epsilon >= 1.337909894300236203015525);
	assert_true(e.epsilon <= 1.337909894300236203015525 * (1 + 1e-11));
}

/* Beside others Gaussians are one part: as many of them as you like cost the same. */
static void gaussians_merge_beside(void **state)
{
	static const char four[] = "{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":3},"
				   "{\"mechanism\":\"gaussian\",\"sigma\":4,\"times\":2},"
				   "{\"mechanism\":\"gaussian\",\"sigma\":4,\"times\":2}],"
				   "\"delta\":1e-6,\"accountant\":\"%s\"}";
	static const char one[] = "{\"compose\":[{\"mechanism\":\"laplace\",\"scale\":3},"
				  "{\"mechanism\":\"gaussian\",\"sigma\":2}],"
				  "\"delta\":1e-6,\"accountant\":\"%s\"}";
	static const char *const accountants[] = { "pld", "rdp" };
	char text[2][512];

	(void)state;
	for (int i = 0; i < 2; i++) {
		double together, apart;

		snprintf(text[0], sizeof text[0], one, accountants[i]);
		snprintf(text[1], sizeof text[1], four, accountants[i]);
		together = line_epsilon(text[0]);
		apart = line_epsilon(text[1]);
		assert_true(fabs(apart / together - 1) < 1e-9);
	}
}

/* Scores that add or remove one record moves all one way: replacing one moves them by
 * two such changes, so that it counts as scores of any kind do. */
static void monotonic_replaced(void **state)
{
	static const char line[] = "{\"compose\":[{\"mechanism\":\"exponential\",\"scale\":2,"
				   "\"noise\":\"%s\",\"scores\":\"%s\"},%s],\"delta\":%s}";
	static const char replace[] = "{\"mechanism\":\"svt\",\"cutoff\":1,\"scale\":50}";
	static const char add[] = "{\"mechanism\":\"dp-sgd\",\"sampling\":\"poisson\","
				  "\"sample_rate\":0.01,\"steps\":10,\"noise_multiplier\":4}";
	static const char *const noises[] = { "gumbel", "laplace" };
	static const char *const deltas[] = { "0", "1e-6" };
	char text[2][512];

	(void)state;
	for (int i = 0; i < 4; i++) {
		snprintf(text[0], sizeof text[0], line, noises[i % 2], "monotonic", replace,
			 deltas[i / 2]);
		snprintf(text[1], sizeof text[1], line, noises[i % 2], "any", replace,
			 deltas[i / 2]);
		assert_true(fabs(line_epsilon(text[0]) / line_epsilon(text[1]) - 1) < 1e-12);
	}
	snprintf(text[0], sizeof text[0], line, "gumbel", "monotonic", add, "1e-6");
	snprintf(text[1], sizeof text[1], line, "gumbel", "any", add, "1e-6");
	assert_true(line_epsilon(text[0]) < 0.6 * line_epsilon(text[1]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(composed),
		cmocka_unit_test(faint_and_many),
		cmocka_unit_test(renyi_and_profile),
		cmocka_unit_test(monotonic_in_noise),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(composed_lines),
		cmocka_unit_test(gaussians_merge),
		cmocka_unit_test(gaussians_merge_beside),
		cmocka_unit_test(monotonic_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
