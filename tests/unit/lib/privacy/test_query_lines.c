/* test_query_lines.c - lines that `epsilon --batch` may be given: 20,000 of them, made
 * from every mechanism's own keys with values in and out of reason, words, wrong types,
 * and compositions. Each is answered or refused with a sentence; no answer is NaN or
 * below zero. `test_query_lines LINES SEED` makes others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json.h"
#include "base/rng.h"
#include "privacy/privacy.h"

#include <math.h>

enum {
	COSTLY = 200 /* one line in so many may ask for loss distributions */
};

static int lines = 20000;
static uint64_t seed = 14;

static bool one_in(struct dp_rng *r, uint64_t n)
{
	return dp_rng_below(r, n) == 0;
}

/* Mostly what makes sense for the key, sometimes anything. */
static json_t *random_number(struct dp_rng *r, const struct dp_privacy_key *k)
{
	static const double odd[] = { 0,     -1,    1,     0.5,    1e-320,  1e-300,
				      1e-80, 1e300, 1e308, 0x1p53, INFINITY };
	double x;

	if (one_in(r, 30))
		return dp_json_real(odd[dp_rng_below(r, DP_COUNT(odd))]);
	if (one_in(r, 200))
		return one_in(r, 2) ? json_string("nan") : json_true();
	x = isfinite(k->hi) && k->hi <= 1 ? pow(10, -9 * dp_rng_uniform(r))
					  : pow(10, 4 * dp_rng_uniform(r) - 1);
	if (strcmp(k->name, "records") == 0)
		x = pow(10, 2 + 6 * dp_rng_uniform(r));
	if (k->kind == DP_PRIVACY_INTEGER && !one_in(r, 50))
		x = ceil(x);
	return dp_json_real(x);
}

static json_t *random_use(struct dp_rng *r, bool costly)
{
	size_t n = 0;
	const struct dp_mechanism *m;
	json_t *q = json_object();

	while (dp_mechanisms[n])
		n++;
	m = dp_mechanisms[dp_rng_below(r, n)];
	json_object_set_new(q, "mechanism", json_string(m->name));
	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];
		size_t words = 0;

		if (k == m->accountant && !costly) {
			json_object_set_new(q, k->name, json_string("rdp"));
			continue;
		}
		if (!one_in(r, k->required ? 1 : k->alternatives_group ? 2 : 4) || one_in(r, 60))
			continue;
		while (k->choices && k->choices[words])
			words++;
		json_object_set_new(q, k->name,
				    words && !one_in(r, 50)
					    ? json_string(k->choices[dp_rng_below(r, words)])
					    : random_number(r, k));
	}
	if (json_object_get(q, "group") && !costly) /* its curves are integrals */
		json_object_set_new(q, "group", json_integer(1));
	return q;
}

static json_t *random_line(struct dp_rng *r)
{
	bool costly = one_in(r, COSTLY);
	json_t *list, *q;

	if (!one_in(r, 8))
		return random_use(r, costly);
	q = json_object();
	list = json_array();
	for (uint64_t n = dp_rng_below(r, 5); n > 0; n--) {
		json_t *use = random_use(r, costly);

		if (one_in(r, 2))
			json_object_set_new(use, "times",
					    json_integer((json_int_t)dp_rng_below(r, 100)));
		json_array_append_new(list, use);
	}
	json_object_set_new(q, "compose", list);
	if (!one_in(r, 20))
		json_object_set_new(q, "delta", dp_json_real(pow(10, -10 * dp_rng_uniform(r))));
	if (!costly)
		json_object_set_new(q, "accountant", json_string("rdp"));
	return q;
}

static void check_line(const json_t *q)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err = { 0 };
	json_t *a = NULL;
	double epsilon = NAN, error = NAN;
	int code = dp_privacy_answer_query(q, &a, &err);

	dp_json_dump(&text, q, 0);
	if (code != DP_OK) {
		if ((code != DP_E_INVALID && code != DP_E_LIMIT) || !err.msg[0] || a)
			fail_msg("%s: %d '%s'", dp_buf_text(&text), code, err.msg);
	} else if (!dp_json_to_real(json_object_get(a, "epsilon"), &epsilon) || !(epsilon >= 0) ||
		   !dp_json_to_real(json_object_get(a, json_object_get(a, "error_bound")
							       ? "error_bound"
							       : "error_estimate"),
				    &error) ||
		   !(error >= 0)) {
		fail_msg("%s: epsilon %g, error %g", dp_buf_text(&text), epsilon, error);
	}
	json_decref(a);
	dp_buf_free(&text);
}

static void random_lines(void **state)
{
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, seed, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < lines; i++) {
		json_t *q = random_line(&r);

		check_line(q);
		json_decref(q);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_lines),
	};

	if (argc == 3) {
		lines = atoi(argv[1]);
		seed = strtoull(argv[2], NULL, 10);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
