/* words.c - facts as words: what the chapters of a report's text share. */
#include "reports/words.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

const json_t *fact(const json_t *o, const char *key)
{
	return json_object_get(o, key);
}

double fact_number(const json_t *o, const char *key)
{
	double x;

	return dp_json_to_real(fact(o, key), &x) ? x : NAN;
}

int64_t fact_count(const json_t *o, const char *key)
{
	return dp_json_int(o, key, 0);
}

const char *fact_text(const json_t *o, const char *key)
{
	return dp_json_str(o, key, "");
}

const char *short_text(double x, char out[SHORT_LEN])
{
	if (isnan(x))
		return "-";
	snprintf(out, SHORT_LEN, fabs(x) >= 1000 && fabs(x) < 1e7 ? "%.0f" : "%.4g", x);
	return out;
}

const char *up_text(double x, char out[SHORT_LEN])
{
	struct dp_buf b = DP_BUF_INIT;

	facts_round_up(x, 4, &b);
	snprintf(out, SHORT_LEN, "%s", dp_buf_text(&b));
	dp_buf_free(&b);
	return isnan(x) ? "-" : out;
}

const char *plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

void value_cell(struct doc *d, const json_t *v)
{
	char s[SHORT_LEN];
	double x;

	if (json_is_string(v))
		doc_cell(d, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		doc_cell(d, "%s", json_is_true(v) ? "true" : "false");
	else
		doc_cell(d, "%s", dp_json_to_real(v, &x) ? short_text(x, s) : "-");
}
