/* request_params.c - parameters of the request, checked. */
#include "trainers/trainers.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

bool param_is_given(const struct dp_trainer_request *q, const char *name)
{
	return json_object_get(q->parameters, name) != NULL;
}

int param_read_number(const struct dp_trainer_request *q, const char *name, double lo, bool open,
		      double *out, struct dp_err *err)
{
	const json_t *v = json_object_get(q->parameters, name);
	double x = json_number_value(v);
	char bound[DP_NUM_LEN];

	if (!v) {
		dp_fail(err, DP_E_INVALID, "the request has no parameter '%s'", name);
		return dp_hint(err, "add '%s' to the parameters of the study", name);
	}
	if (!json_is_number(v) || !isfinite(x) || !(open ? x > lo : x >= lo))
		return dp_fail(err, DP_E_INVALID, "parameter '%s' must be a number %s %s", name,
			       open ? "above" : "of at least", dp_num_text(lo, bound));
	*out = x;
	return DP_OK;
}

int param_read_integer(const struct dp_trainer_request *q, const char *name, int64_t lo,
		       int64_t *out, struct dp_err *err)
{
	double x;
	int code = param_read_number(q, name, (double)lo, false, &x, err);

	if (code != DP_OK)
		return code;
	/* above 2^53 a double no longer tells neighbours apart */
	if (x != floor(x) || x > 0x1p53)
		return dp_fail(err, DP_E_INVALID, "parameter '%s' must be a whole number", name);
	*out = (int64_t)x;
	return DP_OK;
}

int param_read_count(const struct dp_trainer_request *q, const char *name, uint32_t *out,
		     struct dp_err *err)
{
	int64_t x = 0;
	int code = param_read_integer(q, name, 1, &x, err);

	if (code != DP_OK)
		return code;
	if (x > UINT32_MAX)
		return dp_fail(err, DP_E_INVALID, "parameter '%s' is too large", name);
	*out = (uint32_t)x;
	return DP_OK;
}

int param_read_word(const struct dp_trainer_request *q, const char *name, const char *const *words,
		    int *out, struct dp_err *err)
{
	const json_t *v = json_object_get(q->parameters, name);
	const char *text = json_string_value(v);
	struct dp_buf list = DP_BUF_INIT;
	int code;

	if (!v)
		return DP_OK;
	for (int i = 0; text && words[i]; i++)
		if (strcmp(words[i], text) == 0) {
			*out = i;
			return DP_OK;
		}
	for (int i = 0; words[i]; i++)
		dp_buf_printf(&list, "%s'%s'", i ? " or " : "", words[i]);
	code = dp_fail(err, DP_E_INVALID, "parameter '%s' must be %s", name, dp_buf_text(&list));
	dp_buf_free(&list);
	return code;
}
