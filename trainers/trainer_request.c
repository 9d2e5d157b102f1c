/* trainer_request.c - opens a trainer's request and reads its parameters and checkpoints. */
#include "trainers/trainers.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECKPOINT_PARAM "epochs"

/* Uses the seeds of trial 0 of a study with the given seed. */
static int request_from_options(const struct trainer_options *o, struct dp_trainer_request *q,
				int *fd, struct dp_err *err)
{
	struct dp_trainer_request r = { .nruns = (uint32_t)o->runs };

	r.study = dp_strdup("by-hand");
	r.parameters = json_incref(o->set_params);
	r.runs = dp_calloc(r.nruns, sizeof *r.runs);
	r.seeds = dp_calloc(r.nruns, sizeof *r.seeds);
	for (uint32_t i = 0; i < r.nruns; i++) {
		r.runs[i] = i;
		r.seeds[i] = dp_run_seed((uint64_t)o->seed, 0, i);
	}
	*q = r;
	if (o->checkpoints) {
		int code = checkpoint_epochs_parse(o->checkpoints, q, err);

		if (code != DP_OK)
			return code;
	}
	*fd = dup(STDOUT_FILENO);
	return *fd >= 0 ? DP_OK : dp_fail_errno(err, errno, "cannot write to the standard output");
}

int trainer_request_open(const struct trainer_options *o, struct dp_trainer_request *q, int *fd,
			 struct dp_err *err)
{
	bool asked = getenv("DPARETO_REQUEST") != NULL;
	int code;

	if (o->set_params && asked)
		return dp_fail(err, DP_E_USAGE,
			       "--set is for trying by hand, and DPARETO_REQUEST is set");
	if (o->checkpoints && !o->set_params)
		return dp_fail(err, DP_E_USAGE,
			       "--path is for trying by hand, with --set; a study asks "
			       "for a path with 'path' of its trainer");
	if (o->set_params)
		return request_from_options(o, q, fd, err);
	code = dp_trainer_open(q, fd, err);
	if (code == DP_E_USAGE && !asked)
		dp_hint(err, "to try it by hand, give its parameters with --set "
			     "NAME=VALUE; see --help");
	return code;
}

/* ---- parameters ---- */

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
	/* above 2^53, a double cannot hold every integer */
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

/* ---- checkpoints: values of `epochs` that are reported before the end ----
 *
 * A checkpoint equals the result of a run that ends there with the same seed. Nothing in DP-SGD
 * depends on the number of epochs: rates are constant, nothing is averaged, and lots, noise and
 * initial weights come from streams that are keyed by the run alone and consumed step by step. A
 * schedule that depends on the end would have to refuse checkpoints here. */

int checkpoint_epochs_parse(const char *text, struct dp_trainer_request *q, struct dp_err *err)
{
	const char *p = text;

	q->path_parameter = dp_strdup(CHECKPOINT_PARAM);
	/* each value but the last takes at least two characters */
	q->checkpoints = dp_calloc(strlen(text) / 2 + 1, sizeof *q->checkpoints);
	while (p) {
		char *end = NULL;
		unsigned long long x = *p >= '0' && *p <= '9' ? strtoull(p, &end, 10) : 0;

		if (x < 1 || x > UINT32_MAX || (*end && *end != ','))
			return dp_fail(err, DP_E_USAGE,
				       "--path needs whole numbers from 1 with commas "
				       "between them, not '%s'",
				       text);
		q->checkpoints[q->ncheckpoints++] = (double)x;
		p = *end ? end + 1 : NULL;
	}
	return DP_OK;
}

int checkpoint_epochs_read(const struct trainer *t, const struct dp_trainer_request *q,
			   struct checkpoint_epochs *out, struct dp_err *err)
{
	uint32_t end, last = 0;
	int code;

	*out = (struct checkpoint_epochs){ 0 };
	if (!q->path_parameter)
		return DP_OK;
	/* fail at the first trial rather than report wrong checkpoints */
	if (t->no_checkpoints_reason) {
		dp_fail(err, DP_E_INVALID, "%s cannot walk a path: %s", t->name,
			t->no_checkpoints_reason);
		return dp_hint(err, "take 'path' out of the study's trainer");
	}
	if (strcmp(q->path_parameter, CHECKPOINT_PARAM) != 0) {
		dp_fail(err, DP_E_INVALID,
			"%s walks a path over '" CHECKPOINT_PARAM "' only, not over '%s'", t->name,
			q->path_parameter);
		return dp_hint(err, "set 'path: " CHECKPOINT_PARAM
				    "' in the study's trainer, or take it out");
	}
	code = param_read_count(q, CHECKPOINT_PARAM, &end, err);
	if (code != DP_OK)
		return code;
	out->epochs = dp_calloc(q->ncheckpoints + 1, sizeof *out->epochs);
	for (; out->n < q->ncheckpoints; out->n++) {
		double x = q->checkpoints[out->n];

		if (x <= last || x >= end)
			return dp_fail(err, DP_E_INVALID,
				       "the path's values must be whole numbers from 1 "
				       "that rise and stay below '" CHECKPOINT_PARAM "', %u",
				       (unsigned)end);
		out->epochs[out->n] = last = (uint32_t)x;
	}
	return DP_OK;
}
