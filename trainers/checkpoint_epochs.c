/* path.c - the path of a request: values of `epochs` that are results on the way.
 *
 * Nothing in a training by noisy gradients depends on how many epochs there will be:
 * rates are constant, nothing is averaged, and lots, noise and start weights come from
 * streams that are keyed by the run alone and used up step by step. So the weights after
 * some epochs are those of a training that ends there with the same seed. Whoever adds
 * a schedule that knows its end has to refuse paths here. */
#include "trainers/trainers.h"

#include <stdlib.h>
#include <string.h>

#define CHECKPOINT_PARAM "epochs"

int checkpoint_epochs_parse(const char *text, struct dp_trainer_request *q, struct dp_err *err)
{
	const char *p = text;

	q->path_parameter = dp_strdup(CHECKPOINT_PARAM);
	/* a value takes two characters at least, but for the last */
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

/* A path over anything else would be silently wrong, and one that is not walked has no
 * results: better to say so at the first trial. */
static int checkpoint_epochs_check(const struct trainer *t, const char *parameter,
				   struct dp_err *err)
{
	if (t->no_checkpoints_reason) {
		dp_fail(err, DP_E_INVALID, "%s cannot walk a path: %s", t->name,
			t->no_checkpoints_reason);
		return dp_hint(err, "take 'path' out of the study's trainer");
	}
	if (strcmp(parameter, CHECKPOINT_PARAM) == 0)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"%s walks a path over '" CHECKPOINT_PARAM "' only, not over '%s'", t->name,
		parameter);
	return dp_hint(err,
		       "set 'path: " CHECKPOINT_PARAM "' in the study's trainer, or take it out");
}

static int checkpoint_epochs_read_values(const struct dp_trainer_request *q,
					 struct checkpoint_epochs *out, struct dp_err *err)
{
	uint32_t end, last = 0;
	int code = param_read_count(q, CHECKPOINT_PARAM, &end, err);

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

int checkpoint_epochs_read(const struct trainer *t, const struct dp_trainer_request *q,
			   struct checkpoint_epochs *out, struct dp_err *err)
{
	int code;

	*out = (struct checkpoint_epochs){ 0 };
	if (!q->path_parameter)
		return DP_OK;
	code = checkpoint_epochs_check(t, q->path_parameter, err);
	if (code == DP_OK)
		code = checkpoint_epochs_read_values(q, out, err);
	if (code != DP_OK)
		checkpoint_epochs_clear(out);
	return code;
}

void checkpoint_epochs_clear(struct checkpoint_epochs *w)
{
	free(w->epochs);
	*w = (struct checkpoint_epochs){ 0 };
}
