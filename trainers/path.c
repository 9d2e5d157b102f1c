/* path.c - the path of a request: values of `epochs` that are results on the way.
 *
 * Nothing in a training by noisy gradients depends on how many epochs there will be:
 * rates are constant, nothing is averaged, and lots, noise and start weights come from
 * streams that are keyed by the run alone and used up step by step. So the weights after
 * some epochs are those of a training that ends there with the same seed. Whoever adds
 * a schedule that knows its end has to refuse paths here. */
#include "trainers/trainers.h"

#include "base/fs.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum {
	PATH_REQUEST_MAX = 16 << 20 /* bytes */
};
#define WALKED "epochs"

/* The field of request.json, NULL if it has none. */
static int path_of_request(json_t **out, struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	json_t *root = NULL;
	int code = dp_read_file(getenv("DPARETO_REQUEST"), PATH_REQUEST_MAX, &text, err);

	*out = NULL;
	if (code == DP_OK)
		code = dp_json_parse(dp_buf_text(&text), text.len, &root, err);
	if (code == DP_OK)
		*out = json_incref(json_object_get(root, "path"));
	json_decref(root);
	dp_buf_free(&text);
	return code;
}

/* "1,2,4" as the request would have it. */
static int path_by_hand(const char *text, json_t **out, struct dp_err *err)
{
	json_t *values = json_array();
	const char *p = text;
	int code = DP_OK;

	while (code == DP_OK && p) {
		char *end = NULL;
		unsigned long long x = *p >= '0' && *p <= '9' ? strtoull(p, &end, 10) : 0;

		if (x < 1 || x > UINT32_MAX || (*end && *end != ','))
			code = dp_fail(err, DP_E_USAGE,
				       "--path needs whole numbers from 1 with commas "
				       "between them, not '%s'",
				       text);
		else if (json_array_append_new(values, json_integer((json_int_t)x)) != 0)
			code = dp_fail(err, DP_E_NOMEM, "no memory for the path");
		else
			p = *end ? end + 1 : NULL;
	}
	*out = code == DP_OK
		       ? json_pack("{s:s, s:O}", "parameter", WALKED, "values", values)
		       : NULL;
	json_decref(values);
	if (code == DP_OK && !*out)
		code = dp_fail(err, DP_E_NOMEM, "no memory for the path");
	return code;
}

/* A path over anything else would be silently wrong, and one that is not walked has no
 * results: better to say so at the first trial. */
static int path_check(const struct trainer *t, const json_t *path, struct dp_err *err)
{
	const char *parameter = dp_json_str(path, "parameter", "");

	if (t->no_path)
		dp_fail(err, DP_E_INVALID, "%s cannot walk a path: %s", t->name,
			t->no_path);
	else if (strcmp(parameter, WALKED) != 0)
		dp_fail(err, DP_E_INVALID,
			"%s walks a path over '" WALKED "' only, not over '%s'", t->name,
			parameter);
	else
		return DP_OK;
	return dp_hint(err, t->no_path ? "take 'path' out of the study's trainer"
				       : "set 'path: " WALKED
					 "' in the study's trainer, or take it out");
}

static int path_values(const json_t *list, uint32_t end, struct waypoints *out,
		       struct dp_err *err)
{
	size_t n = json_array_size(list), i;
	json_int_t last = 0;
	const json_t *v;

	if (!json_is_array(list))
		return dp_fail(err, DP_E_INVALID, "the path's 'values' are no array");
	out->epochs = calloc(n + 1, sizeof *out->epochs);
	if (!out->epochs)
		return dp_fail(err, DP_E_NOMEM, "no memory for the path");
	json_array_foreach (list, i, v) {
		json_int_t x = json_integer_value(v);

		if (x <= last || x >= end)
			return dp_fail(err, DP_E_INVALID,
				       "the path's values must be whole numbers from 1 "
				       "that rise and stay below '" WALKED "', %u",
				       (unsigned)end);
		out->epochs[i] = (uint32_t)x;
		last = x;
	}
	out->n = n;
	return DP_OK;
}

int waypoints_read(const struct trainer *t, const struct options *o,
		   const struct dp_request *q, struct waypoints *out, struct dp_err *err)
{
	struct waypoints w = { 0 };
	uint32_t end;
	json_t *path = NULL;
	int code = DP_OK;

	if (!o->set)
		code = path_of_request(&path, err);
	else if (o->path)
		code = path_by_hand(o->path, &path, err);
	if (code == DP_OK && path)
		code = path_check(t, path, err);
	if (code == DP_OK && path)
		code = param_count(q, WALKED, &end, err);
	if (code == DP_OK && path)
		code = path_values(json_object_get(path, "values"), end, &w, err);
	json_decref(path);
	if (code != DP_OK)
		waypoints_clear(&w);
	*out = w;
	return code;
}

void waypoints_clear(struct waypoints *w)
{
	free(w->epochs);
	*w = (struct waypoints){ 0 };
}
