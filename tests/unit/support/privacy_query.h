/* privacy_query.h - asks a privacy oracle from a test with keys by name. */
#ifndef DP_TEST_PRIVACY_QUERY_H
#define DP_TEST_PRIVACY_QUERY_H
#include "base/json.h"
#include "privacy/privacy.h"

/* cmocka compares floats only, and only in single precision. */
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Builds the values from a JSON text; fails the test if it is no query. */
static inline const struct dp_mechanism *query(const char *text, double *values)
{
	const struct dp_mechanism *m = NULL;
	struct dp_err err = { 0 };
	json_t *q = NULL;

	assert_int_equal(dp_json_parse(text, strlen(text), &q, &err), DP_OK);
	assert_int_equal(dp_privacy_query_parse(q, &m, values, &err), DP_OK);
	json_decref(q);
	return m;
}

/* The answer to a JSON text; +inf and a message if it is refused. */
static inline struct dp_epsilon ask(const char *fmt, ...)
{
	struct dp_epsilon e = { .epsilon = -1 };
	double values[DP_PRIVACY_KEYS_MAX];
	const struct dp_mechanism *m;
	struct dp_err err = { 0 };
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	m = query(text, values);
	if (dp_privacy_epsilon(m, values, &e, &err) != DP_OK)
		print_error("%s: %s\n", text, err.msg);
	return e;
}

#endif
