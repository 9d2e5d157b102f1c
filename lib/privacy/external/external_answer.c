/* external_answer.c - parses the answer line of an external accountant. */
#include "privacy/external/external.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	QUOTED_MAX = 80 /* characters of a quoted line */
};

/* Quotes the start of foreign text in printable characters. */
static const char *external_quote_line(const char *text, size_t len, char out[QUOTED_MAX + 4])
{
	size_t n = len < QUOTED_MAX ? len : QUOTED_MAX;

	for (size_t i = 0; i < n; i++)
		out[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
	snprintf(out + n, 4, "%s", len > QUOTED_MAX ? "..." : "");
	return out;
}

static int external_parse_refusal(const json_t *error, struct dp_err *err)
{
	const char *text = json_string_value(error);
	char words[sizeof err->msg / 2];

	if (!text || !*text)
		return dp_fail(err, DP_E_ORACLE, "answered with an error that is no text");
	snprintf(words, sizeof words, "%s", text);
	for (char *c = words; *c; c++)
		if (*c < ' ' || *c > '~') /* it goes into messages and the journal */
			*c = '?';
	return dp_fail(err, DP_E_INVALID, "%s", words);
}

static int external_parse_epsilon(const json_t *value, double *epsilon, struct dp_err *err)
{
	char number[DP_NUM_LEN];
	double x;

	if (!dp_json_to_real(value, &x))
		return dp_fail(err, DP_E_ORACLE,
			       "answered with an epsilon that is neither a number nor "
			       "\"inf\"");
	if (!(x >= 0)) /* also refuses NaN */
		return dp_fail(err, DP_E_ORACLE,
			       "answered with epsilon %s, which no accountant can mean: "
			       "it is 0 or more, or \"inf\"",
			       dp_num_text(x, number));
	*epsilon = x == 0 ? 0 : x; /* -0 equals 0 */
	return DP_OK;
}

static int external_parse_members(const json_t *o, uint64_t id, double *epsilon, struct dp_err *err)
{
	const json_t *told = json_object_get(o, "id");
	const json_t *value = json_object_get(o, "epsilon");
	const json_t *error = json_object_get(o, "error");
	json_int_t number = json_integer_value(told);

	if (!json_is_integer(told))
		return dp_fail(err, DP_E_ORACLE, "answered without the question's id");
	if (number < 0 || (uint64_t)number != id)
		return dp_fail(err, DP_E_ORACLE,
			       "answered with id %" JSON_INTEGER_FORMAT " to question %llu%s",
			       number, (unsigned long long)id,
			       number > 0 && (uint64_t)number < id
				       ? ", and so to an earlier one once more"
				       : "");
	if (!value == !error)
		return dp_fail(err, DP_E_ORACLE, "answered with %s",
			       value ? "both an epsilon and an error"
				     : "neither an epsilon nor an error");
	return error ? external_parse_refusal(error, err)
		     : external_parse_epsilon(value, epsilon, err);
}

int dp_external_answer_parse(const char *line, size_t len, uint64_t id, double *epsilon,
			     struct dp_err *err)
{
	char quoted[QUOTED_MAX + 4];
	json_error_t why;
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &why);
	int code;

	if (!json_is_object(o)) {
		json_decref(o);
		return dp_fail(err, DP_E_ORACLE,
			       "answered with a line that is no JSON object: '%s'",
			       external_quote_line(line, len, quoted));
	}
	code = external_parse_members(o, id, epsilon, err);
	json_decref(o);
	return code;
}
