/* request_json.c - formats and parses request.json, the request to a trainer. */
#include "protocol/trainer/trainer_protocol.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum {
	REQUEST_VERSION = 1
};
#define SEED_MAX ((INT64_C(1) << 53) - 1) /* exact in every JSON parser */

void dp_trainer_request_format(const struct dp_trainer_request *r, struct dp_buf *out)
{
	/* dp_name_ok() names need no escaping */
	dp_buf_printf(out, "{\"version\":%d,\"study\":\"%s\",\"trial\":%u,\"attempt\":%u,",
		      REQUEST_VERSION, r->study, (unsigned)r->trial, (unsigned)r->attempt);
	/* Before the parameters: the last "NAME": in the line is then the parameter of that
	 * name. */
	if (r->privacy) {
		dp_buf_puts(out, "\"privacy\":");
		dp_json_dump(out, r->privacy, 0);
		dp_buf_putc(out, ',');
	}
	dp_buf_puts(out, "\"parameters\":");
	dp_json_dump(out, r->parameters, 0);
	dp_buf_puts(out, ",\"runs\":[");
	for (uint32_t i = 0; i < r->nruns; i++)
		dp_buf_printf(out, "%s{\"run\":%u,\"seed\":%llu}", i ? "," : "",
			      (unsigned)r->runs[i], (unsigned long long)r->seeds[i]);
	dp_buf_putc(out, ']');
	if (r->path_parameter) {
		dp_buf_printf(out, ",\"path\":{\"parameter\":\"%s\",\"values\":[",
			      r->path_parameter);
		for (uint32_t i = 0; i < r->ncheckpoints; i++)
			dp_buf_printf(out, "%s%.0f", i ? "," : "", r->checkpoints[i]);
		dp_buf_puts(out, "]}");
	}
	dp_buf_puts(out, "}\n");
}

static int parse_whole_number(const json_t *object, const char *key, int64_t max, int64_t *out,
			      struct dp_err *err)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > max)
		return dp_fail(err, DP_E_INVALID, "'%s' must be a whole number from 0 to %lld", key,
			       (long long)max);
	*out = json_integer_value(v);
	return DP_OK;
}

static int check_version(const json_t *root, struct dp_err *err)
{
	const json_t *v = json_object_get(root, "version");

	if (!json_is_integer(v))
		return dp_fail(err, DP_E_INVALID, "'version' is missing or not a number");
	if (json_integer_value(v) == REQUEST_VERSION)
		return DP_OK;
	dp_fail(err, DP_E_PROTOCOL,
		"the request has version %lld of the trainer protocol, but only "
		"version %d is known here",
		(long long)json_integer_value(v), REQUEST_VERSION);
	return dp_hint(err, "use the trainer and the daemon of one release");
}

static int read_parameters(const json_t *root, struct dp_trainer_request *out, struct dp_err *err)
{
	json_t *parameters = json_object_get(root, "parameters"), *v;
	const char *name;

	if (!json_is_object(parameters))
		return dp_fail(err, DP_E_INVALID, "'parameters' is missing or not an object");
	json_object_foreach (parameters, name, v)
		if (!dp_name_ok(name) || json_is_object(v) || json_is_array(v))
			return dp_fail(err, DP_E_INVALID,
				       "'parameters' holds something else than names "
				       "with plain values");
	out->parameters = json_incref(parameters);
	return DP_OK;
}

static int compare_run_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int check_unique(const uint32_t *runs, uint32_t n, struct dp_err *err)
{
	uint32_t *sorted = dp_malloc(n * sizeof *sorted);
	int code = DP_OK;

	memcpy(sorted, runs, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_run_numbers);
	for (uint32_t i = 1; i < n && code == DP_OK; i++)
		if (sorted[i] == sorted[i - 1])
			code = dp_fail(err, DP_E_INVALID, "'runs' asks for run %u twice",
				       (unsigned)sorted[i]);
	free(sorted);
	return code;
}

static int read_runs(const json_t *root, struct dp_trainer_request *out, struct dp_err *err)
{
	const json_t *list = json_object_get(root, "runs"), *v;
	size_t n = json_array_size(list), i;
	int64_t run, seed;
	int code;

	if (n == 0 || n > UINT32_MAX)
		return dp_fail(err, DP_E_INVALID, "'runs' is missing, empty or not an array");
	out->runs = dp_malloc(n * sizeof *out->runs);
	out->seeds = dp_malloc(n * sizeof *out->seeds);
	json_array_foreach (list, i, v) {
		code = parse_whole_number(v, "run", UINT32_MAX, &run, err);
		if (code == DP_OK)
			code = parse_whole_number(v, "seed", SEED_MAX, &seed, err);
		if (code != DP_OK)
			return dp_err_prefix(err, "'runs', entry %zu", i);
		out->runs[i] = (uint32_t)run;
		out->seeds[i] = (uint64_t)seed;
	}
	out->nruns = (uint32_t)n;
	return check_unique(out->runs, out->nruns, err);
}

/* The values must be ascending whole numbers below the parameter's own value. */
static int read_path(const json_t *root, struct dp_trainer_request *out, struct dp_err *err)
{
	const json_t *path = json_object_get(root, "path"), *own, *v;
	const char *name = dp_json_str(path, "parameter", "");
	const json_t *values = json_object_get(path, "values");
	size_t n = json_array_size(values), i;

	if (!path)
		return DP_OK;
	own = json_object_get(out->parameters, name);
	if (!json_is_integer(own) || !json_is_array(values) || n > UINT32_MAX)
		return dp_fail(err, DP_E_INVALID,
			       "'path' needs 'parameter', the name of one that is a "
			       "whole number, and 'values', an array");
	out->path_parameter = dp_strdup(name);
	out->checkpoints = dp_calloc(n + 1, sizeof *out->checkpoints);
	json_array_foreach (values, i, v) {
		double x = json_number_value(v);

		if (!json_is_integer(v) || x >= json_number_value(own) ||
		    (i > 0 && x <= out->checkpoints[i - 1]))
			return dp_fail(err, DP_E_INVALID,
				       "'values' of 'path' must be whole numbers that "
				       "ascend, below the value of its parameter");
		out->checkpoints[i] = x;
	}
	out->ncheckpoints = (uint32_t)n;
	return DP_OK;
}

static int read_request(const json_t *root, struct dp_trainer_request *out, struct dp_err *err)
{
	json_t *privacy = json_object_get(root, "privacy");
	const char *study = dp_json_str(root, "study", "");
	int64_t trial, attempt;
	int code;

	if (!json_is_object(root))
		return dp_fail(err, DP_E_INVALID, "the request is not a JSON object");
	if ((code = check_version(root, err)) != DP_OK)
		return code;
	if (!dp_name_ok(study))
		return dp_fail(err, DP_E_INVALID, "'study' is missing or not a name");
	if ((code = parse_whole_number(root, "trial", UINT32_MAX, &trial, err)) != DP_OK ||
	    (code = parse_whole_number(root, "attempt", UINT32_MAX, &attempt, err)) != DP_OK ||
	    (code = read_parameters(root, out, err)) != DP_OK)
		return code;
	if (privacy && !json_is_object(privacy))
		return dp_fail(err, DP_E_INVALID, "'privacy' is not an object");
	out->privacy = json_incref(privacy);
	if ((code = read_runs(root, out, err)) != DP_OK ||
	    (code = read_path(root, out, err)) != DP_OK)
		return code;
	out->trial = (uint32_t)trial;
	out->attempt = (uint32_t)attempt;
	out->study = dp_strdup(study);
	return DP_OK;
}

int dp_trainer_request_parse(const char *text, size_t len, struct dp_trainer_request *out,
			     struct dp_err *err)
{
	struct dp_trainer_request r = { 0 };
	json_t *root;
	int code;

	code = dp_json_parse(text, len, &root, err);
	if (code != DP_OK)
		return dp_err_prefix(err, "the request cannot be read");
	code = read_request(root, &r, err);
	json_decref(root);
	if (code != DP_OK) {
		dp_trainer_request_clear(&r);
		return code;
	}
	*out = r;
	return DP_OK;
}

void dp_trainer_request_clear(struct dp_trainer_request *r)
{
	free(r->study);
	json_decref(r->parameters);
	json_decref(r->privacy);
	free(r->runs);
	free(r->seeds);
	free(r->path_parameter);
	free(r->checkpoints);
	memset(r, 0, sizeof *r);
}
